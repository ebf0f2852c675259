//! A peer: one client, whatever its transport. It holds what belongs to that client alone: the negotiated revision,
//! requests in progress, open batches, subscriptions.
//!
//! A transport passes it messages ([`Peer::receive`]) and events ([`Peer::on_event`]), and writes its output, which
//! comes through a [`Sink`]. A request is either answered where it is received (the handshake, errors, small reads that
//! cannot block), or registered in [`Inflight`] and submitted to the [`Server`], which reports completion as an
//! [`Event`]. Either way it is answered once, by the code that takes it out of [`Inflight`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`sink`] | where a peer's messages go |
//! | [`work`] | starting the work of a request, and handling its result |
//! | [`inflight`], [`batch`] | unanswered requests and batches |
//! | [`subscriptions`], [`notifications`] | what the client hears without asking each time |
//!
//! Everything is bounded ([`Limits`](crate::limits::Limits)). When all slots are taken, cancellations and pings are
//! still handled. When the queue is full as well, [`Peer::has_room`] says so, and the transport stops reading.

pub(crate) mod batch;
pub(crate) mod inflight;
mod notifications;
pub(crate) mod sink;
pub(crate) mod subscriptions;
mod work;

use std::sync::Arc;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use self::batch::{BatchKey, Batches};
use self::inflight::Inflight;
use self::sink::{Destination, Sink};
use self::subscriptions::Subscriptions;
pub(crate) use self::work::Event;
use self::work::Running;
use crate::jsonrpc::body::Body;
use crate::jsonrpc::error::{Error, INTERNAL_ERROR, INVALID_REQUEST};
use crate::jsonrpc::message::{self, Id, Message, Request};
use crate::log;
use crate::object::{self, Array};
use crate::protocol::revision::Revision;
use crate::protocol::{self, Routed, Session, encode};
use crate::runtime::memory::{Budget, Reservation};
use crate::server::Server;
use crate::services::watch::WatchClient;

/// Events from other threads, to be passed to [`Peer::on_event`].
pub(crate) type Events = UnboundedReceiver<Event>;

/// One client.
pub(crate) struct Peer<S> {
    server: Arc<Server>,
    sink: S,
    session: Session,
    inflight: Inflight,
    running: Running,
    /// Its share of the memory for answers.
    budget: Arc<Budget>,
    batches: Batches,
    subscriptions: Subscriptions,
    events_in: UnboundedSender<Event>,
}

impl<S: Sink> Peer<S> {
    /// A client that has not sent anything yet.
    pub(crate) fn new(server: Arc<Server>, sink: S) -> (Self, Events) {
        let (events_in, events) = mpsc::unbounded_channel();
        let changes = events_in.clone();
        let watch = WatchClient::new(Arc::clone(&server.services().watch), move |change| {
            drop(changes.send(Event::Changed(change)));
        });
        let subscriptions = Subscriptions::new(watch, server.limits().held_bytes / 4);
        let peer = Self {
            budget: server.share_of_memory(),
            server,
            sink,
            session: Session::default(),
            inflight: Inflight::default(),
            running: Running::default(),
            batches: Batches::default(),
            subscriptions,
            events_in,
        };
        (peer, events)
    }

    /// Where its messages go.
    pub(crate) fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// The server behind it.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Handles a message of `bytes` bytes. Returns the key of a batch that is not complete yet.
    pub(crate) fn receive(&mut self, message: Message<'_>, bytes: usize) -> Option<BatchKey> {
        match message {
            Message::Batch(batch) => self.receive_batch(&batch).filter(|key| self.batches.is_open(*key)),
            message => {
                self.receive_one(message, bytes, None);
                None
            }
        }
    }

    /// Starts waiting requests and sends due notifications. To be called after messages and events.
    pub(crate) fn advance(&mut self) {
        self.start_waiting();
        self.notify();
    }

    /// Whether a request of this id is unanswered or has an open stream.
    pub(crate) fn is_in_progress(&self, id: &Id) -> bool {
        self.inflight.contains(id) || self.subscriptions.has_stream(id)
    }

    /// The client no longer wants the answer to the request of this id, or messages on its stream.
    pub(crate) fn cancel(&mut self, id: &Id) {
        match self.inflight.cancel(id) {
            Some(pending) => self.settle(pending.batch, Some(id), None, Vec::new()),
            None => self.subscriptions.close(id),
        }
        self.sink.dismiss(Destination::Answer(Some(id)));
    }

    /// The client no longer wants any answers.
    pub(crate) fn cancel_all(&mut self) {
        for pending in self.inflight.drain(|_| false) {
            self.settle(pending.batch, Some(&pending.id), None, Vec::new());
            self.sink.dismiss(Destination::Answer(Some(&pending.id)));
        }
    }

