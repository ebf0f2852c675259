//! A missing name in a crowded directory: the directory is read to look for another spelling, without using much memory
//! or delaying other work. The lookup ends when it is cancelled, and misses no change.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use mcp_fs::root::{Deny, Root, RootError};
use mcp_fs::runtime::cancel::Cancel;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::support::{Client as _, Process, TestServer, Tree};

/// Empty files in `crowd`, all with long names that begin like the requested ones.
fn tree(many: usize) -> Tree {
    let tree = Tree::in_memory().dir("crowd").file("plain.txt", "plain\n");
    for number in 0..many {
        let path = tree.join("crowd").join(format!("{} {number:06}", "\u{e9}".repeat(60)));
        mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0).expect("a file");
    }
    tree
}

/// Paths of missing names, each of which has another spelling.
fn missing(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("crowd/{} m{number}", "e\u{301}".repeat(50))).collect()
}

#[test]
fn many_lookups_in_a_crowd_take_little_memory_and_delay_nothing() {
    let tree = tree(10_000);
    let options = ["--watch=off", "--io-timeout=60"].map(std::ffi::OsStr::new);
    let mut process = Process::spawn(options.into_iter().chain([tree.path().as_os_str()]));
    process.tool("list_directory", json!({}));
    let before = process.peak_memory();
    let ask = |process: &mut Process, path: &String| {
        process.ask_modern("tools/call", json!({"name": "get_file_info", "arguments": {"path": path}}))
    };
    let asked: Vec<Value> = missing(48).iter().map(|path| ask(&mut process, path)).collect();
    for id in asked {
        let text = process.answer(id)["result"]["content"][0]["text"].to_string();
        assert!(text.contains("not found"), "{text}");
    }
    let texts = process.tool("read_multiple_files", json!({"paths": missing(100)}));
    let texts = texts["content"].as_array().expect("blocks");
    assert!(texts.iter().all(|block| block["text"].as_str().is_some_and(|text| text.contains("not found"))));
    assert_eq!(process.tool_text("read_text_file", json!({"path": "plain.txt"})), "plain\n");
    let grown = (process.peak_memory() - before) >> 10;
    assert!(grown < 24, "{grown} MiB more than before");
    assert!(!process.finish().contains("not answered"), "work was taken for a disk that does not answer");
}

fn root(tree: &Tree) -> Root {
    Root::open(tree.path(), Deny::new(&[], true).expect("no patterns")).expect("a root")
}

#[test]
fn a_lookup_makes_progress_and_can_be_cancelled() {
    let tree = tree(10_000);
    let (root, cancel) = (root(&tree), Cancel::default());
    let stat = |path: &str, cancel: &Cancel| {
        let asked = root.locate(path).expect("a path");
        root.stat(&asked, cancel).map(drop)
    };
    assert_eq!(stat(&missing(1)[0], &cancel), Err(RootError::NotFound));
    assert!(cancel.steps() >= 2, "{} steps in 10,000 names", cancel.steps());
    fs::rename(tree.join("plain.txt"), tree.join("crowd/new")).expect("renamed");
    cancel.cancel();
    assert_eq!(stat("crowd/\u{212a}elvin", &cancel), Err(RootError::Cancelled));
}

/// What is remembered of a directory is invalid once it has changed: a new name is found, whatever its times say.
#[test]
fn a_name_created_after_a_lookup_is_found_by_the_next() {
    let tree = tree(3_000);
    let mut server = TestServer::start(&tree);
    let crowd = tree.join("crowd");
    let old = fs::metadata(&crowd).and_then(|metadata| metadata.modified()).expect("a time");
    let lookup =
        |server: &mut TestServer, path: &str| server.tool("read_text_file", json!({"path": path}))["isError"] == true;
    for (asked, real) in [("crowd/a b", "crowd/a\u{202f}b"), ("crowd/u\u{308}", "crowd/\u{fc}")] {
        wait_until_settled(&crowd);
        assert!(lookup(&mut server, asked), "{asked} is not there yet");
        assert!(lookup(&mut server, asked), "{asked} is not there yet, and remembered");
        fs::write(tree.join(real), "here\n").expect("written");
        // Like tar and rsync, which set a directory's time to that of its source.
        fs::File::open(&crowd).and_then(|dir| dir.set_modified(old)).expect("set");
        assert_eq!(server.tool_text("read_text_file", json!({"path": asked})), "here\n");
        fs::remove_file(tree.join(real)).expect("removed");
        assert!(lookup(&mut server, asked), "{asked} is gone");
    }
}

/// Waits until the last change of a directory is long enough ago that the next one shows in its times.
fn wait_until_settled(directory: &std::path::Path) {
    let changed = fs::metadata(directory).expect("a directory");
    let changed = SystemTime::UNIX_EPOCH
        + Duration::from_secs(changed.ctime().cast_unsigned())
        + Duration::from_nanos(changed.ctime_nsec().cast_unsigned());
    let is_settled = || SystemTime::now() > changed + Duration::from_millis(50);
    while !is_settled() {
        std::thread::yield_now();
    }
}
