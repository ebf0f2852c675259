//! Where one client's messages go: the [`Sink`] of a peer whose output is HTTP responses.
//!
//! A message belongs to the exchange of its request (a POST and its response), or to the event stream of the session (a
//! GET). What the peer sends while it handles a message is collected here first: most answers are ready at once and
//! need no channel.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::jsonrpc::body::Body;
use crate::jsonrpc::message::Id;
use crate::peer::batch::BatchKey;
use crate::peer::sink::{Destination, Sink};
use crate::runtime::memory::Reservation;

/// Notifications that may wait on one stream. Further changes wait as marks in the peer, and each is sent once.
const AHEAD: usize = 64;

/// A part of a response.
#[derive(Debug)]
pub(super) enum Part {
    /// More follows.
    Notification(Outgoing),
    /// The answer; nothing follows.
    Answer(Outgoing),
}

/// A message on its way to a client. It counts as unwritten, and holds its memory, until it is dropped.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) body: Body,
    _held: Vec<Reservation>,
    _counted: Counted,
}

/// How much of one client's output is not written yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    answers: AtomicUsize,
    bytes: AtomicUsize,
    /// The peer waits for room.
    is_awaited: AtomicBool,
    written: Notify,
}

impl Unwritten {
    /// Makes [`Self::written`] complete when there is more room.
    pub(super) fn wake_when_written(&self) {
        self.is_awaited.store(true, Ordering::SeqCst);
    }

    /// Waits until something is written, after [`Self::wake_when_written`].
    pub(super) async fn written(&self) {
        self.written.notified().await;
    }
}

#[derive(Debug)]
struct Counted {
    unwritten: Arc<Unwritten>,
    bytes: usize,
    /// The counter of its stream; `None` for an answer.
    ahead: Option<Arc<AtomicUsize>>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let count = self.ahead.as_deref().unwrap_or(&self.unwritten.answers);
        self.unwritten.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        count.fetch_sub(1, Ordering::SeqCst);
        if self.unwritten.is_awaited.swap(false, Ordering::SeqCst) {
            self.unwritten.written.notify_one();
        }
    }
}

/// The messages of one exchange or event stream, in order; closed after the last.
pub(super) type Parts = UnboundedReceiver<Part>;

/// Where the messages of an exchange go.
#[derive(Debug)]
struct Stream {
    parts: UnboundedSender<Part>,
    ahead: Arc<AtomicUsize>,
    takes_notifications: bool,
}

/// What the peer has sent while it handles the current message.
#[derive(Debug, Default)]
struct Current {
    id: Option<Id>,
    said: Vec<Part>,
    ahead: Arc<AtomicUsize>,
}

/// The result of handling a message.
#[derive(Debug)]
pub(super) enum Exchange {
    /// Its answer.
    Answered(Outgoing),
    /// The answer comes later, perhaps after notifications.
    Waits(Parts),
    /// There is no answer.
    Nothing,
}

/// The exchanges and the event stream of one client.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    unwritten: Arc<Unwritten>,
    current: Option<Current>,
    requests: HashMap<Id, Stream>,
    batches: HashMap<BatchKey, Stream>,
    session: Option<Stream>,
}

impl Exchanges {
    pub(super) fn unwritten(&self) -> &Arc<Unwritten> {
        &self.unwritten
    }

    /// The peer is about to handle a message with this id. It handles no other until [`Self::end`].
    pub(super) fn begin(&mut self, id: Option<Id>) {
        self.current = Some(Current { id, ..Current::default() });
    }

    /// The peer has handled the message; `batch` identifies a batch that is not complete yet. Later output goes to the
    /// exchange that this returns.
    pub(super) fn end(&mut self, batch: Option<BatchKey>, takes_notifications: bool) -> Exchange {
        let Current { id, mut said, ahead } = self.current.take().unwrap_or_default();
        if let Some(Part::Answer(_)) = said.last()
            && let Some(Part::Answer(answer)) = said.pop()
        {
            return Exchange::Answered(answer);
        }
        let (parts, receiver) = unbounded_channel();
        for part in said {
            drop(parts.send(part));
        }
        let stream = Stream { parts, ahead, takes_notifications };
        match (batch, id) {
            (Some(key), _) => drop(self.batches.insert(key, stream)),
            (None, Some(id)) => drop(self.requests.insert(id, stream)),
            (None, None) => return Exchange::Nothing,
        }
        Exchange::Waits(receiver)
    }

