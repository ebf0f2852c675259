//! Framing and JSON-RPC: the answers to arbitrary bytes, before the rules of a revision apply.

// Bytes to lines: BOM, CR, blank lines, no final newline, bad UTF-8, bad JSON, lines that are too long.
mod lines;

// Ids of every kind, errors in messages with a readable id, and messages that never get an answer.
mod ids;

// Arrays of messages, in revisions with batches and without.
mod batches;

// Nesting that would overflow the stack of a careless parser, everywhere a message can contain it.
mod depth;

// Parameters of the wrong type: the same answer for every method, in both eras.
mod params;

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::Client;

/// Sends a line and returns the checked answer, and the text of its `id`.
fn exchange(server: &mut impl Client, line: impl AsRef<[u8]>) -> (Value, Option<String>) {
    server.send_line(line);
    let line = server.read().expect("an answer");
    let message = server.talk().conversation.received(&line);
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(&line).expect("an object");
    (message, members.get("id").map(|id| id.get().to_owned()))
}

/// A line must be answered by an error with this code and without an id; and the server continues.
fn refused(server: &mut impl Client, line: impl AsRef<[u8]>, code: i32) {
    let shown = String::from_utf8_lossy(line.as_ref()).chars().take(100).collect::<String>();
    server.send_line(line);
    let answer = server.recv();
    assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    assert_eq!(answer.get("id"), None, "{shown}: {answer}");
    assert_alive(server);
}

/// It answers the next request, and sends nothing before that.
fn assert_alive(server: &mut impl Client) {
    let id = server.ask("ping", json!({}));
    assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
}
