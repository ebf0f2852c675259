//! Random paths from a small alphabet, in a tree with links inside and outside: what is returned is what the system
//! finds there if it is inside, and nothing else. A small alphabet finds what random strings do not.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Answer, READ_RESOURCE, ask};
use crate::support::{Client, LATEST_LEGACY, SECRET_MARKER, TestServer, Tree};

const TOKENS: [&str; 8] = ["..", ".", "a", "b", "link", "", "/", "%2e"];

/// Wherever a path leads, there is something: outside, the same names contain the marker.
fn tree() -> Tree {
    let tree = Tree::new()
        .file("b", "b\n")
        .file("a/b", "a/b\n")
        .file("a/a/b", "a/a/b\n")
        .file("%2e", "a percent sign\n")
        .file("a/%2e%2e/b", "a directory with percent signs\n")
        .file("a/a/a/b", "a/a/a/b\n")
        .link("link", "..")
        .link("a/link", "../a/a/../..")
        .link("a/a/link", "{root}/a/b")
        .link("a/a/a/link", "{outside}");
    let outside = tree.outside();
    fs::create_dir_all(outside.join("a/a")).expect("directories");
    for path in ["b", "a/b", "a/a/b", "link", "%2e"] {
        fs::write(outside.join(path), SECRET_MARKER).expect("a file");
    }
    tree
}

/// Tokens, joined by `/` or not: `..%2e` and `ab` are names as well.
fn paths() -> impl Strategy<Value = String> {
    let piece = (prop::sample::select(TOKENS.to_vec()), prop::bool::weighted(0.85));
    prop::collection::vec(piece, 0..8).prop_map(|pieces| {
        let joined: Vec<String> =
            pieces.iter().map(|(token, slash)| (*token).to_owned() + if *slash { "/" } else { "" }).collect();
        joined.concat()
    })
}

/// What the system finds at a path that stays inside at every step; `None` if it leaves, or leads to no file. As
/// everywhere in this crate, empty components and `.` are ignored, and a final `/` requires a directory.
fn oracle(tree: &Tree, path: &str) -> Option<Vec<u8>> {
    let mut at: PathBuf = tree.path().to_owned();
    for component in path.split('/').filter(|component| !matches!(*component, "" | ".")) {
        at = fs::canonicalize(at.join(component)).ok()?;
        if !at.starts_with(tree.path()) {
            return None;
        }
    }
    let is_file = |at: &Path| at.is_file() && !path.ends_with('/');
    Some(at).filter(|at| is_file(at)).map(|at| fs::read(at).expect("a file"))
}

fn agrees(tree: &Tree, asked: &str, answer: &Answer, means: &str) -> Result<(), TestCaseError> {
    let given = answer.text().filter(|_| !answer.is_refusal());
    // A directory is a resource, too: a listing, which the harness checks.
    if answer.0["result"]["contents"][0]["mimeType"] == "inode/directory" {
        prop_assert_eq!(oracle(tree, means), None, "{} is a file", asked);
        return Ok(());
    }
    prop_assert_eq!(given.map(|text| text.as_bytes().to_vec()), oracle(tree, means), "{:?}: {:?}", asked, answer);
    Ok(())
}

/// Runs `check` on many paths. The harness checks what the server sends for the marker.
fn for_any_path(check: impl Fn(&Tree, &mut TestServer, &str) -> Result<(), TestCaseError>) {
    let tree = tree();
    let server = RefCell::new(TestServer::start(&tree).legacy(LATEST_LEGACY));
    let config = Config { cases: 1_000, failure_persistence: None, ..Config::default() };
    let found = TestRunner::new(config).run(&paths(), |path| check(&tree, &mut server.borrow_mut(), &path));
    found.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn any_relative_path_returns_the_file_there_or_nothing() {
    for_any_path(|tree, server, path| {
        // Without a token, the first may be a `/`, which makes the path absolute.
        let asked = format!("./{path}");
        agrees(tree, &asked, &ask(server, tree, "read_text_file", &asked), &asked)
    });
}

#[test]
fn any_absolute_path_returns_the_file_there_or_nothing() {
    for_any_path(|tree, server, path| {
        let asked = format!("{}/{path}", tree.path().display());
        agrees(tree, &asked, &ask(server, tree, "read_text_file", &asked), path)
    });
}

#[test]
fn any_absolute_path_outside_the_root_returns_nothing() {
    for_any_path(|tree, server, path| {
        for asked in [format!("/{path}"), format!("{}/{path}", tree.outside().display())] {
            let answer = ask(server, tree, "read_text_file", &asked);
            prop_assert!(answer.is_refusal(), "{}: {:?}", asked, answer);
        }
        Ok(())
    });
}

#[test]
fn any_uri_returns_the_file_there_or_nothing() {
    for_any_path(|tree, server, path| {
        let asked = format!("{}/{path}", tree.uri(""));
        agrees(tree, &asked, &ask(server, tree, READ_RESOURCE, &asked), &path.replace("%2e", "."))
    });
}

#[test]
fn any_relative_reference_returns_the_file_there_or_nothing() {
    for_any_path(|tree, server, path| {
        let asked = format!("./{path}");
        agrees(tree, &asked, &ask(server, tree, READ_RESOURCE, &asked), &asked.replace("%2e", "."))
    });
}
