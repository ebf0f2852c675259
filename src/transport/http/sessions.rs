//! The sessions of legacy clients: found by an unguessable id, limited in number, and removed when idle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::client::Client;
use super::token;

/// More would be a bug or an attack. Of 9 clients examined, 5 never end their sessions.
const MOST: usize = 4_096;

/// How long an unused session is kept.
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

/// A session in use, by a request or an event stream, until this is dropped.
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
    /// Begins a session for a client that has initialized. `None` if there are too many and all are in use, or if the
    /// system has no random bytes.
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

    /// The session of this id, which is in use until the guard is dropped.
    pub(super) fn find(&self, id: &str) -> Option<InUse> {
        self.lock().get(id).map(InUse::new)
    }

    /// Ends a session: cancels its work and ends its streams.
    pub(super) fn end(&self, id: &str) -> bool {
        let ended = self.lock().remove(id);
        if let Some(session) = &ended {
            session.client.end();
        }
        ended.is_some()
    }

    /// Ends the sessions that have been idle for too long.
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

/// Whether only the map holds it. Must be called with the map locked, so that no request finds the session meanwhile.
fn is_idle(session: &Arc<Session>) -> bool {
    Arc::strong_count(session) == 1
}
