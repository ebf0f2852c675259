//! What ignore files hide, for `resources/list` and `search_files` alike, compared with git.

use std::cell::RefCell;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::found;
use crate::resources::{list_all, names};
use crate::support::{TestServer, Tree};

/// A git repository; `None`, with a notice, if there is no git. Nothing outside the tree affects it.
fn repository(tree: &Tree) -> Option<()> {
    let made = git(tree, &["init", "-q", "--template="]);
    if made.is_none() {
        crate::sandbox::skipped("agreement with git", "git is not installed");
    }
    made.map(|_| ())
}

/// The output of a git command; `None` if there is no git.
fn git(tree: &Tree, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command.args(["-c", "core.ignoreCase=false", "-c", "core.excludesFile="]).args(arguments);
    command.current_dir(tree.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    // A test may run in a hook, which sets variables for another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command.output().ok()?;
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// The files that git does not ignore, sorted.
fn by_git(tree: &Tree) -> Vec<String> {
    let listed = git(tree, &["ls-files", "-z", "--others", "--cached", "--exclude-standard"]).expect("git ran before");
    let listed = String::from_utf8(listed).expect("names that are text");
    let mut files: Vec<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    files.sort();
    files
}

/// The files that the server lists, and those that it finds, each sorted.
fn by_server(server: &mut TestServer) -> [Vec<String>; 2] {
    let mut listed: Vec<String> = names(&list_all(server)).into_iter().map(str::to_owned).collect();
    let mut searched = found(server, json!({"pattern": "*", "kind": "file", "limit": 10_000}));
    listed.sort();
    searched.sort();
    [listed, searched]
}

/// How the server disagrees with git about files with these paths and ignore files with these patterns.
fn disagreement(ignore_files: &[(&str, &str)], files: &[&str]) -> Option<String> {
    let tree = files.iter().fold(Tree::new(), |tree, path| tree.file(path, ""));
    let tree = ignore_files.iter().fold(tree, |tree, (path, patterns)| tree.file(path, patterns));
    repository(&tree)?;
    let want = by_git(&tree);
    let wrong = by_server(&mut TestServer::start(&tree)).into_iter().find(|given| *given != want);
    wrong.map(|given| format!("{ignore_files:?}:\n  here {given:?}\n   git {want:?}"))
}

/// One kind of rule per line: the patterns, and files that show their effect.
#[cfg(unix)]
#[test]
fn each_kind_of_rule_hides_what_git_hides() {
    let rules = [
        ("/x\n", &["x", "d/x"][..]),
        ("dir/\n", &["dir/a", "d/dir/b", "e/dir"]),
        ("**/a\n", &["a", "d/a", "d/e/a", "ab"]),
        ("a/**/b\n", &["a/b", "a/x/b", "a/x/y/b", "c/a/b"]),
        ("a/**\n!a/keep\n", &["a/keep", "a/x", "a/d/keep", "b"]),
        ("d/e\n", &["d/e", "x/d/e"]),
        ("*\n!*/\n!*.rs\n", &["a", "a.rs", "d/b", "d/b.rs"]),
        ("*.log\n!keep.log\n", &["a.log", "keep.log", "d/keep.log"]),
        ("!keep\nkeep\n", &["keep", "d/keep"]),
        ("d/\n!d/keep\n", &["d/keep", "e"]),
        ("d/*\n!d/keep\n", &["d/keep", "d/x", "d/e/keep"]),
        // Spaces: trailing ones do not count, unless they are escaped.
        ("a  \nb\\ \nc d\n e\n", &["a", "b", "b ", "c d", " e", "e"]),
        ("a\\  \n", &["a", "a ", "a  "]),
        ("a\t\n", &["a", "a\t"]),
        ("\u{c}\na\u{b} \n\t\n", &["\u{c}", "a", "a\u{b}", "\t"]),
        // Comments, and what looks like one.
        ("# a\n\\#b\nc#d\n #e\n", &["a", "# a", "#b", "\\#b", "c#d", "c", " #e", "#e"]),
        ("\\!a\n!\n!!b\n", &["!a", "\\!a", "!", "b", "!b"]),
        ("a\r\n/b\r\nc/\r\n\r\n# d\r\n", &["a", "b", "c/x", "d", "e"]),
        ("a\r\nb", &["a", "b"]),
        ("\u{feff}a\n", &["a", "b"]),
        ("a\\\n\\b\nc\\*\n", &["a", "a\\", "b", "\\b", "c*", "cd"]),
        // Classes.
        ("[ab]\n", &["a", "b", "c", "ab"]),
        ("[!ab]\n", &["a", "b", "c", ".gitignore2"]),
        ("[^ab]\n", &["a", "^", "c"]),
        ("[a-c]x\n", &["ax", "cx", "dx", "-x"]),
        ("[]a]\n[x\n", &["]", "a", "b", "x", "[x"]),
        ("[a-]\n[\\]]\n[\\\\z]\n", &["a", "-", "b", "]", "\\", "z"]),
        ("d[/]a\n", &["d/a", "da"]),
        ("[[:digit:]]\n[[:upper:]]x\n", &["1", "a", "Ax", "ax", ":"]),
        ("[!\\]\\]\n", &["a", "-", "]", "!"]),
        ("[]x[\\]]\n", &["]", "x", "[", "a"]),
        ("[!a-/b]\n", &["a", "c", "d/c"]),
        ("[z-a]\n[!y-b]x\n", &["a", "m", "z", "ax", "yx"]),
        ("[+--]\n[[-\\]]x\n[\\--0]y\n", &["+", ",", "-", "a", "[x", "]x", "\\x", "ax", "-y", "0y", "1y"]),
        ("[\\^]\n[\\!\\^]x\n[]-a]y\n", &["^", "!", "a", "!x", "^x", "ax", "]y", "^y", "ay", "by"]),
        ("[[:di]x\n[[:digit:]-z]\n[[:x:]a]y\n", &[":x", "dx", "ax", "5", "-", "z", "y", "ay", ":y"]),
        ("?\na?c\n", &["x", "xy", "abc", "ac", "d/é"]),
        ("d?e\n", &["d/e", "dxe"]),
        // Braces are literal.
        ("{a,b}\n", &["a", "b", "{a,b}"]),
        ("a{b\nc}\nd{\n", &["a{b", "c}", "d{", "ab"]),
        ("[{}]\n", &["{", "}", "a"]),
        // Stars.
        ("a**b\n", &["ab", "axb", "a/b", "a/x/b"]),
        ("**a\n", &["a", "xa", "d/xa"]),
        ("/*\n!/d\n", &["a", "d/a", "e/a"]),
        ("*/x\n", &["x", "d/x", "d/e/x"]),
        ("**/\n", &["a", "d/a"]),
        ("/**/x\n", &["x", "d/x", "d/e/x"]),
        ("***\n!a\n", &["a", "b"]),
        ("a/***/c\n\\***x\n", &["a/c", "a/b/c", "a/b/d/c", "*x", "*ax", "ax"]),
        ("**/**/x/**/**\n", &["x/a", "d/x/a/b", "d/y", "e/x"]),
        // Lines without a meaning.
        ("/\n//\n\n", &["a", "d/a"]),
        ("**//\na//\n", &["a/x", "d/a/x"]),
        ("./a\nd/../b\nd//c\n", &["a", "b", "d/c"]),
        ("a/.\n", &["a/x", "b"]),
        ("A\n", &["a", "b/A"]),
        ("é\n日*\n", &["é", "e", "日本"]),
    ];
    let wrong: Vec<String> =
        rules.iter().filter_map(|(patterns, files)| disagreement(&[(".gitignore", patterns)], files)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nested_files_override_those_above_as_in_git() {
    let files = [
        "a.log",
        "keep.log",
        "only",
        "d/a.log",
        "d/keep.log",
        "d/only",
        "d/e/a.log",
        "d/e/keep.log",
        "d/e/only",
        "d/e/f/a.log",
        "build/x",
        "build/keep/x",
        "e/build/x",
        "e/build/keep.log",
        "d/e/f/g/only",
    ];
    for ignore_files in [
        &[(".gitignore", "*.log\n"), ("d/.gitignore", "!keep.log\n"), ("d/e/.gitignore", "keep.log\n")][..],
        &[(".gitignore", "*.log\nbuild/\n"), ("build/.gitignore", "!x\n"), ("e/.gitignore", "!build/\n")],
        &[(".gitignore", "only\n"), ("d/.gitignore", "!/only\n"), ("d/e/f/.gitignore", "!only\n")],
        &[(".gitignore", "/d/*\n!/d/e\n"), ("d/e/.gitignore", "*\n!*.log\n!f\n"), ("d/e/f/.gitignore", "/a.log\n")],
        &[
            (".gitignore", "*\n!.gitignore\n!d/\n!e/\n"),
            ("d/.gitignore", "!*\n/e/f\n"),
            ("e/.gitignore", "!build\n!*.log\n"),
        ],
        &[(".gitignore", ".gitignore\n"), ("d/.gitignore", "!.gitignore\nonly\n"), ("d/e/.gitignore", "/f/**/only\n")],
        &[("d/.gitignore", "d\n/d/e\n/e/f/\n"), ("e/.gitignore", "../only\n/../only\n")],
    ] {
        assert_eq!(disagreement(ignore_files, &files), None);
    }
}

/// Patterns made of meaningful pieces, for a tree that has a name for each.
///
/// Two stars only as whole components: elsewhere, as in `a**/b`, git compares only what follows `a`, where they match
/// any directories, although gitignore(5) says that they equal one star.
fn patterns() -> impl Strategy<Value = String> {
    let pieces =
        ["a", "a", "b", "c", "ab", "*", "?", "[ab]", "[!a]", "\\", " ", "#", ".", ".b", "{a,b}", "-", "{", "}"];
    let component = prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..4);
    let component = component.prop_map(|pieces| pieces.concat()).prop_filter("two stars", |text| !text.contains("**"));
    let component = prop_oneof![3 => component, 1 => Just("**".to_owned())];
    let line = prop::collection::vec(component, 1..4).prop_map(|components| components.join("/"));
    let line = (prop::sample::select(vec!["", "", "!", "/", "!/"]), line, prop::sample::select(vec!["", "", "/", " "]));
    let line = line.prop_map(|(start, line, end)| format!("{start}{line}{end}\n"));
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.concat())
}

#[cfg(unix)]
#[test]
fn any_rules_hide_what_git_hides() {
    let directories = ["", "a/", "b/", "a/a/", "a/b/", "b/a/", "a/b/a/", "c d/", "{a,b}/"];
    let names = ["x", "ab", "c", "#", "b.b", "a b", "c.b", "-", "\\", "{a,b}", "bb"];
    let paths = directories.iter().flat_map(|above| names.iter().map(move |name| format!("{above}{name}")));
    let tree = paths.filter(|path| path != "{a,b}").fold(Tree::new(), |tree, path| tree.file(path, ""));
    if repository(&tree).is_none() {
        return;
    }
    let server = RefCell::new(TestServer::start(&tree));
    let config = Config { cases: 128, failure_persistence: None, ..Config::default() };
    let disagreement = TestRunner::new(config).run(&(patterns(), patterns(), patterns()), |(top, nested, deep)| {
        for (directory, patterns) in [("", &top), ("a", &nested), ("a/b", &deep)] {
            std::fs::write(tree.join(directory).join(".gitignore"), patterns).expect("an ignore file");
        }
        let want = by_git(&tree);
        for given in by_server(&mut server.borrow_mut()) {
            let differ = |these: &[String], those: &[String]| -> Vec<String> {
                these.iter().filter(|path| !those.contains(path)).cloned().collect()
            };
            prop_assert_eq!(
                (differ(&given, &want), differ(&want, &given)),
                (vec![], vec![]),
                "shown, hidden only here"
            );
        }
        Ok(())
    });
    disagreement.unwrap_or_else(|failure| panic!("{failure}"));
}
