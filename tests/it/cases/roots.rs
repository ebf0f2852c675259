//! L: the served directory is moved, replaced or deleted while it is being served.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::live::Live;
use crate::support::{Client, Process, TestServer, Tree, text_of};

const GONE: &str = "no longer at its path";

fn tree() -> Tree {
    Tree::new().file("a.txt", "old\n").file("sub/b.txt", "old\n").file("long.txt", "old\n".repeat(50_000))
}

/// Another directory with the same names, beside the served one.
fn another(tree: &Tree) -> PathBuf {
    let new = tree.outside().join("new");
    fs::create_dir_all(new.join("sub")).unwrap();
    for path in ["a.txt", "sub/b.txt", "long.txt"] {
        fs::write(new.join(path), "new\n").unwrap();
    }
    new
}

/// A call of every tool that changes something, with paths in each spelling.
fn changes(root: &Path) -> Vec<(&'static str, Value)> {
    let edits = json!([{"oldText": "old", "newText": "changed"}]);
    vec![
        ("edit_file", json!({"path": root.join("a.txt"), "edits": edits})),
        ("edit_file", json!({"path": "a.txt", "edits": edits, "dryRun": true})),
        ("write_file", json!({"path": "a.txt", "content": "changed"})),
        ("write_file", json!({"path": root.join("new.txt"), "content": "changed"})),
        ("write_file", json!({"path": format!("file://{}", root.join("sub/b.txt").display()), "content": "x"})),
        ("write_file", json!({"path": "a.txt", "content": "changed", "append": true})),
        ("create_directory", json!({"path": "made/anew"})),
        ("move_file", json!({"source": "a.txt", "destination": root.join("moved.txt")})),
        ("copy_file", json!({"source": "sub", "destination": "copied"})),
        ("delete_file", json!({"path": "sub", "recursive": true})),
    ]
}

fn reads(root: &Path) -> Vec<(&'static str, Value)> {
    vec![
        ("read_text_file", json!({"path": root.join("a.txt")})),
        ("read_text_file", json!({"path": "a.txt"})),
        ("read_text_file", json!({"path": "long.txt", "tail": 1})),
        ("get_file_info", json!({"path": "sub/b.txt"})),
        ("list_directory", json!({"path": "."})),
        ("directory_tree", json!({"path": root})),
        ("search_files", json!({"pattern": "*.txt"})),
        ("search_text", json!({"query": "old"})),
    ]
}

/// Every call reports it, and nothing in the former directory changes.
fn says_so(client: &mut impl Client, served: &Path, now: &Path) {
    let before = listed(now);
    for (tool, arguments) in changes(served).into_iter().chain(reads(served)) {
        let said = client.tool(tool, arguments.clone());
        let text = text_of(&said);
        assert!(
            said["isError"] == true && text.contains(GONE) && text.contains("restart"),
            "{tool} {arguments}: {said}"
        );
    }
    for path in ["a.txt", "long.txt", "sub", "", "none"] {
        let uri = format!("file://{}", served.join(path).display());
        let error = client.error("resources/read", json!({"uri": uri}));
        let message = error["message"].as_str().expect("text");
        assert!(error["code"] == -32603 && message.contains(GONE), "{uri}: {error}");
    }
    assert!(client.error("resources/list", json!({}))["message"].as_str().expect("text").contains(GONE));
    assert_eq!(listed(now), before, "nothing is changed there");
}

/// Every file below a directory, with its content.
fn listed(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = walkdir::WalkDir::new(directory).sort_by_file_name().into_iter().flatten();
    files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap_or_default())).collect()
}

fn works(client: &mut impl Client) {
    assert_eq!(client.tool_text("read_text_file", json!({"path": "a.txt"})), "old\n");
    client.tool_text("write_file", json!({"path": "written.txt", "content": "x"}));
}

/// Serves `path`, which leads to the tree, both in this process and as the confined program.
fn each(tree: &Tree, path: &Path, mut judge: impl FnMut(&mut dyn FnMut(&Path, bool))) {
    let mut server = TestServer::builder(tree).at(path).allow_write().start();
    let mut process = Process::spawn([path.as_os_str(), "--allow-write".as_ref()]);
    works(&mut server);
    works(&mut process);
    judge(&mut |now, in_place| {
        if in_place {
            works(&mut server);
            works(&mut process);
        } else {
            says_so(&mut server, path, now);
            says_so(&mut process, path, now);
        }
    });
}

