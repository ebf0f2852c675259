//! Protected names: files that other programs run or obey can be read by every operation and changed by none, in no
//! spelling, through no link, and not as part of a tree.

use std::fs;

use serde_json::{Value, json};

use super::refused::state;
use super::writing;
use crate::sandbox::{FILE_OPERATIONS, ask, asked};
use crate::support::{Client, TestServer, Tree};

/// Protected by default, and a path that is one of them or inside one.
const PROTECTED: &[(&str, &str)] = &[
    (".git/config", ".git/"),
    ("sub/.git/hooks/post-commit", ".git/"),
    ("worktree/.git", ".git/"),
    (".hg/hgrc", ".hg/"),
    (".svn/wc.db", ".svn/"),
    (".husky/pre-commit", ".husky/"),
    (".vscode/tasks.json", ".vscode/"),
    ("a/.idea/workspace.xml", ".idea/"),
    (".claude/settings.json", ".claude/"),
    (".codex/config.toml", ".codex/"),
    (".gemini/settings.json", ".gemini/"),
    (".cursor/mcp.json", ".cursor/"),
    (".windsurf/x", ".windsurf/"),
    (".zed/tasks.json", ".zed/"),
    (".devcontainer/devcontainer.json", ".devcontainer/"),
    (".cargo/config.toml", ".cargo/"),
    (".mcp.json", ".mcp.json"),
    (".envrc", ".envrc"),
    (".gitmodules", ".gitmodules"),
    ("home/.gitconfig", ".gitconfig"),
    (".npmrc", ".npmrc"),
    (".pre-commit-config.yaml", ".pre-commit-config.yaml"),
    (".ripgreprc", ".ripgreprc"),
    (".bashrc", ".bashrc"),
    (".bash_profile", ".bash_profile"),
    (".bash_login", ".bash_login"),
    (".profile", ".profile"),
    (".zshenv", ".zshenv"),
    (".zprofile", ".zprofile"),
    (".zshrc", ".zshrc"),
    (".zlogin", ".zlogin"),
];

fn tree() -> Tree {
    let tree = Tree::new().file("plain.txt", "plain\n").file("dir/plain.txt", "plain\n").dir("empty");
    PROTECTED.iter().fold(tree, |tree, (path, _)| tree.file(path, "old text\n"))
}

/// Everything that would change what has a path, or put something there.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "new"})),
        ("write_file", json!({"path": path, "content": "new", "append": true})),
        ("write_file", json!({"path": path, "content": "new", "createParents": true})),
        ("edit_file", json!({"path": path, "edits": [{"oldText": "old", "newText": "new"}]})),
        ("create_directory", json!({"path": path})),
        ("create_directory", json!({"path": format!("{path}/below")})),
        ("copy_file", json!({"source": "plain.txt", "destination": path, "overwrite": true})),
        ("copy_file", json!({"source": "dir", "destination": format!("{path}/below"), "createParents": true})),
        ("move_file", json!({"source": "plain.txt", "destination": path})),
        ("move_file", json!({"source": "dir", "destination": path})),
        ("move_file", json!({"source": path, "destination": "taken"})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "recursive": true})),
    ]
}

/// Everything is refused, naming the pattern and the option that lifts it, and nothing has changed.
fn nothing_changes(server: &mut TestServer, tree: &Tree, path: &str, pattern: &str) {
    let before = state(tree.path());
    for (tool, arguments) in changes(path) {
        let error = server.tool_error(tool, arguments.clone());
        let says = [format!("protected by the pattern \"{pattern}\""), "--no-default-protect".to_owned()];
        assert!(says.iter().all(|said| error.contains(said.as_str())), "{tool} {arguments}: {error}");
    }
    assert_eq!(state(tree.path()), before, "{path}");
}

#[test]
fn protected_names_can_be_read_but_not_changed_by_any_operation() {
    let tree = tree();
    let mut server = writing(&tree);
    for (path, pattern) in PROTECTED {
        nothing_changes(&mut server, &tree, path, pattern);
        for operation in FILE_OPERATIONS {
            let answer = ask(&mut server, &tree, operation, &asked(&tree, operation, path));
            assert!(!answer.is_refusal(), "{operation} {path}: {answer:?}");
        }
        let copied = server.tool("copy_file", json!({"source": path, "destination": "copy", "overwrite": true}));
        assert_ne!(copied["isError"], true, "a copy under another name is no change of it: {copied}");
        fs::remove_file(tree.join("copy")).expect("the copy");
    }
}

