//! What `.gitignore` and `.ignore` files hide (gitignore(5)), using the matchers of the `ignore` crate.
//!
//! Only files inside the served directory are read, and only through the root: a `.gitignore` that is a link, the
//! gitdir of a `.git` file, parent directories and global files would all reveal something about the outside. Ignore
//! files apply whether or not there is a git repository, with one exception: the `.gitignore` files above a repository
//! do not apply inside it, as in git and ripgrep. (`.ignore` files do, as in ripgrep.) The directory of the repository
//! itself is an entry of the one above, so a walk from there enters it only if those files do not hide it.
//!
//! A directory that a call names is searched, even if ignore files above it hide everything in it ([`named`]).

mod exclude;
mod literal;
mod named;
mod patterns;
mod syntax;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::Match;
use ignore::gitignore::Gitignore;

use super::Root;
use super::listing::Listing;
use super::path::{RelPath, os_str};
use super::stat::Kind;
use crate::runtime::cancel::Cancel;

pub use exclude::Exclude;
pub(super) use named::Named;
use patterns::Patterns;

/// The limit of patterns in memory during a walk.
const MAX_LIVE: usize = 5_000;
/// The limit of patterns compiled during a walk, in bytes. More would take seconds, wherever in the tree they are.
const MAX_COMPILED: usize = 512 << 10;

/// How many nested directories with ignore files are applied: each entry is matched against all those above it.
const MAX_LEVELS: usize = 50;

/// In this order: `.ignore` takes precedence.
const FILES: [&[u8]; 2] = [IGNORE, b".gitignore"];
const IGNORE: &[u8] = b".ignore";

/// The patterns that apply in a directory: its own, then those of the directories above.
#[derive(Debug, Default)]
pub(super) struct Ignore {
    above: Option<Arc<Ignore>>,
    /// The number of directories with patterns, including those above.
    levels: usize,
    /// The length of the directory's path with its final `/`. Matchers get what follows it.
    prefix: usize,
    matchers: Vec<Matcher>,
    /// The directory is a repository: of the files above it, only `.ignore` files apply.
    is_repository: bool,
    /// There is a `.ignore` file here or above.
    goes_on: bool,
    live: Live,
}

/// The patterns of one file.
#[derive(Debug)]
struct Matcher {
    patterns: Gitignore,
    /// They also apply in repositories below.
    goes_on: bool,
}

/// A directory's patterns in memory, counted over the whole walk.
#[derive(Debug, Default)]
struct Live {
    walk: Arc<Counts>,
    own: usize,
}

/// What the patterns of a walk occupy.
#[derive(Debug, Default)]
struct Counts {
    /// The number of patterns in memory.
    live: AtomicUsize,
    /// The bytes of patterns compiled so far.
    compiled: AtomicUsize,
}

impl Live {
    /// Counts more patterns, if there is room for them.
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
    /// The patterns for a directory below this one. `named` is what a call named, if that is this directory or below
    /// it. `note` is called for files that are not applied.
    pub(super) fn enter(
        self: &Arc<Self>,
        root: &Root,
        dir: &RelPath,
        listing: &Listing,
        cancel: &Cancel,
        named: Option<&Named<'_>>,
        mut note: impl FnMut(RelPath, String),
    ) -> Arc<Self> {
        let is_repository = is_repository(listing);
        let above = if is_repository && !self.goes_on { self.nothing() } else { Arc::clone(self) };
        let mut matchers = Vec::new();
        let mut live = Live { walk: Arc::clone(&self.live.walk), own: 0 };
        for name in FILES.into_iter().filter(|name| listing.has_file(name)) {
            // Counted before compiling, which is what takes time.
            let compiled = Patterns::read(root, dir.join(name), cancel).and_then(|patterns| {
                if above.levels >= MAX_LEVELS {
                    return Err("too many ignore files are above it".to_owned());
                }
                live.add(&patterns)?;
                patterns.compile(named, listing)
            });
            match compiled {
                Ok(patterns) => matchers.push(Matcher { patterns, goes_on: name == IGNORE }),
                Err(why) => note(dir.join(name), format!("not applied: {why}")),
            }
        }
        if matchers.is_empty() && !is_repository {
            return above;
        }
        Arc::new(Self {
            levels: above.levels + usize::from(!matchers.is_empty()),
            prefix: if dir.is_root() { 0 } else { dir.as_bytes().len() + 1 },
            goes_on: above.goes_on || matchers.iter().any(|matcher| matcher.goes_on),
            above: (!above.is_empty()).then_some(above),
            matchers,
            is_repository,
            live,
        })
    }

    /// No patterns, for the same walk.
    fn nothing(&self) -> Arc<Self> {
        Arc::new(Self { live: Live { walk: Arc::clone(&self.live.walk), own: 0 }, ..Self::default() })
    }

    /// Whether anything could be hidden at all.
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_none() && self.matchers.is_empty()
    }

    /// Whether an entry is hidden, given that its directory is not.
    pub(super) fn hides(&self, path: &RelPath, is_dir: bool) -> bool {
        let (mut level, mut is_outside) = (Some(self), false);
        while let Some(ignore) = level {
            let below = os_str(&path.as_bytes()[ignore.prefix..]);
            for matcher in ignore.matchers.iter().filter(|matcher| matcher.goes_on || !is_outside) {
                match matcher.patterns.matched(below, is_dir) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            is_outside |= ignore.is_repository;
            level = ignore.above.as_deref();
        }
        false
    }
}

/// Whether a directory is a repository, by ripgrep's rule: it contains `.git`, which is a file in submodules and
/// worktrees, or `.jj`.
fn is_repository(listing: &Listing) -> bool {
    matches!(listing.kind_of(b".git"), Some(Kind::Directory | Kind::File | Kind::Link))
        || listing.kind_of(b".jj") == Some(Kind::Directory)
}
