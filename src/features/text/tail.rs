//! The last lines of a file, found from its end.

use super::part::{Part, Window};
use super::scan::{decode, scan};
use super::{CHUNK, COUNTED, Encoding, TextError};
use crate::root::File;
use crate::runtime::cancel::Cancel;
use crate::text::Text;

/// Reads the last `count` lines, at most `max` bytes: beyond that, fewer lines, and the first may be cut.
pub(super) fn tail(
    file: &File,
    count: u64,
    max: usize,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Part, TextError> {
    if !encoding.has_plain_newlines() {
        return tail_of_utf16(file, count, max, encoding, cancel);
    }
    let bytes = last_bytes(file, count, max, encoding.mark() as u64, cancel)?;
    // Only what is returned has to be text: a log may have a hole of zeros before its last lines.
    let bytes = last_lines(&bytes, count, max, encoding.is_utf8()).to_vec();
    let text = encoding.without_mark().decode_whole(bytes).map_err(|_| TextError::Binary)?;
    let lines = if file.stat.size <= COUNTED { Some(count_lines(file, cancel)?) } else { None };
    Ok(part(text, lines))
}

/// UTF-16 is decoded from its beginning, because half of a character looks like another one.
fn tail_of_utf16(file: &File, count: u64, max: usize, encoding: Encoding, cancel: &Cancel) -> Result<Part, TextError> {
    if file.stat.size > COUNTED {
        return Err(TextError::TailTooLong);
    }
    let whole = scan(file, Window::ALL, usize::MAX, encoding, cancel)?;
    let lines = whole.line_count();
    let bytes = last_lines(whole.text.as_bytes(), count, max, true).to_vec();
    let text = Text::from_bytes(bytes).map_err(|_| TextError::Binary)?;
    Ok(part(text, Some(lines)))
}

fn part(text: Text, lines: Option<u64>) -> Part {
    let part = Part { first_line: 0, is_whole: false, ..Part::whole(text) };
    match lines {
        Some(lines) => part.at_end_of(lines),
        None => part,
    }
}

/// The last bytes of the file: enough for the lines, or somewhat more than `max`.
fn last_bytes(file: &File, count: u64, max: usize, start: u64, cancel: &Cancel) -> Result<Vec<u8>, TextError> {
    let mut from = file.stat.size.max(start);
    let mut newlines = 0;
    let mut pieces = Vec::new();
    let mut total = 0;
    // One more newline than lines: the one before the first of them.
    while from > start && newlines <= count && total <= max {
        let length = CHUNK.min(usize::try_from(from - start).unwrap_or(CHUNK));
        from -= length as u64;
        let mut piece = vec![0; length];
        let read = file.read_at(&mut piece, from, cancel)?;
        piece.truncate(read);
        newlines += memchr::memchr_iter(b'\n', &piece).count() as u64;
        total += piece.len();
        pieces.push(piece);
    }
    pieces.reverse();
    Ok(pieces.concat())
}

/// The last `count` lines of `text`, as many bytes as `max` allows; whole characters in UTF-8.
fn last_lines(text: &[u8], count: u64, max: usize, utf8: bool) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let nth = usize::try_from(count).unwrap_or(usize::MAX);
    let begin = memchr::memrchr_iter(b'\n', body).nth(nth - 1).map_or(0, |at| at + 1);
    let lines = &text[begin..];
    if lines.len() <= max {
        return lines;
    }
    let mut cut = &lines[lines.len() - max..];
    while utf8 && cut.first().is_some_and(|byte| byte & 0xC0 == 0x80) {
        cut = &cut[1..];
    }
    // At the next whole line, unless the last line alone is too long.
    match memchr::memchr(b'\n', cut) {
        Some(at) if at + 1 < cut.len() => &cut[at + 1..],
        _ => cut,
    }
}

/// The number of lines in a file whose newlines are single bytes, however long that takes.
pub(super) fn count_lines(file: &File, cancel: &Cancel) -> Result<u64, TextError> {
    let (mut newlines, mut last) = (0, b'\n');
    decode(file, Encoding::RAW_UTF8, cancel, |bytes| {
        newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        last = bytes.last().copied().unwrap_or(last);
        true
    })?;
    Ok(newlines + u64::from(last != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    fn last(text: &str, count: u64, max: usize) -> &str {
        std::str::from_utf8(last_lines(text.as_bytes(), count, max, true)).expect("whole characters")
    }

    #[test]
    fn a_final_newline_ends_the_last_line_and_begins_none() {
        assert_eq!(last("a\nb\nc\n", 1, 99), "c\n");
        assert_eq!(last("a\nb\nc\n", 2, 99), "b\nc\n");
        assert_eq!(last("a\nb\nc", 1, 99), "c");
        assert_eq!(last("a\n\n", 1, 99), "\n");
        assert_eq!(last("a", 5, 99), "a");
        assert_eq!(last("", 5, 99), "");
    }

    #[test]
    fn what_does_not_fit_is_cut_from_the_front() {
        assert_eq!(last("aaaa\nbbbb\ncccc\n", 3, 11), "bbbb\ncccc\n");
        assert_eq!(last("ééé\n", 1, 4), "é\n");
    }
}
