//! Who is to hear of changes: a legacy client by its subscriptions, a modern one on each of its streams.
//!
//! Changes wait here as marks on what they concern, not as a queue of messages: a client that does not read hears of
//! each once, when it does. What a subscription takes elsewhere goes when it is dropped here.

use crate::call::{Listening, Outbound, Subject, Subscription};
use crate::features::watch::{Change, ListWatched};
use crate::wire::message::Id;

/// Everybody who hears of changes.
#[derive(Debug, Default)]
pub struct Subscribers {
    /// The client of the legacy session.
    legacy: Listener,
    /// In the order in which they were opened.
    streams: Vec<(Id, Listener)>,
    has_news: bool,
}

#[derive(Debug, Default)]
struct Listener {
    list: Option<Heard<ListWatched>>,
    resources: Vec<Heard<Subscription>>,
}

/// What somebody hears of, and whether there is something to hear.
#[derive(Debug)]
struct Heard<T> {
    of: T,
    changed: bool,
}

impl<T> Heard<T> {
    fn nothing(of: T) -> Self {
        Self { of, changed: false }
    }
}

impl Subscribers {
    /// A legacy client subscribes; to the same URI again as often as it likes.
    pub fn subscribe(&mut self, subscription: Subscription) {
        if !self.legacy.resources.iter().any(|heard| heard.of.subject == subscription.subject) {
            self.legacy.resources.push(Heard::nothing(subscription));
        }
    }

    /// It ends a subscription, by the URI it began it with or another one that means the same.
    pub fn unsubscribe(&mut self, subject: &Subject) {
        self.legacy.resources.retain(|heard| !heard.of.subject.is_same(subject));
    }

    /// It hears of the list from now on.
    pub fn watch_list(&mut self, watch: impl FnOnce() -> ListWatched) {
        self.legacy.list.get_or_insert_with(|| Heard::nothing(watch()));
    }

    /// Opens a stream under the id of its request.
    pub fn open(&mut self, id: Id, Listening { list, subscriptions }: Listening) {
        let resources = subscriptions.into_iter().map(Heard::nothing).collect();
        self.streams.push((id, Listener { list: list.map(Heard::nothing), resources }));
    }

    /// How many streams are open.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Whether one of this id is.
    pub fn has_stream(&self, id: &Id) -> bool {
        self.streams.iter().any(|(open, _)| open == id)
    }

    /// Closes a stream, if there is one of this id; nothing more is said on it.
    pub fn close(&mut self, id: &Id) {
        self.streams.retain(|(open, _)| open != id);
    }

    /// Closes all streams; their requests are still to be answered.
    pub fn end_streams(&mut self) -> Vec<Id> {
        self.streams.drain(..).map(|(id, _)| id).collect()
    }

    /// Marks who is to hear of a change.
    pub fn note(&mut self, change: &Change) {
        for listener in std::iter::once(&mut self.legacy).chain(self.streams.iter_mut().map(|(_, listener)| listener)) {
            self.has_news |= listener.note(change);
        }
    }

    /// At most so many messages that are to be sent, each with the stream it is for; those of the legacy client only
    /// when it is ready for them.
    pub fn take_news(&mut self, most: usize, legacy_is_ready: bool) -> Vec<(Option<Id>, Outbound)> {
        let mut news = Vec::new();
        if !self.has_news || most == 0 {
            return news;
        }
        if legacy_is_ready {
            self.legacy.take(None, most, &mut news);
        }
        for (id, listener) in &mut self.streams {
            listener.take(Some(id), most, &mut news);
        }
        self.has_news = news.len() >= most || (!legacy_is_ready && self.legacy.has_news());
        news
    }
}

impl Listener {
    fn note(&mut self, change: &Change) -> bool {
        let mut concerned = false;
        match change {
            Change::ListChanged => {
                if let Some(heard) = &mut self.list {
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

    fn has_news(&self) -> bool {
        self.list.iter().any(|heard| heard.changed) || self.resources.iter().any(|heard| heard.changed)
    }

    fn take(&mut self, stream: Option<&Id>, most: usize, news: &mut Vec<(Option<Id>, Outbound)>) {
        if news.len() < most && self.list.as_mut().is_some_and(|heard| std::mem::take(&mut heard.changed)) {
            news.push((stream.cloned(), Outbound::ListChanged));
        }
        for heard in self.resources.iter_mut().filter(|heard| heard.changed) {
            if news.len() >= most {
                return;
            }
            heard.changed = false;
            news.push((stream.cloned(), Outbound::Updated { uri: heard.of.subject.uri.clone() }));
        }
    }
}
