//! Refused by the disk: no room, read-only, another file system. The old file is unchanged, and nothing is left behind.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::sandbox::skipped;
use crate::support::{Client, LATEST_LEGACY, Process, Tree, command};

/// Mounts a file system in memory at `$1` below `$0`, creates two files in it, remounts it with the options `$2`, and
/// becomes the server.
const MOUNTED: &str = r#"
    root=$0 at=$1 options=$2 && shift 2 && mount -t tmpfs -o size=1m none "$root/$at" &&
    printf old > "$root/$at/old" && printf other > "$root/$at/other" && mount -o "remount,$options" "$root/$at" &&
    exec "$@"
"#;

/// The server in its own mount namespace, if that is permitted.
pub(super) fn mounted(tree: &Tree, at: &str, options: &str, flags: &[&str]) -> Option<Command> {
    let wrapped = |program: &Command| {
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-m", "sh", "-c", MOUNTED]).arg(tree.path()).args([at, options]);
        wrapped.arg(program.get_program()).args(program.get_args());
        wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        wrapped
    };
    let probe = wrapped(&Command::new("true")).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        skipped("a small file system mounted inside the directory", "mounting is not permitted");
        return None;
    }
    Some(wrapped(&command(flags.iter().map(std::ffi::OsStr::new).chain([tree.path().as_os_str()]))))
}

fn start(tree: &Tree, options: &str) -> Option<Process> {
    mounted(tree, "m", options, &["--allow-write"]).map(|command| Process::start(command).legacy(LATEST_LEGACY))
}

fn listing(process: &mut Process) -> String {
    process.tool_text("list_directory", json!({"path": "m"}))
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    let tree = Tree::new().dir("m").file("large", "x".repeat(3 << 20));
    let Some(mut process) = start(&tree, "size=1m") else { return };
    let content = "y".repeat(2 << 20);
    for (name, arguments) in [
        ("write_file", json!({"path": "m/old", "content": content})),
        ("write_file", json!({"path": "m/new", "content": content})),
        ("copy_file", json!({"source": "large", "destination": "m/copy"})),
        ("copy_file", json!({"source": "large", "destination": "m/old", "overwrite": true})),
    ] {
        let error = process.tool_error(name, arguments);
        assert!(error.contains("the disk is full"), "{error}");
        assert_eq!(process.tool_text("read_text_file", json!({"path": "m/old"})), "old");
        assert_eq!(listing(&mut process), "[FILE] old\n[FILE] other");
    }
    // A file that does not appear in a listing would still occupy space.
    process.tool_text("write_file", json!({"path": "m/fits", "content": "y".repeat(900 << 10)}));
}

/// A client that is told to try again must not find half of it there.
#[test]
fn an_append_that_does_not_fit_is_undone() {
    let tree = Tree::new().dir("m");
    let Some(mut process) = start(&tree, "size=1m") else { return };
    let addition = json!({"path": "m/old", "content": "y".repeat(2 << 20), "append": true});
    let error = process.tool_error("write_file", addition);
    assert!(error.contains("the disk is full"), "{error}");
    assert_eq!(process.tool_text("read_text_file", json!({"path": "m/old"})), "old");
}

/// A directory of the same file system, mounted inside the tree: its content belongs elsewhere, and stays there.
#[test]
fn a_tree_with_a_mount_in_it_is_not_deleted() {
    const SCRIPT: &str = r#"mount --bind "$0/elsewhere" "$0/tree/a-mount" && exec "$@""#;
    let tree = Tree::new().file("elsewhere/precious", "kept").file("tree/z", "z").dir("tree/a-mount");
    let start = |program: &Command| {
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-m", "sh", "-c", SCRIPT]).arg(tree.path());
        wrapped.arg(program.get_program()).args(program.get_args());
        wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        wrapped
    };
    if !start(&Command::new("true")).output().is_ok_and(|output| output.status.success()) {
        return skipped("a directory mounted inside a tree", "mounting is not permitted");
    }
    let server = command(["--allow-write".as_ref(), tree.path().as_os_str()]);
    let mut process = Process::start(start(&server)).legacy(LATEST_LEGACY);
    let error = process.tool_error("delete_file", json!({"path": "tree", "recursive": true}));
    assert!(error.contains("mounted inside it, at tree/a-mount"), "{error}");
    assert_eq!(std::fs::read_to_string(tree.join("elsewhere/precious")).expect("it is there"), "kept");
    assert!(tree.join("tree/z").exists(), "nothing was deleted");
}

/// `ulimit -f`: by default the system kills a process that writes beyond it.
#[test]
fn a_file_size_limit_causes_an_error_and_not_the_end_of_the_process() {
    let tree = Tree::new().file("a", "old");
    let server = command(["--allow-write".as_ref(), tree.path().as_os_str()]);
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -f 64 && exec "$0" "$@""#]).arg(server.get_program()).args(server.get_args());
    limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(limited).legacy(LATEST_LEGACY);
    let error = process.tool_error("write_file", json!({"path": "a", "content": "x".repeat(1 << 20)}));
    assert!(error.contains("larger than this system allows"), "{error}");
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a"})), "old");
}

#[test]
fn a_read_only_file_system_is_named_in_the_error() {
    let tree = Tree::new().dir("m").file("a", "a");
    let Some(mut process) = start(&tree, "ro") else { return };
    for (name, arguments) in [
        ("write_file", json!({"path": "m/old", "content": "x"})),
        ("write_file", json!({"path": "m/old", "content": "x", "append": true})),
        ("write_file", json!({"path": "m/new", "content": "x"})),
        ("create_directory", json!({"path": "m/d"})),
        ("move_file", json!({"source": "m/old", "destination": "m/new"})),
        ("copy_file", json!({"source": "a", "destination": "m/new"})),
        ("delete_file", json!({"path": "m/old"})),
    ] {
        let error = process.tool_error(name, arguments);
        assert!(error.contains("read-only"), "{name}: {error}");
    }
    assert_eq!(listing(&mut process), "[FILE] old\n[FILE] other");
}

#[test]
fn a_move_to_another_file_system_says_what_to_do() {
    let tree = Tree::new().dir("m").file("a", "a").file("t/b", "b");
    let Some(mut process) = start(&tree, "size=1m") else { return };
    for source in ["a", "t"] {
        let error = process.tool_error("move_file", json!({"source": source, "destination": "m/new"}));
        assert!(error.contains("different file systems") && error.contains("copy_file"), "{error}");
        process.tool_text("copy_file", json!({"source": source, "destination": format!("m/{source}")}));
    }
    assert_eq!(process.tool_text("read_text_file", json!({"path": "m/t/b"})), "b");
}
