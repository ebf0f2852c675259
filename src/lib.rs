//! mcp-fs serves one directory to an MCP client over stdio, as resources and as tools, and nothing outside it.
//!
//! It is also meant to be read, by people who learn the protocol. Start here, then follow a request:
//!
//! ```text
//!  stdin bytes
//!    |  wire::lines     bytes -> line               bounded; BOM, CR, no final newline, EOF
//!    |  wire::message   line  -> Request | Notification | Response | Batch, or Malformed
//!    |  connection      one loop: registers the id, owns the only writer, answers exactly once
//!    |  era             Request -> Call             the rules of the revision; neutral words out
//!    |  dispatch        Call  -> feature            one match
//!    |  features        Call  -> Outcome | Failure  knows the root and its arguments; no era, no wire
//!    |  root            RelPath -> bytes, entries   the only code that touches the disk
//!    v
//!  Outcome | Failure -> era::dress -> wire::json -> wire::outbox -> stdout
//! ```
//!
//! [`server`] puts these together. [`call`] is the waist between the halves: eras translate to it, features work in
//! it, with a [`context`] at hand. [`limits`] has every bound, [`memory`] and [`inflight`] keep two of them,
//! [`pool`] has the threads for work that blocks, [`serial_executor`] is where much memory is used, [`subscribers`] knows who hears
//! of changes, [`cancel`] is the word to stop, [`text`] holds what may be large. [`hostile`] knows the characters that are
//! escaped wherever a name is shown.
//! [`stdio`] opens stdin and stdout as what they are, [`log`] writes to stderr, [`cli`] and [`check`] are what a person
//! sees.
//!
//! # Invariants
//!
//! 1. Only [`root`] touches the file system. `.clippy.toml` forbids it to everything else, and the ambient authority
//!    that a program is born with enters at one line, in [`root::Root::open`]. [`root::Root`] cannot change anything;
//!    what can is [`root::WritableRoot`], and that exists only with `--allow-write`.
//! 2. [`features`] names no era and no wire type. A new tool is one file and one line.
//! 3. Every request gets exactly one answer, also when the work panics, unless it was cancelled. Notifications get
//!    none, and neither does anything that is a response.
//! 4. stdout carries lines of the protocol only. The log goes to stderr, with control characters escaped.
//! 5. No path outside the served directory, no environment value and no error number reaches a client. Kernel file
//!    systems such as /proc, where the process's own secrets can be read, are never served.
//! 6. Nothing is listed, reported or opened that was not reached through the root handle.
//! 7. On Linux the kernel confines the process to the directory before it reads the first line ([`root::sandbox`]),
//!    so that a fault in the first six does not lead outside.
//!
//! `tests/it/tidy.rs` and the lints hold the first two; the tests named after the others hold those.
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
