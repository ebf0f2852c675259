//! Which era a message belongs to: (opening message) x (state), and both eras interleaved in one process.

use serde_json::{Value, json};

use crate::resources::completion::asking;
use crate::support::client::with_meta;
use crate::support::{Client, Gate, LATEST_LEGACY, MODERN, TestServer, Tree};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The preceding messages. The era is determined by the message alone, so only one fact about them can matter: whether
/// `initialize` was answered.
const STATES: &[(&str, &[&str], bool)] = &[
    ("fresh", &[], false),
    ("after a ping", &["ping"], false),
    ("after discover", &["discover"], false),
    ("after a modern list", &["modern"], false),
    ("after a refused request", &["refused"], false),
    ("after an early initialized", &["initialized"], false),
    ("after initialize", &["initialize"], true),
    ("after initialized", &["initialize", "initialized"], true),
    ("after discover and initialize", &["discover", "initialize"], true),
    ("after initialize and a modern list", &["initialize", "initialized", "modern"], true),
];

/// The answer to a message.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// A result of 2026-07-28.
    Modern,
    /// A result of an earlier revision.
    Legacy,
    /// An error with this code, whose message contains this text.
    Fails(i32, &'static str),
}

use Outcome::{Fails, Legacy, Modern};

/// Messages, and the answer to each without a session and with one.
fn openings() -> Vec<(&'static str, Value, Outcome, Outcome)> {
    let not_applied = Fails(-32602, "initialize");
    let again = Fails(-32600, "already initialized");
    let unknown = Fails(-32601, "Method not found");
    let meta = |meta: Value| json!({"_meta": meta});
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    vec![
        ("tools/list", json!({}), not_applied, Legacy),
        ("tools/list", with_meta(json!({})), Modern, Modern),
        ("tools/list", meta(json!({VERSION: MODERN, CLIENT_CAPABILITIES: {}})), Modern, Modern),
        // One of the three keys is enough to be modern; then the others are missing.
        (
            "tools/list",
            meta(json!({VERSION: MODERN})),
            Fails(-32602, CLIENT_CAPABILITIES),
            Fails(-32602, CLIENT_CAPABILITIES),
        ),
        ("tools/list", meta(json!({CLIENT_INFO: {}})), Fails(-32602, VERSION), Fails(-32602, VERSION)),
        ("tools/list", meta(json!({CLIENT_CAPABILITIES: {}})), Fails(-32602, VERSION), Fails(-32602, VERSION)),
        ("tools/list", meta(json!({VERSION: null})), Fails(-32602, VERSION), Fails(-32602, VERSION)),
        (
            "tools/list",
            meta(json!({VERSION: LATEST_LEGACY})),
            Fails(-32022, LATEST_LEGACY),
            Fails(-32022, LATEST_LEGACY),
        ),
        // No other key makes a request modern.
        ("tools/list", meta(json!({})), not_applied, Legacy),
        ("tools/list", meta(json!({"progressToken": 1})), not_applied, Legacy),
        ("tools/list", meta(json!({"protocolVersion": MODERN, "clientCapabilities": {}})), not_applied, Legacy),
        ("tools/list", meta(json!({"io.modelcontextprotocol/logLevel": "info"})), not_applied, Legacy),
        ("tools/list", meta(json!({"dev.example/protocolVersion": MODERN})), not_applied, Legacy),
        ("tools/list", json!({VERSION: MODERN, CLIENT_CAPABILITIES: {}}), not_applied, Legacy),
        ("server/discover", with_meta(json!({})), Modern, Modern),
        ("server/discover", json!({}), not_applied, unknown),
        ("ping", json!({}), Legacy, Legacy),
        ("ping", with_meta(json!({})), unknown, unknown),
        ("no/such/method", json!({}), not_applied, unknown),
        ("no/such/method", with_meta(json!({})), unknown, unknown),
        ("initialize", hello.clone(), Legacy, again),
        // Marked as modern, it is a method that this era does not have, as the conformance suite requires.
        ("initialize", with_meta(hello), unknown, unknown),
        ("initialize", with_meta(json!({"protocolVersion": MODERN})), unknown, unknown),
        ("initialize", meta(json!({CLIENT_INFO: {}})), Fails(-32602, VERSION), Fails(-32602, VERSION)),
    ]
}

fn bring(server: &mut TestServer, step: &str) {
    match step {
        "ping" => assert_eq!(server.request("ping", json!({}))["result"], json!({})),
        "discover" => assert_eq!(server.modern("server/discover", json!({}))["error"], Value::Null),
        "modern" => assert_eq!(server.modern("tools/list", json!({}))["error"], Value::Null),
        "refused" => assert_eq!(server.request("tools/list", json!({}))["error"]["code"], -32602),
        "initialize" => {
            let answer = server.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
            assert_eq!(answer["result"]["protocolVersion"], LATEST_LEGACY);
        }
        "initialized" => server.notify("notifications/initialized", json!({})),
        other => panic!("{other}?"),
    }
}

fn is(answer: &Value, outcome: Outcome) -> bool {
    let result = answer.get("result");
    match outcome {
        Modern => result.is_some_and(|result| result["resultType"] == "complete"),
        Legacy => result.is_some_and(|result| result.get("resultType").is_none()),
        Fails(code, word) => {
            let message = answer["error"]["message"].as_str();
            answer["error"]["code"] == code && message.is_some_and(|message| message.contains(word))
        }
    }
}

