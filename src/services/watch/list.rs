//! A list, of resources or of prompts: whether each client's copy is current, and when to look.
//!
//! To look means to walk as `resources/list` or `prompts/list` does, and to compare. Ignore files, new trees and renamed
//! directories therefore need no special rules. The directories that the walk visited are the ones to watch.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::ClientId;
use super::backoff::Backoff;
use crate::call::{Fingerprint, ListKind};
use crate::limits::Watching;
use crate::root::RelPath;
use crate::root::hints::Happened;

/// Looking may take at most one part in this many of the time, if hints keep arriving.
const SHARE_OF_HINTED: u32 = 10;
/// The same for polling without hints.
const SHARE_OF_POLLED: u32 = 100;
/// The longest time between two looks while polling.
const LONGEST_POLL: Duration = Duration::from_mins(1);

/// What is known about the list.
#[derive(Debug)]
pub(super) struct List {
    kind: ListKind,
    options: Watching,
    /// The clients that want to hear about it.
    clients: BTreeMap<ClientId, Client>,
    /// The result of the last look.
    seen: Option<Fingerprint>,
    /// When something may have changed after the last look.
    stirred: Option<Instant>,
    looked: Option<Instant>,
    took: Duration,
    backoff: Backoff,
    /// The directories of the last look, shallow ones first.
    pub(super) directories: Vec<RelPath>,
    /// Some of them are not watched.
    pub(super) must_poll: bool,
    /// Some of them are on a remote file system, where other machines may change them.
    pub(super) is_remote: bool,
}

/// A client that wants to hear about the list.
#[derive(Debug)]
struct Client {
    /// How many of its streams and sessions are interested.
    interests: usize,
    /// The list that it knows: the one that it was last given or told about, or else the one that existed when it
    /// subscribed.
    known: Option<Fingerprint>,
}

impl List {
    pub(super) fn new(kind: ListKind, options: &Watching) -> Self {
        Self {
            kind,
            options: options.clone(),
            clients: BTreeMap::new(),
            seen: None,
            stirred: None,
            looked: None,
            took: Duration::ZERO,
            backoff: Backoff::new(options.list_pause, options.list_longest_pause),
            directories: Vec::new(),
            must_poll: false,
            is_remote: false,
        }
    }

    /// A client subscribes. The list that it may have received is from before, so the next look decides whether it
    /// still holds.
    pub(super) fn watch(&mut self, client: ClientId, given: Option<Fingerprint>, now: Instant) {
        let is_first = self.clients.is_empty();
        let known = given.or(self.seen);
        let client = self.clients.entry(client).or_insert(Client { interests: 0, known });
        client.interests += 1;
        if is_first || client.known != self.seen {
            self.stirred.get_or_insert(now);
        }
    }

    /// One of a client's interests has ended.
    pub(super) fn unwatch(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        client.interests -= 1;
        if client.interests == 0 {
            self.clients.remove(&id);
        }
        if self.clients.is_empty() {
            *self = Self::new(self.kind, &self.options);
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        !self.clients.is_empty()
    }

    /// A client received this list.
    pub(super) fn given(&mut self, client: ClientId, list: Fingerprint, now: Instant) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.known = Some(list);
            if self.seen != client.known {
                self.stirred.get_or_insert(now);
            }
        }
    }

    /// An event for an entry: decides whether to look.
    pub(super) fn hint(&mut self, directory: &RelPath, name: &[u8], what: Happened, now: Instant) {
        let matters = match self.kind {
            ListKind::Resources => what == Happened::Name || matches!(name, b".gitignore" | b".ignore"),
            // The list shows what the files say.
            ListKind::Prompts => {
                (what == Happened::Name || name.ends_with(b".md")) && self.directories.contains(directory)
            }
        };
        if matters {
            self.stir(now);
        }
    }

    /// Something may have changed.
    pub(super) fn stir(&mut self, now: Instant) {
        if self.is_watched() {
            self.backoff.changed(now);
            self.stirred.get_or_insert(now);
        }
    }

    /// When to look next.
    pub(super) fn due(&self) -> Option<Instant> {
        if !self.is_watched() {
            return None;
        }
        let Some(looked) = self.looked else { return self.stirred };
        let hinted = self.stirred.map(|stirred| {
            let rested = looked + self.took * SHARE_OF_HINTED;
            (stirred + self.options.settle).max(rested).max(self.backoff.earliest().unwrap_or(rested))
        });
        let polled = self.must_poll.then(|| {
            let share = if self.is_remote { SHARE_OF_HINTED } else { SHARE_OF_POLLED };
            looked + (self.took * share).clamp(self.options.poll, LONGEST_POLL.max(self.options.poll))
        });
        hinted.into_iter().chain(polled).min()
    }

    /// A look could not determine what is there.
    pub(super) fn look_later(&mut self, at: Instant) {
        self.stirred = Some(at);
    }

    /// Records the result of a look and how long it took. Returns the clients to notify.
    pub(super) fn looked(
        &mut self,
        list: Fingerprint,
        directories: Vec<RelPath>,
        took: Duration,
        now: Instant,
    ) -> Vec<ClientId> {
        self.directories = directories;
        self.seen = Some(list);
        self.stirred = None;
        self.looked = Some(now);
        self.took = took;
        let is_old = |client: &mut Client| *client.known.get_or_insert(list) != list;
        let old: Vec<ClientId> =
            self.clients.iter_mut().filter_map(|(id, client)| is_old(client).then_some(*id)).collect();
        if old.is_empty() {
            self.backoff.unchanged();
            return old;
        }
        if self.backoff.earliest().is_some_and(|earliest| now < earliest) {
            self.stir(now);
            return Vec::new();
        }
        self.backoff.told(now);
        self.clients.values_mut().for_each(|client| client.known = Some(list));
        old
    }
}
