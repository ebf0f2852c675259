//! `get_file_info` and `list_allowed_directories`: the official lines, and additional ones.

use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::{Client, TestServer, Tree, text_of};

/// The value of a `key: value` line.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

#[test]
fn the_official_lines_come_first_in_their_order() {
    let tree = Tree::new().file("a.txt", "12345\n").dir("d");
    let mut server = TestServer::start(&tree);
    for (path, is_file) in [("a.txt", true), ("d", false), ("", false)] {
        let text = server.tool_text("get_file_info", json!({"path": path}));
        let keys: Vec<_> = text.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
        let official = ["size", "created", "modified", "accessed", "isDirectory", "isFile", "permissions"];
        assert_eq!(keys[..7], official, "{path}");
        assert_eq!(value(&text, "isFile"), Some(if is_file { "true" } else { "false" }), "{path}");
        assert_eq!(value(&text, "isDirectory"), Some(if is_file { "false" } else { "true" }), "{path}");
    }
    let text = server.tool_text("get_file_info", json!({"path": "a.txt"}));
    assert_eq!(value(&text, "size"), Some("6"));
}

#[cfg(unix)]
#[test]
fn permissions_are_three_octal_digits() {
    let tree = Tree::new().file("a", "").mode("a", 0o640).file("b", "").mode("b", 0o7).file("c", "").mode("c", 0o4755);
    let mut server = TestServer::start(&tree);
    for (path, want) in [("a", "640"), ("b", "007"), ("c", "755")] {
        let text = server.tool_text("get_file_info", json!({"path": path}));
        assert_eq!(value(&text, "permissions"), Some(want), "{path}");
    }
}

#[test]
fn times_are_utc() {
    let tree = Tree::new().file("a", "");
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(951_782_401);
    std::fs::File::options().write(true).open(tree.join("a")).unwrap().set_modified(at).unwrap();
    let text = TestServer::start(&tree).tool_text("get_file_info", json!({"path": "a"}));
    assert_eq!(value(&text, "modified"), Some("2000-02-29T00:00:01Z"));
}

#[test]
fn the_content_determines_media_type_encoding_and_line_endings() {
    let utf16 = b"\xFF\xFEa\0\r\0\n\0";
    for (name, content, mime_type, encoding, line_ending) in [
        ("a.md", &b"one\ntwo\n"[..], "text/markdown", "UTF-8", Some("LF")),
        ("a.rs", b"one\r\ntwo\r\n", "text/x-rust", "UTF-8", Some("CRLF")),
        ("a.txt", b"one\r\ntwo\n", "text/plain", "UTF-8", Some("mixed")),
        ("a", b"one", "text/plain", "UTF-8", Some("none")),
        ("empty.txt", b"", "text/plain", "UTF-8", Some("none")),
        ("bom.txt", b"\xEF\xBB\xBFone\n", "text/plain", "UTF-8 with BOM", Some("LF")),
        ("wide.txt", utf16, "text/plain", "UTF-16LE with BOM", Some("CRLF")),
        ("old.txt", b"caf\xe9 na\xefve, d\xe9j\xe0 vu\n", "text/plain", "windows-1252 (guessed)", Some("LF")),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", "binary", None),
        ("a.bin", b"\0\0", "application/octet-stream", "binary", None),
    ] {
        let tree = Tree::new().file(name, content);
        let text = TestServer::start(&tree).tool_text("get_file_info", json!({"path": name}));
        assert_eq!(value(&text, "mimeType"), Some(mime_type), "{name}: {text}");
        assert_eq!(value(&text, "encoding"), Some(encoding), "{name}: {text}");
        assert_eq!(value(&text, "lineEnding"), line_ending, "{name}: {text}");
    }
}

#[test]
fn a_directory_is_an_inode_directory() {
    let tree = Tree::new().dir("d");
    let text = TestServer::start(&tree).tool_text("get_file_info", json!({"path": "d/"}));
    assert_eq!(value(&text, "mimeType"), Some("inode/directory"));
}

#[cfg(unix)]
#[test]
fn a_link_shows_its_target_and_a_special_file_its_kind() {
    let tree =
        Tree::new().file("d/f.txt", "12345").link("to-file", "d/f.txt").link("to-dir", "d").fifo("p").socket("s");
    let tree = tree.link("absolute", "{root}/d/f.txt").link("out", "../secret").link("broken", "nowhere");
    let mut server = TestServer::start(&tree);
    for (path, line) in [
        ("to-file", "link: to a file, d/f.txt"),
        ("absolute", "link: to a file, d/f.txt"),
        ("to-dir", "link: to a directory, d"),
    ] {
        let text = server.tool_text("get_file_info", json!({"path": path}));
        assert!(text.lines().any(|found| found == line), "{path}: {text}");
    }
    let text = server.tool_text("get_file_info", json!({"path": "d/f.txt"}));
    assert_eq!(value(&text, "link"), None);
    for (path, kind) in [("p", "FIFO"), ("s", "socket")] {
        let text = server.tool_text("get_file_info", json!({"path": path}));
        assert!(text.contains(kind) && text.contains("isFile: false"), "{path}: {text}");
    }
    for (path, reason) in
        [("out", "leads outside the served directory"), ("broken", "not found"), ("gone", "not found")]
    {
        let text = server.tool_error("get_file_info", json!({"path": path}));
        assert!(text.contains(reason) && !text.contains("secret"), "{path}: {text}");
    }
}

#[test]
fn the_served_directory_is_the_allowed_one() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let result = server.tool("list_allowed_directories", json!({}));
    let want = format!("Allowed directories:\n{}", tree.path().display());
    assert_eq!(result["content"][0]["text"], want);
    assert!(text_of(&result).contains("read-only"), "{result}");
    let text = server.tool_error("list_allowed_directories", json!({"path": "."}));
    assert!(text.contains("\"path\"") && text.contains("none"), "{text}");
}
