//! The word to stop, shared between the request's owner and whoever works on it.
//!
//! Work that can take long (a walk, a big read) asks [`Cancel::check`] at every step; nothing is aborted from
//! outside, as a blocking system call cannot be.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A flag that is raised once and never lowered, and maybe a time at which the work should stop by itself. Clones
/// share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// The work was cancelled: its result is of no use to anybody any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Cancel {
    /// The same flag, and a deadline.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        Self { flag: Arc::clone(&self.flag), deadline: Some(deadline) }
    }

    /// Tells the workers to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether they should stop: they were told, or the time is over.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// `Err` when the work should stop here; meant for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
