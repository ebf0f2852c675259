//! When the list of resources counts as changed, who is notified, and how often.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcp_fs::call::Call;
use serde_json::{Value, json};

use crate::live::{Live, append, quick};
use crate::resources::{list_all, names};
use crate::support::{Client, Gate, LATEST_LEGACY, NEVER, TestServer, Tree};

fn tree() -> Tree {
    let tree = Tree::new().file("a.txt", "one\n").file("sub/b.txt", "two\n").file("sub/deep/c.txt", "three\n");
    tree.file(".gitignore", "*.log\n").file("old.log", "ignored\n").dir("empty")
}

/// One stream and one legacy client that has listed follow the list. A change in several steps is one change.
fn live() -> Live {
    let tree = tree();
    let builder = TestServer::builder(&tree).limits(|limits| {
        quick(limits);
        limits.watch.settle = Duration::from_millis(100);
    });
    let mut live = Live::new(builder.start().legacy(LATEST_LEGACY), tree);
    live.client.result("resources/list", json!({}));
    live.listen_to_list("s");
    live
}

fn is_told_once(change: impl FnOnce(&Tree)) {
    let mut live = live();
    change(&live.tree);
    assert_eq!(live.all_news(2), ["\"s\" list_changed", "list_changed"]);
    live.nothing_else();
}

/// The same for a change in several steps: the program sees them all at once.
fn is_told_once_as_a_whole(change: impl FnOnce(&Tree)) {
    let mut live = Live::spawn_legacy(tree());
    live.client.result("resources/list", json!({}));
    live.listen_to_list("s");
    live.in_one_moment(change);
    assert_eq!(live.all_news(2), ["\"s\" list_changed", "list_changed"]);
    live.nothing_else();
}

fn is_not_told(change: impl FnOnce(&Tree)) {
    let mut live = live();
    change(&live.tree);
    live.nothing_else();
}

/// The current list.
fn listed<C: Client>(live: &mut Live<C>) -> Vec<String> {
    names(&list_all(&mut live.client)).into_iter().map(str::to_owned).collect()
}

/// Waits for notifications and lists, until the list is as wanted. Returns how many notifications came.
fn listens_until<C: Client>(live: &mut Live<C>, wanted: impl Fn(&[String]) -> bool) -> usize {
    for heard in 1.. {
        assert_eq!(live.news(), "\"s\" list_changed");
        if wanted(&listed(live)) {
            return heard;
        }
    }
    unreachable!("it ends, or waits in vain")
}

#[test]
fn a_new_file_is_reported() {
    is_told_once(|tree| fs::write(tree.join("empty/new.txt"), "").unwrap());
}

#[test]
fn a_deleted_file_is_reported() {
    is_told_once(|tree| fs::remove_file(tree.join("sub/deep/c.txt")).unwrap());
}

#[test]
fn a_renamed_file_is_reported() {
    is_told_once(|tree| fs::rename(tree.join("a.txt"), tree.join("sub/a.txt")).unwrap());
}

#[test]
fn a_renamed_directory_is_reported() {
    is_told_once(|tree| fs::rename(tree.join("sub"), tree.join("other")).unwrap());
}

#[test]
fn a_deleted_tree_is_reported() {
    is_told_once_as_a_whole(|tree| fs::remove_dir_all(tree.join("sub")).unwrap());
}

#[test]
fn a_file_moved_in_or_out_is_reported() {
    is_told_once(|tree| fs::rename(tree.outside().join("secret"), tree.join("in.txt")).unwrap());
    is_told_once(|tree| fs::rename(tree.join("a.txt"), tree.outside().join("out.txt")).unwrap());
}

#[test]
fn a_changed_ignore_file_is_reported() {
    is_told_once_as_a_whole(|tree| fs::write(tree.join(".gitignore"), "*.txt\n").unwrap());
    is_told_once(|tree| append(tree, ".gitignore", "b.txt\n"));
    is_told_once(|tree| fs::remove_file(tree.join(".gitignore")).unwrap());
    is_told_once(|tree| fs::rename(tree.join("a.txt"), tree.join("sub/.ignore")).unwrap());
}

