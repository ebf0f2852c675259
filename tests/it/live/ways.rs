//! Where a URI leads and by which way: links, directories that move, directories themselves, unusual names.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::live::{Live, append};
use crate::support::{Client as _, Tree};

/// Makes a link lead elsewhere in one step.
fn point(tree: &Tree, link: &str, target: &str) {
    symlink(target, tree.join("link.tmp")).unwrap();
    fs::rename(tree.join("link.tmp"), tree.join(link)).unwrap();
}

fn is_told(live: &mut Live, path: &str, change: impl FnOnce(&Tree)) {
    change(&live.tree);
    assert_eq!(live.news(), format!("updated {path}"));
    live.nothing_else();
}

#[test]
fn a_change_behind_a_link_is_reported_by_the_name_of_the_link() {
    let mut live =
        Live::legacy(Tree::new().file("deep/er/a.txt", "one\n").file("b.txt", "b\n").link("link", "deep/er/a.txt"));
    live.subscribe("link");
    is_told(&mut live, "link", |tree| append(tree, "deep/er/a.txt", "two\n"));
    is_told(&mut live, "link", |tree| fs::remove_file(tree.join("deep/er/a.txt")).unwrap());
    is_told(&mut live, "link", |tree| fs::rename(tree.join("b.txt"), tree.join("deep/er/a.txt")).unwrap());
}

#[test]
fn a_link_that_leads_elsewhere_is_a_change_and_its_new_target_is_followed() {
    let tree = Tree::new().file("one/a.txt", "one\n").file("two/b.txt", "another\n").link("link", "one/a.txt");
    let mut live = Live::legacy(tree);
    live.subscribe("link");
    is_told(&mut live, "link", |tree| point(tree, "link", "two/b.txt"));
    is_told(&mut live, "link", |tree| append(tree, "two/b.txt", "more\n"));
    append(&live.tree, "one/a.txt", "of no concern any more\n");
    live.nothing_else();
}

#[test]
fn each_link_of_a_chain_and_each_directory_on_the_way_counts() {
    let tree = Tree::new().file("a/x.txt", "a\n").file("b/x.txt", "bb\n").file("c/x.txt", "ccc\n");
    let tree = tree.link("dir", "a").link("first", "second").link("second", "{root}/dir/x.txt");
    let mut live = Live::legacy(tree);
    live.subscribe("first");
    is_told(&mut live, "first", |tree| point(tree, "dir", "b"));
    is_told(&mut live, "first", |tree| append(tree, "b/x.txt", "more\n"));
    is_told(&mut live, "first", |tree| point(tree, "second", "c/x.txt"));
    is_told(&mut live, "first", |tree| append(tree, "c/x.txt", "more\n"));
    is_told(&mut live, "first", |tree| point(tree, "first", "a/x.txt"));
}

#[test]
fn a_link_redirected_outside_is_a_change_and_its_target_is_not_followed() {
    let mut live = Live::legacy(Tree::new().file("a.txt", "one\n").link("link", "a.txt"));
    live.subscribe("link");
    is_told(&mut live, "link", |tree| point(tree, "link", "../secret"));
    fs::write(live.tree.outside().join("secret"), "of no concern\n").unwrap();
    live.nothing_else();
    is_told(&mut live, "link", |tree| point(tree, "link", "a.txt"));
}

