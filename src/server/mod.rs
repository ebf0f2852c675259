//! The server: one directory, and the work that clients ask for. All clients share it.
//!
//! What belongs to one client, such as its requests in progress, is in its [`peer`](crate::peer). A peer has a call run
//! in one of two ways: [`Server::inline`] runs it at once if nothing can block, and [`Server::submit`] passes it to a
//! thread.

mod info;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub(crate) use self::info::{ServerInfo, implementation};
use crate::call::{Call, Failure, Outcome};
use crate::features::dispatch::{self, Inline};
use crate::features::prompts;
use crate::limits::{Limits, WatchMode};
use crate::root::{MountPolicy, Protect, RelPath, Root, WritableRoot};
use crate::runtime::cancel::Cancel;
use crate::runtime::memory::{Budget, Reservation};
use crate::runtime::pool::{Pool, Thread};
use crate::runtime::watchdog::{Verdict, Watchdog, WorkId};
use crate::services::Services;
use crate::services::context::{Context, Progress};
use crate::services::watch::{Prompts, Watch};

/// Runs a call.
type Dispatch = dyn Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync;

/// A server for one directory.
pub struct Server {
    services: Arc<Services>,
    info: ServerInfo,
    dispatch: Arc<Dispatch>,
    pool: Arc<Pool>,
    watchdog: Arc<Watchdog>,
}

/// A call to run on a thread, with its client's wishes.
#[derive(Debug)]
pub struct Job {
    /// The call.
    pub call: Arc<Call>,
    /// Set when the client no longer wants the answer.
    pub cancel: Cancel,
    /// Where to report progress, if the client asked for it.
    pub progress: Option<Progress>,
    /// Whether the call is an item of a batch.
    pub in_batch: bool,
    /// The client's share of the memory for answers.
    pub budget: Arc<Budget>,
}

/// How a [`Job`] ended.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are the large one")]
pub enum Completion {
    /// It is done. The memory reserved for it goes with the answer.
    Done(Result<Outcome, Failure>, Vec<Reservation>),
    /// It is blocked in a file system, and may still end later.
    Blocked(Verdict),
}

impl Server {
    /// A read-only server for `root`, within `limits`.
    pub fn new(root: Root, limits: Limits) -> Self {
        Self {
            info: ServerInfo::new(&root, false, limits.watch.mode != WatchMode::Off, false),
            pool: Arc::new(Pool::new(limits.in_flight + limits.left_behind)),
            watchdog: Arc::new(Watchdog::new(limits.io_time, limits.left_behind)),
            services: Arc::new(Services::new(root, limits)),
            dispatch: Arc::new(dispatch::dispatch),
        }
    }

    /// Uses the threads of `pool`, which the caller can wait for after the server has ended.
    #[must_use]
    pub fn with_pool(self, pool: Arc<Pool>) -> Self {
        Self { pool, ..self }
    }

    /// Lets clients change the directory, except for names that `protect` matches. With `durable`, a change survives a
    /// power cut once it is reported.
    #[must_use]
    pub fn allow_write(mut self, protect: Protect, durable: bool) -> Self {
        // Nobody else holds the services before the server runs.
        if let Some(services) = Arc::get_mut(&mut self.services) {
            services.writable = Some(WritableRoot::new(Arc::clone(&services.root), protect, durable));
        }
        self.with_info()
    }

    /// The same, and the files of `folder`, a path without links, are prompts.
    #[must_use]
    pub fn with_prompts(mut self, folder: RelPath) -> Self {
        if let Some(services) = Arc::get_mut(&mut self.services) {
            let watched = Prompts { folder: folder.clone(), look: prompts::look };
            let watch = Watch::new(Arc::clone(&services.root), &services.limits).with_prompts(watched);
            services.watch = Arc::new(watch);
            services.prompts = Some(folder);
        }
        self.with_info()
    }

    fn with_info(self) -> Self {
        let Services { root, writable, prompts, watch, .. } = &*self.services;
        let info = ServerInfo::new(root, writable.is_some(), !watch.is_off(), prompts.is_some());
        Self { info, ..self }
    }

    /// Replaces the code behind calls, so that tests can make it slow or fail.
    #[must_use]
    pub fn with_dispatch(
        self,
        dispatch: impl Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { dispatch: Arc::new(dispatch), ..self }
    }

