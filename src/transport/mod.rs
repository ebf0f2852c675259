//! Bytes in, bytes out: how messages travel. What they mean is up to the [`peer`](crate::peer).

pub mod http;
pub mod stdio;
