//! `resources/subscribe` and `resources/unsubscribe` of 2024-11-05 to 2025-11-25: what they accept, reject and end.

use serde_json::{Value, json};

use crate::live::{Live, append, quick};
#[cfg(unix)]
use crate::process::users::unprivileged;
#[cfg(unix)]
use crate::support::Process;
use crate::support::{Client as _, LATEST_LEGACY, LEGACY, TestServer, Tree};

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("b.txt", "two\n")
}

fn unsubscribe(live: &mut Live, uri: &str) -> Value {
    live.client.request("resources/unsubscribe", json!({"uri": uri}))
}

fn refusal(live: &mut Live, uri: &str) -> Value {
    live.client.error("resources/subscribe", json!({"uri": uri}))
}

#[test]
fn every_legacy_revision_can_subscribe() {
    for revision in LEGACY {
        let tree = tree();
        let server = TestServer::builder(&tree).limits(quick).start().legacy(revision);
        let mut live = Live::new(server, tree);
        live.subscribe("a.txt");
        append(&live.tree, "a.txt", "more\n");
        assert_eq!(live.news(), "updated a.txt", "{revision}");
        live.nothing_else();
    }
}

#[test]
fn subscribing_twice_notifies_once() {
    let mut live = Live::legacy(tree());
    live.subscribe("a.txt");
    live.subscribe("a.txt");
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "updated a.txt");
    live.nothing_else();
    // And a single unsubscribe ends it.
    let uri = live.tree.uri("a.txt");
    assert_eq!(unsubscribe(&mut live, &uri)["result"], json!({}));
    append(&live.tree, "a.txt", "more\n");
    live.nothing_else();
}

#[test]
fn unsubscribing_affects_only_that_file() {
    let mut live = Live::legacy(tree());
    live.subscribe("a.txt");
    live.subscribe("b.txt");
    let uri = live.tree.uri("a.txt");
    assert_eq!(unsubscribe(&mut live, &uri)["result"], json!({}));
    append(&live.tree, "a.txt", "more\n");
    append(&live.tree, "b.txt", "more\n");
    assert_eq!(live.news(), "updated b.txt");
    live.nothing_else();
}

#[test]
fn another_spelling_of_the_uri_ends_a_subscription() {
    let mut live = Live::legacy(tree().dir("sub"));
    let plain = live.tree.uri("a.txt");
    for spelling in [
        plain.replace("file://", "file://localhost"),
        plain.replace("a.txt", "%61.txt"),
        plain.replace("a.txt", "./a.txt"),
        "a.txt".to_owned(),
    ] {
        live.subscribe("a.txt");
        assert_eq!(unsubscribe(&mut live, &spelling)["result"], json!({}), "{spelling}");
        append(&live.tree, "a.txt", "more\n");
        live.nothing_else();
    }
}

#[test]
fn a_range_of_lines_is_a_resource_of_its_own() {
    let mut live = Live::legacy(tree());
    let (whole, lines) = (live.tree.uri("a.txt"), live.tree.uri("a.txt") + "?offset=1");
    live.subscribe("a.txt");
    assert_eq!(unsubscribe(&mut live, &lines)["result"], json!({}));
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "updated a.txt", "{whole} is still subscribed to");
    live.nothing_else();
}

#[test]
fn unsubscribing_without_a_subscription_is_not_an_error() {
    let mut live = Live::legacy(tree());
    for path in ["a.txt", "missing.txt", "no/such/directory/a.txt", ""] {
        let uri = live.tree.uri(path);
        assert_eq!(unsubscribe(&mut live, &uri)["result"], json!({}), "{uri}");
    }
}

#[test]
fn a_missing_file_cannot_be_subscribed_to() {
    let mut live = Live::legacy(tree());
    for path in ["missing.txt", "no/such/directory/a.txt", "a.txt/below-a-file"] {
        let uri = live.tree.uri(path);
        let error = refusal(&mut live, &uri);
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)), "{error}");
    }
}

#[test]
fn a_uri_outside_is_rejected_with_the_same_words_whether_or_not_it_exists() {
    let mut live = Live::legacy(tree());
    let mut refusals = ["../secret", "../no-such-file", ".."].map(|path| {
        let uri = live.tree.uri("") + "/" + path;
        let error = refusal(&mut live, &uri);
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{error}");
        error["message"].clone()
    });
    refusals.sort_by_key(Value::to_string);
    assert_eq!(refusals[0], refusals[2]);
}

