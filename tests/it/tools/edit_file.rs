//! `edit_file`: the diff, what is written and what is not, versions, and concurrent edits.
//!
//! The effect of an edit on a text is tested in src/features/edit and in `cases::editing`.

use std::fs;

use serde_json::{Value, json};

use super::text_and_note;
use crate::support::{Client, Process, SECRET_MARKER, TestServer, Tree, text_of};

fn writable(tree: &Tree) -> TestServer {
    TestServer::builder(tree).allow_write().start()
}

/// The arguments for edits of `a.txt`.
fn edits(edits: &[(&str, &str)]) -> Value {
    let edits: Vec<_> = edits.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    json!({"path": "a.txt", "edits": edits})
}

fn with(mut arguments: Value, key: &str, value: impl Into<Value>) -> Value {
    arguments[key] = value.into();
    arguments
}

fn content(tree: &Tree) -> String {
    fs::read_to_string(tree.join("a.txt")).unwrap()
}

/// The version in a note or in the facts about a file.
fn version(text: &str) -> String {
    let (_, rest) = text.split_once("version").unwrap_or_else(|| panic!("no version: {text}"));
    rest.trim_start_matches(':').trim().chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn the_changes_come_back_as_a_diff_in_the_official_format() {
    let tree = Tree::new().file("a.txt", "one\ntwo\nthree");
    let (diff, note) = text_and_note(&mut writable(&tree), "edit_file", edits(&[("two", "TWO"), ("one\n", "")]));
    let line = "=".repeat(67);
    let want = format!(
        "```diff\nIndex: a.txt\n{line}\n--- a.txt\toriginal\n+++ a.txt\tmodified\n@@ -1,3 +1,2 @@\n-one\n-two\n+TWO\n \
         three\n\\ No newline at end of file\n```\n\n"
    );
    assert_eq!(diff, want);
    let note = note.expect("a note");
    assert!(note.starts_with("[2 places replaced; 9 bytes; version "), "{note}");
    assert_eq!(content(&tree), "TWO\nthree");
}

#[test]
fn a_dry_run_shows_the_same_and_writes_nothing() {
    let tree = Tree::new().file("a.txt", "one\n");
    let modified = || fs::metadata(tree.join("a.txt")).unwrap().modified().unwrap();
    let (before, mut server) = (modified(), writable(&tree));
    let (dry, note) = text_and_note(&mut server, "edit_file", with(edits(&[("one", "two")]), "dryRun", true));
    assert!(note.expect("a note").starts_with("[dry run: 1 place would be replaced; nothing was written;"));
    assert_eq!((content(&tree).as_str(), modified()), ("one\n", before));
    let (done, _) = text_and_note(&mut server, "edit_file", edits(&[("one", "two")]));
    assert_eq!((dry, content(&tree).as_str()), (done, "two\n"));
}

#[test]
fn all_edits_are_made_or_none() {
    let tree = Tree::new().file("a.txt", "one\ntwo\n");
    let mut server = writable(&tree);
    let text = server.tool_error("edit_file", edits(&[("one", "1"), ("two", "2"), ("one", "x")]));
    assert!(text.starts_with("a.txt: edit 3 of 3, after the edits before it: \"oldText\" was not found."), "{text}");
    assert_eq!(content(&tree), "one\ntwo\n");
}

#[test]
fn an_edit_without_effect_writes_nothing() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = writable(&tree);
    let before = version(&server.tool_text("get_file_info", json!({"path": "a.txt"})));
    let (_, note) = text_and_note(&mut server, "edit_file", edits(&[("one", "one")]));
    let note = note.expect("a note");
    assert!(note.contains("nothing changed") && version(&note) == before, "{note}");
}

/// An edit matches any kind of line ending, so it cannot change it.
#[test]
fn an_edit_of_line_endings_only_says_that_they_are_kept() {
    let tree = Tree::new().file("a.txt", "one\r\ntwo\r\n");
    let mut server = writable(&tree);
    let (_, note) = text_and_note(&mut server, "edit_file", edits(&[("one\r\n", "one\n")]));
    let note = note.expect("a note");
    assert!(note.contains("line endings are kept; use write_file to change them"), "{note}");
}

#[test]
fn an_edit_can_require_a_version() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = writable(&tree);
    let first = version(&server.tool_text("get_file_info", json!({"path": "a.txt"})));
    let (_, note) = text_and_note(&mut server, "edit_file", with(edits(&[("one", "two")]), "ifMatch", first.clone()));
    let second = version(&note.expect("a note"));
    assert_ne!(first, second);
    let text = server.tool_error("edit_file", with(edits(&[("two", "x")]), "ifMatch", first));
    assert!(text.contains("changed") && text.contains(&second), "{text}");
    assert_eq!(content(&tree), "two\n");
    server.tool_text("edit_file", with(edits(&[("two", "three")]), "ifMatch", second));
    assert_eq!(content(&tree), "three\n");
}

