//! mcp-fs serves one directory to MCP clients, as resources and as tools, and nothing outside it.
//!
//! It is also meant to be read, by people who learn the protocol. Start here, then follow a request:
//!
//! ```text
//!  bytes
//!    |  transport   bytes -> message            one client on stdin and stdout: lines, bounded; the only writer
//!    |  jsonrpc     message -> Request | Notification | Response | Batch, or Malformed
//!    |  peer        one client: its requests in progress, batches, subscriptions; answers exactly once
//!    |  protocol    Request -> Call             the rules of the revision; neutral words out
//!    |  server      shared by all peers: runs a Call inline or on a thread, and finds work that is blocked
//!    |  features    Call -> Outcome | Failure   one file a tool; no revision, no wire
//!    |  root        RelPath -> bytes, entries   the only code that touches the disk
//!    v
//!  Outcome | Failure -> protocol::encode -> the peer's sink -> transport -> bytes
//! ```
//!
//! A layer uses those below it and none above; `tests/it/layers.rs` checks that. Beside the way of a request: [`call`]
//! is the vocabulary that protocol and features share, [`services`] is what lives as long as the server (the watching
//! thread, snapshots of the list) and what a call has at hand of it, [`runtime`] has what work runs on (threads, permits,
//! memory, the request to stop), [`limits`] has every bound, [`text`] and [`bytes`] hold what may be large, [`hostile`]
//! knows the characters that are escaped wherever a name is shown. [`log`] writes to stderr; [`cli`] and [`check`] are
//! what a person sees.
//!
//! # Invariants
//!
//! 1. Only [`root`] touches the file system. `.clippy.toml` forbids it to everything else, and the ambient authority
//!    that a program is born with enters at one line, in [`root::Root::open`]. [`root::Root`] cannot change anything;
//!    what can is [`root::WritableRoot`], and that exists only with `--allow-write`.
//! 2. [`features`] names no revision, no transport and no wire type. A new tool is one file and one line.
//! 3. Every request gets exactly one answer, also when the work panics, unless it was cancelled. Notifications get
//!    none, and neither does anything that is a response.
//! 4. stdout carries lines of the protocol only. The log goes to stderr, with control characters escaped.
//! 5. No path outside the served directory, no environment value and no error number reaches a client. Kernel file
//!    systems such as /proc, where the process's own secrets can be read, are never served.
//! 6. Nothing is listed, reported or opened that was not reached through the root handle.
//! 7. On Linux the kernel confines the process to the directory before it reads the first line ([`root::sandbox`]),
//!    so that a fault in the first six does not lead outside.
//!
//! `tests/it/tidy.rs`, `tests/it/layers.rs` and the lints hold the first two; the tests named after the others hold those.
//!
//! # Why not an SDK
//!
//! The protocol layer is small, and its edges are what there is to learn: which era a message belongs to, which id an
//! error goes to, what is answered and what never is. An SDK hides them, and makes its own compromises: the official
//! Rust SDK drops a readable id, leaves a panic without an answer, and ends the process on an early notification.
//!
//! # What is left out, and why
//!
//! Client roots (`roots/list`): the directory on the command line is what is served; a client that could change it
//! would make the configuration a suggestion. Sampling and `logging/setLevel`: deprecated; stderr is the log. Prompts:
//! a directory has none. HTTP: one process, one client, one pipe, and so no authentication to get wrong.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod call;
pub mod check;
pub mod cli;
pub mod features;
pub mod hostile;
pub mod jsonrpc;
pub mod limits;
pub mod log;
pub mod object;
pub mod peer;
pub mod protocol;
pub mod root;
pub mod runtime;
pub mod server;
pub mod services;
pub mod text;
pub mod transport;
