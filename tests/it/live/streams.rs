//! Several streams side by side: each reports what it was opened for, displaces no other, and ends on its own or with
//! all.

use std::fs;

use serde_json::{Value, json};

use crate::live::{Live, append, listen, quick};
use crate::support::client::{SUBSCRIPTION_ID, with_meta};
use crate::support::conversation::Conversation;
use crate::support::{Client as _, LATEST_LEGACY, TestServer, Tree, run};

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("b.txt", "two\n")
}

#[test]
fn each_stream_reports_what_it_was_opened_for_and_nothing_else() {
    let mut live = Live::quick(tree());
    let [a, b] = ["a.txt", "b.txt"].map(|path| live.tree.uri(path));
    live.listen_to_list("list");
    live.listen_to("a", "a.txt");
    live.listen("both", json!({"resourceSubscriptions": [a, b]}));
    live.listen("everything", json!({"resourceSubscriptions": [b], "resourcesListChanged": true}));
    live.listen("nothing", json!({}));
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.all_news(2), ["\"a\" updated a.txt", "\"both\" updated a.txt"]);
    live.nothing_else();
    append(&live.tree, "b.txt", "more\n");
    assert_eq!(live.all_news(2), ["\"both\" updated b.txt", "\"everything\" updated b.txt"]);
    live.nothing_else();
    fs::write(live.tree.join("new.txt"), "").unwrap();
    assert_eq!(live.all_news(2), ["\"everything\" list_changed", "\"list\" list_changed"]);
    live.nothing_else();
}

#[test]
fn a_legacy_session_and_streams_are_notified_side_by_side() {
    let mut live = Live::legacy(tree());
    live.subscribe("a.txt");
    live.listen_to(1, "a.txt");
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.all_news(2), ["1 updated a.txt", "updated a.txt"]);
    // The end of one does not end the other.
    live.cancel(1);
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "updated a.txt");
    live.listen_to(1, "a.txt");
    let uri = live.tree.uri("a.txt");
    live.client.request("resources/unsubscribe", json!({"uri": uri}));
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "1 updated a.txt");
    live.nothing_else();
}

#[test]
fn a_cancelled_stream_is_silent_and_its_id_can_be_reused() {
    let mut live = Live::quick(tree());
    live.listen_to("s", "a.txt");
    live.cancel("s");
    live.client.expect_silence();
    append(&live.tree, "a.txt", "more\n");
    live.nothing_else();
    live.client.send(json!({"jsonrpc": "2.0", "id": "s", "method": "tools/list", "params": with_meta(json!({}))}));
    assert!(live.client.answer(json!("s"))["result"]["tools"].is_array());
    live.listen_to("s", "b.txt");
    append(&live.tree, "a.txt", "more\n");
    append(&live.tree, "b.txt", "more\n");
    assert_eq!(live.news(), "\"s\" updated b.txt");
    live.nothing_else();
}

#[test]
fn cancelling_an_unknown_stream_has_no_effect() {
    let mut live = Live::quick(tree());
    live.listen_to(1, "a.txt");
    for id in [json!("1"), json!(2), json!(null), json!([1]), json!(1.0)] {
        live.client.notify("notifications/cancelled", json!({"requestId": id}));
    }
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "1 updated a.txt");
    live.nothing_else();
}

#[test]
fn at_most_sixty_four_streams_are_open() {
    let mut live = Live::quick(tree());
    for id in 0..64 {
        live.listen_to(id, "a.txt");
    }
    live.client.send(listen(&json!(64), json!({})));
    let answer = live.client.answer(json!(64));
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("64")), "{answer}");
    append(&live.tree, "a.txt", "more\n");
    let mut expected: Vec<String> = (0..64).map(|id| format!("{id} updated a.txt")).collect();
    expected.sort();
    assert_eq!(live.all_news(64), expected);
    live.cancel(17);
    live.nothing_else();
    live.listen_to(64, "b.txt");
}

#[test]
fn streams_take_no_slots_of_requests() {
    let tree = tree();
    let builder = TestServer::builder(&tree).limits(|limits| {
        quick(limits);
        limits.in_flight = 1;
    });
    let mut live = Live::new(builder.start().legacy(LATEST_LEGACY), tree);
    for id in 0..3 {
        live.listen_to(id, "a.txt");
        let answer = live.client.modern("resources/list", json!({}));
        assert!(answer["result"]["resources"].is_array(), "{answer}");
    }
    assert_eq!(live.client.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    append(&live.tree, "a.txt", "two\n");
    assert_eq!(live.all_news(3), ["0 updated a.txt", "1 updated a.txt", "2 updated a.txt"]);
    live.nothing_else();
}

/// Whether a message ends a stream.
fn is_end(message: &Value) -> bool {
    message["result"]["resultType"] == "complete" && message["result"]["_meta"][SUBSCRIPTION_ID] == message["id"]
}

#[test]
fn each_stream_gets_its_result_at_the_end_of_the_input() {
    let mut live = Live::quick(tree());
    let ids = [json!(1), json!("1"), json!("s")];
    for id in &ids {
        live.listen_to(id.clone(), "a.txt");
    }
    live.listen_to("cancelled", "a.txt");
    live.cancel("cancelled");
    let end = live.client.close();
    assert!(end.iter().all(is_end), "{end:?}");
    let mut ended: Vec<&Value> = end.iter().map(|message| &message["id"]).collect();
    ended.sort_by_key(ToString::to_string);
    assert_eq!(ended, [&json!("1"), &json!("s"), &json!(1)]);
}

/// `printf ... | mcp-fs DIR`: the input ends before the stream has begun.
#[test]
fn a_stream_opened_just_before_the_end_is_acknowledged_and_ended() {
    let tree = tree();
    let uri = tree.uri("a.txt");
    let honoured = json!({"resourceSubscriptions": [uri], "resourcesListChanged": true});
    let [s, t] = ["s", "t"].map(|id| listen(&json!(id), honoured.clone()));
    let lines = format!("{s}\n{t}\n");
    let output = run([tree.path()], &lines);
    assert!(output.status.success(), "{output:?}");
    let mut conversation = Conversation::default();
    conversation.sent(lines.as_bytes());
    let said = output.stdout.split_inclusive(|byte| *byte == b'\n').map(|line| conversation.received(line));
    let said: Vec<Value> = said.collect();
    conversation.check_all_answered();
    for id in ["s", "t"] {
        let of_it = |message: &&Value| message["id"] == id || message["params"]["_meta"][SUBSCRIPTION_ID] == id;
        let of_it: Vec<&Value> = said.iter().filter(of_it).collect();
        let [acknowledged, end] = of_it[..] else { panic!("{id}: {of_it:?}") };
        assert_eq!(acknowledged["params"]["notifications"], honoured);
        assert!(is_end(end), "{end}");
    }
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
