//! Subscriptions: those of a legacy client, and those of each stream of a modern client.
//!
//! Changes are kept as marks on subscriptions, not as a queue of messages: a client that does not read gets each change
//! once when it does. Dropping a subscription releases what it holds elsewhere.
//!
//! A subscription lasts as long as the client wants, so the memory of all of them is bounded: one that does not fit is
//! rejected.

use crate::call::{Fingerprint, ListKind, Listening, Outbound, Subject, Subscription};
use crate::jsonrpc::message::Id;
use crate::services::watch::{Change, Followed, ListWatched, NotFollowed, WatchClient};

/// All subscriptions of one client.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    watch: WatchClient,
    most_bytes: usize,
    bytes: usize,
    /// The client of a legacy session.
    legacy: Listener,
    /// In the order in which they were opened.
    streams: Vec<(Id, Listener)>,
    has_changes: bool,
}

#[derive(Debug, Default)]
struct Listener {
    lists: Vec<Pending<ListWatched>>,
    resources: Vec<Pending<Subscribed>>,
}

/// A resource that is followed until this is dropped.
#[derive(Debug)]
struct Subscribed {
    subject: Subject,
    followed: Followed,
    /// Its memory, here and in the watcher.
    bytes: usize,
}

/// Why a subscription was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMany {
    /// The watcher rejected it.
    #[error(transparent)]
    NotFollowed(NotFollowed),
    /// The URIs and paths of the existing subscriptions take all the memory that they may.
    #[error("Too many subscriptions (limit: {0} bytes of URIs and paths); unsubscribe from another one first.")]
    Bytes(usize),
}

/// A subscription, and whether it has a change to report.
#[derive(Debug)]
struct Pending<T> {
    of: T,
    changed: bool,
}

impl<T> Pending<T> {
    fn nothing(of: T) -> Self {
        Self { of, changed: false }
    }
}

impl Subscriptions {
    /// No subscriptions yet; all together may take `most_bytes`.
    pub(crate) fn new(watch: WatchClient, most_bytes: usize) -> Self {
        Self { watch, most_bytes, bytes: 0, legacy: Listener::default(), streams: Vec::new(), has_changes: false }
    }

    /// Approximate memory of all subscriptions and streams, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Subscribes the legacy client. Subscribing to the same URI again has no effect.
    pub(crate) fn subscribe(&mut self, subscription: Subscription) -> Result<(), TooMany> {
        if !self.legacy.resources.iter().any(|heard| heard.of.subject == subscription.subject) {
            let subscribed = self.follow(subscription)?;
            self.legacy.resources.push(Pending::nothing(subscribed));
        }
        Ok(())
    }

    /// Ends a subscription, by the same URI or another one that means the same.
    pub(crate) fn unsubscribe(&mut self, subject: &Subject) {
        let before = self.legacy.bytes();
        self.legacy.resources.retain(|heard| !heard.of.subject.is_same(subject));
        self.bytes -= before - self.legacy.bytes();
    }

    fn follow(&mut self, Subscription { subject, path }: Subscription) -> Result<Subscribed, TooMany> {
        let entries: usize = path.entries.iter().map(|entry| entry.as_bytes().len() + size_of_val(entry)).sum();
        // Here, and in the watcher, which keeps each entry with its directory and twice in an index.
        let bytes = 512 + subject.uri.len() + subject.range.len() + 4 * path.path.as_bytes().len() + 3 * entries;
        if self.bytes + bytes > self.most_bytes {
            return Err(TooMany::Bytes(self.most_bytes));
        }
        let followed = self.watch.follow(path).map_err(TooMany::NotFollowed)?;
        self.bytes += bytes;
        Ok(Subscribed { subject, followed, bytes })
    }

    /// The client received this list. If `watches`, a legacy client is notified of changes of the list from now on.
    pub(crate) fn listed(&mut self, kind: ListKind, list: Fingerprint, watches: bool) {
        self.watch.listed(kind, list);
        if watches && !self.legacy.lists.iter().any(|heard| heard.of.kind() == kind) {
            self.legacy.lists.push(Pending::nothing(self.watch.watch_list(kind)));
        }
    }

