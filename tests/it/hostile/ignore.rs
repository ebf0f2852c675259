//! `.gitignore` bombs: patterns that take long to compile or match, many such files, and things of that name that are
//! not files. What is not applied is reported, and hides nothing.

use std::fs;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{everything, said};
use crate::resources::{list_all, names};
use crate::support::{Client, Process, TestServer, Tree};

/// The largest file that is applied, in bytes.
const LARGEST: usize = 32 << 10;

/// A file filled with one text, up to the limit.
fn full_of(part: &str) -> String {
    part.repeat(LARGEST / part.len())
}

/// A thousand lines with one pattern each, which is the limit.
fn thousand(pattern: impl Fn(usize) -> String) -> String {
    (0..1_000).map(|number| pattern(number) + "\n").collect()
}

/// Patterns that take regular expressions, or careless matchers, very long.
fn bombs() -> Vec<String> {
    let endless = ["*a", "?", "[a-z]", "[!a]", "**/", "[[", "{a,b}", "!", "\\", "*?", "[[:alpha:]]"];
    let mut bombs: Vec<String> = endless.into_iter().map(full_of).collect();
    bombs.push(thousand(|_| "*a".repeat(14) + "b"));
    bombs.push(thousand(|_| "[!a]".repeat(7)));
    bombs.push(thousand(|_| "?".repeat(31)));
    bombs.push(thousand(|number| format!("**/a/**/b/**/c{number}")));
    bombs.push(thousand(|number| format!("!**/a{number}/**")));
    bombs.push(thousand(|_| "{a,b}".repeat(6)));
    bombs
}

#[test]
fn exploding_patterns_are_applied_in_time_and_correctly() {
    // Each bomb has its own directory, with a name that would trigger it.
    let name = "a".repeat(250);
    let tree = bombs().into_iter().enumerate().fold(Tree::new(), |tree, (number, bomb)| {
        assert!(bomb.len() <= LARGEST, "{number}: {} bytes", bomb.len());
        tree.file(format!("{number:02}/.gitignore"), bomb + "\nhidden").file(format!("{number:02}/{name}"), "")
    });
    let tree = (0..bombs().len())
        .fold(tree, |tree, n| tree.file(format!("{n:02}/x/hidden"), "").file(format!("{n:02}/x/.keep"), ""));
    let mut process = Process::spawn(["--watch=off".as_ref(), tree.path()]);
    process.tool("list_directory", json!({}));
    let (memory, open) = (process.peak_memory() >> 10, process.descriptors());
    everything(&mut process, &tree, "");
    list_all(&mut process);
    assert_eq!(process.descriptors(), open);
    let grown = (process.peak_memory() >> 10) - memory;
    assert!(grown < 300, "{grown} MiB more than before");
}

/// A pattern costs far more time than text, so the total of a walk is bounded as well.
#[test]
fn a_thousand_bombs_cost_no_more_than_a_few() {
    let tree = Tree::in_memory().file("bomb", thousand(|_| "?".repeat(31)));
    for number in 0..1_000 {
        let directory = tree.join(format!("{number:03}"));
        fs::create_dir(&directory).expect("a directory");
        fs::hard_link(tree.join("bomb"), directory.join(".gitignore")).expect("a hard link");
    }
    let mut server = TestServer::start(&tree);
    let (text, note) = said(&mut server, "search_files", json!({"pattern": "bomb"}));
    assert_eq!(text, "bomb");
    assert!(note.contains(".gitignore not applied: too many patterns in all") && note.len() < 2_000, "{note}");
    assert!(!note.contains("stopped"), "{note}");
}

#[test]
fn ten_thousand_small_ignore_files_are_all_applied() {
    let tree = Tree::in_memory().file("patterns", "hidden\n");
    for number in 0..10_000 {
        let directory = tree.join(format!("{number:04}"));
        fs::create_dir(&directory).expect("a directory");
        fs::hard_link(tree.join("patterns"), directory.join(".gitignore")).expect("a hard link");
        let name = if number < 9_990 { "hidden" } else { "shown" };
        fs::hard_link(tree.join("patterns"), directory.join(name)).expect("a hard link");
    }
    let mut server = TestServer::start(&tree);
    let (text, note) = said(&mut server, "search_files", json!({"pattern": "{hidden,shown}"}));
    assert_eq!(text.lines().count(), 10, "{note}");
    assert!(text.lines().all(|path| path.ends_with("/shown")) && !note.contains("not applied"), "{note}");
}

