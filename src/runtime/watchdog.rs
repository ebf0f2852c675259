//! Finds work that is blocked in a system call: it cannot be aborted, only left behind.
//!
//! Work passes a [checkpoint](Cancel::checkpoint) at every step. Work that passes none for a long time is taken to be
//! blocked in a file system that does not respond. It is told to stop and loses what it held, and its owner answers in
//! its place. Its thread is left behind, and a new thread may do the next work. The number of threads left behind is
//! limited, because each takes memory; beyond it, blocked work keeps its slot.
//!
//! Each part is needed. Without the watchdog, one unresponsive network mount would take up the threads one by one until
//! no request got an answer. Without the mount policy, which the server sets from what is found here, every new walk
//! would enter that mount and block as well. Without leaving threads behind, blocked work would hold the slots of all
//! other work until the mount responds, which may be never.
//!
//! All peers share the watchdog. It has no thread: a transport with work in progress calls [`Watchdog::look`]
//! regularly.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::cancel::Cancel;
use super::permits::Held;

/// How often to look, at the least.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// Identifies one piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WorkId(u64);

/// What happened to blocked work. Its owner is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is blocked, and keeps its slot.
    TimedOut,
    /// Its thread is left behind and its slot is free: at once, or later when another thread has returned.
    LeftBehind,
}

type Notify = Box<dyn Fn(Verdict) + Send>;

/// All work in progress.
#[derive(Debug)]
pub(crate) struct Watchdog {
    timeout: Duration,
    most_left_behind: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    work: HashMap<WorkId, Work>,
    next: u64,
    blocked: usize,
    left_behind: usize,
}

struct Work {
    cancel: Cancel,
    held: Arc<Held>,
    notify: Notify,
    /// How many checkpoints it had passed at the last look, and since when that number has not changed.
    checkpoints: u64,
    /// `None` while it waits for a thread.
    since: Option<Instant>,
    verdict: Option<Verdict>,
}

impl Watchdog {
    /// Work that passes no checkpoint for `timeout` counts as blocked.
    pub(crate) fn new(timeout: Duration, most_left_behind: usize) -> Self {
        Self { timeout, most_left_behind, state: Mutex::default() }
    }

    /// How often to call [`Self::look`].
    pub(crate) fn interval(&self) -> Duration {
        (self.timeout / 4).min(LOOK)
    }

    /// Registers work, which may still have to wait for a thread.
    pub(crate) fn begin(&self, cancel: Cancel, held: Arc<Held>, notify: impl Fn(Verdict) + Send + 'static) -> WorkId {
        let mut state = self.lock();
        let id = WorkId(state.next);
        state.next += 1;
        let checkpoints = cancel.steps();
        let work = Work { cancel, held, notify: Box::new(notify), checkpoints, since: None, verdict: None };
        state.work.insert(id, work);
        id
    }

    /// The work has a thread.
    pub(crate) fn started(&self, id: WorkId) {
        if let Some(work) = self.lock().work.get_mut(&id) {
            work.since = Some(Instant::now());
        }
    }

    /// The work has ended, perhaps late.
    pub(crate) fn end(&self, id: WorkId) {
        let mut state = self.lock();
        let Some(work) = state.work.remove(&id) else { return };
        state.blocked -= usize::from(work.verdict.is_some());
        if work.verdict == Some(Verdict::LeftBehind) {
            state.left_behind -= 1;
            state.leave_another_behind();
        }
    }

    /// How many pieces of work are blocked.
    pub(crate) fn blocked(&self) -> usize {
        self.lock().blocked
    }

    /// Whether the work has passed no checkpoint since the last look or for some time before it.
    pub(crate) fn seems_blocked(&self, id: WorkId) -> bool {
        let look = self.interval();
        let is_blocked = |work: &Work| {
            work.checkpoints == work.cancel.steps() && work.since.is_some_and(|since| since.elapsed() >= look)
        };
        self.lock().work.get(&id).is_some_and(is_blocked)
    }

