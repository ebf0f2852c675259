//! `read_text_file`: which lines it returns, and its errors.

use serde_json::{Value, json};

use super::{MOST_EXACT, text_and_note, with};
use crate::support::{Client, TestServer, Tree};

const FOUR: &str = "one\ntwo\nthree\nfour\n";

#[test]
fn a_whole_file_is_one_exact_block_without_a_note() {
    let contents =
        ["", "\n", "a", "a\n", "a\r\nb\r\n", "\n\n a\t \n\n", "caf\u{e9} \u{1f600} \u{2028}x\u{7f}\u{1b}[0m\n"];
    for content in contents {
        let tree = Tree::new().file("a.txt", content);
        let result = TestServer::start(&tree).tool("read_text_file", json!({"path": "a.txt"}));
        assert_eq!(result["content"], json!([{"type": "text", "text": content}]), "{content:?}");
    }
}

#[test]
fn each_argument_selects_its_lines() {
    let tree = Tree::new().file("a.txt", FOUR).file("no-end.txt", "one\ntwo");
    let mut server = TestServer::start(&tree);
    for (path, arguments, want) in [
        ("a.txt", json!({"head": 1}), "one\n"),
        ("a.txt", json!({"head": 3}), "one\ntwo\nthree\n"),
        ("a.txt", json!({"head": 4}), FOUR),
        ("a.txt", json!({"head": 99}), FOUR),
        ("a.txt", json!({"tail": 1}), "four\n"),
        ("a.txt", json!({"tail": 2}), "three\nfour\n"),
        ("a.txt", json!({"tail": 4}), FOUR),
        ("a.txt", json!({"tail": MOST_EXACT}), FOUR),
        ("a.txt", json!({"offset": 1}), FOUR),
        ("a.txt", json!({"offset": 3}), "three\nfour\n"),
        ("a.txt", json!({"limit": 2}), "one\ntwo\n"),
        ("a.txt", json!({"offset": 2, "limit": 2}), "two\nthree\n"),
        ("a.txt", json!({"offset": 4, "limit": MOST_EXACT}), "four\n"),
        ("a.txt", json!({"column": 3}), "e\ntwo\nthree\nfour\n"),
        ("a.txt", json!({"offset": 3, "limit": 1, "column": 3}), "ree\n"),
        ("no-end.txt", json!({"head": 2}), "one\ntwo"),
        ("no-end.txt", json!({"tail": 1}), "two"),
        ("no-end.txt", json!({"tail": 2}), "one\ntwo"),
        ("no-end.txt", json!({"offset": 2}), "two"),
    ] {
        let (text, _) = text_and_note(&mut server, "read_text_file", with(&json!({"path": path}), &arguments));
        assert_eq!(text, want, "{path} {arguments}");
    }
}

#[test]
fn columns_count_characters_not_bytes() {
    let tree = Tree::new().file("a.txt", "\u{e9}\u{65e5}\u{1f600}x\n");
    let mut server = TestServer::start(&tree);
    let rest = |server: &mut TestServer, column: u64| {
        text_and_note(server, "read_text_file", json!({"path": "a.txt", "column": column})).0
    };
    let want = ["\u{e9}\u{65e5}\u{1f600}x\n", "\u{65e5}\u{1f600}x\n", "\u{1f600}x\n", "x\n"];
    assert_eq!([1, 2, 3, 4].map(|column| rest(&mut server, column)), want);
}

#[test]
fn the_note_says_which_lines_and_how_to_continue() {
    let tree = Tree::new().file("a.txt", FOUR);
    let mut server = TestServer::start(&tree);
    for (arguments, said, goes_on) in [
        (json!({"offset": 2, "limit": 2}), "lines 2-3 of 4", Some("continue with offset 4")),
        (json!({"head": 3}), "lines 1-3 of 4", Some("continue with offset 4")),
        (json!({"offset": 3}), "lines 3-4 of 4", None),
        (json!({"tail": 2}), "last 2 lines of 4", None),
    ] {
        let (_, note) = text_and_note(&mut server, "read_text_file", with(&json!({"path": "a.txt"}), &arguments));
        let note = note.unwrap_or_else(|| panic!("{arguments}: no note"));
        assert!(note.contains(said), "{arguments}: {note}");
        match goes_on {
            Some(goes_on) => assert!(note.contains(goes_on), "{arguments}: {note}"),
            None => assert!(!note.contains("continue"), "{arguments}: {note}"),
        }
    }
}

