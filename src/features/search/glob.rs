//! A glob on names, as models write them.
//!
//! Without `/` it is looked for at any depth: who sends `*.py` or `users.go` means all of them. With `/` it is
//! relative to where the search starts. Smart case: capitals count only where the glob has one.

use std::borrow::Cow;

use globset::{ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::root::{Kind, RelPath, Root};

/// Bytes of a glob.
const MAX_GLOB: usize = 1_000;

/// A compiled glob.
#[derive(Debug)]
pub(crate) struct NameGlob {
    set: GlobSet,
    /// Names are compared in lower case. (globset's own way of ignoring case would make a regex of every glob.)
    folded: bool,
    subject: Subject,
    only_directories: bool,
    /// What every match ends with: the part of the glob after its last wildcard. Most names are ruled out by it.
    suffix: Vec<u8>,
    /// The glob has wildcards for one character, which globset takes for one byte: then what is not ASCII is made
    /// one byte a character on both sides. These are the glob's own such characters, in order.
    letters: Option<Vec<char>>,
}

/// What a glob is compared with.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Name,
    /// The path from where the search starts.
    FromStart,
    /// The path from the served directory: the glob was absolute.
    FromRoot,
}

impl NameGlob {
    /// Reads a glob; the error shows where it is wrong.
    pub(crate) fn new(root: &Root, pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_GLOB {
            return Err(format!("A glob may have at most {MAX_GLOB} bytes."));
        }
        let relative = root.strip_root(pattern);
        let glob = relative.strip_prefix("./").or(relative.strip_prefix('/')).unwrap_or(relative);
        let subject = if relative.len() < pattern.len() {
            Subject::FromRoot
        } else if glob.len() < relative.len() || glob.trim_end_matches('/').contains('/') {
            Subject::FromStart
        } else {
            Subject::Name
        };
        let only_directories = glob.ends_with('/');
        let glob = glob.trim_end_matches('/');
        let folded = !glob.chars().any(char::is_uppercase);
        let cased = cased(glob, folded);
        let letters =
            cased.contains(['?', '[']).then(|| letters(&cased)).filter(|letters| letters.len() <= MOST_LETTERS);
        let bytes = letters.as_ref().map(|letters| one_byte_each(&cased, letters));
        let compiled = GlobBuilder::new(bytes.as_deref().unwrap_or(&cased));
        let compiled = compiled.clone().literal_separator(true).backslash_escape(true).build();
        let compiled = compiled.map_err(|error| wrong(glob, error.kind()))?;
        let set = GlobSetBuilder::new().add(compiled).build().map_err(|error| format!("{glob}: {error}"))?;
        Ok(Self { set, folded, subject, only_directories, suffix: suffix(&cased), letters })
    }

    /// A quick look whether an entry of this name can match at all, before its path is put together.
    pub(crate) fn might_match(&self, name: &[u8]) -> bool {
        let Some(end) = name.len().checked_sub(self.suffix.len()).map(|at| &name[at..]) else { return false };
        if self.folded { end.eq_ignore_ascii_case(&self.suffix) } else { end == self.suffix }
    }

    /// Whether an entry matches, in a search that started at `start`.
    pub(crate) fn matches(&self, path: &RelPath, start: &RelPath, kind: Kind) -> bool {
        let name = path.file_name().unwrap_or_default();
        if !self.might_match(name) || (self.only_directories && kind != Kind::Directory) {
            return false;
        }
        let subject = match self.subject {
            Subject::Name => name,
            Subject::FromStart => path.below(start),
            Subject::FromRoot => path.as_bytes(),
        };
        match std::str::from_utf8(subject) {
            Ok(text) if !text.is_ascii() => {
                let cased = cased(text, self.folded);
                let bytes = self.letters.as_ref().map(|letters| one_byte_each(&cased, letters));
                self.set.is_match(bytes.as_deref().unwrap_or(&cased))
            }
            _ if self.folded => self.set.is_match(RelPath::os_path(&subject.to_ascii_lowercase())),
            _ => self.set.is_match(RelPath::os_path(subject)),
        }
    }
}

/// In lower case where case does not count, and composed: macOS and copied archives hold names that are not.
pub(in crate::features) fn cased(text: &str, folded: bool) -> Cow<'_, str> {
    match (text.is_ascii(), folded) {
        (true, false) => Cow::Borrowed(text),
        (true, true) => Cow::Owned(text.to_ascii_lowercase()),
        (false, false) => Cow::Owned(text.nfc().collect()),
        (false, true) => Cow::Owned(text.nfc().flat_map(char::to_lowercase).nfc().collect()),
    }
}

