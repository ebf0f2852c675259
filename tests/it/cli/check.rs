//! `--check`: what it counts, and that the configuration it prints works.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::printed;
use crate::support::{Client as _, LATEST_LEGACY, Process, Tree};

fn check(tree: &Tree, options: &[&str]) -> String {
    let options = options.iter().map(OsStr::new);
    printed(&options.chain(["--check".as_ref(), tree.path().as_os_str()]).collect::<Vec<_>>())
}

/// The text after a word at the beginning of a line.
fn field<'a>(report: &'a str, name: &str) -> &'a str {
    let line = report.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {report}"));
    line[name.len()..].trim()
}

/// The block for `.mcp.json`.
fn block(report: &str) -> Value {
    let from = report.find("    {\n").unwrap_or_else(|| panic!("no JSON in {report}"));
    serde_json::from_str(&report[from..]).expect("JSON up to the end")
}

/// Runs the block as a client would.
fn start(block: &Value) -> Process {
    let server = &block["mcpServers"]["files"];
    let args = server["args"].as_array().expect("args").iter().map(|arg| arg.as_str().expect("a string"));
    let mut command = Command::new(server["command"].as_str().expect("a command"));
    command.args(args).current_dir(std::env::temp_dir()).env_remove("MCP_FS_LOG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::start(command).legacy(LATEST_LEGACY)
}

#[test]
fn check_shows_what_would_be_served() {
    let tree = Tree::new().file("a.txt", "").file("sub/b.txt", "").file("sub/deep/c.txt", "").dir("empty");
    let report = check(&tree, &[]);
    assert_eq!(field(&report, "root"), tree.path().to_str().expect("text"));
    assert_eq!(field(&report, "uri"), tree.uri(""));
    assert_eq!(field(&report, "served"), "3 files, 3 directories, 0 links, 0 others");
    assert_eq!(field(&report, "left out"), "0 ignored, 0 denied, 0 unreadable directories");
    assert_eq!(field(&report, "access"), "read-only");
}

#[cfg(unix)]
#[test]
fn links_and_special_files_are_counted_separately() {
    let tree = Tree::new().file("a.txt", "").link("in", "a.txt").link("out", "../secret").fifo("pipe").socket("socket");
    assert_eq!(field(&check(&tree, &[]), "served"), "1 files, 0 directories, 2 links, 2 others");
}

/// A file that a write could not put back keeps a name of its own until somebody has dealt with it.
#[test]
fn displaced_files_are_named() {
    const NAME: &str = ".mcp-fs-0123456789abcdef.displaced";
    let tree = Tree::new().file("a", "").file(format!("d/{NAME}"), "theirs");
    let report = check(&tree, &[]);
    assert!(field(&report, "displaced").starts_with(&format!("d/{NAME}: ")), "{report}");
    let file = std::fs::File::options().write(true).open(tree.join("d").join(NAME)).expect("a file");
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    let mut process = Process::spawn([tree.path().as_os_str(), "--allow-write".as_ref()]).legacy(LATEST_LEGACY);
    process.tool_text("write_file", json!({"path": "d/a", "content": "x"}));
    // Tools can read and move it as well.
    process.tool_text("move_file", json!({"source": format!("d/{NAME}"), "destination": "back"}));
    assert_eq!(process.tool_text("read_text_file", json!({"path": "back"})), "theirs");
}

#[test]
fn ignored_and_denied_entries_are_counted_separately() {
    let tree = Tree::new().file(".gitignore", "*.log\nbuild/\n").file("a.log", "").file("build/x/y", "");
    let tree = tree.file(".git/config", "").file(".env", "").file("a.pem", "").file(".ssh/key", "").file("a.txt", "");
    let report = check(&tree, &["--deny", "*.pem"]);
    assert_eq!(field(&report, "served"), "2 files, 0 directories, 0 links, 0 others");
    assert_eq!(field(&report, "left out"), "2 ignored, 3 denied, 0 unreadable directories");
}

#[test]
fn it_counts_up_to_the_limit_of_the_list() {
    let tree = (0..30).fold(Tree::new(), |tree, n| tree.file(format!("{n}.txt"), ""));
    let report = check(&tree, &["--list-limit", "10"]);
    assert!(field(&report, "served").contains("resources/list is cut to 10,"), "{report}");
    assert!(!check(&tree, &[]).contains("is cut"));
}

#[cfg(unix)]
#[test]
fn unreadable_directories_are_counted_and_the_rest_is_served() {
    let tree = Tree::new().file("a.txt", "").file("locked/b.txt", "").mode("locked", 0);
    let Some(mut command) = crate::process::users::unprivileged(&tree, ["--check".as_ref(), tree.path().as_os_str()])
    else {
        return;
    };
    let output = crate::process::output(command.spawn().expect("it starts"));
    let report = String::from_utf8(output.stdout).expect("text");
    assert_eq!(field(&report, "served"), "1 files, 1 directories, 0 links, 0 others");
    assert_eq!(field(&report, "left out"), "0 ignored, 0 denied, 1 unreadable directories");
}

#[test]
fn the_json_to_paste_starts_this_server() {
    let tree = Tree::new().file("a.txt", "one\n").file("a.pem", "");
    let mut process = start(&block(&check(&tree, &["--deny", "*.pem"])));
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n");
    assert!(process.tool_error("read_text_file", json!({"path": "a.pem"})).contains("*.pem"));
    assert_eq!(process.finish(), "");
}

#[test]
fn options_that_change_what_is_served_are_kept_whatever_they_look_like() {
    let tree = Tree::new().file(".env", "x\n").file("-x", "").file("it's", "").file("$HOME", "");
    let options = ["--no-default-deny", "--deny=-x", "--deny", "it's", "--deny", "$HOME", "--deny=a b"];
    let mut process = start(&block(&check(&tree, &options)));
    assert_eq!(process.tool_text("read_text_file", json!({"path": ".env"})), "x\n");
    for denied in ["-x", "it's", "$HOME"] {
        assert!(process.tool_error("read_text_file", json!({"path": denied})).contains("--deny"), "{denied}");
    }
    assert_eq!(process.finish(), "");
}

#[test]
fn protected_names_are_shown_and_kept_in_the_configuration() {
    let tree = Tree::new().file("it's", "x\n").file(".envrc", "x\n");
    assert!(!check(&tree, &[]).contains("protected"));
    let options = ["--allow-write", "--no-fsync", "--no-default-protect", "--protect", "it's", "--protect=-x y"];
    let report = check(&tree, &options);
    assert_eq!(field(&report, "protected"), "it's -x y");
    let mut process = start(&block(&report));
    let write = |path: &str| json!({"path": path, "content": "new"});
    assert!(process.tool_error("write_file", write("it's")).contains("given with --protect"));
    assert!(process.tool_error("write_file", write("-x y")).contains("given with --protect"));
    process.tool_text("write_file", write(".envrc"));
    assert_eq!(process.finish(), "");
    assert_eq!(field(&check(&tree, &["--allow-write", "--no-default-protect"]), "protected"), "nothing");
}

/// `claude` is a shell function here that drops its first four words, `mcp add files --`, and runs the rest.
#[cfg(unix)]
#[test]
fn the_line_to_paste_starts_this_server_from_a_shell() {
    for name in ["plain", "with space", "it's Ümläut", "$HOME;`id`&\"x\"", "*"] {
        let tree = Tree::new().file(std::path::Path::new(name).join("a.txt"), "one\n");
        let report = printed(&["--check".as_ref(), "--deny=it's".as_ref(), tree.join(name).as_os_str()]);
        let line = report.lines().find(|line| line.trim().starts_with("claude mcp add files -- "));
        let line = line.unwrap_or_else(|| panic!("no line to paste in {report}"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("claude() {{ shift 4; exec \"$@\"; }}\n{line}\n")).env_remove("MCP_FS_LOG");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(shell).legacy(LATEST_LEGACY);
        assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n", "{name}");
        assert_eq!(process.finish(), "");
    }
}

#[test]
fn the_json_to_paste_works_for_any_name() {
    for name in ["with space", "Ümläut ジ", "it's", "$HOME"] {
        let tree = Tree::new().file(std::path::Path::new(name).join("a.txt"), "one\n");
        let report = printed(&["--check".as_ref(), tree.join(name).as_os_str()]);
        let mut process = start(&block(&report));
        assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "one\n", "{name}");
        assert_eq!(process.finish(), "");
    }
}
