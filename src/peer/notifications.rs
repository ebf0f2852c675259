//! What the client hears without asking each time: that resources have changed, and which there are.

use tokio::io::AsyncWrite;

use super::Connection;
use crate::call::{Failure, Listening, Outcome};
use crate::jsonrpc::message::Id;
use crate::protocol::{Era, Reply, encode};
use crate::transport::stdio::outbox::Answer;

/// Messages in the outbox up to which news is added: what a client does not take, it gets once when it does.
const AHEAD: usize = 64;

impl<W: AsyncWrite + Unpin> Connection<W> {
    /// Keeps what lasts longer than the answer. `None`: the answer comes later, when the stream ends.
    pub(super) fn take_up(&mut self, id: &Id, era: Era, outcome: Outcome) -> Result<Option<Reply>, Failure> {
        match outcome {
            Outcome::Subscribed(subscription) => {
                let subscribed = self.subscribers.subscribe(subscription, &self.server.services.watch);
                subscribed.map_err(|why| Failure::Internal(why.to_string()))?;
            }
            Outcome::Unsubscribed(subject) => self.subscribers.unsubscribe(&subject),
            Outcome::Listening(listening) => return self.open_stream(id, listening).map(|()| None),
            Outcome::Resources(page) => {
                let watch = &self.server.services.watch;
                if let Some(list) = page.fingerprint.filter(|_| !watch.is_off()) {
                    watch.listed(list);
                    // A modern client says so with a stream; a legacy one shows by this that it wants to know.
                    if era != Era::Modern {
                        self.subscribers.watch_list(|| watch.watch_list());
                    }
                }
                return Ok(Some(Reply::Outcome(Outcome::Resources(page))));
            }
            other => return Ok(Some(Reply::Outcome(other))),
        }
        Ok(Some(Reply::Empty))
    }

    /// Acknowledges a stream, before it tells of anything.
    fn open_stream(&mut self, id: &Id, listening: Listening) -> Result<(), Failure> {
        let most = self.server.services.limits.watch.streams;
        if self.subscribers.streams() >= most {
            let message = format!("There are {most} open streams, and cannot be more; cancel one of them first.");
            return Err(Failure::Internal(message));
        }
        let list = listening.list;
        let uris = self.subscribers.open(id.clone(), listening, &self.server.services.watch);
        let acknowledgement = encode::acknowledgement(id, list, &uris);
        self.push(acknowledgement, Answer::in_order);
        Ok(())
    }

    /// Tells what there is to tell, as fast as the client takes it.
    pub(super) fn send_news(&mut self) {
        let room = AHEAD.saturating_sub(self.outbox.unwritten());
        let legacy = self.session.listener();
        for (stream, outbound) in self.subscribers.take_news(room, legacy.is_some()) {
            let era = if stream.is_some() { Era::Modern } else { legacy.unwrap_or(Era::Modern) };
            self.push(encode::notification(era, stream.as_ref(), &outbound), Answer::in_order);
        }
    }

    /// Ends all streams: the client says nothing more, and wants to hear the end.
    pub(super) fn end_streams(&mut self) {
        for id in self.subscribers.end_streams() {
            let body = encode::result(&id, Era::Modern, Reply::StreamEnd, &self.server.info);
            self.push(body, Answer::in_order);
        }
    }
}
