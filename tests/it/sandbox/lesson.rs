//! The lesson's challenge: "reject any URI that escapes; assert that `../secret` fails".

use super::{OPERATIONS, READ_RESOURCE, ask};
use crate::support::{Client, LEGACY, TestServer, Tree};

/// Six ways to write it. A tool also accepts a `file://` URI for a path, and a resource a relative reference.
fn spellings(tree: &Tree) -> [String; 6] {
    let (root, uri) = (tree.path().to_str().expect("text"), tree.uri(""));
    [
        "../secret".to_owned(),
        "./inner/../../secret".to_owned(),
        format!("{root}/../secret"),
        format!("{uri}/../secret"),
        format!("{uri}/%2e%2e/secret"),
        format!("{uri}/inner/%2E%2E/.%2e/secret"),
    ]
}

fn tree() -> Tree {
    Tree::new().file("inner/leaf.txt", "leaf\n")
}

#[test]
fn dot_dot_secret_is_refused_by_every_operation() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for spelling in spellings(&tree) {
            let answer = ask(&mut server, &tree, operation, &spelling);
            assert!(answer.is_refusal(), "{operation} {spelling}: {answer:?}");
            let says_why = answer.words().contains("leads outside the served directory");
            assert!(says_why, "{operation} {spelling}: {answer:?}");
        }
    }
}

#[test]
fn dot_dot_secret_is_invalid_params_in_every_revision() {
    let tree = tree();
    for revision in LEGACY {
        let mut server = TestServer::start(&tree).legacy(revision);
        for spelling in spellings(&tree) {
            let answer = ask(&mut server, &tree, READ_RESOURCE, &spelling);
            assert_eq!(answer.code(), Some(-32602), "{revision} {spelling}: {answer:?}");
        }
    }
    let mut server = TestServer::start(&tree);
    for spelling in spellings(&tree) {
        let answer = ask(&mut server, &tree, READ_RESOURCE, &spelling);
        assert_eq!(answer.code(), Some(-32602), "2026-07-28 {spelling}: {answer:?}");
    }
}
