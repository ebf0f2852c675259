//! Bytes to lines: BOM, CR, blank lines, no final newline, bad UTF-8, bad JSON, lines that are too long.

use serde_json::json;

use super::{assert_alive, refused};
use crate::support::{Client, TestServer, Tree};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn invalid_json_is_a_parse_error_and_the_server_continues() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for line in [
        "{not json",
        "{",
        "}",
        "[",
        "[1,",
        "]",
        "nul",
        "\"open",
        "'single'",
        "{'id':1}",
        "{\"a\":01}",
        "{\"a\":1,}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\u{1}\"}",
        "\0",
        "Content-Length: 40",
        // Two messages on one line cannot be answered separately, so neither is accepted.
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"} and more"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ] {
        refused(&mut server, line, -32700);
    }
}

#[test]
fn json_other_than_a_message_is_an_invalid_request() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for line in ["5", "null", "true", "\"ping\"", "-1.5e3", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"params":{}}"#] {
        refused(&mut server, line, -32600);
    }
}

#[test]
fn invalid_utf8_is_a_parse_error_wherever_it_is() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for bad in [&b"\xFF"[..], b"\xC3", b"\x80", b"\xC0\xAF", b"\xED\xA0\x80", b"\xF4\x90\x80\x80"] {
        refused(&mut server, bad, -32700);
        // Without U+FFFD in its place: a path that was changed on the way would be another path.
        let id = [br#"{"jsonrpc":"2.0","id":""#, bad, br#"","method":"ping"}"#].concat();
        refused(&mut server, id, -32700);
        let param = [br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#, bad, br#""}}"#].concat();
        refused(&mut server, param, -32700);
    }
}

#[test]
fn a_line_is_found_whatever_surrounds_it() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    for (before, after) in [
        (&b""[..], &b"\n"[..]),
        (b"", b"\r\n"),
        (b"\xEF\xBB\xBF", b"\n"),
        (b"\xEF\xBB\xBF", b"\r\n"),
        (b"\n\n", b"\n\n"),
        (b"\r\n\r\n", b"\r\n\r\n"),
        (b" \t", b" \t\n"),
        (b"\xEF\xBB\xBF\r\n", b"\n\xEF\xBB\xBF\n"),
    ] {
        server.send_raw([before, PING, after].concat());
        assert_eq!(server.recv(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}), "{before:?} {after:?}");
        server.expect_silence();
    }
}

#[test]
fn blank_lines_are_skipped_silently() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    server.send_raw("\n\n\r\n   \n\t\r\n\u{feff}\n");
    assert_alive(&mut server);
}

#[test]
fn white_space_inside_a_message_does_not_end_it() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    server.send_raw("{\"jsonrpc\":\r\"2.0\",\t\"id\" : 1 ,\r\"method\":\"ping\"\r}\n");
    assert_eq!(server.recv()["id"], 1);
}

#[test]
fn a_last_line_without_its_newline_is_answered() {
    let tree = Tree::new();
    for ending in ["", "\r", " "] {
        let mut server = TestServer::start(&tree);
        server.send_raw([PING, ending.as_bytes()].concat());
        assert_eq!(server.close(), [json!({"jsonrpc": "2.0", "id": 1, "result": {}})], "{ending:?}");
    }
}

#[test]
fn a_last_line_that_was_cut_off_is_a_parse_error() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    server.send_raw(&PING[..20]);
    let rest = server.close();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["error"]["code"], -32700, "{rest:?}");
}

#[test]
fn an_input_without_messages_gets_no_output() {
    let tree = Tree::new();
    for input in ["", "\n", " ", "\u{feff}"] {
        let mut server = TestServer::start(&tree);
        server.send_raw(input);
        assert_eq!(server.close(), [json!(null); 0], "{input:?}");
    }
}

#[test]
fn a_message_is_read_however_its_bytes_arrive() {
    let tree = Tree::new();
    // One byte of capacity: the server reads and writes every byte separately, even those inside a character.
    let mut server = TestServer::builder(&tree).buffer(1).start();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"é😀\",\"method\":\"ping\"}\n";
    for byte in line.as_bytes() {
        server.send_raw([*byte]);
    }
    assert_eq!(server.recv()["id"], "é😀");
}

#[test]
fn many_messages_in_one_write_are_all_answered() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let line = |id: i32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    server.send_raw((0..200).map(line).collect::<Vec<_>>().concat());
    for id in 0..200 {
        assert_eq!(server.answer(json!(id))["result"], json!({}));
    }
}

#[test]
fn whatever_a_file_holds_its_answer_is_one_line() {
    let text = "one\ntwo\r\nthree\rfour\u{2028}five\u{2029}\u{85}\u{b}\u{c}\u{7f}\u{1b}[0m \"é\" \\ 😀\n";
    let tree = Tree::new().file("a.txt", text);
    let mut server = TestServer::start(&tree);
    // The harness checks that it is one line.
    assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), text);
}

/// On Linux, because macOS and Windows have no names that are not Unicode.
#[cfg(target_os = "linux")]
#[test]
fn whatever_a_file_is_called_the_list_is_one_line() {
    let tree = Tree::new().file("new\nline\r.txt", "x").file("é😀.txt", "x").file_bytes_name(b"bad\xFF.txt", "x");
    let mut server = TestServer::start(&tree);
    assert_eq!(server.result("resources/list", json!({}))["resources"].as_array().expect("a list").len(), 3);
}

#[test]
fn a_line_over_the_limit_is_rejected_once_and_the_next_is_read() {
    let tree = Tree::new();
    let mut server = TestServer::builder(&tree).limits(|limits| limits.line_bytes = 200).start();
    let padding = "x".repeat(200);
    for line in [
        padding.clone() + "x",
        padding.repeat(5_000),
        // Its id is not read, because the line is not kept.
        format!(r#"{{"jsonrpc":"2.0","id":"long","method":"ping","params":{{"a":"{padding}"}}}}"#),
    ] {
        server.send_line(&line);
        server.talk().conversation.excuse(&json!("long"));
        let answer = server.recv();
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer.get("id"), None, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("200 bytes"), "it must name the limit: {message}");
        assert_alive(&mut server);
    }
}

#[test]
fn a_line_of_exactly_the_limit_is_a_line() {
    let tree = Tree::new();
    let mut server = TestServer::builder(&tree).limits(|limits| limits.line_bytes = 200).start();
    let empty = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""}}"#;
    let line = empty.replace("\"\"", &format!("\"{}\"", "x".repeat(200 - empty.len())));
    assert_eq!(line.len(), 200);
    server.send_line(line);
    assert_eq!(server.recv()["result"], json!({}));
}

#[test]
fn a_last_line_over_the_limit_without_a_newline_is_rejected() {
    let tree = Tree::new();
    let mut server = TestServer::builder(&tree).limits(|limits| limits.line_bytes = 200).start();
    server.send_raw("x".repeat(100_000));
    let rest = server.close();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["error"]["code"], -32600, "{rest:?}");
}
