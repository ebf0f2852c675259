//! What a call's work has at hand: the root, the limits, the word to stop, memory for its answer, and a way to tell
//! how far it is.

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

/// What a call's work has at hand.
#[derive(Debug)]
pub struct Context {
    services: Arc<Services>,
    /// To be asked at every step of anything long.
    pub cancel: Cancel,
    /// The client's share of the memory for answers.
    budget: Arc<Budget>,
    progress: Option<Progress>,
    held: Arc<Held>,
    /// The answers of a batch are all held until the last one is there: if one waited for memory that another holds, it
    /// would wait for ever.
    in_batch: bool,
    /// The one file that a call reads which is served inline: it is open and read already.
    cached: Option<Mutex<Option<File>>>,
}

impl Context {
    /// A context for one call.
    pub fn new(services: Arc<Services>, cancel: Cancel, progress: Option<Progress>) -> Self {
        let budget = Arc::clone(&services.budget);
        Self { services, cancel, budget, progress, held: Arc::default(), in_batch: false, cached: None }
    }

    /// The same, with the client's share of the memory for answers.
    #[must_use]
    pub(crate) fn with_budget(self, budget: Arc<Budget>) -> Self {
        Self { budget, ..self }
    }

    /// The same, for an item of a batch if `in_batch`.
    #[must_use]
    pub(crate) fn in_batch(self, in_batch: bool) -> Self {
        Self { in_batch, ..self }
    }

    /// The same, for a call that is served inline: it opens no file but `cached`, and never waits.
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

    /// The served directory, to be changed; `None` unless that is allowed.
    pub(crate) fn writable(&self) -> Option<&WritableRoot> {
        self.services.writable.as_ref()
    }

    /// The folder whose files are prompts; `None` unless there is one.
    pub(crate) fn prompts(&self) -> Option<&RelPath> {
        self.services.prompts.as_ref()
    }

    /// How much of everything.
    pub(crate) fn limits(&self) -> &Limits {
        &self.services.limits
    }

    /// The lists that are being given out in pages.
    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.services.snapshots
    }

    /// What notices changes.
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

    /// Sets `bytes` of memory aside until the answer is written; waits for earlier answers where there is none. An
    /// answer that is made inline is small, and counted as output alone.
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

    /// The memory set aside; it goes with the answer.
    pub(crate) fn take_reservations(&self) -> Vec<Reservation> {
        self.held.take_memory()
    }

    /// All that the call has taken.
    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Waits until the call may do `work`, which it may until the permit is dropped.
    pub fn permit(&self, work: Work) -> Result<Permit, Failure> {
        Ok(self.services.permits.wait_for(work, &self.cancel, &self.held)?)
    }

    /// The word to stop for a search, which also has an end by itself.
    pub(crate) fn search_cancel(&self) -> Cancel {
        self.cancel.until(Instant::now() + self.limits().search_time)
    }

    /// After a search: whether its time was over. Fails when the client does not want it any more.
    pub(crate) fn check_search(&self, cancel: &Cancel) -> Result<bool, Failure> {
        self.cancel.check()?;
        Ok(cancel.checkpoint())
    }

    /// Tells the client how far the work is, where it asked for that; at most ten times a second.
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
