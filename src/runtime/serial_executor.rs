//! One thread for work that takes much memory, one piece after the other.
//!
//! What a thread frees, glibc keeps in a heap for every few threads: editing files of 16 MiB on 64 threads in turn left
//! a GiB of them, as each heap once held some. On one thread it is one heap.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use crate::runtime::cancel::{Cancel, PATIENCE};
use crate::runtime::memory::Budget;

/// Whether a thread has been replaced, and does no more than it has begun.
type Retired = Arc<AtomicBool>;

type Job = Box<dyn FnOnce(&Retired) + Send>;

/// The thread, started when there is something to do.
pub struct SerialExecutor {
    bench: Mutex<Option<Bench>>,
    /// Held by the one that works without the thread.
    alone: Arc<Budget>,
}

struct Bench {
    jobs: Sender<Job>,
    queue: Arc<Mutex<Receiver<Job>>>,
}

impl Default for SerialExecutor {
    fn default() -> Self {
        Self { bench: Mutex::default(), alone: Budget::new(1) }
    }
}

impl SerialExecutor {
    /// Does `work` after what was given before, and waits for it, as long as nobody says stop. `None`: somebody did, or it
    /// panicked, or there is no thread, which [`Self::has_thread`] tells. Who was told while it is at work may be stuck: the next one gets another
    /// thread.
    pub fn run<T: Send + 'static>(&self, cancel: &Cancel, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = sync_channel(1);
        let begun = Arc::<OnceLock<Retired>>::default();
        let thread = Arc::clone(&begun);
        self.put(Box::new(move |retired| {
            let _ = thread.set(Arc::clone(retired));
            drop(done.send(work()));
        }));
        loop {
            match result.recv_timeout(PATIENCE) {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Timeout) => match begun.get() {
                    // To wait for others is to get on: one that is stuck is replaced.
                    None if !cancel.checkpoint() => {}
                    None => return None,
                    Some(_) if !cancel.is_requested() => {}
                    Some(thread) => {
                        self.replace(thread);
                        return None;
                    }
                },
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// The same, but where the system has no thread for it, the caller does the work itself, also one piece after the
    /// other.
    pub fn run_anyway<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.has_thread() {
            return self.run(cancel, work);
        }
        let _alone = self.alone.reserve(1, cancel, true).ok()?;
        catch_unwind(AssertUnwindSafe(work)).ok()
    }

    /// Whether there is a thread.
    pub fn has_thread(&self) -> bool {
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        if bench.is_none() {
            *bench = Bench::new();
        }
        bench.is_some()
    }

    fn put(&self, job: Job) {
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        if bench.is_none() {
            *bench = Bench::new();
        }
        // Whoever waits for a job that is dropped hears that nothing comes.
        drop(bench.as_ref().map(|bench| bench.jobs.send(job)));
    }

    fn replace(&self, thread: &Retired) {
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let is_replaced = thread.swap(true, Ordering::Relaxed);
        if !is_replaced && bench.as_ref().is_some_and(|bench| !bench.start()) {
            *bench = None;
        }
    }
}

impl Bench {
    /// `None`: the system has no thread; it may have one next time.
    fn new() -> Option<Self> {
        let (jobs, queue) = channel();
        let bench = Self { jobs, queue: Arc::new(Mutex::new(queue)) };
        bench.start().then_some(bench)
    }

    fn start(&self) -> bool {
        let (queue, retired) = (Arc::clone(&self.queue), Retired::default());
        let work = move || {
            while let Some(job) = next(&queue) {
                // Who waits for it sees that nothing came.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&retired)));
                if retired.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        thread::Builder::new().name("serial_executor".to_owned()).spawn(work).is_ok()
    }
}

fn next(queue: &Mutex<Receiver<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

impl fmt::Debug for SerialExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SerialExecutor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_on_one_thread_which_survives_a_panic() {
        let (serial_executor, cancel) = (SerialExecutor::default(), Cancel::default());
        let thread = || thread::current().id();
        let first = serial_executor.run(&cancel, thread).expect("a thread");
        assert!(first != thread());
        assert_eq!(serial_executor.run(&cancel, || -> u8 { panic!("as a test of it") }), None);
        assert_eq!(serial_executor.run(&cancel, thread), Some(first));
    }

    #[test]
    fn who_is_stuck_and_told_to_stop_holds_nobody_up() {
        let (serial_executor, cancel) = (SerialExecutor::default(), Cancel::default());
        let (go, wait) = channel::<()>();
        let (at_work, begun) = channel();
        thread::scope(|scope| {
            let stuck = scope.spawn(|| {
                serial_executor.run(&cancel, move || {
                    at_work.send(thread::current().id()).expect("it is awaited");
                    let _ = wait.recv();
                })
            });
            let first = begun.recv().expect("it begins");
            cancel.cancel();
            assert_eq!(stuck.join().expect("no panic"), None);
            let other = serial_executor.run(&Cancel::default(), || thread::current().id());
            assert!(other.is_some_and(|other| other != first), "the next one has another thread");
        });
        drop(go);
    }
}
