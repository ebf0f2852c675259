//! The text of one outgoing message, built in order and escaped as late as possible.
//!
//! A 16 MiB file must not become a second, escaped copy in memory. Large texts and blobs are kept as they are, and
//! escaped chunk by chunk into the buffer that is written ([`Body::stage`]). Everything small is escaped at once. No
//! `serde_json::Value` ever holds a text.

use serde::Serialize;

use crate::bytes::Bytes;
use crate::text::Text;

/// Texts and blobs up to this size are escaped at once, larger ones when they are written.
const INLINE: usize = 8 << 10;

/// Messages up to this size are written before larger ones.
const SMALL: usize = 64 << 10;

/// How much of a large text or blob is escaped at a time. A multiple of three, so that base64 needs no padding in
/// between.
const CHUNK: usize = 48 << 10;

/// A message under construction, and later while it is written.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// Everything before `tail`.
    segments: Vec<Segment>,
    tail: Vec<u8>,
    /// While writing: the current segment, and how much of it is done.
    segment: usize,
    done: usize,
    error: Option<i32>,
}

#[derive(Debug)]
enum Segment {
    Raw(Vec<u8>),
    Text(Text),
    Base64(Bytes),
}

impl Segment {
    /// The length in bytes before escaping.
    fn len(&self) -> usize {
        match self {
            Self::Raw(bytes) => bytes.len(),
            Self::Base64(bytes) => bytes.len(),
            Self::Text(text) => text.len(),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Raw(bytes) => bytes.capacity(),
            Self::Text(_) | Self::Base64(_) => self.len(),
        }
    }
}

impl Body {
    /// An empty message.
    pub(crate) fn new() -> Self {
        Self { tail: Vec::with_capacity(512), ..Self::default() }
    }

    /// Marks the message as an error with this code.
    pub(crate) fn set_error(&mut self, code: i32) {
        self.error = Some(code);
    }

    /// The code of an error; `None` for a result, a notification or a batch. HTTP maps some codes to a status.
    pub(crate) fn error_code(&self) -> Option<i32> {
        self.error
    }

    /// Appends text that is already JSON.
    pub(crate) fn raw(&mut self, json: &str) {
        self.tail.extend_from_slice(json.as_bytes());
    }

    /// Appends `{` or `[`.
    pub(crate) fn open(&mut self, bracket: char) {
        self.separate();
        self.tail.push(bracket as u8);
    }

    /// Appends `}` or `]`.
    pub(crate) fn close(&mut self, bracket: char) {
        self.tail.push(bracket as u8);
    }

    /// Appends a key that needs no escaping, and its colon.
    pub(crate) fn key(&mut self, key: &str) {
        self.separate();
        self.tail.push(b'"');
        self.raw(key);
        self.raw("\":");
    }