#[test]
fn a_directory_that_replaces_a_file_is_reported() {
    is_told_once_as_a_whole(|tree| {
        fs::remove_file(tree.join("a.txt")).unwrap();
        fs::create_dir(tree.join("a.txt")).unwrap();
    });
}

#[test]
fn a_write_to_a_file_does_not_change_the_list() {
    is_not_told(|tree| fs::write(tree.join("a.txt"), "changed\n").unwrap());
}

#[test]
fn a_save_by_rename_does_not_change_the_list() {
    is_not_told(|tree| {
        fs::write(tree.join("a.txt.tmp"), "saved\n").unwrap();
        fs::rename(tree.join("a.txt.tmp"), tree.join("a.txt")).unwrap();
    });
}

#[test]
fn changes_of_unlisted_files_are_not_reported() {
    is_not_told(|tree| {
        fs::write(tree.join("new.log"), "ignored\n").unwrap();
        fs::write(tree.join("sub/new.log"), "ignored\n").unwrap();
        fs::write(tree.join(".env"), "KEY=1\n").unwrap();
        fs::create_dir_all(tree.join(".git/objects")).unwrap();
        fs::write(tree.join(".git/objects/1"), "").unwrap();
        fs::create_dir_all(tree.join("empty/er/est")).unwrap();
        append(tree, ".gitignore", "# a comment\n");
    });
}

#[cfg(unix)]
#[test]
fn a_new_link_is_not_reported() {
    is_not_told(|tree| std::os::unix::fs::symlink("a.txt", tree.join("link")).unwrap());
}

#[test]
fn a_tree_created_at_once_is_noticed_at_every_level() {
    let mut live = Live::quick(tree());
    live.listen_to_list("s");
    let deep = "x/y/z/u/v/w";
    fs::create_dir_all(live.tree.join(deep)).unwrap();
    for number in 0..50 {
        fs::create_dir(live.tree.join(format!("x/y/{number}"))).unwrap();
        fs::write(live.tree.join(format!("x/y/{number}/leaf.txt")), "").unwrap();
    }
    listens_until(&mut live, |names| names.iter().filter(|name| name.ends_with("leaf.txt")).count() == 50);
    // Also after it has come to rest: the last changes are noticed.
    for number in 0..5 {
        let path = format!("{deep}/{number}.txt");
        fs::write(live.tree.join(&path), "").unwrap();
        listens_until(&mut live, |names| names.contains(&path));
    }
    // It may be notified once more, about the last of these.
    live.client.close();
}

/// Claude Code fetches every page again each time.
#[test]
fn a_thousand_new_files_are_reported_once_or_twice() {
    let mut live = Live::spawn_legacy(tree());
    live.listen_to_list("s");
    live.in_one_moment(|tree| {
        for number in 0..1_000 {
            fs::write(tree.join(format!("sub/{number:04}.txt")), "").unwrap();
        }
    });
    let heard =
        listens_until(&mut live, |names| names.iter().filter(|name| name.starts_with("sub/0")).count() == 1_000);
    assert!(heard <= 2, "it was told {heard} times");
}

#[test]
fn changes_during_a_pause_are_reported_at_its_end() {
    for (pause, ends) in [(Duration::from_millis(200), true), (NEVER, false)] {
        let mut live = Live::with(tree(), |limits| {
            quick(limits);
            (limits.watch.list_pause, limits.watch.list_longest_pause) = (pause, pause);
        });
        live.listen_to_list("s");
        fs::write(live.tree.join("first.txt"), "").unwrap();
        assert_eq!(live.news(), "\"s\" list_changed");
        fs::write(live.tree.join("second.txt"), "").unwrap();
        if ends {
            listens_until(&mut live, |names| names.contains(&"second.txt".to_owned()));
        } else {
            live.nothing_else();
        }
    }
}

#[test]
fn a_stream_starts_with_a_notification_if_the_client_has_an_older_list() {
    let mut live = Live::quick(tree());
    listed(&mut live);
    fs::write(live.tree.join("new.txt"), "").unwrap();
    live.listen("s", json!({"resourcesListChanged": true}));
    assert_eq!(live.news(), "\"s\" list_changed");
    live.nothing_else();
    // Not if its list is still valid.
    live.cancel("s");
    listed(&mut live);
    live.listen("s", json!({"resourcesListChanged": true}));
    live.nothing_else();
}

