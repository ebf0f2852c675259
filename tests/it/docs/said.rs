//! The messages in docs/errors.md match what the server says when a call fails.

use std::fs;

use serde_json::{Value, json};

use super::messages::VALUE;
use super::{page, quoted, rows, top};
use crate::support::{Client as _, LATEST_LEGACY, TestServer, Tree};

/// Whether a message is an instance of a template, apart from what the tool adds.
fn is_instance(message: &str, template: &str) -> bool {
    let mut pieces = template.split(VALUE);
    let Some(mut rest) = pieces.next().and_then(|first| message.strip_prefix(first)) else { return false };
    pieces.all(|piece| rest.split_once(piece).map(|(_, after)| rest = after).is_some())
}

#[test]
fn values_may_be_anything() {
    assert!(is_instance("denied by the pattern \"x\"; lift it.", "denied by the pattern \"…\"…"));
    assert!(is_instance("3 names and more.", "3 names"));
    assert!(!is_instance("the file has 3 names", "the file has … bytes"));
    assert!(!is_instance("not found", "found"));
}

/// Calls that fail, each with the beginning of the row that its message must match.
fn failing(tree: &Tree) -> Vec<(&'static str, Value, &'static str)> {
    let copy = |to: &str, overwrite: bool| json!({"source": "a.txt", "destination": to, "overwrite": overwrite});
    let other = "another version";
    vec![
        ("read_text_file", json!({"path": "../secret"}), "leads outside"),
        ("read_text_file", json!({"path": tree.outside()}), "leads outside"),
        ("read_text_file", json!({"path": "none.txt"}), "not found"),
        ("read_text_file", json!({"path": ".env"}), "denied by"),
        ("read_text_file", json!({"path": "full"}), "is a directory"),
        ("list_directory", json!({"path": "a.txt"}), "not a directory"),
        ("write_file", json!({"path": "no/a.txt", "content": ""}), "parent directory"),
        ("move_file", json!({"source": "a.txt", "destination": "b.txt"}), "destination already exists; to move"),
        ("copy_file", copy("b.txt", false), "destination already exists; pass"),
        ("copy_file", copy("a.txt", true), "source and destination are the same"),
        ("write_file", json!({"path": "a.txt", "content": "", "ifMatch": other}), "the file has changed"),
        ("write_file", json!({"path": "new.txt", "content": "", "ifMatch": other}), "the file no longer exists"),
        ("delete_file", json!({"path": ".", "recursive": true}), "the served directory itself"),
        ("move_file", json!({"source": "full", "destination": "full/in"}), "a directory cannot be moved"),
        ("delete_file", json!({"path": "full"}), "the directory is not empty"),
        ("delete_file", json!({"path": "secrets", "recursive": true}), "it contains a denied entry"),
        ("delete_file", json!({"path": "tools", "recursive": true}), "it contains …, which"),
        ("write_file", json!({"path": "notes/", "content": ""}), "a path that ends in"),
        ("edit_file", edit("a.txt", "missing", "x"), "\"oldText\" was not found"),
        ("edit_file", edit("a.txt", "o", "x"), "\"oldText\" is there"),
        ("edit_file", edit("a.txt", "", "x"), "\"oldText\" is empty"),
        ("edit_file", edit("a.txt", "two", "\0"), "\"newText\" has a NUL"),
        ("edit_file", edit("empty.txt", "a", "b"), "the file is empty"),
        ("edit_file", edit("binary", "a", "b"), "not text but binary, which"),
        ("write_file", json!({"path": "binary", "content": "x", "append": true}), "not text but binary, or"),
    ]
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "edits": [{"oldText": old, "newText": new}]})
}

#[test]
fn tool_errors_match_the_table_of_messages() {
    let errors = page("docs/errors.md");
    let documented = rows(&errors, "message");
    let tree = Tree::new().file("a.txt", "one\ntwo\n").file("b.txt", "").file("empty.txt", "").file("binary", "a\0b");
    let tree = tree.file("full/a", "").file("secrets/.env", "A=1").file("tools/.envrc", "").file(".env", "A=1");
    let mut server = TestServer::builder(&tree).allow_write().start().legacy(LATEST_LEGACY);
    let mut others = Vec::new();
    for (tool, arguments, beginning) in failing(&tree) {
        let error = server.tool_error(tool, arguments.clone());
        let message = error.split_once(": ").map_or("", |(_, message)| message);
        let mut rows = documented.iter().map(|row| row[0]).filter(|row| row.starts_with(beginning));
        if !rows.any(|row| is_instance(message, row)) {
            others.push(format!("{tool} {arguments}: {error}"));
        }
    }
    assert!(others.is_empty(), "messages that no row of docs/errors.md has: {others:#?}");
}

/// Some of these come from a process that cannot even start, so they are looked up in the source.
#[test]
fn the_symptoms_in_troubleshooting_are_real_messages() {
    let sources = walkdir::WalkDir::new(top().join("src")).into_iter().filter_map(Result::ok);
    let sources = sources.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs"));
    let said: String = sources.map(|entry| fs::read_to_string(entry.path()).expect("text")).collect();
    // A literal that is broken over several lines is one text.
    let said: String = said.split("\\\n").map(str::trim_start).collect();
    let troubleshooting = page("docs/troubleshooting.md");
    let rows = rows(&troubleshooting, "symptom");
    let symptoms: Vec<&str> = rows.iter().flat_map(|row| quoted(row[0])).collect();
    assert!(symptoms.len() > 5, "{symptoms:?}");
    for symptom in symptoms {
        assert!(said.contains(symptom), "nothing in src says {symptom:?}");
    }
}
