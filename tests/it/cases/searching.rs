//! Group I: problems with searches: line endings, and what to do when an answer is full.

use serde_json::{Value, json};

use crate::search::NOTHING;
use crate::support::{Client, TestServer, Tree};
use crate::tools::{number_after, text_and_note, with};

/// A text with LF, in files with each kind of line ending, in UTF-8, UTF-16 and an older encoding.
fn in_all_kinds(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let crlf = text.replace('\n', "\r\n");
    let mixed = text.replacen('\n', "\r\n", 2);
    let utf16 = |text: &str| [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    vec![
        ("crlf", crlf.clone().into()),
        ("mixed", mixed.into()),
        ("mark", format!("\u{feff}{crlf}").into()),
        ("wide", utf16(&crlf)),
        ("wide-lf", utf16(text)),
        ("old", crlf.replace('é', "\0").bytes().map(|byte| if byte == 0 { 0xE9 } else { byte }).collect()),
    ]
}

/// dnGrep #1260, grepWin #321: a search over several lines depended on the line ending.
#[test]
fn i14_a_multiline_search_does_not_depend_on_line_endings() {
    let text = "one\nneedle é\nother\n\nneedle é\n\nother needle é";
    let kinds = in_all_kinds(text);
    let tree = kinds.iter().fold(Tree::new().file("lf", text), |tree, (name, bytes)| tree.file(name, bytes));
    let mut server = TestServer::start(&tree);
    for arguments in [
        json!({"query": "needle é\nother"}),
        json!({"query": "needle é\r\nother"}),
        json!({"query": "needle é\\nother", "regex": true, "multiline": true}),
        json!({"query": "needle é\\r\\nother", "regex": true, "multiline": true}),
        json!({"query": "(needle|\\w+) é(\\r?\\n)+other", "regex": true, "multiline": true}),
        json!({"query": "needle é\\sother", "regex": true, "multiline": true}),
        json!({"query": "é[\\n]{2}[^x]", "regex": true, "multiline": true, "contextLines": 1}),
        json!({"query": "é$\\n^$\\n^other", "regex": true, "multiline": true}),
        json!({"query": "one.needle", "regex": true, "multiline": true}),
        json!({"query": "(?s)one.needle", "regex": true, "multiline": true}),
        json!({"query": "é.", "regex": true}),
        json!({"query": "é$", "regex": true}),
        json!({"query": "^$", "regex": true, "contextLines": 2}),
    ] {
        let mut search = |path: &str| {
            let text = server.tool_text("search_text", with(&arguments, &json!({"path": path})));
            assert!(!text.contains('\r'), "{arguments} {path}: {text:?}");
            text.replace(&format!("{path}:"), ":").replace(&format!("{path}-"), "-")
        };
        let want = search("lf");
        for (path, _) in &kinds {
            assert_eq!(search(path), want, "{arguments} {path}");
        }
    }
    let (text, _) = text_and_note(&mut server, "search_text", json!({"query": "needle é\nother", "path": "crlf"}));
    assert_eq!(text, "crlf:2: needle é\ncrlf:3: other");
}

/// A carriage return can be searched for and is not an error.
#[test]
fn i14_a_carriage_return_can_be_searched_for() {
    let tree =
        Tree::new().file("crlf", "a\r\nb\r\n").file("lf", "a\nb\n").file("old", "a\rb\n").file("odd", "a\r\r\nb\n");
    let mut server = TestServer::start(&tree);
    for (arguments, want) in [
        (json!({"query": "\r"}), "crlf:1: a\ncrlf:2: b\nodd:1: a\nold:1: a\rb"),
        (json!({"query": "a\r"}), "crlf:1: a\nodd:1: a\nold:1: a\rb"),
        (json!({"query": "\\r$", "regex": true}), "crlf:1: a\ncrlf:2: b\nodd:1: a"),
        (json!({"query": "a\\r?$", "regex": true}), "crlf:1: a\nlf:1: a"),
        (json!({"query": "a\\rb", "regex": true}), "old:1: a\rb"),
        (json!({"query": "a\rb\n"}), "old:1: a\rb"),
        (json!({"query": "\\r\\r\\nb", "regex": true, "multiline": true}), "odd:1: a\nodd:2: b"),
        (json!({"query": "a\r\nb"}), "crlf:1: a\ncrlf:2: b\nlf:1: a\nlf:2: b"),
    ] {
        assert_eq!(server.tool_text("search_text", arguments.clone()), want, "{arguments}");
    }
}

/// mini-coding-agent #17, Yuzu #2951: the advice was to raise a limit that had not caused the cut.
#[test]
fn i16_if_an_answer_is_full_the_note_says_how_to_continue() {
    let name = |number: usize| format!("a-rather-long-directory-name/file-number-{number:04}.txt");
    let tree = (0..3_000).fold(Tree::new(), |tree, number| tree.file(name(number), "needle\n"));
    let mut server = TestServer::start(&tree);
    let (mut found, mut offset) = (Vec::new(), 1);
    loop {
        let arguments = json!({"pattern": "*.txt", "limit": 3_000, "offset": offset});
        let (text, note) = text_and_note(&mut server, "search_files", arguments);
        found.extend(text.lines().map(str::to_owned));
        let Some(next) = note.as_deref().and_then(|note| number_after("offset", note)) else { break };
        let note = note.expect("a note");
        assert!(note.contains("the answer is full") && !note.contains("limit"), "{note}");
        assert_eq!(next, found.len() as u64 + 1, "{note}");
        offset = next;
    }
    assert_eq!(found, (0..3_000).map(name).collect::<Vec<_>>());

    for arguments in [json!({"limit": 3_000}), json!({"limit": 1_000_000}), json!({"maxPerFile": 5, "limit": 3_000})] {
        let (_, note) = text_and_note(&mut server, "search_text", with(&arguments, &json!({"query": "needle"})));
        let note = note.expect("a note");
        assert!(
            note.contains("do not fit: narrow \"path\" or \"glob\"") && !note.contains("limit"),
            "{arguments}: {note}"
        );
    }
}

/// The advice depends on what caused the cut.
#[test]
fn i16_the_advice_matches_the_limit_that_was_reached() {
    let tree = Tree::new().file("a.txt", "x\n".repeat(10)).file("b.txt", "x\n").file("long.log", "y\n".repeat(10_000));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    for (arguments, yes, no) in [
        (json!({"query": "x", "limit": 3}), "raise \"limit\"", "full"),
        (json!({"query": "x", "limit": 10}), "raise \"limit\"", "maxPerFile"),
        (json!({"query": "x", "maxPerFile": 3}), "raise \"maxPerFile\"", "\"limit\""),
        (json!({"query": "x", "limit": 11}), "11 matches", "more"),
        (json!({"query": "y", "limit": 5_000}), "narrow \"path\" or \"glob\"", "limit"),
        (json!({"query": "y", "limit": 5_000, "path": "long.log"}), "read_text_file", "limit"),
        (json!({"query": "y\n", "limit": 5_000}), "do not fit", "limit"),
        (json!({"query": "y", "limit": 3, "path": "long.log"}), "raise \"limit\"", "path"),
    ] {
        let note = text_and_note(&mut server, "search_text", arguments.clone()).1.expect("a note");
        assert!(note.contains(yes) && !note.contains(no), "{arguments}: {note}");
    }
    for (arguments, want, note) in [
        (json!({"limit": 2}), "a.txt\nb.txt", "[the first 2 results; continue with offset 3, raise \"limit\", "),
        (json!({"limit": 1, "offset": 2}), "b.txt", "[results 2-2; continue with offset 3, "),
        (json!({"offset": 3}), "long.log", "[results 3-3]"),
        (json!({"offset": 4}), "No more matches", "[only 3 results exist]"),
    ] {
        let (text, said) = text_and_note(&mut server, "search_files", with(&json!({"pattern": "*"}), &arguments));
        assert_eq!(text, want, "{arguments}");
        assert!(said.as_ref().is_some_and(|said| said.starts_with(note)), "{arguments}: {said:?}");
    }
    let (text, _) = text_and_note(&mut server, "search_files", json!({"pattern": "none", "offset": 4}));
    assert_eq!(text, NOTHING);
}

/// Issue 11 E: models write numbers and flags as strings; and every number has a limit.
#[test]
fn numbers_and_flags_are_accepted_as_models_write_them_within_limits() {
    let tree = Tree::new().file("a.txt", "one\ntwo\nthree\n").file("d/b.txt", "one\n");
    let mut server = TestServer::start(&tree);
    for limit in [json!(1), json!(1.0), json!("1")] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": "a.txt", "head": limit})), "one\n", "{limit}");
        assert_eq!(server.tool_text("search_text", json!({"query": "one", "limit": limit})), "a.txt:1: one", "{limit}");
    }
    for flag in [json!(true), json!("true")] {
        assert_eq!(server.tool_text("search_text", json!({"query": "t.o", "regex": flag})), "a.txt:2: two", "{flag}");
    }
    for (tool, arguments, said) in [
        (
            "search_text",
            json!({"query": "a", "limit": 1_000_000_000}),
            "\"limit\" must be an integer from 1 to 1000000, not ",
        ),
        (
            "search_text",
            json!({"query": "a", "contextLines": 101}),
            "\"contextLines\" must be an integer from 0 to 100, not ",
        ),
        ("search_text", json!({"query": "a", "maxPerFile": "x"}), "\"maxPerFile\" must be an integer from 1 "),
        ("search_files", json!({"pattern": "a", "limit": 1e7}), "\"limit\" must be an integer from 1 to 1000000, not "),
        ("search_text", json!({"query": "a", "regex": "yes"}), "\"regex\" must be true or false, not \"yes\"."),
        (
            "read_text_file",
            json!({"path": "a.txt", "tail": u64::MAX}),
            "\"tail\" must be an integer from 1 to 9007199254740991",
        ),
    ] {
        let error = server.tool_error(tool, arguments.clone());
        assert!(error.starts_with(said), "{tool} {arguments}: {error}");
    }
    let tools = server.result("tools/list", json!({}));
    for tool in tools["tools"].as_array().expect("tools") {
        let properties = tool["inputSchema"]["properties"].as_object();
        let numbers = properties.into_iter().flatten().filter(|(_, schema)| schema["type"] == "integer");
        numbers.for_each(|(name, schema): (_, &Value)| assert!(schema["maximum"].is_u64(), "{} {name}", tool["name"]));
    }
}
