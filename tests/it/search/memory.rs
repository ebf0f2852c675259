//! The memory of searches: one request adds at most 64 MiB, and any number of them far less than 256, whatever they
//! search for and whatever the files contain.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::support::{Client as _, Process, Tree};

const MIB: usize = 1 << 20;
/// What one request may add, in MiB.
const ONE: u64 = 64;
/// What many may add, in MiB: less than the server may take in all, because others need some, too.
const MANY: u64 = 160;

/// A server that searches with as many threads as on a large machine.
fn start(tree: &Tree) -> Process {
    // What is not searched in this time by an unoptimised build would show nothing else.
    let options = ["--search-threads=16", "--search-timeout=3"].map(OsStr::new);
    let mut process = Process::spawn(options.into_iter().chain([tree.path().as_os_str()]));
    process.tool("list_directory", json!({}));
    process
}

/// Sends all calls at once, and returns what they added, in MiB.
fn added(process: &mut Process, calls: &[(&str, Value)]) -> u64 {
    let before = process.peak_memory();
    let call = |(name, arguments): &(&str, Value)| json!({"name": name, "arguments": arguments});
    let ids: Vec<Value> = calls.iter().map(|each| process.ask_modern("tools/call", call(each))).collect();
    for id in ids {
        process.answer(id);
    }
    (process.peak_memory() - before) >> 10
}

#[track_caller]
fn adds_at_most(tree: &Tree, most: u64, calls: &[(&str, Value)]) {
    let added = added(&mut start(tree), calls);
    assert!(added <= most, "{added} MiB more: {:.200}", format!("{calls:?}"));
}

#[test]
fn matches_beyond_an_answer_are_not_kept() {
    let blank = "\n".repeat(2 * MIB - 7) + "needle";
    let tree = (0..8).fold(Tree::new(), |tree, number| tree.file(format!("{number}.txt"), &blank));
    let tree = tree.file("long.txt", "\n".repeat(16 * MIB - 7) + "needle");
    for arguments in [
        json!({"query": "^", "regex": true, "limit": 1_000_000}),
        json!({"query": "^", "regex": true, "limit": 1_000_000, "contextLines": 100}),
        json!({"query": "^", "regex": true, "limit": 1_000_000, "path": "long.txt"}),
        json!({"query": "\\n*needle", "regex": true, "multiline": true, "contextLines": 100}),
        json!({"query": "\\n*needle", "regex": true, "multiline": true, "path": "long.txt"}),
        json!({"query": "x?", "regex": true, "multiline": true, "limit": 1_000_000}),
    ] {
        adds_at_most(&tree, ONE, &[("search_text", arguments.clone())]);
        adds_at_most(&tree, MANY, &vec![("search_text", arguments); 8]);
    }
}

/// A line is in memory as a whole, a file is for matches across lines, and decoded text is there twice.
#[test]
fn long_lines_and_decoded_files_are_in_memory_one_at_a_time() {
    let line = "x".repeat(15 * MIB) + "\n";
    let wide: Vec<u8> = "\u{feff}\u{e01} \n".repeat(MIB).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree = (0..6).fold(Tree::new(), |tree, number| tree.file(format!("{number}.txt"), &line));
    let tree = (0..6).fold(tree, |tree, number| tree.file(format!("{number}.wide"), &wide));
    let calls = [
        json!({"query": "needle", "glob": "*.txt"}),
        json!({"query": "needle\nother", "glob": "*.txt"}),
        json!({"query": "\u{e02}\n", "glob": "*.wide"}),
    ];
    for arguments in &calls {
        adds_at_most(&tree, ONE, &[("search_text", arguments.clone())]);
    }
    let all: Vec<_> = calls.iter().cycle().take(9).map(|arguments| ("search_text", arguments.clone())).collect();
    adds_at_most(&tree, MANY, &all);
}

