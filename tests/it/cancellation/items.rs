//! Batches (2025-03-26 and 2024-11-05) whose items are slow, cancelled, repeated or failing.

use serde_json::{Value, json};

use super::{builder, cancel, said, wait_params};
use crate::support::{Client as _, Gate, TestServer, Tree};

const BATCHES: &str = "2025-03-26";

fn start(tree: &Tree, gate: &Gate) -> TestServer {
    builder(tree, gate).start().legacy(BATCHES)
}

fn item(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn wait(id: u64) -> Value {
    item(id, "tools/call", &wait_params(&id.to_string()))
}

fn cancelled(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// The answers of a batch, by id.
fn answers(batch: &Value) -> Vec<&Value> {
    let mut answers: Vec<&Value> = batch.as_array().unwrap_or_else(|| panic!("no array: {batch}")).iter().collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn ids(batch: &Value) -> Vec<u64> {
    answers(batch).iter().map(|answer| answer["id"].as_u64().expect("an id")).collect()
}

#[test]
fn a_batch_is_answered_at_once_when_its_slowest_item_is_done() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), item(2, "ping", &json!({})), wait(3)]));
    gate.wait_for(2);
    server.expect_silence();
    gate.open();
    let batch = server.recv();
    let answers = answers(&batch);
    assert_eq!(answers.len(), 3, "{batch}");
    assert_eq!([said(answers[0]), said(answers[2])], ["1", "3"]);
    assert_eq!(answers[1]["result"], json!({}));
}

#[test]
fn a_slow_batch_does_not_block_other_requests() {
    let tree = Tree::new().file("a.txt", "one\n");
    let gate = Gate::new();
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), wait(2)]));
    gate.wait_for(2);
    assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    gate.open();
    assert_eq!(ids(&server.recv()), [1, 2]);
}

#[test]
fn a_cancelled_item_is_missing_in_its_batch() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), wait(2), wait(3)]));
    gate.wait_for(3);
    cancel(&mut server, &json!(2));
    server.expect_silence();
    gate.open();
    assert_eq!(ids(&server.recv()), [1, 3]);
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn an_item_can_be_cancelled_by_another_item() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), cancelled(1), item(2, "ping", &json!({}))]));
    assert_eq!(ids(&server.recv()), [2]);
    gate.open();
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn a_fully_cancelled_batch_is_not_answered() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), wait(2)]));
    gate.wait_for(2);
    server.send(json!([cancelled(1), cancelled(2)]));
    server.expect_silence();
    gate.open();
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn the_last_answer_may_be_a_cancellation() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([item(1, "ping", &json!({})), wait(2)]));
    gate.wait_for(1);
    cancel(&mut server, &json!(2));
    assert_eq!(ids(&server.recv()), [1]);
    gate.open();
}

#[test]
fn an_id_twice_in_a_batch_is_rejected_once() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), wait(1)]));
    gate.wait_for(1);
    gate.open();
    let batch = server.recv();
    let (done, refused): (Vec<&Value>, Vec<&Value>) =
        answers(&batch).into_iter().partition(|answer| answer.get("result").is_some());
    assert_eq!((done.len(), refused.len()), (1, 1), "{batch}");
    assert_eq!(refused[0]["error"]["code"], -32600);
}

#[test]
fn a_panic_in_an_item_spoils_only_that_item() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let mut server = start(&tree, &gate);
    server.send(json!([wait(1), item(2, "tools/call", &json!({"name": "panic"})), wait(3)]));
    let batch = server.recv();
    let answers = answers(&batch);
    assert_eq!([said(answers[0]), said(answers[2])], ["1", "3"]);
    assert_eq!(answers[1]["error"]["code"], -32603);
}

#[test]
fn a_batch_may_have_more_items_than_there_are_slots() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let builder = builder(&tree, &gate).limits(|limits| (limits.in_flight, limits.queued) = (2, 3));
    let mut server = builder.start().legacy(BATCHES);
    server.send(Value::Array((1..=100).map(wait).collect()));
    assert_eq!(ids(&server.recv()), (1..=100).collect::<Vec<_>>());
}

#[test]
fn a_batch_whose_answers_do_not_fit_into_memory_gets_errors_for_the_rest() {
    let tree = (0..4).fold(Tree::new(), |tree, n| tree.file(format!("{n}.txt"), "x".repeat(100_000)));
    let builder = TestServer::builder(&tree).limits(|limits| limits.answer_bytes = 250_000);
    let mut server = builder.start().legacy(BATCHES);
    let read = |n| item(n, "resources/read", &json!({"uri": tree.uri(format!("{n}.txt"))}));
    server.send(Value::Array((0..4).map(read).collect()));
    let batch = server.recv();
    assert_eq!(ids(&batch), [0, 1, 2, 3]);
    let codes = answers(&batch).iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect::<Vec<_>>();
    assert_eq!(codes, [-32603, -32603], "{}", &batch.to_string()[..300]);
}
