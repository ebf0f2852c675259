//! `search_files`: the meaning of a pattern, kinds, notes, and what cannot be searched.

use serde_json::{Value, json};

use super::{NOTHING, found};
use crate::support::{Client, TestServer, Tree};
use crate::tools::{text_and_note, with};

fn tree() -> Tree {
    let files = ["a.py", "Main.PY", "sub/b.py", "sub/users.go", "sub/deep/c.py", "sub/sub/d.py", "data1.csv"];
    let more = ["data2.csv", "dataX.csv", "src/x.rs", "src/y.ts", "docs/Übersicht.md", "docs/日本.md", "back\\slash"];
    let more = more.iter().filter(|name| can_be(name));
    files.iter().chain(more).fold(Tree::new(), |tree, path| tree.file(path, ""))
}

/// On Windows a backslash separates names.
fn can_be(name: &str) -> bool {
    cfg!(unix) || !name.contains('\\')
}

#[track_caller]
fn assert_found(cases: &[(&str, &[&str])]) {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (pattern, want) in cases {
        let want: Vec<_> = want.iter().copied().filter(|name| can_be(name)).collect();
        assert_eq!(found(&mut server, json!({"pattern": pattern})), want, "{pattern}");
    }
}

#[test]
fn a_pattern_without_a_slash_matches_at_any_depth() {
    assert_found(&[
        ("*.py", &["Main.PY", "a.py", "sub/b.py", "sub/deep/c.py", "sub/sub/d.py"]),
        ("users.go", &["sub/users.go"]),
        ("sub", &["sub", "sub/sub"]),
        (
            "**",
            &[
                "Main.PY",
                "a.py",
                "back\\slash",
                "data1.csv",
                "data2.csv",
                "dataX.csv",
                "docs",
                "src",
                "sub",
                "docs/Übersicht.md",
                "docs/日本.md",
                "src/x.rs",
                "src/y.ts",
                "sub/b.py",
                "sub/deep",
                "sub/sub",
                "sub/users.go",
                "sub/deep/c.py",
                "sub/sub/d.py",
            ][..],
        ),
        // Neither part of a name nor a path.
        ("user", &[]),
        ("py", &[]),
    ]);
}

#[test]
fn a_pattern_with_a_slash_is_relative_to_the_start() {
    assert_found(&[
        ("**/*.py", &["Main.PY", "a.py", "sub/b.py", "sub/deep/c.py", "sub/sub/d.py"]),
        ("sub/*", &["sub/b.py", "sub/deep", "sub/sub", "sub/users.go"]),
        ("sub/**/*.py", &["sub/b.py", "sub/deep/c.py", "sub/sub/d.py"]),
        ("sub/**", &["sub/b.py", "sub/deep", "sub/sub", "sub/users.go", "sub/deep/c.py", "sub/sub/d.py"]),
        ("**/deep/*", &["sub/deep/c.py"]),
        ("*/users.go", &["sub/users.go"]),
        ("deep/*", &[]),
        // A `*` stays within a name.
        ("*/c.py", &[]),
    ]);
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (pattern, want) in [
        ("*.py", &["sub/b.py", "sub/deep/c.py", "sub/sub/d.py"][..]),
        ("./*.py", &["sub/b.py"]),
        ("deep/*", &["sub/deep/c.py"]),
        ("sub/*", &["sub/sub/d.py"]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": pattern, "path": "sub"})), want, "{pattern} in sub");
    }
}

#[test]
fn a_pattern_may_begin_with_dot_slash_or_the_absolute_path() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let root = tree.path().to_str().expect("text");
    for (pattern, want) in [
        ("*.py", &["Main.PY", "a.py"][..]),
        ("sub/*.py", &["sub/b.py"]),
        ("**/c.py", &["sub/deep/c.py"]),
        ("src/", &["src"]),
    ] {
        for prefix in ["./".to_owned(), format!("{root}/")] {
            assert_eq!(found(&mut server, json!({"pattern": format!("{prefix}{pattern}")})), want, "{prefix}{pattern}");
        }
    }
    // A path that is not the served directory's is not one in front of a pattern either.
    assert_eq!(found(&mut server, json!({"pattern": format!("{root}x/*.py")})), [""; 0]);
}

