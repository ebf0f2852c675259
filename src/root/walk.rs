//! Walks a directory and everything below it, level by level, opening each directory from the root handle.
//!
//! Nothing outside can therefore appear in a walk, whatever is moved or swapped meanwhile. A chain of nested handles
//! would go on listing a directory after it was moved out, and the walkers of `walkdir` and `ignore` follow swapped
//! links. It is also faster: one openat2 per directory, no stat, and no path is walked twice. Links are listed but not
//! entered, so loops are impossible, except for links that a call names ([`links`]).

mod ahead;
mod links;

use std::collections::VecDeque;
use std::sync::Arc;

use super::ignore::{Exclude, Ignore, Named};
use super::listing::{Entry, Listing};
use super::path::RelPath;
use super::stat::Kind;
use super::{Directory, Root, RootError};
use crate::runtime::cancel::Cancel;

use ahead::Ahead;
use links::Links;
pub use links::NotEntered;

/// How many directories may wait to be entered. Further ones are left out, and [`Walk::cut`] is set.
const MAX_PENDING: usize = 500_000;
/// The limit of their paths, in bytes.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// What a walk leaves out, in addition to denied names, which it always leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// What `.gitignore` and `.ignore` hide, and the directories of version control.
    Skipped,
    /// Only the directories of version control.
    IgnoredShown,
    /// Nothing.
    Shown,
}

/// What a walk visits.
#[derive(Debug)]
pub struct WalkOptions {
    /// Whether hidden entries are skipped.
    pub hidden: Hidden,
    /// How many levels below the start are entered; 0 for the start only.
    pub max_depth: usize,
    /// What else is left out.
    pub exclude: Arc<Exclude>,
}

/// A walk in progress: an iterator over directories, shallow first, in the order of their names.
#[derive(Debug)]
pub struct Walk<'r> {
    root: &'r Root,
    cancel: &'r Cancel,
    options: WalkOptions,
    queue: VecDeque<Pending>,
    /// The memory of the paths in the queue.
    queue_bytes: usize,
    /// Where it started, as shown to the client.
    start: RelPath,
    links: Links<'r>,
    /// No patterns; counts those of the whole walk.
    no_patterns: Arc<Ignore>,
    ahead: Ahead<'r>,
    buffer: Vec<u8>,
    /// The first few ignore files that were not applied, and why.
    pub notes: Vec<(RelPath, String)>,
    /// Some directories were left out, because too many were waiting.
    pub cut: bool,
    /// How many entries were hidden.
    pub ignored: usize,
}

/// A directory to be entered.
#[derive(Debug)]
struct Pending {
    path: WalkedPath,
    above: Arc<Ignore>,
    /// The call named it.
    is_named: bool,
    /// It is probably on a remote file system: the directory that contains it is.
    is_remote: bool,
}

/// A path that a walk reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedPath {
    /// Without links; it is opened by this path.
    pub real: RelPath,
    /// Through the link that the call named, if any.
    pub shown: Option<RelPath>,
}

/// A directory that a walk reached.
#[derive(Debug)]
pub struct Visit<'r> {
    /// Its path.
    pub path: WalkedPath,
    /// Its open handle and its entries, or why it cannot be read.
    pub listing: Result<(Directory<'r>, Listing), RootError>,
}

impl Root {
    /// Walks `start`, a path without links, and everything below it.
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
            ahead: Ahead::default(),
            buffer: Vec::new(),
            notes: Vec::new(),
            cut: false,
            ignored: 0,
        };
        let above = walk.ignore_above(start);
        let path = WalkedPath { real: start.clone(), shown: None };
        let is_remote = self.remote_file_system().is_some();
        walk.push(Pending { path, above, is_named: !start.is_root(), is_remote });
        walk
    }
}

impl WalkedPath {
    /// The path as shown: through the link that the call named, if any.
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
    /// Shows everything below `shown`, the path by which a call named the start.
    #[must_use]
    pub(crate) fn shown_from(mut self, shown: RelPath) -> Self {
        for Pending { path, .. } in &mut self.queue {
            path.shown = (shown != path.real).then(|| shown.clone());
        }
        self.start = shown;
        self
    }

    /// Enters the links to directories that `naming` selects by their shown path, and counts the others.
    #[must_use]
    pub(crate) fn entering(mut self, naming: impl Fn(&RelPath) -> bool + Send + Sync + 'r) -> Self {
        self.links = Links::named_by(naming);
        self
    }

    /// The links to directories that were examined and not entered.
    pub(crate) fn not_entered(&self) -> NotEntered {
        self.links.not_entered()
    }

    /// The patterns of the directories above the start, which also apply below it.
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
        let Pending { path, above, is_named, .. } = pending;
        let (dir, mut listing) = self.list(pending)?;
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
            // The real path was checked against the deny patterns when it was listed.
            let before = listing.len();
            listing.retain(|entry| !self.root.deny.is_denied_in(shown, entry.name));
            listing.denied += before - listing.len();
        }
        self.leave_ignored(&ignore, &path.real, &mut listing)?;
        self.leave_excluded(path, &mut listing)?;
        if path.shown().depth() - self.start.depth() < self.options.max_depth {
            for entry in listing.iter() {
                self.note(path, entry, &ignore, dir.is_remote);
            }
        }
        Ok((dir, listing))
    }

    /// Removes from a listing what ignore files hide.
    fn leave_ignored(&mut self, ignore: &Ignore, dir: &RelPath, listing: &mut Listing) -> Result<(), RootError> {
        if ignore.is_empty() {
            return Ok(());
        }
        let before = listing.len();
        let (cancel, mut seen, mut is_over) = (self.cancel, 0_usize, false);
        listing.retain(|entry| {
            // Hostile patterns take long for each name.
            is_over |= seen.is_multiple_of(64) && cancel.checkpoint();
            seen += 1;
            !is_over && !ignore.hides(&dir.join(entry.name), entry.kind == Kind::Directory)
        });
        self.cancel.check()?;
        self.ignored += before - listing.len();
        Ok(())
    }

    /// Removes from a listing what the call excludes.
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

    /// Records an entry to enter later.
    fn note(&mut self, dir: &WalkedPath, entry: Entry<'_>, ignore: &Arc<Ignore>, is_remote: bool) {
        match entry.kind {
            Kind::Directory => {
                let (path, above) = (dir.join(entry.name), Arc::clone(ignore));
                self.push(Pending { path, above, is_named: false, is_remote });
            }
            Kind::Link => {
                if let Some(path) = self.links.enter(self.root, &dir.join(entry.name), self.cancel) {
                    let above = self.ignore_above(&path.real);
                    let is_named = !path.real.is_root();
                    self.push(Pending { path, above, is_named, is_remote });
                }
            }
            _ => {}
        }
    }

    /// Records a directory to enter later. Once one does not fit, no more are recorded, so that the walk stays shallow
    /// first.
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

    /// The next directory; `None` at the end, and soon after a cancellation.
    fn next(&mut self) -> Option<Visit<'r>> {
        if self.cancel.checkpoint() {
            return None;
        }
        let pending = self.queue.pop_front()?;
        // The start may have a longer path than was counted.
        self.queue_bytes = self.queue_bytes.saturating_sub(pending.path.bytes());
        let listing = self.visit(&pending);
        (!matches!(listing, Err(RootError::Cancelled))).then_some(Visit { path: pending.path, listing })
    }
}