#[test]
fn a_malformed_uri_is_refused() {
    let mut live = Live::legacy(tree());
    let root = live.tree.uri("");
    for uri in [
        "http://localhost/a.txt".to_owned(),
        "file://host/a.txt".to_owned(),
        format!("{root}/a.txt%00"),
        format!("{root}/sub%2Fa.txt"),
        format!("{root}/a.txt?offset=0"),
        format!("{root}/a.txt?offset=x"),
    ] {
        assert_eq!(refusal(&mut live, &uri)["code"], -32602, "{uri}");
    }
    for params in [json!({}), json!({"uri": null}), json!({"uri": 1}), json!({"uri": ["a.txt"]})] {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            assert_eq!(live.client.error(method, params.clone())["code"], -32602, "{method} {params}");
        }
    }
}

#[cfg(unix)]
#[test]
fn denied_and_special_files_are_rejected_as_for_reading() {
    let mut live = Live::legacy(tree().file(".env", "KEY=1\n").fifo("pipe").socket("socket"));
    for path in [".env", "pipe", "socket"] {
        let uri = live.tree.uri(path);
        let error = refusal(&mut live, &uri);
        assert_eq!(error["code"], -32603, "{path}: {error}");
        assert_eq!(error, live.client.error("resources/read", json!({"uri": uri})), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn unreachable_files_are_rejected_as_for_reading() {
    let tree = tree().file("closed/a.txt", "one\n").mode("closed", 0o000);
    let Some(program) = unprivileged(&tree, [tree.path()]) else { return };
    let mut live = Live::new(Process::start(program).legacy(LATEST_LEGACY), tree);
    for path in ["closed/a.txt", "closed/missing.txt"] {
        let uri = live.tree.uri(path);
        let error = live.client.error("resources/subscribe", json!({"uri": uri}));
        assert_eq!(error["code"], -32603, "{error}");
        assert_eq!(error, live.client.error("resources/read", json!({"uri": uri})), "{path}");
        assert_eq!(live.listen(path, json!({"resourceSubscriptions": [uri]})), json!({}));
    }
    live.nothing_else();
}

#[test]
fn at_the_limit_of_subscriptions_one_must_end_before_the_next() {
    let mut live = Live::with(tree(), |limits| {
        quick(limits);
        limits.watch.followed = 3;
    });
    live.client.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    live.client.notify("notifications/initialized", json!({}));
    live.subscribe("a.txt");
    live.subscribe("b.txt");
    live.subscribe("");
    let uri = live.tree.uri("sentinel.txt");
    let error = refusal(&mut live, &uri);
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains('3')), "it should say how many: {error}");
    // It can subscribe again to one that exists.
    live.subscribe("a.txt");
    let root = live.tree.uri("");
    unsubscribe(&mut live, &root);
    append(&live.tree, "b.txt", "more\n");
    assert_eq!(live.news(), "updated b.txt");
    live.nothing_else();
}

#[test]
fn subscriptions_are_bounded_in_bytes_too() {
    let mut live = Live::with(tree(), |limits| {
        quick(limits);
        limits.held_bytes = 400_000; // of which subscriptions have a quarter
    });
    live.client.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    live.client.notify("notifications/initialized", json!({}));
    let uri = |n: usize| live.tree.uri("") + &"/.".repeat(5_000) + &format!("/a.txt?offset={n}");
    let uris: Vec<String> = (1..20).map(uri).collect();
    let mut subscribe = |uri: &str| live.client.request("resources/subscribe", json!({"uri": uri}));
    let taken = uris.iter().take_while(|uri| subscribe(uri).get("result").is_some()).count();
    assert!((5..10).contains(&taken), "{taken} subscriptions of 10,000 bytes each");
    let error = subscribe(&uris[taken]);
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("100000 bytes")), "{error}");
    assert!(unsubscribe(&mut live, &uris[0]).get("result").is_some());
    assert!(live.client.request("resources/subscribe", json!({"uri": uris[taken]})).get("result").is_some());
}

#[test]
fn changes_before_initialized_are_reported_once_afterwards() {
    let mut live = Live::quick(tree());
    live.client.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    live.client.request("resources/list", json!({}));
    live.subscribe("a.txt");
    live.subscribe("b.txt");
    for _ in 0..3 {
        append(&live.tree, "a.txt", "more\n");
        std::fs::write(live.tree.join("new.txt"), "").unwrap();
        // This checks for silence, and that the server has noticed.
        live.nothing_else();
        std::fs::remove_file(live.tree.join("new.txt")).unwrap();
        live.nothing_else();
    }
    live.client.notify("notifications/initialized", json!({}));
    assert_eq!(live.all_news(2), ["list_changed", "updated a.txt"]);
    live.nothing_else();
}
