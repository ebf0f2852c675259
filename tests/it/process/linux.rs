//! What a test can see of a process on Linux: its descriptors, and flags that it shares with its parent. Also streams
//! that belong to another user.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::json;

use super::users::{skip, unprivileged};
use super::{judge, output, pings, silent};
use crate::live::listen;
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, command};

#[test]
fn the_number_of_open_descriptors_stays_the_same() {
    let tree = (0..20).fold(Tree::new(), |tree, n| tree.file(format!("d{n}/a.txt"), "x".repeat(1_000 * n * n)));
    // A watcher of the list opens a directory at arbitrary times; that has its own tests.
    let options = ["--watch=off".as_ref(), tree.path()];
    let mut process = Process::spawn(options).legacy(LATEST_LEGACY);
    let mut work = |rounds: usize| {
        for n in 0..rounds * 20 {
            let path = format!("d{}/a.txt", n % 20);
            process.result("resources/read", json!({"uri": tree.uri(&path)}));
            process.tool_text("read_text_file", json!({"path": path}));
            process.tool_error("read_text_file", json!({"path": format!("d{}/none", n % 20)}));
            process.tool_text("list_directory", json!({"path": format!("d{}", n % 20)}));
        }
        process.tool_text("directory_tree", json!({}));
        process.result("resources/list", json!({}));
        process.descriptors()
    };
    let before = work(1);
    assert_eq!(work(20), before);
}

/// An allocator keeps freed memory in several heaps, one for every few threads; with these reads that was 60 MB.
#[test]
fn the_memory_of_large_answers_is_returned_to_the_system() {
    let tree = Tree::new().file("large.bin", vec![0; 3_750_000]);
    let mut process = Process::start_unread(command([tree.path()])).legacy(LATEST_LEGACY);
    let reads: Vec<_> = (0..60).map(|_| process.ask("resources/read", json!({"uri": tree.uri("large.bin")}))).collect();
    for id in reads {
        assert_eq!(process.answer(id)["result"]["contents"][0]["blob"].as_str().map(str::len), Some(5_000_000));
    }
    let peak = process.peak_memory();
    assert!(peak < 96 << 10, "at most 64 MiB of answers took {peak} KiB");
}

/// A file is in memory several times while it is edited, and would then stay in a heap for every few threads: 250 MB
/// here.
#[test]
fn large_files_are_edited_one_at_a_time() {
    let text = "line\n".repeat(800_000);
    let names: Vec<String> = (0..16).map(|number| format!("{number}.txt")).collect();
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file(name, format!("first\n{text}")));
    let options = ["--allow-write", "--no-fsync"].map(std::ffi::OsStr::new);
    let mut process = Process::spawn(options.into_iter().chain([tree.path().as_os_str()])).legacy(LATEST_LEGACY);
    let edits = json!([{"oldText": "first", "newText": "1st"}]);
    let edits = names.iter().map(|name| json!({"name": "edit_file", "arguments": {"path": name, "edits": edits}}));
    let edits: Vec<_> = edits.map(|edit| process.ask("tools/call", edit)).collect();
    for id in edits {
        assert_eq!(process.answer(id)["result"].get("isError"), None);
    }
    let peak = process.peak_memory();
    assert!(peak < 80 << 10, "edits of 4 MB took {peak} KiB");
}

