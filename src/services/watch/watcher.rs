//! The watching thread: waits for hints, looks when something is due, and reports changes.
//!
//! A directory is watched before it is looked at, so that nothing is missed in between. Directories that cannot be
//! watched are polled every few seconds instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Instant;

use super::list::List;
use super::targets::{Needed, Targets};
use super::watches::Watches;
use super::{Change, Clients, Command, polls};
use crate::limits::Limits;
use crate::root::hints::Hint;
use crate::root::{Hints, Root, RootError};
use crate::runtime::cancel::Cancel;
use crate::services::snapshot::Snapshot;

/// The state of the thread.
pub(super) struct Watcher {
    root: Arc<Root>,
    limits: Limits,
    watches: Watches,
    targets: Targets,
    list: List,
    /// The watches do not match what should be watched.
    stale: bool,
    /// Hints have been lost at least once.
    lost: bool,
    /// Some entries that targets depend on are not watched.
    unwatched: bool,
    polled: Instant,
    /// How many paths are followed, or not yet removed from the targets.
    known: Arc<AtomicUsize>,
    cancel: Cancel,
    clients: Arc<Clients>,
}

impl Watcher {
    pub(super) fn new(
        root: Arc<Root>,
        limits: &Limits,
        hints: Hints,
        known: Arc<AtomicUsize>,
        cancel: Cancel,
        clients: Arc<Clients>,
    ) -> Self {
        let polls = polls(&root, limits);
        Self {
            root,
            watches: Watches::new(hints, &limits.watch, polls),
            targets: Targets::new(&limits.watch),
            list: List::new(&limits.watch),
            limits: limits.clone(),
            stale: false,
            lost: false,
            unwatched: false,
            polled: Instant::now(),
            known,
            cancel,
            clients,
        }
    }

    /// Runs until the server ends.
    pub(super) fn run(mut self, commands: &Receiver<Command>) {
        loop {
            loop {
                match commands.try_recv() {
                    Ok(command) => self.obey(command),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            if self.stale {
                self.set_watches();
            }
            self.look_at_targets();
            self.look_at_list();
            if self.cancel.checkpoint() {
                return;
            }
            self.wait();
        }
    }

    fn obey(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Follow(watched) => self.targets.follow(watched, now),
            Command::Unfollow(path) => {
                self.targets.unfollow(&path);
                self.known.fetch_sub(1, Ordering::Relaxed);
            }
            Command::WatchList(client, given) => self.list.watch(client, given, now),
            Command::UnwatchList(client) => self.list.unwatch(client),
            Command::Listed(client, list) => return self.list.given(client, list, now),
        }
        self.stale = true;
    }

    /// Waits for the next hint, command or due time, and marks what has to be looked at.
    fn wait(&mut self) {
        let poll = self.must_poll().then(|| self.polled + self.limits.watch.poll);
        let due = self.targets.due().into_iter().chain(self.list.due()).chain(poll).min();
        let (targets, list, stale) = (&mut self.targets, &mut self.list, &mut self.stale);
        let mut lost = false;
        self.watches.wait(due, |hint| {
            let now = Instant::now();
            match hint {
                Hint::Entry { directory, name, what } => {
                    targets.hint(directory, name, what, now);
                    list.hint(name, what, now);
                }
                Hint::Gone(directory) => {
                    // A move of the served directory concerns everything in it.
                    if directory.is_root() {
                        targets.stir_all(now);
                    } else {
                        targets.gone(&directory, now);
                    }
                    list.stir(now);
                    *stale = true;
                }
                Hint::Lost => lost = true,
            }
        });
        let now = Instant::now();
        if lost {
            self.hints_lost(now);
        }
        if poll.is_some_and(|poll| poll <= now) {
            self.polled = now;
            self.targets.stir_all(now);
        }
    }

    /// The lost hints may have included the move of a watched directory.
    fn hints_lost(&mut self, now: Instant) {
        self.watches.clear();
        self.stale = true;
        self.list.stir(now);
        self.targets.stir_all(now);
        if !std::mem::replace(&mut self.lost, true) {
            tracing::warn!("changes came too fast; subscribed resources are polled from now on");
        }
    }

    fn must_poll(&self) -> bool {
        !self.targets.is_empty() && (self.lost || self.unwatched || self.targets.must_poll())
    }

    fn look_at_targets(&mut self) {
        let due = self.targets.take_due(Instant::now());
        if due.is_empty() {
            return;
        }
        self.set_watches();
        let mut moved = Vec::new();
        for (path, written) in due {
            if self.cancel.checkpoint() {
                return;
            }
            let Ok(watched) = self.root.watch_path_of(path.clone(), &self.cancel) else {
                self.targets.look_later(&path, written, Instant::now() + self.limits.watch.poll);
                continue;
            };
            let noted = self.targets.note(&watched, written);
            if noted.replaced {
                self.watches.renew(&self.root, &Needed::of(&watched));
            }
            if noted.moved || noted.replaced {
                moved.push(path.clone());
            }
            if noted.changed {
                self.clients.tell_all(&Change::Updated(path));
            }
        }
        if !moved.is_empty() {
            self.set_watches();
        }
        for path in &moved {
            self.targets.stir(path, Instant::now());
        }
    }

    fn look_at_list(&mut self) {
        let began = Instant::now();
        if self.list.due().is_none_or(|due| began < due) {
            return;
        }
        let most = self.limits.watch.directories;
        let mut directories = Vec::new();
        let taken = Snapshot::take(&self.root, self.limits.list, &self.cancel, |directory, _| {
            // One more than can be watched shows that some are not.
            if directories.len() <= most {
                directories.push(directory.clone());
            }
        });
        let now = Instant::now();
        let snapshot = match taken {
            Ok((snapshot, _)) => snapshot,
            Err(RootError::Cancelled) => return,
            Err(error) if error.is_passing() => return self.list.look_later(now + self.limits.watch.poll),
            // The served directory is gone, with everything in it.
            Err(_) => Snapshot::new(),
        };
        if !snapshot.is_sure {
            return self.list.look_later(now + self.limits.watch.poll);
        }
        self.list.is_remote = snapshot.is_remote;
        for client in self.list.looked(snapshot.fingerprint(), directories, now - began, now) {
            self.clients.tell(client, Change::ListChanged);
        }
        if self.set_watches() {
            // Whatever happened while they were not watched.
            self.list.stir(now);
        }
    }

    /// Sets the watches. Returns whether any directory is newly watched.
    fn set_watches(&mut self) -> bool {
        let coverage = self.watches.set(&self.root, &self.targets.needed(), &self.list.directories);
        self.stale = false;
        self.unwatched = coverage.lacks_needed;
        self.list.must_poll = coverage.lacks_needed || coverage.lacks_listed || self.list.is_remote;
        coverage.added
    }
}