    /// Opens a stream under the id of its request. Returns the URIs that it follows: those that there was room for.
    pub(crate) fn open(&mut self, id: Id, listening: Listening) -> Vec<&str> {
        let mut resources = Vec::new();
        for subscription in listening.subscriptions {
            match self.follow(subscription) {
                Ok(subscribed) => resources.push(Pending::nothing(subscribed)),
                Err(why) => {
                    tracing::warn!("subscriptions/listen: only {} resources are followed: {why:?}", resources.len());
                    break;
                }
            }
        }
        let lists = listening.lists.into_iter().map(|kind| self.watch.watch_list(kind));
        let lists = lists.filter(ListWatched::is_watched).map(Pending::nothing).collect();
        self.bytes += stream_bytes(&id);
        self.streams.push((id, Listener { lists, resources }));
        let opened = self.streams.last().map_or(&[][..], |(_, listener)| &listener.resources);
        opened.iter().map(|heard| heard.of.subject.uri.as_str()).collect()
    }

    /// How many streams are open.
    pub(crate) fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Whether a stream of this id is open.
    pub(crate) fn has_stream(&self, id: &Id) -> bool {
        self.streams.iter().any(|(open, _)| open == id)
    }

    /// Closes the stream of this id, if there is one; nothing more is sent on it.
    pub(crate) fn close(&mut self, id: &Id) {
        if let Some(at) = self.streams.iter().position(|(open, _)| open == id) {
            let (id, listener) = self.streams.remove(at);
            self.bytes -= stream_bytes(&id) + listener.bytes();
        }
    }

    /// Closes all streams. The caller still has to answer their requests.
    pub(crate) fn end_streams(&mut self) -> Vec<Id> {
        self.bytes = self.legacy.bytes();
        self.streams.drain(..).map(|(id, _)| id).collect()
    }

    /// Marks the subscriptions that a change affects.
    pub(crate) fn note(&mut self, change: &Change) {
        for listener in std::iter::once(&mut self.legacy).chain(self.streams.iter_mut().map(|(_, listener)| listener)) {
            self.has_changes |= listener.note(change);
        }
    }

    /// Whether there are changes that were not taken.
    pub(crate) fn has_changes(&self) -> bool {
        self.has_changes
    }

    /// Offers each change to `take`, with its stream, or `None` for the legacy client. A change that `take` declines
    /// waits for the next call.
    pub(crate) fn offer_changes(&mut self, mut take: impl FnMut(Option<&Id>, &Outbound) -> bool) {
        if !self.has_changes {
            return;
        }
        self.has_changes = !self.legacy.offer(|outbound| take(None, outbound));
        for (id, listener) in &mut self.streams {
            self.has_changes |= !listener.offer(|outbound| take(Some(id), outbound));
        }
    }
}

/// The memory of a stream without its subscriptions.
fn stream_bytes(id: &Id) -> usize {
    id.len() + 512
}

impl Listener {
    fn bytes(&self) -> usize {
        self.resources.iter().map(|heard| heard.of.bytes).sum()
    }

    fn note(&mut self, change: &Change) -> bool {
        let mut concerned = false;
        match change {
            Change::ListChanged(kind) => {
                for heard in self.lists.iter_mut().filter(|heard| heard.of.kind() == *kind) {
                    heard.changed = true;
                    concerned = true;
                }
            }
            Change::Updated(path) => {
                for heard in self.resources.iter_mut().filter(|heard| heard.of.followed.path() == path) {
                    heard.changed = true;
                    concerned = true;
                }
            }
        }
        concerned
    }

    /// Offers changes until one is declined. Returns whether all were taken.
    fn offer(&mut self, mut take: impl FnMut(&Outbound) -> bool) -> bool {
        for heard in self.lists.iter_mut().filter(|heard| heard.changed) {
            if !take(&Outbound::ListChanged(heard.of.kind())) {
                return false;
            }
            heard.changed = false;
        }
        for heard in self.resources.iter_mut().filter(|heard| heard.changed) {
            if !take(&Outbound::Updated { uri: heard.of.subject.uri.clone() }) {
                return false;
            }
            heard.changed = false;
        }
        true
    }
}
