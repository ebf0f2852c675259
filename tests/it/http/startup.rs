//! Starting and ending: options, tokens, sockets, the sandbox.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use serde_json::json;

use super::requests::modern;
use super::support::{HttpServer, TOKEN, http_command, lines};
use crate::support::{TIMEOUT, Tree};

/// The error of a server that does not start.
fn refusal(at: &str, tree: &Tree, options: &[&str], token: Option<&str>) -> String {
    let mut command = http_command(at, tree, options);
    match token {
        Some(token) => command.env("MCP_FS_TOKEN", token),
        None => command.env_remove("MCP_FS_TOKEN"),
    };
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn without_a_token_it_explains_how_to_set_one() {
    let said = refusal("127.0.0.1:0", &Tree::new(), &[], None);
    assert!(["--token-file", "MCP_FS_TOKEN", "--no-token"].iter().all(|name| said.contains(name)), "{said}");
}

#[test]
fn an_empty_or_short_token_is_an_error() {
    let tree = Tree::new();
    for token in ["", "short", "has a space in it, long enough"] {
        let said = refusal("127.0.0.1:0", &tree, &[], Some(token));
        assert!(said.contains("MCP_FS_TOKEN"), "{token:?}: {said}");
    }
    let both = refusal("127.0.0.1:0", &tree, &["--no-token"], Some(TOKEN));
    assert!(both.contains("--no-token"), "{both}");
}

#[test]
fn without_a_token_only_loopback_is_served() {
    let said = refusal("0.0.0.0:0", &Tree::new(), &["--no-token"], None);
    assert!(said.contains("--token-file"), "{said}");
    let server = HttpServer::with(Tree::new(), &["--no-token"]);
    assert_eq!(server.ask(&modern(1, "tools/list", json!({})).without("Authorization")).status, 200);
}

#[test]
fn a_token_comes_from_a_file_outside() {
    let tree = Tree::new();
    let file = tree.outside().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).expect("it is written");
    let server = HttpServer::with(tree, &["--token-file", file.to_str().expect("text")]);
    assert_eq!(server.ask(&modern(1, "tools/list", json!({}))).status, 200);
}

#[test]
fn a_token_file_inside_is_refused() {
    let tree = Tree::new().file("token", TOKEN);
    let said = refusal("127.0.0.1:0", &tree, &["--token-file", tree.join("token").to_str().expect("text")], None);
    assert!(said.contains("inside DIR"), "{said}");
}

#[test]
fn wrong_addresses_and_options_are_explained() {
    let tree = Tree::new();
    for (at, options, want) in [
        ("nonsense", &[][..], "IP:PORT"),
        ("127.0.0.1:0", &["--socket-mode", "660"][..], "unix:PATH"),
        ("systemd", &[][..], "LISTEN_FDS"),
        ("192.0.2.1:1", &[][..], "cannot listen"),
    ] {
        let said = refusal(at, &tree, options, Some(TOKEN));
        assert!(said.contains(want), "{at}: {said}");
    }
}

#[test]
fn a_unix_socket_is_private_and_replaces_a_stale_one() {
    let tree = Tree::new().file("a.txt", "one\n");
    let socket = tree.outside().join("mcp.sock");
    let at = format!("unix:{}", socket.display());
    for _ in 0..2 {
        let mut child = http_command(&at, &tree, &[]).spawn().expect("it starts");
        let said = lines(&mut child);
        while !said.recv_timeout(TIMEOUT).expect("it listens").contains("listening on") {}
        let mode = std::fs::metadata(&socket).expect("a socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        let request = modern(1, "tools/list", json!({})).header("Connection", "close");
        stream.write_all(&request.bytes()).expect("it reads");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("it answers");
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        let busy = refusal(&at, &tree, &[], Some(TOKEN));
        assert!(busy.contains("in use"), "{busy}");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}

#[test]
fn a_socket_replaces_no_file_and_is_not_inside() {
    let tree = Tree::new();
    let file = tree.outside().join("precious");
    std::fs::write(&file, "kept").expect("it is written");
    let said = refusal(&format!("unix:{}", file.display()), &tree, &[], Some(TOKEN));
    assert!(said.contains("not a socket"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "kept");
    let said = refusal(&format!("unix:{}", tree.join("s").display()), &tree, &[], Some(TOKEN));
    assert!(said.contains("inside DIR"), "{said}");
}

#[test]
fn localhost_listens_on_loopback_only() {
    let tree = Tree::new();
    let mut child = http_command("localhost:0", &tree, &[]).spawn().expect("it starts");
    let said = lines(&mut child);
    let line = loop {
        let line = said.recv_timeout(TIMEOUT).expect("it listens");
        if line.contains("listening on") {
            break line;
        }
    };
    assert!(line.contains("http://127.0.0.1:") || line.contains("http://[::1]:"), "{line}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// Every thread must be behind the sandbox; those that a runtime starts early would stay free.
#[cfg(target_os = "linux")]
#[test]
fn every_thread_is_behind_the_sandbox() {
    let server = HttpServer::start(Tree::new().file("a.txt", "one\n"));
    server.ask(&modern(1, "tools/call", json!({"name": "search_text", "arguments": {"query": "one"}})));
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).expect("it runs");
    let mut threads = 0;
    for task in tasks {
        let status = std::fs::read_to_string(task.expect("a thread").path().join("status")).expect("its status");
        // Landlock requires it, and threads inherit both.
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        threads += 1;
    }
    assert!(threads >= 2, "{threads} threads");
}

#[test]
fn it_ends_within_two_seconds_with_requests_in_progress() {
    let server = HttpServer::start(super::support::wide_tree());
    let slow = json!({"name": "search_text", "arguments": {"query": "(x+x+)+y", "regex": true}});
    let mut connection = server.connect();
    connection.send(&modern("slow", "tools/call", slow));
    server.line_with("\"slow\" tools/call");
    assert!(server.end().success());
}

/// The program, started as systemd does it: `socket` is descriptor 3, and two variables say so (`sd_listen_fds(3)`).
fn activated(tree: &Tree, socket: impl Into<std::os::fd::OwnedFd>) -> std::process::Child {
    let inner = http_command("systemd", tree, &[]);
    let words: Vec<String> = std::iter::once(inner.get_program())
        .chain(inner.get_args())
        .map(|word| format!("'{}'", word.display()))
        .collect();
    let script = format!("exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec {}", words.join(" "));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env("MCP_FS_TOKEN", TOKEN).stdin(socket.into());
    shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().expect("sh")
}

#[test]
fn a_socket_from_systemd_is_served() {
    let tree = Tree::new().file("a.txt", "one\n");
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("an address");
    let mut child = activated(&tree, socket);
    let said = lines(&mut child);
    while !said.recv_timeout(TIMEOUT).expect("it listens").contains(&address.to_string()) {}
    let mut connection = super::support::Connection::open(address);
    connection.send(&modern(1, "tools/list", json!({})));
    assert_eq!(connection.reply().status, 200);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// It once logged an error 20 times a second, and its client waited forever.
#[test]
fn a_connection_from_systemd_is_refused_at_start() {
    let tree = Tree::new();
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let client = std::net::TcpStream::connect(socket.local_addr().expect("an address")).expect("it listens");
    let (tcp, _) = socket.accept().expect("a client");
    let (unix, _other) = UnixStream::pair().expect("sockets");
    for socket in [std::os::fd::OwnedFd::from(tcp), unix.into()] {
        let output = activated(&tree, socket).wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("Accept=no"), "{}: {said}", output.status);
    }
    drop(client);
}
