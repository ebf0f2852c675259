//! Nothing outside the served directory, and nothing denied, is ever returned: escape attempts times everything that
//! takes a path.
//!
//! | module | holds |
//! | --- | --- |
//! | `lesson` | `../secret` is rejected, in every spelling, by every operation, in every revision |
//! | `attempts`, `escapes` | the table: every known way out, times every operation, times what is at its end |
//! | `completion` | the same ways out, for completions |
//! | `live` | the same ways out, for subscriptions |
//! | `links` | links that stay inside work, are listed as links, and are walked only if named |
//! | `named_links` | links that a search names, while they are swapped |
//! | `denied` | names that are never served |
//! | `special` | FIFOs, sockets and devices: never opened, never waited for |
//! | `race` | the same while names are being swapped |
//! | `random` | random paths from a small alphabet, compared with what the system says about them |
//! | `kernel` | /proc and the like, mounted inside the directory |
//! | `kinds` | every kind of file system that can be mounted there |
//! | `fallback` | all this if the kernel has no openat2, or a sandbox refuses it |
//! | `landlock` | the second wall from the inside: what a confined process can still do |
//! | `second_wall` | the second wall alone, in a build without the first |
//! | `walls` | the program behind both walls, or behind one of them |
//!
//! The secrets contain [`SECRET_MARKER`](crate::support::SECRET_MARKER), so that [`crate::support::conversation`] fails
//! any test in which one is sent; [`ask`] adds that no answer names what only the host should know.

#![cfg_attr(not(unix), allow(dead_code, reason = "most of these tests make links or FIFOs"))]

#[cfg(unix)]
pub(crate) mod attempts;
#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod denied;
#[cfg(unix)]
pub(crate) mod escapes;
#[cfg(target_os = "linux")]
pub(crate) mod fallback;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod kinds;
#[cfg(target_os = "linux")]
mod landlock;
mod lesson;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod live;
#[cfg(target_os = "linux")]
mod named_links;
#[cfg(target_os = "linux")]
pub(crate) mod race;
#[cfg(unix)]
mod random;
#[cfg(target_os = "linux")]
mod second_wall;
#[cfg(unix)]
mod special;
#[cfg(unix)]
pub(crate) mod walls;

use serde_json::{Value, json};

use crate::support::{Client, Tree};

/// Everything that takes a path.
pub(crate) const OPERATIONS: [&str; 11] = [
    "read_text_file",
    "read_file",
    "read_media_file",
    "read_multiple_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "get_file_info",
    "search_files",
    "search_text",
    READ_RESOURCE,
];

/// Those that want a file.
pub(crate) const FILE_OPERATIONS: [&str; 5] =
    ["read_text_file", "read_file", "read_media_file", "read_multiple_files", READ_RESOURCE];

/// Those that want a directory.
pub(crate) const DIRECTORY_OPERATIONS: [&str; 4] =
    ["list_directory", "list_directory_with_sizes", "directory_tree", "search_files"];

/// The one that is no tool.
pub(crate) const READ_RESOURCE: &str = "resources/read";

/// Takes a path as well, but returns nothing of what is there.
pub(crate) const SUBSCRIBE: &str = "resources/subscribe";

/// The result of an operation: the whole response without its id.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer(pub(crate) Value);

impl Answer {
    /// Every string in it, one per line.
    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        gather(&self.0, &mut words);
        words
    }

    /// The text that was returned: a tool's first block, or that of the resource.
    pub(crate) fn text(&self) -> Option<&str> {
        let result = &self.0["result"];
        [&result["content"][0]["text"], &result["contents"][0]["text"]].into_iter().find_map(Value::as_str)
    }

    /// Whether nothing was returned: a protocol error, a tool's error, or the error for the only file requested.
    pub(crate) fn is_refusal(&self) -> bool {
        let text = self.0["result"]["content"][0]["text"].as_str();
        let error_of_one = text.is_some_and(|text| text.contains(": Error - "));
        self.0.get("error").is_some() || self.0["result"]["isError"] == true || error_of_one
    }

    /// The code of the protocol error.
    pub(crate) fn code(&self) -> Option<i64> {
        self.0["error"]["code"].as_i64()
    }
}

fn gather(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => words.extend([text, "\n"]),
        Value::Array(items) => items.iter().for_each(|item| gather(item, words)),
        Value::Object(members) => members.values().for_each(|member| gather(member, words)),
        _ => {}
    }
}

/// Runs one of [`OPERATIONS`] on a path, and checks that the answer reveals nothing about the host.
pub(crate) fn ask(client: &mut impl Client, tree: &Tree, operation: &str, path: &str) -> Answer {
    let (method, params) = request(operation, path);
    let mut response = client.either(method, params);
    response.as_object_mut().expect("a response").remove("id");
    let answer = Answer(response);
    keeps_the_host_private(tree, &answer.words(), path);
    answer
}

/// The path in the form that suits `operation`: resources have URIs.
pub(crate) fn asked(tree: &Tree, operation: &str, path: &str) -> String {
    if operation == READ_RESOURCE { tree.uri(path) } else { path.to_owned() }
}

/// The request that runs one of [`OPERATIONS`] on a path.
pub(crate) fn request(operation: &str, path: &str) -> (&'static str, Value) {
    match operation {
        READ_RESOURCE => (READ_RESOURCE, json!({"uri": path})),
        SUBSCRIBE => (SUBSCRIBE, json!({"uri": path})),
        "read_multiple_files" => ("tools/call", json!({"name": operation, "arguments": {"paths": [path]}})),
        "search_files" => ("tools/call", json!({"name": operation, "arguments": {"path": path, "pattern": "*"}})),
        "search_text" => ("tools/call", json!({"name": operation, "arguments": {"path": path, "query": "e"}})),
        tool => ("tools/call", json!({"name": tool, "arguments": {"path": path}})),
    }
}

/// No path of the host except the served directory's, no environment, no error number. What the client sent may be
/// repeated.
pub(crate) fn keeps_the_host_private(tree: &Tree, said: &str, asked: &str) {
    let outside = tree.outside().to_str().expect("text");
    let said = if asked.contains(outside) { said.replace(asked, "ASKED") } else { said.to_owned() };
    let said = said.replace(tree.path().to_str().expect("text"), "ROOT");
    let environment = std::env::var("PATH").expect("a PATH");
    for private in [outside, env!("CARGO_MANIFEST_DIR"), &environment, "os error", "errno"] {
        assert!(!said.contains(private), "{asked}: the answer names {private}:\n{said}");
    }
}

/// Reports what was not tested, and why.
pub(crate) fn skipped(what: &str, why: &str) {
    say(&format!("SKIPPED: {what}: {why}"));
}

/// Prints to the terminal: cargo shows the output of `eprintln!` only for failed tests.
pub(crate) fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}
