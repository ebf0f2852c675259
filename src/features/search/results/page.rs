//! The part of a search's results that one answer returns.

use crate::features::format::{counted, grouped};

/// Consecutive results, starting where the call says.
#[derive(Debug)]
pub(crate) struct Page {
    /// How many results precede it.
    skip: u64,
    limit: u64,
    max_bytes: usize,
    /// How many have been passed over so far.
    passed: u64,
    text: String,
    found: u64,
    cut: Option<Cut>,
}

/// Why there are more results than are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The requested number is reached.
    Limit,
    /// The answer is full.
    Bytes,
    /// Further results could not be kept for sorting.
    Order,
}

impl Page {
    /// The results after the first `skip`, at most `limit` and `max_bytes`.
    pub(crate) fn new(skip: u64, limit: u64, max_bytes: usize) -> Self {
        Self { skip, limit, max_bytes, passed: 0, text: String::new(), found: 0, cut: None }
    }

    /// Adds the next result as a whole; the first one as far as it fits, so that continuing from there makes progress.
    pub(super) fn add(&mut self, line: impl FnOnce() -> String) {
        if self.passed < self.skip {
            self.passed += 1;
            return;
        }
        if self.cut.is_some() {
            return;
        }
        if self.found == self.limit {
            self.cut = Some(Cut::Limit);
            return;
        }
        let line = line();
        if self.found == 0 {
            self.text.push_str(&line[..line.floor_char_boundary(self.max_bytes)]);
        } else if self.text.len() + line.len() + 1 > self.max_bytes {
            self.cut = Some(Cut::Bytes);
            return;
        } else {
            self.text.push('\n');
            self.text.push_str(&line);
        }
        self.found += 1;
    }

    /// Records that more results follow the last one added.
    pub(super) fn end_early(&mut self) {
        self.cut.get_or_insert(match self.found {
            found if found == self.limit => Cut::Limit,
            0 => Cut::Order,
            _ => Cut::Bytes,
        });
    }

    /// The number of results up to its end.
    pub(super) fn end(&self) -> u64 {
        self.skip.saturating_add(self.limit)
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Whether more results follow.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Whether there is no result at all, including those before it.
    pub(crate) fn has_no_match(&self) -> bool {
        self.passed + self.found == 0
    }

    /// Says which results these are if there are others, and how to get those.
    pub(crate) fn note(&self) -> Option<String> {
        let (passed, found) = (self.passed, self.found);
        if self.cut == Some(Cut::Order) {
            let kept = counted(passed, "result", "results");
            return Some(format!("only the first {kept} can be sorted; narrow \"pattern\" or \"path\""));
        }
        let these = match (passed, found) {
            (0, found) => format!("the first {}", counted(found, "result", "results")),
            (passed, 0) => return Some(format!("only {} exist", counted(passed, "result", "results"))),
            (passed, found) => format!("results {}-{}", grouped(passed + 1), grouped(passed + found)),
        };
        let next = passed + found + 1;
        match self.cut {
            None if passed == 0 => None,
            None => Some(these),
            Some(Cut::Limit) => Some(format!(
                "{these}; continue with offset {next}, raise \"limit\", or narrow \"pattern\" or \"path\""
            )),
            Some(_) => Some(format!(
                "{these}: the answer is full; continue with offset {next}, or narrow \"pattern\" or \"path\""
            )),
        }
    }

    /// The text, or a statement that nothing was found.
    pub(super) fn into_text(self) -> String {
        match (self.found, self.passed) {
            (0, 0) => "No matches found".to_owned(),
            (0, _) => "No more matches".to_owned(),
            _ => self.text,
        }
    }
}
