//! What the work of a call can use: the root, the limits, cancellation, memory for its answer, and progress reports.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::Services;
use super::snapshot::Snapshots;
use super::watch::Watch;
use crate::call::{Failure, Outbound};
use crate::limits::Limits;
use crate::root::{File, RelPath, RequestedPath, Root, RootError, WritableRoot};
use crate::runtime::cancel::Cancel;
use crate::runtime::memory::{Budget, NoMemory, Reservation};
use crate::runtime::permits::{Held, Permit, Work};

/// What the work of a call can use.
#[derive(Debug)]
pub struct Context {
    services: Arc<Services>,
    /// To be checked at every step of long work.
    pub cancel: Cancel,
    /// The client's share of the memory for answers.
    budget: Arc<Budget>,
    progress: Option<Progress>,
    held: Arc<Held>,
    /// The answers of a batch are all held until the last is there. If one waited for memory that another holds, it
    /// would wait for ever.
    in_batch: bool,
    /// The file of a call that is served inline: it is already open and read.
    cached: Option<Mutex<Option<File>>>,
}

impl Context {
    /// The context of one call.
    pub fn new(services: Arc<Services>, cancel: Cancel, progress: Option<Progress>) -> Self {
        let budget = Arc::clone(&services.budget);
        Self { services, cancel, budget, progress, held: Arc::default(), in_batch: false, cached: None }
    }

    /// Sets the client's share of the memory for answers.
    #[must_use]
    pub(crate) fn with_budget(self, budget: Arc<Budget>) -> Self {
        Self { budget, ..self }
    }

    /// Marks the call as an item of a batch.
    #[must_use]
    pub(crate) fn in_batch(self, in_batch: bool) -> Self {
        Self { in_batch, ..self }
    }

    /// Marks the call as served inline: it opens no file but `cached`, and never waits.
    #[must_use]
    pub(crate) fn inline(self, cached: Option<File>) -> Self {
        Self { cached: Some(Mutex::new(cached)), ..self }
    }

    /// What lives as long as the server.
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// The served directory.
    pub(crate) fn root(&self) -> &Root {
        &self.services.root
    }

    /// The served directory for writing; `None` unless clients may write.
    pub(crate) fn writable(&self) -> Option<&WritableRoot> {
        self.services.writable.as_ref()
    }

    /// The folder whose files are prompts; `None` without `--prompts`.
    pub(crate) fn prompts(&self) -> Option<&RelPath> {
        self.services.prompts.as_ref()
    }

    /// All limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.services.limits
    }

    /// The snapshots from which pages of the list are taken.
    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.services.snapshots
    }

    /// The change watcher.
    pub(crate) fn watch(&self) -> &Watch {
        &self.services.watch
    }

    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self, asked: &RequestedPath) -> Result<File, RootError> {
        let cached = self.cached.as_ref().and_then(|file| file.lock().unwrap_or_else(PoisonError::into_inner).take());
        match cached.filter(|file| file.path == asked.path) {
            Some(file) => Ok(file),
            None => self.root().open_file(asked, &self.cancel),
        }
    }

    /// Reserves `bytes` of memory until the answer is written, and waits for earlier answers if necessary. An inline
    /// answer is small, and counted only when it is written.
    pub fn reserve(&self, bytes: u64) -> Result<(), Failure> {
        if self.cached.is_some() {
            return Ok(());
        }
        let reserved = self.budget.reserve(bytes, &self.cancel, !self.in_batch);
        let reservation = reserved.map_err(|error| match error {
            NoMemory::Cancelled => Failure::Cancelled,
            NoMemory::Full => {
                Failure::Internal("The answers of this batch are too large; send its requests one by one.".to_owned())
            }
        })?;
        self.held.keep(reservation);
        Ok(())
    }

    /// Takes the reserved memory, which goes with the answer.
    pub(crate) fn take_reservations(&self) -> Vec<Reservation> {
        self.held.take_memory()
    }

    /// Everything that the call holds.
    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Waits until the call may do `work`. It may until the permit is dropped.
    pub fn permit(&self, work: Work) -> Result<Permit, Failure> {
        Ok(self.services.permits.wait_for(work, &self.cancel, &self.held)?)
    }

    /// Cancellation for a search, with its deadline.
    pub(crate) fn search_cancel(&self) -> Cancel {
        self.cancel.until(Instant::now() + self.limits().search_time)
    }

    /// After a search: whether its time ran out. Fails if the client no longer wants the result.
    pub(crate) fn check_search(&self, cancel: &Cancel) -> Result<bool, Failure> {
        self.cancel.check()?;
        Ok(cancel.checkpoint())
    }

    /// Reports progress to the client if it asked for that, at most ten times a second.
    pub fn report(&self, progress: u64, message: impl FnOnce() -> String) {
        if let Some(reporter) = &self.progress {
            reporter.report(progress, message);
        }
    }
}

/// Sends `notifications/progress` for one request.
pub struct Progress {
    token: Box<RawValue>,
    say: Box<dyn Fn(Outbound) + Send + Sync>,
    last: Mutex<(Instant, u64)>,
}

impl Progress {
    const INTERVAL: Duration = Duration::from_millis(100);

    /// Reports under `token` through `say`.
    pub(crate) fn new(token: Box<RawValue>, say: impl Fn(Outbound) + Send + Sync + 'static) -> Self {
        Self { token, say: Box::new(say), last: Mutex::new((Instant::now(), 0)) }
    }

    fn report(&self, progress: u64, message: impl FnOnce() -> String) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if progress > last.1 && last.0.elapsed() >= Self::INTERVAL {
            *last = (Instant::now(), progress);
            (self.say)(Outbound::Progress { token: self.token.clone(), progress, message: message() });
        }
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").field("token", &self.token).finish_non_exhaustive()
    }
}
