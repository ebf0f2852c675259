//! `notifications/prompts/list_changed`, for a legacy client that has listed, and on a stream opened for it.

use std::fs;

use serde_json::json;

use super::{REVIEW, names, serve};
use crate::live::{Live, append, quick};
use crate::support::{Client, LATEST_LEGACY, TestServer, Tree};

/// One stream and one legacy client follow the list of prompts.
fn live(folder: &str) -> Live {
    let tree = Tree::new().file("prompts/review.md", REVIEW).file("prompts/sub/a.md", "x").file("notes.md", "x");
    let builder = TestServer::builder(&tree).prompts(folder).limits(quick);
    let mut live = Live::new(builder.start().legacy(LATEST_LEGACY), tree);
    live.client.result("prompts/list", json!({}));
    let wanted = json!({"promptsListChanged": true});
    assert_eq!(live.listen("s", wanted.clone()), wanted);
    live.client.modern("prompts/list", json!({}));
    live.nothing_else();
    live
}

fn is_told(live: &mut Live) {
    assert_eq!(live.all_news(2), ["\"s\" prompts/list_changed", "prompts/list_changed"]);
    live.nothing_else();
}

#[test]
fn new_and_deleted_prompts_are_reported() {
    let mut live = live("prompts");
    fs::write(live.tree.join("new.md"), "x").expect("a file");
    fs::rename(live.tree.join("new.md"), live.tree.join("prompts/sub/new.md")).expect("it is moved");
    is_told(&mut live);
    assert_eq!(names(&mut live.client), ["review", "sub/a", "sub/new"]);
    fs::remove_file(live.tree.join("prompts/review.md")).expect("it is removed");
    is_told(&mut live);
    fs::rename(live.tree.join("prompts/sub"), live.tree.join("prompts/other")).expect("it is moved");
    is_told(&mut live);
    assert_eq!(names(&mut live.client), ["other/a", "other/new"]);
}

#[test]
fn a_changed_description_is_reported_and_a_changed_text_is_not() {
    let mut live = live("prompts");
    append(&live.tree, "prompts/review.md", "More of it.\n");
    live.nothing_else();
    fs::write(live.tree.join("new.md"), REVIEW.replace("Reviews a file", "Reviews it")).expect("a file");
    fs::rename(live.tree.join("new.md"), live.tree.join("prompts/review.md")).expect("it is moved");
    is_told(&mut live);
}

#[test]
fn a_file_that_becomes_invalid_and_valid_again_is_reported() {
    let mut live = live("prompts");
    let replace = |live: &Live, text: &str| {
        fs::write(live.tree.join("new.md"), text).expect("a file");
        fs::rename(live.tree.join("new.md"), live.tree.join("prompts/review.md")).expect("it is moved");
    };
    replace(&live, "---\ndescription: [\n---\nx");
    is_told(&mut live);
    assert_eq!(names(&mut live.client), ["sub/a"]);
    replace(&live, REVIEW);
    is_told(&mut live);
}

#[test]
fn a_folder_that_disappears_and_returns_is_reported() {
    let mut live = live("prompts");
    fs::rename(live.tree.join("prompts"), live.tree.join("away")).expect("it is moved");
    is_told(&mut live);
    assert_eq!(names(&mut live.client), [""; 0]);
    fs::rename(live.tree.join("away"), live.tree.join("prompts")).expect("it is moved");
    is_told(&mut live);
    append(&live.tree, "prompts/sub/a.md", "x");
    live.nothing_else();
}

#[test]
fn changes_of_other_files_are_not_reported() {
    let mut live = live("prompts");
    fs::write(live.tree.join("other.md"), "x").expect("a file");
    fs::write(live.tree.join("prompts/notes.txt"), "x").expect("a file");
    live.nothing_else();
}

#[test]
fn all_of_dir_can_be_the_folder() {
    let mut live = live("");
    assert_eq!(names(&mut live.client), ["notes", "prompts/review", "prompts/sub/a"]);
    fs::create_dir(live.tree.join("later")).expect("a directory");
    fs::rename(live.tree.join("notes.md"), live.tree.join("later/notes.md")).expect("it is moved");
    is_told(&mut live);
}

#[test]
fn without_prompts_nothing_is_acknowledged() {
    let tree = Tree::new().dir("prompts");
    let mut live = Live::quick(tree);
    assert_eq!(live.listen("s", json!({"promptsListChanged": true})), json!({}));
    let tree = Tree::new().dir("prompts");
    let off = serve(&tree).limits(|limits| limits.watch.mode = mcp_fs::limits::WatchMode::Off).start();
    let mut live = Live::new(off, tree);
    assert_eq!(live.listen("s", json!({"promptsListChanged": true})), json!({}));
}
