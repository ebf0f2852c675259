//! The cases in which the official Rust SDK (rmcp 3.11.0) was found to fall short, or in which its choice is worth
//! knowing: what was sent, and what this server answers. One table; each row runs in its own process.

use mcp_fs::call::{Call, Failure, Outcome, ToolResult};
use mcp_fs::services::context::Context;
use serde_json::Value;

use crate::support::{Client as _, Gate, TestServer, Tree};

/// A row: its subject, the revision negotiated before (if any), the lines sent, and the answers in any order, in the
/// form of [`short`].
type Edge = (&'static str, Option<&'static str>, &'static [&'static str], &'static [&'static str]);

/// Longer lines than this are rejected.
const LINE_BYTES: usize = 2_000;

/// `MODERN` stands for the members that 2026-07-28 requires in `_meta`, `FILE` for a name, and `LONG` for more than
/// [`LINE_BYTES`]. The tool "wait" ends when the input has ended, or when cancelled; the tool "panic" panics.
#[rustfmt::skip]
const EDGES: &[Edge] = &[
    // rmcp does not answer.
    ("a line that is no JSON", None, &["{not json"], &["- -32700"]),
    // rmcp answers these without the id, so their caller waits for ever.
    ("a readable id beside wrong params", Some("2025-11-25"),
        &[r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#], &["1 -32602"]),
    ("a readable id without jsonrpc", Some("2025-11-25"), &[r#"{"id":"a","method":"ping"}"#], &[r#""a" -32600"#]),
    ("a readable id beside jsonrpc 1.0", Some("2025-11-25"),
        &[r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#], &["1 -32600"]),
    ("no id to read", None, &[
        "5",
        "null",
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    ], &["- -32600", "- -32600", "- -32600", "- -32600", "- -32600"]),
    // rmcp: -32601.
    ("tools/call without name", Some("2025-11-25"),
        &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#], &["1 -32602"]),
    ("an unknown method", Some("2025-11-25"), &[r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#], &["1 -32601"]),
    ("bad tool arguments", Some("2025-11-25"),
        &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":5}}}"#],
        &["1 isError"]),
    ("an unknown tool", Some("2025-11-25"),
        &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such"}}"#], &["1 -32602"]),
    // rmcp mentions the missing `_meta`, of which a legacy client has never heard.
    ("a request before initialize", None,
        &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#], &["1 -32602"]),
    ("initialize with bad params", None, &[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":5}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    ], &["1 -32602", "2 -32602", "3 2025-06-18"]),
    // rmcp exits with 1.
    ("a notification or a response before initialize", None, &[
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"?"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    ], &["1 2025-11-25"]),
    // rmcp accepts it.
    ("a second initialize", Some("2025-03-26"), &[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    ], &["1 -32600", "[2 result]"]),
    // rmcp: -32600, although 2025-03-26 requires batches.
    ("a batch under 2025-03-26", Some("2025-03-26"), &[
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/unknown"},{"jsonrpc":"2.0","id":2,"method":"no/such"}]"#,
    ], &["[1 result, 2 -32601]"]),
    ("a batch under 2025-11-25", Some("2025-11-25"),
        &[r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#], &["- -32600"]),
    ("a cancelled request", Some("2025-11-25"), &[
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    ], &["2 result"]),
    // rmcp never answers.
    ("a panic in a tool", Some("2025-11-25"), &[
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}"#,
    ], &["1 -32603", "2 result"]),
    // rmcp answers the second request and loses the first.
    ("an id that is in flight", Some("2025-11-25"), &[
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ], &["1 -32600", "1 result"]),
    ("the end of the input with a request in flight", Some("2025-11-25"),
        &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}"#], &["1 result"]),
    ("2026-07-28", None, &[
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{MODERN}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{MODERN}}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{MODERN},"name":"read_text_file","arguments":{"path":"FILE"}}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":{MODERN}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"resources/list","params":{"_meta":{MODERN}}}"#,
    ], &[
        "1 complete, kept 60000 private",
        "2 -32602",
        "3 -32022 [2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05]",
        "4 complete, kept 60000 private",
        "5 complete",
        "6 -32601",
        "7 2025-11-25",
        "8 result",
        "9 complete, kept 0 private",
    ]),
    ("subscriptions/listen until the end of the input", None,
        &[r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{MODERN},"notifications":{}}}"#],
        &["- acknowledged", "1 complete"]),
    ("subscriptions/listen until it is cancelled", None, &[
        r#"{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"_meta":{MODERN},"notifications":{}}}"#,
        "ACKNOWLEDGED",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}"#,
    ], &["- acknowledged"]),
    // rmcp drops it.
    ("a line that is too long", None, &[
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"LONG"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
    ], &["- -32600", "2 result"]),
    ("initialize for 2026-07-28", None,
        &[r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}"#],
        &["1 2025-11-25"]),
    ("initialize for an unknown revision", None,
        &[r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}"#],
        &["1 2025-11-25"]),
];

#[test]
fn every_row_of_the_table_holds() {
    let tree = Tree::new().file("a.txt", "one\n");
    let modern =
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    for (about, negotiated, sent, heard) in EDGES {
        let gate = Gate::new();
        let mut server = start(&tree, &gate);
        if let Some(revision) = negotiated {
            server = server.legacy(revision);
        }
        let mut found = Vec::new();
        for line in *sent {
            if *line == "ACKNOWLEDGED" {
                found.push(short(&server.recv()));
                continue;
            }
            let line = line.replace("MODERN", modern).replace("FILE", "a.txt");
            server.send_line(line.replace("LONG", &"x".repeat(LINE_BYTES)));
            if line.contains("LONG") {
                server.talk().conversation.excuse(&Value::from(1));
            }
        }
        // After every row, the server is still alive.
        server.send_line(r#"{"jsonrpc":"2.0","id":"alive","method":"ping"}"#);
        found.push(short(&server.answer("alive".into())));
        server.end_input();
        gate.open();
        found.extend(server.rest().iter().map(short));
        let mut want: Vec<_> = heard.iter().copied().chain([r#""alive" result"#]).map(str::to_owned).collect();
        found.sort();
        want.sort();
        assert_eq!(found, want, "{about}");
    }
}

/// A server with the tools that the table uses.
fn start(tree: &Tree, gate: &Gate) -> TestServer {
    let gate = gate.clone();
    let dispatch = move |call: &Call, context: &Context| -> Result<Outcome, Failure> {
        let Call::CallTool { name, .. } = call else { return mcp_fs::features::dispatch::dispatch(call, context) };
        match name.as_str() {
            "wait" => gate.pass(),
            "panic" => panic!("as the table says"),
            _ => return mcp_fs::features::dispatch::dispatch(call, context),
        }
        Ok(Outcome::Tool(ToolResult::default()))
    };
    TestServer::builder(tree).limits(|limits| limits.line_bytes = LINE_BYTES).dispatch(dispatch).start()
}

/// A message in short form: its id, or `-` without one, and the result.
fn short(answer: &Value) -> String {
    if let Some(items) = answer.as_array() {
        let mut items: Vec<_> = items.iter().map(short).collect();
        items.sort();
        return format!("[{}]", items.join(", "));
    }
    let id = answer.get("id").map_or("-".to_owned(), Value::to_string);
    if let Some(method) = answer["method"].as_str() {
        return format!("{id} {}", method.rsplit('/').next().unwrap_or(method));
    }
    let (result, error) = (&answer["result"], &answer["error"]);
    let what = if let Some(versions) = error["data"]["supported"].as_array() {
        let versions: Vec<_> = versions.iter().filter_map(Value::as_str).collect();
        format!("{} [{}]", error["code"], versions.join(", "))
    } else if error.is_object() {
        error["code"].to_string()
    } else if let Some(version) = result["protocolVersion"].as_str() {
        version.to_owned()
    } else if result["isError"] == true {
        "isError".to_owned()
    } else if let Some(milliseconds) = result.get("ttlMs") {
        format!("complete, kept {milliseconds} {}", result["cacheScope"].as_str().unwrap_or("?"))
    } else {
        result["resultType"].as_str().unwrap_or("result").to_owned()
    };
    format!("{id} {what}")
}
