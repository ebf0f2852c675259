//! Where a peer's messages go: the one thing that it needs of a transport.

use super::batch::BatchKey;
use crate::jsonrpc::body::Body;
use crate::jsonrpc::message::Id;
use crate::runtime::memory::Reservation;

/// What a message belongs to. On stdio all messages go the same way; over HTTP each goes to a response or an event
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// The answer to the request of this id, or to a message without a readable id.
    Answer(Option<&'a Id>),
    /// The answers to a batch.
    Batch(BatchKey),
    /// Progress of a request.
    Progress(&'a Id),
    /// A notification on the stream that the request of this id opened.
    Stream(&'a Id),
    /// The answer to that request, which ends the stream.
    StreamEnd(&'a Id),
    /// A notification to the client of a session that belongs to no request.
    Session,
}

impl Destination<'_> {
    /// Whether messages to this destination must arrive in the order in which they were sent.
    pub(crate) fn keeps_order(self) -> bool {
        matches!(self, Self::Stream(_) | Self::StreamEnd(_) | Self::Session)
    }
}

/// Takes a peer's messages and writes them when the client reads. It never waits.
pub(crate) trait Sink {
    /// Takes one message. `held` is the memory reserved for it, released when it is written.
    fn send(&mut self, to: Destination<'_>, body: Body, held: Vec<Reservation>);

    /// Nothing more will be sent to this destination, because the client no longer wants an answer.
    fn dismiss(&mut self, _to: Destination<'_>) {}

    /// How many more notifications this destination takes before its earlier ones are written.
    fn room(&self, to: Destination<'_>) -> usize;

    /// How many answers are not completely written.
    fn unwritten(&self) -> usize;

    /// The memory of everything that is not yet written.
    fn bytes(&self) -> usize;
}
