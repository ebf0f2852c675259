//! Unreadable files, and links in circles: reported where they are met, without affecting anything else.

use serde_json::json;

use super::{completed, everything, said};
use crate::process::users::unprivileged;
use crate::resources::{list_all, names};
use crate::support::{Client, Process, TestServer, Tree};

/// Directories that cannot be listed (`unlisted`), entered (`unentered`), or either (`closed`); and a file.
fn tree() -> Tree {
    let tree = Tree::new().file("open.txt", "needle\n").file("secret.txt", "needle\n").mode("secret.txt", 0);
    ["closed", "unlisted", "unentered"].into_iter().zip([0, 0o311, 0o644]).fold(tree, |tree, (directory, mode)| {
        tree.file(format!("{directory}/inner.txt"), "needle\n").mode(directory, mode)
    })
}

#[test]
fn unreadable_files_are_refused_as_such_and_reported_when_skipped() {
    let tree = tree();
    let Some(command) = unprivileged(&tree, [tree.path()]) else { return };
    let mut process = Process::start(command);
    for path in ["secret.txt", "closed", "closed/inner.txt", "unentered/inner.txt"] {
        for (operation, answer) in everything(&mut process, &tree, path) {
            let may_be_seen = operation == "get_file_info" && !path.contains('/');
            // Their kind is visible, and a search of one file says how many could not be read.
            let reasons =
                ["permission denied", "not a directory", "is a directory, not a file", "1 file could not be read"];
            let is_said = reasons.iter().any(|reason| answer.words().contains(reason));
            assert!(is_said || may_be_seen, "{operation} {path}: {answer:?}");
        }
    }
    // Anyone who knows its name can read it.
    assert_eq!(process.tool_text("read_text_file", json!({"path": "unlisted/inner.txt"})), "needle\n");
    let (found, note) = said(&mut process, "search_text", json!({"query": "needle"}));
    assert_eq!(found, "open.txt:1: needle");
    assert!(note.contains("2 files could not be read; could not be read: closed, unlisted"), "{note}");
    let (_, note) = said(&mut process, "search_files", json!({"pattern": "none"}));
    assert!(note.contains("could not be read: closed, unlisted"), "{note}");
    let drawn = process.tool_text("directory_tree", json!({}));
    assert_eq!(drawn.matches("\"error\": \"permission denied\"").count(), 2, "{drawn}");
    let sizes = process.tool_text("list_directory_with_sizes", json!({}));
    assert!(sizes.contains("Total: 2 files, 3 directories"), "{sizes}");
    for directory in ["closed/", "unlisted/"] {
        assert_eq!(completed(&mut process, &tree, directory), [""; 0]);
    }
    // Whether it is readable is unknown until it is requested.
    assert!(names(&list_all(&mut process)).contains(&"open.txt"));
}

#[test]
fn unreadable_directories_are_not_changed() {
    let tree = tree();
    let Some(mut command) = unprivileged(&tree, [tree.path()]) else { return };
    command.arg("--allow-write");
    let mut process = Process::start(command);
    for (tool, arguments) in [
        ("delete_file", json!({"path": "closed", "recursive": true})),
        ("copy_file", json!({"source": "closed", "destination": "copy"})),
        ("copy_file", json!({"source": "secret.txt", "destination": "copy"})),
        ("move_file", json!({"source": "closed", "destination": "moved"})),
        ("write_file", json!({"path": "secret.txt", "content": "x"})),
        ("edit_file", json!({"path": "secret.txt", "edits": [{"oldText": "n", "newText": "x"}]})),
    ] {
        let error = process.tool_error(tool, arguments);
        assert!(error.contains("permission denied") || error.contains("not writable"), "{tool}: {error}");
    }
    assert_eq!(crate::writes::names(&tree, "").len(), 5);
}

/// As Linux does. An absolute link starts again at the root, and eight of those are enough.
#[test]
fn forty_links_are_followed_and_forty_one_are_a_loop() {
    let link = |tree: Tree, number: usize| tree.link(format!("l{}", number + 1), &format!("l{number}"));
    let tree = (1..41).fold(Tree::new().file("end", "here\n").link("l1", "end"), link);
    let absolute = |tree: Tree, number: usize| tree.link(format!("a{}", number + 1), &format!("{{root}}/a{number}"));
    let tree = (1..9).fold(tree.link("a1", "{root}/end"), absolute);
    let mut server = TestServer::start(&tree);
    for (follows, loops) in [("l40", "l41"), ("a8", "a9")] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": follows})), "here\n");
        for (operation, answer) in everything(&mut server, &tree, loops) {
            assert!(answer.words().contains("too many links"), "{operation} {loops}: {answer:?}");
        }
    }
}

/// Each of them leads to its own directory: an infinite number of names, and still 64 entries.
#[test]
fn a_thicket_of_links_to_its_own_root_is_walked_once() {
    let tree = (0..64).fold(Tree::new().file("end", "needle\n"), |tree, n| tree.link(format!("d/{n}"), ".."));
    let mut server = TestServer::start(&tree);
    everything(&mut server, &tree, "");
    assert_eq!(names(&list_all(&mut server)), ["end"]);
    assert_eq!(said(&mut server, "search_text", json!({"query": "needle"})).0, "end:1: needle");
    assert_eq!(server.tool_text("read_text_file", json!({"path": "d/1/d/2/d/3/end"})), "needle\n");
}