/// docker/for-linux #147, roadrunner #350, claude-code #48405: after `mv ROOT ROOT.old; mv ROOT.new ROOT`, the old
/// files were still served and changed.
#[test]
fn l1_a_replaced_directory_is_no_longer_served() {
    let tree = tree();
    let (root, new, old) = (tree.path(), another(&tree), tree.outside().join("old"));
    each(&tree, root, |look| {
        fs::rename(root, &old).unwrap();
        look(&old, false);
        fs::rename(&new, root).unwrap();
        look(&old, false);
        assert_eq!(fs::read(root.join("a.txt")).unwrap(), b"new\n");
        // Another name for the same directory is the same directory.
        fs::rename(root, &new).unwrap();
        symlink(&old, root).unwrap();
        look(&old, true);
        fs::remove_file(root).unwrap();
        fs::rename(&old, root).unwrap();
        look(root, true);
    });
}

/// As in deployments: DIR was given as a link, which now leads to the next release.
#[test]
fn l1_a_link_to_the_directory_that_leads_elsewhere_is_noticed() {
    let tree = tree();
    let (new, link, next) = (another(&tree), tree.outside().join("current"), tree.outside().join("next"));
    symlink(tree.path(), &link).unwrap();
    each(&tree, &link, |look| {
        symlink(&new, &next).unwrap();
        fs::rename(&next, &link).unwrap();
        // A server that reads inline notices it with the first call that cannot be inline.
        look(tree.path(), false);
        fs::remove_file(&link).unwrap();
        look(tree.path(), false);
        symlink(tree.path(), &link).unwrap();
        look(tree.path(), true);
    });
}

#[test]
fn l1_a_directory_above_that_was_moved_is_noticed() {
    let tree = tree();
    let (above, away) = (tree.outside().join("above"), tree.outside().join("away"));
    fs::create_dir(&above).unwrap();
    let (root, moved) = (above.join("root"), away.join("root"));
    fs::rename(tree.path(), &root).unwrap();
    each(&tree, &root, |look| {
        fs::rename(&above, &away).unwrap();
        look(&moved, false);
        fs::write(&above, "a file in its place").unwrap();
        look(&moved, false);
        fs::remove_file(&above).unwrap();
        fs::rename(&away, &above).unwrap();
        look(&root, true);
    });
    fs::rename(&root, tree.path()).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn l1_something_that_was_mounted_over_the_directory_is_noticed() {
    let tree = tree();
    let new = another(&tree);
    each(&tree, tree.path(), |look| {
        let Some(mounted) = crate::support::mount::Mounted::bind(&new, tree.path()) else { return };
        for path in ["a.txt", "long.txt", "sub"] {
            assert_eq!(fs::metadata(tree.path().join(path)).unwrap().is_dir(), path == "sub");
        }
        look(&new, false);
        drop(mounted);
        look(tree.path(), true);
    });
}

#[test]
fn l1_a_directory_that_was_deleted_is_noticed() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).allow_write().start();
    fs::remove_dir_all(tree.path()).unwrap();
    says_so(&mut server, tree.path(), tree.path());
    // Another directory of the same name is not the served one.
    fs::create_dir(tree.path()).unwrap();
    says_so(&mut server, tree.path(), tree.path());
}

/// A follower is notified once, reads, and gets the reason.
#[test]
fn l1_subscribers_are_notified() {
    let mut live = Live::legacy(tree());
    live.subscribe("sub/b.txt");
    live.listen_to_list("list");
    let away = live.tree.outside().join("away");
    fs::rename(live.tree.path(), &away).unwrap();
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "updated sub/b.txt"]);
    let uri = live.tree.uri("sub/b.txt");
    let error = live.client.error("resources/read", json!({"uri": uri}));
    assert!(error["message"].as_str().expect("text").contains(GONE), "{error}");
    fs::rename(&away, live.tree.path()).unwrap();
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "updated sub/b.txt"]);
    live.nothing_else();
}