#[test]
fn queries_are_compiled_in_bounded_memory_and_equal_ones_once() {
    let tree = Tree::new().file("a.txt", "l'\u{e9}t\u{e9}\n");
    let query = |text: String| ("search_text", json!({"query": text, "regex": true}));
    for text in [
        r"\w".repeat(4_999),
        r"\w{500}".repeat(400),
        "[a-z\u{e0}-\u{ff}]{1000}{1000}".to_owned(),
        format!(r"\b{}\u{{e9}}", "()".repeat(4_000)),
        format!("(?i){}", "k".repeat(9_000)),
        (0..2_500).map(|number: usize| number.to_string()).collect::<Vec<_>>().join("|"),
    ] {
        adds_at_most(&tree, ONE, &[query(text)]);
    }
    let many: Vec<_> = (0..32).map(|number| query(format!(r"\w{{{}}}x", 20 + number % 4))).collect();
    adds_at_most(&tree, MANY, &many);
}

#[test]
fn globs_are_compiled_in_bounded_memory() {
    // Names that lead difficult globs through ever new states.
    let name = |number: usize| -> String {
        (0..90).map(|bit| if ((number * 7_919) >> (bit % 13)) & 1 == 0 { 'a' } else { 'b' }).collect()
    };
    let tree = (0..40).fold(Tree::new(), |tree, number| tree.file(format!("{}{number}", name(number)), ""));
    let patterns =
        |length: usize| -> Vec<String> { (0..100).map(|number| format!("{}{number}", "*a".repeat(length))).collect() };
    let hard: Vec<String> = (0..100).map(|number| format!("*a{}b*{number}", "?".repeat(number))).collect();
    for (tool, arguments) in [
        ("directory_tree", json!({"excludePatterns": patterns(490)})),
        ("directory_tree", json!({"excludePatterns": patterns(40)})),
        ("directory_tree", json!({"excludePatterns": hard})),
        ("search_files", json!({"pattern": "*a*?????????????????????????a*b*", "excludePatterns": hard})),
        (
            "search_text",
            json!({"query": "x", "glob": "*a*?????????????????????????a*b*", "excludePatterns": patterns(40)}),
        ),
    ] {
        adds_at_most(&tree, ONE, &[(tool, arguments.clone())]);
        adds_at_most(&tree, MANY, &vec![(tool, arguments); 16]);
    }
}

/// A pattern may be many globs, each may have two meanings, and each may lead through links.
#[test]
fn patterns_of_many_globs_are_compiled_in_bounded_memory() {
    let name = |number: usize| -> String {
        (0..90).map(|bit| if ((number * 7_919) >> (bit % 13)) & 1 == 0 { 'a' } else { 'b' }).collect()
    };
    let tree = (0..40).fold(Tree::new(), |tree, number| tree.file(format!("a/{}{number}", name(number)), ""));
    let tree = (0..40).fold(tree, |tree, number| tree.link(format!("l{number}"), "a"));
    let of_64 = |glob: &str| vec![glob; 64].join(",");
    for pattern in [
        of_64("*a??????*b*"),
        of_64("[ab]/[ab]/[ab]"),
        of_64(&"a/".repeat(7)),
        "[ab]/".repeat(199),
        "{a,b}".repeat(200),
        format!("{{{}a}}", "[ab],".repeat(199)),
        "!*a????????????a*|".repeat(50),
        "{".repeat(500) + &"}".repeat(500),
    ] {
        for (tool, arguments) in [
            ("search_files", json!({"pattern": pattern})),
            ("search_files", json!({"pattern": pattern, "sortBy": "modified", "offset": 1_000})),
            ("search_text", json!({"query": "x", "glob": pattern})),
        ] {
            adds_at_most(&tree, ONE, &[(tool, arguments.clone())]);
            let others: Vec<_> = (0..8).map(|number| edited(&arguments, number)).map(|other| (tool, other)).collect();
            adds_at_most(&tree, MANY, &others);
        }
    }
}

/// The same call with another pattern, so that nothing compiled can be shared.
fn edited(arguments: &Value, number: usize) -> Value {
    let mut arguments = arguments.clone();
    for name in ["pattern", "glob"] {
        if let Some(Value::String(text)) = arguments.get_mut(name) {
            text.truncate(998);
            text.push_str(&number.to_string());
        }
    }
    arguments
}
