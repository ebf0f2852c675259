//! JSON-RPC 2.0: the part that every transport of MCP has in common, without any meaning.
//!
//! | module | turns | into |
//! | --- | --- | --- |
//! | [`message`] | bytes | a request, notification, response or batch, or the reason why they are none of these |
//! | [`error`] | a failure | code and message |
//! | [`body`] | an answer | the segments of one message |
//!
//! Methods and their parameters are defined in [`crate::protocol`].

pub(crate) mod body;
pub mod error;
pub mod message;
