//! `WritableRoot::update`, on which `edit_file` is built: read, change and replace, with nothing lost in between.

use std::convert::Infallible;
use std::fs;
use std::sync::Arc;

use mcp_fs::root::write::{UpdateError, Updated, Version, WriteError};
use mcp_fs::root::{Deny, Protect, Root, RootError, WritableRoot};
use mcp_fs::runtime::cancel::Cancel;

use crate::support::Tree;

const MOST: u64 = 1 << 20;

pub(super) fn writable(tree: &Tree) -> WritableRoot {
    let root = Root::open(tree.path(), Deny::new(&[], true).expect("no patterns")).expect("a root");
    WritableRoot::new(Arc::new(root), Protect::new(&[], true).expect("no patterns"), true)
}

fn update<T, E>(
    root: &WritableRoot,
    path: &str,
    if_match: Option<&Version>,
    change: impl Fn(&[u8]) -> Result<(Option<Vec<u8>>, T), E>,
) -> Result<Updated<T>, UpdateError<E>> {
    let asked = root.root().locate(path).expect("a path");
    root.update(&asked, if_match, MOST, &Cancel::default(), change)
}

fn version(root: &WritableRoot, path: &str) -> Version {
    let same = update(root, path, None, |_| Ok::<_, Infallible>((None, ())));
    same.expect("no change").written.version
}

#[test]
fn the_new_content_is_based_on_the_old_one() {
    let tree = Tree::new().file("a", "one");
    let root = writable(&tree);
    let change = |old: &[u8]| Ok::<_, Infallible>((Some([old, b" two"].concat()), old.len()));
    let updated = update(&root, "a", None, change).unwrap();
    assert_eq!(fs::read(tree.join("a")).unwrap(), b"one two");
    assert_eq!((updated.value, updated.written.size, updated.written.created), (3, 7, false));
    assert_eq!(updated.written.version, version(&root, "a"));
}

#[test]
fn nothing_is_written_if_the_change_fails() {
    let tree = Tree::new().file("a", "one");
    let root = writable(&tree);
    let before = version(&root, "a");
    assert_eq!(update(&root, "a", None, |_| Err::<(_, ()), _>("no")).unwrap_err(), UpdateError::Change("no"));
    update(&root, "a", None, |_| Ok::<_, Infallible>((None, ()))).unwrap();
    assert_eq!(version(&root, "a"), before);
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1);
}

#[test]
fn a_change_by_another_program_in_between_is_not_overwritten() {
    let tree = Tree::new().file("a", "one");
    let root = writable(&tree);
    let change = |_: &[u8]| {
        fs::write(tree.join("a"), "theirs").unwrap();
        Ok::<_, Infallible>((Some(b"ours".to_vec()), ()))
    };
    assert_eq!(update(&root, "a", None, change).unwrap_err(), UpdateError::Write(WriteError::Raced));
    assert_eq!(fs::read(tree.join("a")).unwrap(), b"theirs");
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn a_file_removed_by_another_program_meanwhile_is_not_recreated() {
    let tree = Tree::new().file("a", "one");
    let root = writable(&tree);
    let change = |_: &[u8]| {
        fs::remove_file(tree.join("a")).unwrap();
        Ok::<_, Infallible>((Some(b"ours".to_vec()), ()))
    };
    let gone = UpdateError::Write(WriteError::Root(RootError::NotFound));
    assert_eq!(update(&root, "a", None, change).unwrap_err(), gone);
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 0);
}

#[cfg(unix)] // on Windows a directory stays while something in it is open
#[test]
fn a_directory_that_vanished_meanwhile_is_not_recreated() {
    let tree = Tree::new().file("d/a", "one");
    let root = writable(&tree);
    let change = |_: &[u8]| {
        fs::remove_dir_all(tree.join("d")).unwrap();
        Ok::<_, Infallible>((Some(b"ours".to_vec()), ()))
    };
    assert_eq!(
        update(&root, "d/a", None, change).unwrap_err(),
        UpdateError::Write(WriteError::Root(RootError::NotFound))
    );
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 0);
}

#[test]
fn an_outdated_version_prevents_the_write() {
    let tree = Tree::new().file("a", "one");
    let root = writable(&tree);
    let read = version(&root, "a");
    fs::write(tree.join("a"), "theirs").unwrap();
    let now = version(&root, "a");
    let change = |_: &[u8]| Ok::<_, Infallible>((Some(b"ours".to_vec()), ()));
    assert_eq!(
        update(&root, "a", Some(&read), change).unwrap_err(),
        UpdateError::Write(WriteError::Changed { now: now.clone() })
    );
    update(&root, "a", Some(&now), change).unwrap();
    assert_eq!(fs::read(tree.join("a")).unwrap(), b"ours");
}

#[test]
fn a_file_longer_than_allowed_is_not_read() {
    let tree = Tree::new().file("a", vec![b'x'; MOST as usize + 1]);
    let root = writable(&tree);
    let change = |_: &[u8]| -> Result<(Option<Vec<u8>>, ()), Infallible> { panic!("it was read") };
    assert_eq!(
        update(&root, "a", None, change).unwrap_err(),
        UpdateError::Write(WriteError::TooLong { size: MOST + 1, most: MOST })
    );
}

#[test]
fn no_other_call_gets_in_between() {
    const EACH: usize = 50;
    let tree = Tree::new().file("a", "");
    let root = writable(&tree);
    std::thread::scope(|scope| {
        for letter in [b'a', b'b', b'c', b'd'] {
            let root = &root;
            scope.spawn(move || {
                for _ in 0..EACH {
                    let change = |old: &[u8]| Ok::<_, Infallible>((Some([old, &[letter]].concat()), ()));
                    update(root, "a", None, change).unwrap();
                }
            });
        }
    });
    let mut content = fs::read(tree.join("a")).unwrap();
    content.sort_unstable();
    assert_eq!(content, [b'a', b'b', b'c', b'd'].map(|letter| [letter; EACH]).concat());
}
