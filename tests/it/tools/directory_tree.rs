//! `directory_tree`: the official JSON, what it leaves out, and that a cut is reported and leaves valid JSON.

use serde_json::{Value, json};

use super::{MOST_EXACT, text_and_note};
use crate::support::{Client, TestServer, Tree};

/// The tree as JSON.
fn parsed(server: &mut TestServer, arguments: Value) -> (Value, Option<String>) {
    let (text, note) = text_and_note(server, "directory_tree", arguments);
    (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")), note)
}

/// All paths in a tree, parents before children.
fn paths(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for node in tree.as_array().expect("an array") {
        let name = node["name"].as_str().expect("a name");
        found.push(name.to_owned());
        if let Some(children) = node.get("children") {
            found.extend(paths(children).into_iter().map(|path| format!("{name}/{path}")));
        }
    }
    found
}

/// Byte for byte the answer of the official server 2026.8.31 for this tree: `JSON.stringify(tree, null, 2)`.
#[cfg(unix)]
#[test]
fn a_small_tree_is_the_official_text() {
    let tree =
        Tree::new().file("a.txt", "x").file("q\"\\\u{e9}.md", "y").file("sub/b.txt", "z").dir("sub/empty").dir("zz");
    let want = r#"[
  {
    "name": "a.txt",
    "type": "file"
  },
  {
    "name": "q\"\\é.md",
    "type": "file"
  },
  {
    "name": "sub",
    "type": "directory",
    "children": [
      {
        "name": "b.txt",
        "type": "file"
      },
      {
        "name": "empty",
        "type": "directory",
        "children": []
      }
    ]
  },
  {
    "name": "zz",
    "type": "directory",
    "children": []
  }
]"#;
    let mut server = TestServer::start(&tree);
    for arguments in [json!({}), json!({"path": "."}), json!({"path": "", "excludePatterns": null})] {
        assert_eq!(text_and_note(&mut server, "directory_tree", arguments), (want.to_owned(), None));
    }
    assert_eq!(server.tool_text("directory_tree", json!({"path": "zz"})), "[]");
}

/// The official default, which prompts and clients send.
#[test]
fn an_empty_list_of_patterns_leaves_nothing_out() {
    let tree = Tree::new().file("a.txt", "x");
    let (tree, _) = parsed(&mut TestServer::start(&tree), json!({"path": ".", "excludePatterns": []}));
    assert_eq!(paths(&tree), ["a.txt"]);
}

#[cfg(unix)]
#[test]
fn links_and_special_files_have_their_own_type_and_no_children() {
    let tree = Tree::new().file("d/f", "").link("l", "d").link("out", "..").fifo("p");
    let (tree, _) = parsed(&mut TestServer::start(&tree), json!({}));
    let types: Vec<_> = tree.as_array().unwrap().iter().map(|node| (&node["name"], &node["type"])).collect();
    assert_eq!(json!(types), json!([["d", "directory"], ["l", "link"], ["out", "link"], ["p", "other"]]));
    assert_eq!(paths(&tree), ["d", "d/f", "l", "out", "p"]);
}

#[test]
fn max_depth_limits_the_levels_and_reports_what_was_not_entered() {
    let tree = Tree::new().file("a/b/c/d.txt", "").file("e.txt", "");
    let mut server = TestServer::start(&tree);
    for (depth, want) in [
        (1, &["a", "e.txt"][..]),
        (2, &["a", "a/b", "e.txt"]),
        (3, &["a", "a/b", "a/b/c", "e.txt"]),
        (4, &["a", "a/b", "a/b/c", "a/b/c/d.txt", "e.txt"]),
        (MOST_EXACT, &["a", "a/b", "a/b/c", "a/b/c/d.txt", "e.txt"]),
    ] {
        let (tree, note) = parsed(&mut server, json!({"maxDepth": depth}));
        assert_eq!(paths(&tree), want, "maxDepth {depth}");
        let is_cut = depth < 4;
        assert_eq!(note.is_some_and(|note| note.contains("1 directory not entered")), is_cut, "maxDepth {depth}");
    }
    let text = server.tool_error("directory_tree", json!({"maxDepth": 0}));
    assert!(text.contains("maxDepth"), "{text}");
}

