//! No way out for anything that changes something: after every attempt, what is outside is as it was, to the last
//! time stamp, and every answer is the same whether or not something is there.

use serde_json::{Value, json};

use super::refused::state;
use super::writing;
use crate::sandbox::keeps_the_host_private;
use crate::support::{Client, Tree};

/// Every call that changes something, with `path` as one of its paths.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "x", "createParents": true})),
        ("write_file", json!({"path": path, "content": "x", "append": true, "createParents": true})),
        ("create_directory", json!({"path": path})),
        ("move_file", json!({"source": path, "destination": "stolen"})),
        ("move_file", json!({"source": "a", "destination": path, "createParents": true})),
        ("move_file", json!({"source": "tree", "destination": path, "createParents": true})),
        ("copy_file", json!({"source": path, "destination": "stolen"})),
        ("copy_file", json!({"source": "a", "destination": path, "createParents": true, "overwrite": true})),
        ("copy_file", json!({"source": "tree", "destination": path, "createParents": true})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "recursive": true})),
    ]
}

pub(super) fn tree() -> Tree {
    let tree = Tree::new().file("a", "a").file("tree/b", "b").dir("d/e").link("up", "..").link("d/far", "../../");
    let tree = tree.link("absolute", "{outside}").link("chain", "up").link("elsewhere", "/nowhere");
    std::fs::create_dir_all(tree.outside().join("dir/sub")).expect("a directory");
    std::fs::write(tree.outside().join("dir/file"), "outside").expect("a file");
    tree
}

#[test]
fn no_change_reaches_what_is_outside() {
    let tree = tree();
    no_way_out_changes_anything(&tree, &mut writing(&tree));
}

pub(super) fn no_way_out_changes_anything(tree: &Tree, server: &mut impl Client) {
    let before = state(tree.outside());
    let outside = tree.outside().to_str().expect("text").to_owned();
    for way in ["..", "d/e/../../..", "up", "d/far", "absolute", "chain", "elsewhere", outside.as_str(), "/etc"] {
        let answers = ["secret", "dir", "dir/file", "nothing", "nothing/at/all"].map(|name| {
            let path = format!("{way}/{name}");
            let answers = calls(&path).into_iter().map(|(tool, arguments)| {
                let error = server.tool_error(tool, arguments);
                assert!(error.contains("leads outside the served directory"), "{tool} {path}: {error}");
                keeps_the_host_private(tree, &error, &path);
                error.replace(&path, "PATH")
            });
            answers.collect::<Vec<_>>()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{way}: the answer tells what is there");
    }
    assert_eq!(state(tree.outside()), before);
}

/// While a directory is swapped for a link that leads out, and back.
#[test]
fn no_change_reaches_what_is_outside_while_links_are_swapped_in() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let tree = Tree::new().dir("swapped").file("a", "a").dir("parked");
    std::fs::create_dir(tree.outside().join("target")).expect("a directory");
    std::fs::write(tree.outside().join("target/file"), "outside").expect("a file");
    std::os::unix::fs::symlink("../target", tree.join("link")).expect("a link");
    let before = state(&tree.outside().join("target"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = rustix::fs::RenameFlags::EXCHANGE;
            while !done.load(Ordering::Relaxed) {
                let (one, other) = (tree.join("swapped"), tree.join("link"));
                rustix::fs::renameat_with(rustix::fs::CWD, &one, rustix::fs::CWD, &other, exchange).expect("a swap");
            }
        });
        let mut server = writing(&tree);
        for _ in 0..150 {
            for (tool, arguments) in [
                ("write_file", json!({"path": "swapped/file", "content": "x"})),
                ("write_file", json!({"path": "swapped/file", "content": "x", "append": true})),
                ("create_directory", json!({"path": "swapped/new/dir"})),
                ("copy_file", json!({"source": "a", "destination": "swapped/copy", "overwrite": true})),
                ("move_file", json!({"source": "swapped/file", "destination": "swapped/moved"})),
                ("delete_file", json!({"path": "swapped/file"})),
                ("delete_file", json!({"path": "swapped/moved"})),
            ] {
                server.tool(tool, arguments);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(state(&tree.outside().join("target")), before);
}
