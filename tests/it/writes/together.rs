//! Two servers on one directory, and a server beside an editor that saves by renaming: what one of them reported as
//! written is not lost to another.
//!
//! Every limit is a number of operations. A server that answers "try again" is asked again; nothing depends on which
//! one is faster.

use std::collections::HashSet;
use std::fs;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::content;
use crate::support::{Client, LATEST_LEGACY, Process, Tree, text_of};

/// A real server with write access, after the handshake.
pub(crate) fn start(tree: &Tree) -> Process {
    let arguments = ["--allow-write".as_ref(), "--no-fsync".as_ref(), tree.path().as_os_str()];
    Process::spawn(arguments).legacy(LATEST_LEGACY)
}

/// Calls a tool without the harness, whose checks take longer than the call.
pub(crate) fn call(process: &mut Process, tool: &str, arguments: &Value) -> Result<String, String> {
    let params = json!({"name": tool, "arguments": arguments});
    let line = json!({"jsonrpc": "2.0", "id": "quick", "method": "tools/call", "params": params});
    process.write(format!("{line}\n").as_bytes());
    let answer: Value = serde_json::from_slice(&process.read().expect("an answer")).expect("JSON");
    let result = &answer["result"];
    if result["isError"] == true { Err(text_of(result)) } else { Ok(text_of(result)) }
}

/// The version in a note or an error.
fn version(text: &str) -> &str {
    let (_, after) = text.rsplit_once("version ").or_else(|| text.rsplit_once("version: ")).expect("a version");
    let after = after.trim_start_matches("is ");
    &after[..16]
}

/// How often each of two servers writes.
const EACH: usize = 400;

/// A version is the state of a file, and a state can be replaced only once: two writes that both replaced the same one
/// are a lost update.
#[test]
fn a_version_is_replaced_only_once_whichever_server_writes() {
    let tree = Tree::new().file("a", "0");
    let replaced = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (tree, replaced) = (&tree, &replaced);
            scope.spawn(move || {
                let mut server = start(tree);
                let info = call(&mut server, "get_file_info", &json!({"path": "a"})).expect("a file");
                let mut known = info.lines().find_map(|line| line.strip_prefix("version: ")).expect("it").to_owned();
                for number in 0..EACH {
                    let arguments = json!({"path": "a", "content": format!("{name} {number}"), "ifMatch": known});
                    match call(&mut server, "write_file", &arguments) {
                        Ok(said) => {
                            replaced.lock().expect("no panic").push(known);
                            known = version(&said).to_owned();
                        }
                        Err(error) if error.contains("version is ") => {
                            let (_, now) = error.split_once("version is ").expect("it is there");
                            known = now[..16].to_owned();
                        }
                        Err(error) => assert!(error.contains("try again"), "{error}"),
                    }
                }
            });
        }
    });
    let replaced = replaced.into_inner().expect("no panic");
    let distinct: HashSet<_> = replaced.iter().collect();
    crate::sandbox::say(&format!("two servers: {} writes succeeded, {} versions", replaced.len(), distinct.len()));
    assert_eq!(distinct.len(), replaced.len(), "a success was lost");
    assert!(!replaced.is_empty(), "nothing was ever written");
}

/// Edits its own lines until each edit has succeeded; returns how many attempts that took.
pub(crate) fn edit_own_lines(mut server: Process, name: &str, lines: usize) -> usize {
    let mut attempts = 0;
    for line in 0..lines {
        let edit = json!({"oldText": format!("{name} {line:03} old"), "newText": format!("{name} {line:03} new")});
        loop {
            attempts += 1;
            match call(&mut server, "edit_file", &json!({"path": "a", "edits": [edit]})) {
                Ok(_) => break,
                Err(error) => assert!(error.contains("try again"), "{error}"),
            }
        }
    }
    attempts
}

/// All lines that two servers will edit.
pub(crate) fn lines(lines: usize) -> String {
    let of = |name: &str| (0..lines).map(|line| format!("{name} {line:03} old")).collect::<Vec<_>>().join("\n") + "\n";
    of("one") + &of("two")
}

