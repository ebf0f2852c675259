//! Trees deeper than a path can express (4,095 bytes): what is reachable is returned, what is not is never promised,
//! and what could not be searched is reported.

use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use serde_json::{Value, json};

use super::{MOST_BYTES, bytes_in, completed, everything, said};
use crate::resources::{list_all, read};
use crate::sandbox::{Answer, FILE_OPERATIONS, ask};
use crate::support::{Client, LATEST_LEGACY, Process, TestServer, Tree};
use crate::writes::writing;

/// The longest path, in bytes.
const LONGEST: usize = 4_095;

/// A tree with a chain of nested directories. It is removed by an external program: the standard library runs out of
/// descriptors.
struct Deep(Tree);

impl Deep {
    /// `levels` nested directories of one name, with a file `f` in each.
    fn new(name: &str, levels: usize) -> Self {
        let deep = Self(Tree::in_memory());
        deep.chain(name, levels, |inner| file(inner, "f"));
        deep
    }

    /// Creates the chain, and returns the innermost directory.
    fn chain(&self, name: &str, levels: usize, in_each: impl Fn(&OwnedFd)) -> OwnedFd {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut inner = open(self.0.path(), flags, Mode::empty()).expect("the root");
        for _ in 0..levels {
            directory(&inner, name);
            inner = openat(&inner, name, flags, Mode::empty()).expect("a directory");
            in_each(&inner);
        }
        inner
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        let _ = Command::new("rm").arg("-rf").arg(self.0.path()).status();
    }
}

fn directory(parent: &OwnedFd, name: &str) {
    mkdirat(parent, name, Mode::RWXU).expect("a directory");
}

