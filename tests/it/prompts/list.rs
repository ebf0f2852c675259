//! `prompts/list`, and how a server describes its prompts.

use serde_json::json;

use super::{REVIEW, names, serve};
use crate::support::{Client, LATEST_LEGACY, LEGACY, Process, TestServer, Tree, run};

#[test]
fn both_eras_list_what_the_files_say() {
    let tree = Tree::new().file("prompts/review.md", REVIEW).file("prompts/plain.md", "Hello.");
    for revision in LEGACY {
        let mut server = serve(&tree).start().legacy(revision);
        let result = server.result("prompts/list", json!({}));
        let review = &result["prompts"][1];
        let arguments = json!([
            {"name": "path", "description": "Which file", "required": true},
            {"name": "focus", "required": false},
        ]);
        assert_eq!((&review["name"], &review["description"]), (&json!("review"), &json!("Reviews a file")));
        assert_eq!(review["arguments"], arguments);
        assert_eq!(review.get("title").is_some(), revision >= "2025-06-18", "{revision}");
        assert_eq!(result["prompts"][0], json!({"name": "plain"}));
    }
    let answer = serve(&tree).start().modern("prompts/list", json!({}));
    let result = &answer["result"];
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{result}");
    assert_eq!(result["prompts"][1]["title"], "Review");
}

#[test]
fn the_capability_is_declared_only_with_the_option() {
    let tree = Tree::new().dir("prompts");
    let capability = |server: TestServer| {
        let mut server = server;
        let answer = server.modern("server/discover", json!({}));
        answer["result"]["capabilities"].get("prompts").cloned()
    };
    assert_eq!(capability(TestServer::start(&tree)), None);
    assert_eq!(capability(serve(&tree).start()), Some(json!({"listChanged": true})));
    assert_eq!(capability(serve(&tree).allow_write().start()), Some(json!({"listChanged": true})));
    let off = serve(&tree).limits(|limits| limits.watch.mode = mcp_fs::limits::WatchMode::Off);
    assert_eq!(capability(off.start()), Some(json!({})));
}

#[test]
fn without_the_option_there_is_no_such_method() {
    let tree = Tree::new().file("prompts/review.md", REVIEW);
    let mut server = TestServer::start(&tree);
    for (method, params) in [("prompts/list", json!({})), ("prompts/get", json!({"name": "review"}))] {
        let error = server.error(method, params);
        assert_eq!(error["code"], -32601);
        assert_eq!(error["message"], format!("Method not found: {method} (the server runs without --prompts)"));
    }
}

#[test]
fn pages_follow_each_other_in_the_order_of_names() {
    let mut tree = Tree::new();
    for name in ["b", "a/z", "a/b/c", "ä", "z", "a"] {
        tree = tree.file(format!("prompts/{name}.md"), "x");
    }
    for page in [1, 2, 5, 6, 100] {
        let mut server = serve(&tree).limits(|limits| limits.page = page).start();
        assert_eq!(names(&mut server), ["a", "a/b/c", "a/z", "b", "z", "ä"], "{page} a page");
    }
}

#[test]
fn a_cursor_is_valid_in_another_process_and_after_its_prompt_is_gone() {
    let tree = Tree::new().file("prompts/a.md", "x").file("prompts/b.md", "x").file("prompts/c.md", "x");
    let small = || serve(&tree).limits(|limits| limits.page = 2).start();
    let cursor = small().result("prompts/list", json!({}))["nextCursor"].take();
    std::fs::remove_file(tree.join("prompts/b.md")).expect("it is removed");
    let page = small().result("prompts/list", json!({"cursor": cursor}));
    assert_eq!((&page["prompts"], page.get("nextCursor")), (&json!([{"name": "c"}]), None));
    let resources = TestServer::builder(&tree).limits(|limits| limits.page = 1).start();
    let foreign = { resources }.result("resources/list", json!({}))["nextCursor"].take();
    let cut = cursor.as_str().map(|text| text[..text.len() - 1].to_owned());
    for wrong in [json!(""), json!("x"), json!(1), json!(cut), foreign] {
        assert_eq!(small().error("prompts/list", json!({"cursor": wrong}))["code"], -32602, "{wrong}");
    }
}

