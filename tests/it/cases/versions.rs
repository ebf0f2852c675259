//! Group J: a read returns a version that a later write can require.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, TestServer, Tree};
use crate::tools::{blocks, text_and_note};

fn writable(tree: &Tree) -> TestServer {
    TestServer::builder(tree).allow_write().start()
}

/// The token in a note.
fn version(note: &str) -> String {
    let (_, rest) = note.split_once("version ").unwrap_or_else(|| panic!("no version: {note}"));
    rest.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// The version of `a.txt` that each way to read it returns.
fn versions(server: &mut TestServer, tree: &Tree) -> Vec<String> {
    let mut versions = Vec::new();
    for arguments in
        [json!({"path": "a.txt"}), json!({"path": "a.txt", "head": 1}), json!({"path": "a.txt", "tail": 1})]
    {
        versions.push(version(&text_and_note(server, "read_text_file", arguments).1.expect("a note")));
    }
    let many = blocks(&server.tool("read_multiple_files", json!({"paths": ["a.txt", "b.txt"]})));
    versions.push(version(&many[0]));
    assert_ne!(version(&many[1]), versions[0], "it is another file");
    for uri in [tree.uri("a.txt"), tree.uri("a.txt") + "?offset=2"] {
        let mut result = server.result("resources/read", json!({"uri": uri}));
        let version = result["contents"][0]["_meta"]["dev.mcp-fs/version"].take();
        versions.push(version.as_str().expect("a version").to_owned());
    }
    versions.push(version(&server.tool_text("get_file_info", json!({"path": "a.txt"})).replace("version:", "version")));
    versions
}

/// obsidian-mcp #205, openclaw #146096: a read, someone else's write, and then a write that overwrote it.
#[test]
fn j13_a_write_can_be_tied_to_what_was_read() {
    let tree = Tree::new().file("a.txt", "one\ntwo\n").file("b.txt", "x");
    let mut server = writable(&tree);
    let read = versions(&mut server, &tree);
    assert!(read.iter().all(|version| *version == read[0] && version.len() == 16), "{read:?}");
    fs::write(tree.join("a.txt"), "theirs\n").unwrap();
    let edits = json!([{"oldText": "theirs", "newText": "mine"}]);
    for (tool, more) in [("write_file", json!({"content": "mine"})), ("edit_file", json!({"edits": edits}))] {
        let arguments = crate::tools::with(&json!({"path": "a.txt", "ifMatch": read[0]}), &more);
        let error = server.tool_error(tool, arguments);
        assert!(error.contains("has changed"), "{error}");
    }
    let now = versions(&mut server, &tree).remove(0);
    server.tool_text("write_file", json!({"path": "a.txt", "content": "mine", "ifMatch": now}));
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"mine");
}

/// Media and files in other encodings can be overwritten, too.
#[test]
fn j13_a_blob_has_a_version_and_a_directory_has_none() {
    let tree = Tree::new().file("d/a.bin", b"\0\x01");
    let mut server = writable(&tree);
    let mut meta =
        |path| server.result("resources/read", json!({"uri": tree.uri(path)}))["contents"][0]["_meta"].take();
    assert!(meta("d/a.bin")["dev.mcp-fs/version"].is_string());
    assert_eq!(meta("d"), Value::Null);
}

/// Without write access, there is no version.
#[test]
fn j13_a_read_only_server_returns_no_version() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree);
    assert_eq!(text_and_note(&mut server, "read_text_file", json!({"path": "a.txt"})).1, None);
    assert_eq!(server.tool_text("read_multiple_files", json!({"paths": ["a.txt"]})), "a.txt:\none\n");
    let result = server.result("resources/read", json!({"uri": tree.uri("a.txt")}));
    assert_eq!(result["contents"][0].get("_meta"), None);
}

/// Many files share one answer; their versions count towards its size.
#[test]
fn j13_versions_of_many_files_fit_into_the_answer() {
    let mut tree = Tree::new();
    let paths: Vec<String> = (0..100).map(|number| format!("file-{number}.txt")).collect();
    for path in &paths {
        tree = tree.file(path, "some text\n".repeat(200));
    }
    let blocks = blocks(&writable(&tree).tool("read_multiple_files", json!({"paths": paths})));
    assert_eq!(blocks.len(), 100);
    let bytes: usize = blocks.iter().map(String::len).sum();
    assert!(bytes <= 40_000, "{bytes}");
}
