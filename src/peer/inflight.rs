//! Requests that are waiting or in progress.
//!
//! The rule of this module: a registered request is answered exactly once, by the code that takes it out of here. A
//! cancelled request is no longer here, so its late result is dropped.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use crate::call::Call;
use crate::jsonrpc::message::Id;
use crate::peer::batch::BatchKey;
use crate::protocol::Era;
use crate::runtime::cancel::Cancel;

/// Identifies one request of this process. Ids can be reused; tickets are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// A request that is owed an answer.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The id to echo.
    pub id: Id,
    /// The era whose rules the answer follows.
    pub era: Era,
    /// The batch that the answer belongs to.
    pub batch: Option<BatchKey>,
    /// Set when the client no longer wants the answer.
    pub cancel: Cancel,
}

/// A request that waits for a slot.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Its registration.
    pub ticket: Ticket,
    /// What to do.
    pub call: Call,
    /// The client's progress token.
    pub token: Option<Box<RawValue>>,
    /// The length of its line, which its arguments occupy.
    pub bytes: usize,
}

/// All unanswered requests.
#[derive(Debug, Default)]
pub(crate) struct Inflight {
    pending: HashMap<Ticket, Pending>,
    by_id: HashMap<Id, Ticket>,
    queue: VecDeque<Waiting>,
    bytes: usize,
    /// The latest call that was started of those that take effect in order.
    ordered: Option<Ticket>,
    next: u64,
}

impl Inflight {
    /// Whether a request with this id is unanswered.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        !self.by_id.is_empty() && self.by_id.contains_key(id)
    }

    /// Registers a request whose id is not in use.
    pub(crate) fn register(&mut self, id: Id, era: Era, batch: Option<BatchKey>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.by_id.insert(id.clone(), ticket);
        self.pending.insert(ticket, Pending { id, era, batch, cancel: Cancel::default() });
        ticket
    }

    /// Takes out a request to answer it; `None` if it was cancelled or answered.
    pub(crate) fn complete(&mut self, ticket: Ticket) -> Option<Pending> {
        let pending = self.pending.remove(&ticket)?;
        self.by_id.remove(&pending.id);
        Some(pending)
    }

    /// Takes out a request whose answer the client no longer wants, and tells its worker.
    pub(crate) fn cancel(&mut self, id: &Id) -> Option<Pending> {
        let ticket = *self.by_id.get(id)?;
        let pending = self.complete(ticket)?;
        pending.cancel.cancel();
        if let Some(at) = self.queue.iter().position(|waiting| waiting.ticket == ticket) {
            self.take_waiting(at);
        }
        Some(pending)
    }

    /// An unanswered request.
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Pending> {
        self.pending.get(&ticket)
    }

    /// Appends a registered request to the queue.
    pub(crate) fn enqueue(&mut self, waiting: Waiting) {
        self.bytes += waiting.bytes;
        self.queue.push_back(waiting);
    }

    /// Whether a request that arrives now may start: no earlier request has to start or finish first.
    pub(crate) fn may_begin(&self, call: &Call) -> bool {
        self.queue.is_empty() && !(call.keeps_order() && self.is_order_taken())
    }

    /// The request that has waited longest among those that may start.
    pub(crate) fn dequeue(&mut self) -> Option<Waiting> {
        let is_taken = self.is_order_taken();
        let at = self.queue.iter().position(|waiting| !(is_taken && waiting.call.keeps_order()))?;
        let waiting = self.take_waiting(at)?;
        if waiting.call.keeps_order() {
            self.ordered = Some(waiting.ticket);
        }
        Some(waiting)
    }

    /// Whether a call is in progress that must take effect before the next of its kind. A call that was cancelled or
    /// answered has no effect any more.
    fn is_order_taken(&self) -> bool {
        self.ordered.is_some_and(|ticket| self.pending.contains_key(&ticket))
    }

    fn take_waiting(&mut self, at: usize) -> Option<Waiting> {
        let waiting = self.queue.remove(at)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }

    /// How many requests wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// The bytes of input of the requests that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes out everything except what is to be `kept`, and tells the workers to stop.
    pub(crate) fn drain(&mut self, kept: impl Fn(Ticket) -> bool) -> Vec<Pending> {
        self.queue.clear();
        self.bytes = 0;
        let mut tickets: Vec<Ticket> = self.pending.keys().copied().filter(|ticket| !kept(*ticket)).collect();
        tickets.sort_by_key(|ticket| ticket.0);
        let all = tickets.into_iter().filter_map(|ticket| self.complete(ticket));
        all.inspect(|pending| pending.cancel.cancel()).collect()
    }

    /// Whether every request is answered.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::String(text.into())
    }

    #[test]
    fn a_cancelled_request_is_not_answered_and_its_id_is_free_again() {
        let mut inflight = Inflight::default();
        let first = inflight.register(id("a"), Era::Modern, None);
        assert!(inflight.contains(&id("a")));
        let cancel = inflight.cancel(&id("a")).expect("it is in progress").cancel;
        assert!(cancel.checkpoint());
        let second = inflight.register(id("a"), Era::Modern, None);
        assert!(inflight.complete(first).is_none());
        assert!(inflight.complete(second).is_some());
        assert!(inflight.complete(second).is_none());
        assert!(inflight.is_empty());
    }

    #[test]
    fn a_waiting_request_that_is_cancelled_leaves_the_queue() {
        let mut inflight = Inflight::default();
        for name in ["a", "b"] {
            let ticket = inflight.register(id(name), Era::Modern, None);
            inflight.enqueue(Waiting { ticket, call: Call::ListTools, token: None, bytes: 10 });
        }
        inflight.cancel(&id("a"));
        assert_eq!((inflight.queued(), inflight.bytes()), (1, 10));
        let left = inflight.dequeue().expect("b waits");
        assert_eq!(inflight.complete(left.ticket).map(|pending| pending.id), Some(id("b")));
        assert_eq!((inflight.queued(), inflight.bytes()), (0, 0));
    }

    #[test]
    fn what_keeps_order_begins_when_the_one_before_it_has_ended_and_holds_up_nothing_else() {
        let mut inflight = Inflight::default();
        let mut enqueue = |name: &str, call| {
            let ticket = inflight.register(id(name), Era::Modern, None);
            inflight.enqueue(Waiting { ticket, call, token: None, bytes: 1 });
        };
        let subscribe = || Call::Subscribe { uri: String::new() };
        enqueue("first", subscribe());
        enqueue("second", Call::Unsubscribe { uri: String::new() });
        enqueue("third", subscribe());
        enqueue("other", Call::ListTools);
        let begin = |inflight: &mut Inflight| {
            let waiting = inflight.dequeue()?;
            inflight.get(waiting.ticket).map(|pending| (waiting.ticket, pending.id.clone()))
        };
        let first = begin(&mut inflight).expect("it may begin");
        assert_eq!(first.1, id("first"));
        assert_eq!(begin(&mut inflight).map(|(_, id)| id), Some(id("other")));
        assert!(begin(&mut inflight).is_none());
        inflight.complete(first.0);
        assert_eq!(begin(&mut inflight).map(|(_, id)| id), Some(id("second")));
        assert!(!inflight.may_begin(&subscribe()) && begin(&mut inflight).is_none());
        inflight.cancel(&id("second"));
        assert_eq!(begin(&mut inflight).map(|(_, id)| id), Some(id("third")));
        assert!(!inflight.may_begin(&subscribe()) && inflight.may_begin(&Call::ListTools));
    }
}
