//! All directories below one, level by level, each opened anew from the root handle.
//!
//! That is why nothing outside can appear in a walk, whatever is moved or swapped meanwhile: a chain of nested
//! handles goes on listing a directory after it was moved out, and the walkers of `walkdir` and `ignore` follow
//! swapped links. It is also faster: one openat2 a directory, no stat, no path is walked twice. Links are listed and
//! never entered, so loops end by themselves.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ignore::{self, Exclude, Ignore};
use super::listing::Listing;
use super::path::RelPath;
use super::stat::Kind;
use super::{Directory, Root, RootError};
use crate::runtime::cancel::Cancel;

/// Directories waiting to be entered; more are left out, and [`Walk::cut`] says so.
const MAX_PENDING: usize = 500_000;
/// Bytes of their paths.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// What a walk leaves out, besides denied names, which are always left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// What `.gitignore` and `.ignore` hide, and the directories of version control.
    Skipped,
    /// The directories of version control only.
    IgnoredShown,
    /// Nothing.
    Shown,
}

/// Where a walk goes.
#[derive(Debug)]
pub struct WalkOptions {
    /// Whether hidden entries are skipped.
    pub hidden: Hidden,
    /// How many directories below the start it goes at most; 0 for the start alone.
    pub max_depth: usize,
    /// What is left out besides.
    pub exclude: Exclude,
}

/// A walk in progress: an iterator over directories, shallow first, in the order of their names.
#[derive(Debug)]
pub struct Walk<'r> {
    root: &'r Root,
    cancel: &'r Cancel,
    options: WalkOptions,
    queue: VecDeque<(RelPath, Arc<Ignore>)>,
    /// Of the paths in the queue.
    queue_bytes: usize,
    start: RelPath,
    buffer: Vec<u8>,
    /// Ignore files that were not applied, and why; the first few.
    pub notes: Vec<(RelPath, String)>,
    /// Some directories were left out because too many were waiting.
    pub cut: bool,
    /// How many entries were hidden.
    pub ignored: usize,
}

/// A directory that a walk came to.
#[derive(Debug)]
pub struct Visit<'r> {
    /// Its path.
    pub path: RelPath,
    /// Its open handle and what it holds, or why it cannot be read.
    pub listing: Result<(Directory<'r>, Listing), RootError>,
}

impl Root {
    /// Walks `start`, a path without links, and what is below it.
    pub fn walk<'r>(&'r self, start: &RelPath, options: WalkOptions, cancel: &'r Cancel) -> Walk<'r> {
        let mut walk = Walk {
            root: self,
            cancel,
            options,
            queue: VecDeque::new(),
            queue_bytes: 0,
            start: start.clone(),
            buffer: Vec::new(),
            notes: Vec::new(),
            cut: false,
            ignored: 0,
        };
        let ignore = walk.ignore_above(start);
        walk.push(start.clone(), ignore);
        walk
    }
}

impl<'r> Walk<'r> {
    /// The patterns of the directories above the start, which hold below it too.
    fn ignore_above(&mut self, start: &RelPath) -> Arc<Ignore> {
        let mut ignore = Arc::<Ignore>::default();
        let mut above = RelPath::root();
        for name in start.components() {
            if self.options.hidden == Hidden::Skipped
                && let Ok(listing) = self.root.open_real_directory(&above).and_then(|dir| dir.list(self.cancel))
            {
                ignore = self.enter(&ignore, &above, &listing);
            }
            above.push(name);
        }
        ignore
    }

    fn enter(&mut self, above: &Arc<Ignore>, dir: &RelPath, listing: &Listing) -> Arc<Ignore> {
        above.enter(self.root, dir, listing, self.cancel, |path, why| {
            if self.notes.len() < 5 {
                self.notes.push((path, why));
            }
        })
    }

    fn visit(&mut self, path: &RelPath, above: &Arc<Ignore>) -> Result<(Directory<'r>, Listing), RootError> {
        let dir = self.root.open_walked_directory(path)?;
        let mut listing = dir.list_with(&mut self.buffer, self.cancel)?;
        let ignore = match self.options.hidden {
            Hidden::Skipped => self.enter(above, path, &listing),
            Hidden::IgnoredShown | Hidden::Shown => Arc::clone(above),
        };
        if self.options.hidden != Hidden::Shown {
            listing.retain(|entry| !ignore::is_version_control(entry.name));
        }
        if !ignore.is_empty() {
            let before = listing.len();
            let (cancel, mut seen, mut is_over) = (self.cancel, 0_usize, false);
            listing.retain(|entry| {
                // Hostile patterns take their time with each name.
                is_over |= seen.is_multiple_of(64) && cancel.checkpoint();
                seen += 1;
                !is_over && !ignore.hides(&path.join(entry.name), entry.kind == Kind::Directory)
            });
            self.cancel.check()?;
            self.ignored += before - listing.len();
        }
        if !self.options.exclude.is_empty() {
            let (cancel, mut seen, mut is_over) = (self.cancel, 0_usize, false);
            listing.retain(|entry| {
                is_over |= seen.is_multiple_of(64) && cancel.checkpoint();
                seen += 1;
                let path = path.join(entry.name);
                !is_over && !self.options.exclude.matches(path.below(&self.start), entry.kind == Kind::Directory)
            });
            self.cancel.check()?;
        }
        if path.depth() - self.start.depth() < self.options.max_depth {
            for entry in listing.iter().filter(|entry| entry.kind == Kind::Directory) {
                self.push(path.join(entry.name), Arc::clone(&ignore));
            }
        }
        Ok((dir, listing))
    }

    /// Notes a directory to be entered later. Once one had no room, none is: the walk ends shallow first.
    fn push(&mut self, path: RelPath, ignore: Arc<Ignore>) {
        let bytes = self.queue_bytes + path.as_bytes().len();
        self.cut |= self.queue.len() >= MAX_PENDING || bytes > MAX_PENDING_BYTES;
        if !self.cut {
            self.queue_bytes = bytes;
            self.queue.push_back((path, ignore));
        }
    }
}

impl<'r> Iterator for Walk<'r> {
    type Item = Visit<'r>;

    /// The next directory; `None` at the end, and soon after the walk was cancelled.
    fn next(&mut self) -> Option<Visit<'r>> {
        if self.cancel.checkpoint() {
            return None;
        }
        let (path, above) = self.queue.pop_front()?;
        self.queue_bytes -= path.as_bytes().len();
        let listing = self.visit(&path, &above);
        (!matches!(listing, Err(RootError::Cancelled))).then_some(Visit { path, listing })
    }
}
