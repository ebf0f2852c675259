//! `prompts/get`: arguments, embedded files, and what is rejected.

use serde_json::{Value, json};

use super::{REVIEW, said, serve};
use crate::support::{Client, LEGACY, TestServer, Tree};

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn every_revision_gives_a_prompt() {
    let tree = Tree::new().file("prompts/review.md", REVIEW);
    let wanted = [text("Review {{focus}} for .")];
    for revision in LEGACY {
        let mut server = serve(&tree).start().legacy(revision);
        let given = json!({"path": "{{focus}}"});
        assert_eq!(said(&mut server, "review", given), wanted, "{revision}");
    }
    let answer = serve(&tree).start().modern("prompts/get", json!({"name": "review", "arguments": {"path": "a"}}));
    assert_eq!(answer["result"]["description"], "Reviews a file");
    assert_eq!((answer["result"].get("ttlMs"), answer["result"].get("cacheScope")), (None, None));
}

#[test]
fn errors_are_the_same_in_both_eras() {
    let tree = Tree::new().file("prompts/review.md", REVIEW).file("other.md", "x");
    let (mut legacy, mut modern) = (serve(&tree).start().legacy(LEGACY[3]), serve(&tree).start());
    for (params, named) in [
        (json!({}), "\"name\""),
        (json!({"name": 1}), "\"name\""),
        (json!({"name": "nope"}), "Unknown prompt: nope"),
        (json!({"name": ""}), "Unknown prompt"),
        (json!({"name": "review.md"}), "Unknown prompt"),
        (json!({"name": "../other"}), "Unknown prompt"),
        (json!({"name": "x/../review"}), "Unknown prompt"),
        (json!({"name": "./review"}), "Unknown prompt"),
        (json!({"name": "/review"}), "Unknown prompt"),
        (json!({"name": "review\u{0}"}), "Unknown prompt"),
        (json!({"name": "x".repeat(5_000)}), "Unknown prompt"),
        (json!({"name": "review"}), "\"path\" is missing"),
        (json!({"name": "review", "arguments": {}}), "\"path\" is missing"),
        (json!({"name": "review", "arguments": null}), "\"path\" is missing"),
        (json!({"name": "review", "arguments": []}), "\"arguments\""),
        (json!({"name": "review", "arguments": {"path": 1}}), "\"path\" must be a string"),
        (json!({"name": "review", "arguments": {"path": "a", "Focus": "b"}}), "Unknown argument \"Focus\""),
    ] {
        let [error, other] = [&mut legacy, &mut modern].map(|server| server.error("prompts/get", params.clone()));
        assert_eq!(error, other, "both eras refuse it alike");
        assert_eq!(error["code"], -32602, "{params}: {error}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains(named)), "{params}: {error}");
    }
}

#[test]
fn files_are_embedded_whole() {
    let tree = Tree::new()
        .file("prompts/a.md", "Compare\n{{file:docs/one.md}}\n{{file:picture.png}}\nand say why.")
        .file("docs/one.md", "# One\n")
        .file("picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    let mut server = serve(&tree).start();
    let content = said(&mut server, "a", json!({}));
    let one = json!({"uri": tree.uri("docs/one.md"), "mimeType": "text/markdown", "text": "# One\n"});
    assert_eq!(content[..2], [text("Compare"), json!({"type": "resource", "resource": one})]);
    let picture = &content[2]["resource"];
    assert_eq!((&picture["mimeType"], &picture["blob"]), (&json!("image/png"), &json!("iVBORw0KGgoAAA==")));
    assert_eq!(content[3..], [text("and say why.")]);
}

#[test]
fn embedded_files_follow_all_rules_of_the_root() {
    let mut tree = Tree::new().file(".env", "KEY=1").file("sub/x", "x").dir("deep");
    for (name, path) in [
        ("missing", "nope.txt"),
        ("denied", ".env"),
        ("outside", "../secret"),
        ("absolute", "/etc/passwd"),
        ("directory", "sub"),
        ("uri", "file:///etc/passwd"),
    ] {
        tree = tree.file(format!("prompts/{name}.md"), format!("{{{{file:{path}}}}}"));
    }
    let mut server = serve(&tree).start();
    for (name, why) in [
        ("missing", "not found"),
        ("denied", "denied by the pattern"),
        ("outside", "outside"),
        ("absolute", "outside"),
        ("directory", "is a directory"),
        ("uri", "outside"),
    ] {
        let error = server.error("prompts/get", json!({"name": name}));
        assert_eq!(error["code"], -32603, "{error}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains(why)), "{name}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_embedded_files_stay_inside() {
    let tree = Tree::new()
        .file("real.txt", "inside")
        .link("in.txt", "real.txt")
        .link("out.txt", "../secret")
        .fifo("pipe")
        .file("prompts/in.md", "{{file:in.txt}}")
        .file("prompts/out.md", "{{file:out.txt}}")
        .file("prompts/pipe.md", "{{file:pipe}}");
    let mut server = serve(&tree).start();
    assert_eq!(said(&mut server, "in", json!({}))[0]["resource"]["text"], "inside");
    for (name, why) in [("out", "outside"), ("pipe", "not a regular file")] {
        let error = server.error("prompts/get", json!({"name": name}));
        assert!(error["message"].as_str().is_some_and(|said| said.contains(why)), "{error}");
    }
}

#[test]
fn messages_are_limited_to_a_megabyte() {
    let tree = Tree::new()
        .file("prompts/one.md", "{{file:half}}\n{{file:half}}")
        .file("prompts/two.md", "x\n{{file:half}}\n{{file:half}}")
        .file("prompts/blob.md", "{{file:blob}}")
        .file("prompts/many.md", format!("---\narguments: [{{name: a}}]\n---\n{}", "{{a}}".repeat(1_000)))
        .file("half", "x".repeat(512 << 10))
        .file("blob", vec![0; 800 << 10]);
    let mut server = serve(&tree).start();
    assert_eq!(said(&mut server, "one", json!({})).len(), 2);
    for (name, arguments) in [("two", json!({})), ("blob", json!({})), ("many", json!({"a": "x".repeat(2_000)}))] {
        let error = server.error("prompts/get", json!({"name": name, "arguments": arguments}));
        assert_eq!(error["code"], -32602, "{name}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains("1048576")), "{error}");
    }
}

#[test]
fn many_at_once_are_all_answered() {
    let tree = (0..64).fold(Tree::new(), |tree, n| tree.file(format!("prompts/{n}.md"), format!("Say {n}.")));
    let mut server = serve(&tree).start();
    let ids: Vec<Value> = (0..64).map(|n| server.ask_modern("prompts/get", json!({"name": n.to_string()}))).collect();
    for (n, id) in ids.into_iter().enumerate() {
        assert_eq!(server.answer(id)["result"]["messages"][0]["content"], text(&format!("Say {n}.")));
    }
}

#[test]
fn tools_are_the_same_with_prompts() {
    let tree = Tree::new().dir("prompts");
    let (mut with, mut without) = (serve(&tree).start(), TestServer::start(&tree));
    assert_eq!(with.result("tools/list", json!({})), without.result("tools/list", json!({})));
}

#[test]
fn embedded_files_have_the_media_type_of_the_resource() {
    let tree = Tree::new().file("prompts/one.md", "{{file:wide.txt}}").file("wide.txt", b"\xFF\xFEh\0i\0");
    let mut server = serve(&tree).start();
    let embedded = said(&mut server, "one", json!({}))[0]["resource"].clone();
    let read = server.result("resources/read", json!({"uri": embedded["uri"]}))["contents"][0].clone();
    assert!(read["mimeType"].as_str().is_some_and(|kind| kind.contains("charset=")), "{read}");
    assert_eq!((&embedded["mimeType"], &embedded["blob"]), (&read["mimeType"], &read["blob"]));
}
