//! The attacks: what is sent, and the directory that they target.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::Tree;
use crate::support::client::with_meta;

/// Concurrent requests: as many as are processed at once.
const MANY: usize = 64;
/// The number and length of the names in a directory in which one is looked up.
const NAMES: usize = 100_000;
const NAME: usize = 240;
/// The length of an id that just fits into a line.
const LONG_ID: usize = 30 << 20;

/// One row of the table.
pub(crate) struct Attempt {
    pub(crate) name: String,
    /// A request that is answered before the attack begins.
    pub(crate) ready: Vec<u8>,
    /// The lines of the attack, each created when it is sent.
    pub(crate) line: Arc<Line>,
    pub(crate) count: usize,
    /// Whether the client reads the answers.
    pub(crate) reads: bool,
}

type Line = dyn Fn(usize) -> Vec<u8> + Send + Sync;

/// What is served.
pub(crate) fn tree() -> Tree {
    let tree =
        Tree::in_memory().dir("crowd").file("blank.txt", "\n".repeat(64 << 20) + "needle\n").file("a.txt", "one\n");
    let word = "l'\u{e9}t\u{e9} nous d\u{ee}nons dehors\n";
    let tree = tree.file("slow/long.txt", word.repeat((32 << 20) / word.len()));
    let detected = 3_500_000;
    let tree =
        tree.file("ff.bin", vec![0xff; detected]).file("euc.bin", b"\xc6\xfc\xcb\xdc\xb8\xec".repeat(detected / 6));
    let end = "x".repeat(NAME - 6);
    for number in 0..NAMES {
        let path = tree.path().join(format!("crowd/{number:06}{end}"));
        mknodat(CWD, path, FileType::RegularFile, Mode::RUSR, 0).expect("a file");
    }
    (0..200).fold(tree, |tree, number| tree.file(format!("src/{number}/{}", "a".repeat(60)), ""))
}

/// All attempts.
pub(crate) fn attempts() -> Vec<Attempt> {
    let stars = vec![format!("{}b", "*a".repeat(250)); 100];
    let tree =
        move |_: usize| json!({"name": "directory_tree", "arguments": {"path": "src", "excludePatterns": stars}});
    let regex = |number: usize| {
        text(&json!({"query": format!("[\\pL\\pN]{{{}}}", 700 + number), "regex": true, "path": "a.txt"}))
    };
    let alternatives = |number: usize| {
        let query: Vec<String> = (0..5_000).map(|n| format!("w{n}x{number}")).collect();
        text(&json!({"query": query.join("|"), "regex": true, "path": "a.txt"}))
    };
    let missing =
        |number: usize| json!({"name": "get_file_info", "arguments": {"path": format!("crowd/n\u{f6} such {number}")}});
    let paths: Vec<String> = (0..100).map(|number| format!("crowd/n\u{f6} such {number}")).collect();
    let several = move |_: usize| json!({"name": "read_multiple_files", "arguments": {"paths": paths}});
    let lines = |arguments: Value| move |_: usize| text(&arguments);
    let every = json!({"query": "^", "regex": true, "limit": 1_000_000_000, "path": "blank.txt"});
    let context = json!({"query": "^", "regex": true, "limit": 10_000, "contextLines": 10, "path": "blank.txt"});
    let needle = json!({"query": "\\n*needle", "regex": true, "multiline": true, "path": "blank.txt"});
    let mut all: Vec<Attempt> = Vec::new();
    all.extend(both("blank lines, a limit of a billion", lines(every)));
    all.extend(both("blank lines, 10,000 with context", lines(context)));
    all.extend(both("\\n*needle over several lines", lines(needle)));
    all.extend(both("a missing name of 100,000 long ones", missing));
    all.extend(both("100 of these in one request", several));
    all.extend(both("directory_tree, 100 patterns of *a*a*a", tree));
    all.extend(both("a regular expression of Unicode classes", regex));
    all.extend(both("a regular expression of 5,000 words", alternatives));
    all.extend(both("resources/read of 3.5 MB of 0xFF", |_| json!({"uri": "ff.bin"})));
    all.extend(both("resources/read of 3.5 MB of EUC-JP", |_| json!({"uri": "euc.bin"})));
    all.extend([true, false].map(long_ids));
    all.extend([true, false].map(open_batches));
    all
}

fn text(arguments: &Value) -> Value {
    json!({"name": "search_text", "arguments": arguments})
}

fn read(path: &str) -> Value {
    json!({"name": "read_text_file", "arguments": {"path": path}})
}

/// One call, and many at once, by a client that reads.
fn both(name: &str, call: impl Fn(usize) -> Value + Send + Sync + 'static) -> [Attempt; 2] {
    let line: Arc<Line> = Arc::new(move |number| {
        let params = call(number);
        let method = if params.get("uri").is_some() { "resources/read" } else { "tools/call" };
        modern(&json!(number), method, params)
    });
    let of = |name: String, count| Attempt { name, ready: ready(), line: Arc::clone(&line), count, reads: true };
    [of(name.to_owned(), 1), of(format!("  {MANY} of them"), MANY)]
}

fn ready() -> Vec<u8> {
    modern(&json!("ready"), "tools/call", read("a.txt"))
}

fn modern(id: &Value, method: &str, params: Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": with_meta(params)});
    (message.to_string() + "\n").into_bytes()
}

/// Streams, whose ids are kept as long as they are open.
fn long_ids(reads: bool) -> Attempt {
    let name = if reads { "16 streams with ids of 30 MiB" } else { "  the same, and nobody reads" }.to_owned();
    let params = with_meta(json!({"notifications": {"resourcesListChanged": true}})).to_string();
    let line = move |number: usize| {
        let id = "x".repeat(LONG_ID);
        format!(r#"{{"jsonrpc":"2.0","id":"{number}{id}","method":"subscriptions/listen","params":{params}}}"#) + "\n"
    };
    Attempt { name, ready: ready(), line: Arc::new(move |number| line(number).into_bytes()), count: 16, reads }
}

/// Batches that wait for one of their calls, and keep all other answers until then.
fn open_batches(reads: bool) -> Attempt {
    let name = if reads { "16 batches of 99 long ids and a search" } else { "  the same, and nobody reads" }.to_owned();
    let client = json!({"name": "soak", "version": "0"});
    let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello});
    let slow = text(&json!({"query": r"\b\d{3}\b|^needle$", "regex": true, "path": "slow"}));
    let line = move |number: usize| {
        let long = "x".repeat(LONG_ID / 99);
        let wrong = |item| format!(r#"{{"jsonrpc":"2.0","id":"{number}-{item}-{long}","method":"no/such/method"}},"#);
        let search =
            json!({"jsonrpc": "2.0", "id": format!("search-{number}"), "method": "tools/call", "params": slow});
        let wrong: String = (0..99).map(wrong).collect();
        format!("[{wrong}{search}]\n").into_bytes()
    };
    let ready = (hello.to_string() + "\n").into_bytes();
    Attempt { name, ready, line: Arc::new(line), count: 16, reads }
}
