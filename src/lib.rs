//! mcp-fs serves one directory to MCP clients, as resources and as tools, and nothing outside it.
//!
//! The code is also meant to be read by people who learn the protocol. `ARCHITECTURE.md` has the map, with links. To
//! follow a request:
//!
//! ```text
//!  bytes
//!    |  transport   bytes -> message            stdio: lines; http: bodies and event streams
//!    |  jsonrpc     message -> Request | Notification | Response | Batch, or Malformed
//!    |  peer        one client: its requests in flight, batches, subscriptions; answers exactly once
//!    |  protocol    Request -> Call             the rules of the revision; neutral vocabulary out
//!    |  server      shared by all peers: runs a Call inline or on a thread, and finds stuck work
//!    |  features    Call -> Outcome | Failure   one file per tool; no revision, no wire type
//!    |  root        RelPath -> bytes, entries   the only code that touches the disk
//!    v
//!  Outcome | Failure -> protocol::encode -> the peer's sink -> transport -> bytes
//! ```
//!
//! A layer may use the layers below it, never those above; `tests/it/layers.rs` checks that. Beside them, [`call`] is
//! the vocabulary shared by protocol and features; [`services`] holds what lives as long as the server (the watcher,
//! snapshots of the list); [`runtime`] has threads, permits, memory budgets and cancellation; [`limits`] has every
//! bound; [`text`] and [`bytes`] hold large data; [`hostile`] knows which characters must be escaped in names; [`log`]
//! writes to stderr; [`cli`] and [`check`] face the person at the terminal.
//!
//! # Invariants
//!
//! 1. Only [`root`] touches the file system, apart from stdin and stdout, and the token file and socket of HTTP, which are
//!    opened before the sandbox. `.clippy.toml` forbids it elsewhere. Ambient authority enters at one line, in
//!    [`root::Root::open`]. [`root::Root`] cannot change anything; [`root::WritableRoot`] can, and exists only with
//!    `--allow-write`.
//! 2. [`features`] names no revision, no transport and no wire type. Adding a tool is one file and one line.
//! 3. Every request gets exactly one answer, even if the work panics, unless it was cancelled. Notifications and responses
//!    get none.
//! 4. stdout carries protocol messages only. The log goes to stderr, with control characters escaped.
//! 5. No path outside the served directory, no environment value and no error number reaches a client. Kernel file
//!    systems such as /proc, where the process's own secrets can be read, are never served.
//! 6. Nothing is listed, reported or opened that was not reached through the root handle.
//! 7. On Linux the kernel confines the process to the directory before it reads the first message ([`root::sandbox`]), so
//!    that a bug in the first six does not lead outside.
//!
//! `tests/it/tidy.rs`, `tests/it/layers.rs` and lints check the first two. The others are checked by tests named after
//! them.
//!
//! # Why not an SDK
//!
//! The protocol layer is small, and its edge cases are what there is to learn: which era a message belongs to, which id
//! an error carries, which messages get no answer. An SDK hides these, and compromises on some: the official Rust SDK
//! loses an id that could be read, leaves a request unanswered after a panic, and ends the process on an early
//! notification.
//!
//! # What is left out, and why
//!
//! Client roots (`roots/list`): a client that could change the served directory would make the configuration a suggestion.
//! Sampling and `logging/setLevel`: deprecated; the log goes to stderr. The HTTP+SSE transport of 2024-11-05: replaced.

#![forbid(unsafe_code)]

mod bytes;
pub mod call;
pub mod check;
pub mod cli;
pub mod features;
pub mod hostile;
pub mod jsonrpc;
pub mod limits;
pub mod log;
pub mod object;
mod peer;
mod protocol;
pub mod root;
pub mod runtime;
pub mod server;
pub mod services;
mod text;
pub mod transport;
