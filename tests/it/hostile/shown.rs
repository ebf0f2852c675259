//! Names that affect the eye or the terminal: no answer shows one literally, whatever was requested, done or refused.

use mcp_fs::hostile::is_hostile;
use serde_json::{Value, json};

use crate::resources::list_all;
use crate::sandbox::{OPERATIONS, READ_RESOURCE};
use crate::support::{Client, TestServer, Tree};
use crate::writes::writing;

/// Escapes, line separators, direction and annotation marks, zero-width marks, fillers, tags, selectors.
const NAMES: [&str; 14] = [
    "esc\u{1b}[2J",
    "csi\u{9b}2J",
    "new\nbroken",
    "back\u{8}space",
    "\u{202e}txt.exe",
    "\u{2066}isolate",
    "para\u{2029}graph",
    "zero\u{200b}width",
    "joi\u{200d}ned",
    "\u{feff}mark",
    "soft\u{ad}hyphen",
    "fill\u{3164}er",
    "tag\u{e0001}\u{e0041}\u{e007f}",
    "note\u{fff9}\u{e0100}",
];

/// All strings in an answer, except keys.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

fn shows_nothing_hostile(answer: &Value, what: &str) {
    let mut found = Vec::new();
    strings(&answer["result"], &mut found);
    strings(&answer["error"], &mut found);
    assert!(!found.is_empty(), "{what}: {answer}");
    for text in found {
        let is_shown = |c: char| is_hostile(c) && !matches!(c, '\n' | '\t');
        assert!(!text.contains(is_shown), "{what}: {text:?}");
        // A newline in a name would begin a line of its own.
        assert!(!text.lines().any(|line| line.starts_with("broken")), "{what}: {text:?}");
    }
}

fn tool(server: &mut TestServer, name: &str, arguments: &Value) {
    let what = format!("{name} {arguments}");
    let answer = server.modern("tools/call", json!({"name": name, "arguments": arguments}));
    shows_nothing_hostile(&answer, &what);
}

#[test]
fn reading_operations_show_no_hostile_name() {
    for name in NAMES {
        let tree = Tree::new().file(format!("{name}/{name}"), "text\n").link("link", &format!("{name}/{name}"));
        let tree =
            tree.link(format!("{name}.link"), "nowhere").file(format!("{name}/.gitignore"), "x\n".repeat(40_000));
        let mut server = TestServer::start(&tree);
        for path in [
            name.to_owned(),
            format!("{name}/{name}"),
            format!("{name}.link"),
            format!("{name}/no"),
            "link".into(),
            ".".into(),
        ] {
            for operation in OPERATIONS {
                let path = if operation == READ_RESOURCE { tree.uri(&path) } else { path.clone() };
                let (method, params) = crate::sandbox::request(operation, &path);
                let answer = server.modern(method, params);
                shows_nothing_hostile(&answer, &format!("{operation} {path:?}"));
            }
        }
        let listed = list_all(&mut server);
        assert_eq!(listed.iter().filter(|file| file["name"] == file["uri"]).count(), 2, "{listed:?}");
        shows_nothing_hostile(&json!({"result": listed}), "resources/list");
        let reference = json!({"type": "ref/resource", "uri": server.modern("resources/templates/list", json!({}))["result"]["resourceTemplates"][0]["uriTemplate"]});
        let value = json!({"ref": reference, "argument": {"name": "path", "value": ""}});
        shows_nothing_hostile(&server.modern("completion/complete", value), "completion");
    }
}

#[test]
fn changing_operations_show_no_hostile_name() {
    for name in NAMES {
        let tree =
            Tree::new().file(format!("{name}/{name}"), "text\n").file("a", "").file(format!("kept/{name}/.envrc"), "");
        let mut server = writing(&tree);
        let inner = format!("{name}/{name}");
        for (tool_name, arguments) in [
            ("edit_file", json!({"path": inner, "edits": [{"oldText": "text", "newText": "new"}]})),
            ("edit_file", json!({"path": inner, "edits": [{"oldText": "none", "newText": "new"}]})),
            ("write_file", json!({"path": inner, "content": "text\n"})),
            ("write_file", json!({"path": format!("{name}/x/y"), "content": ""})),
            ("write_file", json!({"path": format!("{inner}/x"), "content": ""})),
            ("create_directory", json!({"path": format!("{name}/{name}2/{name}")})),
            ("copy_file", json!({"source": inner, "destination": "a"})),
            ("copy_file", json!({"source": name, "destination": format!("copy{name}")})),
            ("move_file", json!({"source": inner, "destination": format!("{name}/moved{name}")})),
            ("move_file", json!({"source": "a", "destination": format!("missing{name}/a")})),
            ("delete_file", json!({"path": "kept", "recursive": true})),
            ("delete_file", json!({"path": name})),
            ("delete_file", json!({"path": name, "recursive": true})),
        ] {
            tool(&mut server, tool_name, &arguments);
        }
    }
}

/// The served directory itself may have such a name.
#[test]
fn a_hostile_name_of_the_served_directory_is_shown_as_its_uri() {
    for name in NAMES {
        let tree = Tree::new().file("a", "").renamed(name);
        let mut server = TestServer::start(&tree);
        shows_nothing_hostile(&server.modern("server/discover", json!({})), name);
        tool(&mut server, "list_allowed_directories", &json!({}));
        assert!(server.tool_text("list_allowed_directories", json!({})).contains("\nfile:///"), "{name:?}");
    }
}