#[test]
fn past_the_end_is_an_empty_text_and_a_note_with_the_length() {
    let tree = Tree::new().file("a.txt", FOUR).file("empty.txt", "");
    let mut server = TestServer::start(&tree);
    for (path, offset, total) in [("a.txt", 5, "of 4"), ("a.txt", MOST_EXACT, "of 4"), ("empty.txt", 2, "of 0")] {
        let (text, note) = text_and_note(&mut server, "read_text_file", json!({"path": path, "offset": offset}));
        let note = note.expect("a note");
        assert_eq!(text, "", "{path}");
        assert!(note.contains(total) && !note.contains("continue"), "{path}: {note}");
    }
}

#[test]
fn null_arguments_are_absent() {
    let tree = Tree::new().file("a.txt", FOUR);
    let mut server = TestServer::start(&tree);
    let nulls = json!({"path": "a.txt", "head": null, "tail": null, "offset": null, "limit": null, "column": null});
    assert_eq!(server.tool_text("read_text_file", nulls.clone()), FOUR);
    assert_eq!(server.tool_text("read_text_file", with(&nulls, &json!({"head": 1}))), "one\n");
    assert_eq!(server.tool_text("read_text_file", with(&nulls, &json!({"offset": 4}))), "four\n");
}

#[test]
fn ways_to_select_lines_cannot_be_combined() {
    let tree = Tree::new().file("a.txt", FOUR);
    let mut server = TestServer::start(&tree);
    for (one, other) in [
        ("head", "tail"),
        ("head", "offset"),
        ("head", "limit"),
        ("tail", "offset"),
        ("tail", "limit"),
        ("head", "column"),
        ("tail", "column"),
    ] {
        let arguments = json!({"path": "a.txt", one: 1, other: 1});
        let text = server.tool_error("read_text_file", arguments);
        assert!(text.contains(one) && text.contains(other), "{one} with {other}: {text}");
    }
}

#[test]
fn an_invalid_count_is_named() {
    let tree = Tree::new().file("a.txt", FOUR);
    let mut server = TestServer::start(&tree);
    for name in ["head", "tail", "offset", "limit", "column"] {
        for wrong in [json!(0), json!(-1), json!(1.5), json!("1x"), json!(true), json!([1]), json!({})] {
            let text = server.tool_error("read_text_file", json!({"path": "a.txt", name: wrong}));
            assert!(text.contains(name) && text.contains("integer"), "{name}: {wrong}: {text}");
        }
    }
}

#[test]
fn anything_but_a_readable_file_is_an_error_with_the_reason() {
    let tree = Tree::new().dir("d").file("a.txt", "x").file(".env", "KEY=1");
    let mut server = TestServer::start(&tree);
    for (path, reason) in [
        ("gone.txt", "not found"),
        ("gone/a.txt", "not found"),
        ("d", "directory"),
        (".", "directory"),
        ("a.txt/b", "not a directory"),
        ("../secret", "leads outside the served directory"),
        (".env", "denied by the pattern \".env\""),
    ] {
        let text = server.tool_error("read_text_file", json!({"path": path}));
        assert!(text.contains(path) && text.contains(reason), "{path}: {text}");
    }
}

#[test]
fn a_denied_file_s_error_names_the_flag() {
    let tree = Tree::new().file(".env", "KEY=1").file("a.pem", "x");
    let mut server = TestServer::builder(&tree).deny("*.pem").start();
    for (path, flag) in [(".env", "--no-default-deny"), ("a.pem", "--deny")] {
        let text = server.tool_error("read_text_file", json!({"path": path}));
        assert!(text.contains(flag), "{path}: {text}");
    }
}

#[test]
fn an_empty_file_is_an_empty_text_however_it_is_read() {
    let tree = Tree::new().file("empty.txt", "");
    let mut server = TestServer::start(&tree);
    let ways: [Value; 5] =
        [json!({}), json!({"head": 1}), json!({"tail": 1}), json!({"offset": 1}), json!({"limit": 5, "column": 1})];
    for way in ways {
        let (text, note) = text_and_note(&mut server, "read_text_file", with(&json!({"path": "empty.txt"}), &way));
        assert_eq!(text, "", "{way}");
        assert!(!note.unwrap_or_default().contains("continue"), "{way}");
    }
}