#[test]
fn a_parent_that_disappears_and_returns_is_two_changes() {
    let mut live = Live::legacy(Tree::new().file("x/y/z/a.txt", "one\n"));
    live.subscribe("x/y/z/a.txt");
    for directory in ["x", "x/y", "x/y/z"] {
        is_told(&mut live, "x/y/z/a.txt", |tree| fs::rename(tree.join(directory), tree.join("away")).unwrap());
        append(&live.tree, &format!("away{}/a.txt", &"x/y/z"[directory.len()..]), "of no concern there\n");
        live.nothing_else();
        is_told(&mut live, "x/y/z/a.txt", |tree| fs::rename(tree.join("away"), tree.join(directory)).unwrap());
        is_told(&mut live, "x/y/z/a.txt", |tree| append(tree, "x/y/z/a.txt", "and followed again\n"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn replacing_a_parent_directory_is_a_change() {
    let mut live = Live::legacy(Tree::new().file("x/a.txt", "one\n").file("y/a.txt", "another\n"));
    live.subscribe("x/a.txt");
    is_told(&mut live, "x/a.txt", |tree| {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(rustix::fs::CWD, tree.join("x"), rustix::fs::CWD, tree.join("y"), flags).unwrap();
    });
    is_told(&mut live, "x/a.txt", |tree| append(tree, "x/a.txt", "and followed\n"));
}

#[test]
fn entries_that_appear_or_disappear_change_their_directory_only() {
    let mut live = Live::legacy(Tree::new().file("sub/a.txt", "one\n").dir("sub/deep"));
    live.subscribe("sub");
    for change in [
        |tree: &Tree| fs::create_dir(tree.join("sub/new")).unwrap(),
        |tree: &Tree| fs::rename(tree.join("sub/new"), tree.join("sub/other")).unwrap(),
        |tree: &Tree| fs::remove_dir(tree.join("sub/other")).unwrap(),
        |tree: &Tree| symlink("a.txt", tree.join("sub/link")).unwrap(),
        |tree: &Tree| fs::rename(tree.join("sub"), tree.join("away")).unwrap(),
        |tree: &Tree| fs::rename(tree.join("away"), tree.join("sub")).unwrap(),
        |tree: &Tree| fs::remove_dir(tree.join("sub/deep")).unwrap(),
    ] {
        is_told(&mut live, "sub", change);
    }
    fs::create_dir_all(live.tree.join("sub/deep/er")).unwrap();
    assert_eq!(live.news(), "updated sub");
    fs::write(live.tree.join("sub/deep/er/new.txt"), "").unwrap();
    live.nothing_else();
}

#[test]
fn writing_to_a_file_does_not_change_its_directory() {
    let mut live = Live::legacy(Tree::new().file("sub/a.txt", "one\n"));
    live.subscribe("sub");
    live.subscribe("sub/a.txt");
    is_told(&mut live, "sub/a.txt", |tree| append(tree, "sub/a.txt", "two\n"));
}

#[test]
fn the_served_directory_itself_can_be_followed() {
    let mut live = Live::legacy(Tree::new());
    live.subscribe("");
    is_told(&mut live, "", |tree| fs::create_dir(tree.join("new")).unwrap());
    is_told(&mut live, "", |tree| fs::remove_dir(tree.join("new")).unwrap());
}

#[test]
fn any_name_can_be_followed() {
    let names: [&[u8]; 9] =
        [b"a b", b"100%", b"new\nline", "\u{e9}\u{1f600}".as_bytes(), b"\xff\xfe", b"#", b"what?", b"%2e%2e", b"\\"];
    let tree = names.iter().fold(Tree::new(), |tree, name| tree.file_bytes_name(name, "one\n"));
    let mut live = Live::legacy(tree);
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        let uri = live.tree.uri(name);
        live.subscribe(name);
        fs::write(live.tree.join("whole.tmp"), "another\n").unwrap();
        fs::rename(live.tree.join("whole.tmp"), live.tree.join(name)).unwrap();
        let message = live.client.recv();
        assert_eq!(message["params"], json!({"uri": uri}), "{message}");
        live.nothing_else();
    }
}

#[test]
fn a_range_of_a_file_is_followed_under_its_own_uri() {
    let mut live = Live::legacy(Tree::new().file("a.txt", "one\ntwo\n"));
    let uri = live.tree.uri("a.txt") + "?offset=2&limit=1";
    assert_eq!(live.client.request("resources/subscribe", json!({"uri": uri}))["result"], json!({}));
    is_told(&mut live, "a.txt?offset=2&limit=1", |tree| append(tree, "a.txt", "three\n"));
}
