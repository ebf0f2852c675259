//! `copy_file`: copies have the same content, and what must not be copied is not.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;

use super::refused::state;
use super::{content, names, writing};
use crate::support::{Client, TestServer, Tree};
use crate::tools::text_and_note;

fn copy(server: &mut TestServer, source: &str, destination: &str) -> (String, String) {
    let arguments = json!({"source": source, "destination": destination});
    let (text, note) = text_and_note(server, "copy_file", arguments);
    (text, note.expect("a note"))
}

fn refused(server: &mut TestServer, source: &str, destination: &str, overwrite: bool) -> String {
    let arguments = json!({"source": source, "destination": destination, "overwrite": overwrite});
    server.tool_error("copy_file", arguments)
}

fn mode(tree: &Tree, path: &str) -> u32 {
    fs::symlink_metadata(tree.join(path)).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_file_is_copied_with_its_mode() {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_001).collect();
    let tree = Tree::new().file("a", &bytes).mode("a", 0o4751).file("empty", "").link("link", "a");
    let mut server = writing(&tree);
    let (text, note) = copy(&mut server, "a", "b");
    assert_eq!((text.as_str(), note.as_str()), ("Successfully copied a to b", "[1 entry, 100,001 bytes]"));
    assert_eq!((content(&tree, "b"), mode(&tree, "b")), (bytes.clone(), 0o751));
    copy(&mut server, "link", "c");
    assert_eq!((content(&tree, "c"), mode(&tree, "c")), (bytes, 0o751), "a link is followed when it is named");
    copy(&mut server, "empty", "d");
    assert_eq!(content(&tree, "d"), b"");
}

#[test]
fn a_tree_is_copied_with_its_links_and_modes() {
    let tree = Tree::new().file("t/a", "a").mode("t/a", 0o640).file("t/d/b", "b").dir("t/empty").fifo("t/fifo");
    let tree =
        tree.link("t/in", "a").link("t/out", "../../secret").link("t/absolute", "{root}/t/a").link("t/loop", ".");
    let tree = tree.file("t/.mcp-fs-0123456789abcdef.tmp", "part").mode("t/d", 0o500).mode("t", 0o710);
    let before = state(&tree.join("t"));
    let (text, note) = copy(&mut writing(&tree), "t", "u");
    assert_eq!(text, "Successfully copied t to u");
    assert_eq!(note, "[9 entries, 2 bytes; left out: 1 special file]");
    assert_eq!(names(&tree, "u"), ["a", "absolute", "d", "empty", "in", "loop", "out"]);
    assert_eq!((content(&tree, "u/a"), content(&tree, "u/d/b")), (b"a".to_vec(), b"b".to_vec()));
    assert_eq!(["u", "u/a", "u/d"].map(|path| mode(&tree, path)), [0o710, 0o640, 0o500]);
    for link in ["in", "out", "absolute", "loop"] {
        assert_eq!(
            fs::read_link(tree.join("u").join(link)).unwrap(),
            fs::read_link(tree.join("t").join(link)).unwrap()
        );
    }
    assert_eq!(state(&tree.join("t")), before);
    // So that both can be removed.
    fs::set_permissions(tree.join("u/d"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn nothing_is_overwritten_unless_requested() {
    let tree = Tree::new().file("a", "new").file("file", "old").dir("dir").link("link", "file").link("broken", "gone");
    let tree = tree.link("out", "../secret").fifo("fifo").file("t/x", "x");
    let before = state(tree.outside());
    let mut server = writing(&tree);
    for (source, destination) in [("a", "file"), ("a", "dir"), ("a", "link"), ("a", "broken"), ("a", "out")] {
        assert!(refused(&mut server, source, destination, false).contains("already exists"), "{destination}");
    }
    assert!(refused(&mut server, "a", "a", false).contains("the same file"));
    for (source, destination, why) in [
        ("a", "dir", "is a directory, not a file"),
        ("a", "fifo", "not a regular file"),
        ("a", "out", "leads outside"),
        ("a", "a", "the same file"),
        ("t", "dir", "already exists"),
        ("t", "file", "already exists"),
        ("t", "t", "already exists"),
    ] {
        let error = refused(&mut server, source, destination, true);
        assert!(error.contains(why), "{source} to {destination}: {error}");
    }
    assert_eq!(state(tree.outside()), before);
}

#[test]
fn an_overwritten_file_keeps_its_own_mode() {
    let tree = Tree::new().file("a", "new").mode("a", 0o755).file("b", "old").mode("b", 0o600).link("link", "b");
    let tree = tree.file("c", "newer");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "a", "destination": "b", "overwrite": true}));
    assert_eq!((content(&tree, "b"), mode(&tree, "b")), (b"new".to_vec(), 0o600));
    server.tool_text("copy_file", json!({"source": "c", "destination": "link", "overwrite": true}));
    assert_eq!((content(&tree, "b"), mode(&tree, "b")), (b"newer".to_vec(), 0o600));
    assert!(fs::symlink_metadata(tree.join("link")).unwrap().is_symlink());
}

