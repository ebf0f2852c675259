//! A text with its line endings apart: every one is `\n` in the text, and what it really is stands beside it.
//!
//! Texts are found and replaced in this form, where one kind of line ending is like another. Put together, a text
//! that was taken apart is what it was, to the byte.

use std::borrow::Cow;

/// What a line ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// `\n`, as on Unix.
    Lf,
    /// `\r\n`, as on Windows.
    CrLf,
    /// `\r`, as on the old Macintosh.
    Cr,
}

/// What a lone `\r` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoneCr {
    /// A character like others.
    Character,
    /// A line ending.
    Ending,
}

impl LoneCr {
    /// In a file, it ends lines where nothing else does.
    pub(super) fn of_file(text: &str) -> Self {
        if text.contains('\n') { Self::Character } else { Self::Ending }
    }
}

/// A text with its line endings apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// All line endings are `\n`.
    pub(super) text: String,
    /// One for each `\n` in it.
    pub(super) endings: Vec<Ending>,
}

impl Lines {
    /// Takes a text apart.
    pub(super) fn split(given: &str, lone_cr: LoneCr) -> Self {
        let bytes = given.as_bytes();
        let (mut text, mut endings) = (String::with_capacity(given.len()), Vec::new());
        let mut from = 0;
        for at in memchr::memchr2_iter(b'\r', b'\n', bytes) {
            let ending = match bytes[at] {
                b'\n' if at > from && bytes[at - 1] == b'\r' => Ending::CrLf,
                b'\n' => Ending::Lf,
                _ if lone_cr == LoneCr::Ending && bytes.get(at + 1) != Some(&b'\n') => Ending::Cr,
                _ => continue,
            };
            text.push_str(&given[from..at - usize::from(ending == Ending::CrLf)]);
            text.push('\n');
            endings.push(ending);
            from = at + 1;
        }
        text.push_str(&given[from..]);
        Self { text, endings }
    }

    /// Puts it together again.
    pub(super) fn join(&self) -> Cow<'_, str> {
        if self.endings.iter().all(|ending| *ending == Ending::Lf) {
            return Cow::Borrowed(&self.text);
        }
        let mut joined = String::with_capacity(self.text.len() + self.endings.len());
        let mut from = 0;
        for (at, ending) in memchr::memchr_iter(b'\n', self.text.as_bytes()).zip(&self.endings) {
            joined.push_str(&self.text[from..at]);
            joined.push_str(ending.as_str());
            from = at + 1;
        }
        joined.push_str(&self.text[from..]);
        Cow::Owned(joined)
    }
}

/// How many line endings there are in a part of such a text.
pub(super) fn count(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

impl Ending {
    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Cr => "CR",
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_taken_apart() {
        use Ending::{Cr, CrLf, Lf};
        for (given, lone_cr, text, endings) in [
            ("", LoneCr::Ending, "", &[][..]),
            ("a\nb\r\nc", LoneCr::Character, "a\nb\nc", &[Lf, CrLf]),
            ("\r\n\n\r\n", LoneCr::Character, "\n\n\n", &[CrLf, Lf, CrLf]),
            ("a\rb\r\r\nc\r", LoneCr::Character, "a\rb\r\nc\r", &[CrLf]),
            ("a\rb\r\r\nc\r", LoneCr::Ending, "a\nb\n\nc\n", &[Cr, Cr, CrLf, Cr]),
            ("é\r日", LoneCr::Ending, "é\n日", &[Cr]),
        ] {
            let lines = Lines::split(given, lone_cr);
            assert_eq!((lines.text.as_str(), lines.endings.as_slice()), (text, endings), "{given:?} {lone_cr:?}");
            assert_eq!(lines.join(), given, "{lone_cr:?}");
            assert_eq!(count(text), endings.len());
        }
    }
}
