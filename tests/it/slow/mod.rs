//! File systems that are slow or dead: stuck requests get an error in time, and delay no others.
//!
//! `fuse` provides one. It is mounted inside the served directory, or is the served directory.

mod fuse;
mod remote;
pub(crate) mod remote_fs;

use std::time::Instant;

use serde_json::{Value, json};

use self::fuse::{Hanging, TEXT};
use crate::sandbox::{READ_RESOURCE, request};
use crate::support::{Client as _, LATEST_LEGACY, Process, TIMEOUT, Tree};

/// The limit of threads that are left behind.
const LEFT_BEHIND: usize = 32;

/// A server that gives up early, and a tree in which `far` does not respond. They are dropped in this order.
struct Scene {
    process: Process,
    hanging: Hanging,
    tree: Tree,
}

impl Drop for Scene {
    /// A process that is stuck in a file system could not even be killed.
    fn drop(&mut self) {
        self.hanging.release();
    }
}

impl Scene {
    /// Serves the tree.
    fn near(options: &[&str]) -> Option<Self> {
        Self::of("", options)
    }

    /// Serves `directory` in the tree. `None`, with a notice, if nothing can be mounted.
    fn of(directory: &str, options: &[&str]) -> Option<Self> {
        let tree =
            Tree::new().file("near.txt", "near\n").file("big.txt", "line\n".repeat(50_000)).dir("far").dir("near");
        let hanging = Hanging::mount(&tree.join("far"))?;
        let served = tree.join(directory).to_str().expect("text").to_owned();
        let options = ["--io-timeout=1", "--log-level=error"].into_iter().chain(options.iter().copied());
        let process = Process::spawn(options.chain([served.as_str()])).legacy(LATEST_LEGACY);
        Some(Self { process, hanging, tree })
    }
}

/// Everything near is served, including work that needs a thread. On a busy machine that can take longer than the
/// second after which this server gives up; then it is requested again.
fn serves_what_is_near(process: &mut Process) {
    for (tool, arguments, text) in [
        ("read_text_file", json!({"path": "near.txt"}), "near\n"),
        ("read_text_file", json!({"path": "big.txt", "tail": 1}), "line\n"),
        ("list_directory", json!({"path": "near"}), "[the directory is empty]"),
    ] {
        let begun = Instant::now();
        loop {
            let answer = process.tool(tool, arguments.clone());
            let said = answer["content"][0]["text"].as_str().expect("text");
            if !is_no_answer(said) {
                assert_eq!(said, text, "{tool} {arguments}");
                break;
            }
            assert!(begun.elapsed() < TIMEOUT, "{tool} {arguments}: {answer}");
        }
    }
    assert_eq!(process.request("ping", json!({}))["result"], json!({}));
}

fn says_no_answer(answer: &Value) {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(is_no_answer), "{answer}");
}

fn is_no_answer(text: &str) -> bool {
    text.starts_with("The file system did not respond within 1 s (--io-timeout).")
}

/// modelcontextprotocol/servers #4162, claude-ai-mcp #588: a network mount blocks for minutes.
#[test]
fn b11_a_stuck_read_gets_an_error_and_delays_nothing() {
    let Some(mut scene) = Scene::near(&[]) else { return };
    let (hanging, process, tree) = (&scene.hanging, &mut scene.process, &scene.tree);
    assert_eq!(process.tool_text("read_text_file", json!({"path": "far/fine.txt"})), TEXT);
    let tool = process.ask("tools/call", json!({"name": "read_text_file", "arguments": {"path": "far/stuck.txt"}}));
    let resource = process.ask(READ_RESOURCE, json!({"uri": tree.uri("far/stuck.txt")}));
    hanging.wait_for(2);
    serves_what_is_near(process);
    says_no_answer(&process.answer(tool));
    let error = process.answer(resource)["error"].take();
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32603), &json!(tree.uri("far/stuck.txt"))));
    assert!(error["message"].as_str().is_some_and(is_no_answer), "{error}");
    serves_what_is_near(process);
    hanging.release();
    assert_eq!(process.tool_text("read_text_file", json!({"path": "far/stuck.txt"})), TEXT);
}

