//! Several clients of one server: what belongs to one of them never reaches another, and nothing that one does or
//! leaves undone delays another. In both eras, and with one client in each.

use std::fs;
use std::io::Write as _;

use mcp_fs::call::{Block, Call, Failure, Outcome, ToolResult};
use mcp_fs::services::context::Context;
use serde_json::{Value, json};

use crate::live::quick;
use crate::support::client::with_meta;
use crate::support::server::Builder;
use crate::support::{Client, Gate, LATEST_LEGACY, TestServer, Tree, text_of};

/// The era that each of two clients speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

const PAIRS: [[Era; 2]; 3] = [[Era::Legacy, Era::Legacy], [Era::Modern, Era::Modern], [Era::Legacy, Era::Modern]];

/// Two clients of a server.
fn pair(builder: Builder, eras: [Era; 2]) -> [TestServer; 2] {
    let [first, second] = builder.start_shared();
    let greet = |client: TestServer, era| if era == Era::Legacy { client.legacy(LATEST_LEGACY) } else { client };
    [greet(first, eras[0]), greet(second, eras[1])]
}

/// A server with a tool `wait`, which ends when the gate opens or the call is cancelled.
fn waiting(tree: &Tree, gate: &Gate) -> Builder {
    let gate = gate.clone();
    TestServer::builder(tree).dispatch(move |call, context| wait(call, context, &gate))
}

fn wait(call: &Call, context: &Context, gate: &Gate) -> Result<Outcome, Failure> {
    match call {
        Call::CallTool { name, .. } if name == "wait" => {
            gate.pass();
            Ok(Outcome::Tool(ToolResult { content: vec![Block::Text("done".to_owned().into())], is_error: false }))
        }
        _ => mcp_fs::features::dispatch::dispatch(call, context),
    }
}

/// Sends a request under an id of the test's choice, in the client's era.
fn send(client: &mut TestServer, era: Era, id: &str, method: &str, params: Value) {
    let params = if era == Era::Modern { with_meta(params) } else { params };
    client.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
}

/// Changes a file in one step, so that it is one change.
fn change(tree: &Tree, name: &str) {
    let mut file = fs::File::options().append(true).open(tree.path().join(name)).expect("a file");
    file.write_all(b"more").expect("a write");
}

