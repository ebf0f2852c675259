//! Groups A and D: changing files. Losing, overwriting, or writing to the wrong place.

use serde_json::json;

#[cfg(target_os = "linux")]
use crate::support::Process;
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree, names_of};
use crate::writes::{content, names, writing};

/// servers PR #4115, #4827: a file replaced by a rename had another mode afterwards.
#[cfg(unix)]
#[test]
fn a10_the_mode_is_the_same_after_a_write() {
    use std::os::unix::fs::PermissionsExt as _;

    let tree = Tree::new().file("script", "old").mode("script", 0o755).file("private", "old").mode("private", 0o600);
    let mut server = writing(&tree);
    for (path, bits) in [("script", 0o755), ("private", 0o600)] {
        server.tool_text("write_file", json!({"path": path, "content": "new"}));
        let mode = std::fs::metadata(tree.join(path)).unwrap().permissions().mode();
        assert_eq!((mode & 0o7777, content(&tree, path)), (bits, b"new".to_vec()), "{path}");
    }
}

/// servers #3199, `DesktopCommander` #476: a file is read in windows many times and then replaced. No handle of it may
/// stay open, which on Windows would prevent replacing it.
#[cfg(target_os = "linux")]
#[test]
fn a15_reading_leaves_no_handle_so_the_file_can_be_replaced() {
    let tree = Tree::new().file("a.txt", "line\n".repeat(20_000));
    let options = ["--watch=off".as_ref(), "--allow-write".as_ref(), tree.path()];
    let mut process = Process::spawn(options).legacy(LATEST_LEGACY);
    let read = |process: &mut Process| process.tool_text("read_text_file", json!({"path": "a.txt", "limit": 1_000}));
    read(&mut process);
    let before = process.descriptors();
    for _ in 0..200 {
        read(&mut process);
    }
    process.tool_text("write_file", json!({"path": "a.txt", "content": "short\n"}));
    assert_eq!(process.descriptors(), before);
    assert_eq!(std::fs::read(tree.join("a.txt")).expect("a.txt"), b"short\n");
}

/// servers #711, #4629: two missing levels were one too many.
#[test]
fn d1_a_directory_is_created_with_its_parents() {
    let tree = Tree::new().file("file", "").file("d/file", "");
    let mut server = writing(&tree);
    for _ in 0..2 {
        let said = server.tool_text("create_directory", json!({"path": "n1/n2/n3"}));
        assert_eq!(said, "Successfully created directory n1/n2/n3");
        assert!(tree.join("n1/n2/n3").is_dir());
    }
    for path in ["file", "file/", "file/n2/n3", "d/file/n3"] {
        let error = server.tool_error("create_directory", json!({"path": path}));
        assert!(error.contains("not a directory"), "{path}: {error}");
    }
    server.tool_text("create_directory", json!({"path": "."}));
    assert_eq!(
        (names(&tree, ""), names(&tree, "d")),
        (vec!["d".into(), "file".into(), "n1".into()], vec!["file".into()])
    );
}

/// servers #4629: writing a file into a directory that does not exist.
#[test]
fn d2_a_missing_parent_is_named_or_created_on_request() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for append in [false, true] {
        let error = server.tool_error("write_file", json!({"path": "p1/p2/x.txt", "content": "x", "append": append}));
        assert!(error.contains("parent directory p1 does not exist") && error.contains("createParents"), "{error}");
    }
    assert_eq!(names(&tree, ""), [] as [&str; 0]);
    server.tool_text("write_file", json!({"path": "p1/p2/x.txt", "content": "x", "createParents": true}));
    assert_eq!(content(&tree, "p1/p2/x.txt"), b"x");
}

/// servers #4628, UI-TARS #1977: a file at the destination was lost by a move.
#[cfg(unix)]
#[test]
fn d3_a_move_never_destroys_its_destination() {
    let tree = Tree::new().file("a", "a").file("b", "b").link("dangling", "nowhere");
    let mut server = writing(&tree);
    for destination in ["b", "dangling", "a"] {
        let error = server.tool_error("move_file", json!({"source": "a", "destination": destination}));
        assert!(error.contains("already exists"), "{destination}: {error}");
    }
    assert_eq!((content(&tree, "a"), content(&tree, "b")), (b"a".to_vec(), b"b".to_vec()));
    assert_eq!(names(&tree, ""), ["a", "b", "dangling"]);
}

/// The same while another program creates the destination: neither file is ever lost.
#[cfg(unix)]
#[test]
fn d3_a_move_that_loses_a_race_destroys_nothing() {
    use std::fs::{self, OpenOptions};

    let tree = Tree::new();
    let mut server = writing(&tree);
    for round in 0..200 {
        fs::write(tree.join("a"), "ours").unwrap();
        let destination = tree.join("b");
        let created = std::thread::scope(|scope| {
            let create = || OpenOptions::new().write(true).create_new(true).open(&destination).is_ok();
            let theirs = scope.spawn(create);
            let moved = server.tool("move_file", json!({"source": "a", "destination": "b"}));
            let moved = moved["isError"] != true;
            (theirs.join().expect("no panic"), moved)
        });
        match created {
            (true, false) => assert_eq!(names(&tree, ""), ["a", "b"], "round {round}"),
            (false, true) => assert_eq!(content(&tree, "b"), b"ours", "round {round}"),
            both => panic!("round {round}: {both:?}"),
        }
        fs::remove_file(&destination).unwrap();
    }
}

/// servers #519, #1581: a large file was copied through the model.
#[cfg(unix)]
#[test]
fn d6_a_large_file_is_copied_by_the_server() {
    use std::os::unix::fs::PermissionsExt as _;

    let bytes: Vec<u8> = (0..100 << 20).map(|at: u32| (at / 7) as u8).collect();
    let tree = Tree::new().file("large", &bytes).mode("large", 0o751).file("other", "x");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "large", "destination": "copy"}));
    assert!(content(&tree, "copy") == bytes, "the copy is another one");
    assert_eq!(std::fs::metadata(tree.join("copy")).unwrap().permissions().mode() & 0o777, 0o751);
    let again = json!({"source": "other", "destination": "copy"});
    assert!(server.tool_error("copy_file", again).contains("already exists"));
    assert_eq!(std::fs::metadata(tree.join("copy")).unwrap().len(), 100 << 20);
    server.tool_text("copy_file", json!({"source": "other", "destination": "copy", "overwrite": true}));
    assert_eq!(content(&tree, "copy"), b"x");
}

const WRITES: [&str; 5] = ["write_file", "create_directory", "move_file", "copy_file", "delete_file"];

/// servers #632, PR #3505: read-only was only a hint.
#[test]
fn d7_without_the_flag_nothing_can_be_changed() {
    let tree = Tree::new().file("a", "a");
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let list = server.result("tools/list", json!({}));
    for tool in WRITES {
        assert!(!names_of(&list).contains(&tool), "{tool} is listed");
        for arguments in
            [json!({"path": "a", "content": "x"}), json!({"path": "a"}), json!({"source": "a", "destination": "b"})]
        {
            let error = server.tool_error(tool, arguments);
            assert!(error.contains("read-only") && error.contains("--allow-write"), "{tool}: {error}");
        }
    }
    assert_eq!((names(&tree, ""), content(&tree, "a")), (vec!["a".to_owned()], b"a".to_vec()));
    let list = writing(&tree).result("tools/list", json!({}));
    assert!(WRITES.iter().all(|tool| names_of(&list).contains(tool)), "{list}");
}
