//! Changing what is served: written content is there byte for byte, what could not be written is unchanged, and nothing
//! outside is ever touched.
//!
//! | module | holds |
//! | --- | --- |
//! | `files` | `write_file`: create, replace, append, versions, parents |
//! | `kept` | metadata that survives replacing a file: mode, owner, attributes |
//! | `moving`, `copying`, `deleting` | the other tools: what they do, and what they do not |
//! | `trees` | many entries: progress, cancellation, and partial results |
//! | `refused` | links that lead outside, hard links, special files, denied names, write protection: all unchanged |
//! | `protected` | names that can be read, and changed by nothing |
//! | `outside` | every way out, for everything that changes something |
//! | `disk` | no room, read-only, another file system |
//! | `fallback` | the same without the system calls that a kernel or file system may lack |
//! | `crash` | killed at any moment |
//! | `leftovers` | temporary names: never seen, and removed when they are old |
//! | `said` | what clients are told about all this |
//! | `followed` | each change is reported once to those who follow the file |
//! | `locked` | another program holds the file's lock; set-user-id, and cleaning up once |
//! | `moved` | a directory is moved while something is done in it, which is then not done elsewhere |
//! | `update` | a change based on the current content: nothing of others is lost |
//! | `together` | two servers on one directory, and an editor beside one: nothing is lost either |

#[cfg(unix)]
mod copying;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod deleting;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod fallback;
mod files;
mod followed;
#[cfg(unix)]
mod kept;
mod leftovers;
#[cfg(unix)]
mod locked;
#[cfg(unix)]
mod moved;
#[cfg(unix)]
mod moving;
#[cfg(target_os = "linux")]
pub(crate) mod outside;
#[cfg(unix)]
mod protected;
#[cfg(unix)]
pub(crate) mod refused;
mod said;
#[cfg(unix)]
pub(crate) mod together;
mod trees;
mod update;

use std::fs;

#[cfg(any(target_os = "linux", windows))]
use serde_json::{Value, json};

use crate::support::{TestServer, Tree};

/// A server with write access.
pub(crate) fn writing(tree: &Tree) -> TestServer {
    TestServer::builder(tree).allow_write().start()
}

/// The content of a file.
pub(crate) fn content(tree: &Tree, path: &str) -> Vec<u8> {
    fs::read(tree.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in a directory of the tree, sorted.
pub(crate) fn names(tree: &Tree, path: &str) -> Vec<String> {
    let entries = fs::read_dir(tree.join(path)).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

/// Every call that changes something, with `path` as one of its paths. The tree has a file `a` and a directory `tree`.
#[cfg(any(target_os = "linux", windows))]
pub(crate) fn changing(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "x", "createParents": true})),
        ("write_file", json!({"path": path, "content": "x", "append": true, "createParents": true})),
        ("edit_file", json!({"path": path, "edits": [{"oldText": "SECRET", "newText": "x"}]})),
        ("create_directory", json!({"path": path})),
        ("move_file", json!({"source": path, "destination": "stolen"})),
        ("move_file", json!({"source": "a", "destination": path, "createParents": true})),
        ("move_file", json!({"source": "tree", "destination": path, "createParents": true})),
        ("copy_file", json!({"source": path, "destination": "stolen"})),
        ("copy_file", json!({"source": "a", "destination": path, "createParents": true, "overwrite": true})),
        ("copy_file", json!({"source": "tree", "destination": path, "createParents": true})),
        ("delete_file", json!({"path": path})),
        ("delete_file", json!({"path": path, "recursive": true})),
    ]
}
