//! Ids of every kind, errors in messages with a readable id, and messages that never get an answer.

use serde_json::{Value, json};

use super::{exchange, refused};
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree};

/// As they are written in a line. Numbers must be echoed digit by digit; how a string is escaped is up to the writer.
const IDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "-0",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "18446744073709551616",
    "123456789012345678901234567890",
    r#""""#,
    r#"" ""#,
    r#""0""#,
    r#""null""#,
    r#""server-discover-probe-1""#,
    r#""a\"b\\c\/d""#,
    r#""\b\f\n\r\t\u0000\u001f""#,
    r#""\u00e9\ud83d\ude00\u2028""#,
    "\"é😀\u{2028}\u{7f}\"",
];

/// The longest id, in bytes as it is written in the line.
const LONGEST: usize = 1_024;

#[test]
fn every_id_is_echoed_exactly_with_its_type() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let [text, number] = [format!("\"{}\"", "x".repeat(LONGEST - 2)), "9".repeat(300)];
    for id in IDS.iter().copied().chain([text.as_str(), number.as_str()]) {
        // Both a result and an error echo it.
        for method in ["ping", "tools/list"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            let (answer, echoed) = exchange(&mut server, line);
            assert_eq!(answer.get("error").is_some(), method == "tools/list", "{id}: {answer}");
            let echoed = echoed.unwrap_or_else(|| panic!("{id}: no id in {answer}"));
            if id.starts_with('"') {
                let text = |id: &str| serde_json::from_str::<String>(id).expect("a string");
                assert_eq!(text(&echoed), text(id));
            } else {
                assert_eq!(echoed, id);
            }
        }
    }
}

#[test]
fn an_id_of_more_than_1024_bytes_is_an_invalid_request_and_not_echoed() {
    let tree = Tree::new();
    let plain = format!("\"{}\"", "x".repeat(LONGEST - 1));
    // Written out, these are 171 characters.
    let escaped = format!("\"{}\"", "\\u0041".repeat(171));
    for id in [plain, escaped, format!("\"{}\"", "é".repeat(1_000_000))] {
        for method in ["ping", "no/such/method", "tools/list"] {
            let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
            refused(&mut server, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#), -32600);
        }
        // A response is never answered, and an invalid id cancels nothing.
        let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
        server.send_line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let params = format!(r#"{{"requestId":{id}}}"#);
        server.send_line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
        server.expect_silence();
    }
}

#[test]
fn a_progress_token_is_no_longer_than_an_id() {
    let tree = Tree::new();
    let ask = |server: &mut TestServer, modern: bool, token: Value| {
        let params = json!({"_meta": {"progressToken": token}});
        if modern { server.modern("tools/list", params) } else { server.request("tools/list", params) }
    };
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for modern in [false, true] {
        assert!(ask(&mut server, modern, json!("t".repeat(LONGEST - 2))).get("result").is_some());
        let answer = ask(&mut server, modern, json!("t".repeat(LONGEST - 1)));
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("progressToken")), "{answer}");
        // It counts as absent, as always.
        assert!(ask(&mut server, modern, json!({"a": "t".repeat(LONGEST)})).get("result").is_some());
    }
}

#[test]
fn an_id_that_mcp_forbids_is_an_invalid_request_without_id() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for id in ["null", "true", "false", "1.5", "-0.5", "{}", r#"{"id":1}"#, "[]", "[1]"] {
        refused(&mut server, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), -32600);
    }
}

#[test]
fn a_readable_id_is_echoed_whatever_else_is_wrong() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for (rest, code) in [
        (r#""method":"ping""#, -32600),
        (r#""jsonrpc":"1.0","method":"ping""#, -32600),
        (r#""jsonrpc":2.0,"method":"ping""#, -32600),
        (r#""jsonrpc":null,"method":"ping""#, -32600),
        (r#""jsonrpc":"2.0""#, -32600),
        (r#""jsonrpc":"2.0","params":{}"#, -32600),
        (r#""jsonrpc":"2.0","method":5"#, -32600),
        (r#""jsonrpc":"2.0","method":null"#, -32600),
        (r#""jsonrpc":"2.0","method":["ping"]"#, -32600),
        (r#""jsonrpc":"2.0","method":"ping","params":[1]"#, -32602),
        (r#""jsonrpc":"2.0","method":"ping","params":"x""#, -32602),
        (r#""jsonrpc":"2.0","method":"ping","params":1"#, -32602),
        (r#""jsonrpc":"2.0","method":"""#, -32601),
        (r#""jsonrpc":"2.0","method":"no/such/method""#, -32601),
        (r#""jsonrpc":"2.0","method":"Ping""#, -32601),
        (r#""jsonrpc":"2.0","method":"ping\u0000""#, -32601),
    ] {
        for id in [r#""x""#, "7"] {
            let (answer, echoed) = exchange(&mut server, format!(r#"{{"id":{id},{rest}}}"#));
            assert_eq!(answer["error"]["code"], code, "{rest}: {answer}");
            assert_eq!(echoed.as_deref(), Some(id), "{rest}: {answer}");
        }
    }
}

/// JavaScript writes half a surrogate pair as an escape, which is valid JSON but not Unicode.
#[test]
fn a_readable_id_is_echoed_beside_a_lone_surrogate() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"\ud800":1}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","\ud800":1}"#,
    ] {
        server.send_line(line);
        // The harness cannot parse such lines either, and would not know the request of the answer.
        let answer: Value = serde_json::from_slice(&server.read().expect("an answer")).expect("JSON");
        server.talk().conversation.excuse(&json!(7));
        assert_eq!(answer["id"], 7, "{line}: {answer}");
    }
}

#[test]
fn unknown_members_of_a_message_are_ignored() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    server.send(json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "trace": {"result": 1}, "": null}));
    assert_eq!(server.recv()["result"], json!({}));
    // With a method it is a request, whatever else it contains.
    server.send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping", "result": {}}));
    assert_eq!(server.recv()["result"], json!({}));
}

#[test]
fn an_id_can_be_reused_after_its_answer() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for _ in 0..3 {
        for id in [json!(1), json!("1")] {
            server.send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
            assert_eq!(server.recv()["result"], json!({}));
        }
    }
}

#[test]
fn responses_are_never_answered() {
    let tree = Tree::new();
    for mut server in [TestServer::start(&tree), TestServer::start(&tree).legacy("2025-03-26")] {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"roots","result":{"roots":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","error":null}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"result":[]}"#,
            r#"{"id":1,"error":"not even an object"}"#,
            r#"{"jsonrpc":"1.0","id":{},"result":{}}"#,
        ] {
            server.send_line(line);
            server.expect_silence();
        }
    }
}

#[test]
fn notifications_are_never_answered_whatever_is_wrong_with_them() {
    let tree = Tree::new();
    for mut server in [TestServer::start(&tree), TestServer::start(&tree).legacy(LATEST_LEGACY)] {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":true}}"#,
            r#"{"jsonrpc":"2.0","method":"no/such/method","params":"x"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"ping"}"#,
            r#"{"jsonrpc":"1.0","method":"ping"}"#,
            r#"{"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            r#"{"jsonrpc":"2.0","method":null}"#,
        ] {
            server.send_line(line);
            server.expect_silence();
        }
    }
}

#[test]
fn initialize_without_an_id_does_not_begin_a_session() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    server.notify("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    server.expect_silence();
    assert_eq!(server.request("tools/list", json!({}))["error"]["code"], -32602);
}
