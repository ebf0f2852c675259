//! A glob on names, as models write them.
//!
//! Without `/` it is looked for at any depth: who sends `*.py` or `users.go` means all of them. With `/` it is
//! relative to where the search starts. Smart case: capitals count only where the glob has one.

use std::borrow::Cow;

use globset::{ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::root::{Kind, RelPath, Root};

/// Bytes of a glob.
const MAX_GLOB: usize = 1_000;

/// A compiled glob.
#[derive(Debug)]
pub(crate) struct NameGlob {
    set: GlobSet,
    /// Names are compared in lower case. (globset's own way of ignoring case would make a regex of every glob.)
    folded: bool,
    whole_path: bool,
    only_directories: bool,
    /// What every match ends with: the part of the glob after its last wildcard. Most names are ruled out by it.
    suffix: Vec<u8>,
}

impl NameGlob {
    /// Reads a glob; the error shows where it is wrong.
    pub(crate) fn new(root: &Root, pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_GLOB {
            return Err(format!("A glob may have at most {MAX_GLOB} bytes."));
        }
        let relative = root.strip_root(pattern);
        let anchored = relative.len() < pattern.len() || pattern.starts_with("./");
        let glob = relative.strip_prefix("./").unwrap_or(relative);
        let only_directories = glob.ends_with('/');
        let glob = glob.trim_end_matches('/');
        let whole_path = anchored || glob.contains('/');
        let folded = !glob.chars().any(char::is_uppercase);
        let folded_glob = if folded { Cow::Owned(glob.to_lowercase()) } else { Cow::Borrowed(glob) };
        let compiled = GlobBuilder::new(&folded_glob).literal_separator(true).backslash_escape(true).build();
        let compiled = compiled.map_err(|error| wrong(glob, error.kind()))?;
        let set = GlobSetBuilder::new().add(compiled).build().map_err(|error| format!("{glob}: {error}"))?;
        let literal = |c: char| !"*?[]{}\\/".contains(c);
        let suffix = &folded_glob[folded_glob.rfind(|c| !literal(c)).map_or(0, |at| at + 1)..];
        // Folding changes what is not ASCII in more ways than one byte for another.
        let suffix = if folded_glob.contains(['{', '[']) || !suffix.is_ascii() { "" } else { suffix };
        Ok(Self { set, folded, whole_path, only_directories, suffix: suffix.as_bytes().to_vec() })
    }

    /// A quick look whether an entry of this name can match at all, before its path is put together.
    pub(crate) fn might_match(&self, name: &[u8]) -> bool {
        let Some(end) = name.len().checked_sub(self.suffix.len()).map(|at| &name[at..]) else { return false };
        if self.folded { end.eq_ignore_ascii_case(&self.suffix) } else { end == self.suffix }
    }

    /// Whether an entry matches: `path` is what is below the start of the search, `name` its last component.
    pub(crate) fn matches(&self, path: &[u8], name: &[u8], kind: Kind) -> bool {
        if !self.might_match(name) || (self.only_directories && kind != Kind::Directory) {
            return false;
        }
        self.is_match(if self.whole_path { path } else { name })
    }

    fn is_match(&self, subject: &[u8]) -> bool {
        if !self.folded {
            return self.set.is_match(RelPath::os_path(subject));
        }
        match std::str::from_utf8(subject) {
            Ok(text) if text.is_ascii() => {
                let mut lower = [0; 256];
                match lower.get_mut(..subject.len()) {
                    Some(lower) => {
                        lower.copy_from_slice(subject);
                        lower.make_ascii_lowercase();
                        self.set.is_match(RelPath::os_path(lower))
                    }
                    None => self.set.is_match(RelPath::os_path(&subject.to_ascii_lowercase())),
                }
            }
            Ok(text) => self.set.is_match(text.to_lowercase()),
            Err(_) => self.set.is_match(RelPath::os_path(&subject.to_ascii_lowercase())),
        }
    }
}

/// What to say when nothing was found and the glob looks like a regular expression.
pub(crate) fn regex_hint(pattern: &str) -> Option<&'static str> {
    let signs = [".*", ".+", "\\.", "\\w", "\\d", "(?", "^", "$", "|"];
    signs.iter().any(|sign| pattern.contains(sign)).then_some("the pattern is a glob such as *.rs, not a regex")
}

/// The error, with a mark below the place.
fn wrong(glob: &str, kind: &ErrorKind) -> String {
    let at = match kind {
        ErrorKind::UnclosedClass | ErrorKind::InvalidRange(..) => glob.rfind('['),
        ErrorKind::UnclosedAlternates | ErrorKind::NestedAlternates => glob.rfind('{'),
        ErrorKind::UnopenedAlternates => glob.find('}'),
        ErrorKind::DanglingEscape => glob.rfind('\\'),
        _ => None,
    };
    let column = glob[..at.unwrap_or(0)].chars().count();
    format!("Not a glob: {kind}\n    {glob}\n    {:column$}^", "")
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
        glob.matches(path.as_bytes(), path.file_name().expect("a name"), Kind::File)
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
            ("*.{rs,py}", "x/y.rs"),
            ("*.PY", "a.PY"),
            ("*.py", "A.PY"),
            ("ü*", "Übersicht.md"),
            (".*", ".env.example"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in
            [("sub/*", "sub/deep/b.py"), ("./*.py", "sub/b.py"), ("*.PY", "a.py"), ("*.p", "a.py"), ("a.py/", "a.py")]
        {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_wrong_glob_is_shown_where_it_is_wrong() {
        let error = |glob| wrong(glob, GlobBuilder::new(glob).build().expect_err("wrong").kind());
        assert!(error("src/[ab").ends_with("src/[ab\n        ^"), "{}", error("src/[ab"));
        assert!(error("é{a").ends_with("é{a\n     ^"), "{}", error("é{a"));
    }
}
