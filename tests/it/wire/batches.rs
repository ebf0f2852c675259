//! Arrays of messages: accepted under 2024-11-05 and 2025-03-26, and a single error in every other state.

use serde_json::{Value, json};

use super::assert_alive;
use crate::support::{Client, Gate, LATEST_LEGACY, MODERN, TestServer, Tree};

/// The revisions that have batches.
const WITH_BATCHES: [&str; 2] = ["2024-11-05", "2025-03-26"];

fn request(id: impl Into<Value>, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method})
}

/// Sends a batch and returns its answers, sorted: for each, its id, and the code of its error or 0.
fn answers_to(server: &mut impl Client, batch: Value) -> Vec<(String, i64)> {
    server.send(batch);
    let answer = server.recv();
    let items = answer.as_array().unwrap_or_else(|| panic!("no array: {answer}"));
    let mut found: Vec<_> =
        items.iter().map(|item| (item["id"].to_string(), item["error"]["code"].as_i64().unwrap_or(0))).collect();
    found.sort();
    found
}

fn sorted(items: &[(&str, i64)]) -> Vec<(String, i64)> {
    let mut items: Vec<_> = items.iter().map(|(id, code)| ((*id).to_owned(), *code)).collect();
    items.sort();
    items
}

/// A server whose `resources/list` waits for the gate.
fn slow_list(tree: &Tree, gate: &Gate) -> TestServer {
    let gate = gate.clone();
    let server = TestServer::builder(tree).dispatch(move |call, context| {
        if matches!(call, mcp_fs::call::Call::ListResources { .. }) {
            gate.pass();
        }
        mcp_fs::features::dispatch::dispatch(call, context)
    });
    server.start().legacy("2025-03-26")
}

#[test]
fn every_item_of_a_mixed_batch_is_treated_as_if_it_came_alone() {
    let tree = Tree::new();
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        let batch = json!([
            request(1, "ping"),
            {"jsonrpc": "2.0", "method": "notifications/unknown"},
            request("1", "tools/list"),
            request("list", "resources/list"),
            request(2, "no/such/method"),
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": [1]},
            {"jsonrpc": "2.0", "id": 4, "result": {}},
            {"jsonrpc": "2.0", "id": 5},
            {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
            6,
            null,
            [request(7, "ping")],
        ]);
        let want = [
            ("1", 0),
            ("\"1\"", 0),
            ("\"list\"", 0),
            ("2", -32601),
            ("3", -32602),
            ("5", -32600),
            // Up to 2025-06-18 an error without a readable id says null.
            ("null", -32600),
            ("null", -32600),
            ("null", -32600),
            ("null", -32600),
        ];
        assert_eq!(answers_to(&mut server, batch), sorted(&want), "{revision}");
        assert_alive(&mut server);
    }
}

#[test]
fn invalid_items_are_answered_one_by_one() {
    let tree = Tree::new();
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        assert_eq!(answers_to(&mut server, json!([1, 2])), sorted(&[("null", -32600), ("null", -32600)]), "{revision}");
        assert_eq!(answers_to(&mut server, json!([[]])), sorted(&[("null", -32600)]), "{revision}");
    }
}

#[test]
fn an_empty_batch_is_one_error_and_no_array() {
    let tree = Tree::new();
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        for line in ["[]", "[ ]", "[\t]"] {
            server.send_line(line);
            let answer = server.recv();
            assert_eq!(answer["error"]["code"], -32600, "{revision}: {answer}");
            assert_eq!(answer["id"], Value::Null, "{revision}: {answer}");
        }
    }
}

#[test]
fn a_batch_without_requests_gets_no_answer() {
    let tree = Tree::new();
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/unknown"});
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        for batch in [json!([notification]), json!([notification, response, notification]), json!([response])] {
            server.send(batch);
            server.expect_silence();
        }
    }
}

#[test]
fn a_batch_holds_at_most_100_messages() {
    let tree = Tree::new();
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        let pings = |count: i64| Value::from((0..count).map(|id| request(id, "ping")).collect::<Vec<_>>());
        assert_eq!(answers_to(&mut server, pings(100)).len(), 100, "{revision}");
        server.send(pings(101));
        let answer = server.recv();
        assert_eq!(answer["error"]["code"], -32600, "{revision}: {answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("100"), "it must name the limit: {message}");
        assert_alive(&mut server);
    }
}

