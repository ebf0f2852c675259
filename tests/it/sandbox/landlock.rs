//! The second wall from the inside: what a confined thread can still do, and what the server does behind it.
//! `second_wall` shows it from the outside.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use mcp_fs::root::{Deny, Root, Sandbox, SandboxStatus};
use mcp_fs::runtime::cancel::Cancel;
use serde_json::json;

use super::fallback::{ENOSYS, EPERM, without};
use super::skipped;
use super::walls::{Walls, has_landlock};
use crate::live::Live;
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, command, run};

/// The numbers of Landlock's system calls, and of openat2, on all machines.
const LANDLOCK: [u32; 3] = [444, 445, 446];
const OPENAT2: u32 = 437;

/// Runs `work` in a confined thread; the others stay unconfined. Without Landlock it is skipped, with a notice.
fn locked_in(tree: &Tree, writable: bool, work: impl FnOnce(&Root) + Send) {
    if !has_landlock() {
        return;
    }
    let mut root = Root::open(tree.path(), Deny::new(&[], true).expect("patterns")).expect("a root");
    thread::scope(|scope| {
        scope.spawn(move || {
            root.enter_sandbox(Sandbox::Require, writable).expect("Landlock");
            work(&root);
        });
    });
}

/// Whether the kernel refused, rather than finding nothing.
fn refused<T>(done: Result<T, Error>) -> bool {
    done.is_err_and(|error| matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::CrossesDevices))
}

#[test]
fn a_confined_thread_cannot_open_anything_outside() {
    let tree = Tree::new().file("inside.txt", "inside\n").link("out", "../secret");
    let secret = tree.outside().join("secret");
    assert!(File::open(&secret).is_ok(), "it is there");
    locked_in(&tree, false, |_| {
        for path in [&secret, &tree.join("out"), &tree.join("../secret")] {
            assert!(refused(File::open(path)), "{path:?}");
        }
        for path in ["/", "/etc", "/etc/passwd", "/proc/self/environ", "/proc/self/mem", "/dev/null", "/dev/tty"] {
            assert!(refused(OpenOptions::new().read(true).open(path)), "{path}");
        }
        assert!(refused(fs::read_dir(tree.outside())));
        assert_eq!(fs::read_to_string(tree.join("inside.txt")).expect("it is inside"), "inside\n");
    });
    assert!(File::open(&secret).is_ok(), "other threads are not locked in");
}

#[test]
fn threads_started_by_a_confined_thread_are_confined() {
    let tree = Tree::new();
    let secret = tree.outside().join("secret");
    locked_in(&tree, false, |_| {
        let opened = thread::scope(|scope| scope.spawn(|| File::open(&secret)).join().expect("no panic"));
        assert!(refused(opened));
    });
}

/// Everything that would change something at `path`.
fn changes(path: &Path) -> Vec<(&'static str, Result<(), Error>)> {
    let new = path.with_file_name("new");
    vec![
        ("write", OpenOptions::new().append(true).open(path).map(drop)),
        ("truncate", OpenOptions::new().write(true).truncate(true).open(path).map(drop)),
        ("create", File::create_new(&new).map(drop)),
        ("make a directory", fs::create_dir(&new)),
        ("link", std::os::unix::fs::symlink("x", &new)),
        ("hard link", fs::hard_link(path, &new)),
        ("rename", fs::rename(path, &new)),
        ("remove", fs::remove_file(path)),
    ]
}

#[test]
fn a_thread_confined_to_reading_cannot_change_anything() {
    let tree = Tree::new().file("inside.txt", "inside\n");
    locked_in(&tree, false, |_| {
        for path in [tree.join("inside.txt"), tree.outside().join("secret")] {
            for (what, done) in changes(&path) {
                assert!(refused(done), "{what} {}", path.display());
            }
        }
    });
}

#[test]
fn a_thread_confined_to_writing_cannot_change_anything_outside() {
    let tree = Tree::new().file("inside.txt", "inside\n").dir("d");
    let secret = tree.outside().join("secret");
    locked_in(&tree, true, |_| {
        for (what, done) in changes(&secret) {
            assert!(refused(done), "{what}");
        }
        assert!(refused(fs::rename(tree.join("inside.txt"), tree.outside().join("stolen"))));
        assert!(refused(fs::rename(&secret, tree.join("stolen"))));
        assert!(refused(fs::hard_link(&secret, tree.join("stolen"))));
        fs::rename(tree.join("inside.txt"), tree.join("d/moved.txt")).expect("inside, from one directory to another");
        fs::write(tree.join("d/moved.txt"), "written").expect("it is inside");
    });
}

