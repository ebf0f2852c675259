//! `completion/complete` by `ref/prompt`.

use serde_json::{Value, json};

use super::{REVIEW, serve};
use crate::support::{Client, TestServer, Tree};

fn asking(prompt: &str, argument: &str, value: &str) -> Value {
    json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": argument, "value": value}})
}

fn tree() -> Tree {
    Tree::new().file("prompts/review.md", REVIEW).file("src/a b%.rs", "").file("src/b.rs", "").file("src/.env", "")
}

#[test]
fn a_path_is_completed_as_it_is_written() {
    let tree = tree();
    let mut server = serve(&tree).start();
    for (typed, values) in [
        ("", json!(["prompts/", "src/"])),
        ("s", json!(["src/", "prompts/"])),
        ("src/", json!(["src/a b%.rs", "src/b.rs"])),
        ("src/a b%", json!(["src/a b%.rs"])),
        ("src/a%20", json!([])),
        ("../", json!([])),
        ("/etc/", json!([])),
    ] {
        let result = server.result("completion/complete", asking("review", "path", typed));
        assert_eq!(result["completion"]["values"], values, "{typed:?}");
    }
    let absolute = tree.join("src").to_str().expect("text").to_owned() + "/b.";
    let result = server.result("completion/complete", asking("review", "path", &absolute));
    assert_eq!(result["completion"]["values"], json!([format!("{absolute}rs")]));
}

#[test]
fn another_argument_has_no_completions() {
    let tree = tree();
    let result = serve(&tree).start().result("completion/complete", asking("review", "focus", "s"));
    assert_eq!(result["completion"], json!({"values": [], "total": 0, "hasMore": false}));
}

#[test]
fn unknown_prompts_and_arguments_are_named() {
    let tree = tree();
    let mut server = serve(&tree).start();
    for (params, named) in [
        (asking("nope", "path", ""), "Unknown prompt: nope"),
        (asking("../review", "path", ""), "Unknown prompt"),
        (asking("review", "Path", ""), "path, focus"),
        (json!({"ref": {"type": "ref/prompt"}, "argument": {"name": "path", "value": ""}}), "\"name\""),
    ] {
        let error = server.error("completion/complete", params);
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().is_some_and(|said| said.contains(named)), "{error}");
    }
    let error = TestServer::start(&tree).error("completion/complete", asking("review", "path", ""));
    assert!(error["message"].as_str().is_some_and(|said| said.contains("no prompts here")), "{error}");
}
