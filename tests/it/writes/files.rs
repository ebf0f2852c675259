//! `write_file`: a file with exactly this content, created, replaced or appended to.

use serde_json::json;

use super::{content, names, writing};
use crate::support::{Client, Tree, text_of};
use crate::tools::text_and_note;

/// The version in a note or in `get_file_info`.
fn version(text: &str) -> &str {
    let (_, rest) = text.split_once("version").expect("a version");
    let rest = rest.trim_start_matches([':', ' ']);
    &rest[..rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len())]
}

#[test]
fn a_file_is_created_with_its_content_byte_for_byte() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for text in ["", "one\n", "no end", "one\r\ntwo\rthree\n", "\u{feff}bom", "nul \0 é \u{1f600}\u{202e}"] {
        let (said, note) = text_and_note(&mut server, "write_file", json!({"path": "a.txt", "content": text}));
        assert_eq!(content(&tree, "a.txt"), text.as_bytes());
        assert_eq!(said, "Successfully wrote to a.txt");
        assert_eq!(note.expect("a note").contains("created"), text.is_empty(), "only the first one creates it");
    }
    assert_eq!(names(&tree, ""), ["a.txt"], "a temporary file is left");
}

#[test]
fn every_spelling_of_a_path_can_be_written() {
    let tree = Tree::new().dir("d");
    let mut server = writing(&tree);
    let absolute = tree.join("d/absolute").to_str().expect("text").to_owned();
    for (path, real) in [
        ("d/relative", "d/relative"),
        (absolute.as_str(), "d/absolute"),
        (tree.uri("d/a uri").as_str(), "d/a uri"),
        ("d/../d/./dots", "d/dots"),
        ("d//slashes", "d/slashes"),
    ] {
        let (said, _) = text_and_note(&mut server, "write_file", json!({"path": path, "content": "x"}));
        assert_eq!(said, format!("Successfully wrote to {real}"), "{path}");
        assert_eq!(content(&tree, real), b"x", "{path}");
    }
}

#[test]
fn appending_adds_to_the_end_and_creates() {
    let tree = Tree::new().file("log", "one\n");
    let mut server = writing(&tree);
    for (path, want) in [("log", "one\ntwo\n"), ("new", "two\n"), ("new", "two\ntwo\n")] {
        let arguments = json!({"path": path, "content": "two\n", "append": true});
        let (said, note) = text_and_note(&mut server, "write_file", arguments);
        assert_eq!(said, format!("Successfully appended to {path}"));
        assert!(note.expect("a note").contains(&format!("{} bytes", want.len())));
        assert_eq!(content(&tree, path), want.as_bytes());
    }
    assert_eq!(names(&tree, ""), ["log", "new"]);
}

#[cfg(unix)]
#[test]
fn appending_keeps_the_same_file() {
    use std::os::unix::fs::MetadataExt as _;

    let tree = Tree::new().file("log", "one\n");
    let inode = || std::fs::metadata(tree.join("log")).unwrap().ino();
    let before = inode();
    writing(&tree).tool_text("write_file", json!({"path": "log", "content": "two\n", "append": true}));
    assert_eq!(inode(), before);
}

#[test]
fn the_version_is_the_one_that_get_file_info_shows() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for append in [false, false, true] {
        let arguments = json!({"path": "a", "content": "x", "append": append});
        let (_, note) = text_and_note(&mut server, "write_file", arguments);
        let info = server.tool_text("get_file_info", json!({"path": "a"}));
        assert_eq!(version(&note.expect("a note")), version(&info), "append: {append}");
        assert_eq!(version(&info).len(), 16, "{info}");
    }
}

#[test]
fn a_file_that_has_changed_is_not_overwritten() {
    let tree = Tree::new().file("a", "one");
    let mut server = writing(&tree);
    let known = version(&server.tool_text("get_file_info", json!({"path": "a"}))).to_owned();
    std::fs::write(tree.join("a"), "theirs").unwrap();
    for append in [false, true] {
        let arguments = json!({"path": "a", "content": "ours", "append": append, "ifMatch": known});
        let error = server.tool_error("write_file", arguments);
        assert!(error.contains("has changed") && error.contains("read it again"), "{error}");
        assert_eq!(content(&tree, "a"), b"theirs");
    }
    let now = version(&server.tool_text("get_file_info", json!({"path": "a"}))).to_owned();
    server.tool_text("write_file", json!({"path": "a", "content": "ours", "ifMatch": now}));
    assert_eq!(content(&tree, "a"), b"ours");
}

