//! No way out for anything that changes something: after every attempt, everything outside is unchanged to the last
//! time stamp, and every answer is the same whether or not something is there.

use serde_json::json;

use super::changing;
use super::refused::state;
use crate::sandbox::attempts::{LEADS_OUTSIDE, OTHERS};
use crate::sandbox::escapes::{self, Target};
use crate::sandbox::walls::Walls;
use crate::sandbox::{keeps_the_host_private, race, say};
use crate::support::{Client, Tree};

pub(crate) fn tree() -> Tree {
    let tree = Tree::new().file("a", "a").file("tree/b", "b").dir("d/e").link("up", "..").link("d/far", "../../");
    let tree = tree.link("absolute", "{outside}").link("chain", "up").link("elsewhere", "/nowhere");
    std::fs::create_dir_all(tree.outside().join("dir/sub")).expect("a directory");
    std::fs::write(tree.outside().join("dir/file"), "outside").expect("a file");
    tree
}

/// Every way out, to something that exists and to something that does not.
pub(crate) fn ways(tree: &Tree) -> Vec<String> {
    let outside = tree.outside().to_str().expect("text").to_owned();
    let ways = ["..", "d/e/../../..", "up", "d/far", "absolute", "chain", "elsewhere", &outside, "/etc"];
    ways.iter().flat_map(|way| NAMES.map(|name| format!("{way}/{name}"))).collect()
}

const NAMES: [&str; 5] = ["secret", "dir", "dir/file", "nothing", "nothing/at/all"];

#[test]
fn no_change_reaches_the_outside() {
    for walls in [Walls::First, Walls::Both] {
        let tree = tree();
        if let Some(mut process) = walls.start(&tree, &["--allow-write"]) {
            no_way_out_changes_anything(&tree, &mut process);
        }
    }
}

/// With each kind of object at the end of a way out, the answer is the same.
pub(super) fn no_way_out_changes_anything(tree: &Tree, server: &mut impl Client) {
    let before = state(tree.outside());
    for paths in ways(tree).chunks(NAMES.len()) {
        let answers: Vec<Vec<String>> = paths
            .iter()
            .map(|path| {
                let answers = changing(path).into_iter().map(|(tool, arguments)| {
                    let error = server.tool_error(tool, arguments);
                    assert!(error.contains("leads outside the served directory"), "{tool} {path}: {error}");
                    keeps_the_host_private(tree, &error, path);
                    error.replace(path, "PATH")
                });
                answers.collect()
            })
            .collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{paths:?}: the answer tells what is there");
    }
    assert_eq!(state(tree.outside()), before);
}

/// The table of escapes, as for reading: each way out is refused with the same words whatever is at its end; an unusual
/// name is at most created inside.
fn no_attempt_changes_anything(walls: Walls) {
    let tree = escapes::tree();
    let things_to_move = || {
        std::fs::create_dir_all(tree.join("tree")).expect("a directory");
        for name in ["a", "tree/b"] {
            std::fs::write(tree.join(name), "inside").expect("a file");
        }
    };
    things_to_move();
    let Some(mut server) = walls.start(&tree, &["--allow-write"]) else { return };
    let mut refusals: Vec<Vec<String>> = Vec::new();
    for target in [Target::Present, Target::Absent, Target::Exchanged, Target::Fifo] {
        target.set(tree.outside());
        let before = state_around(&tree);
        let mut said = Vec::new();
        for (spelling, path) in LEADS_OUTSIDE.iter().map(|spelling| (spelling, escapes::spelled(&tree, spelling))) {
            for (tool, arguments) in changing(&path) {
                // A link that leads outside is a name inside: it may itself be moved, copied and deleted.
                if is_link(&tree, &path) && ["move_file", "copy_file", "delete_file"].contains(&tool) {
                    continue;
                }
                let error = server.tool_error(tool, arguments.clone());
                keeps_the_host_private(&tree, &error, &path);
                let is_refused = error.contains("leads outside the served directory");
                assert!(is_refused, "{tool} {spelling}: {error}");
                said.push(format!("{tool} {spelling}: {error}"));
            }
        }
        for (spelling, ..) in OTHERS {
            things_to_move();
            for (tool, arguments) in changing(&escapes::spelled(&tree, spelling)) {
                let said = server.tool(tool, arguments);
                keeps_the_host_private(&tree, &said.to_string(), &escapes::spelled(&tree, spelling));
            }
        }
        assert_eq!(state_around(&tree), before, "{target:?}");
        refusals.push(said);
    }
    for (number, first) in refusals[0].iter().enumerate() {
        assert!(refusals.iter().all(|said| said[number] == *first), "{first}: tells what is there: {refusals:#?}");
    }
}

/// The surroundings of the served directory.
fn state_around(tree: &Tree) -> Vec<String> {
    let root = tree.path().to_str().expect("text");
    let is_outside = |line: &String| !line.starts_with(&format!("{root} ")) && !line.starts_with(&format!("{root}/"));
    state(tree.outside()).into_iter().filter(is_outside).collect()
}

fn is_link(tree: &Tree, path: &str) -> bool {
    let path = path.strip_prefix("file://").unwrap_or(path).replace("%75", "u");
    tree.join(path.trim_end_matches('/')).is_symlink()
}

#[test]
fn no_attempt_in_the_table_changes_anything_outside() {
    no_attempt_changes_anything(Walls::Both);
}

#[test]
fn no_attempt_in_the_table_changes_anything_outside_behind_the_first_wall_alone() {
    no_attempt_changes_anything(Walls::First);
}

/// While a directory is swapped for a link that leads outside, and back.
#[test]
fn no_change_reaches_the_outside_while_links_are_swapped_in() {
    let tree = Tree::new().dir("swapped").file("a", "a").dir("parked");
    std::fs::create_dir(tree.outside().join("target")).expect("a directory");
    std::fs::write(tree.outside().join("target/file"), "outside").expect("a file");
    std::os::unix::fs::symlink("../target", tree.join("link")).expect("a link");
    let before = state(&tree.outside().join("target"));
    let (mut refused, mut done_inside) = (0, 0);
    race::racing(&[&|| race::exchange(&tree.join("swapped"), &tree.join("link"))], |race| {
        let mut server = Walls::First.start(&tree, &["--allow-write"]).expect("it needs nothing");
        while race.goes_on(refused > 10 && done_inside > 100) {
            for (tool, arguments) in [
                ("write_file", json!({"path": "swapped/file", "content": "x"})),
                ("write_file", json!({"path": "swapped/file", "content": "x", "append": true})),
                ("create_directory", json!({"path": "swapped/new/dir"})),
                ("copy_file", json!({"source": "a", "destination": "swapped/copy", "overwrite": true})),
                ("move_file", json!({"source": "swapped/file", "destination": "swapped/moved"})),
                ("delete_file", json!({"path": "swapped/file"})),
                ("delete_file", json!({"path": "swapped/moved"})),
            ] {
                let said = server.tool(tool, arguments);
                *if said["isError"] == true { &mut refused } else { &mut done_inside } += 1;
            }
        }
    });
    assert_eq!(state(&tree.outside().join("target")), before);
    say(&format!("race of writes: {done_inside} done, {refused} refused"));
}
