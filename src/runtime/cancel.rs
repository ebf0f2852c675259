//! Cancellation: a flag shared by the owner of a request and the thread that works on it.
//!
//! Work that may take long (a walk, a large read) calls [`Cancel::check`] at every step. Nothing is aborted from
//! outside, because a blocking system call cannot be. Work that stops calling it is therefore stuck in a system call,
//! and [`Cancel::steps`] shows that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A flag that is set once and never cleared, with an optional deadline. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
}

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    steps: AtomicU64,
}

/// The work was cancelled, so its result is no longer wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// How often a waiting thread checks for cancellation.
pub const PATIENCE: Duration = Duration::from_millis(20);

impl Cancel {
    /// The same flag, with a deadline.
    #[must_use]
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self { shared: Arc::clone(&self.shared), deadline: Some(deadline) }
    }

    /// Sets the flag.
    pub fn cancel(&self) {
        self.shared.flag.store(true, Ordering::Relaxed);
    }

    /// Whether to stop: the flag is set or the deadline has passed. Counts as a step.
    pub fn checkpoint(&self) -> bool {
        self.shared.steps.fetch_add(1, Ordering::Relaxed);
        self.is_requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the flag is set. Does not count as a step: for a thread that waits for another.
    pub(crate) fn is_requested(&self) -> bool {
        self.shared.flag.load(Ordering::Relaxed)
    }

    /// The number of steps so far. While it grows, the work makes progress.
    pub fn steps(&self) -> u64 {
        self.shared.steps.load(Ordering::Relaxed)
    }

    /// `Err` if the work should stop here; meant for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.checkpoint() { Err(Cancelled) } else { Ok(()) }
    }
}