    /// Opens the event stream of the session. An earlier one ends, as its connection may be dead without anyone
    /// noticing.
    pub(super) fn open_session_stream(&mut self) -> Parts {
        let (parts, receiver) = unbounded_channel();
        self.session = Some(Stream { parts, ahead: Arc::default(), takes_notifications: true });
        receiver
    }

    /// Ends the event stream of the session.
    pub(super) fn close_session_stream(&mut self) {
        self.session = None;
    }

    fn outgoing(&self, body: Body, held: Vec<Reservation>, ahead: Option<Arc<AtomicUsize>>) -> Outgoing {
        let bytes = body.memory();
        ahead.as_deref().unwrap_or(&self.unwritten.answers).fetch_add(1, Ordering::Relaxed);
        self.unwritten.bytes.fetch_add(bytes, Ordering::Relaxed);
        let counted = Counted { unwritten: Arc::clone(&self.unwritten), bytes, ahead };
        Outgoing { body, _held: held, _counted: counted }
    }

    /// Whether a message belongs to the one that the peer is handling.
    fn is_current(&self, to: Destination<'_>) -> bool {
        self.current.as_ref().is_some_and(|current| match to {
            Destination::Answer(None) => true,
            // A batch from before is answered on an event, not while another message is handled.
            Destination::Batch(key) => !self.batches.contains_key(&key),
            Destination::Answer(id) => id == current.id.as_ref(),
            Destination::Progress(id) | Destination::Stream(id) | Destination::StreamEnd(id) => {
                current.id.as_ref() == Some(id)
            }
            Destination::Session => false,
        })
    }

    fn stream(&self, to: Destination<'_>) -> Option<&Stream> {
        match to {
            Destination::Answer(id) => self.requests.get(id?),
            Destination::Batch(key) => self.batches.get(&key),
            Destination::Progress(id) | Destination::Stream(id) | Destination::StreamEnd(id) => self.requests.get(id),
            Destination::Session => self.session.as_ref(),
        }
    }
}

impl Sink for Exchanges {
    fn send(&mut self, to: Destination<'_>, body: Body, held: Vec<Reservation>) {
        let is_current = self.is_current(to);
        let ahead = match &self.current {
            Some(current) if is_current => Some(&current.ahead),
            _ => self.stream(to).map(|stream| &stream.ahead),
        };
        let part = match to {
            Destination::Answer(_) | Destination::Batch(_) | Destination::StreamEnd(_) => {
                Part::Answer(self.outgoing(body, held, None))
            }
            _ => Part::Notification(self.outgoing(body, held, ahead.cloned())),
        };
        match &mut self.current {
            Some(current) if is_current => current.said.push(part),
            // The client may be gone, and the receiver with it.
            _ => {
                if let Some(stream) = self.stream(to) {
                    drop(stream.parts.send(part));
                }
            }
        }
        if !is_current && !matches!(to, Destination::Progress(_) | Destination::Stream(_)) {
            self.dismiss(to);
        }
    }

    fn dismiss(&mut self, to: Destination<'_>) {
        match to {
            Destination::Answer(Some(id)) | Destination::StreamEnd(id) => drop(self.requests.remove(id)),
            Destination::Batch(key) => drop(self.batches.remove(&key)),
            _ => {}
        }
    }

    fn room(&self, to: Destination<'_>) -> usize {
        if self.is_current(to) {
            return AHEAD;
        }
        let stream = self.stream(to).filter(|stream| stream.takes_notifications && !stream.parts.is_closed());
        stream.map_or(0, |stream| AHEAD.saturating_sub(stream.ahead.load(Ordering::Relaxed)))
    }

    fn unwritten(&self) -> usize {
        self.unwritten.answers.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.unwritten.bytes.load(Ordering::Relaxed)
    }
}
