//! Which directories are watched: first those that followed paths depend on, then those of the list, shallow ones
//! first, as far as the watches last.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::targets::Needed;
use crate::limits::Watching;
use crate::root::hints::{Hint, NoWatch, Scope};
use crate::root::{Hints, RelPath, Root, RootError};

/// The watched directories.
#[derive(Debug)]
pub(super) struct Watches {
    hints: Hints,
    most: usize,
    poll: Duration,
    /// No warning is due: it has been given, or the user chose so.
    is_known: bool,
}

/// The result of setting watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage {
    /// A directory is newly watched.
    pub(super) added: bool,
    /// A directory that a followed path depends on is not watched.
    pub(super) lacks_needed: bool,
    /// A directory of the list is not watched.
    pub(super) lacks_listed: bool,
}

impl Watches {
    /// Without a warning if `polls`: then it was said at startup, or is the user's choice.
    pub(super) fn new(hints: Hints, options: &Watching, polls: bool) -> Self {
        let is_known = polls;
        Self { hints, most: options.directories, poll: options.poll, is_known }
    }

    /// Watches exactly what is needed and listed.
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
                // It does not exist. If it is created, the directory above reports that.
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

    /// Renews the watches on paths that may now lead to another directory or file.
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