#[test]
fn a_directory_is_not_copied_into_itself() {
    let tree = Tree::new().file("d/e/a", "a").link("l", "d");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for (source, destination) in [("d", "d/x"), ("d", "l/e/x"), ("l", "d/x"), ("", "x"), (".", "d/x")] {
        assert!(refused(&mut server, source, destination, false).contains("into itself"), "{source} to {destination}");
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn denied_names_are_neither_copied_nor_copied_to() {
    let tree = Tree::new().file("d/e/.env", "KEY").file("a", "a").file("f/config", "x").link("l", "d/e/.env");
    let before = state(tree.path());
    let mut server = writing(&tree);
    for (source, destination, why) in [
        ("d", "x", "contains a denied entry"),
        ("d/e/.env", "x", "denied by"),
        ("l", "x", "denied by"),
        ("a", "d/.env", "denied by"),
        ("a", "d/e/.env", "denied by"),
        ("f", ".kube", "contains a denied entry"),
    ] {
        for overwrite in [false, true] {
            let error = refused(&mut server, source, destination, overwrite);
            assert!(error.contains(why), "{source} to {destination}: {error}");
        }
    }
    assert_eq!(state(tree.path()), before);
}

#[test]
fn special_files_are_not_copied() {
    let tree = Tree::new().fifo("fifo").socket("socket");
    let mut server = writing(&tree);
    for source in ["fifo", "socket"] {
        assert!(refused(&mut server, source, "x", false).contains("not a regular file"), "{source}");
    }
    assert_eq!(names(&tree, ""), ["fifo", "socket"]);
}

#[test]
fn parents_are_created_on_request() {
    let tree = Tree::new().file("a", "a").file("t/b", "b");
    let mut server = writing(&tree);
    assert!(refused(&mut server, "a", "p/q/a", false).contains("parent directory p does not exist"));
    for (source, destination) in [("a", "p/q/a"), ("t", "p/r/t")] {
        let arguments = json!({"source": source, "destination": destination, "createParents": true});
        server.tool_text("copy_file", arguments);
    }
    assert_eq!((content(&tree, "p/q/a"), content(&tree, "p/r/t/b")), (b"a".to_vec(), b"b".to_vec()));
}

/// A copy that is a second name would change with the first.
#[test]
fn a_copy_is_independent_of_its_source() {
    let tree = Tree::new().file("t/a", "a");
    fs::hard_link(tree.join("t/a"), tree.join("t/b")).unwrap();
    copy(&mut writing(&tree), "t", "u");
    let inode = |path: &str| fs::metadata(tree.join(path)).unwrap().ino();
    assert!(inode("u/a") != inode("t/a") && inode("u/a") != inode("u/b"));
}

#[cfg(target_os = "linux")]
#[test]
fn holes_are_copied_as_holes() {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    let tree = Tree::new();
    let sparse = fs::File::create(tree.join("sparse")).expect("a file");
    sparse.write_all_at(b"data", 64 << 20).expect("written");
    sparse.set_len(128 << 20).expect("a hole at its end");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "sparse", "destination": "copy"}));
    let copy = fs::metadata(tree.join("copy")).expect("a copy");
    assert_eq!(copy.len(), 128 << 20);
    assert!(copy.blocks() * 512 < 8 << 20, "{} blocks", copy.blocks());
    let mut data = [0; 6];
    fs::File::open(tree.join("copy")).expect("a copy").read_exact_at(&mut data, (64 << 20) - 1).expect("read");
    assert_eq!(&data, b"\0data\0");
}

/// The group of a copy is the server's, which must not be able to read what only another group could.
#[cfg(target_os = "linux")]
#[test]
fn a_copy_gives_a_different_group_only_the_rights_of_others() {
    let tree = Tree::new().file("a", "a");
    if std::os::unix::fs::chown(tree.join("a"), None, Some(4_321)).is_err() {
        return crate::sandbox::skipped("a file of another group", "not permitted");
    }
    fs::set_permissions(tree.join("a"), fs::Permissions::from_mode(0o664)).expect("a mode");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "a", "destination": "copy"}));
    assert_eq!(mode(&tree, "copy"), 0o644);
}

#[cfg(target_os = "linux")]
#[test]
fn a_copied_tree_keeps_the_group_of_its_destination() {
    let tree = Tree::new().dir("shared").file("a/b/c", "c");
    fs::set_permissions(tree.join("shared"), fs::Permissions::from_mode(0o2775)).expect("a mode");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "a", "destination": "shared/a"}));
    assert_eq!(mode(&tree, "shared/a/b") & 0o2000, 0o2000);
}
