//! A list, of resources or of prompts: whether it is still the one that each client knows, and when to look.
//!
//! Looking means to walk as `resources/list` or `prompts/list` does and to compare: so ignore files, new trees and renamed directories
//! need no rules of their own. The directories that the walk came to are those to be watched.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::ClientId;
use super::backoff::Backoff;
use crate::call::{Fingerprint, ListKind};
use crate::limits::Watching;
use crate::root::RelPath;
use crate::root::hints::Happened;

/// A look may take this part of the time at most, where one is due again and again.
const SHARE_OF_HINTED: u32 = 10;
/// The same where nothing hints at a change.
const SHARE_OF_POLLED: u32 = 100;
/// The longest time between two looks where nothing hints at a change.
const LONGEST_POLL: Duration = Duration::from_mins(1);

/// What is known of the list.
#[derive(Debug)]
pub(super) struct List {
    kind: ListKind,
    options: Watching,
    /// The clients that want to hear of it.
    clients: BTreeMap<ClientId, Client>,
    /// What the last look has found.
    seen: Option<Fingerprint>,
    /// Something may have changed since the last look.
    stirred: Option<Instant>,
    looked: Option<Instant>,
    took: Duration,
    backoff: Backoff,
    /// The directories of the last look, the shallowest first.
    pub(super) directories: Vec<RelPath>,
    /// Not all of them are watched.
    pub(super) must_poll: bool,
}

/// A client that wants to hear of the list.
#[derive(Debug)]
struct Client {
    /// How many of its streams and sessions do.
    interests: usize,
    /// What it knows: what it was given last or was told of last, or else what there was when it began to watch.
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
        }
    }

    /// A client wants to hear of it. The list that it may have, and may keep, is from before: the next look tells
    /// whether it still holds.
    pub(super) fn watch(&mut self, client: ClientId, given: Option<Fingerprint>, now: Instant) {
        let is_first = self.clients.is_empty();
        let known = given.or(self.seen);
        let client = self.clients.entry(client).or_insert(Client { interests: 0, known });
        client.interests += 1;
        if is_first || client.known != self.seen {
            self.stirred.get_or_insert(now);
        }
    }

    /// One of its interests has ended.
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

    /// A client was given this list.
    pub(super) fn given(&mut self, client: ClientId, list: Fingerprint, now: Instant) {
        if let Some(client) = self.clients.get_mut(&client) {
            client.known = Some(list);
            if self.seen != client.known {
                self.stirred.get_or_insert(now);
            }
        }
    }

    /// Something happened to an entry: is that a reason to look?
    pub(super) fn hint(&mut self, directory: &RelPath, name: &[u8], what: Happened, now: Instant) {
        let matters = match self.kind {
            ListKind::Resources => what == Happened::Name || matches!(name, b".gitignore" | b".ignore"),
            // What a prompt is, its file says.
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
            looked + (self.took * SHARE_OF_POLLED).clamp(self.options.poll, LONGEST_POLL.max(self.options.poll))
        });
        hinted.into_iter().chain(polled).min()
    }

    /// A look could not tell what is there.
    pub(super) fn look_later(&mut self, at: Instant) {
        self.stirred = Some(at);
    }

    /// What a look has found, and how long it took. Gives the clients that are to be told.
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