/// It is complete on its own: `path` is not put in front of it.
#[test]
fn an_absolute_pattern_means_the_same_whatever_the_path() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let root = tree.path().to_str().expect("text");
    for (pattern, want) in [("sub/*.py", &["sub/b.py"][..]), ("**/c.py", &["sub/deep/c.py"]), ("src/*", &[])] {
        let arguments = json!({"pattern": format!("{root}/{pattern}"), "path": "sub"});
        assert_eq!(found(&mut server, arguments), want, "{pattern}, absolute, in sub");
    }
}

#[test]
fn a_trailing_slash_matches_only_directories() {
    let tree = tree().file("other/sub", "");
    let mut server = TestServer::start(&tree);
    assert_eq!(found(&mut server, json!({"pattern": "sub"})), ["sub", "other/sub", "sub/sub"]);
    for pattern in ["sub/", "**/sub/"] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), ["sub", "sub/sub"], "{pattern}");
    }
    assert_eq!(found(&mut server, json!({"pattern": "sub/", "kind": "file"})), [""; 0]);
}

#[test]
fn case_matters_only_if_the_pattern_has_capitals() {
    assert_found(&[
        ("main.py", &["Main.PY"]),
        ("MAIN.PY", &[]),
        ("Main.PY", &["Main.PY"]),
        ("*.PY", &["Main.PY"]),
        ("übersicht*", &["docs/Übersicht.md"]),
        ("Ü*", &["docs/Übersicht.md"]),
        ("data[a-z].csv", &["dataX.csv"]),
        ("data[A-Z].csv", &["dataX.csv"]),
        ("data[A-W].csv", &[]),
    ]);
}

#[test]
fn classes_braces_question_marks_and_escapes_are_globs() {
    assert_found(&[
        ("data[12].csv", &["data1.csv", "data2.csv"]),
        ("data[!12].csv", &["dataX.csv"]),
        ("data[0-9].csv", &["data1.csv", "data2.csv"]),
        ("data?.csv", &["data1.csv", "data2.csv", "dataX.csv"]),
        ("*.{rs,ts}", &["src/x.rs", "src/y.ts"]),
        ("{src,sub}/*.{rs,go}", &["src/x.rs", "sub/users.go"]),
        ("data\\[12].csv", &[]),
    ]);
    #[cfg(unix)]
    assert_found(&[("back\\\\slash", &["back\\slash"]), ("back\\slash", &["back\\slash"])]);
}

#[test]
fn a_question_mark_and_a_class_match_a_character_not_a_byte() {
    assert_found(&[
        ("日*", &["docs/日本.md"]),
        ("??.md", &["docs/日本.md"]),
        ("日?.md", &["docs/日本.md"]),
        ("[日月]本.md", &["docs/日本.md"]),
        ("[!a]本.md", &["docs/日本.md"]),
        ("[ü]bersicht.md", &["docs/Übersicht.md"]),
        ("?????.md", &[]),
    ]);
}

#[cfg(unix)]
#[test]
fn kind_filters_the_results() {
    let tree = Tree::new().file("x/x", "").link("x-link", "x").fifo("x-pipe");
    let mut server = TestServer::start(&tree);
    for (kind, want) in [
        (json!("file"), &["x/x"][..]),
        (json!("directory"), &["x"]),
        (json!("any"), &["x", "x-link", "x-pipe", "x/x"]),
        (Value::Null, &["x", "x-link", "x-pipe", "x/x"]),
    ] {
        assert_eq!(found(&mut server, json!({"pattern": "x*", "kind": kind})), want, "{kind}");
    }
}

