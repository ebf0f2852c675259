//! JSON-RPC 2.0 over lines: what MCP's stdio transport puts on the wire, and nothing about what it means.
//!
//! | module | turns | into |
//! | --- | --- | --- |
//! | [`lines`] | bytes | lines, bounded |
//! | [`message`] | a line | a request, notification, response or batch, or why it is none |
//! | [`error`] | a failure | code and message |
//! | [`json`] | an answer | the segments of one line |
//! | [`outbox`] | answers | bytes, written as the client takes them |
//!
//! Which methods exist and what their parameters are is [`crate::protocol`]'s business.

pub mod body;
pub mod error;
pub mod message;
