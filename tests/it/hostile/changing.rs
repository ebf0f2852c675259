//! Files and directories that change while they are read: each answer is the state at some moment, as far as the system
//! guarantees that, or an error that says so; and there is always an answer.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::{completed, everything};
use crate::resources::{bytes_of, list_all};
use crate::sandbox::race::while_swapping;
use crate::sandbox::{FILE_OPERATIONS, READ_RESOURCE, ask, asked};
use crate::support::{Client, TestServer, Tree};
use crate::writes::writing;

/// How often everything is requested while something changes.
const ROUNDS: usize = 40;

/// Reads `path` in every way while it changes; `judge` sees each text that is returned.
fn read_while(tree: &Tree, path: &str, change: &(dyn Fn() + Sync), judge: impl Fn(&str, &str)) {
    let mut server = TestServer::start(tree);
    let read = || {
        for _ in 0..ROUNDS {
            for operation in FILE_OPERATIONS {
                let answer = ask(&mut server, tree, operation, &asked(tree, operation, path));
                if let Some(text) = answer.text().filter(|_| !answer.is_refusal()) {
                    let text = text
                        .strip_prefix(&format!("{path}:\n"))
                        .filter(|_| operation == "read_multiple_files")
                        .unwrap_or(text);
                    judge(operation, text);
                }
            }
            for lines in [json!({"tail": 3}), json!({"offset": 2, "limit": 2})] {
                let mut arguments = lines;
                arguments["path"] = json!(path);
                server.tool("read_text_file", arguments);
            }
            everything(&mut server, tree, "");
            list_all(&mut server);
        }
    };
    let ((), changed) = while_swapping(&[change], read);
    assert!(changed[0] > 1, "it changed {} times only", changed[0]);
}

/// A writer that replaces by renaming, like an editor: never a mixture of old and new.
#[test]
fn a_file_being_replaced_is_read_as_old_or_new() {
    let contents = ["a".repeat(20_000) + "\n", "b".repeat(30_000) + "\n"];
    let tree = Tree::in_memory().file("file.txt", &contents[0]);
    let turn = AtomicU64::new(0);
    let replace = || {
        let turn = turn.fetch_add(1, Ordering::Relaxed) as usize;
        fs::write(tree.outside().join("new"), &contents[turn % 2]).expect("written");
        fs::rename(tree.outside().join("new"), tree.join("file.txt")).expect("replaced");
    };
    read_while(&tree, "file.txt", &replace, |operation, text| {
        assert!(contents.iter().any(|content| content == text), "{operation}: {} bytes of a mixture", text.len());
    });
}

/// It is read up to the size that it had when it was opened, or less: nothing is returned that was never there.
#[test]
fn a_file_that_grows_and_shrinks_is_read_consistently() {
    let tree = Tree::in_memory().file("file.txt", "");
    let file = File::options().write(true).open(tree.join("file.txt")).expect("a file");
    let line = "0123456789\n";
    let change = || {
        for lines in [0, 1, 3_000, 10, 6_000, 2] {
            file.set_len(0).expect("shorter");
            file.write_all_at(line.repeat(lines).as_bytes(), 0).expect("longer");
        }
    };
    read_while(&tree, "file.txt", &change, |operation, text| {
        // A cut is marked on a line of its own.
        let text = text.split("[mcp-fs:").next().unwrap_or(text).trim_end_matches(|c| c != '\n');
        let is_made_of_lines = text.as_bytes().chunks(line.len()).all(|part| line.as_bytes().starts_with(part));
        assert!(is_made_of_lines || text.starts_with('['), "{operation}: {text:?}");
    });
}

/// A large file is streamed, and may end anywhere.
#[test]
fn reads_of_a_large_file_that_is_repeatedly_truncated_end() {
    let tree = Tree::in_memory().file("file.txt", "needle\n".repeat(1 << 20));
    let file = File::options().write(true).open(tree.join("file.txt")).expect("a file");
    let sizes = AtomicU64::new(0);
    let change = || {
        let turn = sizes.fetch_add(1, Ordering::Relaxed);
        // Growth leaves holes of zeros, which make it binary.
        file.set_len([7 << 20, 0, 3 << 20, 100][turn as usize % 4]).expect("another size");
    };
    read_while(&tree, "file.txt", &change, |_, _| ());
}

