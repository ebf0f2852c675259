//! Group I: links to directories are entered if a call names them, and counted otherwise.

use serde_json::{Value, json};

use crate::search::{NOTHING, found};
use crate::support::{Client, TestServer, Tree};
use crate::tools::{text_and_note, with};

/// `docs`, and links to it, from it, to itself, to a denied file, outside, and to nothing.
fn tree() -> Tree {
    let tree = ["docs/a.md", "docs/sub/b.md", "docs/c.txt", "other/d.md", "x/y/e.md", "keep/secret/f.md"];
    let tree = tree.iter().fold(Tree::new(), |tree, path| tree.file(path, "needle\n"));
    let tree = tree.link("l", "docs").link("docs/m", "../other").link("abs", "{root}/docs").link("chain", "l");
    let tree = tree.link("loop", ".").link("docs/up", "..").link("docs/sub/again", "../../docs");
    let tree = tree.link("out", "..").link("gone", "nowhere").link("file.md", "docs/a.md").link("x/l", "y");
    tree.link("shut", "keep/secret").file(".ssh/id.md", "needle\n").link("keys", ".ssh")
}

/// The files in which `search_text` finds a text that all of them contain.
fn searched(server: &mut TestServer, more: &Value) -> Vec<String> {
    let arguments = with(&json!({"query": "needle", "filesOnly": true}), more);
    let (text, _) = text_and_note(server, "search_text", arguments);
    text.lines().filter(|line| *line != NOTHING).map(str::to_owned).collect()
}

/// claude-code #67526, #25317, opencode #18848: linked directories were skipped silently.
#[test]
fn i10_a_named_link_is_entered() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).deny("secret").start();
    for (pattern, want) in [
        ("l/**/*.md", &["l/a.md", "l/sub/b.md"][..]),
        ("l/*.md", &["l/a.md"]),
        ("./l/*.md", &["l/a.md"]),
        ("L/*.md", &[]),
        ("abs/sub/*", &["abs/sub/again", "abs/sub/b.md"]),
        ("chain/a.md", &["chain/a.md"]),
        ("l/m/*", &["l/m/d.md"]),
        ("*/m/*.md", &["docs/m/d.md"]),
        ("**/l/*.md", &["l/a.md", "x/l/e.md"]),
        ("x/l/*", &["x/l/e.md"]),
        ("{l}/*.md", &[]),
        ("l*/*.md", &[]),
        // Links to a directory above end: each is entered once.
        ("loop/docs/*.md", &["loop/docs/a.md"]),
        ("loop/loop/docs/*.md", &[]),
        ("**/again/*.md", &["docs/sub/again/a.md"]),
        ("docs/up/docs/a.md", &["docs/up/docs/a.md"]),
        // Nothing outside, and nothing denied.
        ("out/**", &[]),
        ("gone/**", &[]),
        ("shut/**", &[]),
        ("keys/**", &[]),
        ("loop/.ssh/*", &[]),
        ("loop/keep/**", &[]),
        ("file.md/**", &[]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
        let files: Vec<_> = want.iter().filter(|path| path.contains(".md")).collect();
        assert_eq!(searched(&mut server, &json!({"glob": pattern})).iter().collect::<Vec<_>>(), files, "{pattern}");
        for path in want {
            assert!(server.tool_text("get_file_info", json!({"path": path})).contains("isFile"), "{path}");
        }
    }
    // A bare name selects what is below it, through a link as well.
    assert_eq!(searched(&mut server, &json!({"glob": "l"})), ["l/a.md", "l/c.txt", "l/sub/b.md", "x/l/e.md"]);
    assert_eq!(searched(&mut server, &json!({"glob": "l/", "excludePatterns": ["l/sub", "x"]})), ["l/a.md", "l/c.txt"]);
    for (path, want) in
        [("l", &["l/a.md", "l/sub/b.md"][..]), ("chain/sub", &["chain/sub/b.md"]), ("docs/m", &["docs/m/d.md"])]
    {
        assert_eq!(found(&mut server, json!({"pattern": "*.md", "path": path})), want, "{path}");
        assert_eq!(searched(&mut server, &json!({"glob": "*.md", "path": path})), want, "{path}");
    }
    assert_eq!(found(&mut server, json!({"pattern": "m/*", "path": "l"})), ["l/m/d.md"]);
}

#[test]
fn i10_links_that_are_not_entered_are_counted() {
    let tree = tree();
    let mut server = TestServer::builder(&tree).deny("secret").start();
    // The links to directories that could be entered: l, abs, chain, loop, x/l, docs/m, docs/up, docs/sub/again.
    for (tool, arguments) in [
        ("search_files", json!({"pattern": "*.md"})),
        ("search_files", json!({"pattern": "nothing*"})),
        ("search_text", json!({"query": "needle"})),
    ] {
        let (_, note) = text_and_note(&mut server, tool, arguments.clone());
        assert!(note.is_some_and(|note| note.contains("8 links to directories not entered")), "{tool} {arguments}");
    }
    let (_, note) = text_and_note(&mut server, "search_files", json!({"pattern": "x/l/*"}));
    assert!(note.is_some_and(|note| note.contains("7 links to directories not entered")));
    let (_, note) = text_and_note(&mut server, "search_files", json!({"pattern": "*", "path": "x/y"}));
    assert_eq!(note, None);
    let list = server.result("tools/list", json!({}));
    let search = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "search_files").unwrap();
    let kind = search["inputSchema"]["properties"]["kind"]["description"].as_str().unwrap();
    assert!(kind.contains("link"), "{kind}");
}

/// An ignored directory is searched if the link to it is named, and an ignored link is not an entry.
#[test]
fn i10_ignore_rules_apply_at_the_target_of_a_link() {
    let tree = Tree::new().file("made/a.md", "needle\n").file("made/b.log", "needle\n").link("l", "made");
    let tree = tree.file(".gitignore", "/made/**\n*.log\n/hidden\n").link("hidden", "made");
    let mut server = TestServer::start(&tree);
    assert_eq!(found(&mut server, json!({"pattern": "l/*"})), ["l/a.md"]);
    assert_eq!(searched(&mut server, &json!({"glob": "l/**"})), ["l/a.md"]);
    assert_eq!(found(&mut server, json!({"pattern": "hidden/*"})), [""; 0]);
    let arguments = json!({"pattern": "hidden/*", "includeIgnored": true});
    assert_eq!(found(&mut server, arguments), ["hidden/a.md", "hidden/b.log"]);
}

/// A pattern that names multiplying links also ends, within limits.
#[test]
fn i10_walks_of_circular_links_end() {
    let mut tree = Tree::new().file("f.md", "needle\n");
    for number in 0..150 {
        tree = tree.link(format!("d{number:03}/l"), "..");
    }
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 100_000_000).start();
    let (text, note) =
        text_and_note(&mut server, "search_files", json!({"pattern": "**/l/**/f.md", "limit": 1_000_000}));
    let lines = text.lines().count();
    assert!((1..=100).contains(&lines), "{lines}: each link at most once, and at most 100 of them");
    assert!(note.is_some_and(|note| note.contains("not entered")));
}