#[test]
fn the_message_determines_the_era_in_every_state() {
    let tree = Tree::new();
    for (state, steps, has_session) in STATES {
        for (method, params, without, with) in openings() {
            let mut server = TestServer::start(&tree);
            steps.iter().for_each(|step| bring(&mut server, step));
            let want = if *has_session { with } else { without };
            let answer = server.request(method, params.clone());
            assert!(is(&answer, want), "{method} {params} {state}: not {want:?} but {answer}");
            // Whatever it was: nothing locks the process to an era.
            assert!(is(&server.modern("tools/list", json!({})), Modern), "{method} {params} {state}");
            server.expect_silence();
        }
    }
}

#[test]
fn initialize_with_modern_meta_does_not_begin_a_session() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let answer = server.request("initialize", with_meta(json!({"protocolVersion": "2025-03-26", "capabilities": {}})));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert_eq!(server.request("tools/list", json!({}))["error"]["code"], -32602);
    assert!(is(&server.legacy(LATEST_LEGACY).request("tools/list", json!({})), Legacy));
}

#[test]
fn every_list_and_read_can_be_the_first_line_to_a_fresh_process() {
    let tree = Tree::new().file("a.txt", "one\n");
    let uri = tree.uri("a.txt");
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": uri})),
        ("completion/complete", asking(&tree, "a")),
        ("tools/call", json!({"name": "read_text_file", "arguments": {"path": "a.txt"}})),
    ] {
        let mut server = TestServer::start(&tree);
        let answer = server.modern(method, params);
        assert!(is(&answer, Modern), "{method}: {answer}");
    }
}

#[test]
fn both_eras_can_be_interleaved() {
    let tree = Tree::new();
    let missing = json!({"uri": tree.uri("missing")});
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for _ in 0..3 {
        assert!(is(&server.modern("server/discover", json!({})), Modern));
        assert!(is(&server.request("tools/list", json!({})), Legacy));
        assert!(is(&server.modern("tools/list", json!({})), Modern));
        assert!(is(&server.request("resources/read", missing.clone()), Fails(-32002, "not found")));
        assert!(is(&server.modern("resources/read", missing.clone()), Fails(-32602, "not found")));
    }
}

#[test]
fn both_eras_can_be_in_flight_at_once() {
    let tree = Tree::new();
    let gate = Gate::new();
    let at_gate = gate.clone();
    let server = TestServer::builder(&tree).dispatch(move |call, context| {
        if matches!(call, mcp_fs::call::Call::ListResources { .. }) {
            at_gate.pass();
        }
        mcp_fs::features::dispatch::dispatch(call, context)
    });
    let mut server = server.start().legacy(LATEST_LEGACY);
    let legacy = server.ask("resources/list", json!({}));
    let modern = server.ask_modern("resources/list", json!({}));
    gate.wait_for(2);
    // An id belongs to the connection, whatever the era.
    server.send(json!({"jsonrpc": "2.0", "id": legacy, "method": "tools/list", "params": with_meta(json!({}))}));
    assert!(is(&server.answer(legacy.clone()), Fails(-32600, "in progress")));
    gate.open();
    assert!(is(&server.answer(legacy), Legacy));
    assert!(is(&server.answer(modern), Modern));
}

#[test]
fn one_id_can_serve_the_probe_and_all_that_follows() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for (method, params, want) in [
        ("server/discover", with_meta(json!({})), Modern),
        ("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}), Legacy),
        ("tools/list", json!({}), Legacy),
        ("tools/list", with_meta(json!({})), Modern),
        ("resources/list", json!({}), Legacy),
        ("resources/list", with_meta(json!({})), Modern),
    ] {
        server.send(json!({"jsonrpc": "2.0", "id": "probe", "method": method, "params": params}));
        let answer = server.answer(json!("probe"));
        assert!(is(&answer, want), "{method} {params}: not {want:?} but {answer}");
    }
}

/// Claude Code probes, and does not wait for the answer if the server starts slowly.
#[test]
fn a_probe_and_initialize_can_be_queued_together() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let line = |id: i32, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
    };
    let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_owned();
    server.send_raw(
        [
            line(0, "server/discover", with_meta(json!({}))),
            line(1, "initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}})),
            initialized,
            line(2, "tools/list", json!({})),
            line(3, "tools/list", with_meta(json!({}))),
        ]
        .concat(),
    );
    for (id, want) in [(0, Modern), (1, Legacy), (2, Legacy), (3, Modern)] {
        let answer = server.answer(json!(id));
        assert!(is(&answer, want), "{id}: not {want:?} but {answer}");
    }
}

/// The bytes of the answer to `tools/list` with id 0.
fn list_bytes(server: &mut TestServer, params: &Value) -> Vec<u8> {
    server.send(json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": params}));
    let line = server.read().expect("an answer");
    server.talk().conversation.received(&line);
    line
}

/// A list that depended on earlier requests, or changed between processes, would defeat every cache.
#[test]
fn tools_are_listed_in_the_same_bytes_every_time() {
    let trees = [Tree::new(), Tree::new().file("a.txt", "one\n").dir("b")];
    let mut legacy = trees.each_ref().map(|tree| TestServer::start(tree).legacy(LATEST_LEGACY));
    let mut modern = trees.each_ref().map(TestServer::start);
    let first = list_bytes(&mut legacy[0], &json!({}));
    let first_modern = list_bytes(&mut modern[0], &with_meta(json!({})));
    legacy[1].tool_text("list_directory", json!({"path": "."}));
    legacy[1].result("resources/list", json!({}));
    legacy[1].tool_error("read_text_file", json!({"path": "../secret"}));
    for _ in 0..3 {
        assert_eq!(list_bytes(&mut legacy[1], &json!({})), first);
        assert_eq!(list_bytes(&mut modern[1], &with_meta(json!({}))), first_modern);
        // The other era in the same process.
        assert_eq!(list_bytes(&mut legacy[1], &with_meta(json!({}))), first_modern);
    }
}
