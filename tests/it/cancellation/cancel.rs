//! `notifications/cancelled`: before, during and after the work, for unknown requests, and with invalid ids.

use std::sync::mpsc;

use serde_json::{Value, json};

use super::{cancel, said, start, text, wait_line, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, LEGACY, TIMEOUT, TestServer, Tree};

#[test]
fn a_request_that_is_cancelled_while_it_runs_is_never_answered() {
    let tree = Tree::new();
    for revision in LEGACY {
        let gate = Gate::new();
        let mut server = super::builder(&tree, &gate).start().legacy(revision);
        let id = server.ask("tools/call", wait_params("too late"));
        gate.wait_for(1);
        cancel(&mut server, &id);
        server.expect_silence();
        gate.open();
        let rest = server.close();
        assert!(rest.is_empty(), "{revision}: {rest:?}");
    }
}

#[test]
fn a_modern_request_is_cancelled_in_the_same_way() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = super::builder(&tree, &gate).start();
    let id = server.ask_modern("tools/call", wait_params("too late"));
    gate.wait_for(1);
    cancel(&mut server, &id);
    server.expect_silence();
    gate.open();
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn the_work_is_told_that_it_is_cancelled() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let (tell, told) = mpsc::channel();
    let at_gate = gate.clone();
    let dispatch = move |_: &_, context: &mcp_fs::services::context::Context| {
        at_gate.pass();
        tell.send(context.cancel.checkpoint()).expect("the test listens");
        Ok(text("done"))
    };
    let mut server = TestServer::builder(&tree).dispatch(dispatch).start().legacy(LATEST_LEGACY);
    let kept = server.ask("tools/call", wait_params(""));
    gate.wait_for(1);
    let cancelled = server.ask("tools/call", wait_params(""));
    gate.wait_for(2);
    cancel(&mut server, &cancelled);
    server.expect_silence();
    gate.open();
    server.answer(kept);
    let mut heard = [(); 2].map(|()| told.recv_timeout(TIMEOUT).expect("both go on"));
    heard.sort_unstable();
    assert_eq!(heard, [false, true]);
}

#[test]
fn a_request_cancelled_while_waiting_for_a_slot_never_runs() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = super::builder(&tree, &gate).limits(|limits| limits.in_flight = 1);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let first = server.ask("tools/call", wait_params("first"));
    let second = server.ask("tools/call", wait_params("second"));
    let third = server.ask("tools/call", wait_params("third"));
    gate.wait_for(1);
    cancel(&mut server, &second);
    gate.open();
    assert_eq!(said(&server.answer(first)), "first");
    assert_eq!(said(&server.answer(third)), "third");
    assert_eq!(server.close(), [] as [Value; 0]);
    assert_eq!(gate.arrived(), 2);
}

#[test]
fn a_cancellation_that_comes_too_late_is_ignored() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let mut server = start(&tree, &gate);
    let id = server.ask("tools/call", wait_params("done"));
    assert_eq!(said(&server.answer(id.clone())), "done");
    cancel(&mut server, &id);
    server.expect_silence();
}

#[test]
fn a_cancellation_before_its_request_does_not_affect_it() {
    let (tree, gate) = (Tree::new(), Gate::new());
    gate.open();
    let mut server = start(&tree, &gate);
    cancel(&mut server, &json!(7));
    server.send_raw(wait_line(&json!(7), "done"));
    assert_eq!(said(&server.answer(json!(7))), "done");
}

#[test]
fn a_cancellation_of_an_unknown_request_has_no_effect() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send_raw(wait_line(&json!(7), "done"));
    gate.wait_for(1);
    for params in [
        "",
        r#","params":null"#,
        r#","params":[]"#,
        r#","params":[7]"#,
        r#","params":"7""#,
        r#","params":{}"#,
        r#","params":{"requestId":null}"#,
        r#","params":{"requestId":true}"#,
        r#","params":{"requestId":7.5}"#,
        r#","params":{"requestId":{"id":7}}"#,
        r#","params":{"requestId":[7]}"#,
        r#","params":{"requestId":8}"#,
        r#","params":{"requestId":"7"}"#,
        r#","params":{"requestId":-7}"#,
        r#","params":{"requestid":7}"#,
        r#","params":{"id":7}"#,
        r#","params":{"requestId":99999999999999999999999999}"#,
    ] {
        server.send_line(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled"{params}}}"#));
    }
    server.expect_silence();
    gate.open();
    assert_eq!(said(&server.answer(json!(7))), "done");
}

#[test]
fn a_cancellation_affects_only_one_id() {
    // A string, a number, and two numbers that are equal as floating point.
    let ids = [json!(7), json!("7"), json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_993_u64)];
    for cancelled in &ids {
        let (tree, gate) = (Tree::new(), Gate::new());
        let mut server = start(&tree, &gate);
        for id in &ids {
            server.send_raw(wait_line(id, &id.to_string()));
        }
        gate.wait_for(ids.len());
        cancel(&mut server, cancelled);
        server.expect_silence();
        gate.open();
        let mut answered: Vec<Value> = server.close().iter().map(|answer| answer["id"].clone()).collect();
        answered.sort_by_key(Value::to_string);
        let mut kept: Vec<Value> = ids.iter().filter(|id| *id != cancelled).cloned().collect();
        kept.sort_by_key(Value::to_string);
        assert_eq!(answered, kept, "cancelled: {cancelled}");
    }
}

#[test]
fn the_id_of_a_cancelled_request_can_be_reused_while_its_work_still_runs() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = start(&tree, &gate);
    server.send_raw(wait_line(&json!("x"), "old"));
    gate.wait_for(1);
    cancel(&mut server, &json!("x"));
    server.send_raw(wait_line(&json!("x"), "new"));
    gate.wait_for(2);
    gate.open();
    assert_eq!(said(&server.answer(json!("x"))), "new");
    assert_eq!(server.close(), [] as [Value; 0]);
}

#[test]
fn initialize_cannot_be_cancelled() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let params =
        json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}});
    // In one write, so that the server has both before it can answer.
    server.send_raw(format!("{initialize}\n{cancelled}\n"));
    assert_eq!(server.answer(json!(0))["result"]["protocolVersion"], LATEST_LEGACY);
    server.notify("notifications/initialized", json!({}));
    server.result("tools/list", json!({}));
}
