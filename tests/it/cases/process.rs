//! H: the process and the wire: faults that ended, blocked or confused a session.

use std::process::Stdio;

use serde_json::json;

use crate::process::output;
use crate::support::{Client as _, LATEST_LEGACY, LEGACY, Process, Tree, command, names_of, run};

/// servers #4206, rust-sdk #825: the session was blocked, or ended.
#[test]
fn h1_one_bad_line_does_not_end_the_session() {
    let tree = Tree::new();
    for bad in ["{bad", "", "null", "42", "\"text\"", "{}", "{\"jsonrpc\":\"2.0\"", "\u{0}", "}{"] {
        let mut process = Process::spawn([tree.path()]);
        process.send_line(bad);
        if !bad.is_empty() {
            let error = process.recv();
            let code = if matches!(bad, "null" | "42" | "\"text\"" | "{}") { -32600 } else { -32700 };
            assert_eq!(error["error"]["code"], code, "{bad:?}: {error}");
            assert!(error.get("id").is_none(), "{bad:?}: {error}");
        }
        let pong = process.request("ping", json!({}));
        assert_eq!(pong["result"], json!({}), "after {bad:?}");
    }
}

/// Up to 2025-06-18 an unreadable id is null, as in JSON-RPC 2.0; in later revisions it is absent.
#[test]
fn h1_the_error_for_a_bad_line_follows_the_revision() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut process = Process::spawn([tree.path()]).legacy(revision);
        process.send_line("{bad");
        let error = process.recv();
        assert_eq!(error["error"]["code"], -32700, "{revision}");
        assert_eq!(error.get("id").is_some(), revision <= "2025-06-18", "{revision}: {error}");
        assert_eq!(process.request("ping", json!({}))["result"], json!({}), "{revision}");
    }
}

/// typescript-sdk #2002, fastmcp #264: processes were left behind when their client was gone.
#[test]
fn h5_the_end_of_the_input_ends_an_idle_process() {
    let tree = Tree::new();
    let never_used = Process::spawn([tree.path()]);
    let mut used = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
    used.result("resources/list", json!({}));
    for process in [never_used, used] {
        assert_eq!(process.finish(), "");
    }
}

/// `mcp-fs DIR </dev/null`
#[test]
fn h5_no_input_at_all_ends_it() {
    let tree = Tree::new();
    let mut command = command([tree.path()]);
    command.stdin(Stdio::null());
    let output = output(command.spawn().expect("mcp-fs starts"));
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

/// token-optimizer PR #400 and many others: a log line on stdout made the client give up.
#[test]
fn h6_the_log_stays_off_stdout_whatever_goes_wrong() {
    let tree = Tree::new().file("a.txt", "one\n");
    let args = ["--log-level".as_ref(), "trace".as_ref(), tree.path().as_os_str()];
    // Every line must be a message.
    let mut process = Process::spawn(args).legacy("2025-03-26");
    process.send_line("{bad");
    process.recv();
    process.send_line("[]");
    process.recv();
    process.error("no/such/method", json!({}));
    process.error("tools/call", json!({"name": "no_such_tool"}));
    process.tool_error("read_text_file", json!({"path": "../secret"}));
    process.tool_error("read_text_file", json!({"nonsense": [1]}));
    process.error("resources/read", json!({"uri": "http://example.com/"}));
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    assert!(process.finish().contains("TRACE"));
}

/// The reader closes its end.
#[test]
fn h7_a_closed_stdout_ends_it_quietly() {
    let tree = Tree::new();
    let mut child = command([tree.path()]).spawn().expect("mcp-fs starts");
    let mut stdin = child.stdin.take().expect("piped");
    drop(child.stdout.take());
    for id in 0..100 {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        // The first write may be the last that succeeds.
        let _ = std::io::Write::write_all(&mut stdin, format!("{ping}\n").as_bytes());
    }
    // stdin is still open.
    let output = output(child);
    drop(stdin);
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// servers #3929, #3602: the client's roots replaced the configured directory.
#[test]
fn h8_client_roots_do_not_change_what_is_served() {
    let tree = Tree::new().file("a.txt", "one\n");
    let other = Tree::new().file("b.txt", "two\n");
    let mut process = Process::spawn([tree.path()]);
    let client = json!({"name": "test", "version": "0"});
    let capabilities = json!({"roots": {"listChanged": true}});
    let params = json!({"protocolVersion": LATEST_LEGACY, "capabilities": capabilities, "clientInfo": client});
    process.result("initialize", params);
    process.notify("notifications/initialized", json!({}));
    process.notify("notifications/roots/list_changed", json!({}));
    // The answer to a request that was never sent.
    process.send(json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": [{"uri": other.uri("")}]}}));
    process.expect_silence();
    let allowed = process.tool_text("list_allowed_directories", json!({}));
    assert!(allowed.contains(tree.path().to_str().expect("text")), "{allowed}");
    assert!(!allowed.contains(other.path().to_str().expect("text")), "{allowed}");
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    assert!(process.tool_error("read_text_file", json!({"path": other.join("b.txt")})).contains("outside"));
    assert_eq!(process.error("resources/read", json!({"uri": other.uri("b.txt")}))["code"], -32602);
}

/// servers #3232, #4152, #3512: the server ended without a word.
#[test]
fn h9_a_root_that_cannot_be_served_is_named_on_stderr() {
    let tree = Tree::new().file("a.txt", "");
    for (dir, why) in [(tree.join("none"), "no such directory"), (tree.join("a.txt"), "not a directory")] {
        let output = run([&dir], "");
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && output.stdout.is_empty(), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(dir.to_str().expect("text")) && stderr.contains(why), "{stderr}");
    }
}

#[cfg(unix)]
#[test]
fn h9_an_unreadable_root_is_named_on_stderr() {
    let tree = Tree::new().dir("locked").mode("locked", 0);
    let dir = tree.join("locked");
    let Some(mut command) = crate::process::users::unprivileged(&tree, [&dir]) else { return };
    let output = output(command.spawn().expect("it starts"));
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success() && output.stdout.is_empty(), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.contains(dir.to_str().expect("text")) && stderr.contains("permission denied"), "{stderr}");
}

/// rust-mcp-filesystem echoes whatever version it is asked for.
#[test]
fn h10_an_unknown_revision_is_not_echoed() {
    let tree = Tree::new();
    for (asked, agreed) in [
        ("1999-01-01", LATEST_LEGACY),
        ("2026-07-28", LATEST_LEGACY),
        ("", LATEST_LEGACY),
        ("2025-06-18 ", LATEST_LEGACY),
        ("9999-12-31", LATEST_LEGACY),
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
    ] {
        let mut process = Process::spawn([tree.path()]);
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        assert_eq!(process.result("initialize", params)["protocolVersion"], agreed, "asked for {asked:?}");
        let tools = process.result("tools/list", json!({}));
        assert!(names_of(&tools).contains(&"read_text_file"), "asked for {asked:?}");
    }
}
