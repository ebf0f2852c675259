//! Cancellation: a flag shared by the owner of a request and the thread that works on it.
//!
//! Work that can take long (a walk, a big read) asks [`Cancel::check`] at every step; nothing is aborted from
//! outside, as a blocking system call cannot be. So who does not ask any more is stuck in one, and [`Cancel::steps`]
//! shows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A flag that is raised once and never lowered, and maybe a time at which the work should stop by itself. Clones
/// share the flag.
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

/// The work was cancelled: its result is of no use to anybody any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// How often a waiting thread checks whether it was cancelled.
pub const PATIENCE: Duration = Duration::from_millis(20);

impl Cancel {
    /// The same flag, and a deadline.
    #[must_use]
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self { shared: Arc::clone(&self.shared), deadline: Some(deadline) }
    }

    /// Tells the workers to stop.
    pub fn cancel(&self) {
        self.shared.flag.store(true, Ordering::Relaxed);
    }

    /// Whether they should stop: they were told, or the time is over.
    pub fn checkpoint(&self) -> bool {
        self.shared.steps.fetch_add(1, Ordering::Relaxed);
        self.is_requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether it was cancelled, without counting as a step: for a thread that waits for another.
    pub(crate) fn is_requested(&self) -> bool {
        self.shared.flag.load(Ordering::Relaxed)
    }

    /// How often the workers have asked: while that grows, they get on.
    pub fn steps(&self) -> u64 {
        self.shared.steps.load(Ordering::Relaxed)
    }

    /// `Err` when the work should stop here; meant for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.checkpoint() { Err(Cancelled) } else { Ok(()) }
    }
}