#[test]
fn a_change_right_after_the_acknowledgement_is_reported() {
    let mut live = Live::quick(tree());
    for number in 0..50 {
        let id = number.to_string();
        listed(&mut live);
        live.listen(id.clone(), json!({"resourcesListChanged": true}));
        fs::write(live.tree.join(format!("{number}.txt")), "").unwrap();
        assert_eq!(live.news(), format!("{id:?} list_changed"));
        live.cancel(id);
        live.client.expect_silence();
    }
}

#[test]
fn a_legacy_client_that_never_listed_is_not_notified() {
    let mut live = Live::legacy(tree());
    live.subscribe("a.txt");
    live.client.tool_text("list_directory", json!({}));
    live.client.tool_text("search_files", json!({"pattern": "*.txt"}));
    live.client.result("resources/templates/list", json!({}));
    fs::write(live.tree.join("new.txt"), "").unwrap();
    live.nothing_else();
}

#[test]
fn a_stream_not_opened_for_the_list_is_not_notified_even_if_its_client_lists() {
    let mut live = Live::quick(tree());
    live.listen_to("s", "a.txt");
    live.listen("t", json!({"resourcesListChanged": false, "toolsListChanged": true}));
    listed(&mut live);
    fs::write(live.tree.join("new.txt"), "").unwrap();
    live.nothing_else();
}

#[test]
fn every_list_is_current_even_while_watching() {
    let mut live = live();
    for number in 0..20 {
        let name = format!("{number}.txt");
        fs::write(live.tree.join(&name), "").unwrap();
        assert!(listed(&mut live).contains(&name), "{name}");
        fs::remove_file(live.tree.join(&name)).unwrap();
        assert!(!listed(&mut live).contains(&name), "{name}");
    }
    live.client.close();
}

/// The answer is held back after the walk, so it is outdated when it is sent.
#[test]
fn an_outdated_list_is_followed_by_a_notification() {
    let tree = tree();
    let (gate, armed) = (Gate::new(), Arc::new(AtomicBool::new(false)));
    let (at_gate, is_armed) = (gate.clone(), Arc::clone(&armed));
    let builder = TestServer::builder(&tree).limits(quick).dispatch(move |call, context| {
        let result = mcp_fs::features::dispatch::dispatch(call, context);
        if matches!(call, Call::ListResources { .. }) && is_armed.load(Ordering::Relaxed) {
            at_gate.pass();
        }
        result
    });
    let mut live = Live::new(builder.start(), tree);
    live.listen_to_list("s");
    armed.store(true, Ordering::Relaxed);
    let id = live.client.ask_modern("resources/list", json!({}));
    gate.wait_for(1);
    fs::write(live.tree.join("new.txt"), "").unwrap();
    assert_eq!(live.news(), "\"s\" list_changed");
    live.nothing_else();
    gate.open();
    let old: Value = live.client.answer(id);
    assert!(!names(old["result"]["resources"].as_array().unwrap()).contains(&"new.txt"), "it is old: {old}");
    assert_eq!(live.news(), "\"s\" list_changed", "or the client would keep the old one");
    assert!(listed(&mut live).contains(&"new.txt".to_owned()));
    live.nothing_else();
}

#[test]
fn changes_beyond_the_end_of_a_cut_list_are_not_reported() {
    let mut live = Live::with(Tree::new().file("b", "").file("c", "").file("d", ""), |limits| {
        quick(limits);
        limits.list = 2;
    });
    live.listen_to_list("s");
    fs::write(live.tree.join("z"), "").unwrap();
    fs::create_dir(live.tree.join("sub")).unwrap();
    fs::write(live.tree.join("sub/a"), "").unwrap();
    live.nothing_else();
    fs::write(live.tree.join("a"), "").unwrap();
    assert_eq!(live.news(), "\"s\" list_changed");
    assert_eq!(listed(&mut live), ["a", "b"]);
    live.nothing_else();
}
