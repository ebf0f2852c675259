//! A text with its line endings kept separately: in the text every one is `
//! `, and the real ones are beside it.
//!
//! Searching and replacing use this form, in which all line endings are equal. Splitting and joining a text reproduces
//! it byte for byte.

use std::borrow::Cow;

/// A line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// `
    /// `, as on Unix.
    Lf,
    /// `\r\n`, as on Windows.
    CrLf,
    /// `\r`, as on classic Mac OS.
    Cr,
}

/// How a lone `\r` is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoneCr {
    /// As an ordinary character.
    Character,
    /// As a line ending.
    Ending,
}

impl LoneCr {
    /// In a file, it is a line ending if the file has no others.
    pub(super) fn of_file(text: &str) -> Self {
        if text.contains('\n') { Self::Character } else { Self::Ending }
    }
}

/// A text with its line endings kept separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// All line endings are `\n`.
    pub(super) text: String,
    /// One for each `
    /// ` in the text.
    pub(super) endings: Vec<Ending>,
}

impl Lines {
    /// Splits a text.
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

    /// The number of a line in answers for the given line in this form; both are counted from 1. In answers, lines end with `
    /// `, and a lone `\r` does not end a line.
    pub(super) fn number(&self, line: usize) -> usize {
        let before = &self.endings[..(line - 1).min(self.endings.len())];
        line - before.iter().filter(|ending| **ending == Ending::Cr).count()
    }

    /// The line and character of a byte position, counted in the same way.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let ends = memchr::memchr_iter(b'\n', before.as_bytes()).zip(&self.endings);
        let start = ends.filter(|(_, ending)| **ending != Ending::Cr).last().map_or(0, |(end, _)| end + 1);
        (self.number(count(before) + 1), before[start..].chars().count() + 1)
    }

    /// The text with `
    /// ` for every ending except a lone `\r`, so that its lines are those of answers.
    pub(super) fn as_counted(&self) -> Cow<'_, str> {
        if !self.endings.contains(&Ending::Cr) {
            return Cow::Borrowed(&self.text);
        }
        self.join_with(|ending| if ending == Ending::Cr { "\r" } else { "\n" }).into()
    }

    /// Restores the original form.
    pub(super) fn join(&self) -> Cow<'_, str> {
        if self.endings.iter().all(|ending| *ending == Ending::Lf) {
            return Cow::Borrowed(&self.text);
        }
        self.join_with(Ending::as_str).into()
    }

    fn join_with(&self, written: fn(Ending) -> &'static str) -> String {
        let mut joined = String::with_capacity(self.text.len() + self.endings.len());
        let mut from = 0;
        for (at, ending) in memchr::memchr_iter(b'\n', self.text.as_bytes()).zip(&self.endings) {
            joined.push_str(&self.text[from..at]);
            joined.push_str(written(*ending));
            from = at + 1;
        }
        joined.push_str(&self.text[from..]);
        joined
    }
}

/// The number of line endings in a part of such a text.
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

    #[test]
    fn a_lone_cr_ends_no_line_that_is_counted() {
        let lines = Lines::split("a\rb\r\r\nc\rdé\nx", LoneCr::Ending);
        assert_eq!([1, 2, 3, 4, 5, 6].map(|line| lines.number(line)), [1, 1, 1, 2, 2, 3]);
        let places = ["b", "c", "é", "x"].map(|part| lines.place(lines.text.find(part).expect("it is there")));
        assert_eq!(places, [(1, 3), (2, 1), (2, 4), (3, 1)]);
        assert_eq!(lines.as_counted(), "a\rb\r\nc\rdé\nx");
        assert_eq!(Lines::split("a\r\nb\rc", LoneCr::Character).as_counted(), "a\nb\rc");
    }
}
