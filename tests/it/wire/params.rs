//! Parameters of the wrong type: the same answer for every method, in both eras.

use serde_json::{Value, json};

use crate::support::{Client, LATEST_LEGACY, TestServer, Tree};

/// A server in each era; [`Client::either`] sends each requests of its own era.
fn both_eras(tree: &Tree) -> [TestServer; 2] {
    [TestServer::start(tree), TestServer::start(tree).legacy(LATEST_LEGACY)]
}

#[test]
fn a_cursor_for_a_list_of_one_page_is_rejected() {
    let tree = Tree::new();
    for mut server in both_eras(&tree) {
        for method in ["tools/list", "resources/templates/list"] {
            for cursor in ["", "0", "abc", "000000000000feed.1.a"] {
                let error = server.error(method, json!({"cursor": cursor}));
                assert_eq!(error["code"], -32602, "{method} {cursor:?}: {error}");
            }
        }
    }
}

#[test]
fn every_list_rejects_a_cursor_that_is_not_a_string() {
    let tree = Tree::new();
    for mut server in both_eras(&tree) {
        for method in ["tools/list", "resources/list", "resources/templates/list"] {
            for cursor in [json!(0), json!(1), json!(true), json!({}), json!([]), json!(["a"])] {
                let error = server.error(method, json!({"cursor": cursor}));
                assert_eq!(error["code"], -32602, "{method} {cursor}: {error}");
                let message = error["message"].as_str().expect("a message");
                assert!(message.contains("cursor"), "it must name the parameter: {message}");
            }
        }
    }
}

#[test]
fn an_unknown_cursor_is_rejected() {
    let tree = Tree::new();
    for mut server in both_eras(&tree) {
        for cursor in ["", " ", "0", "garbage", "../..", "\u{0}"] {
            let error = server.error("resources/list", json!({"cursor": cursor}));
            assert_eq!(error["code"], -32602, "{cursor:?}: {error}");
        }
    }
}

#[test]
fn parameters_that_do_not_match_the_method_are_a_protocol_error() {
    let tree = Tree::new();
    let wrong: &[(&str, Value, &str)] = &[
        ("tools/call", json!({}), "name"),
        ("tools/call", json!({"arguments": {"path": "a"}}), "name"),
        ("tools/call", json!({"name": null}), "name"),
        ("tools/call", json!({"name": 5}), "name"),
        ("tools/call", json!({"name": ["read_text_file"]}), "name"),
        ("tools/call", json!({"name": "read_text_file", "arguments": []}), "arguments"),
        ("tools/call", json!({"name": "read_text_file", "arguments": "{\"path\":\"a\"}"}), "arguments"),
        ("tools/call", json!({"name": "read_text_file", "arguments": 5}), "arguments"),
        ("tools/call", json!({"name": "no_such_tool"}), "no_such_tool"),
        ("tools/call", json!({"name": ""}), "Unknown tool"),
        ("tools/call", json!({"name": "READ_TEXT_FILE", "arguments": {"path": "a"}}), "READ_TEXT_FILE"),
        ("resources/read", json!({}), "uri"),
        ("resources/read", json!({"uri": null}), "uri"),
        ("resources/read", json!({"uri": 5}), "uri"),
        ("resources/read", json!({"uri": {"path": "a"}}), "uri"),
    ];
    for mut server in both_eras(&tree) {
        for (method, params, names) in wrong {
            let error = server.error(method, params.clone());
            assert_eq!(error["code"], -32602, "{method} {params}: {error}");
            let message = error["message"].as_str().expect("a message");
            assert!(message.contains(names), "{params}: it must name {names}: {message}");
        }
    }
}

#[test]
fn invalid_tool_arguments_are_a_result_for_the_model() {
    let tree = Tree::new().file("a.txt", "one\n");
    let wrong: &[(Value, &str)] = &[
        (json!({}), "path"),
        (json!({"path": null}), "path"),
        (json!({"path": 5}), "path"),
        (json!({"path": ["a.txt"]}), "path"),
        (json!({"path": "a.txt", "head": 0}), "head"),
        (json!({"path": "a.txt", "head": -1}), "head"),
        (json!({"path": "a.txt", "head": 1.5}), "head"),
        (json!({"path": "a.txt", "head": "one"}), "head"),
        (json!({"path": "a.txt", "head": true}), "head"),
        (json!({"path": "a.txt", "unknown": 1}), "unknown"),
        (json!({"path": "a.txt", "head": 1, "tail": 1}), "tail"),
    ];
    for mut server in both_eras(&tree) {
        for (arguments, names) in wrong {
            let text = server.tool_error("read_text_file", arguments.clone());
            assert!(text.contains(names), "{arguments}: it must name {names}: {text}");
        }
    }
}

#[test]
fn null_means_that_an_argument_is_absent() {
    let tree = Tree::new().file("a.txt", "one\n");
    for mut server in both_eras(&tree) {
        assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt", "head": null, "limit": null})), "one\n");
        for params in [
            json!({"name": "list_allowed_directories", "arguments": null}),
            json!({"name": "list_allowed_directories"}),
        ] {
            let result = server.result("tools/call", params);
            assert_ne!(result["isError"], true, "{result}");
        }
    }
}
