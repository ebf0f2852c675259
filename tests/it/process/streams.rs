//! stdin and stdout as pipes, sockets, files and nothing at all.

use std::fs::{self, File};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{judge, output, pings, reads, silent};
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, run};

fn converse(mut process: Process, tree: &Tree, big: &str) {
    process.result("resources/list", json!({}));
    for _ in 0..3 {
        let contents = process.result("resources/read", json!({"uri": tree.uri("big.txt")}))["contents"].take();
        assert_eq!(contents[0]["text"], big);
        let answer = process.modern("resources/read", json!({"uri": tree.uri("small.txt")}));
        assert_eq!(answer["result"]["contents"][0]["text"], "one\n");
    }
    assert!(process.tool_error("read_text_file", json!({"path": "../secret"})).contains("outside"));
    assert_eq!(process.finish(), "");
}

#[test]
fn a_conversation_goes_over_pipes() {
    let big = "0123456789abcde\n".repeat(16_000);
    let tree = Tree::new().file("small.txt", "one\n").file("big.txt", &big);
    converse(Process::spawn([tree.path()]).legacy(LATEST_LEGACY), &tree, &big);
}

#[cfg(unix)]
#[test]
fn a_conversation_goes_over_sockets() {
    let big = "0123456789abcde\n".repeat(16_000);
    let tree = Tree::new().file("small.txt", "one\n").file("big.txt", &big);
    converse(Process::spawn_on_sockets([tree.path()]).legacy(LATEST_LEGACY), &tree, &big);
}

/// As inetd, socat and some process managers pass it.
#[cfg(unix)]
#[test]
fn stdin_and_stdout_may_be_the_same_socket() {
    use std::io::Write as _;
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let tree = Tree::new();
    let (mut ours, theirs) = UnixStream::pair().expect("sockets");
    let mut command = silent(&tree);
    command.stdin(OwnedFd::from(theirs.try_clone().expect("a descriptor"))).stdout(OwnedFd::from(theirs));
    let child = command.spawn().expect("mcp-fs starts");
    drop(command);
    let input = pings(100);
    ours.write_all(input.as_bytes()).expect("the socket takes it");
    ours.shutdown(Shutdown::Write).expect("the end of the input");
    let answers = super::read_all(ours);
    assert_eq!(judge(&input, &answers).len(), 101);
    assert!(output(child).status.success());
}

#[test]
fn stdin_may_be_a_file() {
    let tree = Tree::new();
    let input = pings(500);
    fs::write(tree.outside().join("input"), &input).expect("a file");
    let mut command = silent(&tree);
    command.stdin(File::open(tree.outside().join("input")).expect("a file")).stdout(Stdio::piped());
    let output = output(command.spawn().expect("mcp-fs starts"));
    assert!(output.status.success());
    assert_eq!(judge(&input, &output.stdout).len(), 501);
}

#[test]
fn stdout_may_be_a_file() {
    let tree = Tree::new().file("a.txt", "x".repeat(100_000));
    let input = pings(500) + &reads(&tree, "a.txt", 20).replace(r#""id":"#, r#""id":1000"#);
    fs::write(tree.outside().join("input"), &input).expect("a file");
    let mut command = silent(&tree);
    command.stdin(File::open(tree.outside().join("input")).expect("a file"));
    command.stdout(File::create(tree.outside().join("output")).expect("a file"));
    assert!(output(command.spawn().expect("mcp-fs starts")).status.success());
    let written = fs::read(tree.outside().join("output")).expect("a file");
    assert_eq!(judge(&input, &written).len(), 521);
}

#[test]
fn an_empty_input_ends_it_without_an_error() {
    let tree = Tree::new();
    let mut command = silent(&tree);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = output(command.spawn().expect("mcp-fs starts"));
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

/// Shells can close streams: `mcp-fs DIR <&-`.
#[cfg(unix)]
#[test]
fn closed_streams_end_it_without_an_error() {
    let tree = Tree::new();
    for closed in ["<&-", ">&- </dev/null", "2>&- </dev/null", "<&- >&- 2>&-"] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!(r#"exec "$0" "$1" {closed}"#), env!("CARGO_BIN_EXE_mcp-fs")]).arg(tree.path());
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = output(shell.spawn().expect("sh starts"));
        assert!(output.status.success() && output.stdout.is_empty(), "{closed}: {output:?}");
    }
}

/// `printf ... | mcp-fs DIR`
#[test]
fn all_answers_of_thousands_of_requests_at_once_are_printed() {
    let tree = Tree::new().file("a.txt", "one\n");
    let input = reads(&tree, "a.txt", 5_000);
    let output = run([tree.path()], &input);
    assert!(output.status.success());
    let answers = judge(&input, &output.stdout);
    assert_eq!(answers.len(), 5_000);
    assert!(answers.iter().all(|answer| answer["result"]["contents"][0]["text"] == "one\n"));
}

#[test]
fn all_answers_of_slower_requests_are_printed_too() {
    let tree = (0..50).fold(Tree::new(), |tree, n| tree.file(format!("{n}/a.txt"), "needle\n"));
    let call = |id: usize| {
        let params = json!({"name": "list_directory", "arguments": {"path": format!("{}", id % 50)}});
        let params = crate::support::client::with_meta(params);
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string() + "\n"
    };
    let input: String = (0..2_000).map(call).collect();
    let output = run([tree.path()], &input);
    assert!(output.status.success());
    let answers = judge(&input, &output.stdout);
    assert!(answers.iter().all(|answer| answer["result"]["isError"] != Value::Bool(true)), "{answers:?}");
    assert_eq!(answers.len(), 2_000);
}
