//! Group J: text that is appended to a file is written in the file's own form.

use std::fs;

use serde_json::json;

use crate::support::{Client, TestServer, Tree};
use crate::tools::text_and_note;

/// Appends to a file with this content. Returns its new content, and the note.
fn appended(file: &[u8], content: &str) -> (Vec<u8>, String) {
    let tree = Tree::new().file("a.txt", file);
    let mut server = TestServer::builder(&tree).allow_write().start();
    let arguments = json!({"path": "a.txt", "content": content, "append": true});
    let (_, note) = text_and_note(&mut server, "write_file", arguments);
    (fs::read(tree.join("a.txt")).unwrap(), note.expect("a note"))
}

/// Why appending failed; the file must be unchanged.
fn refused(file: &[u8], content: &str) -> String {
    let tree = Tree::new().file("a.txt", file);
    let mut server = TestServer::builder(&tree).allow_write().start();
    let error = server.tool_error("write_file", json!({"path": "a.txt", "content": content, "append": true}));
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), file);
    error
}

fn utf16(text: &str) -> Vec<u8> {
    b"\xFF\xFE".iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

/// `codeArbiter` #594, vscode #291968, opencode PR #49881: UTF-8 in a file of another encoding destroyed it.
#[test]
fn j10_appended_text_has_the_files_encoding() {
    let (now, note) = appended(&utf16("first\r\n"), "more!\r\n");
    assert_eq!(now, utf16("first\r\nmore!\r\n"));
    assert!(note.contains("UTF-16LE with BOM"), "{note}");
    let big_endian =
        |text: &str| [b"\xFE\xFF".to_vec(), text.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat();
    assert_eq!(appended(&big_endian("a\n"), "日😀\n").0, big_endian("a\n日😀\n"));
    assert_eq!(appended(b"\xEF\xBB\xBFa\n", "é\n").0, "\u{feff}a\né\n".as_bytes());
    let (now, note) = appended(b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n", "th\u{e9}\n");
    assert_eq!(now, b"caf\xe9 na\xefve, d\xe9j\xe0 vu\nth\xe9\n");
    assert!(note.contains("windows-1252 (guessed)"), "{note}");
}

#[test]
fn j10_characters_outside_the_encoding_are_rejected() {
    let error = refused(b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n", "日\n");
    assert!(error.contains("'日'") && error.contains("windows-1252") && error.contains("UTF-8"), "{error}");
    for file in [&b"\x7fELF\x02\x01\x01\0\0\0"[..], b"\xFF\xFEa\0b", b"text and then\0"] {
        let error = refused(file, "more\n");
        assert!(error.contains("not text but binary"), "{error}");
    }
}

/// A file that is too long to be read for this is judged by its ends.
#[test]
fn j10_a_long_file_is_judged_by_its_ends() {
    for (line, more) in [(utf16("a line\r\n")[2..].to_vec(), true), (b"caf\xe9 d\xe9j\xe0 vu\r\n".to_vec(), false)] {
        let mut file = if more { b"\xFF\xFE".to_vec() } else { Vec::new() };
        file.extend(line.repeat(40_000));
        let (now, note) = appended(&file, "é\n");
        let want = if more { utf16("é\r\n")[2..].to_vec() } else { b"\xe9\r\n".to_vec() };
        assert_eq!(now[file.len()..], want, "{note}");
    }
}

/// supertool #1085, software-agent-sdk #4583: line endings were mixed, and lines were joined.
#[test]
fn j11_appended_lines_end_as_the_files_last_line_does() {
    let (now, note) = appended(b"a\r\nb\r\n", "more\n");
    assert_eq!(now, b"a\r\nb\r\nmore\r\n");
    assert!(note.contains("line endings: CRLF, as in the file"), "{note}");
    assert_eq!(appended(b"a\nb\n", "more\r\n").0, b"a\nb\nmore\n");
    assert_eq!(appended(b"a\nb\r\n", "c\nd\n").0, b"a\nb\r\nc\r\nd\r\n");
    let (now, note) = appended(b"a\n", "b\n");
    assert_eq!(now, b"a\nb\n");
    assert!(note.starts_with("[4 bytes; version "), "{note}");
}

#[test]
fn j11_a_last_line_without_a_newline_is_mentioned() {
    let (now, note) = appended(b"last", "next\n");
    assert_eq!(now, b"lastnext\n");
    assert!(note.contains("the last line had no line ending, so the new text continues it"), "{note}");
}

/// A file that is writable but not readable gets the bytes as given.
#[cfg(unix)]
#[test]
fn j10_text_is_appended_unchanged_to_an_unreadable_file() {
    if rustix::process::geteuid().is_root() {
        return crate::sandbox::skipped("a file that cannot be read", "root reads everything");
    }
    let tree = Tree::new().file("drop", "a\r\n").mode("drop", 0o200);
    let mut server = TestServer::builder(&tree).allow_write().start();
    server.tool_text("write_file", json!({"path": "drop", "content": "b\n", "append": true}));
    let tree = tree.mode("drop", 0o600);
    assert_eq!(fs::read(tree.join("drop")).unwrap(), b"a\r\nb\n");
}