/// A chain of directories named `d`, each with patterns for the next. Returns the path of the last.
fn chain(mut tree: Tree, levels: usize, patterns: impl Fn(usize) -> String) -> (Tree, String) {
    let mut path = String::new();
    for level in 0..levels {
        tree = tree.file(format!("{path}.gitignore"), patterns(level));
        path += "d/";
    }
    (tree.dir(&path), path)
}

#[test]
fn fifty_nested_ignore_files_are_applied_and_the_rest_reported() {
    let (mut tree, path) = chain(Tree::in_memory(), 60, |level| format!("/d/hidden{level}\n"));
    for level in 0..60 {
        let directory = &path[..2 * (level + 1)];
        tree = tree.file(format!("{directory}hidden{level}"), "").file(format!("{directory}shown"), "");
    }
    let mut server = TestServer::start(&tree);
    let (text, note) = said(&mut server, "search_files", json!({"pattern": "{hidden,shown}*"}));
    assert_eq!(text.matches("shown").count(), 60, "{text}");
    assert_eq!(text.matches("hidden").count(), 10, "{text}");
    assert!(note.contains("d/.gitignore not applied: too many ignore files are above it"), "{note}");
}

/// Even in the middle of a directory.
#[test]
fn slow_patterns_stop_with_the_search() {
    let (tree, path) = chain(Tree::in_memory(), 50, |_| "*a*b?c[x]\nq*z/*y\n*[a-z]x*q\n!zz*9\n*?*7z\n".to_owned());
    for number in 0..50_000 {
        let name = tree.join(format!("{path}{number:05}{}", "a".repeat(200)));
        mknodat(CWD, name, FileType::RegularFile, Mode::RUSR, 0).expect("a file");
    }
    let limits = |limits: &mut mcp_fs::limits::Limits| limits.search_time = Duration::from_millis(100);
    let mut server = TestServer::builder(&tree).limits(limits).start();
    let (_, note) = said(&mut server, "search_files", json!({"pattern": "x"}));
    assert!(note.contains("stopped after") && !note.contains("50,1"), "it went through all 50,000 names: {note}");
}

#[test]
fn oversized_ignore_files_are_not_applied_and_reported() {
    let patterns = (0..100_000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
    let tree = Tree::new().file("large/.gitignore", "x\n".repeat(512 << 10)).file("many/.gitignore", patterns);
    let tree = tree.file("large/x", "").file("many/7", "");
    let sparse = fs::File::options().write(true).create_new(true).open(tree.join(".ignore")).expect("a file");
    sparse.set_len(1 << 40).expect("a terabyte of nothing");
    let mut server = TestServer::start(&tree);
    let (text, note) = said(&mut server, "search_files", json!({"pattern": "[x7]"}));
    assert_eq!(text, "large/x\nmany/7");
    for path in [".ignore", "large/.gitignore", "many/.gitignore"] {
        assert!(note.contains(&format!("{path} not applied")), "{path}: {note}");
    }
    assert_eq!(names(&list_all(&mut server)), [".ignore", "large/.gitignore", "large/x", "many/.gitignore", "many/7"]);
}

/// Reading a FIFO would block. Links of that name are tested with the other links.
#[test]
fn a_fifo_socket_or_directory_named_gitignore_hides_nothing() {
    let tree = Tree::new().fifo("a/.gitignore").socket("b/.gitignore").file("c/.gitignore/x", "x\n");
    let tree = ["a", "b", "c"].into_iter().fold(tree, |tree, at| tree.file(format!("{at}/x"), ""));
    let mut server = TestServer::start(&tree);
    assert_eq!(names(&list_all(&mut server)), ["a/x", "b/x", "c/x", "c/.gitignore/x"]);
    everything(&mut server, &tree, "");
}
