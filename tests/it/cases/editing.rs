//! Group A: editing text. What does not match does not change, not by one byte.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, TestServer, Tree};

/// A server with write access.
fn writable(tree: &Tree) -> TestServer {
    TestServer::builder(tree).allow_write().start()
}

/// Edits a file with this content, and returns its new content.
fn edited(content: impl AsRef<[u8]>, old: &str, new: &str) -> Vec<u8> {
    let tree = Tree::new().file("a.txt", content);
    writable(&tree).tool_text("edit_file", one_edit(old, new));
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1, "nothing is left beside it");
    fs::read(tree.join("a.txt")).unwrap()
}

/// The arguments for one edit of `a.txt`.
fn one_edit(old: &str, new: &str) -> Value {
    json!({"path": "a.txt", "edits": [{"oldText": old, "newText": new}]})
}

/// mcp-file-tools #24, claude-code #64599: one edit converted a whole CRLF file to LF.
#[test]
fn a1_an_edit_of_a_crlf_file_leaves_crlf() {
    assert_eq!(edited("one\r\ntwo\r\nthree\r\n", "two", "TWO"), b"one\r\nTWO\r\nthree\r\n");
}

/// mcp-file-tools #24, PR #25: one stray LF made a file "mixed", and every CRLF was lost.
#[test]
fn a2_every_line_of_a_mixed_file_keeps_its_own_ending() {
    assert_eq!(edited("one\r\ntwo\nthree\r\n", "three", "THREE"), b"one\r\ntwo\nTHREE\r\n");
}

/// mcp-workspace #96, FLUJO #187, Gitlawb/zero #376: LF in oldText never matched a CRLF file.
#[test]
fn a3_any_line_ending_matches_any_and_the_files_own_is_written() {
    assert_eq!(edited("a\r\nb\r\n", "a\nb", "x\ny"), b"x\r\ny\r\n");
    assert_eq!(edited("a\nb\n", "a\r\nb", "x\r\ny"), b"x\ny\n");
}

/// servers #4157, UI-TARS-desktop #1976, opencode #45892: `$` patterns were expanded in the new text.
#[test]
fn a5_the_new_text_is_taken_literally() {
    for new in ["$&", "$$", "$'", "$`", "$1", r"\1", r"\n"] {
        assert_eq!(edited("p=TOKEN", "TOKEN", new), format!("p={new}").as_bytes());
    }
}

/// rust-mcp-filesystem PR #77: the first of several matches was edited, silently.
#[test]
fn a6_several_matches_are_an_error_with_their_lines() {
    let content = "foo();\nbar();\nfoo();\n";
    let tree = Tree::new().file("a.txt", content);
    let modified = || fs::metadata(tree.join("a.txt")).unwrap().modified().unwrap();
    let (before, mut server) = (modified(), writable(&tree));
    let text = server.tool_error("edit_file", one_edit("foo();", "x"));
    assert!(text.contains("2 times, at lines 1, 3;") && text.contains("replaceAll"), "{text}");
    assert_eq!((fs::read_to_string(tree.join("a.txt")).unwrap().as_str(), modified()), (content, before));
    let all = json!({"path": "a.txt", "replaceAll": true, "edits": [{"oldText": "foo();", "newText": "x"}]});
    server.tool_text("edit_file", all);
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"x\nbar();\nx\n");
}

/// servers #2034, PR #4501: "no match" gave no way forward.
#[test]
fn a7_no_match_is_an_error_with_the_nearest_lines() {
    let content = format!("head\n\tfoo();\n{}\n", "tail ".repeat(100_000));
    let tree = Tree::new().file("a.txt", &content);
    let text = writable(&tree).tool_error("edit_file", one_edit("  foo()\n  bar()", "x"));
    assert!(text.contains("\n2: \tfoo();\n") && text.contains("Read the file again"), "{text}");
    assert!(text.len() <= 1_000, "{} bytes", text.len());
    assert_eq!(fs::read_to_string(tree.join("a.txt")).unwrap(), content);
}

