//! 2026-07-28: `_meta`, discover, unsupported versions, caching fields, what was removed and what is ignored.

use serde_json::{Value, json};

use crate::resources::completion::asking;
use crate::support::client::with_meta;
use crate::support::{Client, Gate, LATEST_LEGACY, MODERN, TestServer, Tree};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const SUPPORTED: [&str; 5] = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Every method that has a result, with parameters that yield one, and how long it may be cached.
fn methods(tree: &Tree) -> Vec<(&'static str, Value, Option<u32>)> {
    vec![
        ("server/discover", json!({}), Some(60_000)),
        ("tools/list", json!({}), Some(60_000)),
        ("resources/templates/list", json!({}), Some(60_000)),
        ("resources/list", json!({}), Some(0)),
        ("resources/read", json!({"uri": tree.uri("a.txt")}), Some(0)),
        ("resources/read", json!({"uri": tree.uri("")}), Some(0)),
        ("completion/complete", asking(tree, "a"), None),
        ("tools/call", json!({"name": "read_text_file", "arguments": {"path": "a.txt"}}), None),
        ("tools/call", json!({"name": "read_text_file", "arguments": {"path": "missing"}}), None),
    ]
}

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("b.txt", "two\n")
}

#[test]
fn discover_returns_everything() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let result = server.result("server/discover", json!({}));
    assert_eq!(result["supportedVersions"], json!(SUPPORTED));
    assert_eq!(result["capabilities"]["tools"], json!({}));
    assert!(result["capabilities"]["resources"].is_object(), "{result}");
    assert_eq!(result["capabilities"]["completions"], json!({}));
    let roots = &result["capabilities"]["experimental"]["roots"]["roots"];
    assert_eq!(*roots, json!([{"uri": tree.uri(""), "name": "root"}]));
    let instructions = result["instructions"].as_str().expect("instructions");
    assert!(instructions.contains(tree.path().to_str().expect("text")), "it must name DIR: {instructions}");
    assert!(instructions.chars().count() <= 2_000, "{instructions}");
    let info = &result["_meta"][SERVER_INFO];
    assert_eq!((&info["name"], &info["version"]), (&json!("mcp-fs"), &json!(env!("CARGO_PKG_VERSION"))));
}

#[test]
fn discover_and_initialize_return_the_same() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let discovered = server.result("server/discover", json!({}));
    let initialized = server.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    for member in ["capabilities", "instructions"] {
        assert_eq!(discovered[member], initialized["result"][member], "{member}");
    }
}

#[test]
fn every_result_has_its_type_server_and_cache_lifetime() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (method, params, ttl) in methods(&tree) {
        let result = server.result(method, params);
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
        assert_eq!(result["_meta"][SERVER_INFO]["name"], "mcp-fs", "{method}: {result}");
        assert_eq!(result.get("ttlMs").cloned(), ttl.map(Value::from), "{method}: {result}");
        // Most of them name DIR: a result for one user must not be given to another.
        let scope = result.get("cacheScope").and_then(Value::as_str);
        assert_eq!(scope, ttl.map(|_| "private"), "{method}: {result}");
    }
}

#[test]
fn every_page_of_a_list_has_the_same_scope() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).limits(|limits| limits.page = 1).start();
    let first = server.result("resources/list", json!({}));
    let second = server.result("resources/list", json!({"cursor": first["nextCursor"]}));
    assert_eq!(second.get("nextCursor"), None, "{second}");
    for member in ["resultType", "ttlMs", "cacheScope"] {
        assert_eq!(first[member], second[member], "{member}");
    }
    assert_ne!(first["resources"], second["resources"]);
}

#[test]
fn meta_without_required_members_is_rejected() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (key, wrong) in [
        (VERSION, None),
        (VERSION, Some(json!(null))),
        (VERSION, Some(json!(20_260_728))),
        (VERSION, Some(json!([MODERN]))),
        (VERSION, Some(json!({}))),
        (CLIENT_CAPABILITIES, None),
        (CLIENT_CAPABILITIES, Some(json!(null))),
        (CLIENT_CAPABILITIES, Some(json!([]))),
        (CLIENT_CAPABILITIES, Some(json!("{}"))),
        (CLIENT_CAPABILITIES, Some(json!(true))),
    ] {
        for (method, mut params, _) in methods(&tree) {
            params = with_meta(params);
            let meta = params["_meta"].as_object_mut().expect("_meta");
            match wrong.clone() {
                Some(wrong) => drop(meta.insert(key.to_owned(), wrong)),
                None => drop(meta.remove(key)),
            }
            let answer = server.request(method, params);
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{method} {key} {wrong:?}: {answer}");
            let message = error["message"].as_str().expect("a message");
            assert!(message.contains(key), "{method} {key} {wrong:?}: it must name the key: {message}");
        }
    }
}

#[test]
fn meta_without_client_info_is_enough() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (method, mut params, _) in methods(&tree) {
        params["_meta"] = json!({VERSION: MODERN, CLIENT_CAPABILITIES: {}});
        let answer = server.request(method, params);
        assert_eq!(answer["result"]["resultType"], "complete", "{method}: {answer}");
    }
}

#[test]
fn an_unsupported_version_is_answered_with_the_supported_ones() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    // The legacy versions are supported too, but not in `_meta`.
    for version in ["1900-01-01", "2099-01-01", "", " 2026-07-28", LATEST_LEGACY, "2024-11-05"] {
        for method in ["server/discover", "tools/list", "tools/call", "ping", "no/such/method"] {
            let error = server.error(method, json!({"_meta": {VERSION: version, CLIENT_CAPABILITIES: {}}}));
            assert_eq!(error["code"], -32022, "{method} {version:?}: {error}");
            assert_eq!(error["data"], json!({"supported": SUPPORTED, "requested": version}), "{method}: {error}");
        }
    }
}