#[test]
fn a_file_that_comes_and_goes_is_read_whole_or_not_found() {
    let tree = Tree::in_memory().file("file.txt", "here\n");
    let change = || {
        fs::rename(tree.join("file.txt"), tree.outside().join("gone")).expect("gone");
        fs::rename(tree.outside().join("gone"), tree.join("file.txt")).expect("back");
    };
    read_while(&tree, "file.txt", &change, |operation, text| {
        assert!(["here\n", "here"].contains(&text), "{operation}: {text:?}");
    });
}

/// Permanent entries are in every listing, and none twice; transient ones are complete or absent.
#[test]
fn permanent_entries_are_in_every_listing_of_a_changing_directory() {
    let tree = (0..300).fold(Tree::in_memory(), |tree, n| tree.file(format!("d/stays-{n:03}"), ""));
    let change = || {
        for number in 0..50 {
            let name = |round: usize| tree.join(format!("d/comes-{number:03}-{round}"));
            fs::write(name(0), "").expect("a file");
            fs::rename(name(0), name(1)).expect("renamed");
        }
        for number in 0..50 {
            fs::remove_file(tree.join(format!("d/comes-{number:03}-1"))).expect("removed");
        }
    };
    let mut server = TestServer::start(&tree);
    let whole = |names: Vec<&str>, from: &str| {
        let stays = names.iter().filter(|name| name.contains("stays-")).count();
        assert_eq!(stays, 300, "{from}");
        let once: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len(), "{from}: something is there twice");
    };
    let read = || {
        for _ in 0..ROUNDS {
            whole(server.tool_text("list_directory", json!({"path": "d"})).lines().collect(), "list_directory");
            let sizes = server.tool_text("list_directory_with_sizes", json!({"path": "d"}));
            whole(sizes.lines().filter(|line| line.starts_with("[FILE]")).collect(), "list_directory_with_sizes");
            whole(server.tool_text("search_files", json!({"pattern": "*-*"})).lines().collect(), "search_files");
            let listed = list_all(&mut server);
            whole(crate::resources::names(&listed), "resources/list");
            assert_eq!(completed(&mut server, &tree, "d/stays-").len(), 100);
            server.tool_text("directory_tree", json!({}));
            server.tool("search_text", json!({"query": "x"}));
        }
    };
    let ((), changed) = while_swapping(&[&change], read);
    assert!(changed[0] > 1, "it changed {} times only", changed[0]);
}

/// A change in a tree that others change as well succeeds, or says why not.
#[test]
fn copying_or_deleting_a_changing_tree_is_always_answered() {
    let tree = (0..40).fold(Tree::in_memory(), |tree, n| tree.file(format!("d/{n}/f"), "content\n"));
    let change = || {
        for number in 0..40 {
            let at = tree.join(format!("d/{number}/new"));
            // It may have been deleted, so that there is nothing to change.
            let _ = fs::write(&at, "new").and_then(|()| fs::remove_file(&at));
        }
    };
    let mut server = writing(&tree);
    let work = || {
        for round in 0..5 {
            let copy = format!("copy-{round}");
            let copied = server.tool("copy_file", json!({"source": "d", "destination": copy}));
            if copied["isError"] != true {
                assert_eq!(fs::read(tree.join(&copy).join("39/f")).expect("a copy"), b"content\n");
            }
        }
        server.tool("delete_file", json!({"path": "d", "recursive": true}));
    };
    let ((), changed) = while_swapping(&[&change], work);
    assert!(changed[0] > 0);
    let item = server.either(READ_RESOURCE, json!({"uri": tree.uri("copy-0/0/f")}));
    assert!(item.get("error").is_some() || bytes_of(&item["result"]["contents"][0]) == b"content\n", "{item}");
}