#[test]
fn no_concurrent_edit_is_lost() {
    const EDITS: usize = 40;
    let lines = |word: &str| (0..EDITS).map(|at| format!("{word} {at};\n")).collect::<Vec<_>>().concat();
    let tree = Tree::new().file("a.txt", lines("old"));
    let mut server = writable(&tree);
    let asked: Vec<_> = (0..EDITS)
        .map(|at| {
            let edit = edits(&[(&format!("old {at};"), &format!("new {at};"))]);
            server.ask_modern("tools/call", json!({"name": "edit_file", "arguments": edit}))
        })
        .collect();
    for id in asked {
        let result = server.answer(id)["result"].take();
        assert_ne!(result["isError"], true, "{}", text_of(&result));
    }
    assert_eq!(content(&tree), lines("new"));
}

#[test]
fn two_processes_see_each_others_changes_and_the_same_versions() {
    let tree = Tree::new().file("a.txt", "one\n");
    let start = || Process::spawn([tree.path().as_os_str(), "--allow-write".as_ref()]);
    let (mut first, mut second) = (start(), start());
    let (_, note) = text_and_note(&mut first, "edit_file", edits(&[("one", "two")]));
    let made_by_first = version(&note.expect("a note"));
    second.tool_text("edit_file", with(edits(&[("two", "three")]), "ifMatch", made_by_first.clone()));
    let text = first.tool_error("edit_file", with(edits(&[("three", "x")]), "ifMatch", made_by_first));
    assert!(text.contains("changed"), "{text}");
    assert_eq!(content(&tree), "three\n");
}

#[test]
fn two_concurrent_processes_leave_a_complete_file() {
    const EDITS: usize = 30;
    let tree = Tree::new().file("a.txt", (0..2 * EDITS).map(|at| format!("old {at};\n")).collect::<Vec<_>>().concat());
    let start = || Process::spawn([tree.path().as_os_str(), "--allow-write".as_ref()]);
    let mut processes = [start(), start()];
    let mut asked = Vec::new();
    for at in 0..2 * EDITS {
        let edit = edits(&[(&format!("old {at};"), &format!("new {at};"))]);
        asked.push(processes[at % 2].ask_modern("tools/call", json!({"name": "edit_file", "arguments": edit})));
    }
    for (at, id) in asked.into_iter().enumerate() {
        let result = processes[at % 2].answer(id)["result"].take();
        let said = text_of(&result);
        let is_overtaken =
            ["another program changed it", "in use by another program"].iter().any(|why| said.contains(why));
        assert!(result["isError"] != true || is_overtaken, "{said}");
    }
    let content = content(&tree);
    let is_whole = |(at, line): (usize, &str)| [format!("old {at};"), format!("new {at};")].contains(&line.to_owned());
    assert!(content.lines().count() == 2 * EDITS && content.lines().enumerate().all(is_whole), "{content}");
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_long_diff_is_cut_to_the_output_limit() {
    let tree = Tree::new().file("a.txt", "old\n".repeat(5_000));
    let mut server = TestServer::builder(&tree).allow_write().limits(|limits| limits.output_bytes = 2_000).start();
    let (diff, note) = text_and_note(&mut server, "edit_file", with(edits(&[("old", "new")]), "replaceAll", true));
    let note = note.expect("a note");
    assert!(diff.len() + note.len() <= 2_000 && diff.contains("cut"), "{} {diff}", diff.len());
    assert!(note.starts_with("[5,000 places replaced;"), "{note}");
    assert_eq!(content(&tree), "new\n".repeat(5_000));
}

#[test]
fn an_edit_that_is_refused_says_what_to_do() {
    let tree = Tree::new().file("a.txt", b"a\0b").dir("d").file("huge", "");
    fs::File::options().write(true).open(tree.join("huge")).unwrap().set_len((16 << 20) + 1).unwrap();
    let mut server = writable(&tree);
    for (path, want) in [
        ("a.txt", "not text but binary"),
        ("d", "is a directory, not a file"),
        ("missing", "not found"),
        ("huge", "16777216"),
        ("../secret", "outside the served directory"),
    ] {
        let text = server.tool_error("edit_file", with(edits(&[("a", "b")]), "path", path));
        assert!(text.contains(want), "{path}: {text}");
    }
    for (edits, want) in [
        (json!([]), "\"edits\" must be an array of 1 to 100 objects"),
        (json!([{"oldText": "a"}]), "\"edits\" item 1 must have \"newText\", a string."),
        (json!([{"oldText": "", "newText": "b"}]), "binary"),
    ] {
        let text = server.tool_error("edit_file", json!({"path": "a.txt", "edits": edits}));
        assert!(text.contains(want), "{edits}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_inside_and_refused_outside() {
    let tree = Tree::new().file("a.txt", "one\n").link("in", "a.txt").link("out", "../secret");
    let mut server = writable(&tree);
    let (diff, _) = text_and_note(&mut server, "edit_file", with(edits(&[("one", "two")]), "path", "in"));
    assert!(diff.contains("--- a.txt\toriginal"), "{diff}");
    assert_eq!((content(&tree).as_str(), fs::read_link(tree.join("in")).is_ok()), ("two\n", true));
    let text = server.tool_error("edit_file", with(edits(&[("SECRET", "x")]), "path", "out"));
    assert!(text.contains("outside the served directory"), "{text}");
    assert_eq!(fs::read_to_string(tree.outside().join("secret")).unwrap(), format!("{SECRET_MARKER}\n"));
}
