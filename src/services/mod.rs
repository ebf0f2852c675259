//! What lives as long as the server, and what a call's work has at hand of it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`compiler`] | where patterns and queries are compiled, and equal ones shared |
//! | [`context`] | one call: its files, memory, permits, progress, and the request to stop |
//! | [`snapshot`] | the list that the pages of `resources/list` are taken from |
//! | [`watch`] | the thread that notices changes |

pub mod compiler;
pub mod context;
pub mod snapshot;
pub mod watch;

use std::sync::Arc;

use self::compiler::Compiler;
use self::snapshot::Snapshots;
use self::watch::Watch;
use crate::limits::Limits;
use crate::root::{Root, WritableRoot};
use crate::runtime::memory::Budget;
use crate::runtime::serial_executor::SerialExecutor;

/// Walks and listings that go on at once: each may hold a million names.
const WALKS: u64 = 4;

/// Searches that go on at once.
const SEARCHES: u64 = 4;

/// Copies, moves and deletions that go on at once: each may hold a tree of many names.
const CHANGES: u64 = 4;

/// Edits and writes of single files that go on at once. They do not wait for the changes above.
const EDITS: u64 = 8;

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
    /// What notices changes.
    pub watch: Arc<Watch>,
    /// Memory for answers to all clients. Each client has a share of half of it at most, so that one that does not read
    /// leaves the rest to others.
    pub budget: Arc<Budget>,
    /// Walks and listings at once.
    pub turns: Arc<Budget>,
    /// Searches at once.
    pub search_permits: Arc<Budget>,
    /// Copies, moves and deletions at once.
    pub change_permits: Arc<Budget>,
    /// Edits and writes of single files at once.
    pub edit_turns: Arc<Budget>,
    /// Where large files are edited.
    pub serial_executor: SerialExecutor,
    /// Where queries and patterns are compiled.
    pub compiler: Compiler,
    /// Where files are searched that take much memory.
    pub search_bench: SerialExecutor,
    /// Threads of all searches together, beside the first of each.
    pub search_helpers: Arc<Budget>,
}

impl Services {
    /// For `root`, to be read only.
    pub fn new(root: Root, limits: Limits) -> Self {
        let root = Arc::new(root);
        Self {
            watch: Arc::new(Watch::new(Arc::clone(&root), &limits)),
            root,
            writable: None,
            budget: Budget::new(2 * limits.answer_bytes),
            turns: Budget::new(WALKS),
            search_permits: Budget::new(SEARCHES),
            change_permits: Budget::new(CHANGES),
            edit_turns: Budget::new(EDITS),
            serial_executor: SerialExecutor::default(),
            compiler: Compiler::default(),
            search_bench: SerialExecutor::default(),
            search_helpers: Budget::new(limits.search_threads.saturating_sub(1) as u64),
            snapshots: Snapshots::default(),
            limits,
        }
    }
}
