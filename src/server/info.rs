//! How the server describes itself, in the answers to `initialize` and `server/discover`.

use serde_json::{Value, json};

use crate::hostile;
use crate::root::Root;

/// Short, because clients put it in front of every tool's name.
const NAME: &str = "mcp-fs";
const TITLE: &str = "Files (mcp-fs)";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Capabilities and instructions. They name the served directory, and are the same for every client.
#[derive(Debug)]
pub(crate) struct ServerInfo {
    /// The capabilities.
    pub capabilities: Value,
    /// Instructions for the model: at most 2,000 characters, the essential first.
    pub instructions: String,
}

impl ServerInfo {
    /// Describes a server for `root`: whether clients may write, whether changes are detected, and whether there are
    /// prompts.
    pub(crate) fn new(root: &Root, writable: bool, watches: bool, has_prompts: bool) -> Self {
        let resources = if watches { json!({ "subscribe": true, "listChanged": true }) } else { json!({}) };
        let mut capabilities = json!({
            "tools": {},
            "resources": resources,
            // Unknown to 2024-11-05, which leaves the set of capabilities open; the method works there as well.
            "completions": {},
            "experimental": {
                "roots": {
                    "listChanged": false,
                    "roots": [{ "uri": root.own_uri(), "name": hostile::escaped(&root.name()) }],
                },
            },
        });
        if has_prompts {
            capabilities["prompts"] = if watches { json!({ "listChanged": true }) } else { json!({}) };
        }
        Self { capabilities, instructions: instructions(root, writable) }
    }
}

/// Name, version and, if the revision has it, a title.
pub(crate) fn implementation(with_title: bool) -> Value {
    if with_title {
        json!({ "name": NAME, "title": TITLE, "version": VERSION })
    } else {
        json!({ "name": NAME, "version": VERSION })
    }
}

fn instructions(root: &Root, writable: bool) -> String {
    let path: String = root.shown_path().chars().take(1_000).collect();
    let access = if writable { "read-write" } else { "read-only" };
    let protected =
        if writable { " Protected names such as .git, .vscode and .envrc can be read but not changed." } else { "" };
    format!(
        "Serves the directory {path}, {access}, and nothing outside it. Paths are relative to it (\".\" is the \
         directory itself), absolute inside it, or file:// URIs. search_text searches file contents (grep), \
         search_files finds names (glob). Long files come in parts; the note after a part says how to get the next \
         one. Denied names such as .env and .ssh are left out everywhere. Searches, directory_tree and resources also \
         leave out files hidden by .gitignore (includeIgnored shows them).{protected}"
    )
}
