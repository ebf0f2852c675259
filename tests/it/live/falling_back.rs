//! When changes cannot be detected as usual: without inotify, with too few watches, with lost events, when detection is
//! off, and when DIR is gone.

use std::fs;
#[cfg(target_os = "linux")]
use std::time::Duration;

use serde_json::json;

#[cfg(target_os = "linux")]
use crate::live::until;
use crate::live::{Live, append, quick};
#[cfg(target_os = "linux")]
use crate::support::Process;
use crate::support::{Client as _, LATEST_LEGACY, TestServer, Tree};

fn tree() -> Tree {
    Tree::new().file("a.txt", "one\n").file("x/b.txt", "two\n").file("x/y/c.txt", "three\n").file("z/d.txt", "four\n")
}

#[test]
fn with_watch_off_subscriptions_are_neither_declared_nor_possible() {
    let mut live = Live::spawn(tree(), ["--watch", "off"]);
    let discovered = live.client.result("server/discover", json!({}));
    assert_eq!(discovered["capabilities"]["resources"], json!({}));
    let hello = json!({"protocolVersion": LATEST_LEGACY, "capabilities": {}});
    assert_eq!(live.client.request("initialize", hello)["result"]["capabilities"]["resources"], json!({}));
    live.client.notify("notifications/initialized", json!({}));
    live.client.request("resources/list", json!({}));
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let uri = live.tree.uri("a.txt");
        let error = &live.client.request(method, json!({"uri": uri}))["error"];
        let message = error["message"].as_str().expect("a message");
        assert_eq!(error["code"], -32601, "{error}");
        assert!(message.contains(method) && message.contains("--watch off"), "it must say why: {message}");
    }
    let wanted = json!({"resourcesListChanged": true, "resourceSubscriptions": [live.tree.uri("a.txt")]});
    assert_eq!(live.listen("s", wanted), json!({}));
    #[cfg(target_os = "linux")]
    assert_eq!(inotify_descriptors(&live), 0);
    // The stream is open, and can be cancelled.
    live.cancel("s");
    live.client.expect_silence();
}

#[test]
fn polling_reports_the_same_changes() {
    let tree = tree();
    let builder = TestServer::builder(&tree).limits(|limits| {
        quick(limits);
        limits.watch.mode = mcp_fs::limits::WatchMode::Poll;
    });
    let mut live = Live::new(builder.start().legacy(LATEST_LEGACY), tree);
    live.subscribe("x/y/c.txt");
    live.subscribe("x");
    live.listen_to_list("s");
    append(&live.tree, "x/y/c.txt", "more\n");
    assert_eq!(live.news(), "updated x/y/c.txt");
    fs::write(live.tree.join("z/new.txt"), "").unwrap();
    assert_eq!(live.news(), "\"s\" list_changed");
    fs::rename(live.tree.join("x/y"), live.tree.join("away")).unwrap();
    assert_eq!(live.all_news(3), ["\"s\" list_changed", "updated x", "updated x/y/c.txt"]);
    live.nothing_else();
}

#[cfg(target_os = "linux")]
fn inotify_descriptors(live: &Live<Process>) -> usize {
    let links = fs::read_dir(live.client.proc("fd")).expect("/proc/PID/fd").flatten();
    links.filter(|fd| fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().contains("inotify"))).count()
}

