//! Group J, as far as it concerns files shared with others: other servers, mounts, hard links.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::sandbox::skipped;
use crate::support::{Client, LATEST_LEGACY, Process, Tree, command, text_of};
use crate::writes::together::{edit_own_lines, lines, start};
use crate::writes::{content, names, writing};

/// stella #5502, nanoidp PR #234, `KiroCrew` PR #7818: two processes checked, then both renamed.
#[test]
fn j12_no_edit_of_two_servers_on_one_file_is_lost() {
    const EACH: usize = 40;
    let tree = Tree::new().file("a", lines(EACH));
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            scope.spawn(|| edit_own_lines(start(&tree), name, EACH));
        }
    });
    let text = String::from_utf8(content(&tree, "a")).expect("text");
    assert_eq!(text.lines().filter(|line| line.ends_with("new")).count(), 2 * EACH, "of 80 successes");
    assert_eq!(names(&tree, ""), ["a"]);
}

/// The server, with a file of the tree mounted over another one; `None`, with a notice, if that is not permitted.
#[cfg(target_os = "linux")]
fn bound(tree: &Tree, file: &str, over: &str) -> Option<Process> {
    const SCRIPT: &str = r#"mount --bind "$0" "$1" && shift && exec "$@""#;
    let wrapped = |program: &Command| {
        let mut wrapped = Command::new("unshare");
        wrapped.args(["-m", "sh", "-c", SCRIPT]).arg(tree.outside().join(file)).arg(tree.join(over));
        wrapped.arg(program.get_program()).args(program.get_args());
        wrapped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        wrapped
    };
    if !wrapped(&Command::new("true")).output().is_ok_and(|output| output.status.success()) {
        skipped("a file mounted over another one", "mounting is not permitted");
        return None;
    }
    let server = command(["--allow-write".as_ref(), tree.path().as_os_str()]);
    Some(Process::start(wrapped(&server)).legacy(LATEST_LEGACY))
}

/// toolhive #3979, cc-switch PR #5005, mindroom PR #43: a configuration file mounted into a container could not be
/// changed at all, because no other file can take its name.
#[cfg(target_os = "linux")]
#[test]
fn j14_a_mounted_file_is_written_in_place_and_the_answer_says_so() {
    let tree = Tree::new().file("cfg.json", "").file("other", "another content");
    let (host, read) = (tree.outside().join("host.json"), || std::fs::read_to_string(tree.outside().join("host.json")));
    std::fs::write(&host, "one, and a long tail").expect("a file");
    let Some(mut server) = bound(&tree, "host.json", "cfg.json") else { return };
    let said = server.tool("edit_file", json!({"path": "cfg.json", "edits": [{"oldText": "one", "newText": "two"}]}));
    assert!(text_of(&said).contains("in place, not atomically"), "{said}");
    assert_eq!(read().expect("a file"), "two, and a long tail");
    let info = server.tool_text("get_file_info", json!({"path": "cfg.json"}));
    let version = info.lines().find_map(|line| line.strip_prefix("version: ")).expect("a version");
    assert!(text_of(&said).contains(version), "{said} {info}");
    let short = json!({"path": "cfg.json", "content": "short", "ifMatch": version});
    let said = server.tool("write_file", short.clone());
    assert!(text_of(&said).contains("in place, not atomically"), "{said}");
    assert_eq!(read().expect("a file"), "short");
    assert!(server.tool_error("write_file", short).contains("has changed"));
    server.tool_text("write_file", json!({"path": "cfg.json", "content": "!", "append": true}));
    assert_eq!(read().expect("a file"), "short!");
    let copied = server.tool("copy_file", json!({"source": "other", "destination": "cfg.json", "overwrite": true}));
    assert!(text_of(&copied).contains("in place, not atomically"), "{copied}");
    assert_eq!(read().expect("a file"), "another content");
    // The obstacle is at the source, and the error names that.
    let error = server.tool_error("move_file", json!({"source": "cfg.json", "destination": "new"}));
    assert!(error.starts_with("cfg.json: ") && error.contains("in use, as a mount point"), "{error}");
    let error = server.tool_error("delete_file", json!({"path": "cfg.json"}));
    assert!(error.contains("in use, as a mount point"), "{error}");
    assert_eq!(names(&tree, ""), ["cfg.json", "other"]);
}

/// One of its names may be outside, and the caller did not name it.
#[cfg(target_os = "linux")]
#[test]
fn j14_a_mounted_file_with_several_names_is_not_written_in_place() {
    let tree = Tree::new().file("cfg.json", "");
    let host = tree.outside().join("host.json");
    std::fs::write(&host, "old").expect("a file");
    std::fs::hard_link(&host, tree.outside().join("other")).expect("another name");
    let Some(mut server) = bound(&tree, "host.json", "cfg.json") else { return };
    let error = server.tool_error("write_file", json!({"path": "cfg.json", "content": "new"}));
    assert!(error.contains("2 names"), "{error}");
    assert_eq!(std::fs::read_to_string(host).expect("a file"), "old");
}

#[test]
fn j14_of_a_file_with_several_names_only_the_given_one_is_replaced() {
    let tree = Tree::new();
    let mut server = writing(&tree);
    for (tool, arguments) in [
        ("write_file", json!({"path": "a", "content": "new"})),
        ("edit_file", json!({"path": "a", "edits": [{"oldText": "old", "newText": "new"}]})),
        ("copy_file", json!({"source": "source", "destination": "a", "overwrite": true})),
    ] {
        std::fs::write(tree.join("source"), "new").expect("a file");
        std::fs::write(tree.join("b"), "old").expect("a file");
        let _ = std::fs::remove_file(tree.join("a"));
        std::fs::hard_link(tree.join("b"), tree.join("a")).expect("another name");
        let said = text_of(&server.tool(tool, arguments));
        assert!(said.contains("hard links") && said.contains("1 other name keeps the old content"), "{said}");
        assert_eq!((content(&tree, "a"), content(&tree, "b")), (b"new".to_vec(), b"old".to_vec()), "{tool}");
    }
}
