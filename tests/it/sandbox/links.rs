//! Links that stay inside are followed if named; all links are listed as links; walks enter none.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{DIRECTORY_OPERATIONS, FILE_OPERATIONS, OPERATIONS, ask, asked};
use crate::support::{Client, SECRET_MARKER, TestServer, Tree};

fn tree() -> Tree {
    Tree::new()
        .file("inside.txt", "inside\n")
        .file("inner/leaf.txt", "leaf\n")
        .link("in", "inside.txt")
        .link("in-absolute", "{root}/inside.txt")
        .link("in-dir", "inner")
        .link("in-dir-absolute", "{root}/inner/")
        .link("inner/back", "../inside.txt")
        .link("inner/top", "{root}")
        .link("in-chain", "in-dir-absolute/top/./inner/../in-absolute")
        .link("out", "../secret")
        .link("out-dir", "..")
        .link("dangling", "nothing-here")
        .link("loop", ".")
        .link("inner/loop", "../inner")
        .link("self", "self")
        .link("ping", "pong")
        .link("pong", "{root}/ping")
}

const LINKS: [&str; 12] = [
    "dangling",
    "in",
    "in-absolute",
    "in-chain",
    "in-dir",
    "in-dir-absolute",
    "loop",
    "out",
    "out-dir",
    "ping",
    "pong",
    "self",
];

#[test]
fn every_reading_operation_follows_links_that_stay_inside() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let ways = ["in", "in-absolute", "in-chain", "inner/back", "in-dir/back", "in-dir/top/inside.txt", "loop/loop/in"];
    for operation in FILE_OPERATIONS {
        for way in ways {
            let answer = ask(&mut server, &tree, operation, &asked(&tree, operation, way));
            assert!(!answer.is_refusal() && answer.words().contains("inside\n"), "{operation} {way}: {answer:?}");
        }
    }
}

#[test]
fn every_listing_operation_follows_links_to_directories_inside() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in DIRECTORY_OPERATIONS {
        for way in ["in-dir", "in-dir-absolute", "in-dir/", "loop/inner/loop", "inner/top/in-dir"] {
            let answer = ask(&mut server, &tree, operation, way);
            assert!(!answer.is_refusal() && answer.words().contains("leaf.txt"), "{operation} {way}: {answer:?}");
        }
    }
}

#[test]
fn eight_absolute_links_in_a_row_still_lead_in() {
    let mut tree = Tree::new().file("d/inside.txt", "inside\n").link("l0", "{root}/d");
    for next in 1..8 {
        tree = tree.link(format!("l{next}"), &format!("{{root}}/l{}", next - 1));
    }
    let mut server = TestServer::start(&tree);
    assert_eq!(server.tool_text("read_text_file", json!({"path": "l7/inside.txt"})), "inside\n");
}

#[test]
fn links_are_listed_as_links_whatever_they_lead_to() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for tool in ["list_directory", "list_directory_with_sizes"] {
        let text = server.tool_text(tool, json!({}));
        let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("[LINK] ")).collect();
        let names: Vec<&str> = found.iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(names, LINKS, "{tool}: {text}");
    }
}

#[test]
fn a_tree_shows_links_and_does_not_enter_them() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let text = server.tool_text("directory_tree", json!({"maxDepth": 50}));
    let nodes: Value = serde_json::from_str(&text).expect("a tree is JSON");
    let of_kind = |nodes: &Value, kind: &str| -> Vec<String> {
        let nodes = nodes.as_array().expect("nodes").iter().filter(|node| node["type"] == kind);
        nodes.map(|node| node["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(of_kind(&nodes, "link"), LINKS);
    assert_eq!(of_kind(&nodes, "directory"), ["inner"]);
    assert!(nodes.as_array().unwrap().iter().all(|node| node["type"] != "link" || node.get("children").is_none()));
    let inner = nodes.as_array().unwrap().iter().find(|node| node["name"] == "inner").expect("inner");
    assert_eq!(of_kind(&inner["children"], "link"), ["back", "loop", "top"]);
    assert_eq!(text.matches("leaf.txt").count(), 1, "{text}");
}

#[test]
fn each_resource_is_listed_once_by_its_own_path() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let listed = server.result("resources/list", json!({}));
    let uris: Vec<&str> = listed["resources"].as_array().unwrap().iter().map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, [tree.uri("inside.txt"), tree.uri("inner/leaf.txt")]);
}

#[test]
fn loops_of_links_end_with_an_error() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let deep = "loop/".repeat(60) + "inside.txt";
    for operation in OPERATIONS {
        for path in ["self", "self/x", "ping", "pong/x", &deep] {
            let answer = ask(&mut server, &tree, operation, path);
            let says_why = answer.words().contains("too many links");
            assert!(answer.is_refusal() && says_why, "{operation} {path}: {answer:?}");
        }
    }
}

#[test]
fn a_link_outside_is_refused_without_naming_its_target() {
    let tree = Tree::new().link("out", "{outside}/secret").link("there", "{outside}/cellar/treasure");
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        for link in ["out", "there"] {
            let answer = ask(&mut server, &tree, operation, link);
            let words = answer.words();
            assert!(
                answer.is_refusal() && words.contains("leads outside the served directory"),
                "{operation}: {words}"
            );
            let targets = ["secret", "cellar", "treasure"];
            assert!(targets.iter().all(|target| !words.contains(target)), "{operation} names the target: {words}");
        }
    }
}

#[test]
fn file_info_shows_a_link_and_its_target_inside() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (link, want) in [
        ("in", "link: to a file, inside.txt"),
        ("in-chain", "link: to a file, inside.txt"),
        ("in-dir-absolute", "link: to a directory, inner"),
        ("inner/top", "link: to a directory, ."),
    ] {
        let text = server.tool_text("get_file_info", json!({"path": link}));
        assert!(text.lines().any(|line| line == want), "{link}: {text}");
    }
    let text = server.tool_text("get_file_info", json!({"path": "inside.txt"}));
    assert!(!text.contains("link:"), "{text}");
}

#[test]
fn a_dangling_link_is_not_found() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for operation in OPERATIONS {
        let answer = ask(&mut server, &tree, operation, "dangling");
        assert!(answer.is_refusal() && !answer.words().contains("leads outside"), "{operation}: {answer:?}");
    }
}

/// The names that it hides would reveal its content.
#[test]
fn a_linked_ignore_file_is_not_read() {
    let tree = Tree::new()
        .file("a.txt", "a\n")
        .file("b.txt", "b\n")
        .link(".gitignore", "../ignored")
        .link(".ignore", "{outside}/ignored");
    std::fs::write(tree.outside().join("ignored"), format!("a.txt\n# {SECRET_MARKER}\n")).expect("a file");
    let mut server = TestServer::start(&tree);
    let listed = server.result("resources/list", json!({}));
    let names: BTreeSet<&str> =
        listed["resources"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["a.txt", "b.txt"]));
    assert!(server.tool_text("directory_tree", json!({})).contains("a.txt"));
}
