//! Doing the work of a request, inline where nothing can block and otherwise on a thread, and handling its result.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::Peer;
use super::batch::BatchKey;
use super::inflight::{Pending, Ticket, Waiting};
use super::sink::{Destination, Sink};
use crate::call::{Call, Failure, Outbound, Outcome};
use crate::jsonrpc::message::Id;
use crate::protocol::{Era, encode};
use crate::runtime::memory::Reservation;
use crate::runtime::watchdog::{Verdict, WorkId};
use crate::server::{Completion, Job, Server};
use crate::services::context::Progress;
use crate::services::watch::Change;

/// What other threads report to a peer.
#[derive(Debug)]
pub(crate) enum Event {
    /// The result of a request's work.
    Completed(Ticket, Completion),
    /// The progress of a request's work.
    Progress(Ticket, Outbound),
    /// A change that the client may want to hear about.
    Changed(Change),
}

/// The peer's work on threads, including that of requests which have been cancelled or answered.
#[derive(Debug, Default)]
pub(super) struct Running {
    all: HashMap<Ticket, Work>,
    /// Bytes of the requests in progress, except for blocked ones: their threads may never return, and would otherwise
    /// stop input for ever.
    bytes: usize,
    /// How many are blocked and keep their slot, and how many have released it.
    blocked: usize,
    left_behind: usize,
}

#[derive(Debug)]
struct Work {
    id: WorkId,
    call: Arc<Call>,
    bytes: usize,
    verdict: Option<Verdict>,
}

impl<S: Sink> Peer<S> {
    /// Runs a quick call inline. Registers any other, to be started when there is a slot.
    pub(super) fn begin(
        &mut self,
        id: Id,
        era: Era,
        batch: Option<BatchKey>,
        call: Call,
        token: Option<Box<RawValue>>,
        bytes: usize,
    ) {
        if self.has_slot()
            && self.inflight.may_begin(&call)
            && let Some(result) = self.server.inline(&call)
        {
            return self.answer(&id, era, batch, result, Vec::new());
        }
        let ticket = self.inflight.register(id, era, batch);
        self.inflight.enqueue(Waiting { ticket, call, token, bytes });
        self.start_waiting();
    }

    /// Submits waiting requests to the server while there are slots.
    pub(super) fn start_waiting(&mut self) {
        self.reject_queued();
        while self.has_slot() && self.inflight.queued() > 0 {
            // A call whose kind takes effect in order may have to wait for an earlier one.
            let Some(Waiting { ticket, call, token, bytes }) = self.inflight.dequeue() else { return };
            let Some(thread) = self.server.thread() else {
                self.fail_without_thread(ticket, &call);
                continue;
            };
            let Some(pending) = self.inflight.get(ticket) else { continue };
            let call = Arc::new(call);
            let job = Job {
                call: Arc::clone(&call),
                cancel: pending.cancel.clone(),
                progress: token.map(|token| self.progress(ticket, token)),
                in_batch: pending.batch.is_some(),
                budget: Arc::clone(&self.budget),
            };
            let events = self.events_in.clone();
            // Sending fails only if the peer is gone.
            let tell = move |completion| drop(events.send(Event::Completed(ticket, completion)));
            let id = self.server.submit(thread, job, tell);
            self.running.begin(ticket, Work { id, call, bytes, verdict: None });
        }
    }

    fn progress(&self, ticket: Ticket, token: Box<RawValue>) -> Progress {
        let events = self.events_in.clone();
        Progress::new(token, move |outbound| drop(events.send(Event::Progress(ticket, outbound))))
    }