/// `O_NONBLOCK` belongs to the open file description. A parent, a shell or `cat` on the same terminal shares it, and
/// would find its reads and writes failing.
#[test]
fn shared_streams_stay_blocking() {
    let tree = Tree::new().file("a.txt", "x".repeat(100_000));
    let (stdin_pipe, stdout_pipe) = (std::io::pipe().expect("a pipe"), std::io::pipe().expect("a pipe"));
    let (stdin_socket, stdout_socket) = (UnixStream::pair().expect("sockets"), UnixStream::pair().expect("sockets"));
    let ends: [(&str, OwnedFd, OwnedFd, OwnedFd, OwnedFd); 2] = [
        ("pipes", stdin_pipe.0.into(), stdin_pipe.1.into(), stdout_pipe.0.into(), stdout_pipe.1.into()),
        ("sockets", stdin_socket.0.into(), stdin_socket.1.into(), stdout_socket.0.into(), stdout_socket.1.into()),
    ];
    for (kind, stdin, our_stdin, our_stdout, stdout) in ends {
        // The same open file descriptions as the program's.
        let shared = [&stdin, &stdout].map(|end| end.try_clone().expect("a descriptor"));
        let mut command = silent(&tree);
        command.stdin(stdin).stdout(stdout);
        let child = command.spawn().expect("mcp-fs starts");
        drop(command);
        let blocking = |when: &str| {
            for (name, end) in [("stdin", &shared[0]), ("stdout", &shared[1])] {
                let flags = fcntl_getfl(end.as_fd()).expect("flags");
                assert!(!flags.contains(OFlags::NONBLOCK), "{kind}: {name} does not block {when}");
            }
        };
        let input = super::reads(&tree, "a.txt", 1);
        rustix::io::write(&our_stdin, input.as_bytes()).expect("it takes a line");
        let mut begun = [0; 1];
        rustix::io::read(&our_stdout, &mut begun).expect("an answer begins");
        blocking("while it runs");
        drop(our_stdin);
        let reader = std::thread::spawn(move || super::read_all(fs::File::from(our_stdout)));
        assert!(output(child).status.success());
        blocking("after it has ended");
        drop(shared);
        let answer = [&begun[..], &reader.join().expect("its output")].concat();
        assert_eq!(judge(&input, &answer).len(), 1);
    }
}

/// As after `sudo -u nobody mcp-fs DIR`: the pipe exists but cannot be reopened.
#[test]
fn pipes_of_another_user_work() {
    let tree = Tree::new();
    if crate::support::permissions_bind() {
        return skip("another user's pipe: these tests do not run as root");
    }
    let Some(mut command) = unprivileged(&tree, [tree.path()]) else { return };
    let input = pings(2_000);
    let (stdin, mut our_stdin) = std::io::pipe().expect("a pipe");
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("setpriv starts");
    drop(command);
    let sent = input.clone();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut our_stdin, sent.as_bytes()));
    let output = output(child);
    writer.join().expect("no panic").expect("it reads");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(judge(&input, &output.stdout).len(), 2_001);
}

/// Kernels before 5.6, gVisor, and containers whose seccomp filter does not know it have no openat2.
#[test]
fn without_openat2_the_same_is_served() {
    let strace = |program: &std::ffi::OsStr| {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o", "/dev/null", "-e", "trace=openat2", "-e", "inject=openat2:error=ENOSYS"]).arg(program);
        strace.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("MCP_FS_LOG");
        strace
    };
    if !strace("true".as_ref()).output().is_ok_and(|output| output.status.success()) {
        return skip("a kernel without openat2: strace is not installed, or may not trace here");
    }
    let tree = Tree::new().file("a.txt", "one\n").file("sub/deep/b.txt", "two\n").link("out", "../secret");
    let tree = tree.link("in", "sub/deep").link("up", "..");
    let plain = Process::spawn([tree.path()]);
    let mut traced = strace(env!("CARGO_BIN_EXE_mcp-fs").as_ref());
    traced.arg(tree.path());
    let mut heard = [plain, Process::start(traced)].map(|process| {
        let mut process = process.legacy(LATEST_LEGACY);
        let mut heard = vec![process.result("resources/list", json!({}))];
        for (tool, path) in [
            ("list_directory", ""),
            ("list_directory", "sub"),
            ("list_directory", "in"),
            ("directory_tree", ""),
            ("read_text_file", "a.txt"),
            ("read_text_file", "sub/deep/b.txt"),
            ("read_text_file", "in/b.txt"),
            ("read_text_file", "out"),
            ("read_text_file", "up/secret"),
            ("read_text_file", "../secret"),
            ("read_text_file", "sub/../../secret"),
            ("list_directory", "up"),
        ] {
            heard.push(process.tool(tool, json!({"path": path})));
        }
        assert_eq!(process.finish(), "");
        heard
    });
    let without = std::mem::take(&mut heard[1]);
    for (with, without) in heard[0].iter().zip(without) {
        assert_eq!(*with, without);
    }
}

/// Each id was kept as long as its stream, and again in the pending notifications.
#[test]
fn long_ids_are_not_kept() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut process = Process::spawn([tree.path()]);
    for n in 0..8 {
        let id = json!(format!("{n} {}", "x".repeat(16 << 20)));
        process.send(listen(&id, json!({"resourceSubscriptions": [tree.uri("a.txt")]})));
        let answer = process.recv();
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32600), None), "{answer}");
    }
    let peak = process.peak_memory() >> 10;
    assert!(peak < 100, "{peak} MiB");
}
