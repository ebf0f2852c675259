//! Sessions: POST, GET and DELETE under 2025-03-26 to 2025-11-25.

use serde_json::{Value, json};

use super::requests::{Request, get, initialize, post, request};
use super::support::HttpServer;
use crate::support::Tree;

const LATEST: &str = "2025-11-25";

fn server() -> HttpServer {
    HttpServer::start(Tree::new().file("a.txt", "one\n"))
}

fn call(id: u64, method: &str, params: Value, session: &str) -> Request {
    post(&request(id, method, params)).session(session)
}

fn ping(id: u64, session: &str) -> Request {
    call(id, "ping", json!({}), session)
}

fn notification(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

#[test]
fn ht20_an_array_is_rejected_in_revisions_without_batches() {
    let server = server();
    for revision in ["2025-06-18", LATEST] {
        let session = server.session(revision);
        let reply = server.ask(&post(&json!([request(1, "ping", json!({}))])).session(&session));
        assert_eq!((reply.status, reply.code()), (400, -32_600), "{revision}");
    }
}

#[test]
fn ht21_ht22_ht23_a_batch_is_answered_by_one_array() {
    let server = server();
    let session = server.session("2025-03-26");
    let batch = |messages: Value| server.ask(&post(&messages).session(&session));
    let reply = batch(json!([
        request(1, "ping", json!({})),
        notification("notifications/initialized"),
        request(2, "tools/list", json!({})),
        request(3, "tools/call", json!({"name": "search_text", "arguments": {"query": "one"}})),
    ]));
    let mut ids: Vec<i64> =
        reply.json().as_array().expect("an array").iter().filter_map(|a| a["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!((reply.status, ids), (200, vec![1, 2, 3]));
    assert_eq!(batch(json!([notification("notifications/initialized")])).status, 202);
    assert_eq!((batch(json!([])).status, batch(json!([])).code()), (400, -32_600));
    let many: Vec<Value> = (0..101).map(|id| request(id, "ping", json!({}))).collect();
    assert_eq!(batch(json!(many)).status, 400);
    let initialize = json!([request(1, "initialize", json!({"protocolVersion": "2025-03-26"}))]);
    assert_eq!(server.ask(&post(&initialize)).status, 400);
}

#[test]
fn ht24_ht25_notifications_and_responses_need_a_session() {
    let server = server();
    let session = server.session(LATEST);
    for message in [notification("notifications/initialized"), json!({"jsonrpc": "2.0", "id": 1, "result": {}})] {
        let reply = server.ask(&post(&message).session(&session));
        assert_eq!((reply.status, reply.body.len()), (202, 0), "{message}");
        let reply = server.ask(&post(&message));
        assert_eq!((reply.status, reply.json().get("id")), (400, None), "{message}");
    }
}

#[test]
fn ht27_method_errors_have_status_200_and_keep_the_session() {
    let server = server();
    let session = server.session(LATEST);
    let reply = server.ask(&call(1, "prompts/list", json!({}), &session));
    assert_eq!((reply.status, reply.code()), (200, -32_601));
    let missing = server.tree.uri("missing");
    let reply = server.ask(&call(2, "resources/read", json!({"uri": missing}), &session));
    assert_eq!((reply.status, reply.code()), (200, -32_002));
    assert_eq!(server.ask(&ping(3, &session)).status, 200);
}

#[test]
fn ht30_a_large_answer_is_json_even_with_a_progress_token() {
    let tree = Tree::new().file("blob.bin", vec![0_u8; 3_600_000]);
    let server = HttpServer::start(tree);
    let session = server.session(LATEST);
    let params = json!({"uri": server.tree.uri("blob.bin"), "_meta": {"progressToken": 1}});
    let reply = server.ask(&call(1, "resources/read", params, &session));
    let reply = (reply.is_stream(), reply.json()["result"]["contents"][0]["blob"].as_str().map(str::len));
    assert_eq!(reply, (false, Some(4_800_000)));
}

#[test]
fn ht36_requests_are_served_before_initialized() {
    let server = server();
    let session = server.ask(&initialize(LATEST));
    let session = session.header("mcp-session-id").expect("an id");
    assert_eq!(server.ask(&call(2, "tools/list", json!({}), session)).status, 200);
}

#[test]
fn ht40_ht41_ht42_ht43_get_opens_the_stream_of_a_session() {
    let server = server();
    let session = server.session(LATEST);
    let mut connection = server.connect();
    connection.send(&get(&session));
    let reply = connection.head();
    assert_eq!((reply.status, reply.is_stream(), reply.header("x-accel-buffering")), (200, true, Some("no")));
    let reply = server.ask(&get("x").without("Mcp-Session-Id").header("Accept", "*/*"));
    assert_eq!((reply.status, reply.header("content-type")), (405, Some("application/json")));
    assert_eq!(server.ask(&get("unknown")).status, 404);
    assert_eq!(server.ask(&get(&session).header("Accept", "application/json")).status, 406);
    let mut both = server.connect();
    both.send(&get(&session).header("Accept", "application/json, text/event-stream").header("Last-Event-ID", "x"));
    assert_eq!(both.head().status, 200, "HT52: nothing is resumed");
}

#[test]
fn ht44_ht45_ht46_ht47_changes_go_only_to_the_newest_stream() {
    let server = server();
    let session = server.session(LATEST);
    let [mut old, mut new] = [server.connect(), server.connect()];
    old.send(&get(&session));
    old.head();
    new.send(&get(&session));
    new.head();
    assert_eq!(old.event(), None, "it was taken over");
    let uri = server.tree.uri("a.txt");
    let reply = server.ask(&call(5, "resources/subscribe", json!({"uri": uri}), &session));
    assert_eq!(reply.json()["result"], json!({}));
    std::fs::write(server.tree.join("a.txt"), "two\n").expect("it is written");
    let event = new.event().expect("the change");
    assert_eq!((&event["method"], &event["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(uri)));
}

#[test]
fn ht48_changes_before_the_stream_opens_are_reported_once() {
    let server = server();
    let session = server.session(LATEST);
    let [uri, other] = [server.tree.uri("a.txt"), server.tree.uri("b.txt")];
    std::fs::write(server.tree.join("b.txt"), "").expect("it is written");
    for (id, uri) in [(5, &uri), (6, &other)] {
        server.ask(&call(id, "resources/subscribe", json!({"uri": uri}), &session));
    }
    for text in ["two", "three", "four"] {
        std::fs::write(server.tree.join("a.txt"), text).expect("it is written");
    }
    let mut stream = server.connect();
    stream.send(&get(&session));
    stream.head();
    assert_eq!(stream.event().expect("a change")["params"]["uri"], json!(uri));
    // Anything left over from the first would come before this.
    std::fs::write(server.tree.join("b.txt"), "end").expect("it is written");
    let mut next = stream.event().expect("a change");
    while next["params"]["uri"] == json!(uri) {
        // The writes may count as more than one change, but not as one each.
        next = stream.event().expect("a change");
    }
    assert_eq!(next["params"]["uri"], json!(other));
}

#[test]
fn ht60_ht61_ht67_initialize_begins_a_session_and_a_failed_one_does_not() {
    let server = server();
    let ids: std::collections::HashSet<String> = (0..50).map(|_| server.session(LATEST)).collect();
    assert_eq!(ids.len(), 50);
    assert!(ids.iter().all(|id| id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic())));
    let reply = server.ask(&post(&request(1, "initialize", json!({}))));
    assert_eq!((reply.header("mcp-session-id"), reply.code()), (None, -32_602));
}

#[test]
fn ht62_ht63_ht68_requests_must_name_a_known_session() {
    let server = server();
    let session = server.session(LATEST);
    let reply = server.ask(&post(&request(1, "tools/list", json!({}))));
    assert_eq!((reply.status, &reply.json()["id"]), (400, &json!(1)));
    assert_eq!(server.ask(&ping(1, "unknown")).status, 404);
    assert_eq!(server.ask(&ping(1, &session).and("Mcp-Session-Id", &session)).status, 404, "named twice");
    assert_eq!(server.ask(&initialize(LATEST).session(&session)).status, 400);
    assert_eq!(server.ask(&ping(1, &session)).status, 200, "it lives");
}

#[test]
fn ht64_ht65_delete_ends_a_session_and_its_streams() {
    let server = server();
    let session = server.session(LATEST);
    let mut stream = server.connect();
    stream.send(&get(&session));
    stream.head();
    let delete = |session: &str| Request::new("DELETE", "/mcp").session(session);
    assert_eq!(server.ask(&delete(&session)).status, 204);
    assert_eq!(stream.event(), None);
    assert_eq!(server.ask(&delete(&session)).status, 404);
    assert_eq!(server.ask(&ping(1, &session)).status, 404);
    assert_eq!(server.ask(&Request::new("DELETE", "/mcp")).status, 400);
}

#[test]
fn ht66_sessions_are_bounded_and_the_newest_works() {
    let server = server();
    let mut connection = server.connect();
    let mut last = String::new();
    let before = crate::http::support::resident(server.pid());
    for _ in 0..10_000 {
        connection.send(&initialize(LATEST));
        last = connection.reply().header("mcp-session-id").expect("a session").to_owned();
    }
    let grown = crate::http::support::resident(server.pid()).saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes for sessions");
    assert_eq!(server.ask(&ping(1, &last)).status, 200);
}

#[test]
fn ht70_nothing_of_a_session_reaches_another() {
    let server = server();
    let [first, second] = [server.session(LATEST), server.session("2025-06-18")];
    let uri = server.tree.uri("a.txt");
    server.ask(&call(5, "resources/subscribe", json!({"uri": uri}), &first));
    let [mut own, mut other] = [server.connect(), server.connect()];
    own.send(&get(&first));
    own.head();
    other.send(&get(&second));
    other.head();
    std::fs::write(server.tree.join("a.txt"), "two\n").expect("it is written");
    assert!(own.event().is_some());
    assert_eq!(server.ask(&Request::new("DELETE", "/mcp").session(&second)).status, 204);
    assert_eq!(other.event(), None, "nothing was told to the other");
}

#[test]
fn ht80_ht81_ht83_ht84_ht85_the_version_header_must_be_known_and_may_be_absent() {
    let server = server();
    let session = server.session(LATEST);
    let with = |version: &str| server.ask(&ping(1, &session).header("MCP-Protocol-Version", version)).status;
    assert_eq!([with("1999-01-01"), with("2025-06-18"), with(LATEST), with("2024-11-05")], [400, 200, 200, 200]);
    assert_eq!(server.ask(&ping(1, &session)).status, 200);
    let reply = server.ask(&initialize("2024-11-05").header("MCP-Protocol-Version", LATEST));
    assert_eq!((reply.status, &reply.json()["result"]["protocolVersion"]), (200, &json!("2024-11-05")));
}

#[test]
fn ht32_cancelling_ends_the_request_without_an_answer() {
    let tree = crate::http::support::wide_tree();
    let server = HttpServer::start(tree);
    let session = server.session(LATEST);
    let mut search = server.connect();
    let slow = json!({"name": "search_text", "arguments": {"query": "(x+x+)+y", "regex": true}});
    search.send(&call(7, "tools/call", slow, &session));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    server.line_with("7 tools/call");
    assert_eq!(server.ask(&post(&cancelled).session(&session)).status, 202);
    let reply = search.reply();
    // It may have finished before it was cancelled.
    if reply.is_stream() {
        assert!(reply.events().is_empty(), "{reply:?}");
    }
    assert_eq!(server.ask(&ping(7, &session)).status, 200, "its id is free");
}
