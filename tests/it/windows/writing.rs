//! Changing files under the rules of Windows.

use std::fs::{self, OpenOptions};
use std::os::windows::fs::OpenOptionsExt as _;

use serde_json::json;

use crate::sandbox::skipped;
use crate::support::{Client, Tree};
use crate::writes::{content, names, writing};

#[test]
fn a_file_is_replaced_by_every_tool_that_does_so() {
    let tree = Tree::new().file("a", "one\n").file("b", "two\n");
    let mut server = writing(&tree);
    server.tool_text("write_file", json!({"path": "a", "content": "three\n"}));
    assert_eq!(content(&tree, "a"), b"three\n");
    server.tool_text("edit_file", json!({"path": "a", "edits": [{"oldText": "three", "newText": "four"}]}));
    assert_eq!(content(&tree, "a"), b"four\n");
    server.tool_text("copy_file", json!({"source": "b", "destination": "a", "overwrite": true}));
    assert_eq!(content(&tree, "a"), b"two\n");
    server.tool_text("write_file", json!({"path": "a", "content": "more\n", "append": true}));
    assert_eq!(content(&tree, "a"), b"two\nmore\n");
    assert_eq!(names(&tree, ""), ["a", "b"]);
}

#[test]
fn a_locked_file_is_reported_as_in_use() {
    let tree = Tree::new().file("a", "old").file("b", "new");
    let mut server = writing(&tree);
    let held = OpenOptions::new().read(true).share_mode(0).open(tree.join("a")).expect("nobody else has it");
    for (tool, arguments) in [
        ("read_text_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "new"})),
        ("write_file", json!({"path": "a", "content": "new", "append": true})),
        ("edit_file", json!({"path": "a", "edits": [{"oldText": "old", "newText": "new"}]})),
        ("copy_file", json!({"source": "b", "destination": "a", "overwrite": true})),
        ("move_file", json!({"source": "a", "destination": "c"})),
        ("delete_file", json!({"path": "a"})),
    ] {
        let said = server.tool_error(tool, arguments);
        assert!(said.contains("in use by another program"), "{tool}: {said}");
    }
    drop(held);
    assert_eq!(content(&tree, "a"), b"old");
    assert_eq!(names(&tree, ""), ["a", "b"]);
    server.tool_text("write_file", json!({"path": "a", "content": "new"}));
    assert_eq!(content(&tree, "a"), b"new");
}

#[test]
fn a_change_waits_for_a_briefly_locked_file() {
    let tree = Tree::new().file("a", "old");
    let mut server = writing(&tree);
    let held = OpenOptions::new().read(true).share_mode(1).open(tree.join("a")).expect("others may read it");
    let (begun, begins) = std::sync::mpsc::channel();
    let release = std::thread::spawn(move || {
        begins.recv().expect("it begins");
        drop(held);
    });
    begun.send(()).expect("it waits");
    server.tool_text("write_file", json!({"path": "a", "content": "new"}));
    release.join().expect("no panic");
    assert_eq!(content(&tree, "a"), b"new");
}

#[test]
fn a_read_only_file_is_not_changed_and_its_copy_is_read_only() {
    let tree = Tree::new().file("a", "old");
    let mut permissions = fs::metadata(tree.join("a")).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(tree.join("a"), permissions.clone()).expect("read-only");
    let mut server = writing(&tree);
    for (tool, arguments) in [
        ("write_file", json!({"path": "a", "content": "new"})),
        ("write_file", json!({"path": "a", "content": "new", "append": true})),
        ("edit_file", json!({"path": "a", "edits": [{"oldText": "old", "newText": "new"}]})),
    ] {
        let said = server.tool_error(tool, arguments);
        assert!(said.contains("not writable"), "{tool}: {said}");
    }
    assert_eq!(content(&tree, "a"), b"old");
    server.tool_text("copy_file", json!({"source": "a", "destination": "b"}));
    assert_eq!(names(&tree, ""), ["a", "b"]);
    assert!(fs::metadata(tree.join("b")).expect("a copy").permissions().readonly());
}

#[test]
fn a_name_can_change_its_case_alone() {
    let tree = Tree::new().file("readme", "text").file("dir/file", "text").file("probe", "text");
    fs::rename(tree.join("probe"), tree.join("PROBE")).expect("another case");
    if names(&tree, "").contains(&"probe".to_owned()) {
        return skipped("renames that change the case alone", "wine does not do them");
    }
    fs::remove_file(tree.join("PROBE")).expect("it is there");
    let mut server = writing(&tree);
    server.tool_text("move_file", json!({"source": "readme", "destination": "README"}));
    server.tool_text("move_file", json!({"source": "dir", "destination": "Dir"}));
    assert_eq!(names(&tree, ""), ["Dir", "README"]);
    let said = server.tool_error("move_file", json!({"source": "README", "destination": "README"}));
    assert!(said.contains("already exists"), "{said}");
}

#[test]
fn impossible_names_are_not_found_and_not_created() {
    let tree = Tree::new().file("a", "text");
    let mut server = writing(&tree);
    for path in ["a<b", "*.env", "a?", "a|b", "what\"", "d*/a"] {
        let said = server.tool_error("read_text_file", json!({"path": path}));
        assert!(said.contains("not found"), "{path}: {said}");
        let said = server.tool_error("write_file", json!({"path": path, "content": "x", "createParents": true}));
        assert!(said.contains("on Windows a name cannot contain"), "{path}: {said}");
    }
    let said = server.tool_error("write_file", json!({"path": "x".repeat(256), "content": "x"}));
    assert!(said.contains("too long"), "{said}");
    assert_eq!(names(&tree, ""), ["a"]);
}
