//! One client on stdin and stdout, one message a line
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio>).
//!
//! | module | holds |
//! | --- | --- |
//! | [`streams`] | stdin and stdout as what they are: pipes, sockets, anything else |
//! | [`lines`] | bytes to lines, bounded |
//! | [`outbox`] | answers to bytes: the only writer of stdout |
//! | [`drain`] | how long the end may take |

pub(crate) mod drain;
pub mod lines;
pub mod outbox;
pub mod streams;