#[test]
fn excluded_entries_are_left_out_with_everything_below_them() {
    let tree = Tree::new().file("a.log", "").file("d/b.log", "").file("d/c.txt", "").file("d/node_modules/x.js", "");
    let mut server = TestServer::start(&tree);
    for (patterns, want) in [
        (json!(["*.log"]), &["d", "d/c.txt", "d/node_modules", "d/node_modules/x.js"][..]),
        (json!(["node_modules"]), &["a.log", "d", "d/b.log", "d/c.txt"]),
        (json!(["**/node_modules/**", "*.log"]), &["d", "d/c.txt"]),
        (json!(["/a.log", "d/c.txt"]), &["d", "d/b.log", "d/node_modules", "d/node_modules/x.js"]),
        (json!(["d"]), &["a.log"]),
    ] {
        let (tree, _) = parsed(&mut server, json!({"excludePatterns": patterns}));
        assert_eq!(paths(&tree), want, "{patterns}");
    }
    let (tree, _) = parsed(&mut server, json!({"path": "d", "excludePatterns": ["/b.log", "node_modules/"]}));
    assert_eq!(paths(&tree), ["c.txt"], "patterns are relative to the path");
}

#[test]
fn invalid_or_too_many_patterns_are_rejected() {
    let tree = Tree::new();
    let mut server = TestServer::start(&tree);
    let text = server.tool_error("directory_tree", json!({"excludePatterns": ["fine", "a{b"]}));
    assert!(text.contains("a{b") && !text.contains("fine"), "{text}");
    for wrong in [json!(vec!["x"; 101]), json!("x"), json!([1])] {
        let text = server.tool_error("directory_tree", json!({"excludePatterns": wrong}));
        assert!(text.contains("excludePatterns") && text.contains("100"), "{text}");
    }
}

#[test]
fn ignored_entries_are_hidden_and_counted_and_shown_on_request() {
    let tree =
        Tree::new().file(".gitignore", "target/\n*.tmp\n").file("a.tmp", "").file("target/x", "").file("s/b.tmp", "");
    let tree = tree.file("s/c.txt", "").file(".git/HEAD", "").file("s/.hidden", "");
    let mut server = TestServer::start(&tree);
    let (shown, note) = parsed(&mut server, json!({"includeIgnored": null}));
    assert_eq!(paths(&shown), [".gitignore", "s", "s/.hidden", "s/c.txt"]);
    assert!(note.is_some_and(|note| note.contains("3 entries hidden")));
    let (all, note) = parsed(&mut server, json!({"includeIgnored": true}));
    assert_eq!(paths(&all).len(), 10);
    assert_eq!(note, None);
    let (below, _) = parsed(&mut server, json!({"path": "s"}));
    assert_eq!(paths(&below), [".hidden", "c.txt"], "patterns from above hold below");
}

#[test]
fn a_cut_tree_is_reported_and_still_valid_json() {
    let tree =
        (0..400).fold(Tree::new(), |tree, number| tree.file(format!("d{:02}/file-{number:03}.txt", number % 20), ""));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 5_000).start();
    let (text, note) = text_and_note(&mut server, "directory_tree", json!({}));
    assert!(text.len() <= 5_000, "{} bytes", text.len());
    let shown = paths(&serde_json::from_str(&text).expect("JSON"));
    let note = note.expect("a note");
    assert!(note.contains("cut") && note.contains(&shown.len().to_string()), "{note}");
    assert_eq!(shown.iter().filter(|path| !path.contains('/')).count(), 20, "the upper levels are whole: {shown:?}");
}

/// Deep directories cost more indentation than files do.
#[test]
fn a_tree_of_deep_directories_stays_within_the_limit() {
    let deep = ["d"; 9].join("/");
    let tree = (0..60).fold(Tree::new(), |tree, number| tree.dir(format!("{number:02}/{deep}")));
    let text = TestServer::start(&tree).tool_text("directory_tree", json!({}));
    assert!(text.len() <= 40_000, "{} bytes", text.len());
}