#[test]
fn no_edit_of_two_servers_is_lost() {
    let tree = Tree::new().file("a", lines(EACH));
    std::thread::scope(|scope| {
        let [one, two] = ["one", "two"].map(|name| scope.spawn(|| edit_own_lines(start(&tree), name, EACH)));
        let attempts = [one, two].map(|thread| thread.join().expect("no panic"));
        crate::sandbox::say(&format!("two servers: {EACH} edits each, in {attempts:?} attempts"));
    });
    let text = String::from_utf8(content(&tree, "a")).expect("text");
    let lost: Vec<_> = text.lines().filter(|line| line.ends_with("old")).collect();
    assert_eq!(lost, [] as [&str; 0], "{} edits were lost", lost.len());
}

/// If names cannot be swapped (NFS, SMB, most of FUSE), only locks keep two servers apart.
#[cfg(target_os = "linux")]
#[test]
fn no_edit_of_two_servers_is_lost_if_names_cannot_be_swapped() {
    const FEWER: usize = 100;
    let tree = Tree::new().file("a", lines(FEWER));
    let [Some(one), Some(two)] = [(); 2].map(|()| super::fallback::start(&tree)) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| edit_own_lines(one, "one", FEWER));
        scope.spawn(|| edit_own_lines(two, "two", FEWER));
    });
    let text = String::from_utf8(content(&tree, "a")).expect("text");
    assert_eq!(text.lines().filter(|line| line.ends_with("old")).count(), 0, "{text}");
}

/// What one server appends while another edits the same file never ends up in a file that has lost its name.
#[test]
fn what_one_server_appends_is_not_lost_to_the_edits_of_another() {
    let tree = Tree::new().file("a", lines(EACH));
    std::thread::scope(|scope| {
        scope.spawn(|| edit_own_lines(start(&tree), "one", EACH));
        scope.spawn(|| {
            let mut server = start(&tree);
            for number in 0..EACH {
                let arguments = json!({"path": "a", "content": format!("appended {number}\n"), "append": true});
                while let Err(error) = call(&mut server, "write_file", &arguments) {
                    assert!(error.contains("try again"), "{error}");
                }
            }
        });
    });
    let text = String::from_utf8(content(&tree, "a")).expect("text");
    let appended: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("appended ")).collect();
    assert_eq!(appended, (0..EACH).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(text.lines().filter(|line| line.ends_with("new")).count(), EACH);
}

/// How often the editor saves.
const SAVES: usize = 1_500;

/// An editor numbers its saves. What the server writes names the save that it is based on. Until the editor saves
/// again, the file must never be the server's on top of an earlier save: that would be a lost save.
#[test]
fn no_save_of_an_editor_is_lost_to_a_server() {
    let tree = Tree::new().file("a", "editor 0\n");
    // What the server wrote, with the save that was seen at that time.
    let (written, seen) = (Mutex::new(HashSet::new()), Mutex::new(Vec::new()));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut server = start(&tree);
            let mut number = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                number += 1;
                let info = call(&mut server, "get_file_info", &json!({"path": "a"})).expect("a file");
                let known = info.lines().find_map(|line| line.strip_prefix("version: ")).expect("it").to_owned();
                // Read after the version: if the save is another one by then, the version no longer matches.
                let text = call(&mut server, "read_text_file", &json!({"path": "a"})).expect("a file");
                let save = text.split_whitespace().nth(1).expect("a number").to_owned();
                let mine = format!("server {save} {number}\n");
                let arguments = json!({"path": "a", "content": mine, "ifMatch": known});
                if call(&mut server, "write_file", &arguments).is_ok() {
                    written.lock().expect("no panic").insert(mine);
                }
            }
        });
        for save in 1..=SAVES {
            fs::write(tree.join("a.new"), format!("editor {save}\n")).expect("a file");
            fs::rename(tree.join("a.new"), tree.join("a")).expect("a save");
            for _ in 0..40 {
                let there = fs::read_to_string(tree.join("a")).expect("a file");
                if !there.starts_with("editor") && !there.starts_with(&format!("server {save} ")) {
                    seen.lock().expect("no panic").push((save, there));
                    break;
                }
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let (written, seen) = (written.into_inner().expect("no panic"), seen.into_inner().expect("no panic"));
    let lost: Vec<_> = seen.iter().filter(|(_, there)| written.contains(there)).collect();
    crate::sandbox::say(&format!("beside an editor: {} writes in {SAVES} saves, {} lost", written.len(), lost.len()));
    assert!(lost.is_empty(), "{} saves were lost, such as {:?}", lost.len(), lost[0]);
}
