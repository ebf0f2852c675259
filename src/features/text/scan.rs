//! Finds a window of lines in a stream of text, in memory that depends only on the window.

use super::part::{Part, Window};
use super::{CHUNK, COUNTED, Encoding, TextError};
use crate::root::File;
use crate::runtime::cancel::Cancel;
use crate::text::Text;

/// Reads the window, at most `max` bytes, in whole lines if at least one fits.
pub(super) fn scan(
    file: &File,
    window: Window,
    max: usize,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Part, TextError> {
    let mut scanner = Scanner::new(window, max, file.stat.size <= COUNTED);
    decode(file, encoding, cancel, |text| scanner.push(text))?;
    scanner.finish()
}

/// The position at which a line begins, in bytes; the end of the file if it has fewer lines.
pub(super) fn position_of_line(file: &File, line: u64, cancel: &Cancel) -> Result<u64, TextError> {
    let mut scanner = Scanner::new(Window { offset: line, limit: Some(1), column: 1 }, 0, false);
    decode(file, Encoding::RAW_UTF8, cancel, |text| scanner.push(text))?;
    Ok(scanner.from)
}

/// Passes the text of the file to `take` piece by piece, up to its size when it was opened, until that has enough.
/// Bytes that should be UTF-8 are passed unchecked; what is kept of them is checked at the end.
pub(super) fn decode(
    file: &File,
    encoding: Encoding,
    cancel: &Cancel,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<(), TextError> {
    let mut raw = vec![0; CHUNK];
    let mut decoded = String::new();
    let mut decoder = encoding.decoder();
    let mut position = encoding.mark() as u64;
    while position < file.stat.size {
        let want = CHUNK.min(usize::try_from(file.stat.size - position).unwrap_or(CHUNK));
        let length = file.read_at(&mut raw[..want], position, cancel)?;
        position += length as u64;
        let last = length < want || position >= file.stat.size;
        let more = if encoding.is_utf8() {
            take(&raw[..length])
        } else {
            decoded.clear();
            let room = decoder.max_utf8_buffer_length_without_replacement(length);
            decoded.reserve(room.unwrap_or(4 * CHUNK));
            let (result, _) = decoder.decode_to_string_without_replacement(&raw[..length], &mut decoded, last);
            if matches!(result, encoding_rs::DecoderResult::Malformed(..)) {
                return Err(TextError::Binary);
            }
            take(decoded.as_bytes())
        };
        if !more || last {
            break;
        }
    }
    Ok(())
}

/// Finds a window in text that arrives in pieces.
#[expect(clippy::struct_excessive_bools, reason = "each is one fact about the text, and they are independent")]
struct Scanner {
    window: Window,
    max: usize,
    /// Whether to count lines to the end.
    count: bool,
    /// The number of bytes and newlines so far.
    position: u64,
    newlines: u64,
    ends_in_newline: bool,
    /// Characters of the first line that have been skipped.
    column: u64,
    state: State,
    text: Vec<u8>,
    from: u64,
    /// The number of newlines in `text`.
    taken: u64,
    /// The text was cut because it is too long.
    overflow: bool,
    /// Something follows the window.
    more: bool,
}

#[derive(PartialEq)]
enum State {
    SkippingLines,
    SkippingColumns,
    Taking,
    Done,
}

impl Scanner {
    fn new(window: Window, max: usize, count: bool) -> Self {
        Self {
            window,
            max,
            count,
            position: 0,
            newlines: 0,
            ends_in_newline: true,
            column: 1,
            state: State::SkippingLines,
            text: Vec::new(),
            from: 0,
            taken: 0,
            overflow: false,
            more: false,
        }
    }

    /// Takes the next piece. Returns `false` if no more is needed.
    fn push(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while !rest.is_empty() {
            let used = match self.state {
                State::SkippingLines => self.skip_lines(rest),
                State::SkippingColumns => self.skip_columns(rest),
                State::Taking => self.take(rest),
                State::Done => self.pass(rest),
            };
            self.position += used as u64;
            rest = &rest[used..];
        }
        self.ends_in_newline = piece.last().map_or(self.ends_in_newline, |byte| *byte == b'\n');
        !(self.state == State::Done && self.more && !self.count)
    }

    fn skip_lines(&mut self, piece: &[u8]) -> usize {
        let mut used = 0;
        while self.newlines + 1 < self.window.offset {
            let Some(at) = memchr::memchr(b'\n', &piece[used..]) else {
                self.from = self.position + piece.len() as u64;
                return piece.len();
            };
            used += at + 1;
            self.newlines += 1;
        }
        self.from = self.position + used as u64;
        self.state = State::SkippingColumns;
        used
    }

    fn skip_columns(&mut self, piece: &[u8]) -> usize {
        let mut used = 0;
        for byte in piece {
            let begins_character = byte & 0xC0 != 0x80;
            if begins_character && (self.column >= self.window.column || *byte == b'\n') {
                self.state = State::Taking;
                break;
            }
            self.column += u64::from(begins_character);
            used += 1;
        }
        self.from = self.position + used as u64;
        used
    }

    fn take(&mut self, piece: &[u8]) -> usize {
        let room = self.max - self.text.len();
        let piece = &piece[..piece.len().min(room)];
        let mut end = piece.len();
        match self.window.limit {
            Some(limit) => {
                for at in memchr::memchr_iter(b'\n', piece) {
                    self.taken += 1;
                    if self.taken == limit {
                        end = at + 1;
                        self.state = State::Done;
                        break;
                    }
                }
            }
            None => self.taken += memchr::memchr_iter(b'\n', piece).count() as u64,
        }
        if self.state == State::Taking && end == room {
            // The window is full. Whether anything was cut shows when something follows.
            self.state = State::Done;
            self.overflow = true;
        }
        self.text.extend_from_slice(&piece[..end]);
        end
    }

    fn pass(&mut self, piece: &[u8]) -> usize {
        self.more = true;
        if self.count {
            self.newlines += memchr::memchr_iter(b'\n', piece).count() as u64;
        }
        piece.len()
    }

    fn finish(mut self) -> Result<Part, TextError> {
        let all_newlines = self.newlines + self.taken;
        let lines = all_newlines + u64::from(!self.ends_in_newline);
        let mut column = 1;
        let is_cut = self.overflow && self.more;
        if is_cut {
            column = self.cut();
        }
        let taken = memchr::memchr_iter(b'\n', &self.text).count() as u64;
        let is_whole = self.window == Window::ALL && !self.more;
        let next = self.more.then(|| (self.window.offset + taken, column));
        let range = (self.from, self.from + self.text.len() as u64);
        let text = Text::from_bytes(self.text).map_err(|_| TextError::Binary)?;
        let (first_line, lines) = (self.window.offset, self.count.then_some(lines));
        Ok(Part { text, first_line, next, lines, range, is_whole, is_cut })
    }

    /// Cuts the text after its last whole line, or after its last whole character if it is a single line. Returns the
    /// column at which the next part begins.
    fn cut(&mut self) -> u64 {
        if let Some(at) = memchr::memrchr(b'\n', &self.text) {
            self.text.truncate(at + 1);
            return 1;
        }
        let whole = match std::str::from_utf8(&self.text) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        // An invalid byte in the middle is kept, so that the text counts as binary.
        if self.text.len() - whole < 4 {
            self.text.truncate(whole);
        }
        let characters = self.text.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        self.column + characters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(offset: u64, limit: Option<u64>, column: u64) -> Window {
        Window { offset, limit, column }
    }

    /// The window of `text`, given in pieces of `step` bytes.
    fn scanned(text: &str, window: Window, max: usize, step: usize) -> Part {
        let mut scanner = Scanner::new(window, max, true);
        for piece in text.as_bytes().chunks(step) {
            scanner.push(piece);
        }
        scanner.finish().expect("valid text")
    }

    #[test]
    fn windows_are_found_however_the_text_is_cut_into_pieces() {
        let text = "one\ntwo\nthrée\nfour";
        for step in [1, 2, 3, 100] {
            let part = |w| scanned(text, w, 100, step);
            assert_eq!(part(window(2, Some(2), 1)).text.as_str(), "two\nthrée\n");
            assert_eq!(part(window(2, Some(2), 1)).next, Some((4, 1)));
            assert_eq!(part(window(3, None, 4)).text.as_str(), "ée\nfour");
            assert_eq!(part(window(1, Some(1), 9)).text.as_str(), "\n");
            assert_eq!(part(window(9, None, 1)).text.as_str(), "");
            assert_eq!(part(window(9, None, 1)).next, None);
            assert_eq!(part(window(4, Some(1), 1)).next, None);
            assert_eq!(part(Window::ALL).lines, Some(4));
        }
    }

    #[test]
    fn part_after_part_gives_the_text_back() {
        let text = "short\n\nа long lіne without an end, longer than a part may be\nх\n";
        for max in 4..40 {
            for step in [1, 5, 64] {
                let (mut at, mut all, mut bytes) = ((1, 1), String::new(), 0);
                loop {
                    let part = scanned(text, window(at.0, None, at.1), max, step);
                    assert_eq!(part.range.0, bytes);
                    bytes = part.range.1;
                    all += part.text.as_str();
                    match part.next {
                        Some(next) => at = next,
                        None => break,
                    }
                }
                assert_eq!(all, text, "parts of {max}, pieces of {step}");
            }
        }
    }

    #[test]
    fn a_text_that_just_fits_is_not_cut() {
        let part = scanned("ab\ncd\n", Window::ALL, 6, 4);
        assert_eq!((part.text.as_str(), part.next), ("ab\ncd\n", None));
    }
}
