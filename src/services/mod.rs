//! What lives as long as the server, and what the work of a call can use of it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`compiler`] | compiles patterns and queries, and shares equal ones |
//! | [`context`] | one call: its files, memory, permits, progress, and cancellation |
//! | [`snapshot`] | the list from which pages of `resources/list` are taken |
//! | [`watch`] | the thread that detects changes |

pub(crate) mod compiler;
pub mod context;
pub(crate) mod snapshot;
pub(crate) mod watch;

use std::sync::Arc;

use self::compiler::Compiler;
use self::snapshot::Snapshots;
use self::watch::Watch;
use crate::limits::Limits;
use crate::root::{RelPath, Root, WritableRoot};
use crate::runtime::memory::Budget;
use crate::runtime::permits::Permits;
use crate::runtime::serial_executor::SerialExecutor;

/// What lives as long as the server.
#[derive(Debug)]
pub struct Services {
    /// The served directory.
    pub root: Arc<Root>,
    /// The same for writing; only with `--allow-write`.
    pub writable: Option<WritableRoot>,
    /// All limits.
    pub limits: Limits,
    /// The snapshots from which `resources/list` returns pages.
    pub snapshots: Snapshots,
    /// The real path of the folder whose files are prompts; only with `--prompts`.
    pub prompts: Option<RelPath>,
    /// The change watcher.
    pub watch: Arc<Watch>,
    /// Memory for answers to all clients. A client's share is at most half of it, so that one that does not read leaves
    /// the rest to others.
    pub budget: Arc<Budget>,
    /// How much work of each kind may run at once.
    pub permits: Permits,
    /// Edits large files.
    pub serial_executor: SerialExecutor,
    /// Compiles queries and patterns.
    pub compiler: Compiler,
    /// Searches files that take much memory.
    pub search_executor: SerialExecutor,
}

impl Services {
    /// The services of a read-only server for `root`.
    pub fn new(root: Root, limits: Limits) -> Self {
        let root = Arc::new(root);
        Self {
            watch: Arc::new(Watch::new(Arc::clone(&root), &limits)),
            root,
            writable: None,
            prompts: None,
            budget: Budget::new(2 * limits.answer_bytes),
            permits: Permits::new(limits.search_threads),
            serial_executor: SerialExecutor::default(),
            compiler: Compiler::default(),
            search_executor: SerialExecutor::default(),
            snapshots: Snapshots::default(),
            limits,
        }
    }
}
