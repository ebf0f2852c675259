//! `search_text`: the same answer in every run, with any number of threads, and equal to that of a slow and simple
//! search.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client as _, TestServer, Tree};
use crate::tools::{blocks, with};

const RUNS: usize = 20;

/// Some hundred files in some dozens of directories, with "needle" in every third; some are long, so that they do not
/// finish in order.
fn forest() -> Tree {
    let mut tree = Tree::new();
    for dir in 0..24 {
        for file in 0..16 {
            let number = dir * 16 + file;
            let mut text = String::new();
            for line in 0..(if number % 7 == 0 { 3_000 } else { 20 }) {
                let word = if number % 3 == 0 && line % 11 == number % 11 { "Needle" } else { "hay" };
                let _ = writeln!(text, "{word} {line} of {number}");
            }
            let path = ["", "a/", "a/deep/", "z.d/"][dir % 4];
            tree = tree.file(format!("{path}dir-{dir}/file-{file}.txt"), text);
        }
    }
    tree.file("top.txt", "no needles but this\n")
}

/// All lines with "needle", in the order of a walk level by level.
fn reference(root: &Path) -> Vec<String> {
    let (mut found, mut level) = (Vec::new(), vec![root.to_owned()]);
    while !level.is_empty() {
        let mut next = Vec::new();
        for directory in level {
            let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
            let (directories, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|path| path.is_dir());
            for path in files {
                let name = path.strip_prefix(root).expect("below it").display().to_string().replace('\\', "/");
                let text = fs::read_to_string(&path).expect("text");
                let lines = text.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains("needle"));
                found.extend(lines.map(|(at, line)| format!("{name}:{}: {line}", at + 1)));
            }
            next.extend(directories);
        }
        level = next;
    }
    found
}

/// A server with a high limit for answers.
fn start(tree: &Tree) -> TestServer {
    TestServer::builder(tree).limits(|limits| limits.output_bytes = 10_000_000).start()
}

#[test]
fn results_and_their_order_equal_those_of_a_simple_search() {
    let tree = forest();
    let want = reference(tree.path());
    assert!(want.len() > 5_000, "{}", want.len());
    let mut server = start(&tree);
    for limit in [100_000, 1_000, 300, 1] {
        let text = server.tool_text("search_text", json!({"query": "needle", "limit": limit}));
        let found: Vec<&str> = text.lines().collect();
        assert!(found == want[..limit.min(want.len())], "limit {limit}: not the first lines");
    }
}

#[test]
fn a_cut_answer_is_the_same_in_every_run() {
    // The note names ignore files that are too large to be applied: which of them were reached must not depend on how
    // far the walk had got.
    let mut tree = forest();
    for dir in 0..24 {
        let path = ["", "a/", "a/deep/", "z.d/"][dir % 4];
        tree = tree.file(format!("{path}dir-{dir}/.gitignore"), "# nothing\n".repeat(4_000));
    }
    let mut server = start(&tree);
    for cut in [
        json!({"limit": 150}),
        json!({"limit": 400, "contextLines": 2}),
        json!({"maxPerFile": 2, "limit": 90}),
        json!({"filesOnly": true, "limit": 40}),
    ] {
        let arguments = with(&json!({"query": "needle"}), &cut);
        let mut run = || -> Value { server.tool("search_text", arguments.clone()) };
        let first = run();
        assert!(blocks(&first)[1].contains("more matches"), "{cut}: it is not cut: {first}");
        for _ in 1..RUNS {
            let again = run();
            assert_eq!(blocks(&again)[1], blocks(&first)[1], "{cut}: another note");
            assert!(again == first, "{cut}: another text");
        }
    }
}

/// The limit in bytes cuts between lines, the note counts what is shown, and the result is the same in every run, too.
#[test]
fn an_answer_that_is_cut_ends_with_a_whole_line() {
    let tree = forest();
    let want = reference(tree.path());
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 5_000).start();
    let arguments = json!({"query": "needle", "limit": 100_000});
    let first = server.tool("search_text", arguments.clone());
    let text = blocks(&first)[0].clone();
    let lines: Vec<&str> = text.lines().collect();
    assert!(text.len() <= 5_000 && text.len() > 4_800, "{} bytes", text.len());
    assert!(lines == want[..lines.len()], "{text}");
    let note = &blocks(&first)[1];
    assert!(note.starts_with(&format!("[{} matches in", lines.len())), "{} lines: {note}", lines.len());
    assert!(note.contains("more matches"), "{note}");
    for _ in 1..RUNS {
        assert!(server.tool("search_text", arguments.clone()) == first, "another answer");
    }
}