#[cfg(target_os = "linux")]
#[test]
fn watch_poll_uses_no_watches_and_logs_no_warning() {
    let mut live = Live::spawn(tree(), ["--watch", "poll", "--poll-interval", "1"]);
    live.listen_to("s", "x/b.txt");
    live.listen_to_list("list");
    append(&live.tree, "x/b.txt", "more\n");
    assert_eq!(live.news(), "\"s\" updated x/b.txt");
    fs::write(live.tree.join("z/new.txt"), "").unwrap();
    assert_eq!(live.news(), "\"list\" list_changed");
    assert_eq!(super::watches::watches(&live.client), [] as [&str; 0]);
    assert_eq!(inotify_descriptors(&live), 0);
    assert_eq!(live.client.finish(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn changes_beyond_the_limit_of_watches_are_detected_with_one_warning() {
    for limit in ["1", "2"] {
        let mut live = Live::spawn(tree(), ["--watch-limit", limit, "--poll-interval", "1"]);
        for path in ["a.txt", "x/b.txt", "x/y/c.txt", "z/d.txt"] {
            live.listen_to(path, path);
        }
        live.listen_to_list("list");
        for path in ["z/d.txt", "x/y/c.txt", "a.txt"] {
            append(&live.tree, path, "more\n");
            assert_eq!(live.news(), format!("{path:?} updated {path}"), "{limit}");
        }
        fs::write(live.tree.join("x/y/new.txt"), "").unwrap();
        assert_eq!(live.news(), "\"list\" list_changed", "{limit}");
        let watched = super::watches::watches(&live.client);
        assert_eq!(watched.len().to_string(), limit, "{watched:?}");
        let said = live.client.finish();
        assert_eq!(said.matches("cannot be watched (--watch-limit").count(), 1, "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// The program is stopped while more happens than fits into the system's queue.
#[cfg(target_os = "linux")]
#[test]
fn lost_events_miss_no_change_and_cause_one_warning() {
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let most: usize = most.trim().parse().expect("a number");
    if most > 1 << 17 {
        return crate::process::users::skip("an overflow of inotify's queue: it takes too many events here");
    }
    let mut live = Live::spawn(tree(), []);
    live.listen_to("s", "a.txt");
    live.listen_to_list("list");
    until("all is watched", || super::watches::watches(&live.client).len() == 5);
    live.in_one_moment(|tree| {
        // Each causes three events, so this is half as many again as the queue holds.
        for number in 0..most / 2 {
            let path = tree.join(format!("{number}.tmp"));
            fs::write(&path, "").unwrap();
            fs::remove_file(&path).unwrap();
        }
        append(tree, "a.txt", "more\n");
        fs::write(tree.join("z/new.txt"), "").unwrap();
    });
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "\"s\" updated a.txt"]);
    append(&live.tree, "a.txt", "more\n");
    assert_eq!(live.news(), "\"s\" updated a.txt");
    let said = live.client.finish();
    assert_eq!((said.matches("changes came too fast").count(), said.lines().count()), (1, 1), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn deleting_the_served_directory_is_reported_and_does_not_keep_the_program_busy() {
    let mut live = Live::spawn(tree(), []);
    live.listen_to("s", "x/y/c.txt");
    live.listen_to_list("list");
    fs::remove_dir_all(live.tree.path()).unwrap();
    assert_eq!(live.all_news(2), ["\"list\" list_changed", "\"s\" updated x/y/c.txt"]);
    let before = ticks(&live);
    live.client.says_nothing_for(Duration::from_secs(1));
    let busy = ticks(&live) - before;
    assert!(busy < 20, "{busy} of 100 hundredths of a second were spent");
    for path in ["a.txt", ""] {
        let uri = live.tree.uri(path);
        let error = live.client.error("resources/read", json!({"uri": uri}));
        let message = error["message"].as_str().expect("text");
        assert!(error["code"] == -32603 && message.contains("no longer at its path"), "{error}");
    }
    for (tool, path) in [("list_directory", "."), ("directory_tree", "."), ("read_text_file", "a.txt")] {
        let error = live.client.tool_error(tool, json!({"path": path}));
        assert!(error.contains("no longer at its path"), "{tool}: {error}");
    }
}

/// Processor time, in hundredths of a second as Linux counts it.
#[cfg(target_os = "linux")]
fn ticks(live: &Live<Process>) -> u64 {
    // utime and stime: see proc(5).
    live.stat()[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum()
}
