//! A glob for names, in the form in which models write it.
//!
//! Without `/` it matches at any depth: `*.py` and `users.go` mean all of them. With `/` it is relative to the start of
//! the search. Smart case: case matters only if the glob contains capitals. A name that equals the glob literally also
//! matches ([`literal`]).

mod letters;
mod literal;

pub(in crate::features) use letters::cased;
pub(super) use literal::class_length;

use globset::{ErrorKind, GlobBuilder};

use self::letters::{MOST_LETTERS, letters, one_byte_each};
use crate::root::{Globs, Kind, RelPath, Root};

/// How many components of a glob may name links.
const MOST_STEPS: usize = 16;
/// The limit of each component's automaton, in bytes: only links are matched against it.
const STEP_CACHE: usize = 8 << 10;

/// A compiled glob.
#[derive(Debug)]
pub(crate) struct NameGlob {
    set: Globs,
    /// Names are compared in lower case. (globset's own option for that would turn every glob into a regex.)
    folded: bool,
    subject: Subject,
    only_directories: bool,
    /// The ending of every match: the part of the glob after its last wildcard. Most names are ruled out by it.
    suffix: Vec<u8>,
    /// The suffix is the whole condition: `*.rs`.
    is_end: bool,
    /// The glob has wildcards for one character, which globset takes for one byte. In that case, characters outside
    /// ASCII become one byte each on both sides. These are the glob's own such characters, in order.
    letters: Option<Vec<char>>,
    /// The glob as names are compared with it, without its anchor and without the slash for a directory.
    cased: String,
    /// The names above its matches, from [`NameGlob::with_steps`].
    steps: Vec<NameGlob>,
    /// Why it is not a valid glob, with a mark at the place. In that case it matches only literally.
    wrong: Option<String>,
}

/// The path that a glob is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Name,
    /// The path relative to the start of the search.
    FromStart,
    /// The path relative to the served directory: the glob was absolute.
    FromRoot,
}

impl NameGlob {
    /// Parses a glob, with `cache` bytes for its automaton. Fails if it is too long.
    pub(super) fn new(root: &Root, pattern: &str, cache: usize) -> Result<Self, String> {
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
        let folded = !glob.chars().any(char::is_uppercase);
        Self::compile(glob.trim_end_matches('/'), folded, subject, only_directories, cache)
    }

    fn compile(
        glob: &str,
        folded: bool,
        subject: Subject,
        only_directories: bool,
        cache: usize,
    ) -> Result<Self, String> {
        let cased = cased(glob, folded).into_owned();
        let letters =
            cased.contains(['?', '[']).then(|| letters(&cased)).filter(|letters| letters.len() <= MOST_LETTERS);
        let bytes = letters.as_ref().map_or_else(|| cased.clone(), |letters| one_byte_each(&cased, letters));
        let error = build(&bytes).err().map(|error| wrong(glob, error.kind()));
        let either = if literal::is_ambiguous(&bytes) { literal::or_literal(&bytes) } else { bytes };
        let compiled = build(&either).map_err(|error| wrong(glob, error.kind()))?;
        let set = Globs::new(&[compiled], cache)?;
        let suffix = suffix(&cased);
        let is_end = subject == Subject::Name && cased.as_bytes().strip_prefix(b"*") == Some(&suffix);
        Ok(Self {
            set,
            folded,
            subject,
            only_directories,
            suffix,
            is_end,
            letters,
            cased,
            steps: Vec::new(),
            wrong: error,
        })
    }

    /// Why it is not a valid glob, if so.
    pub(super) fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// A quick check of whether an entry of this name can match at all, before its path is built.
    pub(crate) fn might_match(&self, name: &[u8]) -> bool {
        let Some(end) = name.len().checked_sub(self.suffix.len()).map(|at| &name[at..]) else { return false };
        if self.folded { end.eq_ignore_ascii_case(&self.suffix) } else { end == self.suffix }
    }