/// Subscribes the client to changes of `path`.
fn subscribe(client: &mut TestServer, era: Era, uri: &str) {
    if era == Era::Legacy {
        client.result("resources/subscribe", json!({"uri": uri}));
        return;
    }
    send(client, era, "stream", "subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri]}}));
    assert_eq!(client.recv()["method"], "notifications/subscriptions/acknowledged");
}

#[test]
fn the_same_id_belongs_to_a_different_request_of_each_client() {
    for eras in PAIRS {
        let tree = Tree::new().file("first", "of the first").file("second", "of the second");
        let mut clients = pair(TestServer::builder(&tree), eras);
        for (client, (era, name)) in clients.iter_mut().zip(eras.into_iter().zip(["first", "second"])) {
            send(client, era, "id", "tools/call", json!({"name": "read_text_file", "arguments": {"path": name}}));
        }
        for (client, name) in clients.iter_mut().zip(["first", "second"]) {
            let answer = client.answer(json!("id"));
            assert_eq!(text_of(&answer["result"]), format!("of the {name}"), "{eras:?}");
        }
    }
}

#[test]
fn a_cancellation_affects_only_its_own_client() {
    for eras in PAIRS {
        let (tree, gate) = (Tree::new(), Gate::new());
        let mut clients = pair(waiting(&tree, &gate), eras);
        for (client, era) in clients.iter_mut().zip(eras) {
            send(client, era, "same", "tools/call", json!({"name": "wait"}));
        }
        gate.wait_for(2);
        clients[0].notify("notifications/cancelled", json!({"requestId": "same"}));
        clients[0].expect_silence();
        gate.open();
        assert_eq!(text_of(&clients[1].answer(json!("same"))["result"]), "done", "{eras:?}");
        clients[0].expect_silence();
    }
}

#[test]
fn each_client_is_notified_of_its_own_subscriptions() {
    for eras in PAIRS {
        let tree = Tree::new().file("first", "1").file("second", "2").file("both", "3");
        let mut clients = pair(TestServer::builder(&tree).limits(quick), eras);
        let uris = ["first", "second", "both"].map(|name| tree.uri(name));
        for (client, (era, uri)) in clients.iter_mut().zip(eras.into_iter().zip(&uris)) {
            if era == Era::Modern {
                let params = json!({"notifications": {"resourceSubscriptions": [uri, uris[2]]}});
                send(client, era, "stream", "subscriptions/listen", params);
                assert_eq!(client.recv()["method"], "notifications/subscriptions/acknowledged");
            } else {
                subscribe(client, era, uri);
                subscribe(client, era, &uris[2]);
            }
        }
        for name in ["first", "second"] {
            change(&tree, name);
        }
        for (client, uri) in clients.iter_mut().zip(&uris) {
            assert_eq!(client.recv()["params"]["uri"], *uri, "{eras:?}");
        }
        // Each is notified once of what both follow, and nothing else came before.
        change(&tree, "both");
        for client in &mut clients {
            assert_eq!(client.recv()["params"]["uri"], uris[2], "{eras:?}");
        }
    }
}

#[test]
fn the_end_of_one_client_s_subscription_leaves_the_other_s() {
    for eras in PAIRS {
        let tree = Tree::new().file("a", "1");
        let [mut first, mut second] = pair(TestServer::builder(&tree).limits(quick), eras);
        let uri = tree.uri("a");
        subscribe(&mut first, eras[0], &uri);
        subscribe(&mut second, eras[1], &uri);
        if eras[0] == Era::Legacy {
            first.result("resources/unsubscribe", json!({"uri": uri}));
        } else {
            first.notify("notifications/cancelled", json!({"requestId": "stream"}));
        }
        first.expect_silence();
        change(&tree, "a");
        assert_eq!(second.recv()["params"]["uri"], uri, "{eras:?}");
        first.expect_silence();
        // Nor does the end of one client end anything of the other.
        assert_eq!(first.close(), [] as [Value; 0]);
        change(&tree, "a");
        assert_eq!(second.recv()["params"]["uri"], uri, "{eras:?}");
    }
}

/// One has listed after the change and the other has not: only the other is notified.
#[test]
fn each_client_has_its_own_state_of_the_list() {
    for eras in PAIRS {
        let tree = Tree::new().file("a", "1");
        let mut clients = pair(TestServer::builder(&tree).limits(quick), eras);
        for (client, era) in clients.iter_mut().zip(eras) {
            if era == Era::Modern {
                let params = json!({"notifications": {"resourcesListChanged": true}});
                send(client, era, "stream", "subscriptions/listen", params);
                assert_eq!(client.recv()["method"], "notifications/subscriptions/acknowledged");
            }
            client.result("resources/list", json!({}));
        }
        for name in ["b", "c"] {
            fs::write(tree.path().join(name), "new").expect("a write");
            for client in &mut clients {
                assert_eq!(client.recv()["method"], "notifications/resources/list_changed", "{eras:?} {name}");
                client.result("resources/list", json!({}));
            }
        }
    }
}

#[test]
fn a_client_whose_slots_are_all_taken_delays_no_other() {
    for eras in PAIRS {
        let (tree, gate) = (Tree::new().file("a", "1"), Gate::new());
        let builder = waiting(&tree, &gate).limits(|limits| (limits.in_flight, limits.queued) = (4, 16));
        let [mut first, mut second] = pair(builder, eras);
        let asked: Vec<String> = (0..20).map(|n| format!("wait {n}")).collect();
        for id in &asked {
            send(&mut first, eras[0], id, "tools/call", json!({"name": "wait"}));
        }
        gate.wait_for(4);
        // A walk needs a thread; a small read is done inline.
        let list = second.tool_text("list_directory", json!({}));
        let read = second.tool_text("read_text_file", json!({"path": "a"}));
        assert_eq!((list.as_str(), read.as_str()), ("[FILE] a", "1"), "{eras:?}");
        gate.open();
        for id in asked {
            first.answer(json!(id));
        }
    }
}

#[test]
fn a_client_that_does_not_read_delays_no_other() {
    for eras in PAIRS {
        let tree = Tree::new().file("big.txt", "0123456789abcde\n".repeat(16_000)).file("a", "1");
        let prepared = Gate::new();
        let counted = prepared.clone();
        let builder = TestServer::builder(&tree).buffer(1 << 10).limits(|limits| limits.answer_bytes = 1 << 20);
        let builder = builder.dispatch(move |call, context| {
            let outcome = mcp_fs::features::dispatch::dispatch(call, context);
            counted.arrive();
            outcome
        });
        let [mut first, mut second] = pair(builder, eras);
        for n in 0..8 {
            send(&mut first, eras[0], &n.to_string(), "resources/read", json!({"uri": tree.uri("big.txt")}));
        }
        // More than these do not fit into its share of the memory.
        prepared.wait_for(4);
        let big = second.result("resources/read", json!({"uri": tree.uri("big.txt")}));
        assert!(big["contents"][0]["text"].as_str().is_some_and(|text| text.len() > 200_000), "{eras:?}");
        for n in 0..8 {
            assert!(first.answer(json!(n.to_string())).get("result").is_some(), "{eras:?}");
        }
    }
}
