//! What counts as a change of a file and what does not: each change is reported once to each subscriber.

use std::fs;
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::live::{Live, append};
use crate::support::{Client as _, LATEST_LEGACY, Process, TestServer, Tree};

/// One legacy client and two streams follow `a.txt`. A change may take several steps, which are made while the program
/// is stopped. A change ends with a tenth of a second of rest, so the duration of the steps must not be visible.
fn live() -> Live<Process> {
    let tree = Tree::new().file("a.txt", "one\n").file("other.txt", "another\n").file("sub/b.txt", "b\n");
    let mut live = Live::spawn_legacy(tree);
    live.subscribe("a.txt");
    live.listen_to(1, "a.txt");
    live.listen_to("s", "a.txt");
    live
}

fn is_told_once(live: &mut Live<Process>, change: impl FnOnce(&Tree)) {
    live.in_one_moment(change);
    assert_eq!(live.all_news(3), ["\"s\" updated a.txt", "1 updated a.txt", "updated a.txt"]);
    live.nothing_else();
}

fn one_change(change: impl FnOnce(&Tree)) {
    is_told_once(&mut live(), change);
}

fn no_change(change: impl FnOnce(&Tree)) {
    let mut live = live();
    change(&live.tree);
    live.nothing_else();
}

#[test]
fn appending_is_one_change() {
    one_change(|tree| append(tree, "a.txt", "two\n"));
}

#[test]
fn rewriting_it_is_one_change() {
    one_change(|tree| fs::write(tree.join("a.txt"), "anew\n").unwrap());
}

#[test]
fn writing_the_same_again_is_one_change() {
    one_change(|tree| fs::write(tree.join("a.txt"), "one\n").unwrap());
}

#[test]
fn truncating_is_one_change() {
    one_change(|tree| fs::OpenOptions::new().write(true).open(tree.join("a.txt")).unwrap().set_len(0).unwrap());
}

#[test]
fn a_hundred_writes_in_a_row_are_one_change() {
    one_change(|tree| (0..100).for_each(|_| append(tree, "a.txt", "more\n")));
}

#[test]
fn saving_by_a_temporary_file_and_a_rename_is_one_change() {
    one_change(|tree| {
        fs::write(tree.join(".a.txt.tmp"), "saved\n").unwrap();
        fs::rename(tree.join(".a.txt.tmp"), tree.join("a.txt")).unwrap();
    });
}

#[test]
fn saving_with_a_backup_is_one_change() {
    one_change(|tree| {
        fs::rename(tree.join("a.txt"), tree.join("a.txt~")).unwrap();
        fs::write(tree.join("a.txt"), "saved\n").unwrap();
        fs::remove_file(tree.join("a.txt~")).unwrap();
    });
}

#[test]
fn replacing_it_by_a_file_from_another_directory_is_one_change() {
    one_change(|tree| fs::rename(tree.join("sub/b.txt"), tree.join("a.txt")).unwrap());
}

#[test]
fn deleting_and_recreating_it_at_once_is_one_change() {
    one_change(|tree| {
        fs::remove_file(tree.join("a.txt")).unwrap();
        fs::write(tree.join("a.txt"), "one\n").unwrap();
    });
}

#[test]
fn replacing_it_by_a_directory_is_one_change() {
    one_change(|tree| {
        fs::remove_file(tree.join("a.txt")).unwrap();
        fs::create_dir(tree.join("a.txt")).unwrap();
    });
}

#[test]
fn changing_its_time_is_one_change() {
    one_change(|tree| {
        let file = fs::OpenOptions::new().write(true).open(tree.join("a.txt")).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(1)).unwrap();
    });
}

#[test]
fn disappearing_and_returning_are_two_changes() {
    let mut live = live();
    is_told_once(&mut live, |tree| fs::remove_file(tree.join("a.txt")).unwrap());
    is_told_once(&mut live, |tree| fs::write(tree.join("a.txt"), "back\n").unwrap());
    is_told_once(&mut live, |tree| fs::rename(tree.join("a.txt"), tree.join("away.txt")).unwrap());
    is_told_once(&mut live, |tree| fs::rename(tree.join("away.txt"), tree.join("a.txt")).unwrap());
}

#[test]
fn a_write_right_after_a_notification_is_a_change_even_with_the_same_size() {
    let mut live = live();
    for text in ["two\n", "six\n", "ten\n", "one\n"] {
        // In one step, without truncating it first.
        let file = fs::OpenOptions::new().write(true).open(live.tree.join("a.txt"));
        file.and_then(|mut file| file.write_all(text.as_bytes())).unwrap();
        assert_eq!(live.all_news(3), ["\"s\" updated a.txt", "1 updated a.txt", "updated a.txt"], "{text}");
    }
    live.nothing_else();
}

/// It is written while the server begins to watch it and examines it for the first time.
#[test]
fn a_write_right_after_subscribing_is_reported_once() {
    let paths: Vec<String> = (0..500).map(|number| format!("{number:03}.txt")).collect();
    let tree = paths.iter().fold(Tree::new(), |tree, path| tree.file(path, "one\n"));
    let mut live = Live::new(TestServer::start(&tree).legacy(LATEST_LEGACY), tree);
    for path in &paths {
        live.subscribe(path);
        append(&live.tree, path, "two\n");
    }
    let expected: Vec<String> = paths.iter().map(|path| format!("updated {path}")).collect();
    assert_eq!(live.all_news(paths.len()), expected);
    live.nothing_else();
}

#[test]
fn a_constantly_growing_log_is_reported_while_it_grows() {
    let mut live = live();
    let path = live.tree.join("a.txt");
    let (stop, stopped) = mpsc::channel::<()>();
    let writer = thread::spawn(move || {
        while stopped.recv_timeout(Duration::from_millis(5)) == Err(RecvTimeoutError::Timeout) {
            let file = fs::OpenOptions::new().append(true).open(&path);
            file.and_then(|mut file| file.write_all(b"again\n")).expect("it is written");
        }
    });
    assert_eq!(live.all_news(3), ["\"s\" updated a.txt", "1 updated a.txt", "updated a.txt"]);
    drop(stop);
    writer.join().unwrap();
    // What was written since then may have been reported already.
    live.client.close_stdin();
    live.client.wait();
}

#[cfg(unix)]
#[test]
fn changing_its_mode_is_not_a_change() {
    use std::os::unix::fs::PermissionsExt as _;
    no_change(|tree| {
        for mode in [0o600, 0o755, 0o644] {
            fs::set_permissions(tree.join("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
        }
    });
}

#[test]
fn reading_is_not_a_change() {
    no_change(|tree| assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"one\n"));
}

#[test]
fn opening_it_for_writing_without_a_write_is_not_a_change() {
    no_change(|tree| drop(fs::OpenOptions::new().append(true).open(tree.join("a.txt")).unwrap()));
}

#[test]
fn changes_of_other_files_are_not_a_change() {
    no_change(|tree| {
        append(tree, "other.txt", "more\n");
        fs::write(tree.join("a.txt.tmp"), "beside\n").unwrap();
        fs::rename(tree.join("a.txt.tmp"), tree.join("a.txt.bak")).unwrap();
        fs::remove_file(tree.join("other.txt")).unwrap();
        fs::create_dir(tree.join("sub/a.txt")).unwrap();
    });
}

#[test]
fn another_hard_link_is_not_a_change() {
    no_change(|tree| fs::hard_link(tree.join("a.txt"), tree.join("same.txt")).unwrap());
}
