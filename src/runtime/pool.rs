//! Threads for work that may block. They start on demand, and all but one end after being idle for a while. One stays,
//! because the system might refuse to start another later.
//!
//! tokio has such a pool, too, but it panics when the system refuses a thread (`ulimit -u`, a container's `pids.max`).
//! Here the caller asks first, with [`Pool::thread`], and can fail one request instead.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long an idle thread is kept.
const KEPT: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The threads. When the pool is dropped, they end as soon as they are idle.
pub struct Pool(Arc<Shared>);

struct Shared {
    most: usize,
    state: Mutex<State>,
    /// Notified when there is a job or the pool ends.
    wanted: Condvar,
    /// Notified when a thread has ended.
    left: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// How many of the threads wait for a job.
    idle: usize,
    /// Jobs for which an idle thread has been promised.
    promised: usize,
    ended: bool,
}

impl Pool {
    /// A pool of at most `most` threads.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Shared { most, state: Mutex::default(), wanted: Condvar::new(), left: Condvar::new() }))
    }

    /// A thread for one more job, while `blocked` jobs may never end: an idle one, a new one, or the next to finish its
    /// job. `None` if the system has no new thread and all existing ones are blocked.
    pub(crate) fn thread(&self, blocked: usize) -> Option<Thread> {
        let mut state = self.0.lock();
        if state.jobs.len() + state.promised >= state.idle && !self.0.grow(&mut state) && state.threads <= blocked {
            return None;
        }
        state.promised += 1;
        Some(Thread(Arc::clone(&self.0)))
    }

    /// Whether there is a thread; starts one if there is none.
    pub fn has_thread(&self) -> bool {
        self.thread(0).is_some()
    }

    /// Starts no more jobs, and waits up to `within` for those that are running.
    pub fn end(&self, within: Duration) {
        let by = Instant::now() + within;
        let mut state = self.stop();
        while state.threads > 0 {
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.0.left.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn stop(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock();
        state.ended = true;
        state.jobs.clear();
        self.0.wanted.notify_all();
        state
    }
}

/// A thread that waits for a job.
#[must_use]
pub struct Thread(Arc<Shared>);

impl Thread {
    /// Runs `job` on the thread.
    pub(crate) fn start(self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        if !state.ended {
            state.jobs.push_back(Box::new(job));
        }
        drop(state);
        self.0.wanted.notify_one();
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.0.lock().promised -= 1;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts another thread if possible.
    fn grow(self: &Arc<Self>, state: &mut State) -> bool {
        let shared = Arc::clone(self);
        let start = || thread::Builder::new().name("work".to_owned()).spawn(move || shared.work());
        let grown = state.threads < self.most && start().is_ok();
        // It counts as idle from the start, so that one job does not start two threads.
        state.threads += usize::from(grown);
        state.idle += usize::from(grown);
        grown
    }

    /// The loop of a thread.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.idle -= 1;
                drop(state);
                // The waiter sees a closed channel.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                state.idle += 1;
                continue;
            }
            if state.ended {
                break;
            }
            let (woken, waited) = self.wanted.wait_timeout(state, KEPT).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if waited.timed_out() && state.jobs.len() + state.promised < state.idle && state.threads > 1 {
                break;
            }
        }
        state.threads -= 1;
        state.idle -= 1;
        self.left.notify_all();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn until_all_are_idle(pool: &Pool) {
        while {
            let state = pool.0.lock();
            state.idle < state.threads || !state.jobs.is_empty()
        } {
            thread::yield_now();
        }
    }

    #[test]
    fn an_idle_thread_takes_the_next_job_also_after_a_panic() {
        let pool = Pool::new(8);
        let (tell, told) = channel();
        for number in 0..10 {
            drop(pool.thread(usize::MAX).expect("a thread"));
            let tell = tell.clone();
            pool.thread(usize::MAX).expect("a thread").start(move || {
                tell.send(number).expect("it is awaited");
                assert!(number % 2 == 0, "as a test of it");
            });
            assert_eq!(told.recv(), Ok(number));
            until_all_are_idle(&pool);
        }
        assert_eq!(pool.0.lock().threads, 1);
        // One for each that is requested at the same time, and no more.
        for _ in 0..2 {
            let both = [pool.thread(usize::MAX), pool.thread(usize::MAX)];
            assert!(both.iter().all(Option::is_some) && pool.0.lock().threads == 2);
        }
        pool.end(Duration::from_hours(1));
        assert_eq!(pool.0.lock().threads, 0);
    }

    #[test]
    fn without_a_thread_a_job_waits_for_one_that_is_nearly_done_and_for_no_other() {
        let pool = Pool::new(1);
        let (go, wait) = channel::<()>();
        let (tell, told) = channel();
        pool.thread(0).expect("a thread").start(move || {
            let _ = wait.recv();
        });
        assert!(pool.thread(1).is_none(), "the only one is at work");
        // Its job is nearly done.
        pool.thread(0).expect("the same").start(move || tell.send(()).expect("it is awaited"));
        drop(go);
        assert_eq!(told.recv(), Ok(()));
        assert!(Pool::new(0).thread(0).is_none());
    }

    #[test]
    fn jobs_run_side_by_side_and_the_end_does_not_wait_for_one_that_is_stuck() {
        let pool = Pool::new(8);
        let (go, wait) = channel::<()>();
        let (tell, told) = channel();
        pool.thread(usize::MAX).expect("a thread").start(move || {
            let _ = wait.recv();
        });
        pool.thread(usize::MAX).expect("a thread").start(move || tell.send(()).expect("it is awaited"));
        assert_eq!(told.recv(), Ok(()));
        pool.end(Duration::ZERO);
        drop(go);
        pool.end(Duration::from_hours(1));
    }
}