#[test]
fn excluded_entries_and_their_content_are_not_found() {
    let tree = ["a.js", "node_modules/m/a.js", "sub/node_modules/a.js", "sub/b.js", "sub/b.test.js"]
        .iter()
        .fold(Tree::new(), |tree, path| tree.file(path, ""));
    let mut server = TestServer::start(&tree);
    for (patterns, want) in [
        (json!([]), &["a.js", "sub/b.js", "sub/b.test.js", "node_modules/m/a.js", "sub/node_modules/a.js"][..]),
        (Value::Null, &["a.js", "sub/b.js", "sub/b.test.js", "node_modules/m/a.js", "sub/node_modules/a.js"]),
        (json!(["node_modules"]), &["a.js", "sub/b.js", "sub/b.test.js"]),
        (json!(["node_modules/"]), &["a.js", "sub/b.js", "sub/b.test.js"]),
        (json!(["**/node_modules/**"]), &["a.js", "sub/b.js", "sub/b.test.js"]),
        (json!(["node_modules/**"]), &["a.js", "sub/b.js", "sub/b.test.js", "sub/node_modules/a.js"]),
        (json!(["/node_modules", "*.test.js"]), &["a.js", "sub/b.js", "sub/node_modules/a.js"]),
        (json!(["*.js", "!b.js"]), &["sub/b.js"]),
    ] {
        let arguments = json!({"pattern": "*.js", "excludePatterns": patterns});
        assert_eq!(found(&mut server, arguments), want, "{patterns}");
    }
    // Relative to the start of the search, like the pattern.
    let arguments = json!({"pattern": "*.js", "path": "sub", "excludePatterns": ["/node_modules"]});
    assert_eq!(found(&mut server, arguments), ["sub/b.js", "sub/b.test.js"]);
}

#[test]
fn the_limit_cuts_the_deepest_results_and_the_note_says_how_to_continue() {
    let tree = ["1", "2", "3", "d/4", "d/5"].iter().fold(Tree::new(), |tree, path| tree.file(path, ""));
    let mut server = TestServer::start(&tree);
    for (limit, want, is_cut) in [
        (1, &["1"][..], true),
        (4, &["1", "2", "3", "d/4"], true),
        (5, &["1", "2", "3", "d/4", "d/5"], false),
        (1_000_000, &["1", "2", "3", "d/4", "d/5"], false),
    ] {
        let arguments = json!({"pattern": "[1-5]", "limit": limit});
        let (text, note) = text_and_note(&mut server, "search_files", arguments);
        assert_eq!(text.lines().collect::<Vec<_>>(), want, "limit {limit}");
        assert_eq!(note.is_some(), is_cut, "limit {limit}: {note:?}");
        let counted = format!("first {limit} result{}", if limit == 1 { "" } else { "s" });
        assert!(note.is_none_or(|note| note.contains(&counted) && note.contains("\"limit\"")), "limit {limit}");
    }
}

#[test]
fn the_default_limit_is_a_thousand_results() {
    let tree = (0..1_001).fold(Tree::new(), |tree, number| tree.file(format!("{number:04}"), ""));
    let mut server = TestServer::start(&tree);
    let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": "*"}));
    assert_eq!(text.lines().count(), 1_000);
    assert!(note.is_some_and(|note| note.contains("first 1,000 results")));
}

#[test]
fn more_results_than_an_answer_holds_are_cut_after_a_whole_line() {
    let tree = (0..100).fold(Tree::new(), |tree, number| tree.file(format!("name-{number:03}-ééé"), ""));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": "*"}));
    let lines: Vec<_> = text.lines().collect();
    assert!(text.len() <= 1_000 && text.len() > 900, "{} bytes", text.len());
    assert!(lines.iter().all(|line| line.ends_with("-ééé")), "{lines:?}");
    let note = note.expect("a note");
    assert!(note.contains(&format!("first {} results", lines.len())), "{note}");
}

#[test]
fn an_answer_without_results_says_what_was_searched() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for pattern in ["gone", "*.gone", "gone/*", "**/gone/**", "../*"] {
        let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": pattern}));
        assert_eq!(text, NOTHING, "{pattern}");
        let note = note.expect("a note");
        let entries = if cfg!(unix) { "19 entries searched" } else { "18 entries searched" };
        assert!(note.contains(entries) && !note.contains("regex"), "{pattern}: {note}");
    }
}

