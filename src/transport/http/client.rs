//! One client: a peer, and the task that passes it events from other threads. A legacy client is a session, a modern
//! client a connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::task::AbortHandle;

use super::exchanges::{Exchange, Exchanges, Parts, Unwritten};
use crate::jsonrpc::message::{Id, Message};
use crate::peer::{Events, Peer};
use crate::protocol::revision::Revision;
use crate::server::Server;

/// A client that several tasks may use at once. Its work is cancelled when it is dropped.
#[derive(Debug)]
pub(super) struct Client {
    peer: Mutex<Peer<Exchanges>>,
    pump: AbortHandle,
}

impl Client {
    /// A client that has not sent anything yet. Must be called within a tokio runtime.
    pub(super) fn new(server: &Arc<Server>) -> Arc<Self> {
        Arc::new_cyclic(|client| {
            let (mut peer, events) = Peer::new(Arc::clone(server), Exchanges::default());
            let unwritten = Arc::clone(peer.sink().unwritten());
            let pump = tokio::spawn(pump(Weak::clone(client), events, unwritten)).abort_handle();
            Self { peer: Mutex::new(peer), pump }
        })
    }

    /// Passes a message to the peer. `None` if too many requests are unanswered.
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

    /// The client no longer waits for the answer to the request of this id.
    pub(super) fn cancel(&self, id: &Id) {
        let mut peer = self.lock();
        peer.cancel(id);
        advance(&mut peer);
    }

    /// Opens the event stream of the session. An earlier one ends.
    pub(super) fn listen(&self) -> Parts {
        let mut peer = self.lock();
        let parts = peer.sink().open_session_stream();
        advance(&mut peer);
        parts
    }

    /// Ends all streams; those of requests end with their final result.
    pub(super) fn end_streams(&self) {
        let mut peer = self.lock();
        peer.end_streams();
        peer.sink().close_session_stream();
    }

    /// Cancels all work, and ends all streams.
    pub(super) fn end(&self) {
        self.lock().cancel_all();
        self.end_streams();
    }

    /// The revision that `initialize` negotiated.
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

/// Lets the peer continue. If something waits for room, the peer continues again once a message has been written.
fn advance(peer: &mut Peer<Exchanges>) {
    peer.advance();
    if peer.waits_for_room() {
        peer.sink().unwritten().wake_when_written();
        // Something may have been written just before that.
        peer.advance();
    }
}

/// Passes events of other threads to the peer, and lets it continue when messages have been written.
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
