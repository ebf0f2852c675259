//! Slots: how many requests are in progress at once, and what is handled while all slots are taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{builder, cancel, said, text, wait_line, wait_params};
use crate::support::{Client as _, Gate, LATEST_LEGACY, TestServer, Tree};

/// Counts how many are inside at once, and the maximum so far.
#[derive(Clone, Debug, Default)]
struct Crowd(Arc<(AtomicUsize, AtomicUsize)>);

impl Crowd {
    fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        let result = work();
        self.0.0.fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

#[test]
fn requests_beyond_the_slots_wait() {
    for places in [1, 3, 64] {
        let (tree, gate, crowd) = (Tree::new(), Gate::new(), Crowd::default());
        let (at_gate, inside) = (gate.clone(), crowd.clone());
        let dispatch = move |_: &_, _: &_| {
            inside.with(|| at_gate.pass());
            Ok(text("done"))
        };
        let builder = TestServer::builder(&tree).dispatch(dispatch).limits(|limits| limits.in_flight = places);
        let mut server = builder.start().legacy(LATEST_LEGACY);
        let ids: Vec<Value> = (0..2 * places + 5).map(|_| server.ask("tools/call", wait_params(""))).collect();
        gate.wait_for(places);
        server.expect_silence();
        gate.open();
        for id in ids {
            assert_eq!(said(&server.answer(id)), "done");
        }
        assert_eq!(crowd.most(), places);
    }
}

#[test]
fn waiting_requests_start_in_order() {
    let tree = Tree::new();
    let gate = Gate::new();
    let builder = builder(&tree, &gate).limits(|limits| limits.in_flight = 1);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let ids: Vec<Value> = (0..20).map(|n| server.ask("tools/call", wait_params(&n.to_string()))).collect();
    gate.open();
    for id in ids {
        assert_eq!(server.recv()["id"], id);
    }
}

#[test]
fn ping_and_cancelled_are_handled_while_all_slots_are_taken() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let builder = builder(&tree, &gate).limits(|limits| limits.in_flight = 1);
    let mut server = builder.start().legacy(LATEST_LEGACY);
    let ids: Vec<Value> = (0..10).map(|n| server.ask("tools/call", wait_params(&n.to_string()))).collect();
    gate.wait_for(1);
    server.expect_silence();
    ids.iter().skip(2).for_each(|id| cancel(&mut server, id));
    server.expect_silence();
    gate.open();
    assert_eq!(said(&server.answer(ids[0].clone())), "0");
    assert_eq!(said(&server.answer(ids[1].clone())), "1");
    assert_eq!(server.close(), [] as [Value; 0]);
}

/// The server reads many lines at once; it must not stop in the middle of them to wait for work.
#[test]
fn ping_is_answered_at_once_even_after_many_slow_requests_in_one_write() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let mut server = builder(&tree, &gate).start().legacy(LATEST_LEGACY);
    let mut lines: String = (1..=200).map(|id| wait_line(&json!(id), &id.to_string())).collect();
    lines += &(json!({"jsonrpc": "2.0", "id": 0, "method": "ping"}).to_string() + "\n");
    server.send_raw(lines);
    assert_eq!(server.recv()["id"], 0);
    gate.open();
    for id in 1..=200 {
        assert_eq!(said(&server.answer(json!(id))), id.to_string());
    }
}

/// None of them leads to an answer that would wake the server up when written.
#[test]
fn many_lines_without_an_answer_in_one_write_do_not_stop_the_server() {
    let tree = Tree::new();
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such/notification"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let mut server = TestServer::start(&tree).legacy(LATEST_LEGACY);
        let ping = json!({"jsonrpc": "2.0", "id": 5, "method": "ping"});
        server.send_raw([line, "\n"].concat().repeat(500) + &ping.to_string() + "\n");
        assert_eq!(server.recv()["id"], 5, "{line}");
    }
}

#[test]
fn a_slot_is_held_until_the_answer_is_written() {
    const PLACES: usize = 2;
    let tree = Tree::new();
    let (started, received) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let read = Arc::clone(&received);
    let early = Arc::new(AtomicUsize::new(0));
    let seen_early = Arc::clone(&early);
    let dispatch = move |_: &_, _: &_| {
        let before = started.fetch_add(1, Ordering::SeqCst);
        // All but the last `PLACES - 1` have been written and therefore read, except for one that the test may not have
        // counted yet.
        if before > read.load(Ordering::SeqCst) + PLACES {
            seen_early.fetch_add(1, Ordering::SeqCst);
        }
        Ok(text(&"x".repeat(1_000_000)))
    };
    let builder = TestServer::builder(&tree).dispatch(dispatch).buffer(4096);
    let mut server = builder.limits(|limits| limits.in_flight = PLACES).start().legacy(LATEST_LEGACY);
    let ids: Vec<Value> = (0..12).map(|_| server.ask("tools/call", wait_params(""))).collect();
    for id in ids {
        assert_eq!(said(&server.answer(id)).len(), 1_000_000);
        received.fetch_add(1, Ordering::SeqCst);
    }
    assert_eq!(early.load(Ordering::SeqCst), 0, "work began although earlier answers were not taken");
}
