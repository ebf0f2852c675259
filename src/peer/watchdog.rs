//! Who is at work, and who is stuck: a system call that does not come back cannot be aborted, only left behind.
//!
//! Work asks at every step whether it is still wanted ([`Cancel`]); who has not asked for a long time is taken to be
//! stuck in a file system that does not answer. Its request is answered by somebody else, and what it held is given
//! back. So many of them lose their place, too, so that others can be served; beyond that they keep it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use crate::call::Call;
use crate::peer::inflight::Ticket;
use crate::root::MountPolicy;
use crate::runtime::cancel::Cancel;
use crate::runtime::memory::Held;

/// How often somebody looks, at least.
const LOOK: Duration = Duration::from_secs(1);

/// Threads at work, also for requests that were cancelled since.
#[derive(Debug)]
pub(super) struct Watchdog {
    all: HashMap<Ticket, Worker>,
    /// What the requests take that they work on, but for those that are stuck.
    bytes: usize,
    stuck: usize,
    left_behind: usize,
    patience: Duration,
    look: Duration,
    most_left_behind: usize,
    looks: Interval,
}

#[derive(Debug)]
struct Worker {
    call: Arc<Call>,
    cancel: Cancel,
    held: Arc<Held>,
    /// What its request takes.
    bytes: usize,
    /// How often it had asked when somebody last looked, and since when it is that.
    steps: u64,
    since: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Working,
    /// Answered by somebody else.
    Stuck,
    /// The same, and without a place.
    LeftBehind,
}

impl Watchdog {
    /// Nobody yet. Who says nothing for `patience` is stuck. Within a tokio runtime.
    pub(super) fn new(patience: Duration, most_left_behind: usize) -> Self {
        let look = (patience / 4).min(LOOK);
        let mut looks = interval(look);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { all: HashMap::new(), bytes: 0, stuck: 0, left_behind: 0, patience, look, most_left_behind, looks }
    }

    /// One more is at work.
    pub(super) fn begin(&mut self, ticket: Ticket, call: Arc<Call>, bytes: usize, cancel: Cancel, held: Arc<Held>) {
        let (steps, since) = (cancel.steps(), Instant::now());
        let bytes = 2 * bytes; // its arguments as they came, and as they are read
        self.bytes += bytes;
        self.all.insert(ticket, Worker { call, cancel, held, bytes, steps, since, state: State::Working });
    }

    /// It is done, be it late.
    pub(super) fn end(&mut self, ticket: Ticket) {
        let Some(worker) = self.all.remove(&ticket) else { return };
        match worker.state {
            State::Working => self.bytes -= worker.bytes,
            State::Stuck | State::LeftBehind => self.stuck -= 1,
        }
        if worker.state == State::LeftBehind {
            self.left_behind -= 1;
            // There is room for another one, which gives back its place.
            if let Some(other) = self.all.values_mut().find(|other| other.state == State::Stuck) {
                other.state = State::LeftBehind;
                self.left_behind += 1;
            }
        }
    }

    /// How many have a place.
    pub(super) fn places(&self) -> usize {
        self.all.len() - self.left_behind
    }

    /// The memory of the requests that are worked on, also where they were cancelled since. Stuck ones do not count, or
    /// input would be left unread for ever.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether one has not got on since somebody last looked, nor for a while before that.
    pub(super) fn seems_blocked(&self, ticket: Ticket) -> bool {
        let is_blocked = |worker: &Worker| worker.steps == worker.cancel.steps() && worker.since.elapsed() >= self.look;
        self.all.get(&ticket).is_some_and(is_blocked)
    }

    /// How many are not done, the stuck ones included.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether any of them can be expected to be done.
    pub(super) fn any_at_work(&self) -> bool {
        self.all.len() > self.stuck
    }

    /// How many have a place and are stuck.
    pub(super) fn stuck_places(&self) -> usize {
        self.stuck - self.left_behind
    }

    /// What others should keep out of: with one that is stuck, walks; with many, everybody.
    pub(super) fn others(&self) -> MountPolicy {
        match self.stuck {
            0 => MountPolicy::Follow,
            stuck if stuck < self.most_left_behind => MountPolicy::ExplicitOnly,
            _ => MountPolicy::Skip,
        }
    }

    /// Whether anybody may be getting stuck.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Waits until it is time to look.
    pub(super) async fn next_look(&mut self) {
        self.looks.tick().await;
    }

    /// Who is found to be stuck, each once. They are told to stop, if ever they can hear it.
    pub(super) fn take_timed_out(&mut self) -> Vec<(Ticket, Arc<Call>)> {
        let now = Instant::now();
        let mut found = Vec::new();
        for (ticket, worker) in self.all.iter_mut().filter(|(_, worker)| worker.state == State::Working) {
            let steps = worker.cancel.steps();
            if steps != worker.steps {
                (worker.steps, worker.since) = (steps, now);
            } else if now - worker.since >= self.patience {
                worker.cancel.cancel();
                worker.held.give_up();
                self.bytes -= worker.bytes;
                self.stuck += 1;
                let leaves = self.left_behind < self.most_left_behind;
                self.left_behind += usize::from(leaves);
                worker.state = if leaves { State::LeftBehind } else { State::Stuck };
                found.push((*ticket, Arc::clone(&worker.call)));
            }
        }
        found
    }
}
