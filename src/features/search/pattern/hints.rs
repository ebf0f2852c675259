//! Why a pattern may match nothing: the likely mistakes, in a few words.

use super::{Pattern, Purpose, split};
use crate::root::RelPath;

/// The maximum number of hints.
const MOST: usize = 2;

impl Pattern {
    /// What to say if nothing matched in a search that started at `start`, the likeliest reason first.
    pub(crate) fn hints(&self, start: &RelPath) -> Vec<&'static str> {
        let checks = [
            (self.is_regex(), "the pattern is a glob such as *.rs, not a regex"),
            (self.is_negated(), "the pattern selects names; to exclude entries, use excludePatterns"),
            (self.is_ending(), "to match names that end like this, put * before the pattern"),
            (self.repeats(start), "the pattern is relative to \"path\"; do not repeat path in it"),
            (self.is_of_windows(), "\\ escapes the next character; use / between names"),
            (self.text.contains(['[', '{']), "brackets and braces were matched both as a glob and literally"),
            (self.is_tied(), "a pattern with / starts at \"path\"; put **/ before it to match at any depth"),
            (self.is_whole(), "the pattern must match the whole name; put * around part of a name"),
            (self.has_capitals(), "case matters because the pattern has an upper-case letter"),
        ];
        checks.into_iter().filter(|(applies, _)| *applies).map(|(_, hint)| hint).take(MOST).collect()
    }

    fn is_regex(&self) -> bool {
        let signs = [".*", ".+", "\\.", "\\w", "\\d", "(?", "^", "$", "|"];
        signs.iter().any(|sign| self.text.contains(sign)) && self.left_out.is_empty() && self.taken.len() == 1
    }

    fn is_negated(&self) -> bool {
        self.purpose == Purpose::Entries && self.text.starts_with('!')
    }

    fn is_ending(&self) -> bool {
        self.purpose == Purpose::Entries && split::is_extension(&self.text)
    }

    /// The pattern begins with the last name of the path that it is relative to.
    fn repeats(&self, start: &RelPath) -> bool {
        let first = self.text.trim_start_matches("./").split('/').next().unwrap_or_default();
        self.text.contains('/') && start.file_name() == Some(first.as_bytes())
    }

    fn is_of_windows(&self) -> bool {
        let is_escape = |c: char| "*?[]{}\\!,|;".contains(c);
        let mut rest = self.text.split('\\').skip(1);
        rest.any(|text| text.starts_with(|c| !is_escape(c))) || self.text.contains("\\*") && !self.text.contains('/')
    }

    /// It contains a `/` and does not match at any depth yet.
    fn is_tied(&self) -> bool {
        let glob = self.text.trim_end_matches('/');
        glob.contains('/') && !glob.starts_with("**") && !glob.starts_with('/') && self.taken.len() == 1
    }

    /// A plain name.
    fn is_whole(&self) -> bool {
        let glob = self.text.as_str();
        self.purpose == Purpose::Entries && !glob.contains(['*', '?', '/', '[', '{']) && !glob.starts_with(['.', '!'])
    }

    fn has_capitals(&self) -> bool {
        self.text.chars().any(char::is_uppercase)
    }
}
