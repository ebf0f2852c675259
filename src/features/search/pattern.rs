//! How a call selects files or entries: a glob, or several in the forms that other tools accept.
//!
//! `src/**|test/**`, `*.ts,*.tsx` and `*.ts;*.tsx` are several globs, and `!*.test.ts` excludes what it matches. When
//! files are selected, `src` also means everything below a directory of that name, and `.ts` all names with that
//! ending. The text could also be a single name, so that is always found as well.

mod hints;
mod split;

use super::glob::NameGlob;
use crate::root::{Kind, RelPath, Root};

/// The limit of a pattern, in bytes.
const MAX_PATTERN: usize = 1_000;
/// The limit of globs in one pattern.
const MOST_GLOBS: usize = 64;
/// The limit of all their automata, in bytes.
const CACHES: usize = 2 << 20;

/// What a pattern selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Entries, by their names.
    Entries,
    /// Files to search.
    Files,
}

/// One or several compiled globs.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    purpose: Purpose,
    taken: Vec<NameGlob>,
    left_out: Vec<NameGlob>,
}

impl Pattern {
    /// Compiles a pattern. Fails if it is too long, or has too many globs.
    pub(super) fn new(root: &Root, text: &str, purpose: Purpose) -> Result<Self, String> {
        if text.len() > MAX_PATTERN {
            return Err(format!("A pattern may have at most {MAX_PATTERN} bytes."));
        }
        let mut pattern = Self { text: text.to_owned(), purpose, taken: Vec::new(), left_out: Vec::new() };
        let parts = split::parts(text);
        let is_list = parts.len() > 1 && (purpose == Purpose::Files || parts.iter().all(|part| split::is_glob(part)));
        let leaves_out = |part: &str| part.len() > 1 && part.starts_with('!') && (is_list || purpose == Purpose::Files);
        if !is_list && !leaves_out(text) {
            pattern.take(root, text, CACHES)?;
            return Ok(pattern);
        }
        if parts.len() > MOST_GLOBS {
            return Err(format!("A pattern may be at most {MOST_GLOBS} globs; this is {}.", parts.len()));
        }
        // A part may yield two globs, and the whole text one more.
        let cache = CACHES / (2 * parts.len() + 1);
        for part in &parts {
            match part.strip_prefix('!').filter(|_| leaves_out(part)) {
                Some(glob) => pattern.left_out.push(NameGlob::new(root, glob, cache)?),
                None => pattern.take(root, part, cache)?,
            }
        }
        if !pattern.taken.is_empty() {
            pattern.taken.push(pattern.glob(root, text, cache)?);
        }
        Ok(pattern)
    }

    fn take(&mut self, root: &Root, glob: &str, cache: usize) -> Result<(), String> {
        self.taken.push(self.glob(root, glob, cache)?);
        if self.purpose == Purpose::Files && split::is_extension(glob) {
            self.taken.push(self.glob(root, &format!("*{glob}"), cache)?);
        }
        Ok(())
    }

    /// A glob that can tell which links it names.
    fn glob(&self, root: &Root, glob: &str, cache: usize) -> Result<NameGlob, String> {
        Ok(NameGlob::new(root, glob, cache)?.with_steps(self.purpose == Purpose::Files))
    }

    /// Why it is not a valid glob, if so: it then matches only literally.
    pub(crate) fn wrong(&self) -> Option<&str> {
        self.taken.iter().chain(&self.left_out).find_map(NameGlob::wrong)
    }

    /// A quick check of whether an entry of this name can match at all, before its path is built.
    pub(crate) fn might_match(&self, name: &[u8]) -> bool {
        self.taken.is_empty() || self.taken.iter().any(|glob| glob.might_match(name))
    }

    /// Whether an entry matches in a search that started at `start`.
    pub(crate) fn matches(&self, path: &RelPath, start: &RelPath, kind: Kind) -> bool {
        let is_taken = self.taken.is_empty()
            || self.taken.iter().any(|glob| {
                glob.matches(path, start, kind)
                    || (self.purpose == Purpose::Files && glob.covers() && is_below(glob, path, start))
            });
        let is_left_out = |glob: &NameGlob| glob.matches(path, start, kind) || is_below(glob, path, start);
        is_taken && !self.left_out.iter().any(is_left_out)
    }

    /// Whether the pattern names the link at a path, so that it is to be entered: literally, with more components after
    /// it or, when files are selected, as a directory whose content is meant.
    pub(crate) fn names(&self, link: &RelPath, start: &RelPath) -> bool {
        self.taken.iter().any(|glob| glob.leads_through(link, start))
    }

    /// Whether it is a glob that may also be a single name, having no wildcards for arbitrary names.
    pub(crate) fn may_be_a_name(&self) -> bool {
        self.text.contains(['[', '{', '\\']) && !self.text.contains(['*', '?'])
    }

