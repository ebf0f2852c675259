//! 2026-07-28: every request stands alone, and its headers match its message.

use serde_json::{Value, json};

use super::requests::{Request, get, modern, post, request};
use super::support::HttpServer;
use crate::support::Tree;

fn server() -> HttpServer {
    HttpServer::start(Tree::new().file("a.txt", "one\n").file("é.txt", "accent\n"))
}

fn list() -> Request {
    modern(1, "tools/list", json!({}))
}

fn read(name: &str) -> Request {
    modern(1, "tools/call", json!({"name": name, "arguments": {"path": "a.txt"}}))
}

#[track_caller]
fn refused(server: &HttpServer, request: &Request, status: u16, code: i64) {
    let reply = server.ask(request);
    assert_eq!((reply.status, reply.code()), (status, code), "{reply:?}");
    assert_eq!(reply.json()["id"], json!(1), "HT125");
}

#[test]
fn ht100_both_eras_share_one_connection() {
    let server = server();
    let session = server.session("2025-11-25");
    let mut connection = server.connect();
    for _ in 0..3 {
        connection.send(&list());
        assert_eq!(connection.reply().json()["result"]["resultType"], json!("complete"));
        connection.send(&post(&request(1, "tools/list", json!({}))).session(&session));
        assert!(connection.reply().json()["result"].get("resultType").is_none());
    }
}

#[test]
fn ht101_ht122_methods_of_the_other_era_are_not_found() {
    let server = server();
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "prompts/list", "nope"] {
        refused(&server, &modern(1, method, json!({"protocolVersion": "2026-07-28"})), 404, -32_601);
    }
}

#[test]
fn ht102_ht110_meta_is_required() {
    let server = server();
    let bare = |params: Value| {
        post(&request(1, "tools/list", params))
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/list")
    };
    refused(&server, &bare(json!({})), 400, -32_602);
    refused(&server, &bare(json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}})), 400, -32_602);
    refused(&server, &bare(json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})), 400, -32_602);
}

#[test]
fn ht103_ht104_there_are_no_sessions() {
    let server = server();
    for method in ["GET", "DELETE"] {
        let request = Request::new(method, "/mcp").header("MCP-Protocol-Version", "2026-07-28").session("x");
        assert_eq!(server.ask(&request).status, 405, "{method}");
    }
    let reply = server.ask(&list().session("unknown").header("Last-Event-ID", "x"));
    assert_eq!((reply.status, reply.header("mcp-session-id")), (200, None));
}

#[test]
fn ht105_one_request_or_notification_in_a_body() {
    let server = server();
    for body in [json!([request(1, "tools/list", json!({}))]), json!({"jsonrpc": "2.0", "id": 1, "result": {}})] {
        let reply = server.ask(&list().body(body.to_string()));
        assert_eq!((reply.status, reply.code()), (400, -32_600), "{body}");
    }
}

#[test]
fn ht106_ht107_a_posted_cancellation_is_accepted_and_cancels_nothing() {
    let server = server();
    let mut stream = server.connect();
    stream.send(&follow("same", &server));
    stream.head();
    stream.event().expect("the acknowledgement");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "same"}});
    let reply = server.ask(&post(&cancelled).header("MCP-Protocol-Version", "2026-07-28"));
    assert_eq!((reply.status, reply.body.len()), (202, 0));
    std::fs::write(server.tree.join("a.txt"), "two\n").expect("it is written");
    assert_eq!(stream.event().expect("it lives")["method"], json!("notifications/resources/updated"));
}

#[test]
fn ht108_a_cursor_is_valid_on_every_connection() {
    let server = HttpServer::with(Tree::new().file("a", "").file("b", ""), &["--page-size", "1"]);
    let first = server.ask(&modern(1, "resources/list", json!({}))).json();
    let second = server.ask(&modern(1, "resources/list", json!({"cursor": first["result"]["nextCursor"]}))).json();
    assert_eq!(second["result"]["resources"][0]["name"], json!("b"));
}

#[test]
fn ht112_ht113_ht114_the_version_header_must_match_the_message() {
    let server = server();
    refused(&server, &list().without("MCP-Protocol-Version"), 400, -32_020);
    refused(&server, &list().header("MCP-Protocol-Version", "2025-11-25"), 400, -32_020);
    refused(&server, &list().header("MCP-Protocol-Version", "1999-01-01"), 400, -32_020);
    let unknown = list().body(list_with_version("2099-01-01").to_string()).header("MCP-Protocol-Version", "2099-01-01");
    refused(&server, &unknown, 400, -32_022);
    let data = server.ask(&unknown).json()["error"]["data"].clone();
    assert_eq!(data["requested"], json!("2099-01-01"));
    assert_eq!(data["supported"][0], json!("2026-07-28"));
}

fn list_with_version(version: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(1, "tools/list", json!({"_meta": meta}))
}

#[test]
fn ht115_the_method_header_must_match_the_method() {
    let server = server();
    refused(&server, &list().without("Mcp-Method"), 400, -32_020);
    refused(&server, &list().header("Mcp-Method", "Tools/List"), 400, -32_020);
    assert_eq!(server.ask(&list().without("Mcp-Method").header("mcp-METHOD", "tools/list")).status, 200);
}

