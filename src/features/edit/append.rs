//! Text appended to a file in the file's encoding and with its line endings.
//!
//! Only the two ends of the file are read. New lines get the line ending of the file's last complete line, as in edits.

use std::borrow::Cow;

use super::lines::{Ending, Lines, LoneCr};
use crate::features::text::{self, Seen};
use crate::root::write::Ends;

/// Why text cannot be appended to a file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AppendError {
    /// With `append`, the file is not text.
    #[error("not text but binary, or it ends within a character; text cannot be appended to it")]
    Binary,
    /// With `append`, the file's encoding cannot represent the text.
    #[error(
        "\"content\" has the character {character:?}, which the file's encoding ({encoding}) does not have; use other \
         characters, or read the file and write all of it anew, which makes it UTF-8"
    )]
    Unmappable {
        /// The first such character.
        character: char,
        /// The encoding of the file.
        encoding: &'static str,
    },
    /// With `append`, the encoding is a guess, and the text might read as something else.
    #[error(
        "its encoding is not certain enough ({encoding}) to append characters beyond ASCII; use ASCII, or read the \
         file and write all of it anew, which makes it UTF-8"
    )]
    Uncertain {
        /// The encoding that the file seems to have.
        encoding: String,
    },
}

/// What to append.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::features) struct Addition {
    /// The content converted for this file; `None` if it can be appended as given.
    pub(in crate::features) bytes: Option<Vec<u8>>,
    /// What the client should know, a few words each.
    pub(in crate::features) said: Vec<String>,
}

/// Converts `content` for a file with these ends.
pub(in crate::features) fn addition(ends: &Ends, content: &str) -> Result<Addition, AppendError> {
    if ends.size == 0 || content.is_empty() {
        return Ok(Addition::default());
    }
    let seen = text::look(ends).ok_or(AppendError::Binary)?;
    let lines = FileLines::of(&seen.text, content);
    let fitted = lines.fit(content);
    let mut said = Vec::new();
    if let (Cow::Owned(_), Some(ending)) = (&fitted, lines.last) {
        said.push(format!("line endings: {}, as in the file", ending.name()));
    }
    if seen.encoding.is_remarkable() {
        said.push(format!("encoding: {}", seen.encoding.name()));
    }
    if lines.is_open {
        said.push("the last line had no line ending, so the new text continues it".to_owned());
    }
    Ok(Addition { bytes: encoded(&seen, fitted)?, said })
}

/// The line endings of a file.
struct FileLines {
    lone_cr: LoneCr,
    /// The ending of the last line that has one.
    last: Option<Ending>,
    /// The last line has no ending.
    is_open: bool,
    /// The file ends with `\r` and the new text begins with `
    /// `: together they are one line ending.
    is_half: bool,
}

impl FileLines {
    fn of(text: &str, content: &str) -> Self {
        if text.ends_with('\r') && content.starts_with('\n') {
            return Self { lone_cr: LoneCr::Character, last: Some(Ending::CrLf), is_open: false, is_half: true };
        }
        let lone_cr = LoneCr::of_file(text);
        let lines = Lines::split(text, lone_cr);
        let is_open = !lines.text.is_empty() && !lines.text.ends_with('\n');
        Self { lone_cr, last: lines.endings.last().copied(), is_open, is_half: false }
    }

    /// The new text with the file's line endings.
    fn fit<'c>(&self, content: &'c str) -> Cow<'c, str> {
        let Some(ending) = self.last else { return content.into() };
        let mut lines = Lines::split(content, self.lone_cr);
        let endings = &mut lines.endings[usize::from(self.is_half)..];
        if endings.iter().all(|given| *given == ending) {
            return content.into();
        }
        endings.fill(ending);
        lines.join().into_owned().into()
    }
}

