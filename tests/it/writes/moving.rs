//! `move_file`: the name changes, the file stays the same, and nothing is ever overwritten.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::json;

use super::refused::state;
use super::{content, names, writing};
use crate::support::{Client, TestServer, Tree};

fn move_to(server: &mut TestServer, source: &str, destination: &str) -> String {
    server.tool_text("move_file", json!({"source": source, "destination": destination}))
}

fn refused(server: &mut TestServer, source: &str, destination: &str) -> String {
    server.tool_error("move_file", json!({"source": source, "destination": destination}))
}

#[test]
fn a_file_is_moved_unchanged() {
    let tree = Tree::new().file("a", "content").mode("a", 0o4711).dir("d");
    let inode = |path: &str| fs::metadata(tree.join(path)).map(|file| (file.ino(), file.mode())).unwrap();
    let before = inode("a");
    assert_eq!(move_to(&mut writing(&tree), "a", "d/b"), "Successfully moved a to d/b");
    assert_eq!((inode("d/b"), content(&tree, "d/b")), (before, b"content".to_vec()));
    assert_eq!(names(&tree, ""), ["d"]);
}

#[test]
fn a_directory_is_moved_with_everything_in_it() {
    let tree = Tree::new().file("d/a", "a").file("d/e/b", "b").link("d/e/l", "../a").fifo("d/f").dir("x");
    move_to(&mut writing(&tree), "d", "x/y");
    assert_eq!(
        (names(&tree, ""), names(&tree, "x/y")),
        (vec!["x".to_owned()], vec!["a".into(), "e".into(), "f".into()])
    );
    assert_eq!((content(&tree, "x/y/e/b"), content(&tree, "x/y/e/l")), (b"b".to_vec(), b"a".to_vec()));
}

#[test]
fn a_link_is_moved_itself_wherever_it_leads() {
    let tree = Tree::new().file("a", "a").dir("d").link("in", "a").link("out", "../secret").link("broken", "nowhere");
    let mut server = writing(&tree);
    for (link, target) in [("in", "a"), ("out", "../secret"), ("broken", "nowhere")] {
        move_to(&mut server, link, &format!("d/{link}"));
        assert_eq!(fs::read_link(tree.join("d").join(link)).unwrap().to_str(), Some(target));
    }
    assert_eq!((names(&tree, ""), content(&tree, "a")), (vec!["a".to_owned(), "d".to_owned()], b"a".to_vec()));
}

#[test]
fn special_files_are_moved() {
    let tree = Tree::new().fifo("fifo");
    move_to(&mut writing(&tree), "fifo", "pipe");
    assert_eq!(names(&tree, ""), ["pipe"]);
}

#[test]
fn an_existing_destination_is_never_overwritten() {
    let tree = Tree::new().file("a", "a").file("file", "file").dir("empty").file("full/x", "x").fifo("fifo");
    let tree = tree.link("link", "file").link("broken", "nowhere").link("out", "../secret").dir("d");
    let before = state(tree.outside());
    let mut server = writing(&tree);
    for source in ["a", "d"] {
        for destination in ["file", "empty", "full", "fifo", "link", "broken", "out", source] {
            let error = refused(&mut server, source, destination);
            assert!(error.contains("already exists"), "{source} to {destination}: {error}");
        }
    }
    assert_eq!(state(tree.outside()), before);
}

#[test]
fn a_directory_is_not_moved_into_itself() {
    let tree = Tree::new().file("d/e/a", "a").link("l", "d/e").file("do/a", "");
    let mut server = writing(&tree);
    for destination in ["d/x", "d/e/x", "l/x", "./d/../d/x"] {
        assert!(refused(&mut server, "d", destination).contains("into itself"), "{destination}");
    }
    move_to(&mut server, "d", "do/d");
}

#[test]
fn the_served_directory_is_not_moved() {
    let tree = Tree::new().dir("d");
    let mut server = writing(&tree);
    for source in ["", ".", "d/..", tree.path().to_str().unwrap()] {
        assert!(refused(&mut server, source, "x").contains("served directory itself"), "{source}");
    }
}

#[test]
fn the_error_says_which_of_the_two_paths_is_missing() {
    let tree = Tree::new().file("a", "a").link("l", "a");
    let mut server = writing(&tree);
    assert!(refused(&mut server, "gone", "b").starts_with("gone: not found"));
    let error = refused(&mut server, "a", "p/q/b");
    assert!(error.starts_with("p/q/b: parent directory p does not exist; pass"), "{error}");
    assert!(refused(&mut server, "a/", "b").contains("not a directory"));
    assert!(refused(&mut server, "l/", "b").contains("not a directory"));
    assert!(refused(&mut server, "a", "b/").contains("not a directory"));
    assert_eq!(names(&tree, ""), ["a", "l"]);
    let arguments = json!({"source": "a", "destination": "p/q/b", "createParents": true});
    server.tool_text("move_file", arguments);
    assert_eq!(content(&tree, "p/q/b"), b"a");
}

#[test]
fn a_tree_with_a_denied_entry_is_not_moved() {
    let tree = Tree::new().file("d/e/.env", "KEY").file("a", "a").file("f/config", "x").dir("x").file("k/id_rsa/y", "");
    let before = state(tree.path());
    let mut server = TestServer::builder(&tree).allow_write().deny("x/y/a").start();
    for (source, destination, why) in [
        ("d", "x/d", "contains a denied entry"),
        ("k", "x/k", "contains a denied entry"),
        ("d/e/.env", "x/plain", "denied by"),
        ("a", ".env", "denied by"),
        ("a", "x/.ssh/a", "denied by"),
        ("f", ".ssh", "denied by"),
        // Not denied itself, but its content would be.
        ("f", ".kube", "contains a denied entry"),
    ] {
        let error = refused(&mut server, source, destination);
        assert!(error.contains(why), "{source} to {destination}: {error}");
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn leftovers_of_killed_writes_do_not_prevent_a_move() {
    let tree = Tree::new().file("d/.mcp-fs-0123456789abcdef.tmp", "part").file("d/a", "a");
    move_to(&mut writing(&tree), "d", "e");
    assert_eq!(names(&tree, "e").len(), 2);
}

/// Of two moves to one name, and a program that creates it, one succeeds and nothing is lost.
#[test]
fn only_one_of_many_concurrent_moves_to_a_name_succeeds() {
    let tree = (0..20).fold(Tree::new(), |tree, number| tree.file(format!("{number}"), format!("{number}")));
    let mut server = writing(&tree);
    let ids: Vec<_> = (0..20)
        .map(|number| {
            let arguments = json!({"source": number.to_string(), "destination": "taken"});
            server.ask_modern("tools/call", json!({"name": "move_file", "arguments": arguments}))
        })
        .collect();
    let moved = ids.into_iter().filter(|id| server.answer(id.clone())["result"]["isError"] != true).count();
    assert_eq!((moved, names(&tree, "").len()), (1, 20));
}

/// Each holds the lock on one name and wants the other; they get them in the same order.
#[test]
fn moves_in_opposite_directions_do_not_deadlock() {
    let tree = Tree::new().file("a", "a");
    let mut server = writing(&tree);
    let ids: Vec<_> = (0..100)
        .map(|number| {
            let (source, destination) = if number % 2 == 0 { ("a", "b") } else { ("b", "a") };
            let arguments = json!({"source": source, "destination": destination});
            server.ask_modern("tools/call", json!({"name": "move_file", "arguments": arguments}))
        })
        .collect();
    for id in ids {
        server.answer(id);
    }
    assert_eq!(names(&tree, "").len(), 1);
}
