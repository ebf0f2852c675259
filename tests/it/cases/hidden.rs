//! Group I: what ignore files hide, where their rules end, and that every answer says so.

use serde_json::{Value, json};

use crate::resources::{list_all, names};
use crate::search::{NOTHING, found};
use crate::support::{Client, TestServer, Tree};
use crate::tools::{text_and_note, with};

fn files(paths: &[&str]) -> Tree {
    paths.iter().fold(Tree::new(), |tree, path| tree.file(path, "needle\n"))
}

/// The files that both searches find, which must be the same.
#[track_caller]
fn searched(server: &mut TestServer, more: &Value) -> Vec<String> {
    let arguments = with(&json!({"query": "needle", "filesOnly": true}), more);
    let (text, _) = text_and_note(server, "search_text", arguments);
    let texts: Vec<String> = text.lines().filter(|line| *line != NOTHING).map(str::to_owned).collect();
    let names = found(server, with(&json!({"pattern": "*.*", "kind": "file", "excludePatterns": [".*"]}), more));
    assert_eq!(texts, names, "{more}");
    texts
}

/// opencode #31994, openhanako #2566: a named directory was not searched, and the answer did not say so.
#[test]
fn i5_a_named_path_is_searched_in_every_form_of_the_pattern() {
    let all = ["biz/a.log", "biz/a.txt", "biz/sub/b.txt"];
    for patterns in [
        "/biz/**",
        "biz/",
        "biz/*",
        "/biz",
        "biz/**/*",
        "**/biz/**",
        "/biz/?*",
        "*",
        "/biz/**\n!/biz/.gitkeep",
        "biz/*/\nbiz/*",
    ] {
        let tree = files(&all).file(".gitignore", format!("{patterns}\n")).file("c.txt", "needle\n");
        let mut server = TestServer::start(&tree);
        for path in ["biz".to_owned(), "biz/".to_owned(), tree.join("biz").display().to_string()] {
            assert_eq!(searched(&mut server, &json!({"path": path})), all, "{patterns:?} and {path}");
        }
        assert_eq!(searched(&mut server, &json!({"path": "biz/sub"})), [all[2]], "{patterns:?}");
        let shown = server.tool_text("directory_tree", json!({"path": "biz"}));
        assert!(shown.contains("a.txt") && shown.contains("b.txt"), "{patterns:?}: {shown}");
        // From above they are hidden as always, even if the path is written out.
        let visible = if patterns == "*" { &[][..] } else { &["c.txt"] };
        for path in ["", "."] {
            assert_eq!(searched(&mut server, &json!({"path": path})), visible, "{patterns:?}");
        }
    }
    // The directory's own ignore file, as tools put it into what they generate.
    for patterns in ["*", "*\n!.gitignore\n", "/**", "# Made by a tool.\n*\n!.gitkeep\n"] {
        let tree = files(&["made/a.txt", "made/sub/b.txt"]).file("made/.gitignore", patterns).file("made/.gitkeep", "");
        let found = searched(&mut TestServer::start(&tree), &json!({"path": "made"}));
        assert_eq!(found, ["made/a.txt", "made/sub/b.txt"], "{patterns:?}");
    }
}

/// Patterns that hide or keep some names still apply.
#[test]
fn i5_rules_for_some_names_still_apply_to_a_named_path() {
    let all = ["src/a.bin", "src/a.rs", "src/sub/b.bin", "src/sub/b.rs", "src/src/c.rs"];
    let rust = ["src/a.rs", "src/src/c.rs", "src/sub/b.rs"];
    for (patterns, want) in [
        ("*\n!*/\n!*.rs\n", &rust[..]),
        ("*.bin\n", &rust),
        ("src/\n*.bin\n", &["src/a.rs", "src/sub/b.rs"]),
        ("/src/**\n*.bin\n", &rust),
        ("/src/**\n", &["src/a.bin", "src/a.rs", "src/src/c.rs", "src/sub/b.bin", "src/sub/b.rs"]),
        ("src/*.bin\n", &["src/a.rs", "src/src/c.rs", "src/sub/b.bin", "src/sub/b.rs"]),
    ] {
        let tree = files(&all).file(".gitignore", patterns);
        let mut server = TestServer::start(&tree);
        assert_eq!(searched(&mut server, &json!({"path": "src"})), want, "{patterns:?}");
    }
    // A list of what a project keeps does not mean that nothing is there.
    let tree = files(&["p/a.rs", "p/b.bin"]).file("p/.gitignore", "*\n!*.rs\n");
    assert_eq!(searched(&mut TestServer::start(&tree), &json!({"path": "p"})), ["p/a.rs"]);
}