fn file(parent: &OwnedFd, name: &str) {
    let file = openat(parent, name, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    rustix::io::write(file.expect("a file"), b"here\n").expect("written");
}

/// `name/name/...`, `levels` times.
fn path_of(name: &str, levels: usize) -> String {
    vec![name; levels].join("/")
}

#[test]
fn three_thousand_levels_are_walked_as_far_as_paths_reach() {
    let deep = Deep::new("0123456789", 3_000);
    let mut server = TestServer::start(&deep.0);
    everything(&mut server, &deep.0, "");
    let reachable = (LONGEST - "/f".len() + 1) / "0123456789/".len();
    for pattern in ["f", "*"] {
        let (_, note) = said(&mut server, "search_files", json!({"pattern": pattern, "limit": 1_000_000}));
        assert!(note.contains("results: the answer is full; "), "cut, as their paths take 800 KB: {note}");
    }
    let (nothing, note) = said(&mut server, "search_files", json!({"pattern": "none"}));
    assert!(nothing == crate::search::NOTHING && note.contains("could not be read: 0123456789/"), "{note}");
    let (nothing, note) = said(&mut server, "search_text", json!({"query": "gone"}));
    assert_eq!(nothing, crate::search::NOTHING);
    assert!(note.contains(&format!("{reachable} files")) && note.contains("could not be read: 0123456789/"), "{note}");
    assert!(note.len() < 1_000, "a note of {} bytes", note.len());
}

#[test]
fn whatever_is_listed_or_offered_can_be_read_however_deep() {
    let deep = Deep::new("0123456789", 400);
    let mut server = TestServer::start(&deep.0);
    let listed = list_all(&mut server);
    let longest = listed.last().expect("files")["name"].as_str().expect("a name");
    // One more level would make the path of its file too long.
    assert!(longest.len() <= LONGEST && longest.len() + "0123456789/".len() > LONGEST, "{}", longest.len());
    for resource in listed.iter().rev().take(3) {
        assert_eq!(read(&mut server, resource["uri"].as_str().expect("a URI"))["text"], "here\n");
    }
    let last_directory = path_of("0123456789", LONGEST / 11);
    for directory in [longest.strip_suffix('f').expect("a file").to_owned(), last_directory + "/"] {
        let offered = completed(&mut server, &deep.0, &directory);
        assert!(offered.iter().all(|path| path.trim_end_matches('/').len() <= LONGEST), "{offered:?}");
    }
}

/// With one more byte, every operation rejects it as too long; with one less, every operation reads it.
#[test]
fn a_path_of_4_095_bytes_is_read_and_one_of_4_096_is_too_long() {
    let deep = Deep(Tree::in_memory());
    let name = "d".repeat(227);
    let inner = deep.chain(&name, 17, |_| ());
    let above = path_of(&name, 17) + "/";
    let fits = "f".repeat(LONGEST - above.len());
    file(&inner, &fits);
    file(&inner, &(fits.clone() + "f"));
    let mut server = TestServer::start(&deep.0);
    for operation in FILE_OPERATIONS {
        let asked = |path: String| if operation == crate::sandbox::READ_RESOURCE { deep.0.uri(path) } else { path };
        let answer = ask(&mut server, &deep.0, operation, &asked(above.clone() + &fits));
        assert!(!answer.is_refusal() && answer.words().contains("here"), "{operation}: {answer:?}");
        let answer = ask(&mut server, &deep.0, operation, &asked(above.clone() + &fits + "f"));
        assert!(answer.is_refusal() && answer.words().contains("too long"), "{operation}: {answer:?}");
    }
    let found = crate::search::found(&mut server, json!({"pattern": "f*"}));
    assert_eq!(found, [above.clone() + &fits]);
    let note = said(&mut server, "search_files", json!({"pattern": "f*"})).1;
    assert!(note.contains("could not be read"), "{note}");
    assert_eq!(list_all(&mut server).len(), 1);
}

#[test]
fn a_tree_too_deep_to_examine_is_not_changed() {
    let deep = Deep::new("0123456789", 1_000);
    let mut server = writing(&deep.0);
    for (tool, arguments) in [
        ("delete_file", json!({"path": "0123456789", "recursive": true})),
        ("copy_file", json!({"source": "0123456789", "destination": "copy"})),
        ("move_file", json!({"source": "0123456789", "destination": "moved"})),
    ] {
        let error = server.tool_error(tool, arguments);
        assert!(error.contains("too long"), "{tool}: {error}");
    }
    assert_eq!(crate::writes::names(&deep.0, ""), ["0123456789"]);
    // The failure for one file there does not affect others.
    server.tool_text("write_file", json!({"path": "0123456789/f", "content": "new\n"}));
    assert_eq!(crate::writes::content(&deep.0, "0123456789/f"), b"new\n");
}

/// Otherwise a part would be left where no path leads, or a copy would be incomplete.
#[test]
fn a_tree_is_not_moved_or_copied_if_its_paths_would_be_too_long() {
    let deep = Deep::new("0123456789", 370);
    let mut server = writing(&deep.0);
    for tool in ["copy_file", "move_file"] {
        let arguments = json!({"source": "0123456789", "destination": "a-longer-name-than-that-of-its-source"});
        let error = server.tool_error(tool, arguments);
        assert!(error.contains("a path in it would be too long there"), "{tool}: {error}");
        assert_eq!(crate::writes::names(&deep.0, ""), ["0123456789"]);
    }
    server.tool_text("move_file", json!({"source": "0123456789", "destination": "short"}));
}

/// Each path in an answer takes 4,000 bytes, or 12,000 as a URI: neither pages nor notes grow with that.
#[test]
fn long_paths_make_short_pages_and_short_notes() {
    let deep = Deep(Tree::in_memory());
    let name = "\u{e9}".repeat(125);
    let inner = deep.chain(&name, 15, |_| ());
    // A path with a control character is shown as a URI.
    for number in 0..150 {
        file(&inner, &format!("{}\n{number}", "\u{e9}".repeat(100)));
    }
    directory(&inner, &name);
    let innermost = openat(&inner, &name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("a directory");
    for number in 0..10 {
        directory(&innermost, &format!("{}\n{number}", "\u{e9}".repeat(100)));
    }
    let mut server = TestServer::start(&deep.0);
    let page = server.result("resources/list", json!({}));
    let bytes = page.to_string().len();
    assert!(bytes < 3 << 20, "a page of {bytes} bytes");
    let rest = server.result("resources/list", json!({"cursor": page["nextCursor"]}));
    let on = |page: &Value| page["resources"].as_array().expect("resources").len();
    assert_eq!((on(&page) + on(&rest), rest.get("nextCursor")), (150, None));
    everything(&mut server, &deep.0, &path_of(&name, 15));
    let (_, note) = said(&mut server, "search_files", json!({"pattern": "none"}));
    assert!(note.contains("and 5 more") && note.len() < 2_000, "{} bytes: {note}", note.len());
}

/// There are too many entries on the way to watch, so it is polled.
#[test]
fn a_file_at_the_end_of_a_long_path_can_be_followed() {
    let deep = Deep::new("0123456789", 372);
    let limits = |limits: &mut mcp_fs::limits::Limits| limits.watch.poll = std::time::Duration::from_millis(50);
    let mut server = TestServer::builder(&deep.0).limits(limits).start().legacy(LATEST_LEGACY);
    let path = path_of("0123456789", 371) + "/f";
    let uri = deep.0.uri(&path);
    assert_eq!(server.request("resources/subscribe", json!({"uri": uri}))["result"], json!({}));
    // Relative to the root, because the absolute path is too long.
    let root = open(deep.0.path(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).expect("the root");
    let written = openat(&root, path.as_str(), OFlags::APPEND | OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    rustix::io::write(written.expect("the file"), b"more\n").expect("written");
    let message = server.recv();
    assert_eq!(
        (&message["method"], &message["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri))
    );
}

/// Reasons count as what they are: text of the answer.
#[test]
fn a_tree_full_of_errors_stays_within_the_limit() {
    let deep = Deep(Tree::in_memory());
    let name = "d".repeat(250);
    let inner = deep.chain(&name, 16, |_| ());
    // As many as would just fit into an answer without them.
    for number in 0..210 {
        directory(&inner, &format!("{number:03}-{}", "e".repeat(100)));
    }
    let mut server = TestServer::start(&deep.0);
    let (text, note) = said(&mut server, "directory_tree", json!({"path": path_of(&name, 16)}));
    assert!(text.len() <= 40_000, "{} bytes", text.len());
    let with_error = text.matches("\"error\": \"the path, or a name in it, is too long\"").count();
    let without = format!("cut after 210 entries: no more would fit; {} directories not entered", 210 - with_error);
    assert!(with_error > 10 && note.contains(&without), "{with_error}: {note}");
    let answer = Answer(server.either("tools/call", json!({"name": "search_files", "arguments": {"pattern": "none"}})));
    assert!(bytes_in(&answer) <= MOST_BYTES && answer.words().contains("and 205 more"), "{answer:?}");
}

/// 20,000 directories with paths of 4,000 bytes wait to be entered, whose paths would take 80 MB.
#[test]
fn the_memory_of_pending_directories_is_bounded_in_bytes() {
    let deep = Deep(Tree::in_memory());
    let name = "d".repeat(240);
    let inner = deep.chain(&name, 16, |_| ());
    for number in 0..20_000 {
        directory(&inner, &format!("{number:0200}"));
    }
    let mut process = Process::spawn(["--watch=off".as_ref(), deep.0.path()]);
    process.tool("list_directory", json!({}));
    let (memory, open) = (process.peak_memory() >> 10, process.descriptors());
    let (_, note) = said(&mut process, "search_files", json!({"pattern": "none"}));
    assert!(note.contains("too many entries to search them all"), "{note}");
    let (_, note) = said(&mut process, "search_text", json!({"query": "none"}));
    assert!(note.contains("too many entries to search them all"), "{note}");
    assert_eq!(list_all(&mut process).len(), 0);
    assert_eq!(process.descriptors(), open);
    let grown = (process.peak_memory() >> 10) - memory;
    assert!(grown < 150, "{grown} MiB more than before");
}