/// claude-code #22394, earendil-works/pi PR #3370, mcp-remote #319: a client sent `edits` as a string of JSON.
#[test]
fn a9_edits_may_come_as_a_string_of_json() {
    let tree = Tree::new().file("a.txt", "a\n");
    let mut server = writable(&tree);
    server.tool_text("edit_file", json!({"path": "a.txt", "edits": r#"[{"oldText":"a","newText":"b"}]"#}));
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"b\n");
    let text = server.tool_error("edit_file", json!({"path": "a.txt", "edits": "b"}));
    assert_eq!(text, "\"edits\" must be an array of 1 to 100 objects with \"oldText\" and \"newText\".");
}

/// servers PR #4115, issue #4827: the mode was lost.
#[cfg(unix)]
#[test]
fn a10_an_edited_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    for bits in [0o755, 0o600] {
        let tree = Tree::new().file("a.txt", "a\n").mode("a.txt", bits);
        writable(&tree).tool_text("edit_file", one_edit("a", "b"));
        assert_eq!(fs::metadata(tree.join("a.txt")).unwrap().permissions().mode() & 0o7777, bits);
    }
}

/// opencode #30187, servers #2098: a file that is not UTF-8 was decoded to U+FFFD, and destroyed by an edit.
#[test]
fn a13_text_in_another_encoding_is_preserved() {
    assert_eq!(edited(b"caf\xe9 na\xefve\n", "na", "NA"), b"caf\xe9 NA\xefve\n");
    let tree = Tree::new().file("a.txt", b"caf\xe9 na\xefve\n");
    let text = writable(&tree).tool_error("edit_file", one_edit("na", "日本"));
    assert!(text.contains("'日'") && text.contains("windows-1252"), "{text}");
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"caf\xe9 na\xefve\n");
}

/// opencode #30187: a byte order mark was lost, and UTF-16 was read as text with NULs.
#[test]
fn a14_a_byte_order_mark_and_utf16_are_kept() {
    assert_eq!(edited(b"\xEF\xBB\xBFhello\n", "hello", "bye"), b"\xEF\xBB\xBFbye\n");
    assert_eq!(edited(b"\xFF\xFEh\0i\0\r\0\n\0", "hi\n", "é\n"), b"\xFF\xFE\xe9\0\r\0\n\0");
    let tree = Tree::new().file("a.txt", b"\xFF\xFEh\0i\0");
    assert_eq!(writable(&tree).tool_text("read_text_file", json!({"path": "a.txt"})), "hi");
}

/// claude-code #29869, #29870: an error did not name a character that looks like another one.
#[test]
fn j6_characters_that_look_alike_are_named_with_their_place() {
    for (content, old, want) in [
        (
            "one\nin\u{a0}current\n",
            "in current",
            &["line 2, column 3", "no-break space (U+00A0)", "space (U+0020)"][..],
        ),
        (
            "say \u{201c}hi\u{201d}\n",
            "say \"hi\"",
            &["line 1, column 5", "left double quotation mark (U+201C)", "column 8"],
        ),
        ("a \u{2014} b\n", "a - b", &["em dash (U+2014)", "hyphen-minus (U+002D)"]),
        ("a\u{200b}b\n", "ab", &["zero-width space (U+200B)", "nothing"]),
        ("x\ta\n", "x  a", &["tab (U+0009)", "2 spaces (U+0020)"]),
        ("caf\u{e9}\n", "cafe\u{301}", &["'\u{e9}' (U+00E9)", "combining mark (U+0301)"]),
        ("\u{ff11}2\n", "12", &["full-width", "U+FF11"]),
        ("a\u{202e}b\n", "ab", &["right-to-left override (U+202E)"]),
        ("p\u{430}ss\n", "pass", &["Cyrillic", "U+0430", "'a' (U+0061)"]),
        ("a\u{2028}b\n", "a\nb", &["line separator (U+2028)", "line feed (U+000A)"]),
    ] {
        let tree = Tree::new().file("a.txt", content);
        let text = writable(&tree).tool_error("edit_file", one_edit(old, "x"));
        assert!(want.iter().all(|want| text.contains(want)), "{content:?} {old:?}: {text}");
        assert_eq!(fs::read_to_string(tree.join("a.txt")).unwrap(), content);
    }
}

#[test]
fn j6_the_error_stays_short() {
    let looks = "\u{201c}\u{a0}\u{2014}\u{200b}\u{202e}x".repeat(2_000);
    let tree = Tree::new().file("a.txt", format!("{looks}\n").repeat(9));
    let text = writable(&tree).tool_error("edit_file", one_edit(&"\" -x".repeat(2_000), "x"));
    assert!(text.contains("U+201C") && text.len() <= 1_000, "{} {text}", text.len());
}