    /// Finds blocked work, tells it to stop, and notifies its owner once. Returns how many were found.
    pub(crate) fn look(&self) -> usize {
        let (now, mut found) = (Instant::now(), 0);
        let mut state = self.lock();
        let State { work, blocked, left_behind, .. } = &mut *state;
        // If every thread is blocked, work that waits for one waits for ever.
        let goes_on = |work: &Work| work.since.is_some() && work.verdict.is_none();
        let is_hopeless = *blocked > 0 && !work.values().any(goes_on);
        for work in work.values_mut().filter(|work| work.verdict.is_none()) {
            let Some(since) = work.since else {
                if is_hopeless {
                    work.cancel.cancel();
                    *blocked += 1;
                    found += 1;
                    work.decide(Verdict::TimedOut);
                }
                continue;
            };
            let checkpoints = work.cancel.steps();
            if checkpoints != work.checkpoints {
                (work.checkpoints, work.since) = (checkpoints, Some(now));
            } else if now.saturating_duration_since(since) >= self.timeout {
                work.cancel.cancel();
                work.held.give_up();
                *blocked += 1;
                found += 1;
                let leaves = *left_behind < self.most_left_behind;
                *left_behind += usize::from(leaves);
                work.decide(if leaves { Verdict::LeftBehind } else { Verdict::TimedOut });
            }
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Another thread may be left behind: blocked work that kept its slot releases it.
    fn leave_another_behind(&mut self) {
        let holds_thread = |work: &&mut Work| work.verdict == Some(Verdict::TimedOut) && work.since.is_some();
        if let Some(work) = self.work.values_mut().find(holds_thread) {
            self.left_behind += 1;
            work.decide(Verdict::LeftBehind);
        }
    }
}

impl Work {
    fn decide(&mut self, verdict: Verdict) {
        self.verdict = Some(verdict);
        (self.notify)(verdict);
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("verdict", &self.verdict).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    fn begin(watchdog: &Watchdog, cancel: &Cancel) -> (WorkId, Receiver<Verdict>) {
        let (notify, told) = channel();
        let id = watchdog.begin(cancel.clone(), Arc::default(), move |verdict| {
            let _ = notify.send(verdict);
        });
        watchdog.started(id);
        (id, told)
    }

    #[test]
    fn work_that_passes_no_checkpoint_is_told_to_stop_and_its_owner_is_told_once() {
        let (watchdog, cancel) = (Watchdog::new(Duration::ZERO, 1), Cancel::default());
        let (id, told) = begin(&watchdog, &cancel);
        let _ = cancel.checkpoint();
        assert_eq!(watchdog.look(), 0, "it has passed one since");
        assert_eq!(watchdog.look(), 1);
        assert_eq!(watchdog.look(), 0, "once");
        assert!(cancel.is_requested() && watchdog.blocked() == 1);
        watchdog.end(id);
        assert_eq!(watchdog.blocked(), 0);
        assert_eq!(told.iter().collect::<Vec<_>>(), [Verdict::LeftBehind]);
    }

    #[test]
    fn what_waits_for_a_thread_while_all_are_blocked_is_given_up_too() {
        let (watchdog, cancel) = (Watchdog::new(Duration::ZERO, 1), Cancel::default());
        let (blocked, _) = begin(&watchdog, &Cancel::default());
        let (notify, told) = channel();
        let waiting = watchdog.begin(cancel.clone(), Arc::default(), move |verdict| {
            let _ = notify.send(verdict);
        });
        assert_eq!((watchdog.look(), told.try_recv().is_err()), (1, true), "the one that has a thread");
        assert_eq!((watchdog.look(), told.try_recv()), (1, Ok(Verdict::TimedOut)));
        assert!(cancel.is_requested());
        watchdog.end(waiting);
        watchdog.end(blocked);
        assert_eq!(watchdog.blocked(), 0);
    }

    #[test]
    fn only_so_many_threads_are_left_behind_and_the_next_one_is_when_one_comes_back() {
        let watchdog = Watchdog::new(Duration::ZERO, 1);
        let owners = [(); 2].map(|()| begin(&watchdog, &Cancel::default()));
        assert_eq!(watchdog.look(), 2);
        let verdicts = owners.each_ref().map(|(_, told)| told.try_recv().expect("it is told"));
        assert!(verdicts.contains(&Verdict::LeftBehind) && verdicts.contains(&Verdict::TimedOut), "{verdicts:?}");
        let first = usize::from(verdicts[0] != Verdict::LeftBehind);
        watchdog.end(owners[first].0);
        assert_eq!(owners[1 - first].1.try_recv(), Ok(Verdict::LeftBehind));
        watchdog.end(owners[1 - first].0);
        assert_eq!(watchdog.blocked(), 0);
    }
}
