//! `read_text_file` with files other than plain UTF-8: byte order marks, UTF-16, legacy encodings, and binary data.

use serde_json::{Value, json};

use super::{number_after, text_and_note, with};
use crate::support::{Client, TestServer, Tree};

fn utf16_le(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

fn utf16_be(text: &str) -> Vec<u8> {
    [0xFE, 0xFF].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
}

fn read(content: &[u8], arguments: &Value) -> (String, Option<String>) {
    let tree = Tree::new().file("a.txt", content);
    text_and_note(&mut TestServer::start(&tree), "read_text_file", with(&json!({"path": "a.txt"}), arguments))
}

#[test]
fn a_byte_order_mark_is_removed_and_mentioned() {
    for arguments in [json!({}), json!({"head": 1}), json!({"tail": 1}), json!({"offset": 1, "column": 1})] {
        let (text, note) = read(b"\xEF\xBB\xBFhello\n", &arguments);
        assert_eq!(text, "hello\n", "{arguments}");
        assert!(note.is_some_and(|note| note.contains("UTF-8 with BOM")), "{arguments}");
    }
    assert_eq!(read(b"\xEF\xBB\xBF", &json!({})).0, "");
    assert_eq!(read(b"\xEF\xBB\xBFhello\n", &json!({"column": 2})).0, "ello\n");
}

#[test]
fn utf_16_with_a_byte_order_mark_is_decoded() {
    let content = "h\u{e9} \u{1f600}\r\nzwei\n\u{65e5}\u{672c}\n";
    for (bytes, name) in [(utf16_le(content), "UTF-16LE"), (utf16_be(content), "UTF-16BE")] {
        for (arguments, want) in [
            (json!({}), content),
            (json!({"head": 1}), "h\u{e9} \u{1f600}\r\n"),
            (json!({"tail": 2}), "zwei\n\u{65e5}\u{672c}\n"),
            (json!({"offset": 2, "limit": 1}), "zwei\n"),
            (json!({"offset": 1, "limit": 1, "column": 4}), "\u{1f600}\r\n"),
        ] {
            let (text, note) = read(&bytes, &arguments);
            assert_eq!(text, want, "{name} {arguments}");
            assert!(note.is_some_and(|note| note.contains(name)), "{name} {arguments}");
        }
    }
}

#[test]
fn utf_16_longer_than_an_answer_comes_in_parts() {
    let content = "\u{e9}\u{1f600}x".repeat(700) + "\nshort\n" + &"\u{65e5}".repeat(700);
    let tree = Tree::new().file("a.txt", utf16_le(&content));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (mut whole, mut at) = (String::new(), Some((1, 1)));
    while let Some((offset, column)) = at {
        let arguments = json!({"path": "a.txt", "offset": offset, "column": column});
        let (text, note) = text_and_note(&mut server, "read_text_file", arguments);
        assert!((1..=1_000).contains(&text.len()), "{} bytes", text.len());
        whole += &text;
        let note = note.expect("a note");
        at = number_after("offset", &note).map(|offset| (offset, number_after("column", &note).unwrap_or(1)));
    }
    assert!(whole == content, "the parts are not the file");
}

#[test]
fn a_legacy_encoding_is_guessed_and_labelled_as_a_guess() {
    let bytes = b"caf\xe9 na\xefve, d\xe9j\xe0 vu\nfin\n";
    for (arguments, want) in [
        (json!({}), "caf\u{e9} na\u{ef}ve, d\u{e9}j\u{e0} vu\nfin\n"),
        (json!({"head": 1}), "caf\u{e9} na\u{ef}ve, d\u{e9}j\u{e0} vu\n"),
        (json!({"tail": 2}), "caf\u{e9} na\u{ef}ve, d\u{e9}j\u{e0} vu\nfin\n"),
    ] {
        let (text, note) = read(bytes, &arguments);
        assert_eq!(text, want, "{arguments}");
        assert!(note.is_some_and(|note| note.contains("windows-1252") && note.contains("guess")), "{arguments}");
    }
}

#[test]
fn legacy_bytes_after_a_long_ascii_beginning_are_decoded() {
    let mut bytes = b"plain line\n".repeat(7_000);
    bytes.extend(b"caf\xe9 d\xe9j\xe0 vu\n");
    for arguments in [json!({"tail": 1}), json!({"offset": 7_001})] {
        let (text, note) = read(&bytes, &arguments);
        assert_eq!(text, "caf\u{e9} d\u{e9}j\u{e0} vu\n", "{arguments}");
        assert!(note.is_some_and(|note| note.contains("guess")), "{arguments}");
    }
}

#[test]
fn binary_files_are_refused_with_a_hint() {
    let late_nul = [&b"plain line\n".repeat(7_000)[..], b"a\0b\n"].concat();
    let utf16_with_nul = utf16_le("a\0b\n");
    let lone_surrogate = [0xFF, 0xFE, 0x00, 0xD8, b'a', 0];
    let half_a_character = [&utf16_le("ab\n")[..], b"x"].concat();
    for (what, bytes, arguments) in [
        ("a NUL", &b"a\0b\n"[..], json!({})),
        ("a NUL, head", b"a\0b\n", json!({"head": 1})),
        ("a NUL, tail", b"a\0b\n", json!({"tail": 1})),
        ("a PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", json!({})),
        ("a late NUL, by offset", &late_nul, json!({"offset": 7_001})),
        ("a late NUL, from the end", &late_nul, json!({"tail": 1})),
        ("UTF-16 with a NUL", &utf16_with_nul, json!({})),
        ("UTF-16 with half a pair", &lone_surrogate, json!({})),
        ("UTF-16 with half a character", &half_a_character, json!({})),
    ] {
        let tree = Tree::new().file("a.bin", bytes);
        let mut server = TestServer::start(&tree);
        let text = server.tool_error("read_text_file", with(&json!({"path": "a.bin"}), &arguments));
        assert!(text.contains("binary") && text.contains("read_media_file"), "{what}: {text}");
    }
}

#[test]
fn a_window_before_binary_bytes_is_still_text() {
    let bytes = [&b"plain line\n".repeat(7_000)[..], b"a\0b\n"].concat();
    assert_eq!(read(&bytes, &json!({"head": 1})).0, "plain line\n");
}