    /// Whether an entry matches in a search that started at `start`.
    pub(crate) fn matches(&self, path: &RelPath, start: &RelPath, kind: Kind) -> bool {
        let name = path.file_name().unwrap_or_default();
        if !self.might_match(name) || (self.only_directories && kind != Kind::Directory) {
            return false;
        }
        if self.is_end {
            return true;
        }
        let subject = self.subject_of(path, start);
        match std::str::from_utf8(subject) {
            Ok(text) if !text.is_ascii() => {
                let cased = cased(text, self.folded);
                let bytes = self.letters.as_ref().map(|letters| one_byte_each(&cased, letters));
                self.set.is_match(bytes.as_deref().unwrap_or(&cased).as_bytes())
            }
            _ if self.folded => self.set.is_match(&subject.to_ascii_lowercase()),
            _ => self.set.is_match(subject),
        }
    }

    /// Whether the path of a matching entry equals the glob literally.
    pub(super) fn is_written(&self, path: &RelPath, start: &RelPath) -> bool {
        let subject = std::str::from_utf8(self.subject_of(path, start));
        subject.is_ok_and(|text| cased(text, self.folded) == self.cased)
    }

    /// Whether a matching directory stands for all files below it when files are selected: the glob names it, and does
    /// not match it by a wildcard.
    pub(super) fn covers(&self) -> bool {
        let last = self.cased.rsplit('/').next().unwrap_or_default();
        self.only_directories || !last.contains(['*', '?'])
    }

    /// Whether the glob leads through the entry at a path by naming it, according to [`Self::with_steps`].
    pub(super) fn leads_through(&self, path: &RelPath, start: &RelPath) -> bool {
        self.steps.iter().any(|step| step.matches(path, start, Kind::Directory))
    }

    /// The same glob with its steps: for each component without wildcards that others follow, a glob for that name
    /// whose preceding components match the path above it. With `covered`, the last component counts as well if
    /// [`Self::covers`] says that it stands for what is below.
    pub(super) fn with_steps(mut self, covered: bool) -> Self {
        let components: Vec<&str> = self.cased.split('/').take(MOST_STEPS).collect();
        let count = components.len() - usize::from(!(covered && self.covers()));
        let step = |at: usize| {
            if components[at].contains(['*', '?']) {
                return Some(None);
            }
            let above: String = components[..at].iter().flat_map(|component| [*component, "/"]).collect();
            let glob = format!("{above}{}", literal::escaped(components[at]));
            Self::compile(&glob, self.folded, self.subject, false, STEP_CACHE).ok().map(Some)
        };
        self.steps = (0..count).map_while(step).flatten().collect();
        self
    }

    fn subject_of<'p>(&self, path: &'p RelPath, start: &RelPath) -> &'p [u8] {
        match self.subject {
            Subject::Name => path.file_name().unwrap_or_default(),
            Subject::FromStart => path.below(start),
            Subject::FromRoot => path.as_bytes(),
        }
    }
}

/// In the meaning of a shell: `a{,.bak}` matches `a` as well as `a.bak`.
fn build(glob: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).empty_alternates(true).build()
}

/// The literal ending of a glob, if it is ASCII: case folding changes other characters in more ways.
fn suffix(glob: &str) -> Vec<u8> {
    let end = &glob[glob.rfind(|c| "*?[]{}\\/".contains(c)).map_or(0, |at| at + 1)..];
    let is_usable = end.is_ascii() && !glob.contains(['{', '[']);
    if is_usable { end.as_bytes().to_vec() } else { Vec::new() }
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

/// The first unmatched `}`.
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
        let glob = NameGlob::new(&root, pattern, 1 << 10).expect("not too long");
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
            // Literal matches.
            ("src/[id]/*.ts", "src/[id]/a.ts"),
            ("src/[id]/*.ts", "src/d/a.ts"),
            ("src/[[...sign-in]]/page.tsx", "src/[[...sign-in]]/page.tsx"),
            ("{type}*.md", "v/{type} one.md"),
            ("[été]", "[ÉTÉ]"),
            ("{a,b", "{a,b"),
            ("a{,.bak}", "a"),
            ("a{,.bak}", "a.bak"),
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