#[test]
fn a_version_of_a_file_that_is_gone_creates_nothing() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for (path, append) in [("a", false), ("a", true), ("d/a", false)] {
        let arguments = json!({"path": path, "content": "x", "append": append, "ifMatch": "00", "createParents": true});
        let error = server.tool_error("write_file", arguments);
        assert!(error.contains("no longer exists"), "{error}");
    }
    assert_eq!(names(&tree, ""), [] as [&str; 0]);
}

#[test]
fn writing_to_anything_but_a_file_is_an_error() {
    let tree = Tree::new().dir("d").file("f", "f");
    let mut server = writing(&tree);
    for (path, why) in [
        ("d", "is a directory, not a file"),
        ("", "the served directory"),
        (".", "the served directory"),
        ("d/..", "the served directory"),
        ("new/", "names a directory"),
        ("f/", "names a directory"),
        ("f/below", "not a directory"),
        ("nowhere/../f", "not found"),
    ] {
        for append in [false, true] {
            let error = server.tool_error("write_file", json!({"path": path, "content": "x", "append": append}));
            assert!(error.contains(why), "{path}: {error}");
        }
    }
    assert_eq!((names(&tree, ""), content(&tree, "f")), (vec!["d".to_owned(), "f".to_owned()], b"f".to_vec()));
}

#[test]
fn names_that_differ_only_in_unicode_form_are_the_same_file() {
    let tree = Tree::new().file("e\u{301}.txt", "old");
    let (said, note) =
        text_and_note(&mut writing(&tree), "write_file", json!({"path": "\u{e9}.txt", "content": "new"}));
    assert_eq!(said, "Successfully wrote to e\u{301}.txt");
    assert!(!note.expect("a note").contains("created"));
    assert_eq!(content(&tree, "e\u{301}.txt"), b"new");
}

#[test]
fn two_writers_of_one_new_file_both_succeed() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    let ids: Vec<_> = (0..20)
        .map(|number| {
            let arguments = json!({"path": "d/a", "content": number.to_string(), "createParents": true});
            server.ask_modern("tools/call", json!({"name": "write_file", "arguments": arguments}))
        })
        .collect();
    for id in ids {
        let answer = server.answer(id);
        assert_ne!(answer["result"]["isError"], true, "{}", text_of(&answer["result"]));
    }
    assert_eq!(names(&tree, "d"), ["a"]);
}

#[test]
fn no_concurrently_appended_line_is_lost() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    let ids: Vec<_> = (0..40)
        .map(|number| {
            let arguments = json!({"path": "log", "content": format!("{number}\n"), "append": true});
            server.ask_modern("tools/call", json!({"name": "write_file", "arguments": arguments}))
        })
        .collect();
    for id in ids {
        assert_ne!(server.answer(id)["result"]["isError"], true);
    }
    let text = String::from_utf8(content(&tree, "log")).unwrap();
    let mut lines: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..40).collect::<Vec<_>>());
}

/// Reading accepts one for the other, because models write a plain space for the one in the name of a macOS screenshot.
/// A name to be changed is not guessed.
#[test]
fn a_name_with_another_kind_of_space_is_another_file() {
    let tree = Tree::new().file("a\u{202f}b.txt", "old");
    let mut server = writing(&tree);
    assert_eq!(server.tool_text("read_text_file", json!({"path": "a b.txt"})), "old");
    server.tool_error("delete_file", json!({"path": "a b.txt"}));
    server.tool_error("move_file", json!({"source": "a b.txt", "destination": "c.txt"}));
    server.tool_text("write_file", json!({"path": "a b.txt", "content": "new"}));
    assert_eq!(content(&tree, "a\u{202f}b.txt"), b"old");
    assert_eq!(content(&tree, "a b.txt"), b"new");
}

#[test]
fn no_parents_are_created_if_the_version_cannot_match() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for append in [false, true] {
        let write = json!({"path": "d/a", "content": "x", "append": append, "createParents": true, "ifMatch": "00"});
        let error = server.tool_error("write_file", write);
        assert!(error.contains("no longer exists"), "{error}");
        assert!(!tree.join("d").exists(), "append: {append}");
    }
}