/// The characters of a glob that are not ASCII, each once, in order.
fn letters(glob: &str) -> Vec<char> {
    let mut letters: Vec<char> = glob.chars().filter(|c| !c.is_ascii()).collect();
    letters.sort_unstable();
    letters.dedup();
    letters
}

/// Letters for which there are control characters enough, with one between any two and at either end.
const MOST_LETTERS: usize = 15;

/// A text with one byte for each character: what is not ASCII becomes a control character. The order is kept, so that
/// ranges go on meaning what they meant.
fn one_byte_each(text: &str, letters: &[char]) -> String {
    let byte = |c: char| match letters.binary_search(&c) {
        Ok(at) => 2 * at as u8 + 2,
        Err(at) => 2 * at as u8 + 1,
    };
    text.chars().map(|c| if c.is_ascii() { c } else { char::from(byte(c)) }).collect()
}

/// The literal end of a glob, if it is ASCII: folding changes other characters in more ways.
fn suffix(glob: &str) -> Vec<u8> {
    let end = &glob[glob.rfind(|c| "*?[]{}\\/".contains(c)).map_or(0, |at| at + 1)..];
    let is_usable = end.is_ascii() && !glob.contains(['{', '[']);
    if is_usable { end.as_bytes().to_vec() } else { Vec::new() }
}

/// What to say when nothing was found and the glob looks like something else.
pub(crate) fn hint(pattern: &str) -> Option<&'static str> {
    let signs = [".*", ".+", "\\.", "\\w", "\\d", "(?", "^", "$", "|"];
    if signs.iter().any(|sign| pattern.contains(sign)) {
        return Some("the pattern is a glob such as *.rs, not a regex");
    }
    pattern.contains('[').then_some("[ab] is one of these characters; write \\[ for a bracket in a name")
}

/// The error, with a mark below the place.
fn wrong(glob: &str, kind: &ErrorKind) -> String {
    let at = match kind {
        ErrorKind::UnclosedClass => glob.rfind('['),
        ErrorKind::InvalidRange(from, to) => glob.find(&format!("{from}-{to}")),
        ErrorKind::UnclosedAlternates | ErrorKind::NestedAlternates => glob.rfind('{'),
        ErrorKind::UnopenedAlternates => unopened(glob),
        ErrorKind::DanglingEscape => glob.rfind('\\'),
        _ => None,
    };
    let column = glob[..at.unwrap_or(0)].chars().count();
    format!("Not a glob: {kind}\n    {glob}\n    {:column$}^", "")
}

/// The first `}` that closes nothing.
fn unopened(glob: &str) -> Option<usize> {
    let mut depth = 0_usize;
    glob.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Deny;

    fn matches(pattern: &str, path: &str) -> bool {
        let root =
            Root::open(std::path::Path::new("."), Deny::new(&[], true).expect("no patterns")).expect("it is there");
        let glob = NameGlob::new(&root, pattern).expect("a glob");
        let path = RelPath::from_bytes(path.as_bytes());
        glob.matches(&path, &RelPath::root(), Kind::File)
    }

    #[test]
    fn a_glob_without_a_slash_matches_at_any_depth() {
        for (pattern, path) in [
            ("*.py", "a.py"),
            ("*.py", "sub/deep/b.py"),
            ("users.go", "sub/users.go"),
            ("**/*.py", "a.py"),
            ("sub/*", "sub/a.py"),
            ("./*.py", "a.py"),
            ("/sub/*.py", "sub/a.py"),
            ("*.{rs,py}", "x/y.rs"),
            ("*.PY", "a.PY"),
            ("*.py", "A.PY"),
            ("ü*", "Übersicht.md"),
            (".*", ".env.example"),
            ("??.md", "docs/日本.md"),
            ("[é]*", "été"),
            ("[а-я]*.txt", "д.txt"),
            ("[!a]?", "é1"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("sub/*", "sub/deep/b.py"),
            ("./*.py", "sub/b.py"),
            ("*.PY", "a.py"),
            ("*.p", "a.py"),
            ("a.py/", "a.py"),
            ("?.md", "日本.md"),
            ("[а-в]", "д"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_wrong_glob_is_shown_where_it_is_wrong() {
        let error = |glob| wrong(glob, GlobBuilder::new(glob).build().expect_err("wrong").kind());
        assert!(error("src/[ab").ends_with("src/[ab\n        ^"), "{}", error("src/[ab"));
        assert!(error("{a}b}").ends_with("{a}b}\n        ^"), "{}", error("{a}b}"));
        assert!(error("[ab][z-a]").ends_with("[ab][z-a]\n         ^"), "{}", error("[ab][z-a]"));
        assert!(error("é{a").ends_with("é{a\n     ^"), "{}", error("é{a"));
    }
}