    /// The revision negotiated by `initialize`; `None` before it.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.session.revision()
    }

    /// Whether every request is answered. Streams may be open.
    pub(crate) fn is_idle(&self) -> bool {
        self.inflight.is_empty()
    }

    /// Whether requests or changes wait until more output is written.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.inflight.queued() > 0 || self.subscriptions.has_changes()
    }

    /// Whether another message may be read.
    pub(crate) fn has_room(&self) -> bool {
        let limits = self.server.limits();
        let (asked, unwritten) = (self.inflight.bytes() + self.running.bytes(), self.sink.bytes());
        self.inflight.queued() < limits.queued
            && asked < limits.queued_bytes
            && self.sink.unwritten() < limits.in_flight + limits.queued
            && (unwritten as u64) < limits.answer_bytes
            && asked + unwritten + self.batches.bytes() + self.subscriptions.bytes() < limits.held_bytes
    }

    /// Answers what is not done when the time for it is over. Work that is blocked in a file system is answered by its
    /// own timeout instead.
    pub(crate) fn shut_down(&mut self) {
        let (running, watchdog) = (&self.running, self.server.watchdog());
        let is_blocked = |ticket| running.work_id(ticket).is_some_and(|work| watchdog.seems_blocked(work));
        for pending in self.inflight.drain(is_blocked) {
            let error = Error::new(INTERNAL_ERROR, "The server is shutting down.");
            let body = encode::error(Some(&pending.id), false, &error);
            self.settle(pending.batch, Some(&pending.id), Some(body), Vec::new());
        }
    }

    /// Rejects a message that could not be read.
    pub(crate) fn refuse(&mut self, why: &str) {
        self.settle_error(None, None, INVALID_REQUEST, why);
    }

    fn receive_one(&mut self, message: Message<'_>, bytes: usize, batch: Option<BatchKey>) {
        match message {
            Message::Request(request) => self.receive_request(&request, bytes, batch),
            Message::Notification(notification) => {
                if let Some(id) = protocol::on_notification(&mut self.session, &notification) {
                    self.cancel(&id);
                }
            }
            Message::Response => {}
            Message::Malformed(id, error) => {
                self.owe(batch);
                let body = encode::error(id.as_ref(), self.session.writes_null_id(), &error);
                self.settle(batch, id.as_ref(), Some(body), Vec::new());
            }
            Message::Batch(_) => {
                self.owe(batch);
                self.settle_error(batch, None, INVALID_REQUEST, "A batch cannot contain a batch.");
            }
        }
    }

    fn receive_batch(&mut self, batch: &Array<'_>) -> Option<BatchKey> {
        let most = self.server.limits().batch;
        if !self.session.has_batches() {
            self.refuse("Batches exist only in 2025-03-26 and 2024-11-05.");
            return None;
        }
        if batch.length == 0 || batch.length > most {
            self.refuse(&format!("A batch must have 1 to {most} messages."));
            return None;
        }
        let key = self.batches.open();
        for item in &batch.items {
            self.receive_one(message::item(item), item.get().len(), Some(key));
        }
        self.settle(Some(key), None, None, Vec::new());
        Some(key)
    }

    fn receive_request(&mut self, request: &Request<'_>, bytes: usize, batch: Option<BatchKey>) {
        self.owe(batch);
        if self.is_in_progress(&request.id) {
            let message = "A request with this id is in progress; use another id.";
            return self.settle_error(batch, Some(&request.id), INVALID_REQUEST, message);
        }
        tracing::debug!("{} {}", request.id, object::shortened(&request.method));
        let (era, routed) = protocol::route(&mut self.session, request, batch.is_some());
        let body = match routed {
            Routed::Answer(Ok(reply)) => encode::result(&request.id, era, reply, self.server.info()),
            Routed::Answer(Err(error)) => encode::error(Some(&request.id), false, &error),
            Routed::Call(call, token) => return self.begin(request.id.clone(), era, batch, call, token, bytes),
        };
        self.settle(batch, Some(&request.id), Some(body), Vec::new());
    }

    /// Records that a batch needs one more answer.
    fn owe(&mut self, batch: Option<BatchKey>) {
        if let Some(key) = batch {
            self.batches.owe(key);
        }
    }

    /// Sends an answer, or adds it to its batch and sends that when it is complete. Without a body, nothing is sent.
    fn settle(&mut self, batch: Option<BatchKey>, id: Option<&Id>, body: Option<Body>, held: Vec<Reservation>) {
        let (to, complete) = match batch {
            Some(key) => (Destination::Batch(key), self.batches.settle(key, body, held)),
            None => (Destination::Answer(id), body.map(|body| (body, held))),
        };
        match complete {
            Some((body, held)) => self.send(to, body, held),
            None if batch.is_some_and(|key| !self.batches.is_open(key)) => self.sink.dismiss(to),
            None => {}
        }
    }

    fn settle_error(&mut self, batch: Option<BatchKey>, id: Option<&Id>, code: i32, message: &str) {
        let body = encode::error(id, self.session.writes_null_id(), &Error::new(code, message));
        self.settle(batch, id, Some(body), Vec::new());
    }

    fn send(&mut self, to: Destination<'_>, body: Body, held: Vec<Reservation>) {
        send(&mut self.sink, to, body, held);
    }
}

fn send(sink: &mut impl Sink, to: Destination<'_>, body: Body, held: Vec<Reservation>) {
    if tracing::enabled!(target: "mcp_fs::wire", tracing::Level::TRACE) {
        tracing::trace!(target: "mcp_fs::wire", "<- {}", log::shown(&body.head(log::SHOWN), body.len()));
    }
    sink.send(to, body, held);
}

/// The client is gone, so its work need not be done.
impl<S> Drop for Peer<S> {
    fn drop(&mut self) {
        drop(self.inflight.drain(|_| false));
    }
}

impl<S> std::fmt::Debug for Peer<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("session", &self.session).finish_non_exhaustive()
    }
}