#[test]
fn errors_are_checked_in_order_version_meta_method_parameters() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let meta = |version: &str, capabilities: Value| json!({VERSION: version, CLIENT_CAPABILITIES: capabilities});
    let bad_cursor = |meta: Value| json!({"cursor": 5, "_meta": meta});
    for (method, params, code, names) in [
        ("no/such", bad_cursor(meta("1900-01-01", json!(5))), -32022, "1900-01-01"),
        ("no/such", bad_cursor(json!({VERSION: "1900-01-01"})), -32022, "1900-01-01"),
        ("no/such", bad_cursor(json!({CLIENT_CAPABILITIES: {}})), -32602, VERSION),
        ("no/such", bad_cursor(meta(MODERN, json!(5))), -32602, CLIENT_CAPABILITIES),
        ("no/such", bad_cursor(meta(MODERN, json!({}))), -32601, "no/such"),
        ("tools/list", bad_cursor(meta(MODERN, json!(5))), -32602, CLIENT_CAPABILITIES),
        ("tools/list", bad_cursor(meta(MODERN, json!({}))), -32602, "cursor"),
    ] {
        let answer = server.request(method, params.clone());
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{method} {params}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(names), "{method} {params}: it must name {names}: {message}");
    }
}

#[test]
fn unknown_meta_is_ignored() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (method, params, _) in methods(&tree) {
        let plain = server.result(method, params.clone());
        for meta in [
            json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "x=y"}),
            json!({"traceparent": 5, "baggage": null}),
            json!({"dev.example/anything": {"deep": [1, 2, 3]}, "": true}),
            json!({"anthropic/maxResultSizeChars": 1}),
            json!({"io.modelcontextprotocol/unknown": 1}),
            json!({CLIENT_CAPABILITIES: {"roots": {}, "sampling": {}, "experimental": {"x": {}}}}),
            json!({CLIENT_INFO: {"name": "claude-code", "version": "9", "title": "x", "unknown": []}}),
        ] {
            let mut params = params.clone();
            params["_meta"] = meta.clone();
            assert_eq!(server.result(method, params), plain, "{method} {meta}");
        }
    }
}

#[test]
fn what_2026_07_28_removed_is_not_found() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": tree.uri("a.txt")})),
        ("resources/unsubscribe", json!({"uri": tree.uri("a.txt")})),
        ("roots/list", json!({})),
        ("sampling/createMessage", json!({})),
        ("tasks/list", json!({})),
        // Never offered here.
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("no/such/method", json!({})),
    ] {
        let error = server.error(method, params);
        assert_eq!(error["code"], -32601, "{method}: {error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(method)), "it must name it: {error}");
    }
}

#[test]
fn notifications_with_modern_meta_are_never_answered() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for method in [
        "notifications/roots/list_changed",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/unknown",
        "server/discover",
        "ping",
    ] {
        server.notify(method, with_meta(json!({})));
        server.notify(method, json!({"_meta": {VERSION: "1900-01-01"}}));
        server.notify(method, json!({"_meta": {VERSION: 5}}));
        server.expect_silence();
    }
}

#[test]
fn responses_to_requests_never_sent_are_ignored() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (method, params, _) in methods(&tree) {
        let plain = server.result(method, params.clone());
        for (key, value) in [
            ("inputResponses", json!({"x": {"action": "accept", "content": {"path": "../secret"}}})),
            ("inputResponses", json!([1])),
            ("requestState", json!("forged")),
            ("requestState", json!({"path": "../secret"})),
        ] {
            let mut params = params.clone();
            params[key] = value.clone();
            assert_eq!(server.result(method, params), plain, "{method} {key} {value}");
        }
    }
}

#[test]
fn a_cancellation_may_carry_meta() {
    let tree = tree();
    let gate = Gate::new();
    let at_gate = gate.clone();
    let server = TestServer::builder(&tree).dispatch(move |call, context| {
        if matches!(call, mcp_fs::call::Call::ListResources { .. }) {
            at_gate.pass();
        }
        mcp_fs::features::dispatch::dispatch(call, context)
    });
    let mut server = server.start();
    for reason in [json!(null), json!("changed my mind")] {
        let id = server.ask_modern("resources/list", json!({}));
        let params = with_meta(json!({"requestId": id, "reason": reason}));
        server.notify("notifications/cancelled", params);
        // Its id can be reused at once, which only the end of a request in flight allows.
        server.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": with_meta(json!({}))}));
        assert!(server.answer(id)["result"]["tools"].is_array());
    }
    gate.open();
    server.expect_silence();
}

#[test]
fn a_missing_resource_is_32602_and_names_the_uri() {
    let tree = tree();
    let uri = tree.uri("missing");
    let mut server = TestServer::start(&tree);
    let error = server.error("resources/read", json!({"uri": uri}));
    assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &json!({"uri": uri})), "{error}");
}

#[test]
fn an_error_without_a_readable_id_has_none() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    server.result("server/discover", json!({}));
    for (line, code) in [("{bad json", -32700), ("5", -32600), (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600)]
    {
        server.send_line(line);
        let answer = server.recv();
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (None, &json!(code)), "{line}: {answer}");
    }
}
