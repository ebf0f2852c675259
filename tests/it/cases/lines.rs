//! Group J: what line N means. In every answer, lines end with LF and nothing else; a CR before it belongs to the
//! ending.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::support::{Client, TestServer, Tree};
use crate::tools::text_and_note;

/// The pieces of random files: everything that ends a line somewhere.
const PIECES: [&str; 12] =
    ["a", "foo", "\n", "\n", "\r\n", "\r", "\r\r\n", "\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"];

/// deepagents #5787, agent-os #3176: a lone CR ended a line for one tool and not for another.
#[test]
fn j8_a_lone_cr_does_not_end_a_line() {
    let tree = Tree::new().file("a.txt", "one\rfoo\rfoo\r");
    let mut server = TestServer::builder(&tree).allow_write().start();
    let (text, note) = text_and_note(&mut server, "read_text_file", json!({"path": "a.txt", "offset": 2}));
    assert!(text.is_empty() && note.expect("a note").contains("nothing at line 2 of 1"));
    assert!(server.tool_text("search_text", json!({"query": "foo"})).starts_with("a.txt:1:"));
    let edit = |old| json!({"path": "a.txt", "edits": [{"oldText": old, "newText": "x"}]});
    let text = server.tool_error("edit_file", edit("foo"));
    assert!(text.contains("2 times, at line 1;"), "{text}");
    let text = server.tool_error("edit_file", edit("one\nfoo\nfou"));
    assert!(text.contains("\n1: foo"), "{text}");
    let info = server.tool_text("get_file_info", json!({"path": "a.txt"}));
    assert!(info.contains("lineEnding: CR only, counted as one line"), "{info}");
    // A line ending in oldText still matches it, and the diff counts like the other tools.
    let (diff, _) = text_and_note(&mut server, "edit_file", edit("one\nfoo"));
    assert!(diff.contains("@@ -1,1 +1,1 @@\n-one\rfoo\rfoo\r\n"), "{diff}");
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"x\rfoo\r");
}

/// In any text that contains a word, every tool reports the same line, which is the number of LFs before it.
#[test]
fn j8_every_tool_counts_the_same_lines() {
    let tree = Tree::new().file("a.txt", "");
    let (path, uri) = (tree.join("a.txt"), tree.uri("a.txt"));
    let server = RefCell::new(TestServer::builder(&tree).allow_write().start());
    let pieces = || prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14);
    let config = Config { failure_persistence: None, ..Config::with_cases(150) };
    let tested = TestRunner::new(config).run(&(pieces(), pieces()), |(before, after)| {
        let (before, after) = (before.concat(), after.concat());
        let text = format!("{before}needle{after}");
        all_tools_agree(&mut server.borrow_mut(), &path, &uri, &text, before.matches('\n').count() + 1);
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
}

fn all_tools_agree(server: &mut TestServer, path: &Path, uri: &str, text: &str, line: usize) {
    fs::write(path, text).unwrap();
    let whole_line = text.split_inclusive('\n').nth(line - 1).expect("the line");
    let window = json!({"path": "a.txt", "offset": line, "limit": 1});
    assert_eq!(server.tool_text("read_text_file", window), whole_line);
    let read = server.result("resources/read", json!({"uri": format!("{uri}?offset={line}&limit=1")}));
    assert_eq!(read["contents"][0]["text"], *whole_line);
    let found = server.tool_text("search_text", json!({"query": "needle"}));
    assert!(found.starts_with(&format!("a.txt:{line}:")), "{text:?}: {found:?}");
    let edit = |old: &str| json!({"path": "a.txt", "edits": [{"oldText": old, "newText": "pin"}]});
    let alike = server.tool_error("edit_file", edit("n\u{435}edle"));
    let column = whole_line.split("needle").next().expect("before it").chars().count() + 2;
    assert!(alike.contains(&format!("at line {line}, column {column} the file has 'e'")), "{text:?}: {alike}");
    let (diff, _) = text_and_note(server, "edit_file", edit("needle"));
    assert_eq!(changed_line(&diff), line, "{text:?}: {diff}");
    fs::write(path, format!("{text}needle")).unwrap();
    let twice = server.tool_error("edit_file", edit("needle"));
    let last = text.matches('\n').count() + 1;
    let lines = if last == line { format!("at line {line};") } else { format!("at lines {line}, {last};") };
    assert!(twice.contains(&lines), "{text:?}: {twice}");
}

/// The number of the first line that a diff removes.
fn changed_line(diff: &str) -> usize {
    let (_, hunk) = diff.split_once("\n@@ -").expect("a hunk");
    let first: usize = hunk.split(',').next().and_then(|number| number.parse().ok()).expect("its first line");
    let lines = hunk.split('\n').skip(1);
    first + lines.take_while(|line| !line.starts_with('-')).count()
}
