//! Subscriptions begin and end in the order in which the client sent them, however long each takes.

use mcp_fs::call::Call;
use mcp_fs::limits::Limits;
use serde_json::{Value, json};

use crate::live::{Live, append, listen, quick};
use crate::support::{Client as _, Gate, LATEST_LEGACY, TestServer, Tree};

/// A legacy client of a server in which each subscription waits at the gate.
fn slow(gate: &Gate, change: impl FnOnce(&mut Limits)) -> Live {
    let tree = Tree::new().file("a.txt", "one\n").file("b.txt", "two\n");
    let gate = gate.clone();
    let builder = TestServer::builder(&tree).limits(quick).limits(change).dispatch(move |call, context| {
        if matches!(call, Call::Subscribe { .. }) {
            gate.pass();
        }
        mcp_fs::features::dispatch::dispatch(call, context)
    });
    Live::new(builder.start().legacy(LATEST_LEGACY), tree)
}

fn request(live: &Live, id: u32, method: &str, path: &str) -> String {
    let params = json!({"uri": live.tree.uri(path)});
    json!({"jsonrpc": "2.0", "id": id, "method": format!("resources/{method}"), "params": params}).to_string() + "\n"
}

/// The ids of the next answers, each of which must be a result.
fn answered(live: &mut Live, count: usize) -> Vec<Value> {
    (0..count)
        .map(|_| live.client.recv())
        .inspect(|answer| assert!(answer.get("result").is_some(), "{answer}"))
        .map(|answer| answer["id"].clone())
        .collect()
}

#[test]
fn an_unsubscribe_sent_after_a_slow_subscribe_takes_effect_after_it() {
    let gate = Gate::new();
    let mut live = slow(&gate, |_| ());
    let lines = [(1, "subscribe", "a.txt"), (2, "unsubscribe", "a.txt"), (3, "subscribe", "b.txt")];
    let lines: String = lines.map(|(id, method, path)| request(&live, id, method, path)).concat();
    live.client.send_raw(lines);
    gate.wait_for(1);
    // It delays nothing else.
    assert_eq!(live.client.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    assert_eq!(gate.arrived(), 1, "the second begins when the first has ended");
    live.client.expect_silence();
    gate.open();
    assert_eq!(answered(&mut live, 3), [json!(1), json!(2), json!(3)]);
    append(&live.tree, "a.txt", "more\n");
    append(&live.tree, "b.txt", "more\n");
    assert_eq!(live.news(), "updated b.txt");
    live.nothing_else();
}

#[test]
fn a_subscribe_sent_after_an_unsubscribe_stays_in_effect() {
    let gate = Gate::new();
    let mut live = slow(&gate, |_| ());
    let methods = ["subscribe", "unsubscribe", "subscribe", "unsubscribe", "subscribe"];
    let lines: String = (1..).zip(methods).map(|(id, method)| request(&live, id, method, "a.txt")).collect();
    live.client.send_raw(lines);
    gate.wait_for(1);
    gate.open();
    assert_eq!(answered(&mut live, 5), [1, 2, 3, 4, 5].map(|id| json!(id)));
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "updated a.txt");
    live.nothing_else();
}

#[test]
fn a_cancelled_subscribe_has_no_effect_and_does_not_delay_the_next() {
    let gate = Gate::new();
    let mut live = slow(&gate, |_| ());
    let lines = request(&live, 1, "subscribe", "a.txt") + &request(&live, 2, "unsubscribe", "b.txt");
    live.client.send_raw(lines);
    gate.wait_for(1);
    live.cancel(1);
    assert_eq!(answered(&mut live, 1), [json!(2)]);
    gate.open();
    live.nothing_else();
    append(&live.tree, "a.txt", "more\n");
    live.nothing_else();
}

/// The room freed by the end of one subscription is available when the next stream begins.
#[test]
fn the_order_holds_across_eras() {
    let gate = Gate::new();
    let mut live = slow(&gate, |limits| limits.watch.followed = 1);
    let wanted = json!({"resourceSubscriptions": [live.tree.uri("b.txt")]});
    let stream = listen(&json!("s"), wanted.clone()).to_string() + "\n";
    let lines = request(&live, 1, "subscribe", "a.txt") + &request(&live, 2, "unsubscribe", "a.txt") + stream.as_str();
    live.client.send_raw(lines);
    gate.wait_for(1);
    live.client.expect_silence();
    gate.open();
    assert_eq!(answered(&mut live, 2), [json!(1), json!(2)]);
    let acknowledged = live.client.recv();
    assert_eq!(acknowledged["params"]["notifications"], wanted, "{acknowledged}");
    live.cancel("s");
    live.nothing_else();
}

/// As first resolved: resolving a link may take long, and ending a subscription must not need that.
#[cfg(unix)]
#[test]
fn a_link_can_be_subscribed_and_unsubscribed_at_once() {
    let tree = Tree::new().file("deep/a.txt", "one\n").link("link", "deep/a.txt");
    let mut live = Live::legacy(tree);
    for n in 0..20 {
        let lines = request(&live, 2 * n, "subscribe", "link") + &request(&live, 2 * n + 1, "unsubscribe", "link");
        live.client.send_raw(lines);
        assert_eq!(answered(&mut live, 2), [json!(2 * n), json!(2 * n + 1)]);
    }
    append(&live.tree, "deep/a.txt", "two\n");
    live.nothing_else();
}
