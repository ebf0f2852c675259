//! What holds for calls of any tool: names, the alias, arguments in general.

use serde_json::json;

use crate::support::{Client, TestServer, Tree, names_of};

#[test]
fn the_official_reading_tools_are_listed() {
    let tree = Tree::new();
    let list = TestServer::start(&tree).result("tools/list", json!({}));
    for name in [
        "read_text_file",
        "read_media_file",
        "read_multiple_files",
        "list_directory",
        "list_directory_with_sizes",
        "directory_tree",
        "get_file_info",
        "list_allowed_directories",
    ] {
        assert!(names_of(&list).contains(&name), "{name} is missing");
    }
}

#[test]
fn the_old_name_read_file_works_and_is_not_listed() {
    let tree = Tree::new().file("a.txt", "one\ntwo\n");
    let mut server = TestServer::start(&tree);
    assert_eq!(server.tool_text("read_file", json!({"path": "a.txt", "tail": 1})), "two\n");
    let list = server.result("tools/list", json!({}));
    assert!(!names_of(&list).contains(&"read_file"), "{list}");
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    let tree = Tree::new();
    for name in ["no_such_tool", "", "Read_Text_File", "read_text_file ", "caf\u{e9}"] {
        let mut server = TestServer::start(&tree);
        let error = server.error("tools/call", json!({"name": name, "arguments": {}}));
        assert_eq!(error["code"], -32602, "{name:?}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(name)), "{error}");
    }
}

#[test]
fn a_malformed_call_is_a_protocol_error() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for params in [
        json!({}),
        json!({"arguments": {}}),
        json!({"name": 1}),
        json!({"name": null}),
        json!({"name": "list_directory", "arguments": []}),
        json!({"name": "list_directory", "arguments": "x"}),
    ] {
        assert_eq!(server.error("tools/call", params.clone())["code"], -32602, "{params}");
    }
}

#[test]
fn arguments_may_be_left_out_or_null_where_none_is_needed() {
    let tree = Tree::new().file("a.txt", "");
    let mut server = TestServer::start(&tree);
    for params in [json!({"name": "list_directory"}), json!({"name": "list_directory", "arguments": {}})] {
        let result = server.result("tools/call", params);
        assert_eq!(result["content"][0]["text"], "[FILE] a.txt");
    }
}

#[test]
fn a_missing_or_invalid_path_is_a_tool_error_that_names_it() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for tool in ["read_text_file", "read_media_file", "get_file_info"] {
        for arguments in [json!({}), json!({"path": null}), json!({"path": 1}), json!({"path": ["a"]})] {
            let text = server.tool_error(tool, arguments.clone());
            assert!(text.contains("\"path\"") && text.contains("string"), "{tool} {arguments}: {text}");
        }
    }
}

#[test]
fn an_unknown_argument_is_named_with_the_known_ones() {
    let tree = Tree::new().file("a.txt", "");
    let mut server = TestServer::start(&tree);
    for (tool, known) in [
        ("read_text_file", "column"),
        ("read_media_file", "path"),
        ("get_file_info", "path"),
        ("list_directory", "limit"),
        ("list_directory_with_sizes", "sortBy"),
        ("directory_tree", "maxDepth"),
        ("read_multiple_files", "paths"),
    ] {
        let text = server.tool_error(tool, json!({"path": "a.txt", "colour": 1}));
        assert!(text.contains(known), "{tool}: {text}");
        assert!(text.contains("colour") || tool == "read_multiple_files", "{tool}: {text}");
    }
}
