//! What work runs on, whatever it is: cancellation, memory, permits, threads, and the watchdog.
//!
//! | module | holds |
//! | --- | --- |
//! | [`cancel`] | the request to stop, and the checkpoints that show progress |
//! | [`concurrent`] | several operations in flight for one call |
//! | [`memory`] | a budget of bytes |
//! | [`permits`] | how much work of one kind runs at once, and what one call holds |
//! | [`pool`] | threads for work that may block |
//! | [`serial_executor`] | one thread for work that takes much memory |
//! | [`watchdog`] | finds work that is blocked in a system call |

pub mod cancel;
pub(crate) mod concurrent;
pub(crate) mod memory;
pub mod permits;
pub mod pool;
pub(crate) mod serial_executor;
pub(crate) mod watchdog;
