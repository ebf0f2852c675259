//! Without a rename that never overwrites (some network file systems, kernels before 3.15), openat2 and faccessat2, the
//! same is done by other means, and nothing is lost either.

use std::fs;

use serde_json::json;

use super::refused::state;
use super::{content, names};
use crate::sandbox::fallback::{ENOSYS, without};
use crate::sandbox::skipped;
use crate::support::{Client, LATEST_LEGACY, Process, Tree, command};

/// The numbers of openat2, faccessat2 and renameat2.
fn calls() -> Option<[u32; 3]> {
    let renameat2 = match std::env::consts::ARCH {
        "x86_64" => 316,
        "aarch64" => 276,
        // It has no other rename.
        _ => {
            skipped("a kernel without renameat2", "not on this processor");
            return None;
        }
    };
    Some([437, 439, renameat2])
}

pub(super) fn start(tree: &Tree) -> Option<Process> {
    let server = command([tree.path().as_os_str(), "--allow-write".as_ref()]);
    without(&calls()?, ENOSYS, &server).map(|command| Process::start(command).legacy(LATEST_LEGACY))
}

#[test]
fn files_are_written_by_other_means() {
    let tree = Tree::new().file("old", "old").mode("old", 0o640);
    let Some(mut process) = start(&tree) else { return };
    for (path, text) in [("old", "new"), ("d/new", "content")] {
        process.tool_text("write_file", json!({"path": path, "content": text, "createParents": true}));
        assert_eq!(content(&tree, path), text.as_bytes());
    }
    process.tool_text("write_file", json!({"path": "d/new", "content": "+", "append": true}));
    process.tool_text("copy_file", json!({"source": "d", "destination": "e"}));
    assert_eq!(
        (names(&tree, ""), content(&tree, "e/new")),
        (vec!["d".into(), "e".into(), "old".into()], b"content+".to_vec())
    );
    process.tool_text("delete_file", json!({"path": "d", "recursive": true}));
    assert_eq!(names(&tree, ""), ["e", "old"]);
}

#[test]
fn names_are_moved_by_other_means() {
    let tree = Tree::new().file("a", "a").file("t/b", "b").link("link", "../secret").fifo("fifo").dir("d");
    let Some(mut process) = start(&tree) else { return };
    for name in ["a", "t", "link", "fifo"] {
        process.tool_text("move_file", json!({"source": name, "destination": format!("d/{name}")}));
    }
    assert_eq!((names(&tree, ""), names(&tree, "d").len()), (vec!["d".to_owned()], 4));
    assert_eq!((content(&tree, "d/a"), content(&tree, "d/t/b")), (b"a".to_vec(), b"b".to_vec()));
    assert_eq!(fs::read_link(tree.join("d/link")).unwrap().to_str(), Some("../secret"));
}

#[test]
fn nothing_is_overwritten_by_other_means() {
    let tree = Tree::new().file("a", "a").file("t/b", "b").file("file", "").dir("empty").link("broken", "nowhere");
    let before = state(tree.outside());
    let Some(mut process) = start(&tree) else { return };
    for source in ["a", "t"] {
        for destination in ["file", "empty", "broken"] {
            let error = process.tool_error("move_file", json!({"source": source, "destination": destination}));
            assert!(error.contains("already exists"), "{source} to {destination}: {error}");
        }
    }
    assert_eq!(state(tree.outside()), before);
}

#[test]
fn no_change_reaches_the_outside_by_other_means() {
    let tree = super::outside::tree();
    if let Some(mut process) = start(&tree) {
        super::outside::no_way_out_changes_anything(&tree, &mut process);
    }
}
