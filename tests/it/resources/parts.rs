//! Texts longer than an answer come in parts that yield the file byte for byte; ranges select lines.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::read;
use crate::support::{Client, TestServer, Tree};

const MAX: usize = 1_000;

fn start(tree: &Tree) -> TestServer {
    TestServer::builder(tree).limits(|limits| limits.resource_bytes = MAX).start()
}

fn continues(item: &Value) -> Option<&Value> {
    item.get("_meta").map(|meta| meta.get("dev.mcp-fs/continues").expect("the only member"))
}

/// Follows `next` from `uri` to the end of the file, and checks every step.
fn read_on(server: &mut TestServer, uri: &str, total: usize) -> String {
    let (mut whole, mut uri) = (String::new(), uri.to_owned());
    for _ in 0..10_000 {
        let item = read(server, &uri);
        let text = item["text"].as_str().expect("text");
        let Some(continuation) = continues(&item) else { return whole + text };
        let position = |key: &str| usize::try_from(continuation[key].as_u64().expect(key)).unwrap();
        let (from, to) = (position("from"), position("to"));
        assert_eq!((from, position("total")), (whole.len(), total), "{continuation}");
        assert!(to > from && to - from <= MAX, "{continuation}");
        // The marker is the last line, on a line of its own.
        let (part, rest) = text.split_at(to - from);
        let next = continuation["next"].as_str().expect("next");
        let newline = if part.ends_with('\n') { "" } else { "\n" };
        assert_eq!(rest, format!("{newline}[mcp-fs: {} of {total} bytes; continue: {next}]", to - from));
        whole += part;
        next.clone_into(&mut uri);
    }
    panic!("the parts never come to an end");
}

fn many_lines() -> String {
    let mut text = String::from("\u{feff}");
    for number in 0..200 {
        let _ = writeln!(text, "{number} {}", "\u{e9}\u{1f600}x".repeat(number % 13));
        if number % 7 == 0 {
            text += "\r\n\n";
        }
        if number % 60 == 50 {
            text += &"\u{65e5}\u{672c}z".repeat(500);
            text += "\n";
        }
    }
    text
}

#[test]
fn reading_part_after_part_yields_the_file() {
    for (name, content) in [
        ("lines.txt", many_lines()),
        ("no end.txt", many_lines() + "no newline at the end"),
        ("one line#1.json", "\u{e9}\u{65e5}\u{1f600}a".repeat(600)),
        ("newlines", "\n".repeat(2_500)),
    ] {
        let tree = Tree::new().file(name, &content);
        assert!(read_on(&mut start(&tree), &tree.uri(name), content.len()) == content, "{name}: not the file");
    }
}

#[test]
fn a_part_ends_at_a_line_if_one_fits_and_else_at_a_character() {
    let tree = Tree::new().file("lines", "0123456789\n".repeat(200)).file("line", "\u{65e5}".repeat(400));
    let mut server = start(&tree);
    let to = |item: &Value| continues(item).map(|continuation| continuation["to"].as_u64().expect("to"));
    let lines = read(&mut server, &tree.uri("lines"));
    assert_eq!(to(&lines), Some(990));
    assert_eq!(continues(&lines).unwrap()["next"], tree.uri("lines") + "?offset=91");
    let line = read(&mut server, &tree.uri("line"));
    assert_eq!(to(&line), Some(999));
    assert_eq!(continues(&line).unwrap()["next"], tree.uri("line") + "?offset=1&column=334");
}

#[test]
fn a_text_that_just_fits_is_whole() {
    let tree = Tree::new().file("fits", "x".repeat(MAX)).file("over", "x".repeat(MAX + 1));
    let mut server = start(&tree);
    let fits = read(&mut server, &tree.uri("fits"));
    assert_eq!((fits["text"].as_str().unwrap().len(), continues(&fits)), (MAX, None));
    assert!(continues(&read(&mut server, &tree.uri("over"))).is_some());
}