    /// Whether the path of a matching entry equals the pattern literally, if the pattern may be a name.
    pub(crate) fn is_written(&self, path: &RelPath, start: &RelPath) -> bool {
        self.may_be_a_name() && self.taken.iter().any(|glob| glob.is_written(path, start))
    }
}

/// Whether a glob matches a directory between the start and a path.
fn is_below(glob: &NameGlob, path: &RelPath, start: &RelPath) -> bool {
    let mut above = path.parent();
    while above.depth() > start.depth() {
        if glob.matches(&above, start, Kind::Directory) {
            return true;
        }
        above.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Deny;

    fn root() -> Root {
        Root::open(std::path::Path::new("."), Deny::new(&[], true).expect("no patterns")).expect("it is there")
    }

    fn matching<'p>(pattern: &Pattern, paths: &[&'p str]) -> Vec<&'p str> {
        let is_match = |path: &&&str| {
            let path = RelPath::from_bytes(path.as_bytes());
            pattern.matches(&path, &RelPath::root(), Kind::File)
        };
        paths.iter().filter(is_match).copied().collect()
    }

    #[test]
    fn files_are_chosen_as_other_tools_choose_them() {
        let paths =
            ["a.ts", "b.tsx", "src/a.ts", "src/x/b.rs", "test/a.ts", "lib/src/c", "x.test.ts", "src/x/y/[id]/z"];
        for (pattern, want) in [
            ("src/**|test/**", &["src/a.ts", "src/x/b.rs", "test/a.ts", "src/x/y/[id]/z"][..]),
            ("src", &["src/a.ts", "src/x/b.rs", "lib/src/c", "src/x/y/[id]/z"]),
            ("src/", &["src/a.ts", "src/x/b.rs", "lib/src/c", "src/x/y/[id]/z"]),
            ("./src", &["src/a.ts", "src/x/b.rs", "src/x/y/[id]/z"]),
            ("src/x", &["src/x/b.rs", "src/x/y/[id]/z"]),
            ("*/x", &["src/x/b.rs", "src/x/y/[id]/z"]),
            ("src/*", &["src/a.ts"]),
            ("s*", &[]),
            ("s*/", &["src/a.ts", "src/x/b.rs", "lib/src/c", "src/x/y/[id]/z"]),
            ("[id]", &["src/x/y/[id]/z"]),
            (".ts", &["a.ts", "src/a.ts", "test/a.ts", "x.test.ts"]),
            (".rs, .tsx", &["b.tsx", "src/x/b.rs"]),
            ("*.ts,*.tsx", &["a.ts", "b.tsx", "src/a.ts", "test/a.ts", "x.test.ts"]),
            ("*.tsx;*.rs", &["b.tsx", "src/x/b.rs"]),
            ("{src,test}", &["src/a.ts", "src/x/b.rs", "test/a.ts", "lib/src/c", "src/x/y/[id]/z"]),
            ("src,test", &["src/a.ts", "src/x/b.rs", "test/a.ts", "lib/src/c", "src/x/y/[id]/z"]),
            ("!src", &["a.ts", "b.tsx", "test/a.ts", "x.test.ts"]),
            ("*.ts,!*.test.ts,!test/", &["a.ts", "src/a.ts"]),
            ("!*.ts|!*.tsx", &["src/x/b.rs", "lib/src/c", "src/x/y/[id]/z"]),
        ] {
            let pattern = Pattern::new(&root(), pattern, Purpose::Files).expect("a pattern");
            assert_eq!(matching(&pattern, &paths), want, "{pattern:?}");
        }
    }

    #[test]
    fn a_name_may_hold_what_else_would_part_globs() {
        let paths = ["a,b.txt", "a|b", "!a", "a", "x/a, b.pdf", "b.txt"];
        for (pattern, files, entries) in [
            ("a,b.txt", &["a,b.txt", "a", "b.txt"][..], &["a,b.txt"][..]),
            ("a|b", &["a|b", "a"], &["a|b"]),
            ("a*,b.txt", &["a,b.txt", "a|b", "a", "x/a, b.pdf", "b.txt"], &["a,b.txt"]),
            (
                "a*,*.txt",
                &["a,b.txt", "a|b", "a", "x/a, b.pdf", "b.txt"],
                &["a,b.txt", "a|b", "a", "x/a, b.pdf", "b.txt"],
            ),
            ("!a", &["a,b.txt", "a|b", "!a", "x/a, b.pdf", "b.txt"], &["!a"]),
            ("\\!a", &["!a"], &["!a"]),
        ] {
            assert_eq!(
                matching(&Pattern::new(&root(), pattern, Purpose::Files).expect("a pattern"), &paths),
                files,
                "{pattern}"
            );
            let found = matching(&Pattern::new(&root(), pattern, Purpose::Entries).expect("a pattern"), &paths);
            assert_eq!(found, entries, "{pattern}");
        }
        assert!(Pattern::new(&root(), &"a,".repeat(65), Purpose::Files).is_err());
    }
}
