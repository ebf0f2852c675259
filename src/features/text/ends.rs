//! A file of which only the two ends are known: its encoding, and their text.

use super::encoding::{Encoding, detect};
use crate::features::content;
use crate::root::write::Ends;

/// The ends of a file as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) encoding: Encoding,
    /// The text at the beginning of the file and, if something lies between them, that at its end.
    pub(crate) text: String,
    /// The same in the encoding of the file.
    pub(crate) bytes: Vec<u8>,
}

/// Decodes the ends of a file; `None` if it is not text.
pub(crate) fn look(ends: &Ends) -> Option<Seen> {
    let (encoding, bytes) = if ends.is_whole() { (detect(&ends.head, true)?, ends.head.clone()) } else { parts(ends)? };
    let text = encoding.decode_whole(bytes.clone()).ok()?;
    Some(Seen { encoding, text: text.as_str().to_owned(), bytes })
}

/// The encoding of two parts of a file, and both together, cut at character boundaries.
fn parts(ends: &Ends) -> Option<(Encoding, Vec<u8>)> {
    let promised = detect(&ends.head, false);
    if let Some(encoding) = promised.filter(|encoding| !encoding.has_plain_newlines()) {
        return ends.size.is_multiple_of(2).then(|| (encoding, of_utf16(ends, encoding)));
    }
    let tail = from_character(&ends.tail);
    if let Some(encoding) = promised.filter(|encoding| encoding.is_utf8() && crate::text::is_text(tail)) {
        let head = content::utf8_prefix(&ends.head)?.as_bytes();
        return Some((encoding, [head, tail].concat()));
    }
    // In other encodings, only line ends reveal where a character begins.
    let head_end = memchr::memrchr(b'\n', &ends.head).map_or(0, |at| at + 1);
    let tail_start = memchr::memchr(b'\n', &ends.tail).map_or(ends.tail.len(), |at| at + 1);
    let bytes = [&ends.head[..head_end], &ends.tail[tail_start..]].concat();
    Some((Encoding::guess(&bytes)?, bytes))
}

/// UTF-8 from the first byte that begins a character.
fn from_character(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &bytes[cut..]
}

/// Two parts of a file in UTF-16, without half a surrogate pair where they meet.
fn of_utf16(ends: &Ends, encoding: Encoding) -> Vec<u8> {
    let (head, tail) = (&ends.head[..ends.head.len() & !1], &ends.tail[ends.tail.len() & 1..]);
    let high_byte = |unit: &[u8]| if encoding.is_little_endian() { unit[1] } else { unit[0] };
    let ends_in_half = head.rchunks_exact(2).next().is_some_and(|unit| matches!(high_byte(unit), 0xD8..=0xDB));
    let begins_with_half = tail.chunks_exact(2).next().is_some_and(|unit| matches!(high_byte(unit), 0xDC..=0xDF));
    let head = if ends_in_half { &head[..head.len() - 2] } else { head };
    let tail = if begins_with_half { &tail[2..] } else { tail };
    [head, tail].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(bytes: &[u8], most: usize) -> Ends {
        let (head, tail) =
            if bytes.len() <= 2 * most { (bytes, &[][..]) } else { (&bytes[..most], &bytes[bytes.len() - most..]) };
        Ends { size: bytes.len() as u64, head: head.to_vec(), tail: tail.to_vec() }
    }

    fn utf16(text: &str) -> Vec<u8> {
        b"\xFF\xFE".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    }

    /// However a file is cut, the encoding of the parts is that of the whole, and they contain its text.
    #[test]
    fn the_ends_are_taken_for_what_the_file_is() {
        let text = "é日😀 a line\nб\r\n".repeat(40);
        let legacy = b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n".repeat(40);
        let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
        for bytes in [text.as_bytes().to_vec(), marked, utf16(&text), legacy] {
            let whole = look(&ends(&bytes, bytes.len())).expect("text");
            assert_eq!(whole.bytes, bytes);
            for most in 100..140 {
                let seen = look(&ends(&bytes, most)).expect("text");
                assert_eq!(seen.encoding, whole.encoding, "{most}");
                assert!(
                    seen.text.len() > most / 2
                        && whole.text.as_bytes().ends_with(&seen.text.as_bytes()[seen.text.len() - 20..])
                );
                assert_eq!(seen.encoding.encode(&seen.text).as_ref(), Ok(&seen.bytes), "{most}");
            }
        }
    }

    #[test]
    fn an_end_that_is_not_text_is_seen() {
        let text = "a line\n".repeat(40);
        for end in [&b"\0"[..], b"\xE6\x97\0"] {
            let bytes = [text.as_bytes(), end].concat();
            assert_eq!(look(&ends(&bytes, 100)), None);
            assert_eq!(look(&ends(&bytes, 1_000)), None);
        }
        let half = [&utf16(&text)[..], b"x"].concat();
        assert_eq!(look(&ends(&half, 100)), None, "half a character");
        let late = [text.as_bytes(), b"caf\xe9 d\xe9j\xe0 vu\n"].concat();
        assert!(look(&ends(&late, 100)).expect("text").encoding.is_guessed());
    }
}