#[test]
fn a_missing_protected_name_cannot_be_created_in_any_spelling() {
    let tree = Tree::new().file("plain.txt", "plain\n").dir("dir").dir("sub");
    let mut server = writing(&tree);
    for (path, pattern) in [
        (".git/hooks/pre-push", ".git/"),
        (".GIT/config", ".git/"),
        ("sub/.g\u{200c}it", ".git/"),
        (".git./config", ".git/"),
        (".git::$INDEX_ALLOCATION/config", ".git/"),
        ("./sub/../.Envrc", ".envrc"),
        ("sub/.VSCode\u{fff3}/tasks.json", ".vscode/"),
        (".\u{17f}vn/x", ".svn/"),
        (".bashrc ", ".bashrc"),
        (".mcp.json:", ".mcp.json"),
    ] {
        nothing_changes(&mut server, &tree, path, pattern);
        nothing_changes(&mut server, &tree, &tree.uri(path), pattern);
    }
}

#[cfg(unix)]
#[test]
fn no_link_leads_to_a_change_of_a_protected_name() {
    let tree = tree().link("config", ".git/config").link("hooks", "{root}/sub/.git/hooks").link("rc", ".zshrc");
    let tree = tree.link("new", ".git/new").link("chain", "config").link(".envrc.d/.envrc", "../plain.txt");
    let mut server = writing(&tree);
    let before = state(tree.path());
    for path in ["config", "hooks/post-commit", "hooks/new", "rc", "new", "chain"] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("write_file", json!({"path": path, "content": "x", "append": true})),
            ("edit_file", json!({"path": path, "edits": [{"oldText": "old", "newText": "new"}]})),
            ("create_directory", json!({"path": format!("{path}/x")})),
        ] {
            let error = server.tool_error(tool, arguments.clone());
            assert!(error.contains("protected by") || error.contains("not a directory"), "{tool} {arguments}: {error}");
        }
    }
    // A link of such a name is obeyed as well, wherever it leads.
    for (tool, arguments) in changes(".envrc.d/.envrc") {
        assert!(server.tool_error(tool, arguments.clone()).contains("protected by"), "{tool} {arguments}");
    }
    assert_eq!(state(tree.path()), before);
    // The link itself is only a name that leads there.
    server.tool_text("move_file", json!({"source": "rc", "destination": "rc2"}));
    server.tool_text("delete_file", json!({"path": "rc2"}));
}

#[test]
fn a_tree_that_contains_or_would_contain_a_protected_name_is_unchanged() {
    let tree = Tree::new().file("project/src/main.rs", "").file("project/lib/.git", "gitdir: x\n");
    let tree = tree.file("home/.config/x", "").file("home/.zshrc", "").file("parts/tasks.json", "").file("v/lock", "");
    let mut server = TestServer::builder(&tree).allow_write().protect("/x/lock").protect("/vendor/").start();
    let before = state(tree.path());
    for (source, destination, holds) in [
        ("project", "other", "it contains project/lib/.git, which is protected by the pattern \".git/\""),
        ("home", "x/y", "it contains home/.zshrc, which is protected"),
        ("v", "x", "it contains x/lock, which is protected by the pattern \"/x/lock\" given with --protect"),
        ("parts", ".vscode", "protected by the pattern \".vscode/\""),
        ("parts", "vendor/parts", "protected by the pattern \"/vendor/\""),
    ] {
        let both = json!({"source": source, "destination": destination, "createParents": true});
        let error = server.tool_error("move_file", both.clone());
        assert!(error.contains(holds), "{source} {destination}: {error}");
        // A copy leaves its source unchanged; what it would create is what counts.
        let error = server.tool_error("copy_file", both);
        assert!(error.contains("protected by"), "{source} {destination}: {error}");
    }
    for path in ["project", "home", "project/lib"] {
        let error = server.tool_error("delete_file", json!({"path": path, "recursive": true}));
        assert!(error.contains("it contains ") && error.contains("protected by"), "{path}: {error}");
    }
    assert_eq!(state(tree.path()), before);
    server.tool_text("copy_file", json!({"source": "project/src", "destination": "src"}));
    server.tool_text("delete_file", json!({"path": "project/src", "recursive": true}));
}

#[test]
fn patterns_add_to_the_protected_names_and_the_flag_removes_the_defaults() {
    let tree = Tree::new().file("Vendor/lib.rs", "old\n").file("src/a.lock", "old\n").file(".git/config", "old\n");
    let builder = TestServer::builder(&tree).allow_write().no_default_protect();
    let mut server = builder.protect("vendor/").protect("*.LOCK").start();
    for (path, pattern) in [("Vendor/lib.rs", "vendor/"), ("VENDOR/new", "vendor/"), ("src/a.lock", "*.LOCK")] {
        let error = server.tool_error("write_file", json!({"path": path, "content": "new\n"}));
        assert!(error.contains(&format!("protected by the pattern \"{pattern}\" given with --protect")), "{error}");
        assert!(!error.contains("--no-default-protect"), "{error}");
    }
    for path in [".git/config", "src/new.rs", ".envrc"] {
        server.tool_text("write_file", json!({"path": path, "content": "new\n"}));
    }
    assert_eq!(server.tool_text("read_text_file", json!({"path": "Vendor/lib.rs"})), "old\n");
}