#[test]
fn without_batches_an_array_is_one_error_and_has_no_effect() {
    let tree = Tree::new();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-03-26", "capabilities": {}}});
    for state in ["fresh", "modern", "2025-06-18", LATEST_LEGACY] {
        let mut server = TestServer::start(&tree);
        match state {
            "fresh" => {}
            "modern" => assert!(server.modern("server/discover", json!({})).get("result").is_some()),
            revision => server = server.legacy(revision),
        }
        for batch in
            [json!([]), json!([1, 2]), json!([request(1, "ping"), request(2, "tools/list")]), json!([initialize])]
        {
            server.send(batch.clone());
            let answer = server.recv();
            assert_eq!(answer["error"]["code"], -32600, "{state}: {batch}: {answer}");
            // Null or absent, as the revision requires (the harness checks that), but none of the batch's.
            assert_eq!(answer["id"], Value::Null, "{state}: {batch}: {answer}");
            assert_alive(&mut server);
        }
        if state == "fresh" {
            let answer = server.request("tools/list", json!({}));
            assert_eq!(answer["error"]["code"], -32602, "initialize in a batch began a session: {answer}");
        }
    }
}

#[test]
fn initialize_inside_a_batch_is_rejected_and_the_rest_is_served() {
    let tree = Tree::new();
    for revision in WITH_BATCHES {
        let mut server = TestServer::start(&tree).legacy(revision);
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": LATEST_LEGACY, "capabilities": {}}});
        let batch = json!([initialize, request(2, "ping")]);
        assert_eq!(answers_to(&mut server, batch), sorted(&[("1", -32600), ("2", 0)]), "{revision}");
        // The session still allows batches.
        assert_eq!(answers_to(&mut server, json!([request(3, "ping")])), sorted(&[("3", 0)]), "{revision}");
    }
}

#[test]
fn an_id_in_flight_cannot_be_used_twice_in_a_batch() {
    let tree = Tree::new();
    let gate = Gate::new();
    let mut server = slow_list(&tree, &gate);
    gate.open();
    let batch = json!([request(1, "resources/list"), request(1, "ping"), request("1", "ping")]);
    assert_eq!(answers_to(&mut server, batch), sorted(&[("1", 0), ("1", -32600), ("\"1\"", 0)]));
}

#[test]
fn a_batch_is_answered_with_its_last_answer_and_blocks_no_other_request() {
    let tree = Tree::new();
    let gate = Gate::new();
    let mut server = slow_list(&tree, &gate);
    server.send(json!([request("quick", "ping"), request("slow", "resources/list")]));
    gate.wait_for(1);
    server.expect_silence();
    gate.open();
    let answer = server.recv();
    assert_eq!(answer.as_array().map(Vec::len), Some(2), "{answer}");
}

#[test]
fn a_cancelled_request_is_missing_from_its_batch() {
    let tree = Tree::new();
    let gate = Gate::new();
    let mut server = slow_list(&tree, &gate);
    server.send(json!([request("kept", "ping"), request("gone", "resources/list")]));
    server.notify("notifications/cancelled", json!({"requestId": "gone"}));
    let answer = server.recv();
    assert_eq!(answer, json!([{"jsonrpc": "2.0", "id": "kept", "result": {}}]));
    gate.open();
}

#[test]
fn a_batch_whose_requests_are_all_cancelled_gets_no_answer() {
    let tree = Tree::new();
    let gate = Gate::new();
    let mut server = slow_list(&tree, &gate);
    server.send(json!([request("gone", "resources/list")]));
    server.notify("notifications/cancelled", json!({"requestId": "gone"}));
    server.expect_silence(); // by then it has been heard
    gate.open();
    server.expect_silence();
}

#[test]
fn a_modern_request_is_served_beside_a_session_with_batches() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy("2025-03-26");
    let answer = server.modern("server/discover", json!({}));
    assert_eq!(answer["result"]["supportedVersions"][0], MODERN, "{answer}");
    assert_eq!(answers_to(&mut server, json!([request(1, "ping")])), sorted(&[("1", 0)]));
}
