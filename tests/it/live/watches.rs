//! What Linux is asked to watch, as shown in `/proc`: nothing before a client wants to be notified, only what is needed
//! and allowed then, and nothing afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::live::{Live, append, quick, until};
use crate::support::{Client as _, LATEST_LEGACY, Process, TestServer, Tree};

/// Every watch of a process: its line in `/proc`.
pub(crate) fn watches(process: &Process) -> Vec<String> {
    watch_lines(&process.proc("fdinfo"))
}

fn watch_lines(fdinfo: &Path) -> Vec<String> {
    // A descriptor may have been closed meanwhile.
    let infos = entries(fdinfo).into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let all: String = infos.collect();
    all.lines().filter(|line| line.starts_with("inotify wd:")).map(str::to_owned).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).expect("it is in /proc").flatten().map(|entry| entry.path()).collect()
}

/// How many of its threads watch.
fn watchers(process: &Process) -> usize {
    let names =
        entries(&process.proc("task")).into_iter().filter_map(|task| fs::read_to_string(task.join("comm")).ok());
    names.filter(|name| name == "watch\n").count()
}

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("x/y/z/b.txt", "two\n").file("other/c.txt", "three\n").dir("empty")
}

#[test]
fn nothing_is_watched_before_a_client_subscribes() {
    let tree = tree();
    let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
    let before = process.descriptors();
    process.result("resources/read", json!({"uri": tree.uri("a.txt")}));
    process.result("resources/templates/list", json!({}));
    process.tool_text("directory_tree", json!({}));
    process.tool_text("search_text", json!({"query": "one"}));
    // A modern client lists without opening a stream.
    process.modern("resources/list", json!({}));
    assert_eq!(watches(&process), [] as [&str; 0]);
    assert_eq!((watchers(&process), process.descriptors()), (0, before));
}

#[test]
fn a_subscription_watches_only_its_file_and_the_directories_on_its_path() {
    let mut live = Live::spawn(tree(), []);
    live.listen_to("s", "x/y/z/b.txt");
    // DIR, x, x/y, x/y/z, and the file, which may have another name.
    until("five watches", || watches(&live.client).len() == 5);
    live.listen_to("t", "a.txt");
    live.nothing_else();
    until("one more", || watches(&live.client).len() == 6);
}

#[test]
fn the_list_watches_each_directory_once() {
    let mut live = Live::spawn(tree(), []);
    live.listen_to_list("s");
    // DIR, x, x/y, x/y/z, other, empty.
    until("six watches", || watches(&live.client).len() == 6);
    live.listen_to("t", "x/y/z/b.txt");
    live.nothing_else();
    until("one more, of the file", || watches(&live.client).len() == 7);
}

#[test]
fn no_watch_is_left_when_the_last_stream_is_cancelled() {
    let mut live = Live::spawn(tree(), []);
    live.listen_to_list("list");
    live.listen_to("file", "x/y/z/b.txt");
    until("seven watches", || watches(&live.client).len() == 7);
    live.cancel("list");
    // DIR, x, x/y, x/y/z, the file.
    until("five watches", || watches(&live.client).len() == 5);
    live.cancel("file");
    until("no watch", || watches(&live.client).is_empty());
}

#[test]
fn no_watch_is_left_after_unsubscribing() {
    let mut live = Live::spawn(tree(), []);
    live.client.request("initialize", json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}}));
    live.client.notify("notifications/initialized", json!({}));
    live.subscribe("x/y/z/b.txt");
    until("five watches", || watches(&live.client).len() == 5);
    let uri = live.tree.uri("x/y/z/b.txt");
    live.client.request("resources/unsubscribe", json!({"uri": uri}));
    until("no watch", || watches(&live.client).is_empty());
}

#[test]
fn one_thread_watches_and_past_subscriptions_leave_no_descriptors() {
    let mut live = Live::spawn(tree(), []);
    let mut rounds = |count: usize| {
        for _ in 0..count {
            live.listen_to_list("list");
            live.listen_to("file", "a.txt");
            append(&live.tree, "a.txt", "more\n");
            assert_eq!(live.news(), "\"file\" updated a.txt");
            live.cancel("list");
            live.cancel("file");
        }
        until("no watch", || watches(&live.client).is_empty());
        (watchers(&live.client), live.client.descriptors())
    };
    let before = rounds(1);
    assert_eq!(before.0, 1);
    assert_eq!(rounds(10), before);
}

/// Other servers run in this process at the same time; this one's watches are identified by the inode of its directory.
/// The watching thread owns the descriptor, so when that is gone, the thread has ended.
#[test]
fn a_server_that_has_ended_leaves_no_watches_and_no_thread() {
    use std::os::unix::fs::MetadataExt as _;
    let tree = tree();
    let inode = format!(" ino:{:x} ", fs::metadata(tree.path()).unwrap().ino());
    let is_watched = || watch_lines(Path::new("/proc/self/fdinfo")).iter().any(|line| line.contains(&inode));
    let mut live = Live::new(TestServer::builder(&tree).limits(quick).start(), tree);
    live.listen_to_list("s");
    until("a watch", is_watched);
    live.client.close();
    until("no watch", || !is_watched());
}
