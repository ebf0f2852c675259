//! The sessions of legacy clients: found by an id that cannot be guessed, bounded in number, and removed when idle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::client::Client;
use super::token;

/// More would not be clients but a mistake or an attack: 5 of 9 clients that were looked at never end a session.
const MOST: usize = 4_096;

/// A session ends when it was not used for this long.
const IDLE: Duration = Duration::from_mins(30);

/// One legacy client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) client: Arc<Client>,
    used: Mutex<Instant>,
}

impl Session {
    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is in use, by a request or an event stream, until this is dropped.
#[derive(Debug)]
pub(super) struct InUse(Arc<Session>);

impl InUse {
    fn new(session: &Arc<Session>) -> Self {
        Self(Arc::clone(session))
    }
}

impl std::ops::Deref for InUse {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        *self.0.used() = Instant::now();
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: Mutex<HashMap<String, Arc<Session>>>,
}

impl Sessions {
    /// Begins a session for a client that has initialized. `None`: there are too many, and all are in use, or the system
    /// has no random bytes.
    pub(super) fn begin(&self, client: Arc<Client>) -> Option<InUse> {
        let id = token::random()?;
        let session = Arc::new(Session { id: id.clone(), client, used: Mutex::new(Instant::now()) });
        let mut all = self.lock();
        if all.len() >= MOST {
            let idle = all.values().filter(|session| is_idle(session));
            let oldest = idle.min_by_key(|session| *session.used()).map(|session| session.id.clone())?;
            all.remove(&oldest);
        }
        let used = InUse::new(&session);
        all.insert(id, session);
        Some(used)
    }

    /// The session of this id, for as long as it is used.
    pub(super) fn find(&self, id: &str) -> Option<InUse> {
        self.lock().get(id).map(InUse::new)
    }

    /// Ends a session: its work is cancelled, its streams end.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.lock().remove(id);
        if let Some(session) = &ended {
            session.client.end();
        }
        ended.is_some()
    }

    /// Ends those that were not used for long.
    pub(super) fn expire(&self) {
        self.lock().retain(|_, session| !is_idle(session) || session.used().elapsed() < IDLE);
    }

    /// All clients that have a session.
    pub(super) fn clients(&self) -> Vec<Arc<Client>> {
        self.lock().values().map(|session| Arc::clone(&session.client)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing but the map has it. Checked while the map is locked, so that no request finds it meanwhile.
fn is_idle(session: &Arc<Session>) -> bool {
    Arc::strong_count(session) == 1
}