#[test]
fn a_range_selects_lines_and_characters() {
    let tree = Tree::new().file("a.txt", "one\ntw\u{f6}\nthree\n");
    let mut server = start(&tree);
    for (range, want) in [
        ("offset=2", "tw\u{f6}\nthree\n"),
        ("limit=1", "one\n"),
        ("offset=2&limit=1", "tw\u{f6}\n"),
        ("limit=1&offset=2", "tw\u{f6}\n"),
        ("offset=2&limit=1&column=3", "\u{f6}\n"),
        ("column=2&limit=1", "ne\n"),
        ("offset=1&limit=99", "one\ntw\u{f6}\nthree\n"),
        ("offset=4", ""),
        ("offset=99999999999", ""),
    ] {
        let item = read(&mut server, &format!("{}?{range}", tree.uri("a.txt")));
        assert_eq!(item["text"], want, "{range}");
        assert_eq!(item["mimeType"], "text/plain", "{range}");
    }
}

/// An empty text alone would be mistaken for an empty file.
#[test]
fn a_range_past_the_end_says_so() {
    let tree =
        Tree::new().file("a.txt", "one\ntwo\n").file("empty.txt", "").file("big.txt", "0123456789\n".repeat(300));
    let mut server = start(&tree);
    for (range, total) in [("a.txt?offset=3", 8), ("a.txt?offset=99&limit=5", 8), ("big.txt?offset=301", 3_300)] {
        let item = read(&mut server, &format!("{}/{range}", tree.uri("")));
        assert_eq!((&item["text"], &item["_meta"]), (&json!(""), &json!({"dev.mcp-fs/pastEnd": {"total": total}})));
    }
    for range in ["a.txt?offset=2", "a.txt?offset=1&column=2", "empty.txt", "empty.txt?offset=1"] {
        let item = read(&mut server, &format!("{}/{range}", tree.uri("")));
        assert_eq!(item.get("_meta"), None, "{range}: {item}");
    }
}

/// A client that asks for ten lines gets ten, without a marker among them; `_meta` still says where the file continues.
#[test]
fn a_complete_range_has_no_marker() {
    let tree = Tree::new().file("a.txt", "one\ntwo\nthree\n");
    let item = read(&mut start(&tree), &(tree.uri("a.txt") + "?offset=2&limit=1"));
    assert_eq!(item["text"], "two\n");
    let next = tree.uri("a.txt") + "?offset=3";
    assert_eq!(continues(&item), Some(&json!({"from": 4, "to": 8, "total": 14, "next": next})));
}

#[test]
fn a_range_longer_than_an_answer_continues_within_the_range() {
    let tree = Tree::new().file("a.txt", "0123456789\n".repeat(300));
    let mut server = start(&tree);
    let (mut text, mut uri) = (String::new(), tree.uri("a.txt") + "?offset=11&limit=200");
    loop {
        let item = read(&mut server, &uri);
        let part = item["text"].as_str().unwrap();
        let Some((kept, _)) = part.split_once("[mcp-fs: ") else {
            text += part;
            break;
        };
        text += kept;
        continues(&item).expect("a cut part says how to go on")["next"].as_str().unwrap().clone_into(&mut uri);
    }
    assert_eq!(text, "0123456789\n".repeat(200));
}

#[test]
fn an_invalid_range_is_rejected() {
    let tree = Tree::new().file("a.txt", "x\n").file("a.bin", b"a\0b").dir("d");
    let mut server = start(&tree);
    for wrong in [
        "a.txt?offset=0",
        "a.txt?limit=0",
        "a.txt?column=0",
        "a.txt?offset=-1",
        "a.txt?offset=x",
        "a.txt?offset=",
        "a.txt?offset",
        "a.txt?offset=1&offset=2",
        "a.txt?limit=1.5",
        "a.txt?offset=+1",
        "a.txt?offset=1&limit=",
        "a.txt?offset=99999999999999999999999",
        "a.bin?offset=1",
        "d?offset=1",
        "?limit=1",
    ] {
        let uri = format!("{}/{wrong}", tree.uri(""));
        let error = server.error("resources/read", json!({"uri": uri}));
        assert_eq!(error["code"], -32602, "{wrong}: {error}");
    }
}
