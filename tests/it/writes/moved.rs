//! A directory is moved while something is done in it: by another call, to a denied name, or by another program, out of
//! the served directory. Whatever is not done yet is not done elsewhere.

use std::convert::Infallible;
use std::fs;

use mcp_fs::root::write::CopyOptions;
use mcp_fs::runtime::cancel::Cancel;
use serde_json::{Value, json};

use super::refused::state;
use super::together::{call, start};
use super::update::writable;
use super::{content, names, writing};
use crate::support::{Client, Tree};

/// `.kube/config` is denied; `.kube` and `x/config` are not, so neither of the two calls alone creates it. `ask` sends
/// both, and returns both answers.
fn do_not_make_a_denied_file(tree: &Tree, rounds: u32, mut ask: impl FnMut(&[(&str, Value); 2]) -> [bool; 2]) {
    let (mut moved, mut written) = (0, 0);
    for round in 0..rounds {
        let _ = fs::remove_dir_all(tree.join(".kube"));
        fs::create_dir_all(tree.join("x")).expect("a directory");
        let writes = [
            ("write_file", json!({"path": "x/config", "content": "x"})),
            ("create_directory", json!({"path": "x/config/d"})),
            ("copy_file", json!({"source": "a", "destination": "x/config"})),
        ];
        let write = writes[round as usize % writes.len()].clone();
        let [has_moved, is_written] = ask(&[("move_file", json!({"source": "x", "destination": ".kube"})), write]);
        assert!(!tree.join(".kube/config").exists(), "moved: {has_moved}, written: {is_written}");
        moved += u32::from(has_moved);
        written += u32::from(is_written);
        let _ = fs::remove_dir_all(tree.join("x"));
    }
    crate::sandbox::say(&format!("move beside write: of {rounds} {moved} moved, {written} written"));
    assert!(moved + written > 0, "nothing was ever done");
}

#[test]
fn a_concurrent_move_and_write_do_not_create_a_denied_file() {
    let tree = Tree::new().file("a", "a");
    let mut server = writing(&tree);
    do_not_make_a_denied_file(&tree, 400, |calls| {
        let mut ask = |(name, arguments): &(&str, Value)| {
            server.ask_modern("tools/call", json!({"name": name, "arguments": arguments}))
        };
        let ids = [ask(&calls[0]), ask(&calls[1])];
        ids.map(|id| server.answer(id)["result"]["isError"] != true)
    });
}

#[test]
fn a_move_and_a_write_by_two_servers_do_not_create_a_denied_file() {
    let tree = Tree::new().file("a", "a");
    let mut servers = [(); 2].map(|()| start(&tree));
    do_not_make_a_denied_file(&tree, 600, |calls| {
        let [one, other] = &mut servers;
        std::thread::scope(|scope| {
            let moved = scope.spawn(|| call(one, calls[0].0, &calls[0].1).is_ok());
            let written = call(other, calls[1].0, &calls[1].1).is_ok();
            [moved.join().expect("no panic"), written]
        })
    });
}

/// The same if another program moves the directory after it is opened and before the file has its name.
#[test]
fn a_file_moved_to_a_denied_name_by_another_program_is_not_changed() {
    let tree = Tree::new().file("x/config", "old");
    let root = writable(&tree);
    let change = |_: &[u8]| {
        fs::rename(tree.join("x"), tree.join(".kube")).expect("it is moved");
        Ok::<_, Infallible>((Some(b"new".to_vec()), ()))
    };
    let asked = root.root().locate("x/config").expect("a path");
    root.update(&asked, None, 100, &Cancel::default(), change).expect_err("it is somewhere else");
    assert_eq!((content(&tree, ".kube/config"), names(&tree, ".kube")), (b"old".to_vec(), vec!["config".to_owned()]));
}

/// Entries in a directory that is moved out when some of them are done.
const ENTRIES: usize = 500;
const DONE: usize = 100;

/// `directory` with files in it.
fn crowd(directory: &str) -> Tree {
    (0..ENTRIES).fold(Tree::new(), |tree, number| tree.file(format!("{directory}/{number:03}"), "x"))
}

/// Another program moves a directory out midway; from then on its content is not ours any more.
#[test]
fn a_delete_does_not_follow_a_directory_out() {
    let tree = crowd("t/d");
    let (root, out) = (writable(&tree), tree.outside().join("out"));
    let report = |done: usize| {
        if done == DONE {
            fs::rename(tree.join("t/d"), &out).expect("it is moved");
        }
    };
    let asked = root.root().locate("t").expect("a path");
    let error = root.delete(&asked, true, &Cancel::default(), &report).expect_err("it is gone");
    assert!(error.to_string().contains("not found"), "{error}");
    assert_eq!(fs::read_dir(&out).expect("a directory").count(), ENTRIES - DONE, "some were deleted outside");
}

#[test]
fn a_copy_does_not_follow_a_directory_out() {
    for moved in ["t/d", "copy/d"] {
        let tree = crowd("t/d");
        let (root, out) = (writable(&tree), tree.outside().join("out"));
        let before = std::cell::RefCell::new(Vec::new());
        let report = |done: usize| {
            if done == DONE {
                fs::rename(tree.join(moved), &out).expect("it is moved");
                *before.borrow_mut() = state(&out);
            }
        };
        let [from, to] = ["t", "copy"].map(|path| root.root().locate(path).expect("a path"));
        let options = CopyOptions { parents: false, overwrite: false };
        let copied = root.copy(&from, &to, options, &Cancel::default(), &report);
        copied.expect_err("it is gone");
        assert_eq!(state(&out), *before.borrow(), "{moved}: something was done outside");
    }
}

/// A directory that another program has put in the place of the one it moved is not mistaken for it: each entry is
/// looked up again, and only below the root.
#[test]
fn a_delete_does_not_enter_a_directory_swapped_for_a_link_outside() {
    let tree = crowd("t/d");
    let outside = tree.outside().join("precious");
    fs::create_dir(&outside).expect("a directory");
    for number in 0..ENTRIES {
        fs::write(outside.join(format!("{number:03}")), "precious").expect("a file");
    }
    let before = state(&outside);
    let root = writable(&tree);
    let report = |done: usize| {
        if done == DONE {
            fs::rename(tree.join("t/d"), tree.join("t/e")).expect("it is moved");
            std::os::unix::fs::symlink(&outside, tree.join("t/d")).expect("a link");
        }
    };
    let asked = root.root().locate("t").expect("a path");
    root.delete(&asked, true, &Cancel::default(), &report).expect_err("it is a link now");
    assert_eq!(state(&outside), before);
    assert_eq!(names(&tree, "t/e").len(), ENTRIES - DONE);
}
