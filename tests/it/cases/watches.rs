//! Group F, continued: system resources that other programs need as well.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::live::Live;
use crate::live::watches::watches;
use crate::support::mount::Mounted;
use crate::support::{Client as _, Process, Tree};

/// microsoft/mcp #1930, azure-tools-for-java #11304, codegraph #579: 90,000 to 170,000 watches were taken at startup,
/// and no other program of the user could get any.
#[test]
fn f8_nothing_is_watched_until_a_client_asks_and_never_more_than_the_limit() {
    let tree = (0..2_000).fold(Tree::new(), |tree, number| tree.dir(format!("{}/{number}", number % 50)));
    let tree = tree.file("49/1999/last.txt", "one\n");
    let mut live = Live::spawn(tree, ["--poll-interval", "1"]);
    live.client.tool_text("search_files", serde_json::json!({"pattern": "*.txt"}));
    assert_eq!(watches(&live.client), [] as [&str; 0]);
    live.listen_to_list("list");
    live.listen_to("file", "49/1999/last.txt");
    crate::live::until("as many watches as there may be", || watches(&live.client).len() == 1_024);
    // A change of the very last file is noticed, by its watch or by polling.
    fs::write(live.tree.join("49/1999/last.txt"), "two\n").unwrap();
    assert_eq!(live.news(), "\"file\" updated 49/1999/last.txt");
    fs::write(live.tree.join("48/new.txt"), "").unwrap();
    assert_eq!(live.news(), "\"list\" list_changed");
    assert_eq!(watches(&live.client).len(), 1_024);
    let said = live.client.finish();
    assert_eq!(said.matches("directories and files cannot be watched (--watch-limit").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Both files are written by every name in turn, and each write is reported once.
fn is_told_by_every_name(live: &mut Live<Process>, path: &str, names: &[PathBuf]) {
    for name in names.iter().chain(names) {
        append_to(name);
        assert_eq!(live.news(), format!("updated {path}"), "{}", name.display());
    }
    live.nothing_else();
}

fn append_to(path: &Path) {
    let file = fs::OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(b"more\n")).expect("it is written");
}

/// pyinotify #109, osquery #5704, docker/for-win #12775: a file mounted into the directory was written by its other
/// path, and nobody was notified.
#[test]
fn l2_a_mounted_file_is_followed_whichever_path_is_written() {
    for path in ["cfg.json", "deep/er/cfg.json"] {
        let tree = Tree::new().file(path, "");
        let names = [tree.outside().join("real.json"), tree.join(path)];
        fs::write(&names[0], "one\n").unwrap();
        let Some(mounted) = Mounted::bind(&names[0], &names[1]) else { return };
        let mut live = Live::spawn_legacy(tree);
        live.subscribe(path);
        live.nothing_else();
        is_told_by_every_name(&mut live, path, &names);
        drop(mounted);
    }
}

#[test]
fn l2_a_file_with_several_names_is_followed_whichever_is_written() {
    let tree = Tree::new().file("sub/a.txt", "one\n").dir("other");
    let names = [tree.join("sub/a.txt"), tree.join("other/b.txt"), tree.outside().join("c.txt")];
    for name in &names[1..] {
        fs::hard_link(&names[0], name).unwrap();
    }
    let mut live = Live::spawn_legacy(tree);
    live.subscribe("sub/a.txt");
    live.nothing_else();
    is_told_by_every_name(&mut live, "sub/a.txt", &names);
    // Another file takes its place, with another name of its own.
    let (new, its_name) = (live.tree.outside().join("new"), live.tree.outside().join("name-of-new"));
    fs::write(&new, "new\n").unwrap();
    fs::hard_link(&new, &its_name).unwrap();
    fs::rename(&new, &names[0]).unwrap();
    assert_eq!(live.news(), "updated sub/a.txt");
    append_to(&names[1]);
    live.nothing_else();
    is_told_by_every_name(&mut live, "sub/a.txt", &[its_name, names[0].clone()]);
    // It gets another name while it is followed.
    let later = live.tree.outside().join("later");
    fs::hard_link(&names[0], &later).unwrap();
    is_told_by_every_name(&mut live, "sub/a.txt", &[later]);
}

/// If there is no watch left for the file itself, it is polled.
#[test]
fn l2_what_cannot_be_watched_is_polled() {
    for options in [&["--watch-limit", "1", "--poll-interval", "1"] as &[_], &["--watch=poll", "--poll-interval=1"]] {
        let tree = Tree::new().file("a.txt", "one\n");
        let other = tree.outside().join("b.txt");
        fs::hard_link(tree.join("a.txt"), &other).unwrap();
        let mut live = Live::spawn(tree, options.iter().copied());
        live.listen_to("s", "a.txt");
        for name in [&other, &live.tree.join("a.txt"), &other] {
            append_to(name);
            assert_eq!(live.news(), "\"s\" updated a.txt");
        }
    }
}

/// Mounting causes no event. The next look, whatever its cause, reports and follows what is there now.
#[test]
fn l2_a_mount_over_a_followed_file_is_noticed_by_the_next_look() {
    let tree = Tree::new().file("d/a.txt", "one\n");
    let other = tree.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.txt"), "another\n").unwrap();
    let mut covered = fs::OpenOptions::new().append(true).open(tree.join("d/a.txt")).unwrap();
    let mut live = Live::spawn_legacy(tree);
    live.subscribe("d/a.txt");
    live.nothing_else();
    let Some(mounted) = Mounted::bind(&other, &live.tree.join("d")) else { return };
    covered.write_all(b"more\n").unwrap();
    assert_eq!(live.news(), "updated d/a.txt");
    live.nothing_else();
    let inside = live.tree.join("d/a.txt");
    is_told_by_every_name(&mut live, "d/a.txt", &[other.join("a.txt"), inside]);
    drop(mounted);
}
