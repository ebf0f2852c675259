//! What `.gitignore` and `.ignore` files hide (gitignore(5)), with the `ignore` crate's matchers.
//!
//! Only files inside the served directory are read, and only through the root: a `.gitignore` that is a link, a
//! `.git` file's gitdir, parent directories and global files would each tell something about the outside. Whether
//! there is a git repository does not matter.

mod syntax;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::runtime::cancel::Cancel;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::listing::Listing;
use super::path::{RelPath, os_str};
use super::{Root, RootError};

/// A larger file is not applied: a compiled pattern takes hundreds of times its text.
const MAX_FILE: u64 = 32 << 10;
/// Patterns in one file; a file with more is not applied.
const MAX_PATTERNS: usize = 1_000;
/// Bytes of a pattern that a call gives.
const MAX_PATTERN: usize = 1_000;
/// Patterns in memory at once during a walk.
const MAX_LIVE: usize = 5_000;
/// Bytes of patterns compiled in a walk: more would take seconds, wherever in the tree it is.
const MAX_COMPILED: usize = 512 << 10;

/// Git passes over it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Directories with ignore files one below the other: each entry is held against all that are above it.
const MAX_LEVELS: usize = 50;

/// In this order: what `.ignore` says wins.
const FILES: [&[u8]; 2] = [b".ignore", b".gitignore"];

/// The directories in which version control keeps its own files.
pub(super) fn is_version_control(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 8] = [b".git", b".hg", b".svn", b".jj", b".bzr", b".sl", b"_darcs", b"CVS"];
    matches!(name.first(), Some(b'.' | b'_' | b'C')) && NAMES.contains(&name)
}

/// The patterns that hold in a directory: its own and, behind them, those of the directories above.
#[derive(Debug, Default)]
pub(super) struct Ignore {
    above: Option<Arc<Ignore>>,
    /// How many directories with patterns this is, with those above.
    levels: usize,
    /// Length of the directory's path with its final `/`: what matchers are given comes after it.
    prefix: usize,
    matchers: Vec<Gitignore>,
    live: Live,
}

/// A directory's patterns in memory, counted over the whole walk.
#[derive(Debug, Default)]
struct Live {
    walk: Arc<Counts>,
    own: usize,
}

/// What the patterns of a walk take.
#[derive(Debug, Default)]
struct Counts {
    /// Patterns in memory.
    live: AtomicUsize,
    /// Bytes of patterns compiled so far.
    compiled: AtomicUsize,
}

impl Live {
    /// Counts more patterns, where there is room for them.
    fn add(&mut self, patterns: &Patterns) -> Result<(), String> {
        let Counts { live, compiled } = &*self.walk;
        let is_full = live.load(Ordering::Relaxed) + patterns.count > MAX_LIVE
            || compiled.load(Ordering::Relaxed) + patterns.bytes > MAX_COMPILED;
        if is_full {
            return Err("too many patterns in all".to_owned());
        }
        live.fetch_add(patterns.count, Ordering::Relaxed);
        compiled.fetch_add(patterns.bytes, Ordering::Relaxed);
        self.own += patterns.count;
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.walk.live.fetch_sub(self.own, Ordering::Relaxed);
    }
}

impl Ignore {
    /// The patterns for a directory below the one that `self` is for. `note` hears of files that are not applied.
    pub(super) fn enter(
        self: &Arc<Self>,
        root: &Root,
        dir: &RelPath,
        listing: &Listing,
        cancel: &Cancel,
        mut note: impl FnMut(RelPath, String),
    ) -> Arc<Self> {
        let mut matchers = Vec::new();
        let mut live = Live { walk: Arc::clone(&self.live.walk), own: 0 };
        for name in FILES.into_iter().filter(|name| listing.has_file(name)) {
            // Counted before they are compiled, which is what takes the time.
            let compiled = Patterns::read(root, dir.join(name), cancel).and_then(|patterns| {
                if self.levels >= MAX_LEVELS {
                    return Err("too many ignore files are above it".to_owned());
                }
                live.add(&patterns)?;
                patterns.compile()
            });
            match compiled {
                Ok(matcher) => matchers.push(matcher),
                Err(why) => note(dir.join(name), format!("not applied: {why}")),
            }
        }
        if matchers.is_empty() {
            return Arc::clone(self);
        }
        let prefix = if dir.is_root() { 0 } else { dir.as_bytes().len() + 1 };
        Arc::new(Self { above: Some(Arc::clone(self)), levels: self.levels + 1, prefix, matchers, live })
    }

