//! Trees are copied and deleted step by step: each step is reported, and a cancellation stops before the next one.

use std::cell::RefCell;

use mcp_fs::call::Call;
use mcp_fs::root::write::{CopyOptions, WriteError};
use mcp_fs::root::{RootError, WritableRoot};
use mcp_fs::runtime::cancel::Cancel;
use mcp_fs::runtime::permits::Work;
use serde_json::json;

use super::update::writable;
use crate::support::{Client, Gate, TestServer, Tree};

const FILES: usize = 20;
const OPTIONS: CopyOptions = CopyOptions { parents: false, overwrite: false };

fn tree() -> Tree {
    (0..FILES).fold(Tree::new(), |tree, number| tree.file(format!("t/{}/{number}", number % 2), "x"))
}

/// The number of files below a directory of the tree.
fn files(tree: &Tree, path: &str) -> usize {
    let entries = walkdir::WalkDir::new(tree.join(path)).into_iter().filter_map(Result::ok);
    entries.filter(|entry| entry.file_type().is_file()).count()
}

fn copy(root: &WritableRoot, cancel: &Cancel, report: &dyn Fn(usize)) -> Result<usize, WriteError> {
    let locate = |path| root.root().locate(path).expect("a path");
    let copied = root.copy(&locate("t"), &locate("u"), OPTIONS, cancel, report);
    copied.map(|copied| copied.entries).map_err(|error| error.error)
}

fn delete(root: &WritableRoot, cancel: &Cancel, report: &dyn Fn(usize)) -> Result<usize, WriteError> {
    let path = root.root().locate("t").expect("a path");
    root.delete(&path, true, cancel, report).map(|deleted| deleted.entries)
}

#[test]
fn every_step_is_reported() {
    let tree = tree();
    let root = writable(&tree);
    for work in [copy, delete] {
        let told = RefCell::new(Vec::new());
        let entries = work(&root, &Cancel::default(), &|done| told.borrow_mut().push(done)).expect("it succeeds");
        assert_eq!(entries, FILES + 3);
        let told = told.into_inner();
        assert!(told.len() == FILES + 2 && told.is_sorted_by(|a, b| a < b), "{told:?}");
    }
}

#[test]
fn a_cancelled_copy_stops_and_keeps_what_was_copied() {
    let tree = tree();
    let cancel = Cancel::default();
    let stop = |done| {
        if done == 8 {
            cancel.cancel();
        }
    };
    let copied = copy(&writable(&tree), &cancel, &stop);
    assert_eq!(copied, Err(WriteError::Root(RootError::Cancelled)));
    assert_eq!((files(&tree, "t"), files(&tree, "u")), (FILES, 5), "a top, two directories, and five files");
}

#[test]
fn a_cancelled_delete_stops_where_it_is() {
    let tree = tree();
    let cancel = Cancel::default();
    let stop = |done| {
        if done == 5 {
            cancel.cancel();
        }
    };
    assert_eq!(delete(&writable(&tree), &cancel, &stop), Err(WriteError::Root(RootError::Cancelled)));
    assert_eq!(files(&tree, "t"), FILES - 5);
}

#[test]
fn a_change_cancelled_before_it_began_has_no_effect() {
    let tree = tree();
    let (root, cancel) = (writable(&tree), Cancel::default());
    cancel.cancel();
    for work in [copy, delete] {
        assert_eq!(work(&root, &cancel, &|_| ()), Err(WriteError::Root(RootError::Cancelled)));
    }
    assert_eq!((files(&tree, "t"), tree.join("u").exists()), (FILES, false));
}

#[test]
fn a_copy_that_fails_midway_says_where_and_how_much_is_done() {
    let tree = tree();
    // Another program creates what the copy would create next.
    let meddle = |done| {
        for path in ["u/0", "u/1"].into_iter().filter(|_| done == 2) {
            std::fs::create_dir_all(tree.join(path)).expect("a directory");
        }
    };
    let error = copy(&writable(&tree), &Cancel::default(), &meddle).unwrap_err();
    let WriteError::Partly { error, at, done } = error else { panic!("{error}") };
    assert_eq!((*error, at.parent().display().as_ref(), done), (WriteError::Exists, "u", 2));
}

/// The maximum number of trees are being changed: an edit and a write do not wait for them.
#[test]
fn an_edit_does_not_wait_for_trees() {
    const TREES: usize = 4;
    let tree = Tree::new().file("a", "old");
    let gate = Gate::new();
    let server = TestServer::builder(&tree).allow_write().dispatch({
        let gate = gate.clone();
        move |call, context| {
            if matches!(call, Call::CallTool { name, .. } if name == "delete_file") {
                let _permit = context.permit(Work::Tree)?;
                gate.pass();
            }
            mcp_fs::features::dispatch::dispatch(call, context)
        }
    });
    let mut server = server.start();
    let delete = || json!({"name": "delete_file", "arguments": {"path": "missing"}});
    let ids: Vec<_> = (0..TREES).map(|_| server.ask_modern("tools/call", delete())).collect();
    gate.wait_for(TREES);
    // One more has to wait.
    let last = server.ask_modern("tools/call", delete());
    server.tool_text("edit_file", json!({"path": "a", "edits": [{"oldText": "old", "newText": "new"}]}));
    server.tool_text("write_file", json!({"path": "b", "content": "x"}));
    assert_eq!(gate.arrived(), TREES);
    gate.open();
    for id in ids.into_iter().chain([last]) {
        server.answer(id);
    }
}
