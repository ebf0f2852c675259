//! `delete_file`: what was named is deleted, and nothing else.

use serde_json::json;

use super::refused::state;
use super::{content, names, writing};
use crate::support::{Client, TestServer, Tree};
use crate::tools::text_and_note;

fn delete(server: &mut TestServer, path: &str, recursive: bool) -> (String, String) {
    let (text, note) = text_and_note(server, "delete_file", json!({"path": path, "recursive": recursive}));
    (text, note.expect("a note"))
}

fn refused(server: &mut TestServer, path: &str, recursive: bool) -> String {
    server.tool_error("delete_file", json!({"path": path, "recursive": recursive}))
}

#[test]
fn a_file_a_special_file_and_an_empty_directory_are_deleted() {
    let tree = Tree::new().file("a", "a").dir("d").fifo("fifo").file("stays", "");
    let mut server = writing(&tree);
    for (path, kind) in [("a", "a file"), ("d", "a directory"), ("fifo", "a FIFO")] {
        let said = delete(&mut server, path, false);
        assert_eq!(said, (format!("Successfully deleted {path}"), format!("[it was {kind}]")));
    }
    assert_eq!(names(&tree, ""), ["stays"]);
}

#[test]
fn deleting_a_link_keeps_its_target() {
    let tree = Tree::new().file("a", "a").file("d/x", "x").link("file", "a").link("dir", "d").link("out", "../secret");
    let tree = tree.link("up", "..").link("broken", "nowhere");
    let outside = state(&tree.outside().join("secret"));
    let mut server = writing(&tree);
    for (path, recursive) in [("file", false), ("dir", true), ("out", true), ("up", true), ("broken", false)] {
        assert_eq!(delete(&mut server, path, recursive).1, "[it was a link]", "{path}");
    }
    assert_eq!((names(&tree, ""), content(&tree, "d/x")), (vec!["a".to_owned(), "d".to_owned()], b"x".to_vec()));
    assert_eq!(state(&tree.outside().join("secret")), outside);
}

#[test]
fn a_tree_is_deleted_only_on_request() {
    let tree = Tree::new().file("d/a", "a").file("d/e/f/b", "b").dir("d/empty").fifo("d/fifo").file("stays/x", "x");
    let tree = tree.link("d/in", "../stays").link("d/e/out", "../../../secret").link("d/loop", ".");
    let tree = tree.file("d/.mcp-fs-0123456789abcdef.tmp", "part");
    let before = state(tree.outside());
    let mut server = writing(&tree);
    let error = refused(&mut server, "d", false);
    assert!(error.contains("not empty") && error.contains("recursive"), "{error}");
    assert_eq!(state(tree.outside()), before);
    assert_eq!(delete(&mut server, "d", true).1, "[it was a directory with its contents: 11 entries]");
    assert_eq!((names(&tree, ""), content(&tree, "stays/x")), (vec!["stays".to_owned()], b"x".to_vec()));
    assert!(tree.outside().join("secret").exists());
}

#[test]
fn the_served_directory_is_not_deleted() {
    let tree = Tree::new().file("a", "a").dir("d");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for path in ["", ".", "d/..", tree.path().to_str().unwrap(), &tree.uri("")] {
        for recursive in [false, true] {
            assert!(refused(&mut server, path, recursive).contains("served directory itself"), "{path}");
        }
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn a_tree_with_a_denied_entry_is_not_deleted() {
    let tree = Tree::new().file("d/a", "a").file("d/z/.env", "KEY").file("k/.ssh/config", "").dir("only/.aws");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for path in ["d", "k", "only", "d/z"] {
        let error = refused(&mut server, path, true);
        assert!(error.contains("contains a denied entry"), "{path}: {error}");
    }
    for path in ["d/z/.env", "k/.ssh", "k/.ssh/config", "only/.aws"] {
        assert!(refused(&mut server, path, true).contains("denied by"), "{path}");
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn deleting_a_missing_file_is_not_found() {
    let tree = Tree::new().file("a", "a").link("l", "a").link("to-dir", "d").dir("d");
    let mut server = writing(&tree);
    for (path, why) in
        [("gone", "not found"), ("gone/x", "not found"), ("a/", "not a directory"), ("to-dir/", "not a directory")]
    {
        assert!(refused(&mut server, path, true).contains(why), "{path}");
    }
    assert_eq!(names(&tree, ""), ["a", "d", "l", "to-dir"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_tree_with_another_file_system_in_it_is_not_deleted() {
    use crate::support::{LATEST_LEGACY, Process};

    let tree = Tree::new().file("d/a", "a").dir("d/mount");
    let Some(command) = super::disk::mounted(&tree, "d/mount", "size=1m", &["--allow-write"]) else { return };
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    let error = process.tool_error("delete_file", json!({"path": "d", "recursive": true}));
    assert!(error.contains("another file system is mounted inside it, at d/mount"), "{error}");
    let error = process.tool_error("delete_file", json!({"path": "d/mount", "recursive": true}));
    assert!(error.contains("in use"), "{error}");
    assert_eq!(names(&tree, "d"), ["a", "mount"]);
}