#[test]
fn ht116_ht117_ht118_ht119_the_name_header_must_match_the_name() {
    let server = server();
    refused(&server, &read("read_text_file").without("Mcp-Name"), 400, -32_020);
    refused(&server, &read("read_text_file").header("Mcp-Name", "write_file"), 400, -32_020);
    refused(&server, &read("read_text_file").header("Mcp-Name", "=?base64?cmVhZF90ZXh0X2ZpbGU?="), 400, -32_020);
    refused(&server, &read("read_text_file").header("Mcp-Name", b"read\xFFtext"), 400, -32_020);
    refused(&server, &read("read_text_file").and("Mcp-Name", "read_text_file"), 400, -32_020);
    for name in ["=?base64?cmVhZF90ZXh0X2ZpbGU=?=", "  read_text_file\t"] {
        assert_eq!(server.ask(&read("read_text_file").header("Mcp-Name", name)).status, 200, "{name}");
    }
    let uri = server.tree.uri("é.txt").replace("%C3%A9", "é");
    assert_eq!(server.ask(&modern(1, "resources/read", json!({"uri": uri}))).status, 200);
}

#[test]
fn ht120_unknown_parameter_headers_are_ignored() {
    assert_eq!(server().ask(&read("read_text_file").header("Mcp-Param-Path", "other")).status, 200);
}

#[test]
fn ht124_ht126_other_errors_have_status_200() {
    let server = server();
    refused(&server, &read("no_such_tool"), 200, -32_602);
    let missing = server.tree.uri("missing");
    let reply = server.ask(&modern(1, "resources/read", json!({"uri": missing})));
    assert_eq!((reply.status, reply.code(), &reply.json()["error"]["data"]["uri"]), (200, -32_602, &json!(missing)));
}

#[test]
fn ht128_ht129_lists_say_how_long_and_for_whom_they_may_be_cached() {
    let server = server();
    for method in ["server/discover", "tools/list", "resources/list", "resources/templates/list"] {
        let result = server.ask(&modern(1, method, json!({}))).json()["result"].clone();
        assert!(result["ttlMs"].is_u64() && result["cacheScope"] == json!("private"), "{method}: {result}");
    }
}

/// A stream that reports changes of `a.txt`.
fn follow(id: &str, server: &HttpServer) -> Request {
    modern(id, "subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [server.tree.uri("a.txt")]}}))
}

fn listen(id: &str) -> Request {
    modern(id, "subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}}))
}

#[test]
fn ht140_progress_comes_before_the_answer_on_one_stream() {
    let server = HttpServer::start(super::support::wide_tree());
    let call = json!({
        "name": "search_text", "arguments": {"query": "nothing like it"}, "_meta": {"progressToken": "p"},
    });
    let reply = server.ask(&modern(1, "tools/call", call));
    let mut messages = if reply.is_stream() { reply.events() } else { vec![reply.json()] };
    let answer = messages.pop().expect("the answer");
    assert_eq!(answer["id"], json!(1));
    assert!(messages.iter().all(|message| message["params"]["progressToken"] == json!("p")), "{messages:?}");
}

#[test]
fn ht142_a_bad_filter_gets_an_error_instead_of_a_stream() {
    let server = server();
    let bad = modern(1, "subscriptions/listen", json!({"notifications": 5}));
    let reply = server.ask(&bad);
    assert_eq!((reply.is_stream(), reply.code()), (false, -32_602));
    assert_eq!(server.ask(&listen("x").header("Accept", "application/json")).status, 406);
}

#[test]
fn ht143_ht146_ht147_ht150_a_stream_begins_with_its_acknowledgement() {
    let server = server();
    for id in [json!("1"), json!(1)] {
        let mut stream = server.connect();
        stream.send(&modern(
            id.clone(),
            "subscriptions/listen",
            json!({"notifications": {"resourcesListChanged": true}}),
        ));
        let head = stream.head();
        assert_eq!((head.status, head.is_stream(), head.header("x-accel-buffering")), (200, true, Some("no")));
        assert_eq!(head.header("cache-control"), Some("no-store"));
        let first = stream.event().expect("the acknowledgement");
        assert_eq!(first["method"], json!("notifications/subscriptions/acknowledged"));
        assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    }
}

#[test]
fn ht149_streams_with_one_id_on_two_connections_are_independent() {
    let server = server();
    let mut streams = [server.connect(), server.connect()];
    for stream in &mut streams {
        stream.send(&follow("listen:0", &server));
        stream.head();
        stream.event().expect("the acknowledgement");
    }
    std::fs::write(server.tree.join("a.txt"), "two\n").expect("it is written");
    for stream in &mut streams {
        assert_eq!(stream.event().expect("the change")["method"], json!("notifications/resources/updated"));
    }
}

#[test]
fn ht144_closing_the_connection_cancels_its_request() {
    let server = HttpServer::with(super::support::wide_tree(), &["--max-in-flight", "1"]);
    let slow = json!({"name": "search_text", "arguments": {"query": "(x+x+)+y", "regex": true}});
    let mut connection = server.connect();
    connection.send(&modern("gone", "tools/call", slow));
    server.line_with("\"gone\" tools/call");
    drop(connection);
    let reply = server.ask(&read("read_text_file"));
    assert_eq!(reply.status, 200, "others are served");
}

#[test]
fn ht151_ht170_streams_get_their_results_when_the_server_ends() {
    let mut server = server();
    let session = server.session("2025-11-25");
    let [mut modern, mut legacy] = [server.connect(), server.connect()];
    modern.send(&listen("l"));
    modern.head();
    modern.event().expect("the acknowledgement");
    legacy.send(&get(&session));
    legacy.head();
    server.terminate();
    let end = modern.event().expect("the result");
    assert_eq!((&end["id"], &end["result"]["resultType"]), (&json!("l"), &json!("complete")));
    assert_eq!(modern.event(), None);
    assert_eq!(legacy.event(), None);
    assert!(server.wait().success());
}

#[test]
fn ht152_the_streams_of_a_server_are_bounded_by_its_connections() {
    let server = server();
    let mut streams: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.send(&listen("l"));
        stream.head();
        stream.event().expect("the acknowledgement");
    }
    assert_eq!(server.ask(&list()).status, 200);
}
