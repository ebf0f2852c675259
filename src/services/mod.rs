//! What lives as long as the server, and what a call's work has at hand of it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`compiler`] | where patterns and queries are compiled, and equal ones shared |
//! | [`context`] | one call: its files, memory, permits, progress, and the request to stop |
//! | [`snapshot`] | the list that the pages of `resources/list` are taken from |
//! | [`watch`] | the thread that notices changes |

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
    /// The same, to be changed; only with `--allow-write`.
    pub writable: Option<WritableRoot>,
    /// How much of everything.
    pub limits: Limits,
    /// The lists that `resources/list` is giving out in pages.
    pub snapshots: Snapshots,
    /// The folder whose files are prompts, where it really is; only with `--prompts`.
    pub prompts: Option<RelPath>,
    /// What notices changes.
    pub watch: Arc<Watch>,
    /// Memory for answers to all clients. Each client has a share of half of it at most, so that one that does not read
    /// leaves the rest to others.
    pub budget: Arc<Budget>,
    /// How much work of each kind goes on at once.
    pub permits: Permits,
    /// Where large files are edited.
    pub serial_executor: SerialExecutor,
    /// Where queries and patterns are compiled.
    pub compiler: Compiler,
    /// Where files are searched that take much memory.
    pub search_bench: SerialExecutor,
}

impl Services {
    /// For `root`, to be read only.
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
            search_bench: SerialExecutor::default(),
            snapshots: Snapshots::default(),
            limits,
        }
    }
}
