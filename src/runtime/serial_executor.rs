//! One thread for work that takes much memory, one job at a time.
//!
//! glibc keeps freed memory in several heaps, one for every few threads. Editing 16 MiB files on 64 threads in turn
//! left 1 GiB in them, because each heap had once held some. With one thread, there is one heap.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use crate::runtime::cancel::{Cancel, PATIENCE};
use crate::runtime::memory::Budget;

/// The maximum number of threads, including replaced ones that have not ended. Each may hold the memory of a file.
const MAX_THREADS: usize = 4;

/// Set when a thread is replaced: it ends after its current job.
type Retired = Arc<AtomicBool>;

type Job = Box<dyn FnOnce(&Retired) + Send>;

/// Runs one job at a time on a thread that starts with the first job.
#[derive(Default)]
pub struct SerialExecutor {
    worker: Mutex<Option<Worker>>,
    /// Counts the threads that have not ended.
    threads: Arc<()>,
    /// Held by a caller that does its work without the thread.
    alone: Alone,
}

/// A thread and its queue of jobs.
struct Worker {
    jobs: Sender<Job>,
    queue: Arc<Mutex<Receiver<Job>>>,
}

struct Alone(Arc<Budget>);

impl Default for Alone {
    fn default() -> Self {
        Self(Budget::new(1))
    }
}

impl SerialExecutor {
    /// Runs `work` after all earlier jobs and waits for the result. `None` if the wait was cancelled, `work` panicked,
    /// or there is no thread (see [`Self::has_thread`]). A job whose caller is cancelled while it runs may be stuck, so
    /// the next job gets another thread.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = sync_channel(1);
        let begun = Arc::<OnceLock<Retired>>::default();
        let thread = Arc::clone(&begun);
        self.submit(Box::new(move |retired| {
            let _ = thread.set(Arc::clone(retired));
            drop(done.send(work()));
        }));
        loop {
            match result.recv_timeout(PATIENCE) {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Timeout) => match begun.get() {
                    // Waiting in the queue is progress: if the job ahead is stuck, its thread is replaced.
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

    /// Like [`Self::run`], but if the system has no thread, the caller does the work itself, also one job at a time.
    pub(crate) fn run_anyway<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.has_thread() {
            return self.run(cancel, work);
        }
        let _alone = self.alone.0.reserve(1, cancel, true).ok()?;
        catch_unwind(AssertUnwindSafe(work)).ok()
    }

    /// Whether there is a thread. If not, the system refused one, or [`MAX_THREADS`] are stuck.
    pub(crate) fn has_thread(&self) -> bool {
        self.with_worker().is_some()
    }

    fn submit(&self, job: Job) {
        // If the job is dropped, its channel closes and the caller gets `None`.
        drop(self.with_worker().as_ref().map(|worker| worker.jobs.send(job)));
    }

    fn with_worker(&self) -> MutexGuard<'_, Option<Worker>> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            *worker = Worker::new(&self.threads);
        }
        worker
    }

    fn replace(&self, thread: &Retired) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let is_replaced = thread.swap(true, Ordering::Relaxed);
        if !is_replaced && worker.as_ref().is_some_and(|worker| !worker.start(&self.threads)) {
            *worker = None;
        }
    }
}

impl Worker {
    /// `None` if there is no thread now; there may be one next time.
    fn new(threads: &Arc<()>) -> Option<Self> {
        let (jobs, queue) = channel();
        let worker = Self { jobs, queue: Arc::new(Mutex::new(queue)) };
        worker.start(threads).then_some(worker)
    }

    fn start(&self, threads: &Arc<()>) -> bool {
        let alive = Arc::clone(threads);
        // In addition to this handle, the executor holds one.
        if Arc::strong_count(&alive) > MAX_THREADS + 1 {
            return false;
        }
        let (queue, retired) = (Arc::clone(&self.queue), Retired::default());
        let work = move || {
            while let Some(job) = next(&queue) {
                // The caller sees the closed channel.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&retired)));
                if retired.load(Ordering::Relaxed) {
                    break;
                }
            }
            drop(alive);
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

    /// Starts a job that ends when the returned sender is dropped, and cancels its caller.
    fn leave_stuck(serial_executor: &SerialExecutor) -> (Sender<()>, thread::ThreadId) {
        let (go, wait) = channel::<()>();
        let (at_work, begun) = channel();
        let cancel = Cancel::default();
        let thread = thread::scope(|scope| {
            let stuck = scope.spawn(|| {
                serial_executor.run(&cancel, move || {
                    at_work.send(thread::current().id()).expect("it is awaited");
                    let _ = wait.recv();
                })
            });
            let thread = begun.recv().expect("it begins");
            cancel.cancel();
            assert_eq!(stuck.join().expect("no panic"), None);
            thread
        });
        (go, thread)
    }

    #[test]
    fn the_next_job_gets_another_thread_after_a_stuck_one() {
        let serial_executor = SerialExecutor::default();
        let (_go, stuck) = leave_stuck(&serial_executor);
        let other = serial_executor.run(&Cancel::default(), || thread::current().id());
        assert!(other.is_some_and(|other| other != stuck));
    }

    #[test]
    fn stuck_jobs_hold_a_bounded_number_of_threads() {
        let serial_executor = SerialExecutor::default();
        let mut stuck: Vec<_> = (0..MAX_THREADS).map(|_| leave_stuck(&serial_executor).0).collect();
        assert!(!serial_executor.has_thread());
        assert_eq!(serial_executor.run(&Cancel::default(), || ()), None);
        stuck.pop();
        while !serial_executor.has_thread() {
            thread::yield_now();
        }
        assert_eq!(serial_executor.run(&Cancel::default(), || 1), Some(1));
    }
}
