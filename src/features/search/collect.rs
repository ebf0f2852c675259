//! The matches in one file as lines to show, no more than an answer can hold.

use std::fmt::Write as _;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::query::Query;

/// How much of one file is collected. More could not be shown, whatever was found before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The number of matches.
    pub(super) matches: u64,
    /// Bytes of lines. Collecting stops with the line that exceeds it, so that the answer sees that not everything
    /// fits.
    pub(super) bytes: usize,
    /// Only the path will be shown.
    pub(super) path_only: bool,
}

/// The matches in a file. Occupies [`Room::bytes`], one more line, and 16 bytes per match, each of which has a line
/// with a path.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The lines of all matches, each with the path of the file and its number.
    text: String,
    ends: Vec<End>,
    /// There are more matches than [`Room::matches`].
    pub(super) has_more: bool,
}

/// The end of a match in the text.
#[derive(Debug)]
struct End {
    at: usize,
    /// There is a gap before it.
    gap: bool,
}

impl Found {
    /// The matches in order: whether there is a gap before each, and its lines with their context.
    pub(super) fn hits(&self) -> impl Iterator<Item = (bool, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end.at));
        starts.zip(&self.ends).map(|(start, end)| (end.gap, self.text[start..end.at].trim_end_matches('\n')))
    }

    /// The number of matches.
    pub(super) fn matches(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Their size in an answer.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// Collects the lines that the engine finds.
pub(super) struct Collector<'a> {
    query: &'a Query,
    label: &'a dyn Fn() -> String,
    /// The label, made for the first match.
    path: Option<String>,
    room: Room,
    found: Found,
    /// Context lines before a match that is still to come, at most [`Room::bytes`] and one line more, and whether there
    /// is a gap before them.
    before: String,
    gap: bool,
    is_binary: bool,
}

impl<'a> Collector<'a> {
    /// Collects from the file named by `label`.
    pub(super) fn new(query: &'a Query, label: &'a dyn Fn() -> String, room: Room) -> Self {
        let (found, before) = (Found::default(), String::new());
        Self { query, label, path: None, room, found, before, gap: false, is_binary: false }
    }

    /// The matches; `None` for a binary file.
    pub(super) fn finish(self) -> Option<Found> {
        (!self.is_binary).then_some(self.found)
    }

    fn is_full(&self) -> bool {
        self.found.text.len() > self.room.bytes
    }

    fn push_match(&mut self, matched: &SinkMatch<'_>) {
        let path = self.path.get_or_insert_with(self.label);
        let text = &mut self.found.text;
        if self.room.path_only {
            text.push_str(path);
            return;
        }
        text.push_str(&std::mem::take(&mut self.before));
        let first = matched.line_number().unwrap_or(1);
        for (number, line) in (first..).zip(matched.lines()) {
            push_line(text, self.query, (path, ':', number), line);
            // One match may be the whole file.
            if text.len() > self.room.bytes {
                return;
            }
        }
    }
}

/// Appends one line in the form in which it is shown.
fn push_line(text: &mut String, query: &Query, (path, sign, number): (&str, char, u64), line: &[u8]) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{path}{sign}{number}{sign} ");
    query.push_shown(text, line);
    text.push('\n');
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.matches() == self.room.matches {
            self.found.has_more = true;
            return Ok(false);
        }
        if self.is_full() {
            return Ok(false);
        }
        self.push_match(matched);
        self.found.ends.push(End { at: self.found.text.len(), gap: std::mem::take(&mut self.gap) });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_after = *context.kind() == SinkContextKind::After;
        let text = if is_after { &mut self.found.text } else { &mut self.before };
        if text.len() <= self.room.bytes {
            let path = self.path.get_or_insert_with(self.label);
            push_line(text, self.query, (path, '-', context.line_number().unwrap_or(1)), context.bytes());
        }
        if let (true, Some(end)) = (is_after, self.found.ends.last_mut()) {
            end.at = self.found.text.len();
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}
