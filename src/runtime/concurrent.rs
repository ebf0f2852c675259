//! Runs independent pieces of work on several threads, for operations that mostly wait: on a remote file system, their
//! time is then that of the longest chain and not the sum of all round trips.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many operations on a remote file system are in flight for one call.
pub(crate) const REMOTE_OPERATIONS: usize = 16;

/// Calls `work` with every index below `count` on up to `threads` threads, this one included, and returns the results
/// in order. If the system refuses threads, fewer are used.
pub(crate) fn map<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if threads.min(count) <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let index = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < count);
        std::iter::from_fn(index).map(|index| (index, work(index))).collect::<Vec<_>>()
    };
    let mut results = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads.min(count)).map_while(start).collect();
        let mut results = run();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            assert_eq!(map(50, threads, |index| index * 2), (0..50).map(|index| index * 2).collect::<Vec<_>>());
        }
        assert_eq!(map(0, 4, |index| index), [0; 0]);
    }

    #[test]
    fn work_runs_at_the_same_time() {
        let all = Barrier::new(4);
        map(4, 4, |_| all.wait());
    }
}
