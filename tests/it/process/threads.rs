//! When the system has no threads left, the program says so, either at startup or in the answer to a request, and
//! neither hangs nor dies.
//!
//! The limit of processes does not apply to root, and counts everything that a user runs. So the program runs as a user
//! of its own, whom nobody else uses; `SKIPPED` is printed where that is impossible.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use super::users;
use crate::support::{Client as _, Gate, LATEST_LEGACY, Process, TestServer, Tree, text_of};

/// The program as a user who may have `threads` threads in all, including the program's first.
fn limited(tree: &Tree, threads: usize, args: &[&str]) -> Option<Command> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if !rustix::process::geteuid().is_root() {
        users::skip("a limit of threads: the tests do not run as root, and so their own processes count");
        return None;
    }
    let probe = Command::new("prlimit").arg("--version").stdout(Stdio::null()).status();
    let command = users::unprivileged(tree, args)?;
    if probe.is_err() {
        users::skip("a limit of threads: prlimit is not installed");
        return None;
    }
    // Other tests on this machine get other numbers.
    let user = 1_000_000 + std::process::id() * 16 + NEXT.fetch_add(1, Ordering::Relaxed);
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--nproc={threads}")).arg(command.get_program()).arg(format!("--reuid={user}"));
    limited.args(command.get_args().skip(1)).arg(tree.path()).current_dir("/");
    limited.env_remove("MCP_FS_LOG").env_remove("MCP_FS_ALLOW_WRITE");
    limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(limited)
}

fn tree() -> Tree {
    let tree = Tree::new().file("a.txt", "one\n").file("sub/b.txt", "two\n");
    let large = "line\n".repeat(300_000);
    tree.file("large.txt", large).mode("", 0o777).mode("sub", 0o777).mode("a.txt", 0o666).mode("large.txt", 0o666)
}

#[test]
fn without_threads_it_explains_why_it_does_not_start() {
    let tree = tree();
    for args in [&[] as &[_], &["--allow-write", "--log-level=trace"]] {
        let Some(command) = limited(&tree, 1, args) else { return };
        let exit = Process::start(command).wait();
        assert_eq!((exit.status.code(), exit.rest.len()), (Some(2), 0), "{exit:?}");
        assert!(
            exit.stderr.starts_with("mcp-fs: cannot start a thread") && exit.stderr.contains("ulimit -u"),
            "{exit:?}"
        );
        assert_eq!(exit.stderr.lines().count(), 1, "{exit:?}");
    }
}

/// Files and terminals need a thread each for reading and writing.
#[test]
fn it_does_not_start_without_the_threads_for_its_streams() {
    let tree = tree();
    let input = tree.outside().join("input");
    fs::write(&input, super::pings(3)).unwrap();
    for (threads, starts) in [(1, false), (2, false), (3, false), (4, true)] {
        let Some(mut command) = limited(&tree, threads, &[]) else { return };
        let output = tree.outside().join(format!("output-{threads}"));
        command.stdin(fs::File::open(&input).unwrap()).stdout(fs::File::create(&output).unwrap());
        let ended = super::output(command.spawn().expect("it starts"));
        assert_eq!(ended.status.code(), Some(if starts { 0 } else { 2 }), "{threads}: {ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(said.contains("cannot start a thread"), !starts, "{threads}: {said}");
        let answers = fs::read_to_string(output).unwrap().lines().count();
        assert_eq!(answers, if starts { 4 } else { 0 }, "{threads}");
    }
}

/// With room for one thread in addition to those of its streams, that thread does all work that needs one, one piece at
/// a time. (The streams need threads because they belong to another user, so that they cannot be reopened.)
#[test]
fn with_one_thread_requests_run_one_at_a_time() {
    let tree = tree();
    let Some(command) = limited(&tree, 4, &["--allow-write"]) else { return };
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    let asked: Vec<_> = (0..20)
        .map(|number| {
            let (name, arguments) = match number % 4 {
                0 => ("search_text", json!({"query": "two"})),
                1 => ("directory_tree", json!({})),
                2 => ("read_text_file", json!({"path": "large.txt", "tail": 1})),
                _ => ("write_file", json!({"path": format!("new-{number}"), "content": "x"})),
            };
            process.ask("tools/call", json!({"name": name, "arguments": arguments}))
        })
        .collect();
    for id in asked {
        let answer = process.answer(id);
        assert_eq!(answer["result"].get("isError"), None, "{answer}");
    }
    // Work that needs a second thread is told that there is none. The log has no thread either, and still works.
    let edits = json!([{"oldText": "line\nline\nline\n", "newText": "x"}]);
    let edit = process.tool("edit_file", json!({"path": "large.txt", "edits": edits, "replaceAll": true}));
    assert!(edit["isError"] == true && text_of(&edit).contains("no thread"), "{edit}");
    let error = process.error("resources/subscribe", json!({"uri": tree.uri("a.txt")}));
    assert!(error["code"] == -32603 && error["message"].as_str().unwrap().contains("no thread"), "{error}");
    let listing = process.either("resources/list", json!({}));
    assert!(listing["result"]["resources"].is_array(), "{listing}");
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    let said = process.finish();
    assert!(said.contains("cannot start a thread"), "{said}");
}

/// Even if its last thread is stuck: work that needs one gets an error, and the server continues.
#[test]
fn a_request_without_a_thread_gets_an_error_and_the_server_continues() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).allow_write().threads(0).start().legacy(LATEST_LEGACY);
    for (name, arguments) in [
        ("list_directory", json!({})),
        ("search_text", json!({"query": "two"})),
        ("write_file", json!({"path": "new", "content": "x"})),
    ] {
        let said = server.tool(name, arguments);
        assert!(said["isError"] == true && text_of(&said).contains("no thread"), "{name}: {said}");
    }
    assert!(!tree.join("new").exists());
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": tree.uri("large.txt")})),
        ("resources/read", json!({"uri": tree.uri("sub")})),
    ] {
        let error = server.error(method, params);
        assert!(error["code"] == -32603 && error["message"].as_str().unwrap().contains("no thread"), "{error}");
    }
    assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n", "it needs none");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

/// Work that waits for the only thread can be cancelled, and runs in order.
#[test]
fn requests_for_the_only_thread_run_in_order_or_are_cancelled() {
    let (tree, gate) = (tree(), Gate::new());
    let at_gate = gate.clone();
    let builder = TestServer::builder(&tree).threads(1).dispatch(move |call, context| {
        at_gate.pass();
        mcp_fs::features::dispatch::dispatch(call, context)
    });
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let mut asked: Vec<_> = (0..10).map(|_| server.ask("resources/list", json!({}))).collect();
    gate.wait_for(1);
    let cancelled = asked.remove(5);
    server.notify("notifications/cancelled", json!({"requestId": cancelled}));
    server.expect_silence();
    assert_eq!(gate.arrived(), 1);
    gate.open();
    for id in asked {
        assert!(server.answer(id)["result"]["resources"].is_array());
    }
    assert_eq!(gate.arrived(), 9);
}