#[test]
fn a_regex_in_place_of_a_glob_gets_a_hint() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for pattern in [".*\\.py$", "^users", "users\\.g.+", "(?i)users", "users|main", "data\\d.csv", "\\w+.csv"] {
        let (text, note) = text_and_note(&mut server, "search_files", json!({"pattern": pattern}));
        assert_eq!(text, NOTHING, "{pattern}");
        let note = note.expect("a note");
        assert!(note.contains("is a glob such as *.rs, not a regex"), "{pattern}: {note}");
    }
}

#[test]
fn hidden_entries_are_mentioned_if_nothing_was_found() {
    let tree = Tree::new().file(".gitignore", "*.log\n").file("a.log", "").file("b.log", "").file(".git/c.log", "");
    let mut server = TestServer::start(&tree);
    let (_, note) = text_and_note(&mut server, "search_files", json!({"pattern": "*.log"}));
    // Not three: version control's own directory is not hidden by an ignore file, and the flag does not show it.
    assert!(note.as_ref().is_some_and(|note| note.contains("2 entries hidden by ignore files")), "{note:?}");
    assert!(note.is_some_and(|note| note.contains("includeIgnored")));
    let arguments = json!({"pattern": "*.log", "includeIgnored": true});
    assert_eq!(found(&mut server, arguments), ["a.log", "b.log"]);
    let (_, note) = text_and_note(&mut server, "search_files", json!({"pattern": "gone", "includeIgnored": true}));
    assert!(note.is_some_and(|note| !note.contains("includeIgnored")), "it was given");
}

#[test]
fn an_invalid_glob_is_an_error_with_a_mark_at_the_place() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (pattern, marked) in [
        ("src/[ab", "    src/[ab\n        ^"),
        ("[a]/[b", "    [a]/[b\n        ^"),
        ("日本{a", "    日本{a\n      ^"),
        ("*.{rs,py", "    *.{rs,py\n      ^"),
        ("ab}", "    ab}\n      ^"),
        ("{a}b}", "    {a}b}\n        ^"),
        ("[b][z-a][b]", "    [b][z-a][b]\n        ^"),
        ("a\\", "    a\\\n     ^"),
    ] {
        let error = server.tool_error("search_files", json!({"pattern": pattern}));
        assert!(error.ends_with(marked), "{pattern}:\n{error}");
    }
}

#[test]
fn an_invalid_argument_is_named_in_the_error() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for (wrong, name) in [
        (json!({"pattern": 1}), "pattern"),
        (json!({"pattern": null}), "pattern"),
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 1.5}), "limit"),
        (json!({"kind": "link"}), "kind"),
        (json!({"includeIgnored": "yes"}), "includeIgnored"),
        (json!({"excludePatterns": "node_modules"}), "excludePatterns"),
        (json!({"excludePatterns": [1]}), "excludePatterns"),
        (json!({"excludePatterns": vec!["a"; 101]}), "excludePatterns"),
        (json!({"excludePatterns": ["a{b"]}), "a{b"),
        (json!({"query": "a"}), "query"),
    ] {
        let error = server.tool_error("search_files", with(&json!({"pattern": "*"}), &wrong));
        assert!(error.contains(name), "{wrong}: {error}");
    }
}

#[test]
fn a_path_that_cannot_be_searched_is_an_error_with_the_reason() {
    let tree = tree().file(".ssh/config", "");
    let mut server = TestServer::start(&tree);
    for (path, reason) in [
        ("gone", "not found"),
        ("a.py", "not a directory"),
        ("..", "leads outside the served directory"),
        ("/", "leads outside the served directory"),
        (".ssh", "denied by the pattern"),
    ] {
        let error = server.tool_error("search_files", json!({"pattern": "*", "path": path}));
        assert!(error.contains(reason), "{path}: {error}");
    }
}