    /// Whether anything could be hidden at all.
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_none() && self.matchers.is_empty()
    }

    /// Whether an entry, of a directory that is not hidden itself, is hidden.
    pub(super) fn hides(&self, path: &RelPath, is_dir: bool) -> bool {
        let mut level = Some(self);
        while let Some(ignore) = level {
            let below = os_str(&path.as_bytes()[ignore.prefix..]);
            for matcher in &ignore.matchers {
                match matcher.matched(below, is_dir) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            level = ignore.above.as_deref();
        }
        false
    }
}

/// Patterns that a call gives to leave entries out, in gitignore syntax relative to where the walk starts.
#[derive(Debug)]
pub struct Exclude(Gitignore);

impl Exclude {
    /// Reads `patterns`; the error says which one is wrong, and why. `dir/**` leaves out `dir` itself too: what
    /// would be empty need not be entered.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            if pattern.len() > MAX_PATTERN {
                return Err(format!("A pattern may have at most {MAX_PATTERN} bytes."));
            }
            let whole = pattern.strip_suffix("/**").filter(|dir| !dir.is_empty()).unwrap_or(pattern);
            // The `/` that is cut off is one that ties the pattern to where the walk starts.
            let (negation, dir) = whole.strip_prefix('!').map_or(("", whole), |dir| ("!", dir));
            let tie = if whole.len() < pattern.len() && !dir.contains('/') { "/" } else { "" };
            builder
                .add_line(None, &format!("{negation}{tie}{dir}"))
                .map_err(|error| format!("{pattern:?} is no pattern: {error}"))?;
        }
        builder.build().map(Self).map_err(|error| error.to_string())
    }

    /// Leaves nothing out.
    pub fn nothing() -> Self {
        Self(Gitignore::empty())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn matches(&self, path: &[u8], is_dir: bool) -> bool {
        self.0.matched(os_str(path), is_dir).is_ignore()
    }
}

/// The text of an ignore file, and how much of it are patterns.
struct Patterns {
    text: String,
    count: usize,
    bytes: usize,
}

impl Patterns {
    fn read(root: &Root, path: RelPath, cancel: &Cancel) -> Result<Self, String> {
        let mut text = read(root, path, cancel).map_err(|error| error.to_string())?;
        if text.starts_with(BYTE_ORDER_MARK) {
            text.remove(0);
        }
        let mut patterns = Self { text, count: 0, bytes: 0 };
        for line in patterns.text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            patterns.count += 1;
            patterns.bytes += line.len();
        }
        if patterns.count > MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} patterns"));
        }
        Ok(patterns)
    }

    fn compile(&self) -> Result<Gitignore, String> {
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        for line in self.text.lines() {
            // An invalid pattern matches nothing, as in git.
            let _ = builder.add_line(None, &syntax::as_git_reads(line));
        }
        builder.build().map_err(|_| "its patterns cannot be compiled".to_owned())
    }
}

fn read(root: &Root, path: RelPath, cancel: &Cancel) -> Result<String, RootError> {
    let file = root.open_real_file(path)?;
    if file.stat.size > MAX_FILE {
        return Err(RootError::Io(format!("it is larger than {MAX_FILE} bytes")));
    }
    let mut bytes = vec![0; file.stat.size as usize];
    let length = file.read_at(&mut bytes, 0, cancel)?;
    bytes.truncate(length);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
