//! 2024-11-05 to 2025-11-25: initialize, early requests, ping, and what the results of each revision may contain.

use serde_json::{Value, json};

use crate::support::{Client, LATEST_LEGACY, LEGACY, TestServer, Tree};

/// Requests a session, and returns the whole answer.
fn initialize(server: &mut impl Client, version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    server.request("initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

#[test]
fn initialize_negotiates_a_revision_that_both_support() {
    let tree = Tree::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // rmcp requests this one here, although it has no initialize.
        ("2026-07-28", LATEST_LEGACY),
        ("1999-01-01", LATEST_LEGACY),
        ("2099-12-31", LATEST_LEGACY),
        ("2024-11-05 ", LATEST_LEGACY),
        ("1.0", LATEST_LEGACY),
        ("", LATEST_LEGACY),
    ] {
        let mut server = TestServer::start(&tree);
        let answer = initialize(&mut server, asked);
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked:?}: {answer}");
    }
}

#[test]
fn initialize_names_the_server_and_its_directory() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut server = TestServer::start(&tree);
        let answer = initialize(&mut server, revision);
        let result = &answer["result"];
        assert_eq!(result["serverInfo"]["name"], "mcp-fs", "{answer}");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"), "{answer}");
        assert_eq!(result["serverInfo"].get("title").is_some(), revision >= "2025-06-18", "{revision}: {answer}");
        assert_eq!(result["capabilities"]["tools"], json!({}), "{answer}");
        assert!(result["capabilities"]["resources"].is_object(), "{answer}");
        assert_eq!(result["capabilities"]["completions"], json!({}), "{answer}");
        let root = &result["capabilities"]["experimental"]["roots"];
        assert_eq!(*root, json!({"listChanged": false, "roots": [{"uri": tree.uri(""), "name": "root"}]}));
        let instructions = result["instructions"].as_str().expect("instructions");
        assert!(instructions.contains(tree.path().to_str().expect("text")), "it must name DIR: {instructions}");
        assert!(instructions.contains("read-only"), "{instructions}");
        assert!(instructions.chars().count() <= 2_000, "{instructions}");
    }
}

#[test]
fn initialize_without_a_version_is_rejected_and_can_be_repeated() {
    let tree = Tree::new();
    for wrong in [json!(null), json!(5), json!(2025.1125), json!(true), json!({}), json!([LATEST_LEGACY])] {
        let mut server = TestServer::start(&tree);
        let params = json!({"protocolVersion": wrong, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let answer = server.request("initialize", params);
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("protocolVersion"), "it must name what is wrong: {message}");
        assert_eq!(server.request("tools/list", json!({}))["error"]["code"], -32602, "{wrong} began a session");
        assert_eq!(initialize(&mut server, "2025-03-26")["result"]["protocolVersion"], "2025-03-26", "{wrong}");
    }
}

#[test]
fn initialize_without_parameters_is_rejected() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":["2025-11-25"]}"#,
    ] {
        server.send_line(line);
        let answer = server.answer(json!(1));
        assert_eq!(answer["error"]["code"], -32602, "{line}: {answer}");
    }
}

/// Nothing depends on these two, and clients get them wrong.
#[test]
fn initialize_ignores_invalid_members_that_it_does_not_need() {
    let tree = Tree::new();
    for rest in [
        json!({}),
        json!({"capabilities": {}}),
        json!({"clientInfo": {"name": "x", "version": "1"}}),
        json!({"capabilities": null, "clientInfo": null}),
        json!({"capabilities": [], "clientInfo": "x"}),
        json!({"capabilities": 5, "clientInfo": {}}),
        json!({"capabilities": {"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}}}}),
        json!({"capabilities": {"experimental": {"x": 1}, "extensions": {"io.example/y": {}}, "tasks": {"list": {}}}}),
        json!({"capabilities": {}, "_meta": {"progressToken": 1, "dev.example/z": []}, "unknown": 1}),
    ] {
        let mut server = TestServer::start(&tree);
        let mut params = rest.clone();
        params["protocolVersion"] = json!(LATEST_LEGACY);
        let answer = server.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], LATEST_LEGACY, "{rest}: {answer}");
        server.notify("notifications/initialized", json!({}));
        // Neither roots/list nor anything else.
        server.expect_silence();
    }
}

#[test]
fn ping_is_answered_at_any_time() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let ping = |server: &mut TestServer| assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    ping(&mut server);
    initialize(&mut server, LATEST_LEGACY);
    ping(&mut server);
    server.notify("notifications/initialized", json!({}));
    ping(&mut server);
    server.send(json!({"jsonrpc": "2.0", "id": "no params", "method": "ping"}));
    assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": "no params", "result": {}}));
}

#[test]
fn a_request_before_initialize_is_told_to_initialize() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree);
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "read_text_file", "arguments": {"path": "a.txt"}})),
        ("tools/call", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": tree.uri("a.txt")})),
        ("resources/templates/list", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("no/such/method", json!({})),
    ] {
        let answer = server.request(method, params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("send initialize first"), "{method}: {message}");
    }
    assert_eq!(initialize(&mut server, LATEST_LEGACY)["result"]["protocolVersion"], LATEST_LEGACY);
}

