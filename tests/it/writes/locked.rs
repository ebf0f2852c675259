//! The lock on a file as other programs see it, and what else a write does to an old file besides its content.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;

use super::{content, names, writing};
use crate::support::{Client, Tree, text_of};

#[test]
fn a_file_that_another_program_has_locked_is_not_changed() {
    let tree = Tree::new().file("free", "old");
    let edit = json!([{"oldText": "theirs", "newText": "ours"}]);
    let calls = [
        ("write_file", json!({"path": "a", "content": "ours"})),
        ("write_file", json!({"path": "b", "content": "ours", "append": true})),
        ("edit_file", json!({"path": "c", "edits": edit})),
        ("copy_file", json!({"source": "free", "destination": "d", "overwrite": true})),
    ];
    let locked = ["a", "b", "c", "d"].map(|name| {
        fs::write(tree.join(name), "theirs").expect("a file");
        let file = File::open(tree.join(name)).expect("a file");
        file.try_lock().expect("a lock");
        file
    });
    let mut server = writing(&tree);
    let ask = |(name, arguments): &_| server.ask_modern("tools/call", json!({"name": name, "arguments": arguments}));
    let ids: Vec<_> = calls.iter().map(ask).collect();
    for id in ids {
        let result = &server.answer(id)["result"];
        assert!(result["isError"] == true && text_of(result).contains("locked by another program"), "{result}");
    }
    for name in ["a", "b", "c", "d"] {
        assert_eq!(content(&tree, name), b"theirs");
    }
    assert_eq!(names(&tree, "").len(), 5, "something is left behind");
    drop(locked);
    for (tool, arguments) in calls {
        server.tool_text(tool, arguments);
    }
}

/// The lock ends with the change; nothing of it remains.
#[test]
fn the_lock_is_released_after_a_write() {
    let tree = Tree::new().file("a", "old");
    let mut server = writing(&tree);
    for append in [false, true] {
        server.tool_text("write_file", json!({"path": "a", "content": "new", "append": append}));
        File::open(tree.join("a")).expect("a file").try_lock().expect("the lock is free");
    }
}

#[test]
fn no_write_leaves_set_user_id_on_a_file() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for append in [false, true] {
        fs::write(tree.join("a"), "old").expect("a file");
        fs::set_permissions(tree.join("a"), fs::Permissions::from_mode(0o6755)).expect("a mode");
        server.tool_text("write_file", json!({"path": "a", "content": "new", "append": append}));
        let mode = fs::metadata(tree.join("a")).expect("a file").mode();
        assert_eq!(mode & 0o7777, 0o755, "append: {append}");
    }
}

/// A directory is searched for the leftovers of killed writes at a server's first write there, not at every write.
#[test]
fn a_server_cleans_a_directory_once() {
    const NAME: &str = ".mcp-fs-0123456789abcdef.tmp";
    let tree = Tree::new().dir("d");
    let leave = |directory: &str| {
        let file = File::create(tree.join(directory).join(NAME)).expect("a file");
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
        file.set_modified(long_ago).expect("a time");
    };
    let mut server = writing(&tree);
    let mut write = |path: &str| server.tool_text("write_file", json!({"path": path, "content": "x"}));
    write("a");
    leave("");
    leave("d");
    write("b");
    assert_eq!(names(&tree, ""), [NAME, "a", "b", "d"]);
    write("d/c");
    assert_eq!(names(&tree, "d"), ["c"]);
    writing(&tree).tool_text("write_file", json!({"path": "a", "content": "y"}));
    assert_eq!(names(&tree, ""), ["a", "b", "d"]);
}

#[test]
fn a_copy_onto_a_file_names_the_argument_that_replaces_it() {
    let tree = Tree::new().file("a", "a").file("b", "b").dir("d").file("t/x", "x").link("broken", "nowhere");
    let mut server = writing(&tree);
    let mut error = |source: &str, destination: &str| {
        server.tool_error("copy_file", json!({"source": source, "destination": destination}))
    };
    assert!(error("a", "b").contains("\"overwrite\": true"));
    // There it has no effect.
    for (source, destination) in [("a", "d"), ("a", "broken"), ("t", "b"), ("t", "d")] {
        let error = error(source, destination);
        assert!(error.contains("already exists") && !error.contains("overwrite\":"), "{source} {destination}: {error}");
    }
}
