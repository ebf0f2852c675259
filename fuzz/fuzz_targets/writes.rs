//! Calls of all tools in sequence: whatever they are, nothing outside changes and nothing denied is returned, nothing
//! is left behind, and a refused call changes nothing.
//!
//! An input is calls in the format of [`mcp_fs_fuzz::tool_call`], separated by empty lines. `{root}` stands for the
//! path of the served directory, `{around}` for that of its parent.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use mcp_fs::call::{Call, Failure, Outcome};
use mcp_fs::features::dispatch::dispatch;
use mcp_fs_fuzz::{SECRET, Scene, context, said, tool_call};

/// How many calls are made.
const MOST: usize = 4;

/// Tools that do all or nothing.
const ALL_OR_NOTHING: [&str; 3] = ["write_file", "edit_file", "move_file"];

fuzz_target!(|text: &str| {
    let scene = Scene::furnished();
    let services = scene.services(true);
    let asked = scene.spelled(text);
    let outside = || Files::below(scene.around(), Some(scene.root()));
    let before = outside();
    for asked in asked.split("\n\n").take(MOST) {
        let call = tool_call(asked);
        let (Call::CallTool { name, .. }, inside) = (&call, Files::below(scene.root(), None)) else { return };
        let result = match dispatch(&call, &context(&services)) {
            Ok(Outcome::Tool(result)) => result,
            Err(Failure::UnknownTool(_)) => continue,
            other => panic!("no answer of a tool: {other:?}"),
        };
        scene.assert_nothing_outside(&said(&result), &asked_text(text, asked));
        let now = Files::below(scene.root(), None);
        if result.is_error && ALL_OR_NOTHING.contains(&name.as_str()) {
            assert_eq!(now, inside, "it was refused: {}", said(&result));
        }
        now.hold_no_secret(text);
    }
    assert_eq!(outside(), before, "something outside has changed");
});

/// Everything that an answer may repeat: the current request, and what was written before.
fn asked_text(text: &str, asked: &str) -> String {
    format!("{text}\n{asked}")
}

/// The state: files with their content, links with their target, and directories.
#[derive(Debug, PartialEq, Eq)]
struct Files(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

impl Files {
    /// Everything below a directory, except another one.
    fn below(directory: &Path, except: Option<&Path>) -> Self {
        let mut files = BTreeMap::new();
        let mut pending = vec![directory.to_owned()];
        while let Some(directory) = pending.pop() {
            for path in fs::read_dir(&directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
                if except == Some(&path) {
                    continue;
                }
                let kind = path.symlink_metadata().expect("an entry").file_type();
                let entry = if kind.is_dir() {
                    pending.push(path.clone());
                    Entry::Directory
                } else if kind.is_symlink() {
                    Entry::Link(fs::read_link(&path).expect("a link"))
                } else {
                    Entry::File(fs::read(&path).expect("a file"))
                };
                files.insert(path, entry);
            }
        }
        Self(files)
    }

    /// A denied file is where it was, and nowhere else; and nothing incomplete was left behind.
    fn hold_no_secret(&self, asked: &str) {
        let is_secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        for (path, entry) in &self.0 {
            let name = path.file_name().expect("a name").to_string_lossy();
            assert!(!name.starts_with(".mcp-fs-") || asked.contains(".mcp-fs-"), "{name} was left behind");
            match entry {
                Entry::File(bytes) if name != ".env" => {
                    assert!(!is_secret(bytes) || asked.contains(SECRET), "{} holds what is denied", path.display());
                }
                _ => {}
            }
        }
        assert!(self.0.iter().any(|(path, entry)| {
            path.ends_with(".env") && matches!(entry, Entry::File(bytes) if bytes == SECRET.as_bytes())
        }));
    }
}
