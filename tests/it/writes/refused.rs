//! Writes that are refused, after which everything is unchanged: inside, and above all outside.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::json;

use super::{content, names, writing};
use crate::process::users::unprivileged;
use crate::sandbox::keeps_the_host_private;
use crate::support::{Client, LATEST_LEGACY, Process, Tree};

/// Everything about the entries of a directory that could change: names, kinds, modes, times, content.
pub(crate) fn state(directory: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(directory).sort_by_file_name();
    let describe = |entry: walkdir::DirEntry| {
        let facts = entry.metadata().expect("facts");
        let content = if facts.is_file() { fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
        let times = (facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec());
        format!("{} {:o} {times:?} {content:?}", entry.path().display(), facts.mode())
    };
    // A user other than root cannot look into all of them.
    entries.into_iter().flatten().map(describe).collect()
}

#[test]
fn a_link_inside_is_written_through_to_its_target() {
    let tree = Tree::new().file("d/target", "old").link("near", "d/target").link("absolute", "{root}/d/target");
    let tree = tree.link("d/up", "../d/target").link("chain", "near").link("dir", "d");
    let mut server = writing(&tree);
    for path in ["near", "absolute", "d/up", "chain", "dir/target"] {
        let said = server.tool_text("write_file", json!({"path": path, "content": path}));
        assert_eq!(said, "Successfully wrote to d/target");
        assert_eq!(content(&tree, "d/target"), path.as_bytes());
        server.tool_text("write_file", json!({"path": path, "content": "+", "append": true}));
        assert_eq!(content(&tree, "d/target"), format!("{path}+").as_bytes());
    }
    for link in ["near", "absolute", "d/up", "chain", "dir"] {
        assert!(fs::symlink_metadata(tree.join(link)).unwrap().is_symlink(), "{link} was replaced");
    }
}

#[test]
fn writing_through_a_dangling_link_creates_its_target() {
    let tree = Tree::new().dir("d").link("near", "d/new").link("deep", "d/e/new");
    let mut server = writing(&tree);
    assert_eq!(server.tool_text("write_file", json!({"path": "near", "content": "x"})), "Successfully wrote to d/new");
    let error = server.tool_error("write_file", json!({"path": "deep", "content": "x"}));
    assert!(error.contains("parent directory d/e does not exist"), "{error}");
    assert_eq!((content(&tree, "d/new"), names(&tree, "d")), (b"x".to_vec(), vec!["new".to_owned()]));
}

#[test]
fn links_outside_are_refused_and_nothing_there_changes() {
    let tree = Tree::new().dir("d").file("a", "a").link("file", "../secret").link("absolute", "{outside}/secret");
    let tree = tree.link("nothing", "../new").link("absolute-nothing", "{outside}/new").link("up", "..");
    let tree = tree.link("d/far", "../../new").link("other", "/nowhere/at/all").link("chain", "nothing");
    let before = state(tree.outside());
    let mut server = writing(&tree);
    let absolute = tree.outside().join("new").to_str().expect("text").to_owned();
    for path in [
        "../secret",
        "../new",
        "d/../../new",
        "file",
        "absolute",
        "nothing",
        "absolute-nothing",
        "up/new",
        "up/secret",
        "up/root/../new",
        "d/far",
        "other",
        "chain",
        absolute.as_str(),
        "/etc/mcp-fs-test",
    ] {
        for append in [false, true] {
            let arguments = json!({"path": path, "content": "x", "append": append, "createParents": true});
            let error = server.tool_error("write_file", arguments);
            assert!(error.contains("leads outside the served directory"), "{path}: {error}");
            keeps_the_host_private(&tree, &error, path);
        }
    }
    assert_eq!(state(tree.outside()), before);
}

#[test]
fn a_file_with_several_names_is_not_appended_to() {
    let tree = Tree::new().file("a", "old");
    fs::hard_link(tree.join("a"), tree.join("b")).unwrap();
    let before = state(tree.path());
    let mut server = writing(&tree);
    let error = server.tool_error("write_file", json!({"path": "b", "content": "new", "append": true}));
    assert!(error.contains("2 names") && error.contains("delete_file"), "{error}");
    assert_eq!(state(tree.path()), before);
}

#[test]
fn special_files_are_not_written_to() {
    let tree = Tree::new().fifo("fifo").socket("socket").link("to-fifo", "fifo");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for path in ["fifo", "socket", "to-fifo"] {
        for append in [false, true] {
            let error = server.tool_error("write_file", json!({"path": path, "content": "x", "append": append}));
            assert!(error.contains("not a regular file"), "{path}: {error}");
        }
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn denied_names_are_not_written() {
    let tree = Tree::new().file(".env", "KEY=1\n").link("link", ".env").dir("d").link("new", "d/.env");
    let tree = tree.file(".ssh/config", "");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for path in [".env", ".ENV", "link", "new", "d/.env", "d/.env.local", ".ssh/config", ".ssh/new", "x/id_rsa"] {
        let arguments = json!({"path": path, "content": "x", "createParents": true});
        let error = server.tool_error("write_file", arguments);
        assert!(error.contains("denied by the pattern"), "{path}: {error}");
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn windows_paths_do_not_become_names() {
    let tree = Tree::new().file(r"C:\there", "old");
    let mut server = writing(&tree);
    for path in [r"C:\x", "C:/x", r"\\server\share", "c:/d/x", r"D:\"] {
        let error = server.tool_error("write_file", json!({"path": path, "content": "x", "createParents": true}));
        assert!(error.contains("Windows path"), "{path}: {error}");
    }
    server.tool_text("write_file", json!({"path": r"C:\there", "content": "new"}));
    assert_eq!((names(&tree, ""), content(&tree, r"C:\there")), (vec![r"C:\there".to_owned()], b"new".to_vec()));
}

/// A rename could replace it, because the directory is writable; the file's own protection counts.
#[test]
fn a_write_protected_file_is_refused() {
    let tree = Tree::new().file("protected", "old").mode("protected", 0o444).file("d/a", "old");
    let tree = tree.mode("d/a", 0o444).mode("d", 0o555);
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
    let Some(command) = unprivileged(&tree, [tree.path().as_os_str(), "--allow-write".as_ref()]) else { return };
    let before = state(tree.path());
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    let error = process.tool_error("write_file", json!({"path": "protected", "content": "new"}));
    assert!(error.contains("not writable"), "{error}");
    for (path, append) in [("protected", true), ("d/new", false), ("d/new", true), ("d/a", false)] {
        let error = process.tool_error("write_file", json!({"path": path, "content": "new", "append": append}));
        assert!(error.contains("permission denied") || error.contains("not writable"), "{path}: {error}");
    }
    assert_eq!(state(tree.path()), before);
}

/// A file that everybody may write can be in a directory that may not be changed: then the error names the directory,
/// so that nobody wonders about the file.
#[test]
fn the_error_names_a_directory_that_may_not_be_changed() {
    let tree = Tree::new().file("d/a", "old").mode("d/a", 0o666).mode("d", 0o555);
    let Some(command) = unprivileged(&tree, [tree.path().as_os_str(), "--allow-write".as_ref()]) else { return };
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    for (tool, arguments) in [
        ("write_file", json!({"path": "d/a", "content": "new"})),
        ("write_file", json!({"path": "d/new", "content": "new"})),
        ("create_directory", json!({"path": "d/new"})),
        ("delete_file", json!({"path": "d/a"})),
    ] {
        let error = process.tool_error(tool, arguments);
        assert!(error.contains("its directory"), "{tool}: {error}");
    }
    assert_eq!(content(&tree, "d/a"), b"old");
}

/// Its content might be denied.
#[test]
fn a_tree_with_an_unreadable_directory_is_not_moved() {
    let open = fs::Permissions::from_mode(0o777);
    let tree = Tree::new().file("d/a", "a").dir("d/locked").mode("d/locked", 0);
    for directory in [tree.path(), &tree.join("d")] {
        fs::set_permissions(directory, open.clone()).expect("a mode");
    }
    let Some(command) = unprivileged(&tree, [tree.path().as_os_str(), "--allow-write".as_ref()]) else { return };
    let before = state(tree.path());
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    for (tool, arguments) in [
        ("move_file", json!({"source": "d", "destination": "e"})),
        ("copy_file", json!({"source": "d", "destination": "e"})),
        ("delete_file", json!({"path": "d", "recursive": true})),
    ] {
        let error = process.tool_error(tool, arguments);
        assert!(error.contains("d/locked inside it cannot be read: permission denied"), "{tool}: {error}");
    }
    assert_eq!(state(tree.path()), before);
}
