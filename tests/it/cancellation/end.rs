//! The input ends while requests are in flight: they continue for at most as long as a search may take; then the rest
//! get an error, and the server ends.

use std::sync::Arc;
use std::time::Duration;

use mcp_fs::limits::Limits;
use mcp_fs::root::{Deny, Root};
use mcp_fs::server::Server;
use mcp_fs::transport::stdio;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{builder, cancel, said, start, wait_line, wait_params, work};
use crate::support::client::with_meta;
use crate::support::server::Builder;
use crate::support::{Client as _, Gate, LATEST_LEGACY, TIMEOUT, Tree};

/// A server that gives up half a second after the end of its input.
fn impatient(tree: &Tree, gate: &Gate) -> Builder {
    builder(tree, gate).limits(|limits| limits.search_time = PATIENCE)
}

const PATIENCE: Duration = Duration::from_millis(500);

/// A call of the tool `busy`.
fn busy_params() -> Value {
    json!({"name": "busy"})
}

#[test]
fn slow_requests_are_answered_after_the_end_of_the_input() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = builder(&tree, &gate).limits(|limits| limits.in_flight = 2);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let ids: Vec<Value> = (0..10).map(|n| server.ask("tools/call", wait_params(&n.to_string()))).collect();
    gate.wait_for(2);
    server.end_input();
    std::thread::sleep(Duration::from_millis(1_200)); // what was thrown away after a second
    gate.open();
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(said(&server.answer(id)), n.to_string());
    }
}

#[test]
fn unfinished_requests_get_an_error_at_the_deadline_and_the_server_ends() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = impatient(&tree, &gate).limits(|limits| limits.in_flight = 2).start().legacy(LATEST_LEGACY);
    // Two run, the others wait for a slot.
    let ids: Vec<Value> = (0..10).map(|_| server.ask("tools/call", busy_params())).collect();
    gate.wait_for(2);
    let rest = server.close();
    assert_eq!(rest.len(), ids.len());
    for answer in &rest {
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("text").contains("shutting down"), "{answer}");
    }
}

#[test]
fn finished_requests_keep_their_answers_when_others_are_given_up() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = impatient(&tree, &gate).start().legacy(LATEST_LEGACY);
    let busy = server.ask("tools/call", busy_params());
    let listed = server.ask("tools/list", json!({}));
    gate.wait_for(1);
    server.end_input();
    assert!(server.answer(listed).get("result").is_some());
    assert_eq!(server.answer(busy)["error"]["code"], -32603);
}

/// Its own error says more than "the server is shutting down".
#[test]
fn blocked_requests_get_their_own_error_before_the_server_ends() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = impatient(&tree, &gate).limits(|limits| limits.io_time = 5 * PATIENCE);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let blocked = server.ask("tools/call", wait_params(""));
    let busy = server.ask("tools/call", busy_params());
    gate.wait_for(2);
    server.end_input();
    assert_eq!(server.answer(busy)["error"]["code"], -32603);
    let answer = server.answer(blocked);
    assert!(answer.to_string().contains("did not respond"), "{answer}");
    assert_eq!(server.close(), [] as [Value; 0]);
    gate.open();
}

/// Nobody is left to receive the result, and nothing is written that would reveal that.
#[test]
fn a_client_that_has_closed_both_ends_ends_the_server_at_once() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let root = Root::open(tree.path(), Deny::new(&[], true).expect("no patterns")).expect("a root");
    let at_gate = gate.clone();
    let server = Server::new(root, Limits::default()).with_dispatch(move |call, context| work(call, context, &at_gate));
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": with_meta(busy_params())});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let served = runtime.block_on(async {
        let input = std::io::Cursor::new(request.to_string());
        let (_output, server_output) = tokio::io::duplex(1_000);
        timeout(TIMEOUT, stdio::serve(Arc::new(server), input, server_output, std::future::ready(())))
            .await
            .expect("it goes on")
    });
    assert_eq!(served.expect_err("the client is gone").kind(), std::io::ErrorKind::BrokenPipe);
    runtime.shutdown_background();
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
fn an_incomplete_batch_is_sent_with_errors_for_the_missing_items() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = impatient(&tree, &gate).start().legacy("2025-03-26");
    let item =
        |id: u64, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let busy = |id| item(id, "tools/call", &busy_params());
    server.send(json!([item(1, "ping", &json!({})), busy(2), busy(3), busy(4)]));
    gate.wait_for(3);
    cancel(&mut server, &json!(3));
    server.end_input();
    let batch = server.recv();
    let mut codes: Vec<_> =
        batch.as_array().expect("an array").iter().map(|a| (&a["id"], &a["error"]["code"])).collect();
    codes.sort_by_key(|(id, _)| id.as_u64());
    assert_eq!(codes, [(&json!(1), &Value::Null), (&json!(2), &json!(-32603)), (&json!(4), &json!(-32603))]);
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
