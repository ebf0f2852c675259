//! The open connections, limited in number. At the limit, an idle connection is closed to admit the next, preferably
//! one that never showed the token.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use super::endpoint::Connection;

/// One open connection.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) connection: Connection,
    /// Notified when it has to close.
    pub(super) evicted: Notify,
    in_progress: AtomicUsize,
    used: Mutex<Instant>,
}

impl Open {
    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is in progress until the returned guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        self.in_progress.fetch_add(1, Ordering::Relaxed);
        InProgress(Arc::clone(self))
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress(Arc<Open>);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.in_progress.fetch_sub(1, Ordering::Relaxed);
        *self.0.used() = Instant::now();
    }
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    all: Mutex<HashMap<u64, Arc<Open>>>,
    next: AtomicUsize,
}

/// Removes its connection from the map when dropped.
#[derive(Debug)]
pub(super) struct Entry {
    connections: Arc<Connections>,
    key: u64,
    pub(super) open: Arc<Open>,
}

impl Connections {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, all: Mutex::default(), next: AtomicUsize::new(0) })
    }

    /// Adds a connection, and closes an idle one if necessary. `None` if all are busy.
    pub(super) fn add(self: &Arc<Self>, connection: Connection) -> Option<Entry> {
        let open = Open {
            connection,
            evicted: Notify::new(),
            in_progress: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        };
        let open = Arc::new(open);
        let mut all = self.lock();
        if all.len() >= self.most {
            let idle = all.iter().filter(|(_, open)| open.in_progress.load(Ordering::Relaxed) == 0);
            let key = *idle.min_by_key(|(_, open)| (open.connection.is_admitted(), *open.used()))?.0;
            all.remove(&key)?.evicted.notify_one();
        }
        let key = self.next.fetch_add(1, Ordering::Relaxed) as u64;
        all.insert(key, Arc::clone(&open));
        Some(Entry { connections: Arc::clone(self), key, open })
    }

    /// Ends the streams of all modern clients.
    pub(super) fn end_streams(&self) {
        let all: Vec<Arc<Open>> = self.lock().values().map(Arc::clone).collect();
        for open in all {
            open.connection.end_streams();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Open>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.key);
    }
}
