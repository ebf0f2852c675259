//! One thread for work that takes much memory, one piece after the other.
//!
//! What a thread frees, glibc keeps in a heap for every few threads: editing files of 16 MiB on 64 threads in turn left
//! a GiB of them, as each heap once held some. On one thread it is one heap.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// The thread, started when there is something to do.
#[derive(Default)]
pub struct Workbench(Mutex<Option<Sender<Job>>>);

impl Workbench {
    /// Does `work` when it is its turn, and waits for what comes of it. `None`: it panicked, or there is no thread.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = sync_channel(1);
        self.put(Box::new(move || drop(done.send(work()))));
        result.recv().ok()
    }

    fn put(&self, job: Job) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.get_or_insert_with(start).send(job).is_err() {
            // The system had no thread; it may have one next time.
            *jobs = None;
        }
    }
}

fn start() -> Sender<Job> {
    let (jobs, queue) = channel::<Job>();
    let work = move || {
        while let Ok(job) = queue.recv() {
            // Who waits for it sees that nothing came.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    };
    let _ = thread::Builder::new().name("workbench".to_owned()).spawn(work);
    jobs
}

impl fmt::Debug for Workbench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workbench")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_on_one_thread_which_survives_a_panic() {
        let workbench = Workbench::default();
        let thread = || thread::current().id();
        let first = workbench.run(thread).expect("a thread");
        assert!(first != thread());
        assert_eq!(workbench.run(|| -> u8 { panic!("as a test of it") }), None);
        assert_eq!(workbench.run(thread), Some(first));
    }
}
