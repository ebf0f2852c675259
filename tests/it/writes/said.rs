//! How a server with write access describes itself: instructions, hints, and the options that enable it.

use serde_json::{Value, json};

use super::writing;
use crate::support::{Client, LATEST_LEGACY, LEGACY, Process, TestServer, Tree, names_of, run, text_of};

#[test]
fn the_instructions_say_that_the_directory_is_writable() {
    let tree = Tree::new();
    let (mut writable, mut read_only) = (writing(&tree), TestServer::start(&tree));
    let instructions = |server: &mut TestServer| server.result("server/discover", json!({}))["instructions"].clone();
    assert!(instructions(&mut writable).as_str().expect("text").contains("read-write"));
    assert!(instructions(&mut read_only).as_str().expect("text").contains("read-only"));
    let said = text_of(&writable.tool("list_allowed_directories", json!({})));
    assert!(said.contains("read and write"), "{said}");
}

/// The four hints of a tool: read-only, destructive, idempotent, open world.
fn hints(list: &Value, name: &str) -> [bool; 4] {
    let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).expect("the tool");
    let hint = |key: &str| tool["annotations"][key].as_bool().expect("a hint");
    ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(hint)
}

#[test]
fn annotations_match_what_the_tools_do() {
    let list = writing(&Tree::new()).result("tools/list", json!({}));
    for (name, destructive, idempotent) in [
        ("write_file", true, false),
        ("edit_file", true, false),
        ("create_directory", false, true),
        ("move_file", true, false),
        ("copy_file", true, false),
        ("delete_file", true, false),
    ] {
        assert_eq!(hints(&list, name), [false, destructive, idempotent, false], "{name}");
    }
}

/// Tools have `_meta` since 2025-06-18.
#[test]
fn deleting_requires_confirmation_each_time() {
    let tree = Tree::new();
    for revision in LEGACY {
        let list = writing(&tree).legacy(revision).result("tools/list", json!({}));
        for tool in list["tools"].as_array().expect("tools") {
            let meta = json!({"anthropic/requiresUserInteraction": true});
            let wanted = (tool["name"] == "delete_file" && revision >= "2025-06-18").then_some(&meta);
            assert_eq!(tool.get("_meta"), wanted, "{revision}: {tool}");
        }
    }
}

#[test]
fn the_option_enables_it_and_check_includes_it() {
    let tree = Tree::new();
    let path = tree.path().to_str().expect("text");
    let report = String::from_utf8(run(["--check", "--allow-write", "--no-fsync", path], "").stdout).expect("text");
    assert!(report.contains("access        read and write"), "{report}");
    let pasted = report.lines().find(|line| line.contains("claude mcp add")).expect("a line to paste");
    assert!(pasted.contains(" --allow-write --no-fsync "), "{pasted}");
    let mut process = Process::spawn(["--allow-write", "--no-fsync", path]).legacy(LATEST_LEGACY);
    assert!(names_of(&process.result("tools/list", json!({}))).contains(&"write_file"));
    process.tool_text("write_file", json!({"path": "a", "content": "x"}));
    assert_eq!(std::fs::read(tree.join("a")).unwrap(), b"x");
}

#[test]
fn no_fsync_requires_allow_write() {
    let output = run(["--no-fsync", "."], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--allow-write"), "{output:?}");
}
