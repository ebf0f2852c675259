//! What `resources/list` leaves out: files ignored by git's rules, version control's own files, denied names, links.

use serde_json::json;

use super::{list_all, names};
use crate::support::{Client, TestServer, Tree};

/// The listed names of a tree made of `files`, the first of them a `.gitignore` with `patterns`.
fn listed(patterns: &str, files: &[&str]) -> Vec<String> {
    let tree = files.iter().fold(Tree::new().file(".gitignore", patterns), |tree, path| tree.file(path, ""));
    let resources = list_all(&mut TestServer::start(&tree));
    names(&resources).into_iter().filter(|name| *name != ".gitignore").map(str::to_owned).collect()
}

#[test]
fn patterns_hide_what_gitignore_says() {
    for (patterns, files, want) in [
        ("*.o", &["a.o", "a.c", "d/b.o"][..], &["a.c"][..]),
        ("/a", &["a", "d/a"], &["d/a"]),
        ("d/a", &["d/a", "e/d/a"], &["e/d/a"]),
        ("a/", &["a/x", "d/a"], &["d/a"]),
        ("**/a/b", &["a/b", "x/a/b", "a/c"], &["a/c"]),
        ("a/**/z", &["a/z", "a/b/c/z", "a/y"], &["a/y"]),
        ("*.log\n!keep.log", &["a.log", "keep.log", "d/keep.log"], &["keep.log", "d/keep.log"]),
        ("!a\na", &["a", "b"], &["b"]),
        ("d\n!d/keep", &["d/keep", "e"], &["e"]),
        ("d/*\n!d/keep", &["d/keep", "d/x"], &["d/keep"]),
        ("# comment\n\n\\#a\n", &["#a", "comment"], &["comment"]),
        ("a b\r\n", &["a b", "c"], &["c"]),
        ("a?c\n[xy]", &["abc", "abbc", "x", "z"], &["abbc", "z"]),
        ("*", &["a", "d/b"], &[]),
    ] {
        assert_eq!(listed(patterns, files), want, "{patterns:?}");
    }
}

#[test]
fn a_nested_ignore_file_adds_to_and_overrides_those_above() {
    let tree = Tree::new().file(".gitignore", "*.log\n").file("d/.gitignore", "!d.log\n/only-here\n").file("a.log", "");
    let tree = tree
        .file("d/d.log", "")
        .file("d/e.log", "")
        .file("d/only-here", "")
        .file("d/x/only-here", "")
        .file("only-here", "");
    let resources = list_all(&mut TestServer::start(&tree));
    assert_eq!(names(&resources), [".gitignore", "only-here", "d/.gitignore", "d/d.log", "d/x/only-here"]);
}

#[test]
fn a_dot_ignore_file_applies_and_takes_precedence() {
    let tree =
        Tree::new().file(".gitignore", "*.log\na\n").file(".ignore", "b\n!keep.log\n").file("a", "").file("b", "");
    let tree = tree.file("keep.log", "").file("x.log", "").file("c", "");
    let resources = list_all(&mut TestServer::start(&tree));
    assert_eq!(names(&resources), [".gitignore", ".ignore", "c", "keep.log"]);
}

#[test]
fn an_ignore_file_that_is_too_large_is_not_applied() {
    let tree = Tree::new().file(".gitignore", "#".repeat(33 << 10) + "\na\n").file("a", "");
    let tree = tree
        .file("d/.gitignore", "x\n".repeat(1_001) + "b\n")
        .file("d/b", "")
        .file("e/.gitignore", "c\n")
        .file("e/c", "");
    let resources = list_all(&mut TestServer::start(&tree));
    assert_eq!(names(&resources), [".gitignore", "a", "d/.gitignore", "d/b", "e/.gitignore"]);
}

#[test]
fn version_control_s_own_files_are_skipped_and_other_dot_files_are_not() {
    let tree = [".git/config", ".hg/store", ".svn/db", ".jj/repo", "sub/.git/HEAD", "work/.git"]
        .into_iter()
        .chain([".github/ci.yml", ".dot", ".gitattributes", "d/.hidden/x"])
        .fold(Tree::new(), |tree, path| tree.file(path, ""));
    let resources = list_all(&mut TestServer::start(&tree));
    assert_eq!(names(&resources), [".dot", ".gitattributes", ".github/ci.yml", "d/.hidden/x"]);
}

