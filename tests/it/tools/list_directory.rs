//! `list_directory`: one line per entry, sorted; parts of long directories; names that do not fit on a line.

use serde_json::json;

use super::{number_after, text_and_note};
use crate::support::{Client, TestServer, Tree, text_of};

#[test]
fn entries_are_official_lines_sorted_by_name() {
    let tree = Tree::new().file("b.txt", "").file("a.txt", "").file(".dot", "").file("C.txt", "").file("sub/x", "");
    let mut server = TestServer::start(&tree);
    let want = "[FILE] .dot\n[FILE] C.txt\n[FILE] a.txt\n[FILE] b.txt\n[DIR] sub";
    for path in [json!({}), json!({"path": null}), json!({"path": ""}), json!({"path": "."})] {
        let (text, note) = text_and_note(&mut server, "list_directory", path);
        assert_eq!((text.as_str(), note), (want, None));
    }
    assert_eq!(server.tool_text("list_directory", json!({"path": "sub"})), "[FILE] x");
}

#[cfg(unix)]
#[test]
fn links_and_special_files_are_marked() {
    let tree =
        Tree::new().file("f", "").link("in", "f").link("dir", ".").link("gone", "nowhere").link("out", "../secret");
    let tree = tree.fifo("pipe").socket("sock");
    let text = TestServer::start(&tree).tool_text("list_directory", json!({}));
    let want = "[LINK] dir\n[FILE] f\n[LINK] gone\n[LINK] in\n[LINK] out\n[OTHER] pipe\n[OTHER] sock";
    assert_eq!(text, want);
}

#[test]
fn an_empty_directory_is_reported_as_empty() {
    let tree = Tree::new().dir("d");
    let result = TestServer::start(&tree).tool("list_directory", json!({"path": "d"}));
    assert_ne!(result["isError"], true);
    assert!(text_of(&result).contains("empty"), "{result}");
}

#[test]
fn offset_and_limit_select_entries_and_the_note_says_which() {
    let tree = ["a", "b", "c", "d", "e"].iter().fold(Tree::new(), |tree, name| tree.file(name, ""));
    let mut server = TestServer::start(&tree);
    for (window, want, said, goes_on) in [
        (json!({"limit": 2}), "[FILE] a\n[FILE] b", "1-2 of 5", Some(3)),
        (json!({"offset": 2, "limit": 2}), "[FILE] b\n[FILE] c", "2-3 of 5", Some(4)),
        (json!({"offset": 4}), "[FILE] d\n[FILE] e", "4-5 of 5", None),
        (json!({"offset": 5, "limit": 9}), "[FILE] e", "5-5 of 5", None),
    ] {
        let (text, note) = text_and_note(&mut server, "list_directory", window.clone());
        let note = note.expect("a note");
        assert_eq!(text, want, "{window}");
        assert!(note.contains(said), "{window}: {note}");
        assert_eq!(number_after("continue with offset", &note), goes_on, "{window}");
    }
    let result = server.tool("list_directory", json!({"offset": 6}));
    assert!(text_of(&result).contains("of 5") && !text_of(&result).contains("[FILE]"), "{result}");
}

#[test]
fn part_after_part_lists_every_entry_once() {
    let names: Vec<String> = (0..300).map(|number| format!("file-{number:03}-with-a-longish-name.txt")).collect();
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file(name, ""));
    for tool in ["list_directory", "list_directory_with_sizes"] {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
        let (mut listed, mut offset) = (Vec::new(), Some(1));
        while let Some(from) = offset {
            let (text, note) = text_and_note(&mut server, tool, json!({"offset": from}));
            assert!(text.len() <= 1_000, "{tool}: {} bytes", text.len());
            let names = text.lines().filter_map(|line| line.strip_prefix("[FILE] "));
            listed.extend(names.map(|line| line.split(' ').next().expect("a name").to_owned()));
            offset = note.and_then(|note| number_after("continue with offset", &note));
        }
        assert_eq!(listed, names, "{tool}");
    }
}

