//! A server: the directory, what is said of it, and the work behind each call.
//!
//! What happens on a connection is [`crate::peer`]'s business.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::call::{Call, Failure, Outcome};
use crate::context::{Context, Services};
use crate::dispatch;
use crate::features::resources::Snapshots;
use crate::features::watch::Watch;
use crate::limits::{Limits, WatchMode};
use crate::protocol::server_info::ServerInfo;
use crate::root::{Protect, Root, WritableRoot};
use crate::runtime::memory::Budget;
use crate::runtime::pool::Pool;
use crate::runtime::serial_executor::SerialExecutor;

/// Walks and listings that go on at once: each may hold a million names.
const WALKS: u64 = 4;

/// Searches that go on at once.
const SEARCHES: u64 = 4;

/// Copies, moves and deletions that go on at once: each may hold a tree of many names.
const CHANGES: u64 = 4;

/// Edits and writes of single files that go on at once. They do not wait for the changes above.
const EDITS: u64 = 8;

/// The work behind a call.
pub(crate) type Dispatch = dyn Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync;

/// A server for one directory. It serves one connection: stdio has no more.
pub struct Server {
    pub(crate) services: Arc<Services>,
    pub(crate) info: ServerInfo,
    pub(crate) dispatch: Arc<Dispatch>,
    pub(crate) pool: Arc<Pool>,
}

impl Server {
    /// Serves `root`, within `limits`, to be read only.
    pub fn new(root: Root, limits: Limits) -> Self {
        let root = Arc::new(root);
        let threads = limits.in_flight + limits.left_behind;
        Self {
            info: ServerInfo::new(&root, false, limits.watch.mode != WatchMode::Off),
            services: Arc::new(Services {
                watch: Watch::new(Arc::clone(&root), &limits),
                root,
                writable: None,
                budget: Budget::new(limits.answer_bytes),
                turns: Budget::new(WALKS),
                search_permits: Budget::new(SEARCHES),
                change_permits: Budget::new(CHANGES),
                edit_turns: Budget::new(EDITS),
                serial_executor: SerialExecutor::default(),
                snapshots: Snapshots::default(),
                limits,
            }),
            dispatch: Arc::new(dispatch::dispatch),
            pool: Arc::new(Pool::new(threads)),
        }
    }

    /// The same, and these threads work for it: whoever has the pool, too, can wait for them when it has ended.
    #[must_use]
    pub fn with_pool(self, pool: Arc<Pool>) -> Self {
        Self { pool, ..self }
    }

    /// The same, and clients may change what is in the directory, but for what has a name of `protect`. If changes are to
    /// be `durable`, they survive a power cut once they are reported.
    #[must_use]
    pub fn allow_write(mut self, protect: Protect, durable: bool) -> Self {
        // Nobody else has them before the server serves.
        if let Some(services) = Arc::get_mut(&mut self.services) {
            self.info = ServerInfo::new(&services.root, true, !services.watch.is_off());
            services.writable = Some(WritableRoot::new(Arc::clone(&services.root), protect, durable));
        }
        self
    }

    /// The same, with other work behind it: tests put slow and failing work there.
    #[must_use]
    pub fn with_dispatch(
        self,
        dispatch: impl Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { dispatch: Arc::new(dispatch), ..self }
    }

    /// Reads messages from `input` and writes answers to `output`, until the input ends and what it asked for is
    /// answered. Fails when either of them does; that the client closed our output is `BrokenPipe`.
    ///
    /// Must be called within a tokio runtime with time enabled.
    pub async fn serve<R, W>(self, input: R, output: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        self.serve_until(input, output, std::future::pending()).await
    }

    /// The same. Once the input has ended, it is `BrokenPipe` as well when `closed` is ready: that nobody reads `output`
    /// any more is otherwise noticed only when something is written.
    pub async fn serve_until<R, W>(self, input: R, output: W, closed: impl Future<Output = ()>) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        crate::peer::serve(self, input, output, closed).await
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("services", &self.services).finish_non_exhaustive()
    }
}
