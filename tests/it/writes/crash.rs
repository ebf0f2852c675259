//! Killed at any moment: a file is the one before or the one after, as a whole, and no client sees whatever else is
//! left behind.
//!
//! `MCP_FS_CRASHES` sets how often; the default is a few dozen times.

use rustix::process::Signal;
use serde_json::json;

use super::{content, names};
use crate::support::{Client, LATEST_LEGACY, Process, Tree};

/// Large enough that writing takes a while.
const SIZE: usize = 256 << 10;
/// One after another, so that the process is killed in the middle of one of them.
const WRITES: usize = 10;

fn crashes() -> u32 {
    std::env::var("MCP_FS_CRASHES").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

/// A handshake, followed by writes of one letter each. They bypass the harness, whose checks take longer than the
/// writes.
fn lines() -> String {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}, "clientInfo": client});
    let mut lines = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string() + "\n";
    for number in 1..=WRITES {
        let letter = char::from(b'a' + number as u8).to_string();
        let params = json!({"name": "write_file", "arguments": {"path": "a", "content": letter.repeat(SIZE)}});
        let line = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        lines += &(line.to_string() + "\n");
    }
    lines
}

fn start(tree: &Tree, lines: &str) -> Process {
    let mut process = Process::spawn([tree.path().as_os_str(), "--allow-write".as_ref()]);
    process.write(lines.as_bytes());
    process
}

/// Waits until `answers` requests have been answered, and for `looks` more looks at the temporary file: the next write
/// is somewhere on its way.
fn in_the_middle(process: &mut Process, tree: &Tree, answers: usize, looks: usize) {
    for _ in 0..answers {
        process.read().expect("an answer");
    }
    for _ in 0..looks {
        std::hint::black_box(names(tree, ""));
    }
}

#[test]
fn a_killed_write_leaves_the_old_or_the_new_file() {
    let tree = Tree::new().file("a", "a".repeat(SIZE));
    let (lines, crashes) = (lines(), crashes());
    let mut changed = 0;
    for crash in 0..crashes {
        let before = content(&tree, "a");
        let mut process = start(&tree, &lines);
        in_the_middle(&mut process, &tree, crash as usize % (WRITES + 1), crash as usize * 7 % 40);
        process.signal(Signal::KILL);
        while process.read().is_some() {}
        process.wait();
        let now = content(&tree, "a");
        assert!(
            now.len() == SIZE && now.iter().all(|byte| *byte == now[0]),
            "crash {crash}: {} bytes, torn",
            now.len()
        );
        changed += u32::from(now != before);
    }
    let left = names(&tree, "").len() - 1;
    crate::sandbox::say(&format!("crash: {crashes} kills, {changed} after a write, {left} temporary files left"));
    assert!(changed > 0, "nothing was ever written");
    let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
    assert_eq!(process.tool_text("list_directory", json!({})), "[FILE] a");
    assert_eq!(process.tool_text("search_files", json!({"pattern": "*", "includeIgnored": true})), "a");
}
