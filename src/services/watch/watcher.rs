//! The watching thread: waits for hints, looks when something is due, and reports changes.
//!
//! A directory is watched before it is looked at, so that nothing is missed in between. Directories that cannot be
//! watched are polled every few seconds instead.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Instant;

use super::list::List;
use super::targets::{Needed, Targets};
use super::watches::Watches;
use super::{Change, Clients, Command, Look, Prompts, polls};
use crate::call::ListKind;
use crate::limits::Limits;
use crate::root::hints::Hint;
use crate::root::{Hints, RelPath, Root, RootError};
use crate::runtime::cancel::Cancel;
use crate::services::snapshot::Snapshot;

/// The state of the thread.
pub(super) struct Watcher {
    root: Arc<Root>,
    limits: Limits,
    watches: Watches,
    targets: Targets,
    prompts: Option<Prompts>,
    resource_list: List,
    prompt_list: List,
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
        prompts: Option<Prompts>,
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
            prompts,
            resource_list: List::new(ListKind::Resources, &limits.watch),
            prompt_list: List::new(ListKind::Prompts, &limits.watch),
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
            self.look_at_list(ListKind::Resources);
            self.look_at_list(ListKind::Prompts);
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
            Command::WatchList(kind, client, given) => self.list(kind).watch(client, given, now),
            Command::UnwatchList(kind, client) => self.list(kind).unwatch(client),
            Command::Listed(kind, client, list) => return self.list(kind).given(client, list, now),
        }
        self.stale = true;
    }

    fn list(&mut self, kind: ListKind) -> &mut List {
        match kind {
            ListKind::Resources => &mut self.resource_list,
            ListKind::Prompts => &mut self.prompt_list,
        }
    }

    /// Waits for the next hint, command or due time, and marks what has to be looked at.
    fn wait(&mut self) {
        let poll = self.must_poll().then(|| self.polled + self.limits.watch.poll);
        let lists = self.resource_list.due().into_iter().chain(self.prompt_list.due());
        let due = self.targets.due().into_iter().chain(lists).chain(poll).min();
        let (targets, stale) = (&mut self.targets, &mut self.stale);
        let mut lists = [&mut self.resource_list, &mut self.prompt_list];
        let mut lost = false;
        self.watches.wait(due, |hint| {
            let now = Instant::now();
            match hint {
                Hint::Entry { directory, name, what } => {
                    targets.hint(directory, name, what, now);
                    for list in &mut lists {
                        list.hint(directory, name, what, now);
                    }
                }
                Hint::Gone(directory) => {
                    // A move of the served directory concerns everything in it.
                    if directory.is_root() {
                        targets.stir_all(now);
                    } else {
                        targets.gone(&directory, now);
                    }
                    for list in &mut lists {
                        list.stir(now);
                    }
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
        self.resource_list.stir(now);
        self.prompt_list.stir(now);
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

    fn look_at_list(&mut self, kind: ListKind) {
        let began = Instant::now();
        if self.list(kind).due().is_none_or(|due| began < due) {
            return;
        }
        let looked = match kind {
            ListKind::Resources => self.look_at_resources(),
            ListKind::Prompts => self.look_at_prompts(),
        };
        let now = Instant::now();
        let look = match looked {
            Ok(look) if look.is_sure => look,
            Err(RootError::Cancelled) => return,
            _ => {
                let later = now + self.limits.watch.poll;
                return self.list(kind).look_later(later);
            }
        };
        self.list(kind).is_remote = look.is_remote;
        for client in self.list(kind).looked(look.list, look.directories, now - began, now) {
            self.clients.tell(client, Change::ListChanged(kind));
        }
        if self.set_watches() {
            // What came while they were not watched.
            self.list(kind).stir(now);
        }
    }

    fn look_at_resources(&self) -> Result<Look, RootError> {
        let most = self.limits.watch.directories;
        let mut directories = Vec::new();
        let taken = Snapshot::take(&self.root, self.limits.list, &self.cancel, |directory, _| {
            // One more than can be watched shows that some are not.
            if directories.len() <= most {
                directories.push(directory.clone());
            }
        });
        let snapshot = match taken {
            Ok((snapshot, _)) => snapshot,
            Err(error) if error.is_passing() => return Err(error),
            // The served directory is gone, with everything in it.
            Err(_) => Snapshot::new(),
        };
        let (is_sure, is_remote) = (snapshot.is_sure, snapshot.is_remote);
        Ok(Look { list: snapshot.fingerprint(), directories, is_sure, is_remote })
    }

    fn look_at_prompts(&self) -> Result<Look, RootError> {
        match &self.prompts {
            Some(Prompts { folder, look }) => look(&self.root, folder, &self.cancel),
            None => Err(RootError::NotFound),
        }
    }

    /// Sets the watches. Returns whether any directory is newly watched.
    fn set_watches(&mut self) -> bool {
        // Prompts are few, and come first.
        let prompts: BTreeSet<&RelPath> = self.prompt_list.directories.iter().collect();
        let others = self.resource_list.directories.iter().filter(|directory| !prompts.contains(directory));
        let listed: Vec<&RelPath> = self.prompt_list.directories.iter().chain(others).collect();
        let coverage = self.watches.set(&self.root, &self.targets.needed(), &listed);
        self.stale = false;
        self.unwatched = coverage.lacks_needed;
        for list in [&mut self.resource_list, &mut self.prompt_list] {
            list.must_poll = coverage.lacks_needed || coverage.lacks_listed || list.is_remote;
        }
        coverage.added
    }
}