#[test]
fn long_descriptions_make_short_pages() {
    let long = format!("---\ndescription: {}\n---\nx", "d".repeat(16_000));
    let tree = (0..100).fold(Tree::new(), |tree, n| tree.file(format!("prompts/{n:03}.md"), &long));
    let mut server = serve(&tree).start();
    let first = server.result("prompts/list", json!({}));
    let count = first["prompts"].as_array().expect("prompts").len();
    assert!((50..100).contains(&count), "{count} prompts of 16 KB are about a megabyte");
    assert_eq!(names(&mut server).len(), 100);
}

#[test]
fn invalid_files_are_named_and_hide_no_other() {
    let tree = Tree::new()
        .file("prompts/a.md", "x")
        .file("prompts/bad.md", "---\ndescription: [\n---\nx")
        .file("prompts/empty.md", "")
        .file("prompts/notes.txt", "x")
        .file("prompts/z.md", "x");
    let mut command = crate::support::command(["--prompts", "prompts"]);
    command.arg(tree.path());
    let mut process = Process::start(command).legacy(LATEST_LEGACY);
    assert_eq!(names(&mut process), ["a", "z"]);
    let error = process.error("prompts/get", json!({"name": "bad"}));
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().is_some_and(|text| text.contains("front matter")), "{error}");
    let stderr = process.finish();
    let about = |file: &str| stderr.lines().any(|line| line.contains(file) && line.contains("is left out"));
    assert!(about("prompts/bad.md") && about("prompts/empty.md"), "{stderr}");
    assert!(!stderr.contains("notes.txt") && !stderr.contains("a.md"), "{stderr}");
}

#[test]
fn check_counts_prompts_and_names_invalid_files() {
    let tree = Tree::new().file("prompts/a.md", "x").file("prompts/bad.md", "---\n").file("prompts/b.md", "x");
    let output = run(["--check", "--prompts", "prompts", tree.path().to_str().expect("text")], "");
    let report = String::from_utf8(output.stdout).expect("text");
    assert!(report.contains("\nprompts       2 below prompts\n"), "{report}");
    assert!(report.contains("\nno prompt     prompts/bad.md: the front matter has no end"), "{report}");
    assert!(report.contains("mcp-fs --prompts=prompts ") && report.contains("\"--prompts=prompts\""), "{report}");
}

#[test]
fn an_invalid_folder_is_rejected_at_startup() {
    let tree = Tree::new().file("a.txt", "x").file(".ssh/x.md", "x");
    for (path, why) in [
        ("missing", "not found"),
        ("a.txt", "not a directory"),
        ("../", "outside"),
        ("/etc", "outside"),
        (".ssh", "denied"),
    ] {
        let output = run(["--prompts", path, tree.path().to_str().expect("text")], "");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {stderr}");
        assert!(stderr.contains("--prompts") && stderr.contains(why), "{path}: {stderr}");
    }
}

#[test]
fn files_of_claude_code_and_copilot_are_prompts_as_they_are() {
    let tree = Tree::new()
        .file(".claude/commands/git/fix.md", "---\nargument-hint: [number]\n---\nFix $1: $ARGUMENTS, !`date`")
        .file(
            ".github/prompts/form.prompt.md",
            "---\nmode: agent\ndescription: A form\n---\nMake ${input:name:its name}.",
        )
        .file(".github/prompts/README.md", "no prompt")
        .file(".gitignore", ".claude\n");
    let mut server = TestServer::builder(&tree).prompts(".claude/commands").start();
    assert_eq!(names(&mut server), ["git/fix"]);
    let said = super::said(&mut server, "git/fix", json!({"1": "7"}));
    assert_eq!(said, [json!({"type": "text", "text": "Fix 7: , !`date`"})]);
    let mut server = TestServer::builder(&tree).prompts(".github/prompts").start();
    let result = server.result("prompts/list", json!({}));
    let arguments = json!([{"name": "name", "description": "its name", "required": true}]);
    let form = json!([{"name": "form", "description": "A form", "arguments": arguments}]);
    assert_eq!(result["prompts"], form);
}
