//! The memory that answers may take: what does not fit waits, everything arrives, and nothing else stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_fs::call::Call;
use serde_json::{Value, json};

use super::{cancel, said, text, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, TestServer, Tree};

#[test]
fn many_large_reads_arrive_in_little_memory() {
    let content = "0123456789abcde\n".repeat(16_000);
    let tree =
        Tree::new().file("big.txt", &content).file("image.png", [b"\x89PNG\r\n\x1a\n", content.as_bytes()].concat());
    let builder = TestServer::builder(&tree).limits(|limits| limits.answer_bytes = 600_000);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let reads: Vec<Value> =
        (0..60).map(|_| server.ask("resources/read", json!({"uri": tree.uri("big.txt")}))).collect();
    let picture = json!({"name": "read_media_file", "arguments": {"path": "image.png"}});
    let pictures: Vec<Value> = (0..20).map(|_| server.ask("tools/call", picture.clone())).collect();
    for id in reads {
        assert_eq!(server.answer(id)["result"]["contents"][0]["text"], content);
    }
    for id in pictures {
        assert_eq!(server.answer(id)["result"]["content"][0]["mimeType"], "image/png");
    }
}

#[test]
fn an_answer_larger_than_the_budget_is_sent_alone() {
    let content = "0123456789abcde\n".repeat(16_000);
    let tree = Tree::new().file("big.txt", &content);
    let builder = TestServer::builder(&tree).limits(|limits| limits.answer_bytes = 1);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let reads: Vec<Value> = (0..5).map(|_| server.ask("resources/read", json!({"uri": tree.uri("big.txt")}))).collect();
    for id in reads {
        assert_eq!(server.answer(id)["result"]["contents"][0]["text"], content);
    }
}

#[test]
fn work_that_does_not_fit_into_memory_waits_and_can_be_cancelled() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (at_gate, at_most) = (gate.clone(), Arc::clone(&most));
    let dispatch = move |_: &Call, context: &mcp_fs::services::context::Context| {
        context.reserve(100)?;
        at_most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        at_gate.pass();
        now.fetch_sub(1, Ordering::SeqCst);
        Ok(text("done"))
    };
    let builder = TestServer::builder(&tree).dispatch(dispatch).limits(|limits| limits.answer_bytes = 250);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let first = [(); 2].map(|()| server.ask("tools/call", wait_params("")));
    gate.wait_for(2);
    let mut more: Vec<Value> = (0..8).map(|_| server.ask("tools/call", wait_params(""))).collect();
    let cancelled = more.remove(3);
    cancel(&mut server, &cancelled);
    server.expect_silence();
    gate.open();
    for id in first.into_iter().chain(more) {
        assert_eq!(said(&server.answer(id)), "done");
    }
    assert_eq!(server.close(), [] as [Value; 0]);
    assert_eq!(most.load(Ordering::SeqCst), 2, "250 bytes have room for two answers of 100");
}

/// Only the event loop releases memory, when an answer is written. A read that the loop tries inline must not wait for
/// it.
#[test]
fn an_inline_read_does_not_wait_for_memory() {
    let tree = Tree::new().file("a.txt", "0123456789abcde\n".repeat(600));
    let gate = Gate::new();
    let at_gate = gate.clone();
    let dispatch = move |call: &Call, context: &mcp_fs::services::context::Context| {
        if matches!(call, Call::CallTool { name, .. } if name == "wait") {
            context.reserve(1_400)?;
            at_gate.pass();
            return Ok(text("done"));
        }
        mcp_fs::features::dispatch::dispatch(call, context)
    };
    let builder = TestServer::builder(&tree).dispatch(dispatch).limits(|limits| {
        (limits.resource_bytes, limits.blob_bytes, limits.answer_bytes) = (1_000, 1_000, 1_500);
    });
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let holder = server.ask("tools/call", wait_params(""));
    gate.wait_for(1);
    let read = server.ask("resources/read", json!({"uri": tree.uri("a.txt")}));
    let ping = server.ask("ping", json!({}));
    assert_eq!(server.answer(ping)["result"], json!({}));
    gate.open();
    assert_eq!(said(&server.answer(holder)), "done");
    assert!(server.answer(read).get("result").is_some());
}

/// Each call holds its memory until it is answered: if it asked for more meanwhile, all calls could wait for each
/// other.
#[test]
fn calls_that_read_many_files_do_not_deadlock() {
    let tree = Tree::new().file("binary", [0; 5_000]).file("text", "0123456789abcde\n".repeat(300));
    let builder = TestServer::builder(&tree).limits(|limits| {
        (limits.output_bytes, limits.answer_bytes) = (4_000, 20_000);
    });
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let paths: Vec<&str> = ["binary", "text"].into_iter().cycle().take(100).collect();
    let call = json!({"name": "read_multiple_files", "arguments": {"paths": paths}});
    let asked: Vec<Value> = (0..40).map(|_| server.ask("tools/call", call.clone())).collect();
    for id in asked {
        assert_eq!(server.answer(id)["result"]["content"].as_array().map(Vec::len), Some(100));
    }
}

/// An error quotes what was wrong, but not all of it: a request of 32 MiB must not cause an answer of 32 MiB.
#[test]
fn an_error_does_not_repeat_the_whole_request() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
    let long = "x".repeat(100_000);
    for (method, params) in [
        ("tools/call", json!({"name": long})),
        (long.as_str(), json!({})),
        ("resources/read", json!({"uri": format!("file:///{long}")})),
        ("tools/call", json!({"name": "list_directory", "arguments": {long.as_str(): 1}})),
        ("tools/call", json!({"name": "read_text_file", "arguments": {"path": long}})),
        ("tools/call", json!({"name": "read_multiple_files", "arguments": {"paths": [long]}})),
        ("tools/call", json!({"name": "directory_tree", "arguments": {"excludePatterns": [format!("{long}[")]}})),
        ("tools/call", json!({"name": "search_files", "arguments": {"pattern": format!("{long}[")}})),
        ("tools/call", json!({"name": "search_text", "arguments": {"query": format!("{long}("), "regex": true}})),
    ] {
        let answer = server.request(method, params).to_string();
        assert!(answer.len() < 2_000, "{method:.30}: {} bytes", answer.len());
    }
}
