//! A directory of 100,000 entries: the parts of its listing add up, all of it is searched, and one entry costs no more
//! than in a directory of ten.

use std::collections::HashSet;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{completed, everything, said};
use crate::support::{Client, Process, Tree};

const MANY: usize = 100_000;

fn name(number: usize) -> String {
    format!("{number:06}.txt")
}

/// Empty files in `crowd`, created without being opened.
fn tree() -> Tree {
    let tree = Tree::in_memory().dir("crowd").file("alone.txt", "needle\n");
    for number in 0..MANY {
        let path = tree.join("crowd").join(name(number));
        mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0).expect("a file");
    }
    tree
}

/// One test, because creating the tree takes longer than all requests.
#[test]
fn a_hundred_thousand_entries_are_listed_in_parts_searched_whole_and_deleted() {
    let tree = tree();
    let options = ["--watch=off", "--allow-write"].map(std::ffi::OsStr::new);
    let mut process = Process::spawn(options.into_iter().chain([tree.path().as_os_str()]));
    process.tool("list_directory", json!({}));
    let (memory, open) = (process.peak_memory() >> 10, process.descriptors());
    everything(&mut process, &tree, "crowd");
    lists_in_parts(&mut process);
    searches_whole(&mut process);
    let page = process.result("resources/list", json!({}));
    assert_eq!(page["_meta"]["dev.mcp-fs/truncated"]["limit"], 10_000, "{}", page["_meta"]);
    let offered = completed(&mut process, &tree, "crowd/09999");
    assert_eq!(offered[..10], (99_990..MANY).map(|number| format!("crowd/{}", name(number))).collect::<Vec<_>>());
    assert_eq!(completed(&mut process, &tree, "crowd/").len(), 100);
    assert_eq!(process.tool_text("read_text_file", json!({"path": "crowd/050000.txt"})), "");
    assert_eq!(process.descriptors(), open);
    let grown = (process.peak_memory() >> 10) - memory;
    assert!(grown < 150, "{grown} MiB more than before");
    process.tool_text("delete_file", json!({"path": "crowd", "recursive": true}));
    assert_eq!(crate::writes::names(&tree, ""), ["alone.txt"]);
}

fn lists_in_parts(process: &mut Process) {
    for tool in ["list_directory", "list_directory_with_sizes"] {
        let (first, note) = said(process, tool, json!({"path": "crowd"}));
        assert!(note.contains("of 100,000; continue with offset"), "{note}");
        assert!(first.starts_with("[FILE] 000000.txt"), "{}", &first[..100]);
    }
    let (mut seen, mut offset) = (HashSet::new(), MANY - 9_999);
    loop {
        let (text, note) = said(process, "list_directory", json!({"path": "crowd", "offset": offset}));
        seen.extend(text.lines().map(str::to_owned));
        let Some((_, next)) = note.split_once("continue with offset ") else { break };
        offset = next.trim_end_matches(']').parse().expect("a number");
    }
    assert_eq!(seen, (MANY - 10_000..MANY).map(|number| format!("[FILE] {}", name(number))).collect());
    let (last, note) = said(process, "list_directory", json!({"path": "crowd", "offset": MANY}));
    assert_eq!((last.as_str(), note.contains("100,000-100000")), ("[FILE] 099999.txt", false), "{note}");
}

fn searches_whole(process: &mut Process) {
    let found = said(process, "search_files", json!({"pattern": "09999?.txt"})).0;
    assert_eq!(found.lines().count(), 10);
    let (nothing, note) = said(process, "search_files", json!({"pattern": "none"}));
    assert!(nothing == crate::search::NOTHING && note.contains("100,002 entries searched"), "{note}");
    let (found, note) = said(process, "search_text", json!({"query": "needle"}));
    assert_eq!(found, "alone.txt:1: needle");
    assert!(note.contains("100,001 files"), "{note}");
}
