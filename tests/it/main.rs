//! The integration tests: one binary, so that it links once. A new file gets its `mod` line here, below the comment
//! that says what belongs in it; `tidy::no_forgotten_files` fails otherwise.
//!
//! Start reading in `support`: a served directory ([`support::Tree`]), the server in this process
//! ([`support::TestServer`]), the real program ([`support::Process`]), and the rules that every line written by either
//! must follow ([`support::conversation`]).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests set their scene on the real disk")]
#![allow(clippy::print_stderr, reason = "a failed test shows what was said")]

// The base of all others; no tests except its own.
mod support;

// Layers, file lengths, module docs, registries: rules for the source itself.
mod tidy;

// The order of the layers.
mod layers;

// The lessons in tests/transcripts/*.txt, replayed word for word against the real program.
mod transcripts;

// Framing and JSON-RPC: garbage, BOM, CR, huge lines, bad UTF-8, ids, batches, no final newline.
mod wire;

// Which era a message belongs to: (opening message) x (state), and both eras interleaved in one process.
mod eras;

// 2024-11-05 to 2025-11-25: initialize, early requests, ping, what each revision's results may hold.
mod legacy;

// 2026-07-28: `_meta`, discover, unsupported versions, caching fields.
mod modern;

// `notifications/progress`: who receives it, under which token, in which form.
mod progress;

// The cases in which the official Rust SDK falls short: one table of what was sent and what this server answers.
mod sdk_edges;

// Several clients of one server, side by side.
mod peers;

// Streamable HTTP: the rules of the transport by their numbers, over bare sockets.
#[cfg(unix)]
mod http;

// Cancelling before, during and after; unknown and duplicate ids; panics; limits; the end of input in flight.
mod cancellation;

// Escape attempts x everything that takes a path; denied names; special files; races; read-only mode.
mod sandbox;

// Each tool's promise: one good call and each error it declares. Details are unit tests in the tool's file.
mod tools;

// Changing files: byte for byte, all or nothing; what is kept, what is refused, what a killed write leaves behind.
mod writes;

// File systems that do not respond: an error in time, and other requests are served.
#[cfg(target_os = "linux")]
mod slow;

// Trees made to break whatever walks and reads them: answers are in time, bounded, and true.
#[cfg(target_os = "linux")]
mod hostile;

// What only Windows has: short names, streams, devices, files in use.
#[cfg(windows)]
mod windows;

// Finding names and text: globs, queries, what is left out, limits, the same answer in every run.
mod search;

// List, pages, read, ranges, templates, completion.
mod resources;

// Prompts from files: list, get, embedded files, other programs' formats, completion, changes.
mod prompts;

// Changes while the server runs: subscriptions, listen streams, the list; with real files and awaited messages.
mod live;

// --help, --version, a bad DIR, exit codes.
mod cli;

// What only a real process shows: pipes and sockets, signals, EPIPE, stderr, descriptors, the second wall.
mod process;

// The pages and examples match what the program says and does.
mod docs;

// Faults that users reported elsewhere: one test per public report, named after its id.
mod cases;

// Other people's clients as judges: rmcp drives the real program.
mod judges;
