//! JSON-RPC 2.0: what any transport of MCP carries, and nothing about what it means.
//!
//! | module | turns | into |
//! | --- | --- | --- |
//! | [`message`] | bytes | a request, notification, response or batch, or why they are not one |
//! | [`error`] | a failure | code and message |
//! | [`body`] | an answer | the segments of one message |
//!
//! Which methods exist and what their parameters are is [`crate::protocol`]'s business.

pub(crate) mod body;
pub mod error;
pub mod message;