    /// Appends a short string.
    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        json_escape_simd::escape_into(value, &mut self.tail);
    }

    /// Appends any small value that serde can write.
    pub(crate) fn value(&mut self, value: &impl Serialize) {
        self.separate();
        // Cannot fail: the types written here have string keys, and writing to a Vec cannot fail.
        let _ = serde_json::to_writer(&mut self.tail, value);
    }

    /// Appends a string of any size.
    pub(crate) fn text(&mut self, text: Text) {
        if text.len() <= INLINE {
            return self.string(text.as_str());
        }
        self.separate();
        self.payload(Segment::Text(text));
    }

    /// Appends bytes of any size as a base64 string.
    pub(crate) fn base64(&mut self, data: Bytes) {
        self.separate();
        if data.len() <= INLINE {
            self.tail.push(b'"');
            base64_simd::STANDARD.encode_append(&*data, &mut self.tail);
            return self.tail.push(b'"');
        }
        self.payload(Segment::Base64(data));
    }

    /// Appends another body as the next element.
    pub(crate) fn append(&mut self, other: Self) {
        self.separate();
        if other.segments.is_empty() && other.tail.len() <= INLINE {
            // Many small bodies must not each occupy a segment.
            return self.tail.extend_from_slice(&other.tail);
        }
        self.segments.push(Segment::Raw(std::mem::take(&mut self.tail)));
        self.segments.extend(other.segments);
        self.tail = other.tail;
    }

    /// Appends the newline.
    pub(crate) fn end_line(&mut self) {
        self.tail.push(b'\n');
    }

    /// Whether the message is small enough to be written in one go.
    pub(crate) fn is_small(&self) -> bool {
        self.len() <= SMALL
    }

    /// The length in bytes, before texts and blobs are escaped.
    pub(crate) fn len(&self) -> usize {
        self.segments.iter().map(Segment::len).sum::<usize>() + self.tail.len()
    }

    /// Approximate memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let segments: usize = self.segments.iter().map(Segment::memory).sum();
        segments + self.segments.capacity() * size_of::<Segment>() + self.tail.capacity()
    }

    /// The first bytes of the message, for the log.
    pub(crate) fn head(&self, most: usize) -> Vec<u8> {
        let mut head = Vec::new();
        for segment in &self.segments {
            let room = most.saturating_sub(head.len());
            match segment {
                _ if room == 0 => break,
                Segment::Raw(bytes) => head.extend_from_slice(&bytes[..bytes.len().min(room)]),
                Segment::Text(text) => escape_unquoted(text.chunk(0, room), &mut head),
                Segment::Base64(data) => {
                    base64_simd::STANDARD.encode_append(&data[..data.len().min(room)], &mut head);
                }
            }
        }
        head.extend_from_slice(&self.tail[..self.tail.len().min(most.saturating_sub(head.len()))]);
        head
    }

    /// Appends the next part to `out`, at most one chunk. Returns `false` after the last part.
    pub(crate) fn stage(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(segment) = self.segments.get_mut(self.segment) else {
            out.append(&mut self.tail);
            return false;
        };
        let whole = match segment {
            Segment::Raw(bytes) => {
                out.append(bytes);
                true
            }
            Segment::Text(text) => stage_text(text, &mut self.done, out),
            Segment::Base64(data) => stage_base64(data, &mut self.done, out),
        };
        if whole {
            *segment = Segment::Raw(Vec::new()); // its memory is free before the rest is written
            self.segment += 1;
            self.done = 0;
        }
        true
    }

    /// Appends a comma if one is due.
    fn separate(&mut self) {
        if !matches!(self.tail.last(), None | Some(b'{' | b'[' | b':')) {
            self.tail.push(b',');
        }
    }

    fn payload(&mut self, payload: Segment) {
        self.tail.push(b'"');
        self.segments.push(Segment::Raw(std::mem::take(&mut self.tail)));
        self.segments.push(payload);
        self.tail.push(b'"');
    }
}

/// Appends the next chunk of `text`, escaped. Returns `true` after the last one.
fn stage_text(text: &Text, done: &mut usize, out: &mut Vec<u8>) -> bool {
    let chunk = text.chunk(*done, CHUNK);
    escape_unquoted(chunk, out);
    *done += chunk.len();
    *done == text.len() || chunk.is_empty()
}

/// Appends `text` escaped, without the quotes that the escaper adds.
fn escape_unquoted(text: &str, out: &mut Vec<u8>) {
    // The opening quote overwrites the last byte, which is then restored, so nothing has to move.
    let Some(last) = out.pop() else {
        let escaped = json_escape_simd::escape(text);
        return out.extend_from_slice(&escaped.as_bytes()[1..escaped.len() - 1]);
    };
    let at = out.len();
    json_escape_simd::escape_into(text, out);
    out[at] = last;
    out.pop();
}

/// Appends the next chunk of `data` in base64. Returns `true` after the last one.
fn stage_base64(data: &[u8], done: &mut usize, out: &mut Vec<u8>) -> bool {
    let end = (*done + CHUNK).min(data.len());
    base64_simd::STANDARD.encode_append(&data[*done..end], out);
    *done = end;
    end == data.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(mut body: Body) -> String {
        let mut out = Vec::new();
        while body.stage(&mut out) {}
        String::from_utf8(out).expect("valid UTF-8")
    }

    #[test]
    fn commas_come_where_they_are_due() {
        let mut body = Body::new();
        body.open('{');
        body.key("a");
        body.open('[');
        body.value(&1);
        body.string("x");
        body.close(']');
        body.key("b");
        body.value(&true);
        body.close('}');
        assert_eq!(written(body), r#"{"a":[1,"x"],"b":true}"#);
    }

    #[test]
    fn large_texts_and_blobs_come_back_whole() {
        for size in [0, 1, INLINE, INLINE + 1, CHUNK, CHUNK + 1, 3 * CHUNK + 2] {
            let text: String = "aé\u{0}\"\\\n日😀".chars().cycle().take(size).collect();
            let data = text.clone().into_bytes();
            let mut body = Body::new();
            body.open('[');
            body.text(text.clone().into());
            body.base64(data.clone().into());
            body.close(']');
            let read: (String, String) = serde_json::from_str(&written(body)).expect("valid JSON");
            assert_eq!(read.0, text, "{size}");
            assert_eq!(base64_simd::STANDARD.decode_to_vec(read.1).expect("valid base64"), data, "{size}");
        }
    }
}