#[test]
fn b11_a_cancelled_stuck_read_releases_its_slot() {
    let Some(mut scene) = Scene::near(&["--max-in-flight=1"]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let id = process.ask("tools/call", json!({"name": "read_text_file", "arguments": {"path": "far/stuck.txt"}}));
    hanging.wait_for(1);
    process.notify("notifications/cancelled", json!({"requestId": id}));
    // There is one slot: whatever had it has been left behind.
    serves_what_is_near(process);
}

#[test]
fn b11_stuck_walks_do_not_prevent_other_walks() {
    let Some(mut scene) = Scene::near(&[]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let walk = |path: &str| request("directory_tree", path);
    let stuck: Vec<Value> = (0..6)
        .map(|_| {
            let (method, params) = walk("far/stuck");
            process.ask(method, params)
        })
        .collect();
    // The others wait in the kernel for the first one.
    hanging.wait_for(1);
    let (method, params) = walk("near");
    let near = process.ask(method, params);
    assert_eq!(process.answer(near)["result"]["isError"], json!(null));
    // By then, those that waited for their turn skip that file system.
    for id in stuck {
        let answer = process.answer(id);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer.to_string().contains("not respond"), "{answer}");
    }
}

#[test]
fn b11_after_a_stuck_walk_others_skip_that_file_system_and_say_so() {
    let Some(mut scene) = Scene::near(&[]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let (method, params) = request("directory_tree", "");
    let stuck = process.ask(method, params);
    hanging.wait_for(1);
    says_no_answer(&process.answer(stuck));
    let found = process.tool("search_text", json!({"query": "near"})).to_string();
    assert!(found.contains("near.txt:1: near") && found.contains("could not be read: far"), "{found}");
    // In the era that does not hear about the list unless it asks: it changes at the end.
    let listed = process.modern("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().expect("resources").len(), 2, "{listed}");
    // If named, it is still accessed.
    assert_eq!(process.tool_text("read_text_file", json!({"path": "far/fine.txt"})), TEXT);
    hanging.release();
    let deadline = Instant::now() + TIMEOUT;
    while process.tool("search_text", json!({"query": "away"})).to_string().contains("could not be read") {
        assert!(Instant::now() < deadline, "it is gone round for good");
    }
}

#[test]
fn b11_if_too_many_are_stuck_others_fail_at_once_and_local_files_are_served() {
    let Some(mut scene) = Scene::near(&[]) else { return };
    let (hanging, process, tree) = (&scene.hanging, &mut scene.process, &scene.tree);
    let (method, params) = request("read_text_file", "far/stuck.txt");
    let stuck: Vec<Value> = (0..LEFT_BEHIND).map(|_| process.ask(method, params.clone())).collect();
    hanging.wait_for(LEFT_BEHIND);
    for id in stuck {
        says_no_answer(&process.answer(id));
    }
    for path in ["far/stuck.txt", "far/fine.txt", "far/fine", "far/no-such-file"] {
        for operation in ["read_text_file", "list_directory", "get_file_info", "search_text"] {
            let (method, params) = request(operation, path);
            let answer = process.request(method, params).to_string();
            assert!(answer.contains("does not respond; try again later"), "{operation} {path}: {answer}");
        }
    }
    let error = process.error(READ_RESOURCE, json!({"uri": tree.uri("far/fine.txt")}));
    assert_eq!(error["code"], -32603, "{error}");
    hanging.wait_for(LEFT_BEHIND);
    serves_what_is_near(process);
    // A walk skips it, and says so.
    let found = process.tool("search_text", json!({"query": "near"})).to_string();
    assert!(found.contains("near.txt:1: near") && found.contains("far"), "{found}");
    hanging.release();
    let (method, params) = request("read_text_file", "far/fine.txt");
    let deadline = Instant::now() + TIMEOUT;
    while process.request(method, params.clone())["result"]["isError"] == true {
        assert!(Instant::now() < deadline, "it is avoided for good");
    }
    assert_eq!(process.tool_text("read_text_file", json!({"path": "far/stuck.txt"})), TEXT);
}

#[test]
fn b11_if_all_threads_are_stuck_waiting_requests_fail() {
    let Some(mut scene) = Scene::near(&["--max-in-flight=40"]) else { return };
    let process = &mut scene.process;
    let (method, params) = request("read_text_file", "far/stuck.txt");
    let all: Vec<Value> = (0..LEFT_BEHIND + 60).map(|_| process.ask(method, params.clone())).collect();
    for id in all {
        let answer = process.answer(id);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    assert_eq!(process.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn b11_an_unresponsive_served_directory_causes_errors_in_time() {
    let Some(mut scene) = Scene::of("far", &[]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    assert_eq!(process.tool_text("read_text_file", json!({"path": "fine.txt"})), TEXT);
    let (method, params) = request("read_text_file", "stuck.txt");
    let id = process.ask(method, params);
    hanging.wait_for(1);
    assert_eq!(process.tool_text("read_text_file", json!({"path": "fine.txt"})), TEXT);
    says_no_answer(&process.answer(id));
}

#[test]
fn b11_a_stuck_large_edit_does_not_prevent_other_edits() {
    let Some(mut scene) = Scene::near(&["--allow-write"]) else { return };
    std::fs::write(scene.tree.join("large.txt"), format!("first\n{}", "line\n".repeat(400_000))).expect("a file");
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let edit = |path: &str| {
        let edits = json!([{"oldText": "first", "newText": "1st"}]);
        json!({"name": "edit_file", "arguments": {"path": path, "edits": edits}})
    };
    let stuck = process.ask("tools/call", edit("far/large.txt"));
    hanging.wait_for(1);
    says_no_answer(&process.answer(stuck));
    let near = process.ask("tools/call", edit("large.txt"));
    assert_eq!(process.answer(near)["result"].get("isError"), None);
}

#[test]
fn b11_a_change_that_does_not_return_says_that_its_outcome_is_unknown() {
    let Some(mut scene) = Scene::near(&["--allow-write"]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let copy = json!({"name": "copy_file", "arguments": {"source": "far/stuck.txt", "destination": "near/copy.txt"}});
    let id = process.ask("tools/call", copy);
    hanging.wait_for(1);
    let answer = process.answer(id);
    says_no_answer(&answer);
    assert!(answer.to_string().contains("Whether anything was changed is not known"), "{answer}");
}

/// Seen with Gluster: a file is replaced on the server, and the handle that was just opened is stale. That is a race
/// like any other, and says nothing about the kind of file system.
#[test]
fn a_stale_handle_is_retried_and_not_taken_for_a_kernel_file_system() {
    let Some(mut scene) = Scene::near(&[]) else { return };
    let (hanging, process) = (&scene.hanging, &mut scene.process);
    let read = json!({"path": "far/fine.txt"});
    hanging.be_stale(2);
    assert_eq!(process.tool_text("read_text_file", read.clone()), TEXT);
    hanging.be_stale(1_000);
    for (tool, path) in [("read_text_file", "far/fine.txt"), ("list_directory", "far"), ("get_file_info", "far/fine")] {
        let error = process.tool_error(tool, json!({"path": path}));
        assert!(error.contains("on the file server") && !error.contains("kernel"), "{tool}: {error}");
    }
    hanging.be_stale(0);
    assert_eq!(process.tool_text("read_text_file", read), TEXT);
}
