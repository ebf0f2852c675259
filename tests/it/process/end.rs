//! How it ends: when its input ends, by a signal, or because nobody reads any more. `cargo bench --bench soak --
//! --ends` measures how long that takes.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{output, pings, reads, silent};
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree};

#[test]
fn the_end_of_its_input_ends_an_idle_process() {
    let tree = Tree::new();
    let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
    process.result("tools/list", json!({}));
    assert_eq!(process.finish(), "");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it() {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt as _;

    let tree = Tree::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
        process.result("tools/list", json!({}));
        process.signal(signal);
        let exit = process.wait();
        // Either the way a shell reports a signal, or the signal itself.
        let number = signal.as_raw();
        let by_signal = exit.status.signal() == Some(number) || exit.status.code() == Some(128 + number);
        assert!(by_signal && exit.stderr.is_empty() && exit.rest.is_empty(), "{signal:?}: {exit:?}");
    }
}

/// The client is stuck, and then its supervisor ends everything.
#[cfg(unix)]
#[test]
fn a_signal_ends_it_even_if_its_output_is_not_read() {
    let tree = Tree::new().file("big.txt", "x".repeat(250_000));
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut command = silent(&tree);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("mcp-fs starts");
        let mut stdin = child.stdin.take().expect("piped");
        let stdout = child.stdout.take().expect("piped");
        // It has read one line once the other, which does not fit into the pipe, is accepted.
        stdin.write_all(reads(&tree, "big.txt", 150).as_bytes()).expect("it reads");
        stdin.write_all(reads(&tree, "big.txt", 150).as_bytes()).expect("it reads");
        let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let status = output(child).status;
        assert!(!status.success(), "{signal}: {status}");
        drop((stdin, stdout));
    }
}

/// stdin stays open: only the failing write reveals it.
#[test]
fn a_client_that_closes_our_output_ends_it_quietly() {
    let tree = Tree::new();
    let mut command = silent(&tree);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mcp-fs starts");
    let mut stdin = child.stdin.take().expect("piped");
    drop(child.stdout.take());
    stdin.write_all(pings(3).as_bytes()).expect("it reads");
    let output = output(child);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    drop(stdin);
}

#[cfg(unix)]
#[test]
fn a_client_that_closes_our_socket_ends_it_quietly() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let tree = Tree::new();
    let [mut stdin, stdout] = [(); 2].map(|()| UnixStream::pair().expect("sockets"));
    let mut command = silent(&tree);
    command.stdin(OwnedFd::from(stdin.1)).stdout(OwnedFd::from(stdout.1)).stderr(Stdio::piped());
    let child = command.spawn().expect("mcp-fs starts");
    drop((command, stdout.0));
    stdin.0.write_all(pings(3).as_bytes()).expect("it reads");
    let output = output(child);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// As when the client dies: everything is closed in the middle of a large answer.
#[test]
fn a_client_that_dies_in_the_middle_of_an_answer_ends_it_quietly() {
    let tree = Tree::new().file("big.txt", "x".repeat(250_000));
    let mut command = silent(&tree);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mcp-fs starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(reads(&tree, "big.txt", 50).as_bytes()).expect("it reads");
    let mut begun = [0; 10];
    std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut begun).expect("an answer begins");
    drop((stdin, child.stdout.take()));
    let output = output(child);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
