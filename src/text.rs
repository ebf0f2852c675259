//! Text of any size: valid UTF-8 without NUL.
//!
//! This exists instead of `String` because the standard library's UTF-8 check takes longer for 16 MiB than reading
//! them. Here bytes are checked with SIMD: once when they arrive, and again chunk by chunk where the escaper needs a
//! `str`.

use std::ops::Range;

use crate::bytes::Bytes;

/// Fits into a processor's second-level cache with room to spare.
const CHUNK: usize = 64 << 10;

/// UTF-8 without NUL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Bytes);

impl Text {
    /// Takes bytes as text; returns them if they are not valid.
    pub(crate) fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self, Bytes> {
        let bytes = bytes.into();
        if is_text(&bytes) { Ok(Self(bytes)) } else { Err(bytes) }
    }

    /// The bytes of the text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text as a `str`. It is checked again as a whole, so do not call this for large texts.
    pub fn as_str(&self) -> &str {
        simdutf8::basic::from_utf8(&self.0).unwrap_or_default()
    }

    /// Appends `more`.
    pub(crate) fn push_str(&mut self, more: &str) {
        self.0.extend_from_slice(more.as_bytes());
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whole characters from `from` on: at most `most` bytes, but at least one character.
    pub(crate) fn chunk(&self, from: usize, most: usize) -> &str {
        simdutf8::basic::from_utf8(&self.0[whole_characters(&self.0, from, most)]).unwrap_or_default()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

/// Whether the bytes are UTF-8 without NUL, which no text contains. Both checks run chunk by chunk, so that the second
/// finds the bytes in the cache.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        let range = whole_characters(bytes, at, CHUNK);
        at = range.end;
        let chunk = &bytes[range];
        if memchr::memchr(0, chunk).is_some() || simdutf8::basic::from_utf8(chunk).is_err() {
            return false;
        }
    }
    true
}

/// At most `most` bytes from `from` on, cut before an incomplete character. Bytes that are not UTF-8 are cut anywhere.
pub(crate) fn whole_characters(bytes: &[u8], from: usize, most: usize) -> Range<usize> {
    let end = from.saturating_add(most).min(bytes.len());
    if end == bytes.len() {
        return from..end;
    }
    let begins = |at: &usize| bytes[*at] & 0xC0 != 0x80;
    (end.saturating_sub(3).max(from + 1)..=end).rev().find(begins).map_or(from..end, |cut| from..cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_characters_and_give_the_text_back() {
        let text = Text::from("aé日😀 plain \n😀😀日".to_owned());
        for most in 1..12 {
            let (mut at, mut all) = (0, String::new());
            while at < text.len() {
                let chunk = text.chunk(at, most.max(4));
                assert!(!chunk.is_empty(), "no progress at {at} by {most}");
                all += chunk;
                at += chunk.len();
            }
            assert_eq!(all, text.as_str());
        }
    }

    #[test]
    fn a_wrong_byte_is_found_wherever_it_is() {
        let text = "日é😀x".repeat(20_000).into_bytes();
        assert!(is_text(&text));
        for at in [0, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, text.len() - 1] {
            for wrong in [0, 0xFF] {
                let mut text = text.clone();
                text[at] = wrong;
                assert!(!is_text(&text), "{wrong} at {at}");
            }
        }
    }

    #[test]
    fn what_is_no_utf8_is_no_text() {
        assert_eq!(Text::from_bytes(b"a\xFF".to_vec()), Err(b"a\xFF".to_vec().into()));
        assert!(!is_text(b"a\0"));
    }
}
