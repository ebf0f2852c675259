//! Nesting that would overflow the stack of a careless parser, everywhere a message can contain it.

use serde_json::{Value, json};

use super::assert_alive;
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree};

const DEPTHS: [usize; 2] = [10_000, 100_000];

fn deep_array(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

fn deep_object(depth: usize) -> String {
    r#"{"a":"#.repeat(depth) + "0" + &"}".repeat(depth)
}

#[test]
fn a_deep_line_is_an_error_and_the_server_continues() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for depth in DEPTHS {
        for (line, code) in [
            (deep_array(depth), -32600),
            (deep_object(depth), -32600),
            ("[".repeat(depth), -32700),
            (r#"{"a":"#.repeat(depth), -32700),
            ("]".repeat(depth), -32700),
            ("[{\"a\":".repeat(depth), -32700),
        ] {
            server.send_line(line);
            let answer = server.recv();
            assert_eq!(answer["error"]["code"], code, "{depth}: {answer}");
            assert_alive(&mut server);
        }
    }
}

#[test]
fn a_deep_item_is_one_error_of_its_batch() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy("2025-03-26");
    for depth in DEPTHS {
        for item in [deep_array(depth), deep_object(depth)] {
            server.send_line(format!(r#"[{item},{{"jsonrpc":"2.0","id":1,"method":"ping"}}]"#));
            let answer = server.recv();
            assert_eq!(answer[0]["error"]["code"], -32600, "{depth}: {answer}");
            assert_eq!(answer[1]["result"], json!({}), "{depth}: {answer}");
        }
    }
}

#[test]
fn a_deep_value_that_is_not_needed_is_skipped() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for depth in DEPTHS {
        for deep in [deep_array(depth), deep_object(depth)] {
            for members in [
                format!(r#""trace":{deep}"#),
                format!(r#""params":{{"x":{deep}}}"#),
                format!(r#""params":{{"_meta":{{"progressToken":{deep}}}}}"#),
                format!(r#""params":{{"_meta":{{"dev.example/x":{deep}}}}}"#),
            ] {
                server.send_line(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list",{members}}}"#));
                let answer = server.answer(json!(1));
                assert!(answer["result"]["tools"].is_array(), "{depth}: {answer}");
            }
        }
    }
}

#[test]
fn a_deep_value_in_place_of_another_has_the_wrong_type() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for depth in DEPTHS {
        let deep = deep_array(depth);
        for (method, params) in [
            ("ping", deep.clone()),
            ("tools/call", format!(r#"{{"name":{deep}}}"#)),
            ("tools/call", format!(r#"{{"name":"read_text_file","arguments":{deep}}}"#)),
            ("resources/read", format!(r#"{{"uri":{deep}}}"#)),
            ("resources/list", format!(r#"{{"cursor":{deep}}}"#)),
        ] {
            server.send_line(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
            let answer = server.answer(json!(1));
            assert_eq!(answer["error"]["code"], -32602, "{method} at {depth}: {answer}");
        }
    }
}

#[test]
fn a_deep_argument_is_an_error_of_its_tool() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    for depth in DEPTHS {
        for deep in [deep_array(depth), deep_object(depth)] {
            for (tool, arguments) in [
                ("read_text_file", format!(r#"{{"path":{deep}}}"#)),
                ("read_text_file", format!(r#"{{"path":"a.txt","head":{deep}}}"#)),
                ("read_text_file", format!(r#"{{"path":"a.txt","unknown":{deep}}}"#)),
                ("read_multiple_files", format!(r#"{{"paths":{deep}}}"#)),
                ("directory_tree", format!(r#"{{"excludePatterns":[{deep}]}}"#)),
            ] {
                let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
                server.send_line(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
                let answer = server.answer(json!(1));
                assert_eq!(answer["result"]["isError"], true, "{tool} at {depth}: {answer}");
            }
        }
    }
}

#[test]
fn a_deep_id_is_no_id() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for depth in DEPTHS {
        server.send_line(format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, deep_array(depth)));
        let answer = server.recv();
        assert_eq!(answer["error"]["code"], -32600, "{depth}: {answer}");
    }
}

#[test]
fn deep_notifications_get_no_answer() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for depth in DEPTHS {
        let deep = deep_object(depth);
        for line in [
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{deep}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"no/such","params":{deep}}}"#),
        ] {
            server.send_line(line);
            server.expect_silence();
        }
    }
}

#[test]
fn a_modern_request_may_hold_deep_meta_too() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for depth in DEPTHS {
        let deep = deep_object(depth);
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{deep},"x":{deep}"#
        );
        server.send_line(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{meta}}}}}}}"#
        ));
        let answer: Value = server.answer(json!(1));
        assert_eq!(answer["result"]["resultType"], "complete", "{depth}: {answer}");
    }
}
