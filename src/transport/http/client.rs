//! One client: a peer, and the task that tells it what other threads have done. A legacy client is a session, a modern
//! one a connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::task::AbortHandle;

use super::exchanges::{Exchange, Exchanges, Parts, Unwritten};
use crate::jsonrpc::message::{Id, Message};
use crate::peer::{Events, Peer};
use crate::protocol::revision::Revision;
use crate::server::Server;

/// A client that may be asked by several tasks at once. When it is dropped its work is cancelled.
#[derive(Debug)]
pub(super) struct Client {
    peer: Mutex<Peer<Exchanges>>,
    pump: AbortHandle,
}

impl Client {
    /// A client that has said nothing yet. Must be called within a tokio runtime.
    pub(super) fn new(server: &Arc<Server>) -> Arc<Self> {
        Arc::new_cyclic(|client| {
            let (mut peer, events) = Peer::new(Arc::clone(server), Exchanges::default());
            let unwritten = Arc::clone(peer.sink().unwritten());
            let pump = tokio::spawn(pump(Weak::clone(client), events, unwritten)).abort_handle();
            Self { peer: Mutex::new(peer), pump }
        })
    }

    /// Takes a message. `None`: there are too many requests without an answer.
    pub(super) fn exchange(&self, message: Message<'_>, bytes: usize, takes_notifications: bool) -> Option<Exchange> {
        let mut peer = self.lock();
        if !peer.has_room() {
            return None;
        }
        let id = match &message {
            Message::Request(request) => Some(request.id.clone()),
            Message::Malformed(id, _) => id.clone(),
            _ => None,
        };
        peer.sink().begin(id);
        let batch = peer.receive(message, bytes);
        let exchange = peer.sink().end(batch, takes_notifications);
        advance(&mut peer);
        Some(exchange)
    }

    /// Nobody waits any more for the answer to the request of this id.
    pub(super) fn cancel(&self, id: &Id) {
        let mut peer = self.lock();
        peer.cancel(id);
        advance(&mut peer);
    }

    /// Opens the event stream of the session; an older one ends.
    pub(super) fn listen(&self) -> Parts {
        let mut peer = self.lock();
        let parts = peer.sink().open_session_stream();
        advance(&mut peer);
        parts
    }

    /// Ends all streams: those of requests with their final result.
    pub(super) fn end_streams(&self) {
        let mut peer = self.lock();
        peer.end_streams();
        peer.sink().close_session_stream();
    }

    /// Cancels all that is in progress, and ends all streams.
    pub(super) fn end(&self) {
        self.lock().cancel_all();
        self.end_streams();
    }

    /// What `initialize` agreed on.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.lock().revision()
    }

    fn lock(&self) -> MutexGuard<'_, Peer<Exchanges>> {
        self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

/// Lets the peer go on. If something waits for room, it goes on again when an answer or notification was written.
fn advance(peer: &mut Peer<Exchanges>) {
    peer.advance();
    if peer.waits_for_room() {
        peer.sink().unwritten().wake_when_written();
        // Something may have been written before that was said.
        peer.advance();
    }
}

/// Gives the peer the events of other threads, and lets it go on when answers were written.
async fn pump(client: Weak<Client>, mut events: Events, unwritten: Arc<Unwritten>) {
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = unwritten.written() => None,
        };
        let Some(client) = client.upgrade() else { return };
        let mut peer = client.lock();
        if let Some(event) = event {
            peer.on_event(event);
        }
        while let Ok(event) = events.try_recv() {
            peer.on_event(event);
        }
        advance(&mut peer);
    }
}
