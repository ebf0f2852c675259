//! Framing and JSON-RPC: what comes of any bytes at all, before a revision's rules are asked.

// Bytes to lines: BOM, CR, blank lines, no final newline, bad UTF-8, bad JSON, lines that are too long.
mod lines;

// Ids of every kind, what is wrong beside a readable one, and what never gets an answer.
mod ids;

// Arrays of messages, in the revisions that have them and in those that do not.
mod batches;

// Nesting that would overflow the stack of a careless parser, wherever a message can hold it.
mod depth;

// Parameters of the wrong type: the same answer for every method, in both eras.
mod params;

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::Client;

/// Sends a line and gives what comes next, judged, and the text of its `id`.
fn exchange(server: &mut impl Client, line: impl AsRef<[u8]>) -> (Value, Option<String>) {
    server.send_line(line);
    let line = server.read().expect("an answer");
    let message = server.talk().conversation.received(&line);
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(&line).expect("an object");
    (message, members.get("id").map(|id| id.get().to_owned()))
}

/// What comes of a line must be an error of this code, without an id; and the server goes on.
fn refused(server: &mut impl Client, line: impl AsRef<[u8]>, code: i32) {
    let shown = String::from_utf8_lossy(line.as_ref()).chars().take(100).collect::<String>();
    server.send_line(line);
    let answer = server.recv();
    assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    assert_eq!(answer.get("id"), None, "{shown}: {answer}");
    assert_alive(server);
}

/// It answers the next request, and has nothing else to say before that.
fn assert_alive(server: &mut impl Client) {
    let id = server.ask("ping", json!({}));
    assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
}
