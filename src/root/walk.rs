//! Walks all directories below one, level by level, opening each from the root handle.
//!
//! That is why nothing outside can appear in a walk, whatever is moved or swapped meanwhile: a chain of nested
//! handles goes on listing a directory after it was moved out, and the walkers of `walkdir` and `ignore` follow
//! swapped links. It is also faster: one openat2 a directory, no stat, no path is walked twice. Links are listed and
//! not entered, so loops end by themselves, but for those that a call names ([`links`]).

mod links;

use std::collections::VecDeque;
use std::sync::Arc;

use super::ignore::{Exclude, Ignore, Named};
use super::listing::{Entry, Listing};
use super::path::RelPath;
use super::stat::Kind;
use super::{Directory, Root, RootError};
use crate::runtime::cancel::Cancel;

use links::Links;
pub use links::NotEntered;

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
    pub exclude: Arc<Exclude>,
}

/// A walk in progress: an iterator over directories, shallow first, in the order of their names.
#[derive(Debug)]
pub struct Walk<'r> {
    root: &'r Root,
    cancel: &'r Cancel,
    options: WalkOptions,
    queue: VecDeque<Pending>,
    /// Of the paths in the queue.
    queue_bytes: usize,
    /// Where it began, as it is shown.
    start: RelPath,
    links: Links<'r>,
    /// No patterns, and what counts all those of this walk.
    no_patterns: Arc<Ignore>,
    buffer: Vec<u8>,
    /// Ignore files that were not applied, and why; the first few.
    pub notes: Vec<(RelPath, String)>,
    /// Some directories were left out because too many were waiting.
    pub cut: bool,
    /// How many entries were hidden.
    pub ignored: usize,
}

/// A directory to be entered.
#[derive(Debug)]
struct Pending {
    path: WalkedPath,
    above: Arc<Ignore>,
    /// A call named it.
    is_named: bool,
}

/// A path that a walk came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedPath {
    /// Without links: by this it is opened.
    pub real: RelPath,
    /// Through the link that was named, where there was one.
    pub shown: Option<RelPath>,
}

/// A directory that a walk came to.
#[derive(Debug)]
pub struct Visit<'r> {
    /// Its path.
    pub path: WalkedPath,
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
            links: Links::default(),
            no_patterns: Arc::default(),
            buffer: Vec::new(),
            notes: Vec::new(),
            cut: false,
            ignored: 0,
        };
        let above = walk.ignore_above(start);
        let path = WalkedPath { real: start.clone(), shown: None };
        walk.push(Pending { path, above, is_named: !start.is_root() });
        walk
    }
}

impl WalkedPath {
    /// As it is shown: through the link that was named, where there was one.
    pub(crate) fn shown(&self) -> &RelPath {
        self.shown.as_ref().unwrap_or(&self.real)
    }

    fn bytes(&self) -> usize {
        self.real.as_bytes().len() + self.shown.as_ref().map_or(0, |shown| shown.as_bytes().len())
    }

    /// An entry of this directory.
    #[must_use]
    pub(crate) fn join(&self, name: &[u8]) -> Self {
        Self { real: self.real.join(name), shown: self.shown.as_ref().map(|shown| shown.join(name)) }
    }
}

impl<'r> Walk<'r> {
    /// Shows all that it comes to below `shown`, by which a call named its start.
    #[must_use]
    pub(crate) fn shown_from(mut self, shown: RelPath) -> Self {
        for Pending { path, .. } in &mut self.queue {
            path.shown = (shown != path.real).then(|| shown.clone());
        }
        self.start = shown;
        self
    }

    /// Enters the links to directories that `naming` says are named, and counts the others. It is asked with the path
    /// that is shown.
    #[must_use]
    pub(crate) fn entering(mut self, naming: impl Fn(&RelPath) -> bool + Send + Sync + 'r) -> Self {
        self.links = Links::named_by(naming);
        self
    }

    /// The links to directories that it did not enter, of those that it was to look at.
    pub(crate) fn not_entered(&self) -> NotEntered {
        self.links.not_entered()
    }

    /// The patterns of the directories above the start, which hold below it too.
    fn ignore_above(&mut self, start: &RelPath) -> Arc<Ignore> {
        let mut ignore = Arc::clone(&self.no_patterns);
        let mut above = RelPath::root();
        for name in start.components() {
            if self.options.hidden == Hidden::Skipped
                && let Ok(listing) = self.root.open_real_directory(&above).and_then(|dir| dir.list(self.cancel))
            {
                let named = Named { below: start.below(&above), cancel: self.cancel };
                ignore = self.enter(&ignore, &above, &listing, Some(&named));
            }
            above.push(name);
        }
        ignore
    }

