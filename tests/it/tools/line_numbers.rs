//! `read_text_file` with `lineNumbers`: the same text, each line preceded by its number and a tab.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{number_after, text_and_note, with};
use crate::support::{TestServer, Tree};

/// Lines of a file with their numbers.
fn numbered(server: &mut TestServer, path: &str, arguments: &Value) -> (String, Option<String>) {
    let asked = with(&json!({"path": path, "lineNumbers": true}), arguments);
    text_and_note(server, "read_text_file", asked)
}

#[test]
fn numbers_are_those_of_the_file_whichever_lines_are_requested() {
    let tree = Tree::new().file("a.txt", "one\ntwo\r\n\nfour\rx\nfive").file("empty.txt", "");
    let mut server = TestServer::start(&tree);
    for (arguments, want) in [
        (json!({}), "1\tone\n2\ttwo\r\n3\t\n4\tfour\rx\n5\tfive"),
        (json!({"head": 2}), "1\tone\n2\ttwo\r\n"),
        (json!({"tail": 2}), "4\tfour\rx\n5\tfive"),
        (json!({"offset": 3, "limit": 2}), "3\t\n4\tfour\rx\n"),
        (json!({"offset": 4, "limit": 1, "column": 3}), "4\tur\rx\n"),
        (json!({"offset": 9}), ""),
    ] {
        assert_eq!(numbered(&mut server, "a.txt", &arguments).0, want, "{arguments}");
    }
    assert_eq!(numbered(&mut server, "empty.txt", &json!({})).0, "");
    assert_eq!(numbered(&mut server, "a.txt", &json!({})).1, None);
    let plain = text_and_note(&mut server, "read_text_file", json!({"path": "a.txt", "lineNumbers": false}));
    assert_eq!(plain.0, "one\ntwo\r\n\nfour\rx\nfive");
}

#[test]
fn numbered_parts_yield_the_file_within_the_limit() {
    let mut content = String::new();
    for number in 0..300 {
        let _ = writeln!(content, "line {number} {}", "é".repeat(number * 7 % 90));
    }
    content += &"a long last line ".repeat(200);
    let tree = Tree::new().file("a.txt", &content);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (mut whole, mut at) = (String::new(), Some((1, 1)));
    while let Some((offset, column)) = at {
        let (text, note) = numbered(&mut server, "a.txt", &json!({"offset": offset, "column": column}));
        assert!((1..=1_000).contains(&text.len()), "{} bytes", text.len());
        for (line, number) in text.split_inclusive('\n').zip(offset..) {
            whole += line.strip_prefix(&format!("{number}\t")).unwrap_or_else(|| panic!("{number}: {line}"));
        }
        let note = note.expect("a note");
        assert!(note.contains(" of 301"), "{note}");
        at = number_after("offset", &note).map(|offset| (offset, number_after("column", &note).unwrap_or(1)));
    }
    assert!(whole == content, "the parts are not the file");
}

#[test]
fn a_whole_file_that_fits_only_without_numbers_is_cut() {
    let tree = Tree::new().file("a.txt", "0123456\n".repeat(100));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 850).start();
    let (text, note) = numbered(&mut server, "a.txt", &json!({}));
    assert!(text.len() <= 850 && text.ends_with("\n81\t0123456\n") == (text.lines().count() == 81), "{text}");
    let next = text.lines().count() + 1;
    assert!(note.expect("a note").contains(&format!("lines 1-{} of 100; continue with offset {next}", next - 1)));
}

/// This counts the lines of a file larger than 8 MiB.
#[test]
fn the_last_lines_of_a_long_file_have_their_numbers() {
    let tree =
        Tree::new().file("long.log", "0123456789abcde\n".repeat(600_000)).file("utf16", utf16(&"x\n".repeat(500)));
    let mut server = TestServer::start(&tree);
    let (text, note) = numbered(&mut server, "long.log", &json!({"tail": 2}));
    assert_eq!(text, "599999\t0123456789abcde\n600000\t0123456789abcde\n");
    assert!(note.expect("a note").contains("last 2 lines of 600,000"));
    assert_eq!(numbered(&mut server, "utf16", &json!({"tail": 1})).0, "500\tx\n");
}

#[test]
fn the_last_lines_that_fit_with_their_numbers_are_given() {
    let tree = Tree::new().file("a.txt", "0123456\n".repeat(100));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 40).start();
    let (text, note) = numbered(&mut server, "a.txt", &json!({"tail": 5}));
    assert_eq!(text, "98\t0123456\n99\t0123456\n100\t0123456\n");
    assert!(note.expect("a note").contains("last 3 lines of 100, which is all that fits"));
}

fn utf16(text: &str) -> Vec<u8> {
    b"\xFF\xFE".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}