#[test]
fn a_confined_thread_has_no_tcp() {
    let tree = Tree::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    locked_in(&tree, true, |root| {
        let SandboxStatus::Landlock { abi, .. } = root.sandbox() else { unreachable!("it was required") };
        if *abi < 4 {
            return skipped("no TCP behind the wall", "Linux before 6.7");
        }
        assert!(refused(TcpStream::connect(address)));
        assert!(refused(TcpListener::bind("127.0.0.1:0")));
    });
}

#[test]
fn a_confined_thread_cannot_connect_to_abstract_sockets() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    let tree = Tree::new();
    let address = SocketAddr::from_abstract_name(tree.path().as_os_str().as_encoded_bytes()).expect("a name");
    let _listener = UnixListener::bind_addr(&address).expect("a socket");
    assert!(UnixStream::connect_addr(&address).is_ok(), "it is there");
    locked_in(&tree, true, |root| {
        let SandboxStatus::Landlock { abi, .. } = root.sandbox() else { unreachable!("it was required") };
        if *abi < 6 {
            return skipped("no abstract sockets from behind the wall", "Linux before 6.12");
        }
        assert!(refused(UnixStream::connect_addr(&address)));
    });
}

#[test]
fn a_sandboxed_thread_cannot_signal_other_processes() {
    let tree = Tree::new();
    let mut other = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
    let pid = rustix::process::Pid::from_child(&other);
    locked_in(&tree, true, |root| {
        let SandboxStatus::Landlock { abi, .. } = root.sandbox() else { unreachable!("it was required") };
        if *abi < 6 {
            return skipped("no signals from behind the wall", "Linux before 6.12");
        }
        assert_eq!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::PERM));
    });
    drop(other.stdin.take());
    other.wait().expect("cat ends");
}

#[test]
fn the_root_works_inside_a_confined_process() {
    let tree = Tree::new().file("inside.txt", "inside\n").file("d/leaf.txt", "leaf\n");
    locked_in(&tree, false, |root| {
        let file =
            root.open_file(&root.locate("d/../inside.txt").expect("a path"), &Cancel::default()).expect("a file");
        let mut bytes = [0; 7];
        assert_eq!(file.read_at(&mut bytes, 0, &Cancel::default()), Ok(7));
        assert_eq!(&bytes, b"inside\n");
        let listed = root.open_directory(&root.locate("d").expect("a path"), &Cancel::default()).expect("a directory");
        assert_eq!(listed.list(&Cancel::default()).expect("entries").len(), 1);
    });
}

/// Threads, large files, walks, searches: all of it starts after the confinement.
#[test]
fn reads_walks_and_searches_work_behind_the_wall() {
    let tree =
        Tree::new().file("a.txt", "one\n").file("big.txt", "line\n".repeat(100_000)).file("d/deep/b.txt", "two\n");
    let Some(mut process) = Walls::Both.start(&tree, &[]) else { return };
    for (tool, arguments, expected) in [
        ("read_text_file", json!({"path": "a.txt"}), "one\n"),
        ("read_text_file", json!({"path": "big.txt", "tail": 1}), "line\n"),
        ("list_directory", json!({"path": "d"}), "[DIR] deep"),
        ("search_files", json!({"pattern": "b.txt"}), "d/deep/b.txt"),
        ("search_text", json!({"query": "two"}), "d/deep/b.txt:1: two"),
    ] {
        assert_eq!(process.tool_text(tool, arguments), expected, "{tool}");
    }
    let listed = process.result("resources/list", json!({}));
    assert_eq!(listed["resources"].as_array().expect("resources").len(), 3);
}

#[test]
fn changes_are_detected_behind_the_wall() {
    let tree = Tree::new().file("d/a.txt", "one\n");
    let Some(command) = Walls::Both.command(&tree, &[]) else { return };
    let mut live = Live::new(Process::start(command), tree);
    live.listen_to("s", "d/a.txt");
    fs::write(live.tree.join("d/a.txt"), "two\n").expect("a file");
    assert_eq!(live.all_news(1), ["\"s\" updated d/a.txt"]);
}

