//! A file that is both followed and changed through the server: each change is reported once, and no temporary file
//! ever is.

use serde_json::{Value, json};

use super::writing;
use crate::support::{Client as _, LATEST_LEGACY, TestServer, Tree};

fn following(tree: &Tree, paths: &[&str]) -> TestServer {
    let mut server = writing(tree).legacy(LATEST_LEGACY);
    for path in paths {
        server.result("resources/subscribe", json!({"uri": tree.uri(path)}));
    }
    server
}

fn updated(tree: &Tree, path: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": tree.uri(path)}})
}

/// All on one server, one after another: the next notification always belongs to the next change, so each was reported
/// once.
#[test]
fn each_change_is_reported_once() {
    let tree = Tree::new().file("a.txt", "one\n").file("b.txt", "two\n");
    let mut server = following(&tree, &["a.txt"]);
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "three\n"})),
        ("write_file", json!({"path": "a.txt", "content": "four\n", "append": true})),
        ("edit_file", json!({"path": "a.txt", "edits": [{"oldText": "four", "newText": "five"}]})),
        ("copy_file", json!({"source": "b.txt", "destination": "a.txt", "overwrite": true})),
        ("move_file", json!({"source": "a.txt", "destination": "away.txt"})),
        ("move_file", json!({"source": "away.txt", "destination": "a.txt"})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        server.tool_text(tool, arguments);
        assert_eq!(server.recv(), updated(&tree, "a.txt"), "{tool}");
    }
    server.result("resources/subscribe", json!({"uri": tree.uri("b.txt")}));
    server.tool_text("write_file", json!({"path": "b.txt", "content": ""}));
    assert_eq!(server.recv(), updated(&tree, "b.txt"), "and nothing more of the other one");
}

#[test]
fn a_dry_run_is_not_a_change() {
    let tree = Tree::new().file("a.txt", "one\n").file("b.txt", "two\n");
    let mut server = following(&tree, &["a.txt", "b.txt"]);
    let edit = json!({"path": "a.txt", "edits": [{"oldText": "one", "newText": "1"}], "dryRun": true});
    server.tool_text("edit_file", edit);
    server.tool_text("write_file", json!({"path": "b.txt", "content": ""}));
    assert_eq!(server.recv(), updated(&tree, "b.txt"));
}
