//! How much work of each kind runs at once, and which permits and memory one call holds.
//!
//! All of it is counted with one primitive, the [`Budget`]. tokio's semaphore does not fit: work waits on threads
//! without a runtime, and checks its [`Cancel`] while it waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cancel::{Cancel, Cancelled};
use super::memory::{Budget, Reservation};

/// A kind of work that needs a permit, because too much of it at once would take too much memory or time. Each kind has
/// its own permits and waits for no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A walk or a listing, which may hold a million names.
    Walk,
    /// A search, which takes long and uses every processor. Listings do not wait for searches.
    Search,
    /// A copy, move or deletion, which may cover a whole tree, hold all its names, and take long.
    Tree,
    /// An edit or write of one file, which may hold the file several times. It never waits for a tree.
    Edit,
}

/// The permits for all kinds of work.
#[derive(Debug)]
pub struct Permits {
    walks: Arc<Budget>,
    searches: Arc<Budget>,
    trees: Arc<Budget>,
    edits: Arc<Budget>,
    helpers: Arc<Budget>,
}

impl Permits {
    /// Limits chosen for memory. All searches together use `search_threads` threads, in addition to one each.
    pub(crate) fn new(search_threads: usize) -> Self {
        Self {
            walks: Budget::new(4),
            searches: Budget::new(4),
            trees: Budget::new(4),
            edits: Budget::new(8),
            helpers: Budget::new(search_threads.saturating_sub(1) as u64),
        }
    }

    /// Waits for a permit, which `held` keeps as well. It ends when the guard is dropped or `held` gives it up.
    pub(crate) fn wait_for(&self, work: Work, cancel: &Cancel, held: &Arc<Held>) -> Result<Permit, Cancelled> {
        let permits = match work {
            Work::Walk => &self.walks,
            Work::Search => &self.searches,
            Work::Tree => &self.trees,
            Work::Edit => &self.edits,
        };
        let permit = permits.reserve(1, cancel, true).map_err(|_| Cancelled)?;
        Ok(held.keep_permit(permit))
    }

    /// A permit for one more thread of a search, if one is free. Otherwise the search continues with fewer threads.
    pub(crate) fn helper(&self, cancel: &Cancel) -> Option<Reservation> {
        self.helpers.reserve(1, cancel, false).ok()
    }
}

/// What one call holds. If the call is stuck and another thread answers for it, that thread releases all of it.
#[derive(Debug, Default)]
pub struct Held {
    memory: Mutex<Vec<Reservation>>,
    permits: Mutex<Vec<Reservation>>,
}

impl Held {
    /// Keeps a reservation of memory, which goes with the answer.
    pub(crate) fn keep(&self, memory: Reservation) {
        lock(&self.memory).push(memory);
    }

    /// Takes the memory, to go with the answer.
    pub(crate) fn take_memory(&self) -> Vec<Reservation> {
        std::mem::take(&mut lock(&self.memory))
    }

    /// Keeps a permit until the guard is dropped. Nested permits end with the last guard.
    fn keep_permit(self: &Arc<Self>, permit: Reservation) -> Permit {
        lock(&self.permits).push(permit);
        Permit(Arc::clone(self))
    }

    /// Releases everything.
    pub(crate) fn give_up(&self) {
        lock(&self.memory).clear();
        lock(&self.permits).clear();
    }
}

/// The right to do one piece of [`Work`], until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Permit(Arc<Held>);

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.0.permits).pop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thread_can_return_what_a_call_holds() {
        let (budget, permits) = (Budget::new(10), Budget::new(1));
        let cancel = Cancel::default();
        let held = Arc::new(Held::default());
        held.keep(budget.reserve(10, &cancel, true).expect("the budget is free"));
        let permit = held.keep_permit(permits.reserve(1, &cancel, true).expect("nobody has it"));
        assert!(budget.reserve(1, &cancel, false).is_err() && permits.reserve(1, &cancel, false).is_err());
        held.give_up();
        assert!(budget.reserve(10, &cancel, false).is_ok());
        let _other = permits.reserve(1, &cancel, false).expect("it was given back");
        drop(permit);
        assert!(permits.reserve(1, &cancel, false).is_err(), "the end of a permit that was given back ends no other");
    }

    #[test]
    fn work_of_one_kind_does_not_wait_for_another() {
        let permits = Permits::new(1);
        let (held, cancel) = (Arc::new(Held::default()), Cancel::default());
        let trees: Vec<_> = (0..4).map(|_| permits.wait_for(Work::Tree, &cancel, &held)).collect();
        assert!(trees.iter().all(Result::is_ok));
        for work in [Work::Walk, Work::Search, Work::Edit] {
            assert!(permits.wait_for(work, &cancel, &held).is_ok(), "{work:?}");
        }
        cancel.cancel();
        assert!(permits.wait_for(Work::Tree, &cancel, &held).is_err(), "all are taken");
    }

    #[test]
    fn all_searches_share_the_helpers_and_never_wait_for_one() {
        let (permits, cancel) = (Permits::new(2), Cancel::default());
        let first = permits.helper(&cancel);
        assert!(first.is_some() && permits.helper(&cancel).is_none());
    }
}