    /// Handles an event.
    pub(crate) fn on_event(&mut self, event: Event) {
        match event {
            Event::Completed(ticket, Completion::Done(result, held)) => {
                self.running.end(ticket);
                if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
                    self.answer(&id, era, batch, result, held);
                }
            }
            Event::Completed(ticket, Completion::Blocked(verdict)) => {
                if let Some(call) = self.running.blocked(ticket, verdict) {
                    self.fail_timed_out(ticket, &call);
                }
            }
            Event::Progress(ticket, outbound) => {
                let Some(pending) = self.inflight.get(ticket) else { return };
                if self.sink.room(Destination::Progress(&pending.id)) > 0 {
                    let (id, body) = (pending.id.clone(), encode::notification(pending.era, None, &outbound));
                    self.send(Destination::Progress(&id), body, Vec::new());
                }
            }
            Event::Changed(change) => self.subscriptions.note(&change),
        }
    }

    /// Whether there is work in progress, which may be blocked.
    pub(crate) fn has_work(&self) -> bool {
        !self.running.all.is_empty()
    }

    /// Answers a request that was taken out of [`Inflight`](super::inflight::Inflight) or was never in it.
    fn answer(
        &mut self,
        id: &Id,
        era: Era,
        batch: Option<BatchKey>,
        result: Result<Outcome, Failure>,
        held: Vec<Reservation>,
    ) {
        let body = match result.and_then(|outcome| self.take_effect(id, era, outcome)) {
            Ok(None) => return, // a stream: it is answered when it ends
            Ok(Some(reply)) => Some(encode::result(id, era, reply, self.server.info())),
            Err(failure) => era.error(failure).map(|error| encode::error(Some(id), false, &error)),
        };
        self.settle(batch, Some(id), body, held);
    }

    /// Whether there is a slot for another request. A slot is held until the answer is written.
    fn has_slot(&self) -> bool {
        self.running.slots() + self.sink.unwritten() < self.server.limits().in_flight
    }

    /// Answers in place of work that is blocked, unless the client no longer wants the answer.
    fn fail_timed_out(&mut self, ticket: Ticket, call: &Call) {
        if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
            let result = self.server.timed_out(call);
            self.answer(&id, era, batch, result, Vec::new());
        }
    }

    /// Fails a request for which there is no thread.
    fn fail_without_thread(&mut self, ticket: Ticket, call: &Call) {
        tracing::error!("no thread for a request: the process limit is reached (ulimit -u), or all threads are stuck");
        if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
            self.answer(&id, era, batch, Server::without_thread(call), Vec::new());
        }
    }

    /// If blocked work holds all slots for good, fails the requests that wait for one.
    fn reject_queued(&mut self) {
        while self.running.blocked >= self.server.limits().in_flight {
            let Some(Waiting { ticket, call, .. }) = self.inflight.dequeue() else { return };
            self.fail_timed_out(ticket, &call);
        }
    }
}

impl Running {
    fn begin(&mut self, ticket: Ticket, mut work: Work) {
        work.bytes *= 2; // the arguments as they came, and as they are read
        self.bytes += work.bytes;
        self.all.insert(ticket, work);
    }

    fn end(&mut self, ticket: Ticket) {
        let Some(work) = self.all.remove(&ticket) else { return };
        match work.verdict {
            None => self.bytes -= work.bytes,
            Some(Verdict::TimedOut) => self.blocked -= 1,
            Some(Verdict::LeftBehind) => self.left_behind -= 1,
        }
    }

    /// Returns the call whose request is to be answered, at the first verdict only.
    fn blocked(&mut self, ticket: Ticket, verdict: Verdict) -> Option<Arc<Call>> {
        let work = self.all.get_mut(&ticket)?;
        let before = work.verdict.replace(verdict);
        match before {
            None => self.bytes -= work.bytes,
            Some(Verdict::TimedOut) => self.blocked -= 1,
            Some(Verdict::LeftBehind) => self.left_behind -= 1,
        }
        match verdict {
            Verdict::TimedOut => self.blocked += 1,
            Verdict::LeftBehind => self.left_behind += 1,
        }
        before.is_none().then(|| Arc::clone(&work.call))
    }

    /// How many slots are held.
    fn slots(&self) -> usize {
        self.all.len() - self.left_behind
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The server's id of a request's work.
    pub(super) fn work_id(&self, ticket: Ticket) -> Option<WorkId> {
        self.all.get(&ticket).map(|work| work.id)
    }
}