#[test]
fn denied_names_are_not_listed() {
    let tree =
        Tree::new().file("a.txt", "").file(".env", "").file(".ENV.local", "").file("k/.ssh/key", "").file("x.pem", "");
    let mut server = TestServer::builder(&tree).deny("*.pem").start();
    for tool in ["list_directory", "list_directory_with_sizes", "directory_tree"] {
        let text = text_of(&server.tool(tool, json!({}))) + &text_of(&server.tool(tool, json!({"path": "k"})));
        for name in [".env", ".ENV", ".ssh", "x.pem"] {
            assert!(!text.contains(name), "{tool}: {text}");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_listed_is_an_error_with_the_reason() {
    let tree = Tree::new().file("a.txt", "").file(".ssh/config", "");
    let mut server = TestServer::start(&tree);
    for tool in ["list_directory", "list_directory_with_sizes", "directory_tree"] {
        for (path, reason) in [
            ("a.txt", "not a directory"),
            ("gone", "not found"),
            ("..", "leads outside the served directory"),
            (".ssh", "denied by the pattern"),
        ] {
            let text = server.tool_error(tool, json!({"path": path}));
            assert!(text.contains(reason), "{tool} {path}: {text}");
        }
    }
    for wrong in [json!({"offset": 0}), json!({"limit": 0}), json!({"path": 1}), json!({"depth": 1})] {
        let text = server.tool_error("list_directory", wrong.clone());
        let name = wrong.as_object().unwrap().keys().next().unwrap();
        assert!(text.contains(name), "{wrong}: {text}");
    }
}

/// A name must not forge a line of its own, and what is shown instead must name the file in every tool.
#[cfg(target_os = "linux")]
#[test]
fn unusual_names_are_shown_as_uris_that_every_tool_accepts() {
    let names: [&[u8]; 5] =
        [b"new\nline", b"tab\there", "turned\u{202e}txt".as_bytes(), b"bad\xff.txt", b"esc\x1b[31m"];
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file_bytes_name(name, "content\n"));
    let mut server = TestServer::start(&tree);
    let text = server.tool_text("list_directory", json!({}));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), names.len(), "{text}");
    for line in lines {
        let uri = line.strip_prefix("[FILE] ").filter(|name| name.starts_with("file:///")).expect(line);
        assert!(uri.is_ascii() && !uri.contains(char::is_control), "{uri:?}");
        assert_eq!(server.tool_text("read_text_file", json!({"path": uri})), "content\n");
        let result = server.tool("read_media_file", json!({"path": uri}));
        assert_eq!(result["content"][0]["resource"]["text"], "content\n", "{uri}");
        let many = server.tool_text("read_multiple_files", json!({"paths": [uri]}));
        assert_eq!(many, format!("{uri}:\ncontent\n"));
        assert!(server.tool_text("get_file_info", json!({"path": uri})).contains("size: 8"), "{uri}");
        let read = server.result("resources/read", json!({"uri": uri}));
        assert_eq!(read["contents"][0]["text"], "content\n", "{uri}");
    }
    for tool in ["list_directory_with_sizes", "directory_tree"] {
        let text = server.tool_text(tool, json!({}));
        assert_eq!(text.matches("file:///").count(), names.len(), "{tool}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_with_an_unusual_name_is_listed_by_its_uri() {
    let tree = Tree::new().file("odd\ndir/f.txt", "");
    let mut server = TestServer::start(&tree);
    let listed = server.tool_text("list_directory", json!({}));
    let uri = listed.strip_prefix("[DIR] ").expect("a directory").to_owned();
    for (tool, more, want) in [
        ("list_directory", json!({}), "[FILE] f.txt"),
        ("list_directory_with_sizes", json!({}), "f.txt"),
        ("directory_tree", json!({"maxDepth": 1}), "\"name\": \"f.txt\""),
    ] {
        let arguments = super::with(&json!({"path": uri}), &more);
        let text = server.tool_text(tool, arguments);
        assert!(text.contains(want), "{tool}: {text}");
    }
}
