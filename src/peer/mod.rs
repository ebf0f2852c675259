//! One connection: the loop that reads, routes, starts work and is the only one to write.
//!
//! A request either ends where it is read (the handshake, errors, small reads that do not block), or it is
//! registered in [`Inflight`] and given to a thread of the pool, whose result comes back as an [`Event`]. Either way
//! it is answered here, once: [`Connection::answer`] has no other caller for a ticket than who took it out.
//!
//! | module | holds |
//! | --- | --- |
//! | [`work`] | starting the work of a request, and what comes of it |
//! | [`watchdog`] | who works, and who is stuck |
//! | [`news`] | what the client hears without asking: subscriptions and streams |
//!
//! Everything is bounded ([`Limits`](crate::limits::Limits)): work in progress, waiting requests, answers that the
//! client does not take. When all places are taken, cancellations and pings are still heard; when the queue is full
//! too, stdin is left unread until there is room.

pub mod batch;
pub mod inflight;
mod notifications;
pub mod subscriptions;
mod watchdog;
mod work;

use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use self::watchdog::Watchdog;
use self::work::Event;
use crate::jsonrpc::body::Body;
use crate::jsonrpc::error::{Error, INTERNAL_ERROR, INVALID_REQUEST};
use crate::jsonrpc::message::{self, Id, Message, Request};
use crate::log;
use crate::object::{self, Array};
use crate::peer::batch::{BatchKey, Batches};
use crate::peer::inflight::Inflight;
use crate::peer::subscriptions::Subscribers;
use crate::protocol::{self, Routed, Session, encode};
use crate::runtime::memory::Reservation;
use crate::server::Server;
use crate::transport::stdio::drain::Ending;
use crate::transport::stdio::lines::{Line, LineReader};
use crate::transport::stdio::outbox::{Answer, Outbox};

/// Lines handled before what they came to is written.
const COALESCED: usize = 32;

/// Serves one connection until its input ends and what it asked for is answered. Then `closed` tells that the client
/// does not want that any more.
pub(crate) async fn serve<R, W>(server: Server, input: R, output: W, closed: impl Future<Output = ()>) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let lines = LineReader::new(input, server.services.limits.line_bytes);
    let (events_in, events) = mpsc::unbounded_channel();
    let changes = events_in.clone();
    server.services.watch.connect(move |change| drop(changes.send(Event::Changed(change))));
    let watchdog = Watchdog::new(server.services.limits.io_time, server.services.limits.left_behind);
    let subscribers = Subscribers::new(server.services.limits.held_bytes / 4);
    let connection = Connection {
        server,
        session: Session::default(),
        inflight: Inflight::default(),
        batches: Batches::default(),
        watchdog,
        subscribers,
        outbox: Outbox::new(output),
        events_in,
    };
    connection.run(lines, events, std::pin::pin!(closed)).await
}

/// One connection's state.
struct Connection<W> {
    server: Server,
    session: Session,
    inflight: Inflight,
    batches: Batches,
    watchdog: Watchdog,
    /// Who hears of changes.
    subscribers: Subscribers,
    outbox: Outbox<W>,
    events_in: UnboundedSender<Event>,
}

