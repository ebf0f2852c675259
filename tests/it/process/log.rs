//! The log on stderr: what it shows, and that it never interferes.

use std::process::Stdio;

use serde_json::json;

use super::{judge, output, pings, silent};
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree, command, run};

#[test]
fn nothing_is_logged_unless_something_goes_wrong() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
    process.tool_text("read_text_file", json!({"path": "a.txt"}));
    process.tool_error("read_text_file", json!({"path": "b.txt"}));
    process.error("no/such/method", json!({}));
    assert_eq!(process.finish(), "");
}

#[test]
fn trace_shows_every_message() {
    let tree = Tree::new();
    let by_option = Process::spawn(["--log-level".as_ref(), "trace".as_ref(), tree.path().as_os_str()]);
    let mut by_variable = command([tree.path()]);
    by_variable.env("MCP_FS_LOG", "trace");
    for mut process in [by_option, Process::start(by_variable)] {
        process.send_line(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
        process.answer(json!("a"));
        process.send_line(r#"{"jsonrpc":"2.0","id":"b","method":"ping"}"#);
        process.answer(json!("b"));
        let log = process.finish();
        let lines: Vec<&str> = log.lines().collect();
        let shown = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
        for id in ["a", "b"] {
            assert_eq!(shown(&format!(r#"-> {{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#)), 1, "{log}");
            assert_eq!(shown(&format!(r#"<- {{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#)), 1, "{log}");
        }
        assert_eq!(shown("-> {") + shown("<- {"), 4, "{log}");
    }
}

/// Answers are assembled from parts and escaped late; the log shows them as they are sent.
#[test]
fn trace_shows_batches_whole_and_long_texts_cut() {
    let tree = Tree::new().file("a.txt", "line \"1\"\n".repeat(2_000));
    let mut process = Process::spawn(["--log-level=trace".as_ref(), tree.path().as_os_str()]).legacy("2025-03-26");
    process.send_line(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#);
    process.recv();
    process.tool("read_text_file", json!({"path": "a.txt"}));
    let log = process.finish();
    let batch = r#"<- [{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]"#;
    assert!(log.contains(batch), "{log}");
    assert!(log.contains(r#""text":"line \"1\"\nline"#) && log.contains(" more bytes)"), "{log}");
}

#[test]
fn client_input_in_the_log_cannot_control_the_terminal() {
    let tree = Tree::new();
    let mut process = Process::spawn(["--log-level=trace".as_ref(), tree.path().as_os_str()]);
    // Inside a string, where JSON requires escapes; as one byte; and as a direction change.
    for hostile in ["\u{1b}[2J", "\u{9b}2J", "\u{202e}abc", "\u{7}", "\r"] {
        process.send_line(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x{hostile}y"}}"#));
        process.recv();
    }
    let log = process.finish();
    let hostile: Vec<char> = log.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').collect();
    assert!(hostile.is_empty(), "{hostile:?} in {log:?}");
    // Shown, in one of the two ways of escaping it.
    for escaped in [[r"\u{1b}", r"\x1b"], [r"\u{9b}", r"\x9b"], [r"\u{202e}", r"\u202e"], [r"\u{7}", r"\x07"]] {
        assert!(escaped.iter().any(|escaped| log.contains(escaped)), "{escaped:?} are not in {log}");
    }
}

/// A pipe holds 64 KiB; this log is many times that size.
#[test]
fn an_unread_stderr_does_not_block_the_server() {
    let tree = Tree::new();
    let input = pings(5_000);
    std::fs::write(tree.outside().join("input"), &input).expect("a file");
    let mut command = silent(&tree);
    command.env("MCP_FS_LOG", "trace").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(std::fs::File::open(tree.outside().join("input")).expect("a file"));
    let mut child = command.spawn().expect("mcp-fs starts");
    let stderr = child.stderr.take().expect("piped");
    let output = output(child);
    drop(stderr);
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(judge(&input, &output.stdout).len(), 5_001);
}

#[test]
fn a_closed_stderr_does_not_block_the_server() {
    let tree = Tree::new();
    let input = pings(1_000);
    std::fs::write(tree.outside().join("input"), &input).expect("a file");
    let mut command = silent(&tree);
    command.env("MCP_FS_LOG", "trace").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(std::fs::File::open(tree.outside().join("input")).expect("a file"));
    let mut child = command.spawn().expect("mcp-fs starts");
    drop(child.stderr.take());
    let output = output(child);
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(judge(&input, &output.stdout).len(), 1_001);
}

/// `2>&1`: a log line in the middle of a message would corrupt it.
#[cfg(unix)]
#[test]
fn there_is_no_log_if_stderr_and_stdout_are_the_same() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let tree = Tree::new();
    let input = pings(300) + "not JSON\n";
    std::fs::write(tree.outside().join("input"), &input).expect("a file");
    let (pipe, write_pipe) = std::io::pipe().expect("a pipe");
    let (socket, write_socket) = UnixStream::pair().expect("sockets");
    let file = std::fs::File::create(tree.outside().join("output")).expect("a file");
    let ends: [(OwnedFd, Option<OwnedFd>); 3] =
        [(write_pipe.into(), Some(pipe.into())), (write_socket.into(), Some(socket.into())), (file.into(), None)];
    for (theirs, ours) in ends {
        let mut command = silent(&tree);
        command.env("MCP_FS_LOG", "trace").stdin(std::fs::File::open(tree.outside().join("input")).expect("a file"));
        command.stderr(theirs.try_clone().expect("a descriptor")).stdout(theirs);
        let child = command.spawn().expect("mcp-fs starts");
        drop(command);
        let written = ours.map(|ours| super::read_all(std::fs::File::from(ours)));
        assert!(output(child).status.success());
        let written = written.unwrap_or_else(|| std::fs::read(tree.outside().join("output")).expect("a file"));
        assert_eq!(judge(&input, &written).len(), 302);
    }
}

#[test]
fn the_option_wins_over_the_variable() {
    let tree = Tree::new();
    let mut silenced = command(["--log-level=off".as_ref(), tree.path().as_os_str()]);
    silenced.env("MCP_FS_LOG", "trace");
    let mut process = Process::start(silenced);
    process.request("ping", json!({}));
    assert_eq!(process.finish(), "");
    let output = run(["--log-level=off".as_ref(), tree.path().as_os_str()], "not JSON\n");
    assert!(output.stderr.is_empty());
}