    /// Capabilities and instructions.
    pub(crate) fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// All limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.services.limits
    }

    /// One client's share of the memory for answers.
    pub(crate) fn share_of_memory(&self) -> Arc<Budget> {
        self.services.budget.share(self.limits().answer_bytes)
    }

    /// What all calls share.
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Finds work that is blocked.
    pub(crate) fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// Runs a call on this thread if nothing in it can block; returns `None` if it needs another thread.
    pub(crate) fn inline(&self, call: &Call) -> Option<Result<Outcome, Failure>> {
        let context = Context::new(Arc::clone(&self.services), Cancel::default(), None);
        let context = match dispatch::inline(call, context.root()) {
            Inline::Always => context.inline(None),
            Inline::SmallFile(path) => {
                let file = context.root().read_cached(&path)?;
                context.inline(Some(file))
            }
            Inline::Never => return None,
        };
        Some(run(&*self.dispatch, call, &context))
    }

    /// A thread for one more job: an idle one, a new one, or the next that becomes free. `None` if the system has no
    /// new thread and all existing ones are blocked.
    pub(crate) fn thread(&self) -> Option<Thread> {
        self.pool.thread(self.watchdog.blocked())
    }

    /// Runs a job on a thread and reports to `tell`: `Done` at the end, and `Blocked` before that if it gets stuck.
    pub(crate) fn submit(&self, thread: Thread, job: Job, tell: impl Fn(Completion) + Send + Sync + 'static) -> WorkId {
        let Job { call, cancel, progress, in_batch, budget } = job;
        let context = Context::new(Arc::clone(&self.services), cancel.clone(), progress);
        let context = context.in_batch(in_batch).with_budget(budget);
        let tell = Arc::new(tell);
        let blocked = Arc::clone(&tell);
        let held = Arc::clone(context.held());
        let work = self.watchdog.begin(cancel, held, move |verdict| blocked(Completion::Blocked(verdict)));
        let (dispatch, watchdog) = (Arc::clone(&self.dispatch), Arc::clone(&self.watchdog));
        thread.start(move || {
            watchdog.started(work);
            // It may have been cancelled while it waited for this thread.
            let cancelled = context.cancel.is_requested();
            let result = if cancelled { Err(Failure::Cancelled) } else { run(&*dispatch, &call, &context) };
            watchdog.end(work);
            apply_mount_policy(&watchdog, context.services());
            tell(Completion::Done(result, context.take_reservations()));
        });
        work
    }

    /// Finds blocked work of all peers. To be called regularly while there is any work.
    pub(crate) fn look_for_blocked(&self) {
        let found = self.watchdog.look();
        if found > 0 {
            let after = self.limits().io_time.as_secs();
            tracing::warn!("a file system has not responded for {after} s; {found} threads are stuck in it");
            apply_mount_policy(&self.watchdog, &self.services);
        }
    }

    /// Whether DIR is in its place and responds. May block.
    pub(crate) fn is_ready(&self) -> bool {
        self.services.root.is_in_place()
    }

    /// The answer to a call for which the system has no thread.
    pub(crate) fn without_thread(call: &Call) -> Result<Outcome, Failure> {
        dispatch::no_thread(call)
    }

    /// The answer to a call that is blocked.
    pub(crate) fn timed_out(&self, call: &Call) -> Result<Outcome, Failure> {
        dispatch::timed_out(call, self.limits().io_time)
    }
}

/// Blocked work shows that a file system does not respond. From then on, walks stay on DIR's own file system; once the
/// limit of threads left behind is reached, every operation does.
fn apply_mount_policy(watchdog: &Watchdog, services: &Services) {
    services.root.set_mount_policy(match watchdog.blocked() {
        0 => MountPolicy::Follow,
        blocked if blocked < services.limits.left_behind => MountPolicy::ExplicitOnly,
        _ => MountPolicy::Skip,
    });
}

/// Runs a call. A panic is a failure of that request alone.
fn run(dispatch: &Dispatch, call: &Call, context: &Context) -> Result<Outcome, Failure> {
    catch_unwind(AssertUnwindSafe(|| dispatch(call, context))).unwrap_or_else(|_| {
        tracing::error!("a request panicked; this is a bug in mcp-fs");
        Err(Failure::Internal("Internal error; the server keeps running.".to_owned()))
    })
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("services", &self.services).finish_non_exhaustive()
    }
}