    fn enter(
        &mut self,
        above: &Arc<Ignore>,
        dir: &RelPath,
        listing: &Listing,
        named: Option<&Named<'_>>,
    ) -> Arc<Ignore> {
        above.enter(self.root, dir, listing, self.cancel, named, |path, why| {
            if self.notes.len() < 5 {
                self.notes.push((path, why));
            }
        })
    }

    fn visit(&mut self, pending: &Pending) -> Result<(Directory<'r>, Listing), RootError> {
        let Pending { path, above, is_named } = pending;
        let dir = self.root.open_walked_directory(&path.real)?;
        let mut listing = dir.list_with(&mut self.buffer, self.cancel)?;
        let ignore = match self.options.hidden {
            Hidden::Skipped => {
                let named = Named { below: b"", cancel: self.cancel };
                self.enter(above, &path.real, &listing, is_named.then_some(&named))
            }
            Hidden::IgnoredShown | Hidden::Shown => Arc::clone(above),
        };
        if self.options.hidden != Hidden::Shown {
            listing.retain(|entry| !entry.is_version_control());
        }
        if let Some(shown) = &path.shown {
            // The real path was held against the deny patterns when it was listed.
            let before = listing.len();
            listing.retain(|entry| !self.root.deny.is_denied_in(shown, entry.name));
            listing.denied += before - listing.len();
        }
        self.leave_ignored(&ignore, &path.real, &mut listing)?;
        self.leave_excluded(path, &mut listing)?;
        if path.shown().depth() - self.start.depth() < self.options.max_depth {
            for entry in listing.iter() {
                self.note(path, entry, &ignore);
            }
        }
        Ok((dir, listing))
    }

    /// Takes from a listing what ignore files hide.
    fn leave_ignored(&mut self, ignore: &Ignore, dir: &RelPath, listing: &mut Listing) -> Result<(), RootError> {
        if ignore.is_empty() {
            return Ok(());
        }
        let before = listing.len();
        let (cancel, mut seen, mut is_over) = (self.cancel, 0_usize, false);
        listing.retain(|entry| {
            // Hostile patterns take their time with each name.
            is_over |= seen.is_multiple_of(64) && cancel.checkpoint();
            seen += 1;
            !is_over && !ignore.hides(&dir.join(entry.name), entry.kind == Kind::Directory)
        });
        self.cancel.check()?;
        self.ignored += before - listing.len();
        Ok(())
    }

    /// Takes from a listing what the call leaves out.
    fn leave_excluded(&self, dir: &WalkedPath, listing: &mut Listing) -> Result<(), RootError> {
        let exclude = &self.options.exclude;
        if exclude.is_empty() {
            return Ok(());
        }
        let (cancel, mut seen, mut is_over) = (self.cancel, 0_usize, false);
        listing.retain(|entry| {
            is_over |= seen.is_multiple_of(64) && cancel.checkpoint();
            seen += 1;
            let path = dir.shown().join(entry.name);
            !is_over && !exclude.matches(path.below(&self.start), entry.kind == Kind::Directory)
        });
        Ok(cancel.check()?)
    }

    /// Notes an entry that is to be entered later.
    fn note(&mut self, dir: &WalkedPath, entry: Entry<'_>, ignore: &Arc<Ignore>) {
        match entry.kind {
            Kind::Directory => {
                self.push(Pending { path: dir.join(entry.name), above: Arc::clone(ignore), is_named: false });
            }
            Kind::Link => {
                if let Some(path) = self.links.enter(self.root, &dir.join(entry.name), self.cancel) {
                    let above = self.ignore_above(&path.real);
                    let is_named = !path.real.is_root();
                    self.push(Pending { path, above, is_named });
                }
            }
            _ => {}
        }
    }

    /// Notes a directory to be entered later. Once one had no room, none is: the walk ends shallow first.
    fn push(&mut self, pending: Pending) {
        let bytes = self.queue_bytes + pending.path.bytes();
        self.cut |= self.queue.len() >= MAX_PENDING || bytes > MAX_PENDING_BYTES;
        if !self.cut {
            self.queue_bytes = bytes;
            self.queue.push_back(pending);
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
        let pending = self.queue.pop_front()?;
        // The start may have got a longer path since it was counted.
        self.queue_bytes = self.queue_bytes.saturating_sub(pending.path.bytes());
        let listing = self.visit(&pending);
        (!matches!(listing, Err(RootError::Cancelled))).then_some(Visit { path: pending.path, listing })
    }
}
