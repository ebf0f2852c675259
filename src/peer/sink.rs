//! How a peer speaks: the one thing that it needs of a transport.

use crate::jsonrpc::body::Body;
use crate::jsonrpc::message::Id;
use crate::runtime::memory::Reservation;

/// What a message belongs to. On stdio all messages go the same way; over HTTP each has a response or an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// The answer to the request of this id, to a batch, or to a message without a readable id.
    Answer(Option<&'a Id>),
    /// About a request in progress.
    Progress(&'a Id),
    /// On the stream that the request of this id opened; its end, too.
    Stream(&'a Id),
    /// To the client of a session, about nothing in particular.
    Session,
}

impl Destination<'_> {
    /// Whether messages for it must arrive in the order in which they were sent.
    pub fn keeps_order(self) -> bool {
        matches!(self, Self::Stream(_) | Self::Session)
    }
}

/// Takes a peer's messages and passes them on when the client takes them. It never waits.
pub trait Sink {
    /// Takes one message. `held` is the memory that was set aside for it, to be given back when it is written.
    fn send(&mut self, to: Destination<'_>, body: Body, held: Vec<Reservation>);

    /// How many messages have not been written to their end.
    fn unwritten(&self) -> usize;

    /// The memory of all that is still to be written.
    fn bytes(&self) -> usize;
}
