//! Requests that are not simply run and answered: cancelled, repeated, failing, too many, or overtaken by the end of
//! the input. This module has the work that they do; the tests are in its submodules, by topic.

mod cancel;
mod end;
mod items;
mod memory;
mod places;
mod pressure;
mod same_id;
mod stuck;

use std::time::Duration;

use mcp_fs::call::{Block, Call, Failure, Outcome, ToolResult};
use mcp_fs::services::context::Context;
use serde_json::{Value, json};

use crate::support::server::Builder;
use crate::support::{Client, Gate, LATEST_LEGACY, TestServer, Tree};

/// A server with a tool `wait`, which returns its argument `say` when its gate is open; a tool `busy`, which runs until
/// it is told to stop; a tool `panic`, which panics; and all the usual ones. These are not tools of the server, so they
/// are never run inline.
fn builder(tree: &Tree, gate: &Gate) -> Builder {
    let gate = gate.clone();
    TestServer::builder(tree).dispatch(move |call, context| work(call, context, &gate))
}

/// The same, after the handshake.
fn start(tree: &Tree, gate: &Gate) -> TestServer {
    builder(tree, gate).start().legacy(LATEST_LEGACY)
}

fn work(call: &Call, context: &Context, gate: &Gate) -> Result<Outcome, Failure> {
    let Call::CallTool { name, arguments } = call else { return mcp_fs::features::dispatch::dispatch(call, context) };
    match name.as_str() {
        "wait" => {
            gate.pass();
            let arguments = arguments.as_ref().map_or("{}", |arguments| arguments.get());
            let arguments: Value = serde_json::from_str(arguments).expect("JSON");
            Ok(text(arguments["say"].as_str().unwrap_or("done")))
        }
        "busy" => {
            gate.arrive();
            while context.cancel.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1)); // a step takes a while
            }
            Err(Failure::Cancelled)
        }
        "panic" => panic!("a bug, made on purpose"),
        _ => mcp_fs::features::dispatch::dispatch(call, context),
    }
}

/// The result of a tool.
fn text(text: &str) -> Outcome {
    Outcome::Tool(ToolResult { content: vec![Block::Text(text.to_owned().into())], is_error: false })
}

/// Parameters for calling the tool `wait`.
fn wait_params(say: &str) -> Value {
    json!({"name": "wait", "arguments": {"say": say}})
}

/// A line that calls the tool `wait`, under an id of the test's choice.
fn wait_line(id: &Value, say: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": wait_params(say)}).to_string() + "\n"
}

/// Cancels a request, and waits until the server has handled that; after it, the work may continue.
fn cancel(client: &mut impl Client, id: &Value) {
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "a test"}));
    client.request("ping", json!({}));
}

/// What the tool `wait` returned.
fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
