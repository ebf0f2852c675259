//! Requests in progress, waiting requests, and those that may still be answered.
//!
//! The rule of this file: a registered request is answered exactly once, by the code that takes it out of here. A
//! cancelled request is no longer in here, so its late result is dropped.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use crate::call::Call;
use crate::jsonrpc::message::Id;
use crate::peer::batch::BatchKey;
use crate::protocol::Era;
use crate::runtime::cancel::Cancel;

/// Names one request of this process; ids can be used again, tickets are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// A request that is owed an answer.
#[derive(Debug)]
pub(crate) struct Pending {
    /// To be echoed.
    pub id: Id,
    /// Whose rules its answer follows.
    pub era: Era,
    /// The batch that its answer is part of.
    pub batch: Option<BatchKey>,
    /// Set when the client no longer wants the answer.
    pub cancel: Cancel,
}

/// A request that waits for a place.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Where it is registered.
    pub ticket: Ticket,
    /// What is to be done.
    pub call: Call,
    /// The client's progress token.
    pub token: Option<Box<RawValue>>,
    /// The length of its line: what its arguments take.
    pub bytes: usize,
}

/// All requests without an answer.
#[derive(Debug, Default)]
pub(crate) struct Inflight {
    pending: HashMap<Ticket, Pending>,
    by_id: HashMap<Id, Ticket>,
    queue: VecDeque<Waiting>,
    bytes: usize,
    /// The last call that was begun of those which take effect in the order in which they were sent.
    ordered: Option<Ticket>,
    next: u64,
}

impl Inflight {
    /// Whether a request with this id is owed an answer.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        !self.by_id.is_empty() && self.by_id.contains_key(id)
    }

    /// Registers a request whose id is free.
    pub(crate) fn register(&mut self, id: Id, era: Era, batch: Option<BatchKey>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.by_id.insert(id.clone(), ticket);
        self.pending.insert(ticket, Pending { id, era, batch, cancel: Cancel::default() });
        ticket
    }

    /// Takes out a request to answer it; `None` when it was cancelled or answered.
    pub(crate) fn complete(&mut self, ticket: Ticket) -> Option<Pending> {
        let pending = self.pending.remove(&ticket)?;
        self.by_id.remove(&pending.id);
        Some(pending)
    }

    /// Takes out a request that the client does not want answered, and tells its worker.
    pub(crate) fn cancel(&mut self, id: &Id) -> Option<Pending> {
        let ticket = *self.by_id.get(id)?;
        let pending = self.complete(ticket)?;
        pending.cancel.cancel();
        if let Some(at) = self.queue.iter().position(|waiting| waiting.ticket == ticket) {
            self.take_waiting(at);
        }
        Some(pending)
    }

    /// A request that is owed an answer.
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Pending> {
        self.pending.get(&ticket)
    }

    /// Puts a registered request at the end of the queue.
    pub(crate) fn enqueue(&mut self, waiting: Waiting) {
        self.bytes += waiting.bytes;
        self.queue.push_back(waiting);
    }

    /// Whether a request that comes now may begin: nothing that was sent before it has to begin or to end first.
    pub(crate) fn may_begin(&self, call: &Call) -> bool {
        self.queue.is_empty() && !(call.keeps_order() && self.is_order_taken())
    }

    /// The request that has waited longest of those that may begin.
    pub(crate) fn dequeue(&mut self) -> Option<Waiting> {
        let is_taken = self.is_order_taken();
        let at = self.queue.iter().position(|waiting| !(is_taken && waiting.call.keeps_order()))?;
        let waiting = self.take_waiting(at)?;
        if waiting.call.keeps_order() {
            self.ordered = Some(waiting.ticket);
        }
        Some(waiting)
    }

    /// Whether a call is in progress whose effect must come before that of the next of its kind. When it was cancelled
    /// or answered, it has none any more.
    fn is_order_taken(&self) -> bool {
        self.ordered.is_some_and(|ticket| self.pending.contains_key(&ticket))
    }

    fn take_waiting(&mut self, at: usize) -> Option<Waiting> {
        let waiting = self.queue.remove(at)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }

    /// How many wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// How many bytes of input those were that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes out everything but what is to be `kept`, telling the workers to stop.
    pub(crate) fn drain(&mut self, kept: impl Fn(Ticket) -> bool) -> Vec<Pending> {
        self.queue.clear();
        self.bytes = 0;
        let mut tickets: Vec<Ticket> = self.pending.keys().copied().filter(|ticket| !kept(*ticket)).collect();
        tickets.sort_by_key(|ticket| ticket.0);
        let all = tickets.into_iter().filter_map(|ticket| self.complete(ticket));
        all.inspect(|pending| pending.cancel.cancel()).collect()
    }

    /// Whether no request is owed an answer.
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
