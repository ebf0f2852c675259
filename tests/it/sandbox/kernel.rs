//! File systems that show the kernel's state, mounted inside the served directory: /proc/self/environ contains the keys
//! of whoever started the server. They are neither entered nor opened, nor served themselves.

use std::process::{Command, Stdio};

use serde_json::json;

use super::fallback::without_openat2;
use super::{OPERATIONS, READ_RESOURCE, ask, skipped};
use crate::support::{Client, LATEST_LEGACY, Process, SECRET_MARKER, Tree, command, run};

/// Mounts /proc and /sys on directories in the tree, and the server's own environment on a file; then becomes the
/// server. `$0` is the tree.
const MOUNTED: &str = r#"
    mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sub/sys" &&
    mount --bind "/proc/$$/environ" "$0/environ" && exec "$@"
"#;

fn tree() -> Tree {
    Tree::new()
        .file("plain.txt", "plain\n")
        .file("environ", "")
        .dir("proc")
        .dir("sub/sys")
        .link("to-proc", "proc")
        .link("to-environ", "proc/self/environ")
}

/// The server in its own mount namespace, if that is permitted.
fn mounted(tree: &Tree, server: &Command) -> Option<Command> {
    let wrapped = |program: &Command| {
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-m", "sh", "-c", MOUNTED]).arg(tree.path()).arg(program.get_program()).args(program.get_args());
        wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The environment must not leak; the harness knows this value.
        wrapped.env("API_KEY", SECRET_MARKER);
        wrapped
    };
    let mut probe = Command::new("cat");
    probe.arg(tree.join("environ"));
    let shown = wrapped(&probe)
        .output()
        .is_ok_and(|output| output.status.success() && String::from_utf8_lossy(&output.stdout).contains(SECRET_MARKER));
    if !shown {
        skipped("/proc mounted inside the directory", "mounting is not permitted");
    }
    shown.then(|| wrapped(server))
}

/// Every path that leads there.
const WAYS: [&str; 11] = [
    "environ",
    "proc",
    "proc/",
    "proc/self",
    "proc/self/environ",
    "proc/1/environ",
    "proc/version",
    "proc/self/cwd/plain.txt",
    "sub/sys",
    "to-proc/version",
    "to-environ",
];

fn everything_is_refused(tree: &Tree, server: Command) {
    let mut process = Process::start(server).legacy(LATEST_LEGACY);
    for operation in OPERATIONS {
        for way in WAYS {
            let answer = ask(&mut process, tree, operation, way);
            let says_why = answer.words().contains("kernel file system");
            assert!(answer.is_refusal() && says_why, "{operation} {way}: {answer:?}");
        }
    }
    assert_eq!(ask(&mut process, tree, READ_RESOURCE, &tree.uri("proc/version")).code(), Some(-32603));
    assert_eq!(process.tool_text("read_text_file", json!({"path": "plain.txt"})), "plain\n");
}

fn no_walk_enters(tree: &Tree, server: Command) {
    let mut process = Process::start(server).legacy(LATEST_LEGACY);
    let listed = process.result("resources/list", json!({}));
    let below = |uri: &str| ["proc", "sub/sys"].iter().any(|dir| uri.starts_with(&tree.uri(dir)));
    let uris: Vec<&str> = listed["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert!(uris.contains(&tree.uri("plain.txt").as_str()) && !uris.iter().any(|uri| below(uri)), "{uris:?}");
    let text = process.tool_text("directory_tree", json!({"includeIgnored": true}));
    assert!(!["version", "meminfo", "devices"].iter().any(|name| text.contains(name)), "{text}");
    assert!(text.contains("kernel file system"), "the tree does not say why it did not enter: {text}");
}

#[test]
fn kernel_file_systems_are_refused_by_every_operation() {
    let tree = tree();
    if let Some(server) = mounted(&tree, &command([tree.path()])) {
        everything_is_refused(&tree, server);
    }
}

#[test]
fn kernel_file_systems_are_not_walked() {
    let tree = tree();
    if let Some(server) = mounted(&tree, &command([tree.path()])) {
        no_walk_enters(&tree, server);
    }
}

#[test]
fn kernel_file_systems_are_refused_by_every_operation_without_openat2() {
    let tree = tree();
    let server = without_openat2(&command([tree.path()])).and_then(|server| mounted(&tree, &server));
    if let Some(server) = server {
        everything_is_refused(&tree, server);
    }
}

#[test]
fn kernel_file_systems_are_not_walked_without_openat2() {
    let tree = tree();
    let server = without_openat2(&command([tree.path()])).and_then(|server| mounted(&tree, &server));
    if let Some(server) = server {
        no_walk_enters(&tree, server);
    }
}

#[test]
fn kernel_file_systems_are_not_changed() {
    let tree = tree();
    let Some(server) = mounted(&tree, &command([tree.path().as_os_str(), "--allow-write".as_ref()])) else { return };
    let mut process = Process::start(server).legacy(LATEST_LEGACY);
    for (tool, arguments) in [
        ("write_file", json!({"path": "proc/self/comm", "content": "x"})),
        ("write_file", json!({"path": "proc/self/comm", "content": "x", "append": true})),
        ("write_file", json!({"path": "proc/new", "content": "x"})),
        ("write_file", json!({"path": "to-proc/self/comm", "content": "x"})),
        ("create_directory", json!({"path": "sub/sys/fs/cgroup/new"})),
        ("move_file", json!({"source": "proc/version", "destination": "stolen"})),
        ("move_file", json!({"source": "plain.txt", "destination": "proc/new"})),
        ("copy_file", json!({"source": "environ", "destination": "stolen"})),
        ("copy_file", json!({"source": "proc", "destination": "stolen"})),
        ("copy_file", json!({"source": "sub", "destination": "stolen"})),
        ("delete_file", json!({"path": "sub", "recursive": true})),
        ("delete_file", json!({"path": "proc/version"})),
    ] {
        let error = process.tool_error(tool, arguments.clone());
        assert!(error.contains("kernel file system"), "{tool} {arguments}: {error}");
    }
    // A file of such a file system, mounted on a name: neither it nor the name can be moved.
    for (tool, arguments) in [
        ("write_file", json!({"path": "environ", "content": "x"})),
        ("move_file", json!({"source": "environ", "destination": "stolen"})),
        ("delete_file", json!({"path": "environ"})),
    ] {
        process.tool_error(tool, arguments);
    }
    let listed = process.tool_text("list_directory", json!({}));
    assert!(listed.contains("environ") && listed.contains("plain.txt") && !listed.contains("stolen"), "{listed}");
}

#[test]
fn kernel_file_systems_cannot_be_served() {
    let tree = Tree::new().link("to-proc", "/proc");
    let link = tree.join("to-proc");
    for directory in ["/proc", "/proc/self", "/proc/self/fd", "/sys", link.to_str().expect("text")] {
        let output = run([directory], "");
        assert_eq!(output.status.code(), Some(2), "{directory}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.stdout.is_empty() && stderr.contains("kernel file system"), "{directory}: {stderr}");
    }
}
