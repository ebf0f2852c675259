//! Which lines of a text are requested, and what is returned of it.

use crate::text::Text;

/// A position and a number of lines. Lines and characters are counted from 1; lines end with `
/// `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The first line.
    pub(crate) offset: u64,
    /// The number of lines; `None` for all.
    pub(crate) limit: Option<u64>,
    /// The first character of the first line.
    pub(crate) column: u64,
}

impl Window {
    /// Everything.
    pub(crate) const ALL: Self = Self { offset: 1, limit: None, column: 1 };
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The text itself.
    pub(crate) text: Text,
    /// The number of the line in which it begins.
    pub(crate) first_line: u64,
    /// The line and character at which the next part begins; `None` at the end of the file.
    pub(crate) next: Option<(u64, u64)>,
    /// The number of lines in the file; `None` if it is too long to count.
    pub(crate) lines: Option<u64>,
    /// Its position in the file, in bytes, if the file is read as raw UTF-8.
    pub(crate) range: (u64, u64),
    /// Whether it is the whole file.
    pub(crate) is_whole: bool,
    /// Whether it was cut because more would not fit.
    pub(crate) is_cut: bool,
}

impl Part {
    /// A whole file.
    pub(super) fn whole(text: Text) -> Self {
        let range = (0, text.len() as u64);
        Self { text, first_line: 1, next: None, lines: None, range, is_whole: true, is_cut: false }
    }

    /// How many lines it touches; none if it is empty.
    pub(crate) fn line_count(&self) -> u64 {
        let ends = memchr::memchr_iter(b'\n', self.text.as_bytes()).count() as u64;
        ends + u64::from(!self.text.is_empty() && !self.text.as_bytes().ends_with(b"\n"))
    }

    /// The same, as the last lines of a file of this many lines.
    pub(super) fn at_end_of(self, lines: u64) -> Self {
        let first_line = lines + 1 - self.line_count().min(lines);
        Self { first_line, lines: Some(lines), ..self }
    }
}