#[test]
fn denied_names_are_never_listed() {
    let denied = [
        ".env",
        ".ENV",
        ".env.local",
        "d/.env",
        ".netrc",
        ".pgpass",
        ".ssh/config",
        "d/.gnupg/key",
        ".aws/credentials",
        ".kube/config",
        "id_rsa",
        "d/id_ecdsa",
        "ID_ED25519",
        "x.pem",
        "d/Y.PEM",
        ".mcp-fs-1a2b3c.tmp",
    ];
    let given = [".env.example", ".env.sample", ".env.template", "id_rsa.pub", "d/.kube/cache"];
    let tree = denied.iter().chain(&given).fold(Tree::new(), |tree, path| tree.file(path, ""));
    let mut server = TestServer::builder(&tree).deny("*.pem").start();
    assert_eq!(names(&list_all(&mut server)), given);
}

#[test]
fn without_the_default_patterns_only_the_given_ones_deny() {
    let tree = Tree::new().file(".env", "").file("id_rsa", "").file("x.pem", "").file(".mcp-fs-1a2b3c.tmp", "");
    let mut server = TestServer::builder(&tree).no_default_deny().deny("*.pem").start();
    assert_eq!(names(&list_all(&mut server)), [".env", "id_rsa"]);
}

#[cfg(unix)]
#[test]
fn links_and_special_files_are_not_listed() {
    let tree =
        Tree::new().file("d/f", "").link("file", "d/f").link("dir", "d").link("out", "../secret").link("loop", ".");
    let tree = tree.link("broken", "nowhere").fifo("pipe").socket("sock").link("up", "..");
    assert_eq!(names(&list_all(&mut TestServer::start(&tree))), ["d/f"]);
}

/// The target of a link is outside: what is hidden must not even reveal its patterns.
#[cfg(unix)]
#[test]
fn a_linked_ignore_file_is_not_followed() {
    let tree =
        Tree::new().link(".gitignore", "../patterns").file("a", "").link("d/.gitignore", "../inside").file("d/b", "");
    let tree = tree.file("inside", "b\n");
    std::fs::write(tree.outside().join("patterns"), "a\n").unwrap();
    std::fs::write(tree.outside().join(".gitignore"), "*\n").unwrap();
    assert_eq!(names(&list_all(&mut TestServer::start(&tree))), ["a", "inside", "d/b"]);
}

#[test]
fn the_limit_cuts_the_deepest_files_and_is_reported() {
    let tree = (0..30)
        .fold(Tree::new(), |tree, number| tree.file(format!("d/{number:02}"), "").file(format!("{number:02}"), ""));
    for (list, page, is_cut) in [(40, 7, true), (59, 1_000, true), (60, 7, false), (60, 1_000, false), (100, 9, false)]
    {
        let limits = |limits: &mut mcp_fs::limits::Limits| (limits.list, limits.page) = (list, page);
        let mut server = TestServer::builder(&tree).limits(limits).start();
        let first = server.result("resources/list", json!({}));
        let truncated = first["_meta"].get("dev.mcp-fs/truncated");
        assert_eq!(truncated.is_some(), is_cut, "limit {list}: {truncated:?}");
        assert!(!is_cut || truncated.unwrap()["limit"] == list, "limit {list}: {truncated:?}");
        let resources = list_all(&mut server);
        assert_eq!(resources.len(), list.min(60));
        assert!(names(&resources)[..30].iter().all(|name| !name.contains('/')), "shallow first");
    }
}

#[test]
fn a_cut_list_is_reported_on_stderr() {
    let tree = Tree::new().file("a", "").file("b", "");
    let mut process = crate::support::Process::spawn(["--list-limit".as_ref(), "1".as_ref(), tree.path().as_os_str()]);
    assert_eq!(names(&list_all(&mut process)), ["a"]);
    let stderr = process.finish();
    assert!(stderr.contains("--list-limit"), "{stderr}");
}
