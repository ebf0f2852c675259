//! Limits the memory of answers while they are prepared and written.
//!
//! Work reserves the bytes that it is about to read, once, when it knows how many. The reservation travels with the
//! answer and is released when its last byte is written. A single answer larger than the whole budget is admitted when
//! nothing else is reserved.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::runtime::cancel::{Cancel, PATIENCE};

/// A number of bytes to be shared.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: Mutex<u64>,
    freed: Condvar,
    /// The budget that this one is a share of: a reservation here is also made there.
    whole: Option<Arc<Budget>>,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit, used: Mutex::new(0), freed: Condvar::new(), whole: None })
    }

    /// A share of this budget of at most `limit` bytes.
    pub(crate) fn share(self: &Arc<Self>, limit: u64) -> Arc<Self> {
        Arc::new(Self { limit, used: Mutex::new(0), freed: Condvar::new(), whole: Some(Arc::clone(self)) })
    }

    /// Reserves `bytes`. If there is no room, waits if `may_wait`, and fails otherwise.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        bytes: u64,
        cancel: &Cancel,
        may_wait: bool,
    ) -> Result<Reservation, NoMemory> {
        let mut used = lock(&self.used);
        while *used > 0 && *used + bytes > self.limit {
            if !may_wait {
                return Err(NoMemory::Full);
            }
            cancel.check().map_err(|_| NoMemory::Cancelled)?;
            used = self.freed.wait_timeout(used, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        *used += bytes;
        drop(used);
        let mut reservation = Reservation { budget: Arc::clone(self), bytes, whole: None };
        if let Some(whole) = &self.whole {
            // If this fails, the reservation in the share is released.
            reservation.whole = Some(Box::new(whole.reserve(bytes, cancel, may_wait)?));
        }
        Ok(reservation)
    }
}

/// Why a reservation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoMemory {
    /// The budget is used up, and the caller does not want to wait.
    Full,
    /// The work was cancelled while it waited.
    Cancelled,
}

/// Bytes reserved in a [`Budget`]; released on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
    /// The reservation in the budget that this one is a share of.
    whole: Option<Box<Reservation>>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        *lock(&self.budget.used) -= self.bytes;
        self.budget.freed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_waits_until_something_is_given_back() {
        let budget = Budget::new(10);
        let cancel = Cancel::default();
        let first = budget.reserve(8, &cancel, true).expect("the budget is free");
        assert!(budget.reserve(3, &cancel, false).is_err());
        let waiting = std::thread::spawn({
            let (budget, cancel) = (Arc::clone(&budget), cancel.clone());
            move || budget.reserve(3, &cancel, true).is_ok()
        });
        drop(first);
        assert!(waiting.join().expect("no panic"));
    }

    #[test]
    fn a_share_is_taken_of_the_whole_and_leaves_the_rest_to_others() {
        let (whole, cancel) = (Budget::new(20), Cancel::default());
        let [first, second, third] = [(); 3].map(|()| whole.share(10));
        let held = first.reserve(10, &cancel, false).expect("it is free");
        assert!(first.reserve(1, &cancel, false).is_err(), "the share is taken");
        let other = second.reserve(10, &cancel, false).expect("the other share is free");
        assert!(third.reserve(1, &cancel, false).is_err(), "the whole is taken");
        drop(held);
        assert!(third.reserve(10, &cancel, false).is_ok(), "a refusal took nothing, and what was given back is free");
        drop(other);
    }

    #[test]
    fn more_than_everything_is_allowed_alone() {
        let budget = Budget::new(10);
        assert!(budget.reserve(99, &Cancel::default(), false).is_ok());
    }

    #[test]
    fn cancelled_work_does_not_wait() {
        let budget = Budget::new(10);
        let cancel = Cancel::default();
        let _all = budget.reserve(10, &cancel, true).expect("the budget is free");
        cancel.cancel();
        assert_eq!(budget.reserve(1, &cancel, true).err(), Some(NoMemory::Cancelled));
    }
}
