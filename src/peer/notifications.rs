//! What the client hears without asking each time: changes of resources and of their list.

use super::sink::{Destination, Sink};
use super::{Peer, send};
use crate::call::{Failure, ListKind, Listening, Outcome};
use crate::jsonrpc::message::Id;
use crate::protocol::{Era, Reply, encode};

impl<S: Sink> Peer<S> {
    /// Applies the effect of a call on the client's subscriptions. Returns `None` if the answer comes when the stream
    /// ends.
    pub(super) fn take_effect(&mut self, id: &Id, era: Era, outcome: Outcome) -> Result<Option<Reply>, Failure> {
        match outcome {
            Outcome::Subscribe(subscription) => {
                self.subscriptions.subscribe(subscription).map_err(|why| Failure::Internal(why.to_string()))?;
            }
            Outcome::Unsubscribe(subject) => self.subscriptions.unsubscribe(&subject),
            Outcome::Listen(listening) => return self.open_stream(id, listening).map(|()| None),
            other => {
                let list = match &other {
                    Outcome::Resources(page) => page.fingerprint.map(|list| (ListKind::Resources, list)),
                    Outcome::Prompts(page) => page.fingerprint.map(|list| (ListKind::Prompts, list)),
                    _ => None,
                };
                if let Some((kind, list)) = list.filter(|_| !self.server.services().watch.is_off()) {
                    // A modern client opens a stream to hear about the list; a legacy client shows its interest by
                    // listing.
                    self.subscriptions.listed(kind, list, era != Era::Modern);
                }
                return Ok(Some(Reply::Outcome(other)));
            }
        }
        Ok(Some(Reply::Empty))
    }

    /// Opens a stream. Its acknowledgement is sent before anything else on it.
    fn open_stream(&mut self, id: &Id, listening: Listening) -> Result<(), Failure> {
        let most = self.server.limits().watch.streams;
        if self.subscriptions.streams() >= most {
            let message = format!("Too many open streams (limit {most}); close one first.");
            return Err(Failure::Internal(message));
        }
        let lists = listening.lists.clone();
        let uris = self.subscriptions.open(id.clone(), listening);
        let acknowledgement = encode::acknowledgement(id, &lists, &uris);
        self.send(Destination::Stream(id), acknowledgement, Vec::new());
        Ok(())
    }

    /// Sends notifications of changes as fast as the client takes them. A change that cannot be sent now is sent once,
    /// later.
    pub(super) fn notify(&mut self) {
        let (sink, legacy) = (&mut self.sink, self.session.listener());
        self.subscriptions.offer_changes(|stream, outbound| {
            let to = stream.map_or(Destination::Session, Destination::Stream);
            let era = if stream.is_some() { Some(Era::Modern) } else { legacy };
            let Some(era) = era.filter(|_| sink.room(to) > 0) else { return false };
            send(sink, to, encode::notification(era, stream, outbound), Vec::new());
            true
        });
    }

    /// Ends all streams with their final result, for a client that sends no more but still reads.
    pub(crate) fn end_streams(&mut self) {
        for id in self.subscriptions.end_streams() {
            let body = encode::result(&id, Era::Modern, Reply::StreamEnd, self.server.info());
            self.send(Destination::StreamEnd(&id), body, Vec::new());
        }
    }
}
