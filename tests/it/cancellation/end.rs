//! The end of the input while requests are in flight: what is done is answered, what is not done after a second gets
//! an error, and the server ends.

use serde_json::{Value, json};

use super::{builder, cancel, said, start, wait_line, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, Tree};

#[test]
fn what_is_done_soon_after_the_end_of_the_input_is_answered() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = builder(&tree, &gate).limits(|limits| limits.in_flight = 2);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let ids: Vec<Value> = (0..10).map(|n| server.ask("tools/call", wait_params(&n.to_string()))).collect();
    gate.wait_for(2);
    server.end_input();
    gate.open();
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(said(&server.answer(id)), n.to_string());
    }
}

#[test]
fn what_is_not_done_after_a_second_gets_an_error_and_the_server_ends() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = builder(&tree, &gate).limits(|limits| limits.in_flight = 2);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    // Two run, the others wait for a place.
    let ids: Vec<Value> = (0..10).map(|_| server.ask("tools/call", wait_params(""))).collect();
    gate.wait_for(2);
    let rest = server.close();
    assert_eq!(rest.len(), ids.len());
    for answer in &rest {
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("text").contains("shutting down"), "{answer}");
    }
    gate.open();
}

#[test]
fn what_was_done_before_keeps_its_answer_when_others_are_given_up() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    let stuck = server.ask("tools/call", wait_params(""));
    let listed = server.ask("tools/list", json!({}));
    gate.wait_for(1);
    server.end_input();
    assert!(server.answer(listed).get("result").is_some());
    assert_eq!(server.answer(stuck)["error"]["code"], -32603);
    gate.open();
}

#[test]
fn cancelled_work_does_not_delay_the_end() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    let id = server.ask("tools/call", wait_params(""));
    gate.wait_for(1);
    cancel(&mut server, &id);
    server.expect_silence();
    assert_eq!(server.close(), [] as [Value; 0]);
    gate.open();
}

#[test]
fn an_idle_server_ends() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let server = start(&tree, &gate);
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn a_batch_that_is_not_done_is_sent_with_errors_for_what_is_missing() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = builder(&tree, &gate).start().legacy("2025-03-26");
    let item =
        |id: u64, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let wait = |id| item(id, "tools/call", &wait_params(""));
    server.send(json!([item(1, "ping", &json!({})), wait(2), wait(3), wait(4)]));
    gate.wait_for(3);
    cancel(&mut server, &json!(3));
    server.end_input();
    let batch = server.recv();
    let mut codes: Vec<_> =
        batch.as_array().expect("an array").iter().map(|a| (&a["id"], &a["error"]["code"])).collect();
    codes.sort_by_key(|(id, _)| id.as_u64());
    assert_eq!(codes, [(&json!(1), &Value::Null), (&json!(2), &json!(-32603)), (&json!(4), &json!(-32603))]);
    gate.open();
}

#[test]
fn lines_that_were_read_but_not_handled_are_answered_after_the_end() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let builder = builder(&tree, &gate).limits(|limits| (limits.in_flight, limits.queued) = (1, 2));
    let mut server = builder.start().legacy(LATEST_LEGACY);
    server.send_raw((0..200).map(|id| wait_line(&json!(id), &id.to_string())).collect::<String>());
    server.end_input();
    for id in 0..200 {
        assert_eq!(said(&server.answer(json!(id))), id.to_string());
    }
}

#[test]
fn a_last_request_without_a_newline_is_answered() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let mut server = start(&tree, &gate);
    server.send_raw(wait_line(&json!(7), "the last one").trim_end());
    server.end_input();
    assert_eq!(said(&server.answer(json!(7))), "the last one");
}