/// Claude Code sends both at once, and other clients forget the notification.
#[test]
fn a_request_before_initialized_is_served() {
    let tree = Tree::new().file("a.txt", "one\n");
    for revision in LEGACY {
        let mut server = TestServer::start(&tree);
        initialize(&mut server, revision);
        assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n", "{revision}");
        server.notify("notifications/initialized", json!({}));
        assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n", "{revision}");
    }
}

#[test]
fn a_second_initialize_is_rejected_and_the_session_is_unchanged() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy("2024-11-05");
    for version in LEGACY {
        let answer = initialize(&mut server, version);
        assert_eq!(answer["error"]["code"], -32600, "{version}: {answer}");
    }
    // 2024-11-05 has no titles, and accepts batches.
    let tools = server.result("tools/list", json!({}));
    assert_eq!(tools["tools"][0].get("title"), None, "{tools}");
    server.send(json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]));
    assert_eq!(server.recv(), json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]));
}

#[test]
fn tools_have_annotations_since_2025_03_26_and_titles_since_2025_06_18() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        let result = server.result("tools/list", json!({}));
        for tool in result["tools"].as_array().expect("tools") {
            assert_eq!(tool.get("annotations").is_some(), revision >= "2025-03-26", "{revision}: {tool}");
            assert_eq!(tool.get("title").is_some(), revision >= "2025-06-18", "{revision}: {tool}");
            for never in ["outputSchema", "icons", "execution", "_meta"] {
                assert_eq!(tool.get(never), None, "{revision}: {tool}");
            }
        }
    }
}

#[test]
fn resources_have_a_size_always_and_a_time_since_2025_06_18() {
    let tree = Tree::new().file("a.txt", "one\n");
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        let result = server.result("resources/list", json!({}));
        let resource = &result["resources"][0];
        assert_eq!(resource["size"], 4, "{revision}: {resource}");
        let time = resource.pointer("/annotations/lastModified");
        assert_eq!(time.is_some(), revision >= "2025-06-18", "{revision}: {resource}");
        assert_eq!(resource.get("annotations").is_some(), time.is_some(), "{revision}: {resource}");
        let templates = server.result("resources/templates/list", json!({}));
        let template = &templates["resourceTemplates"][0];
        assert_eq!(template.get("title").is_some(), revision >= "2025-06-18", "{revision}: {template}");
    }
}

#[test]
fn audio_is_a_block_since_2025_03_26_and_a_resource_before() {
    let wav = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";
    let tree = Tree::new().file("a.wav", wav);
    let data = base64_simd::STANDARD.encode_to_string(wav);
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        let result = server.tool("read_media_file", json!({"path": "a.wav"}));
        let block = &result["content"][0];
        if revision >= "2025-03-26" {
            assert_eq!(block["type"], "audio", "{revision}: {block}");
            assert_eq!(block["data"], *data, "{revision}: {block}");
        } else {
            assert_eq!(block["type"], "resource", "{revision}: {block}");
            assert_eq!(block["resource"]["uri"], *tree.uri("a.wav"), "{revision}: {block}");
            assert_eq!(block["resource"]["blob"], *data, "{revision}: {block}");
        }
    }
}

#[test]
fn an_error_without_a_readable_id_has_a_null_id_up_to_2025_06_18_and_none_since() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.line_bytes = 1_000).start().legacy(revision);
        for (line, code) in [
            ("{bad json".to_owned(), -32700),
            ("\u{0}".to_owned(), -32700),
            ("5".to_owned(), -32600),
            (r#"{"jsonrpc":"2.0"}"#.to_owned(), -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(), -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.to_owned(), -32600),
            ("[]".to_owned(), -32600),
            ("x".repeat(1_001), -32600),
        ] {
            server.send_line(&line);
            let answer = server.recv();
            assert_eq!(answer["error"]["code"], code, "{revision}: {line}: {answer}");
            let want = (revision <= "2025-06-18").then_some(&Value::Null);
            assert_eq!(answer.get("id"), want, "{revision}: {line}: {answer}");
        }
    }
}

#[test]
fn a_missing_resource_is_32002_and_names_the_uri() {
    let tree = Tree::new();
    let uri = tree.uri("missing");
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        let error = server.error("resources/read", json!({"uri": uri}));
        assert_eq!(error["code"], -32002, "{revision}: {error}");
        assert_eq!(error["data"], json!({"uri": uri}), "{revision}: {error}");
    }
}

#[test]
fn methods_of_undeclared_capabilities_do_not_exist() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        for (method, params) in [
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "x"})),
            ("logging/setLevel", json!({"level": "info"})),
            ("tasks/list", json!({})),
            ("roots/list", json!({})),
            ("sampling/createMessage", json!({})),
            // Of 2026-07-28 only.
            ("server/discover", json!({})),
            ("subscriptions/listen", json!({"notifications": {}})),
        ] {
            let error = server.error(method, params);
            assert_eq!(error["code"], -32601, "{revision} {method}: {error}");
            assert!(error["message"].as_str().is_some_and(|text| text.contains(method)), "it must name it: {error}");
        }
    }
}

#[test]
fn a_task_field_of_a_call_is_ignored() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let params = json!({"name": "read_text_file", "arguments": {"path": "a.txt"}, "task": {"ttl": 1}});
    let result = server.result("tools/call", params);
    assert_eq!(result, json!({"content": [{"type": "text", "text": "one\n"}]}));
}
