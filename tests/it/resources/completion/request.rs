//! Which requests to `completion/complete` are valid, in which revision, how many at once; and which error names what
//! is wrong.

use std::sync::mpsc;

use serde_json::{Value, json};

use super::{asking, template, values};
use crate::support::{Client, LATEST_LEGACY, LEGACY, TIMEOUT, TestServer, Tree};

#[test]
fn numbers_are_not_completed() {
    let tree = Tree::new().file("1", "");
    let mut server = TestServer::start(&tree);
    for name in ["offset", "limit", "column"] {
        let mut params = asking(&tree, "1");
        params["argument"]["name"] = json!(name);
        let result = server.result("completion/complete", params);
        assert_eq!(result["completion"], json!({"values": [], "total": 0, "hasMore": false}), "{name}");
    }
}

#[test]
fn every_revision_completes() {
    let tree = Tree::new().file("a.txt", "").file("b.txt", "");
    let want = json!({"values": ["a.txt"], "total": 1, "hasMore": false});
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        assert_eq!(server.result("completion/complete", asking(&tree, "a")), json!({"completion": want}), "{revision}");
    }
    let result = TestServer::start(&tree).result("completion/complete", asking(&tree, "a"));
    assert_eq!((&result["completion"], result.get("ttlMs")), (&want, None), "{result}");
}

/// The template, or a URI; values of other variables have no effect.
#[test]
fn known_references_are_accepted() {
    let tree = Tree::new().file("a.txt", "");
    let mut server = TestServer::start(&tree);
    for (key, given) in [
        ("ref", json!({"type": "ref/resource", "uri": tree.uri("a.txt")})),
        ("ref", json!({"type": "ref/resource", "uri": tree.uri("missing"), "name": 5})),
        ("context", json!(null)),
        ("context", json!({})),
        ("context", json!({"arguments": {"offset": "3"}})),
    ] {
        let mut params = asking(&tree, "A");
        params[key] = given;
        let result = server.result("completion/complete", params.clone());
        assert_eq!(values(&result["completion"]), ["a.txt"], "{params}");
    }
}

#[test]
fn unknown_references_and_wrong_types_are_named() {
    let tree = Tree::new().file("a.txt", "");
    let (mut legacy, mut modern) = (TestServer::start(&tree).legacy(LATEST_LEGACY), TestServer::start(&tree));
    let template = template(&tree);
    for (place, wrong, named) in [
        ("/ref", json!(null), "\"ref\""),
        ("/ref", json!(template), "\"ref\""),
        ("/ref", json!([]), "\"ref\""),
        ("/ref", json!({"uri": template}), "\"type\""),
        ("/ref/type", json!(1), "\"type\""),
        ("/ref/type", json!("ref/tool"), "\"type\""),
        ("/ref", json!({"type": "ref/prompt"}), "\"name\""),
        ("/ref", json!({"type": "ref/prompt", "name": "x"}), "prompts"),
        ("/ref/uri", json!(null), "\"uri\""),
        ("/ref/uri", json!({}), "\"uri\""),
        ("/ref/uri", json!(tree.uri("") + "/{+path}"), "resources/templates/list"),
        ("/ref/uri", json!(tree.uri("../secret")), "resources/templates/list"),
        ("/ref/uri", json!("file:///{+path}"), "resources/templates/list"),
        ("/ref/uri", json!("file:///etc/passwd"), "resources/templates/list"),
        ("/ref/uri", json!("http://localhost/"), "resources/templates/list"),
        ("/argument", json!(null), "\"argument\""),
        ("/argument", json!("path"), "\"argument\""),
        ("/argument", json!({"name": "path"}), "\"value\""),
        ("/argument/value", json!(1), "\"value\""),
        ("/argument/name", json!(1), "\"name\""),
        ("/argument/name", json!("file"), "path, offset, limit, column"),
        ("/argument/name", json!("Path"), "path, offset, limit, column"),
        ("/argument/name", json!(""), "path, offset, limit, column"),
        ("/context", json!([]), "\"context\""),
        ("/context", json!({"arguments": "x"}), "\"arguments\""),
    ] {
        let mut params = asking(&tree, "a");
        params["context"] = json!({});
        *params.pointer_mut(place).expect(place) = wrong.clone();
        let [error, other] = [&mut legacy as &mut TestServer, &mut modern]
            .map(|server| server.error("completion/complete", params.clone()));
        assert_eq!(error, other, "both eras refuse it alike");
        assert_eq!(error["code"], -32602, "{place} {wrong}: {error}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains(named)), "{place} {wrong}: {error}");
    }
}

#[test]
fn many_at_once_are_all_answered() {
    let tree = (0..64).fold(Tree::new(), |tree, number| tree.file(format!("d{number:02}/file"), ""));
    let mut server = TestServer::start(&tree);
    let ask = |number| asking(&tree, &format!("d{number:02}/f"));
    let ids: Vec<Value> = (0..64).map(|number| server.ask_modern("completion/complete", ask(number))).collect();
    for (number, id) in ids.into_iter().enumerate() {
        let answer = server.answer(id);
        assert_eq!(values(&answer["result"]["completion"]), [format!("d{number:02}/file")], "{answer}");
    }
}

#[test]
fn it_stops_when_it_is_cancelled() {
    let tree = Tree::new().file("a", "");
    let (tell, told) = mpsc::channel();
    let builder = TestServer::builder(&tree).dispatch(move |call, context| {
        context.cancel.cancel();
        let result = mcp_fs::features::dispatch::dispatch(call, context);
        tell.send(format!("{result:?}")).expect("the test waits");
        result
    });
    let mut server = builder.start();
    let id = server.ask_modern("completion/complete", asking(&tree, "a"));
    assert_eq!(told.recv_timeout(TIMEOUT).as_deref(), Ok("Err(Cancelled)"));
    server.notify("notifications/cancelled", json!({"requestId": id}));
}
