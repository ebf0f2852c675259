//! `subscriptions/listen` of 2026-07-28: what is acknowledged, under which id, and what is rejected.

use std::time::Instant;

use serde_json::{Value, json};

use crate::live::{Live, append, listen, quick};
use crate::support::client::{SUBSCRIPTION_ID, with_meta};
use crate::support::{Client as _, TIMEOUT, TestServer, Tree};

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("b.txt", "two\n").file(".env", "KEY=1\n")
}

#[test]
fn the_acknowledgement_names_exactly_what_will_be_reported() {
    let mut live = Live::quick(tree());
    let [a, b, root] = ["a.txt", "b.txt", ""].map(|path| live.tree.uri(path));
    for (asked, acknowledged) in [
        (json!({}), json!({})),
        (json!({"resourcesListChanged": true}), json!({"resourcesListChanged": true})),
        (json!({"resourcesListChanged": false, "resourceSubscriptions": []}), json!({})),
        (json!({"resourcesListChanged": null, "resourceSubscriptions": null}), json!({})),
        // Tools and prompts never change here.
        (json!({"toolsListChanged": true, "promptsListChanged": true}), json!({})),
        (json!({"toolsListChanged": true, "resourcesListChanged": true}), json!({"resourcesListChanged": true})),
        (json!({"dev.example/unknown": {"deep": [1]}}), json!({})),
        (json!({"resourceSubscriptions": [a, b]}), json!({"resourceSubscriptions": [a, b]})),
        (json!({"resourceSubscriptions": [a, a, b, a]}), json!({"resourceSubscriptions": [a, b]})),
        (
            json!({"resourceSubscriptions": [root], "resourcesListChanged": true}),
            json!({"resourceSubscriptions": [root], "resourcesListChanged": true}),
        ),
    ] {
        assert_eq!(live.listen("s", asked.clone()), acknowledged, "{asked}");
        live.cancel("s");
    }
}

#[cfg(unix)]
#[test]
fn uris_that_cannot_be_followed_are_left_out_and_the_rest_is_reported() {
    let mut live = Live::quick(tree().link("out", "../secret").fifo("pipe"));
    let root = live.tree.uri("");
    let bad =
        ["/../secret", "/../no-such-file", "/.env", "/out", "/pipe", "/no/such/directory/a.txt", "/a%00", "-evil"];
    let mut uris: Vec<String> = bad.iter().map(|path| format!("{root}{path}")).collect();
    uris.extend(["http://localhost/x", "file://host/x", "file:///etc/passwd"].map(str::to_owned));
    assert_eq!(live.listen("bad", json!({"resourceSubscriptions": uris})), json!({}));
    let a = live.tree.uri("a.txt");
    uris.insert(4, a.clone());
    assert_eq!(live.listen("s", json!({"resourceSubscriptions": uris})), json!({"resourceSubscriptions": [a]}));
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "\"s\" updated a.txt");
    live.nothing_else();
    // With nothing to report, it is still open, and ends like others.
    live.cancel("s");
    let end = live.client.close();
    assert_eq!((end.len(), &end[0]["id"]), (1, &json!("bad")), "{end:?}");
}

#[test]
fn a_missing_file_is_followed_if_its_directory_exists() {
    let mut live = Live::quick(tree().dir("sub"));
    live.listen_to("s", "sub/new.txt");
    for _ in 0..2 {
        std::fs::rename(live.tree.join("a.txt"), live.tree.join("sub/new.txt")).unwrap();
        assert_eq!(live.news(), "\"s\" updated sub/new.txt");
        live.nothing_else();
        std::fs::rename(live.tree.join("sub/new.txt"), live.tree.join("a.txt")).unwrap();
        assert_eq!(live.news(), "\"s\" updated sub/new.txt");
        live.nothing_else();
    }
}

#[test]
fn a_stream_id_is_echoed_as_it_was_written() {
    let mut live = Live::quick(tree());
    let ids = [
        json!(1),
        json!("1"),
        json!(0),
        json!(-7),
        json!(""),
        json!("listen:0"),
        json!("\u{e9} \"quoted\" \n"),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
        json!(i64::MIN),
    ];
    for id in &ids {
        live.listen_to(id.clone(), "a.txt");
    }
    append(&live.tree, "a.txt", "more\n");
    let mut expected: Vec<String> = ids.iter().map(|id| format!("{id} updated a.txt")).collect();
    expected.sort();
    assert_eq!(live.all_news(ids.len()), expected);
    live.nothing_else();
}

