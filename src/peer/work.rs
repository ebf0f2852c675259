//! Doing what was asked for: at once where that is quick, else on a thread of the pool; and what comes of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::io::AsyncWrite;

use super::Connection;
use crate::call::{Call, Failure, Outbound, Outcome};
use crate::context::{Context, Progress};
use crate::dispatch::{self, Inline};
use crate::features::watch::Change;
use crate::jsonrpc::message::Id;
use crate::peer::batch::BatchKey;
use crate::peer::inflight::{Pending, Ticket, Waiting};
use crate::protocol::{Era, encode};
use crate::runtime::cancel::Cancel;
use crate::runtime::memory::Reservation;
use crate::server::Dispatch;

/// What other threads tell the loop.
pub(super) enum Event {
    Done { ticket: Ticket, result: Result<Outcome, Failure>, held: Vec<Reservation> },
    Say(Ticket, Outbound),
    Changed(Change),
}

impl<W: AsyncWrite + Unpin> Connection<W> {
    /// Does a quick call on the spot; registers any other, to be started when there is a place.
    pub(super) fn begin(
        &mut self,
        id: Id,
        era: Era,
        batch: Option<BatchKey>,
        call: Call,
        token: Option<Box<RawValue>>,
        bytes: usize,
    ) {
        if self.has_place()
            && self.inflight.may_begin(&call)
            && let Some(context) = self.inline_context(&call)
        {
            let result = run(&*self.server.dispatch, &call, &context);
            return self.answer(&id, era, batch, result, context.take_reservations());
        }
        let ticket = self.inflight.register(id, era, batch);
        self.inflight.enqueue(Waiting { ticket, call, token, bytes });
        self.start_waiting();
    }

    /// What a call has at hand that is served on this thread; `None` where it must not be.
    fn inline_context(&self, call: &Call) -> Option<Context> {
        let context = Context::new(Arc::clone(&self.server.services), Cancel::default(), None);
        match dispatch::inline(call, context.root()) {
            Inline::Always => Some(context.inline(None)),
            Inline::SmallFile(path) => {
                let file = context.root().read_cached(&path)?;
                Some(context.inline(Some(file)))
            }
            Inline::Never => None,
        }
    }

    /// Gives waiting requests to the pool, as long as there are places.
    pub(super) fn start_waiting(&mut self) {
        self.reject_queued();
        while self.has_place() && self.inflight.queued() > 0 {
            let Some(thread) = self.server.pool.thread(self.watchdog.count()) else {
                if self.watchdog.any_at_work() {
                    return; // one of them does it when it is done
                }
                self.say_no_thread();
                continue;
            };
            let Some(Waiting { ticket, call, token, bytes }) = self.inflight.dequeue() else { return };
            let Some(pending) = self.inflight.get(ticket) else { continue };
            let say = self.events_in.clone();
            let progress = token.map(|token| Progress::new(token, move |it| drop(say.send(Event::Say(ticket, it)))));
            let context = Context::new(Arc::clone(&self.server.services), pending.cancel.clone(), progress)
                .in_batch(pending.batch.is_some());
            let dispatch = Arc::clone(&self.server.dispatch);
            let done = self.events_in.clone();
            let call = Arc::new(call);
            self.watchdog.begin(ticket, Arc::clone(&call), bytes, pending.cancel.clone(), Arc::clone(context.held()));
            // Its end comes as an event, and a send fails only when the loop has ended.
            thread.start(move || {
                let result = run(&*dispatch, &call, &context);
                drop(done.send(Event::Done { ticket, result, held: context.take_reservations() }));
            });
        }
    }

    pub(super) fn on_event(&mut self, event: Event) {
        match event {
            Event::Done { ticket, result, held } => {
                self.watchdog.end(ticket);
                self.apply_mount_policy();
                if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
                    self.answer(&id, era, batch, result, held);
                }
            }
            Event::Say(ticket, outbound) => {
                // Where answers wait to be read, progress is no news.
                if let Some(pending) = self.inflight.get(ticket).filter(|_| !self.outbox.is_pending()) {
                    self.send(encode::notification(pending.era, None, &outbound), Vec::new());
                }
            }
            Event::Changed(change) => self.subscribers.note(&change),
        }
    }

    /// Answers a request that was taken out of [`Inflight`](crate::inflight::Inflight), or never was in it.
    fn answer(
        &mut self,
        id: &Id,
        era: Era,
        batch: Option<BatchKey>,
        result: Result<Outcome, Failure>,
        held: Vec<Reservation>,
    ) {
        let body = match result.and_then(|outcome| self.take_up(id, era, outcome)) {
            Ok(None) => return, // a stream: it is answered when it ends
            Ok(Some(reply)) => Some(encode::result(id, era, reply, &self.server.info)),
            Err(failure) => era.error(failure).map(|error| encode::error(Some(id), false, &error)),
        };
        self.settle(batch, body, held);
    }

    /// Whether one more request may be worked on: a place is held until the answer is written.
    pub(super) fn has_place(&self) -> bool {
        self.watchdog.places() + self.outbox.unwritten() < self.server.services.limits.in_flight
    }

    /// Answers for those that are stuck in a file system, and goes on without them.
    pub(super) fn fail_timed_out_work(&mut self) {
        let after = self.server.services.limits.io_time;
        for (ticket, call) in self.watchdog.take_timed_out() {
            tracing::warn!("a file system has not answered for {} s; a thread is left behind in it", after.as_secs());
            self.fail_timed_out(ticket, &call);
        }
        self.apply_mount_policy();
    }

    /// Answers in the place of work that does not, unless nobody wants the answer any more.
    fn fail_timed_out(&mut self, ticket: Ticket, call: &Call) {
        if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
            let result = dispatch::timed_out(call, self.server.services.limits.io_time);
            self.answer(&id, era, batch, result, Vec::new());
        }
    }

    /// Answers the next request for which there is no thread.
    fn say_no_thread(&mut self) {
        let Some(Waiting { ticket, call, .. }) = self.inflight.dequeue() else { return };
        tracing::error!("the system has no thread for a request (ulimit -u, or the container's limit of processes)");
        if let Some(Pending { id, era, batch, .. }) = self.inflight.complete(ticket) {
            self.answer(&id, era, batch, dispatch::no_thread(&call), Vec::new());
        }
    }

    fn apply_mount_policy(&self) {
        self.server.services.root.avoid(self.watchdog.others());
    }

    /// Where all places are taken for good, who waits for one is told so.
    fn reject_queued(&mut self) {
        while self.watchdog.stuck_places() >= self.server.services.limits.in_flight {
            let Some(Waiting { ticket, call, .. }) = self.inflight.dequeue() else { return };
            self.fail_timed_out(ticket, &call);
        }
    }
}

/// Does the work; a panic in it is this request's failure and nobody else's.
fn run(dispatch: &Dispatch, call: &Call, context: &Context) -> Result<Outcome, Failure> {
    catch_unwind(AssertUnwindSafe(|| dispatch(call, context))).unwrap_or_else(|_| {
        tracing::error!("a request panicked; this is a bug in mcp-fs");
        Err(Failure::Internal("The server failed on this request; it goes on with others.".to_owned()))
    })
}
