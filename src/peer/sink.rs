//! How a peer speaks: the one thing that it needs of a transport.

use super::batch::BatchKey;
use crate::jsonrpc::body::Body;
use crate::jsonrpc::message::Id;
use crate::runtime::memory::Reservation;

/// What a message belongs to. On stdio all messages go the same way; over HTTP each has a response or an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// The answer to the request of this id, or to a message without a readable one.
    Answer(Option<&'a Id>),
    /// The answers to a batch.
    Batch(BatchKey),
    /// About a request in progress.
    Progress(&'a Id),
    /// A notification on the stream that the request of this id opened.
    Stream(&'a Id),
    /// The answer to that request, which ends the stream.
    StreamEnd(&'a Id),
    /// To the client of a session, about nothing in particular.
    Session,
}

impl Destination<'_> {
    /// Whether messages for it must arrive in the order in which they were sent.
    pub(crate) fn keeps_order(self) -> bool {
        matches!(self, Self::Stream(_) | Self::StreamEnd(_) | Self::Session)
    }
}

/// Takes a peer's messages and passes them on when the client takes them. It never waits.
pub(crate) trait Sink {
    /// Takes one message. `held` is the memory that was set aside for it, to be given back when it is written.
    fn send(&mut self, to: Destination<'_>, body: Body, held: Vec<Reservation>);

    /// Says that nothing more will be sent there, as the client wants no answer any more.
    fn dismiss(&mut self, _to: Destination<'_>) {}

    /// How many more notifications it takes there before those that it has are written.
    fn room(&self, to: Destination<'_>) -> usize;

    /// How many answers have not been written to their end.
    fn unwritten(&self) -> usize;

    /// The memory of all that is still to be written.
    fn bytes(&self) -> usize;
}
