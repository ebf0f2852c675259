//! Which directories are watched: what followed paths depend on first, then those of the list, the shallowest first,
//! as far as there are watches.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::targets::Needed;
use crate::limits::{WatchMode, Watching};
use crate::root::hints::{Hint, NoWatch, Scope};
use crate::root::{Hints, RelPath, Root, RootError};

/// The watched directories.
#[derive(Debug)]
pub(super) struct Watches {
    hints: Hints,
    most: usize,
    poll: Duration,
    /// Nobody is to be told that there are not enough: they have been, or it was their wish.
    is_known: bool,
}

/// What came of setting watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage {
    /// A directory is watched that was not before.
    pub(super) added: bool,
    /// A directory is not watched on which a followed path depends.
    pub(super) lacks_needed: bool,
    /// A listed directory is not watched.
    pub(super) lacks_listed: bool,
}

impl Watches {
    pub(super) fn new(hints: Hints, options: &Watching) -> Self {
        let is_known = options.mode == WatchMode::Poll;
        Self { hints, most: options.directories, poll: options.poll, is_known }
    }

    /// Watches what is needed and listed, and nothing else.
    pub(super) fn set(&mut self, root: &Root, needed: &Needed, listed: &[&RelPath]) -> Coverage {
        let Needed { directories, files } = needed;
        let beyond = listed.iter().copied().filter(|directory| !directories.contains_key(*directory));
        let wanted = directories.iter().map(|(path, scope)| (path, *scope));
        let wanted = wanted.chain(files.keys().map(|path| (path, Scope::File)));
        let wanted: Vec<(&RelPath, Scope)> = wanted.chain(beyond.map(|path| (path, Scope::Names))).collect();
        self.keep(&wanted.iter().take(self.most).map(|(path, _)| *path).collect());
        let mut coverage = Coverage::default();
        let (mut missed, mut none_left) = (0, false);
        for (at, (path, scope)) in wanted.iter().enumerate() {
            if self.hints.scope(path) == Some(*scope) {
                continue;
            }
            let is_beyond = none_left || at >= self.most;
            let watched = if is_beyond { Err(NoWatch::NoneLeft) } else { self.hints.watch(root, path, *scope) };
            match watched {
                Ok(()) => coverage.added = true,
                // Events of its directory cover it.
                Err(_) if *scope == Scope::File && !files[*path] => {}
                // It is not there; when it comes, that is seen in the directory above.
                Err(NoWatch::Root(RootError::NotFound | RootError::NotDirectory | RootError::Loop)) => {}
                Err(error) => {
                    none_left |= error == NoWatch::NoneLeft;
                    missed += 1;
                    let is_needed = directories.contains_key(path) || *scope == Scope::File;
                    coverage.lacks_needed |= is_needed;
                    coverage.lacks_listed |= !is_needed;
                }
            }
        }
        if none_left {
            self.say(missed, wanted.len());
        }
        coverage
    }

    /// Watches again what is watched, for where it may be another directory or file than it was.
    pub(super) fn renew(&mut self, root: &Root, needed: &Needed) {
        let files = needed.files.keys().map(|path| (path, Scope::File));
        for (path, scope) in needed.directories.iter().map(|(path, scope)| (path, *scope)).chain(files) {
            if self.hints.scope(path).is_some() && self.hints.watch(root, path, scope).is_err() {
                self.hints.forget(path);
            }
        }
    }

    /// Removes all watches until [`Self::set`] is called again.
    pub(super) fn clear(&mut self) {
        self.keep(&HashSet::new());
    }

    /// See [`Hints::wait`].
    pub(super) fn wait(&mut self, until: Option<Instant>, on: impl FnMut(Hint<'_>)) {
        self.hints.wait(until, on);
    }

    fn keep(&mut self, kept: &HashSet<&RelPath>) {
        let old: Vec<RelPath> = self.hints.watched().filter(|path| !kept.contains(path)).cloned().collect();
        for path in old {
            self.hints.forget(&path);
        }
    }

    fn say(&mut self, missed: usize, all: usize) {
        if !std::mem::replace(&mut self.is_known, true) {
            let poll = self.poll;
            tracing::warn!(
                "{missed} of {all} directories and files cannot be watched (--watch-limit, or the user's fs.inotify limits are \
                 reached): what is subscribed there is looked at every {poll:?}, the list now and then"
            );
        }
    }
}