impl<W: AsyncWrite + Unpin> Connection<W> {
    async fn run<R: AsyncRead + Unpin>(
        mut self,
        mut lines: LineReader<R>,
        mut events: UnboundedReceiver<Event>,
        mut closed: Pin<&mut impl Future<Output = ()>>,
    ) -> io::Result<()> {
        let mut ending: Option<Ending> = None;
        loop {
            let all_handled = self.handle_lines(&mut lines);
            self.start_waiting();
            self.send_news();
            if ending.as_ref().is_some_and(Ending::is_over) {
                self.give_up();
            }
            if ending.is_some() && all_handled {
                self.end_streams();
            }
            let finished = self.inflight.is_empty() && !self.outbox.is_pending();
            if ending.is_some() && all_handled && finished {
                return Ok(());
            }
            tokio::select! {
                written = self.outbox.write(), if self.outbox.is_pending() => {
                    written?;
                    if let Some(ending) = &mut ending {
                        ending.last_write = Instant::now();
                    }
                }
                Some(event) = events.recv() => {
                    self.on_event(event);
                    while let Ok(event) = events.try_recv() {
                        self.on_event(event);
                    }
                }
                () = self.watchdog.next_look(), if !self.watchdog.is_empty() => self.fail_timed_out_work(),
                more = lines.fill(), if ending.is_none() && all_handled && self.has_room() => {
                    if !more? {
                        ending = Some(Ending::within(self.server.services.limits.search_time));
                    }
                }
                // More lines are here already; what came of those so far is written first, where the client takes it.
                () = std::future::ready(()), if !all_handled && self.has_room() => {}
                () = closed.as_mut(), if ending.is_some() => return Err(io::ErrorKind::BrokenPipe.into()),
                () = Ending::patience(ending.as_ref(), !self.inflight.is_empty()), if ending.is_some() => {
                    if self.inflight.is_empty() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
            }
        }
    }

    /// Answers what is not done: the input has ended, and the time that work may take after that is over. What is
    /// blocked in a file system gets the answer that says so, when its own time is over.
    fn give_up(&mut self) {
        for pending in self.inflight.drain(|ticket| self.watchdog.seems_blocked(ticket)) {
            let error = Error::new(INTERNAL_ERROR, "The server is shutting down.");
            self.settle(pending.batch, Some(encode::error(Some(&pending.id), false, &error)), Vec::new());
        }
    }

    /// Handles lines that were read, as long as there is room; `true` when none is left.
    fn handle_lines<R: AsyncRead + Unpin>(&mut self, lines: &mut LineReader<R>) -> bool {
        for _ in 0..COALESCED {
            if !self.has_room() {
                return false;
            }
            match lines.buffered() {
                Some(Line::Text(line)) => self.handle(line),
                Some(Line::TooLong) => {
                    let limit = self.server.services.limits.line_bytes;
                    self.refuse(&format!("The line is longer than {limit} bytes."));
                }
                None => return true,
            }
        }
        false
    }

    fn handle(&mut self, line: &[u8]) {
        tracing::trace!(target: "mcp_fs::wire", "-> {}", log::shown(line, line.len()));
        match message::parse(line) {
            Message::Batch(batch) => self.handle_batch(&batch),
            message => self.handle_message(message, line.len(), None),
        }
    }

    fn handle_message(&mut self, message: Message<'_>, bytes: usize, batch: Option<BatchKey>) {
        match message {
            Message::Request(request) => self.handle_request(&request, bytes, batch),
            Message::Notification(notification) => {
                if let Some(id) = protocol::on_notification(&mut self.session, &notification) {
                    self.cancel(&id);
                }
            }
            Message::Response => {}
            Message::Malformed(id, error) => {
                self.owe(batch);
                let body = encode::error(id.as_ref(), self.session.writes_null_id(), &error);
                self.settle(batch, Some(body), Vec::new());
            }
            Message::Batch(_) => {
                self.owe(batch);
                self.settle_error(batch, None, INVALID_REQUEST, "A batch cannot hold a batch.");
            }
        }
    }

    fn cancel(&mut self, id: &Id) {
        match self.inflight.cancel(id) {
            Some(pending) => self.settle(pending.batch, None, Vec::new()),
            None => self.subscribers.close(id),
        }
    }

    fn handle_batch(&mut self, batch: &Array<'_>) {
        let most = self.server.services.limits.batch;
        if !self.session.has_batches() {
            return self.refuse("Batches are part of 2025-03-26 and 2024-11-05 only.");
        }
        if batch.length == 0 || batch.length > most {
            return self.refuse(&format!("A batch holds 1 to {most} messages."));
        }
        let key = self.batches.open();
        for item in &batch.items {
            self.handle_message(message::item(item), item.get().len(), Some(key));
        }
        self.settle(Some(key), None, Vec::new());
    }

    fn handle_request(&mut self, request: &Request<'_>, bytes: usize, batch: Option<BatchKey>) {
        self.owe(batch);
        if self.inflight.contains(&request.id) || self.subscribers.has_stream(&request.id) {
            let message = "A request with this id is in progress; use another id.";
            return self.settle_error(batch, Some(&request.id), INVALID_REQUEST, message);
        }
        tracing::debug!("{} {}", request.id, object::shortened(&request.method));
        let (era, routed) = protocol::route(&mut self.session, request, batch.is_some());
        match routed {
            Routed::Answer(Ok(reply)) => {
                let body = encode::result(&request.id, era, reply, &self.server.info);
                self.settle(batch, Some(body), Vec::new());
            }
            Routed::Answer(Err(error)) => {
                self.settle(batch, Some(encode::error(Some(&request.id), false, &error)), Vec::new());
            }
            Routed::Call(call, token) => self.begin(request.id.clone(), era, batch, call, token, bytes),
        }
    }

    /// Notes that a batch owes one more answer.
    fn owe(&mut self, batch: Option<BatchKey>) {
        if let Some(key) = batch {
            self.batches.owe(key);
        }
    }

    /// Sends an answer, or adds it to its batch and sends that when it is complete. Without a body nothing is said.
    fn settle(&mut self, batch: Option<BatchKey>, body: Option<Body>, held: Vec<Reservation>) {
        let complete = match batch {
            Some(key) => self.batches.settle(key, body, held),
            None => body.map(|body| (body, held)),
        };
        if let Some((body, held)) = complete {
            self.send(body, held);
        }
    }

    fn settle_error(&mut self, batch: Option<BatchKey>, id: Option<&Id>, code: i32, message: &str) {
        let body = encode::error(id, self.session.writes_null_id(), &Error::new(code, message));
        self.settle(batch, Some(body), Vec::new());
    }

    fn refuse(&mut self, message: &str) {
        self.settle_error(None, None, INVALID_REQUEST, message);
    }

    fn send(&mut self, body: Body, held: Vec<Reservation>) {
        self.push(body, |body| Answer::new(body, held));
    }

    fn push(&mut self, mut body: Body, answer: impl FnOnce(Body) -> Answer) {
        if tracing::enabled!(target: "mcp_fs::wire", tracing::Level::TRACE) {
            tracing::trace!(target: "mcp_fs::wire", "<- {}", log::shown(&body.head(log::SHOWN), body.len()));
        }
        body.end_line();
        self.outbox.push(answer(body));
    }

    /// Whether one more line may be read.
    fn has_room(&self) -> bool {
        let limits = &self.server.services.limits;
        let (asked, unwritten) = (self.inflight.bytes() + self.watchdog.bytes(), self.outbox.bytes());
        self.inflight.queued() < limits.queued
            && asked < limits.queued_bytes
            && self.outbox.unwritten() < limits.in_flight + limits.queued
            && (unwritten as u64) < limits.answer_bytes
            && asked + unwritten + self.batches.bytes() + self.subscribers.bytes() < limits.held_bytes
    }
}