/// The same: what is left out is counted, even if something was found.
#[test]
fn i5_every_answer_counts_what_was_left_out() {
    let tree = files(&["a.txt", "a.log", "biz/a.txt", "d/b.txt", "d/b.log"]).file(".gitignore", "*.log\n/biz/\n");
    let mut server = TestServer::start(&tree);
    for (tool, arguments) in [
        ("search_text", json!({"query": "needle"})),
        ("search_text", json!({"query": "gone"})),
        ("search_files", json!({"pattern": "*.txt"})),
        ("search_files", json!({"pattern": "gone"})),
        ("directory_tree", json!({})),
    ] {
        let (_, note) = text_and_note(&mut server, tool, arguments.clone());
        let note = note.unwrap_or_default();
        assert!(note.contains("3 entries hidden by ignore files"), "{tool} {arguments}: {note}");
        assert!(note.contains("includeIgnored"), "{tool} {arguments}: {note}");
        let (_, note) = text_and_note(&mut server, tool, with(&arguments, &json!({"includeIgnored": true})));
        assert!(!note.unwrap_or_default().contains("hidden"), "{tool} {arguments}");
    }
    let list = server.result("resources/list", json!({}));
    assert_eq!(list["_meta"]["dev.mcp-fs/ignored"]["entries"], 3, "{list}");
    let plain = files(&["a.txt"]);
    let mut server = TestServer::start(&plain);
    assert_eq!(server.result("resources/list", json!({}))["_meta"].get("dev.mcp-fs/ignored"), None);
    assert_eq!(text_and_note(&mut server, "search_files", json!({"pattern": "*"})).1, None);
}

/// ripgrep #1226, broot #160: a parent's `.gitignore` hid a repository below it.
#[test]
fn i6_the_rules_of_a_parent_end_at_a_repository() {
    for git in [".git/HEAD", ".git", ".jj/repo"] {
        let tree =
            files(&["proj/a.c", "proj/sub/b.c", "proj/x.o", "plain/a.c", "plain/x.o"]).file("proj/.gitignore", "*.o\n");
        let tree = tree.file(format!("proj/{git}"), "gitdir: ../elsewhere\n");
        let tree = tree.file(".gitignore", "*\n");
        let mut server = TestServer::start(&tree);
        let all = ["proj/a.c", "proj/sub/b.c"];
        for path in ["proj", "proj/"] {
            assert_eq!(searched(&mut server, &json!({"path": path})), all, "{git}");
        }
        assert_eq!(searched(&mut server, &json!({"path": "proj/sub"})), ["proj/sub/b.c"], "{git}");
        // The repository is an entry of the directory above, and is hidden there.
        assert_eq!(searched(&mut server, &json!({})), [""; 0], "{git}");
    }
    // A walk from above reaches it unless it is hidden itself, and patterns that hide names in it end there as well.
    let tree = files(&["proj/a.c", "proj/sub/a.c", "a.c", "d/a.c", "proj/b.h", "proj/inner/a.c", "proj/inner/b.h"]);
    let tree = tree.file(".gitignore", "*.c\n").file("proj/.git/HEAD", "").file("proj/.gitignore", "*.h\n");
    let tree = tree.file("proj/inner/.git", "gitdir: x\n").file("proj/z.txt", "needle\n").file(".ignore", "z.*\n");
    let mut server = TestServer::start(&tree);
    let all = ["proj/a.c", "proj/inner/a.c", "proj/inner/b.h", "proj/sub/a.c"];
    for more in [json!({}), json!({"path": "proj"})] {
        // `.ignore` applies to searches, not to repositories, so it continues.
        assert_eq!(searched(&mut server, &more), all, "{more}");
    }
    let listed = list_all(&mut server);
    let listed: Vec<_> =
        names(&listed).into_iter().filter(|name| !name.contains("/.g") && !name.starts_with('.')).collect();
    assert_eq!(listed, all);
}

/// The same, with git as the judge.
#[test]
fn i6_a_nested_repository_shows_what_git_shows_in_it() {
    let paths = ["a.c", "a.o", "sub/b.c", "sub/b.o", "sub/keep.o", "build/c.c"].map(|path| format!("proj/{path}"));
    let tree = paths.iter().fold(Tree::new(), |tree, path| tree.file(path, "needle\n"));
    let tree = tree.file(".gitignore", "*\n!*/\n!*.h\n").file("proj/.gitignore", "*.o\n/build\n!keep.o\n");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(arguments).current_dir(tree.join("proj"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
        command.output().ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    if git(&["init", "-q", "--template="]).is_none() {
        return crate::sandbox::skipped("agreement with git", "git is not installed");
    }
    let shown = git(&["ls-files", "-z", "--others", "--exclude-standard"]).expect("git lists");
    let shown = String::from_utf8(shown).expect("names that are text");
    let mut want: Vec<String> = shown.split_terminator('\0').map(|path| format!("proj/{path}")).collect();
    want.retain(|path| !path.ends_with(".gitignore"));
    want.sort();
    let mut server = TestServer::start(&tree);
    for more in [json!({}), json!({"path": "proj"})] {
        let mut here = searched(&mut server, &more);
        here.sort();
        assert_eq!(here, want, "{more}");
    }
}