/// It exceeds what `serde_json` keeps exactly, so the lines themselves are compared.
#[test]
fn a_stream_id_of_forty_digits_is_echoed_exactly() {
    let id = "1234567890123456789012345678901234567890";
    let tree = tree();
    let server = TestServer::builder(&tree).limits(quick).start();
    let mut live = Live::new(server, tree);
    let line = listen(&json!("ID"), json!({"resourceSubscriptions": [live.tree.uri("a.txt")]})).to_string();
    live.client.write((line.replace("\"ID\"", id) + "\n").as_bytes());
    for method in ["acknowledged", "updated", "updated"] {
        let line = String::from_utf8(live.client.read().unwrap()).unwrap();
        let tag = format!("\"{SUBSCRIPTION_ID}\":{id}}}");
        assert!(line.contains(method) && line.contains(&tag), "{line}");
        append(&live.tree, "a.txt", "more\n");
    }
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "ID"}});
    live.client.write((cancelled.to_string().replace("\"ID\"", id) + "\n").as_bytes());
    live.client.expect_silence();
}

#[test]
fn the_id_of_an_open_stream_cannot_be_reused() {
    let mut live = Live::quick(tree());
    live.listen_to("s", "a.txt");
    let again = listen(&json!("s"), json!({}));
    let other = json!({"jsonrpc": "2.0", "id": "s", "method": "tools/list", "params": with_meta(json!({}))});
    let legacy = json!({"jsonrpc": "2.0", "id": "s", "method": "ping"});
    for request in [again, other, legacy] {
        live.client.send(request.clone());
        let answer = live.client.recv();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("s"), &json!(-32600)), "{request}: {answer}");
    }
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "\"s\" updated a.txt", "and the stream goes on");
    live.nothing_else();
}

#[test]
fn parameters_of_the_wrong_type_are_rejected() {
    let mut server = TestServer::start(&tree());
    let uris = |count: usize| json!({"resourceSubscriptions": vec!["a.txt"; count]});
    for params in [
        json!({}),
        json!({"notifications": null}),
        json!({"notifications": true}),
        json!({"notifications": []}),
        json!({"notifications": "resourcesListChanged"}),
        json!({"notifications": {"resourcesListChanged": "true"}}),
        json!({"notifications": {"resourcesListChanged": 1}}),
        json!({"notifications": {"toolsListChanged": {}}}),
        json!({"notifications": {"promptsListChanged": []}}),
        json!({"notifications": {"resourceSubscriptions": "a.txt"}}),
        json!({"notifications": {"resourceSubscriptions": {}}}),
        json!({"notifications": {"resourceSubscriptions": [1]}}),
        json!({"notifications": {"resourceSubscriptions": ["a.txt", null]}}),
        json!({"notifications": {"resourceSubscriptions": true}}),
        json!({"notifications": uris(1_001)}),
    ] {
        let error = server.error("subscriptions/listen", params.clone());
        assert_eq!(error["code"], -32602, "{}: {error}", shortened(&params));
        server.expect_silence();
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(100).collect()
}

#[test]
fn a_thousand_uris_can_be_followed_on_one_stream() {
    let mut live = Live::quick(Tree::new().dir("sub"));
    let uris: Vec<String> = (0..1_000).map(|number| live.tree.uri(format!("sub/{number}"))).collect();
    let wanted = json!({"resourceSubscriptions": uris});
    assert_eq!(live.listen("s", wanted.clone()), wanted);
    std::fs::write(live.tree.join("sub/999"), "").unwrap();
    assert_eq!(live.news(), "\"s\" updated sub/999");
    live.nothing_else();
}

#[test]
fn subscriptions_over_the_limit_are_left_out() {
    let mut live = Live::with(tree(), |limits| {
        quick(limits);
        limits.watch.followed = 3;
    });
    let uris: Vec<String> = (0..5).map(|number| live.tree.uri(number.to_string())).collect();
    let acknowledged = live.listen("s", json!({"resourceSubscriptions": uris}));
    assert_eq!(acknowledged, json!({"resourceSubscriptions": uris[..3]}));
    assert_eq!(live.listen("t", json!({"resourceSubscriptions": uris})), json!({}));
    live.cancel("s");
    // The thread that followed them makes room, and therefore a moment later.
    let deadline = Instant::now() + TIMEOUT;
    let all = json!({"resourceSubscriptions": uris[2..]});
    for stream in 1.. {
        if live.listen(stream, all.clone()) == all {
            break;
        }
        assert!(Instant::now() < deadline, "a stream that ends makes no room");
        live.cancel(stream);
    }
}

#[test]
fn a_stream_cannot_be_opened_in_a_batch() {
    let mut server = TestServer::start(&tree()).legacy("2025-03-26");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    server.send(json!([listen(&json!("s"), json!({})), ping]));
    let answers = server.recv();
    let answers = answers.as_array().unwrap();
    let refused = answers.iter().find(|answer| answer["id"] == "s").unwrap();
    assert_eq!((answers.len(), &refused["error"]["code"]), (2, &json!(-32600)), "{answers:?}");
}