/// Text in the encoding of the file; `None` if those bytes are the content itself. A legacy encoding is a guess, so the
/// result must decode to the same text.
fn encoded(seen: &Seen, text: Cow<'_, str>) -> Result<Option<Vec<u8>>, AppendError> {
    let encoding = seen.encoding;
    if encoding.is_utf8() || (encoding.has_plain_newlines() && text.is_ascii()) {
        return Ok(match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.into_bytes()),
        });
    }
    let unmappable = |character| AppendError::Unmappable { character, encoding: encoding.label() };
    let bytes = encoding.without_mark().encode(&text).map_err(unmappable)?;
    let is_same = || encoding.encode(&seen.text).as_ref() == Ok(&seen.bytes);
    let reads_back = || {
        let read = text::decode([&seen.bytes[..], &bytes].concat());
        read.is_some_and(|(read, _)| read.as_bytes() == [seen.text.as_bytes(), text.as_bytes()].concat())
    };
    if encoding.is_guessed() && !(is_same() && reads_back()) {
        return Err(AppendError::Uncertain { encoding: encoding.name() });
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The file after appending, and the notes.
    fn appended(file: &[u8], content: &str) -> Result<(Vec<u8>, Vec<String>), AppendError> {
        let ends = Ends { size: file.len() as u64, head: file.to_vec(), tail: Vec::new() };
        let Addition { bytes, said } = addition(&ends, content)?;
        Ok(([file, bytes.as_deref().unwrap_or(content.as_bytes())].concat(), said))
    }

    fn encoded(text: &str, encoding: usize) -> Vec<u8> {
        let units = text.encode_utf16();
        match encoding {
            0 => text.as_bytes().to_vec(),
            1 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            2 => b"\xFF\xFE".iter().copied().chain(units.flat_map(u16::to_le_bytes)).collect(),
            _ => b"\xFE\xFF".iter().copied().chain(units.flat_map(u16::to_be_bytes)).collect(),
        }
    }

    #[test]
    fn new_lines_end_as_the_files_last_line_does() {
        for (file, content, want) in [
            ("a\r\nb\r\n", "more\n", "a\r\nb\r\nmore\r\n"),
            ("a\nb\n", "x\r\ny\r\n", "a\nb\nx\ny\n"),
            ("a\nb\r\n", "x\ny\n", "a\nb\r\nx\r\ny\r\n"),
            ("a\r\nb\n", "x\r\n", "a\r\nb\nx\n"),
            ("a\r\nb", "c\nd\n", "a\r\nbc\r\nd\r\n"),
            ("a\rb\r", "x\n", "a\rb\rx\r"),
            // Without a line ending in the file, the new ones are kept.
            ("last", "next\r\nx\n", "lastnext\r\nx\n"),
            ("", "x\r\n", "x\r\n"),
            // In a file with other line endings, a lone CR is a character, unless the new text completes it.
            ("a\n1\r2", "3\r4\r\n", "a\n1\r23\r4\n"),
            ("a\nb\r", "\nc\n", "a\nb\r\nc\r\n"),
        ] {
            let (now, _) = appended(file.as_bytes(), content).expect("text");
            assert_eq!(String::from_utf8_lossy(&now), want, "{file:?} + {content:?}");
        }
    }

    #[test]
    fn what_is_not_as_it_was_given_is_said() {
        let said = |file: &[u8], content| appended(file, content).expect("text").1;
        assert_eq!(said(b"a\n", "b\n"), [""; 0]);
        assert_eq!(said(b"a\r\n", "b\n"), ["line endings: CRLF, as in the file"]);
        assert_eq!(said(b"a", "b\n"), ["the last line had no line ending, so the new text continues it"]);
        assert_eq!(said(&encoded("a\n", 2), "b\n"), ["encoding: UTF-16LE with BOM"]);
        assert_eq!(said(b"", "b\n"), [""; 0]);
        assert_eq!(said(&encoded("", 2), "b\n"), ["encoding: UTF-16LE with BOM"]);
    }

    #[test]
    fn what_a_legacy_file_cannot_have_is_refused() {
        let file = b"caf\xe9 na\xefve, d\xe9j\xe0 vu\r\n";
        assert_eq!(appended(file, "th\u{e9}\n").expect("it has it").0, [&file[..], b"th\xe9\r\n"].concat());
        assert_eq!(appended(file, "plain\r\n").expect("ASCII").0, [&file[..], b"plain\r\n"].concat());
        let error = appended(file, "日\n").expect_err("it has not");
        assert!(matches!(error, AppendError::Unmappable { character: '日', encoding: "windows-1252" }), "{error}");
        // The windows-1252 bytes of these characters are one character in UTF-8.
        let error = appended(b"caf\xe9\n", "\u{c3}\u{a9}\n").map(|(now, _)| now);
        assert!(matches!(error, Ok(_) | Err(AppendError::Uncertain { .. })), "{error:?}");
        assert_eq!(appended(b"a\0b\n", "x"), Err(AppendError::Binary));
        assert_eq!(appended(b"\xFF\xFEa", "x"), Err(AppendError::Binary), "half a character");
    }

    proptest! {
        /// A text that is appended in parts gives the same result wherever it is cut.
        #[test]
        fn part_after_part_is_the_whole(
            lines in prop::collection::vec(prop::sample::select(&["", "a", "é", "😀b", "日本"][..]), 1..6),
            ending in prop::sample::select(&["\n", "\r\n", "\r"][..]),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
            encoding in 0..4_usize,
        ) {
            let text = lines.join(ending);
            let chars: Vec<char> = text.chars().collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
            cuts.extend([0, chars.len()]);
            cuts.sort_unstable();
            let mut file = encoded("", encoding);
            for part in cuts.windows(2) {
                let part: String = chars[part[0]..part[1]].iter().collect();
                file = appended(&file, &part).expect("text").0;
            }
            prop_assert_eq!(file, encoded(&text, encoding));
        }
    }
}
