//! Two requests with one id, and work that panics: whatever happens, each request gets exactly one answer.

use serde_json::{Value, json};

use super::{said, start, wait_line, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, TestServer, Tree};

#[test]
fn a_second_request_with_an_id_in_flight_is_rejected_and_the_first_answered() {
    for id in [json!(7), json!("seven"), json!(0), json!("")] {
        let (tree, gate) = (Tree::new(), Gate::new());
        let mut server = start(&tree, &gate);
        server.send_raw(wait_line(&id, "first"));
        gate.wait_for(1);
        server.send_raw(wait_line(&id, "second"));
        let refusal = server.recv();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&id, &json!(-32600)), "{refusal}");
        gate.open();
        assert_eq!(said(&server.answer(id)), "first");
        assert_eq!(gate.arrived(), 1, "the second was worked on");
    }
}

#[test]
fn an_id_is_in_flight_while_its_request_waits_for_a_slot() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = super::builder(&tree, &gate).limits(|limits| limits.in_flight = 1);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let first = server.ask("tools/call", wait_params("first"));
    gate.wait_for(1);
    server.send_raw(wait_line(&json!(7), "second") + &wait_line(&json!(7), "third"));
    assert_eq!(server.recv()["error"]["code"], -32600);
    gate.open();
    server.answer(first);
    assert_eq!(said(&server.answer(json!(7))), "second");
}

#[test]
fn every_method_rejects_an_id_in_flight() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send_raw(wait_line(&json!(7), "first"));
    gate.wait_for(1);
    for method in ["ping", "tools/list", "initialize", "no/such"] {
        server.send(json!({"jsonrpc": "2.0", "id": 7, "method": method}));
        let refusal = server.recv();
        assert_eq!(refusal["error"]["code"], -32600, "{method}: {refusal}");
    }
    gate.open();
    assert_eq!(said(&server.answer(json!(7))), "first");
}

#[test]
fn an_id_in_flight_in_one_era_is_in_flight_in_the_other() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send_raw(wait_line(&json!(7), "first"));
    gate.wait_for(1);
    let params = crate::support::client::with_meta(wait_params("second"));
    server.send(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
    assert_eq!(server.recv()["error"]["code"], -32600);
    gate.open();
    assert_eq!(said(&server.answer(json!(7))), "first");
}

#[test]
fn an_id_can_be_reused_once_it_is_answered() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let mut server = start(&tree, &gate);
    for say in ["first", "second", "third"] {
        server.send_raw(wait_line(&json!(7), say));
        assert_eq!(said(&server.answer(json!(7))), say);
    }
}

#[test]
fn a_panic_fails_only_its_own_request() {
    let tree = Tree::new().file("a.txt", "one\n");
    let gate = Gate::new();
    let mut server = start(&tree, &gate);
    let waiting = server.ask("tools/call", wait_params("not touched"));
    gate.wait_for(1);
    for _ in 0..3 {
        let error = server.error("tools/call", json!({"name": "panic"}));
        assert_eq!(error["code"], -32603, "{error}");
        assert!(!error.to_string().contains("on purpose"), "the inside of the server shows: {error}");
    }
    gate.open();
    assert_eq!(said(&server.answer(waiting)), "not touched");
    assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
}

#[test]
fn an_inline_panic_does_not_end_the_server() {
    let tree = Tree::new();
    // A read that the event loop tries inline.
    let server = TestServer::builder(&tree).dispatch(|_, _| panic!("a bug, made on purpose"));
    let mut server = server.start().legacy(LATEST_LEGACY);
    assert_eq!(server.error("resources/read", json!({"uri": tree.uri("a")}))["code"], -32603);
    assert_eq!(server.error("tools/list", json!({}))["code"], -32603);
    server.expect_silence();
}

#[test]
fn a_panic_of_cancelled_work_is_not_reported() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let at_gate = gate.clone();
    let dispatch = move |_: &_, _: &_| {
        at_gate.pass();
        panic!("a bug, made on purpose")
    };
    let mut server = TestServer::builder(&tree).dispatch(dispatch).start().legacy(LATEST_LEGACY);
    let id = server.ask("tools/call", wait_params(""));
    gate.wait_for(1);
    super::cancel(&mut server, &id);
    server.expect_silence();
    gate.open();
    assert_eq!(server.close(), [] as [Value; 0]);
}