#[test]
fn every_permitted_change_works_behind_the_wall() {
    let tree = Tree::new().file("a.txt", "one\n").file("t/b.txt", "two\n").fifo("t/pipe").link("t/link", "b.txt");
    let tree = tree.socket("t/sock").dir("d");
    let Some(mut process) = Walls::Both.start(&tree, &["--allow-write"]) else { return };
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "new\n"})),
        ("write_file", json!({"path": "a.txt", "content": "more\n", "append": true})),
        ("write_file", json!({"path": "x/y/z.txt", "content": "new\n", "createParents": true})),
        ("edit_file", json!({"path": "a.txt", "edits": [{"oldText": "new", "newText": "edited"}]})),
        ("create_directory", json!({"path": "e/f"})),
        ("move_file", json!({"source": "a.txt", "destination": "d/a.txt"})),
        ("move_file", json!({"source": "t", "destination": "d/t"})),
        ("move_file", json!({"source": "d/t/pipe", "destination": "e/pipe"})),
        ("move_file", json!({"source": "d/t/sock", "destination": "e/sock"})),
        ("move_file", json!({"source": "d/t/link", "destination": "e/link"})),
        ("copy_file", json!({"source": "d/t", "destination": "e/t"})),
        ("delete_file", json!({"path": "d/t", "recursive": true})),
    ] {
        process.tool_text(tool, arguments);
    }
    assert_eq!(fs::read_to_string(tree.join("d/a.txt")).expect("moved"), "edited\nmore\n");
    assert_eq!(fs::read_to_string(tree.join("e/t/b.txt")).expect("copied"), "two\n");
    assert!(!tree.join("d/t").exists());
}

#[test]
fn confinement_is_shown_at_startup_by_check_and_by_a_tool() {
    let tree = Tree::new();
    for (option, says) in
        [("--sandbox=require", "Landlock ABI "), ("--sandbox=off", "none: switched off (--sandbox off)")]
    {
        if option == "--sandbox=require" && !has_landlock() {
            continue;
        }
        let options = [option.as_ref(), tree.path().as_os_str()];
        let check = command([option.as_ref(), "--check".as_ref(), tree.path().as_os_str()]).output().expect("it runs");
        let check = String::from_utf8(check.stdout).expect("text");
        assert!(check.lines().any(|line| line.starts_with("kernel wall") && line.contains(says)), "{check}");
        let mut process = Process::spawn(options).legacy(LATEST_LEGACY);
        let tool = process.tool("list_allowed_directories", json!({})).to_string();
        assert!(tool.contains(says), "{tool}");
        drop(process);
        let said = command(options).stdin(std::process::Stdio::null()).output().expect("it runs");
        let said = String::from_utf8(said.stderr).expect("text");
        assert!(said.starts_with("mcp-fs: serving ") && said.lines().count() == 1 && said.contains(says), "{said}");
    }
}

#[test]
fn the_startup_notice_is_one_line_whatever_the_directory_is_called() {
    let tree = Tree::new().renamed("new\nline \u{1b}[2J \u{202e}turned");
    let said = command([tree.path()]).stdin(std::process::Stdio::null()).output().expect("it runs").stderr;
    let said = String::from_utf8(said).expect("text");
    let hostile = said.trim_end_matches('\n').chars().any(|c| c.is_control() || c == '\u{202e}');
    assert!(said.starts_with("mcp-fs: serving ") && !hostile, "{said:?}");
}

#[test]
fn there_is_no_startup_notice_if_the_log_is_off() {
    let tree = Tree::new();
    let mut quiet = command(["--log-level=off".as_ref(), tree.path().as_os_str()]);
    assert!(quiet.stdin(std::process::Stdio::null()).output().expect("it runs").stderr.is_empty());
}

/// Some container runtimes refuse system calls that they do not know, each in its own way.
#[test]
fn without_landlock_it_says_so_and_serves_unless_landlock_is_required() {
    let tree = Tree::new().file("a.txt", "one\n");
    for error in [ENOSYS, EPERM] {
        let calls = [&[OPENAT2], &LANDLOCK[..]].concat();
        let refused = |options: &[&str]| {
            let mut server = command(options);
            server.arg(tree.path());
            without(&calls, error, &server)
        };
        let Some(auto) = refused(&[]) else { return };
        let mut process = Process::start(auto).legacy(LATEST_LEGACY);
        assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
        let facts = process.tool("list_allowed_directories", json!({})).to_string();
        assert!(facts.contains("the process by none: Landlock is "), "{facts}");
        let output = refused(&["--sandbox=require"]).expect("as before").output().expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--sandbox require") && stderr.contains("Landlock") && stderr.lines().count() == 1);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_unknown_sandbox_mode_is_rejected() {
    let output = run(["--sandbox=maybe", "."], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("auto, require, off"), "{output:?}");
}
