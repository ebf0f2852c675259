//! A list of names as patterns: defaults, and those from an option.
//!
//! Patterns are in gitignore syntax without negation, and compared [folded](super::fold). One that matches a directory
//! matches everything below it; one for a directory (`.git/`) also matches a file or link of that name, to be on the
//! safe side. On every system, a path is also compared as Windows reads it: the disk may be formatted by Windows.

use std::sync::OnceLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::fold::{as_windows_reads, fold};
use super::path::{RelPath, os_str};

/// A list of names.
#[derive(Debug)]
pub(super) struct Patterns {
    defaults: Vec<&'static str>,
    given: Vec<String>,
    /// Compiled when the first name is checked, so that startup does not wait for it.
    matcher: OnceLock<Matcher>,
}

/// The pattern that matches a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// As it was given.
    pub pattern: String,
    /// From the option, not from the defaults.
    pub is_given: bool,
}

#[derive(Debug)]
struct Matcher {
    /// `None` matches everything.
    gitignore: Option<Gitignore>,
    /// The first bytes that a name can have if the last component of a pattern matches it. Most names are ruled out by
    /// this.
    first_bytes: Box<[bool; 256]>,
}

impl Patterns {
    /// Parses the patterns that `option` gives. The error says which one is invalid, and why. The `defaults` may
    /// contain negated lines, which are exceptions of the defaults before them.
    pub(super) fn new(option: &str, given: &[String], defaults: Vec<&'static str>) -> Result<Self, String> {
        for pattern in given {
            if pattern.contains("${") {
                return Err(format!("{option} {pattern:?}: the client did not replace the variable"));
            }
            if pattern.trim().is_empty() || pattern.starts_with(['!', '#']) {
                return Err(format!(
                    "{option} {pattern:?}: not a valid pattern (negations, comments and blank patterns are not supported)"
                ));
            }
            let mut builder = GitignoreBuilder::new("");
            builder.add_line(None, &fold(pattern)).map_err(|error| format!("{option} {pattern:?}: {error}"))?;
        }
        let patterns = Self { defaults, given: given.to_vec(), matcher: OnceLock::new() };
        if !given.is_empty() {
            // All together may still be too large.
            let matcher = patterns.compile().map_err(|error| format!("{option}: {error}"))?;
            let _ = patterns.matcher.set(matcher);
        }
        Ok(patterns)
    }

    /// The defaults, and the patterns from the option.
    pub(super) fn all(&self) -> (&[&'static str], &[String]) {
        (&self.defaults, &self.given)
    }

    /// The pattern that matches a path or one above it.
    pub(super) fn find(&self, path: &RelPath) -> Option<Found> {
        let matcher = self.matcher();
        if !path.components().any(|name| matcher.may_match(name)) {
            return None;
        }
        let path = path.as_bytes();
        let found = matcher.find(path).or_else(|| matcher.find(&as_windows_reads(path)?));
        found.map(|folded| self.found(&folded))
    }

    /// Whether a pattern matches a name, given that none matches its directory.
    pub(super) fn match_in(&self, directory: &RelPath, name: &[u8]) -> bool {
        let matcher = self.matcher();
        if !matcher.may_match(name) {
            return false;
        }
        let path = directory.join(name);
        let matches = |path: &[u8]| matcher.match_whole(&fold(&String::from_utf8_lossy(path))).is_some();
        matches(path.as_bytes()) || as_windows_reads(path.as_bytes()).is_some_and(|path| matches(&path))
    }

    fn found(&self, folded: &str) -> Found {
        let given = self.given.iter().find(|pattern| fold(pattern) == folded);
        Found { pattern: given.map_or(folded, String::as_str).to_owned(), is_given: given.is_some() }
    }

    fn matcher(&self) -> &Matcher {
        // Only the defaults are compiled this late, and a test compiles them. If it failed, every name would match.
        self.matcher.get_or_init(|| {
            self.compile().unwrap_or_else(|_| Matcher { gitignore: None, first_bytes: Box::new([true; 256]) })
        })
    }

    fn compile(&self) -> Result<Matcher, ignore::Error> {
        Matcher::new(self.defaults.iter().copied().chain(self.given.iter().map(String::as_str)))
    }
}

impl Matcher {
    fn new<'p>(patterns: impl Iterator<Item = &'p str>) -> Result<Self, ignore::Error> {
        let mut builder = GitignoreBuilder::new("");
        let mut first_bytes = Box::new([false; 256]);
        first_bytes[0x80..].fill(true); // folding can change what is not ASCII
        for pattern in patterns {
            let pattern = fold(pattern);
            builder.add_line(None, &pattern)?;
            match first_byte(&pattern) {
                Some(byte) => {
                    first_bytes[usize::from(byte)] = true;
                    first_bytes[usize::from(byte.to_ascii_uppercase())] = true;
                }
                None => first_bytes.fill(true),
            }
        }
        Ok(Self { gitignore: Some(builder.build()?), first_bytes })
    }

    fn may_match(&self, name: &[u8]) -> bool {
        name.first().is_some_and(|byte| self.first_bytes[usize::from(*byte)])
    }

    /// The folded pattern that matches a path or one above it.
    fn find(&self, path: &[u8]) -> Option<String> {
        // Folded once for all paths above it, of which a long path has thousands. Folding neither adds nor removes a
        // separator.
        let folded = fold(&String::from_utf8_lossy(path)).into_owned();
        let ends = memchr::memchr_iter(b'/', folded.as_bytes()).chain([folded.len()]);
        let mut names = path.split(|byte| *byte == b'/').zip(ends).filter(|(name, _)| self.may_match(name));
        names.find_map(|(_, end)| self.match_whole(&folded[..end]))
    }

    /// The folded pattern that matches a folded path itself.
    fn match_whole(&self, path: &str) -> Option<String> {
        let Some(gitignore) = &self.gitignore else { return Some("all".to_owned()) };
        match gitignore.matched(os_str(path.as_bytes()), true) {
            ignore::Match::Ignore(glob) => Some(glob.original().to_owned()),
            _ => None,
        }
    }
}

/// The byte that starts every name matched by the last component of a pattern; `None` if there is no single one.
fn first_byte(pattern: &str) -> Option<u8> {
    if pattern.contains('{') {
        return None; // alternatives may hold separators
    }
    let last = pattern.trim_end().trim_end_matches('/').rsplit('/').next()?;
    // A character outside ASCII may also be written as a base character and a mark.
    last.bytes().next().filter(|byte| byte.is_ascii() && !b"*?[\\".contains(byte))
}
