//! What the targets share: a directory to serve, with files beside it that must never be seen.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_fs::call::{Block, Call, Contents, Data, ToolResult};
use mcp_fs::limits::{Limits, WatchMode};
use mcp_fs::root::{Deny, Protect, Root, WritableRoot};
use mcp_fs::runtime::cancel::Cancel;
use mcp_fs::services::{Services, context::Context};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;

/// The content of every file outside the served directory.
pub const SECRET: &str = "SECRET-OUTSIDE-DIR";

/// A temporary directory `around` that contains the served directory `root`. It is in memory if the system has a place
/// for that.
#[derive(Debug)]
pub struct Scene {
    _directory: TempDir,
    around: PathBuf,
    root: PathBuf,
}

impl Scene {
    /// An empty `root` and a secret beside it.
    pub fn empty() -> Self {
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let directory = directory.expect("a temporary directory");
        let around = directory.path().canonicalize().expect("its path");
        let root = around.join("root");
        fs::create_dir(&root).expect("root");
        fs::create_dir(around.join("outside")).expect("outside");
        for path in ["secret", "outside/a", "a", "b"] {
            fs::write(around.join(path), SECRET).expect("a secret");
        }
        Self { _directory: directory, around, root }
    }

    /// With files of several kinds, and links inside and outside.
    pub fn furnished() -> Self {
        let scene = Self::empty();
        let root = scene.root();
        for directory in ["a/a", "b", "empty", ".git", "hidden"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        for (file, content) in [
            ("a/b", &b"one\ntwo\r\nthree\n"[..]),
            ("a/a/b", b"fn main() {\n    println!(\"one\");\n}\n"),
            ("b/empty", b""),
            ("b/latin", b"caf\xe9 na\xefve\n"),
            ("b/utf16", b"\xff\xfea\x00\n\x00b\x00"),
            ("b/binary", b"\0\x01\x02\xff"),
            ("b/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"),
            ("b/a name #1?%41.md", b"# one\n"),
            ("b/line\nbreak", b"one"),
            ("long.txt", "0123456789 line\n".repeat(400).as_bytes()),
            (".gitignore", b"/hidden/\n*.log\n!keep.log\n"),
            ("x.log", b"one\n"),
            (".env", SECRET.as_bytes()),
        ] {
            fs::write(root.join(file), content).expect("a file");
        }
        let outside = scene.around.join("secret");
        for (link, target) in [
            ("in", Path::new("a/b")),
            ("up", Path::new("a/../a")),
            ("loop", Path::new("loop")),
            ("absolute", &root.join("a/a")),
            ("out", &outside),
            ("a/out", Path::new("../../outside")),
            ("nowhere", Path::new("none")),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        scene
    }

    /// The served directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory around it.
    pub fn around(&self) -> &Path {
        &self.around
    }

    /// Opens it with the default deny patterns.
    pub fn open(&self) -> Root {
        Root::open(&self.root, Deny::new(&[], true).expect("no patterns")).expect("a root")
    }

    /// What calls need without a server.
    pub fn services(&self, writable: bool) -> Arc<Services> {
        let mut services = Services::new(self.open(), limits());
        if writable {
            let protect = Protect::new(&[], true).expect("no patterns");
            services.writable = Some(WritableRoot::new(Arc::clone(&services.root), protect, false));
        }
        Arc::new(services)
    }

    /// Text with the path of the served directory for `{root}`, and that of its parent for `{around}`.
    pub fn spelled(&self, text: &str) -> String {
        let path = |path: &Path| path.to_str().expect("a path that is text").to_owned();
        text.replace("{root}", &path(&self.root)).replace("{around}", &path(&self.around))
    }

    /// Fails if `said`, the answer to `asked`, reveals something outside.
    pub fn assert_nothing_outside(&self, said: &str, asked: &str) {
        let around = self.spelled("{around}");
        let names_outside =
            |text: &str| text.match_indices(&around).any(|(at, _)| !text[at + around.len()..].starts_with("/root"));
        // What was requested may be repeated.
        assert!(!said.contains(SECRET) || asked.contains(SECRET), "it holds what lies outside: {said}");
        assert!(!names_outside(said) || names_outside(asked), "it names what lies outside: {said}");
        assert!(!said.contains("os error") || asked.contains("os error"), "it holds an error number: {said}");
    }
}

/// Low limits, so that small inputs reach them.
pub fn limits() -> Limits {
    let mut limits = Limits {
        list: 20,
        page: 3,
        output_bytes: 2_000,
        resource_bytes: 1_000,
        blob_bytes: 100,
        line_bytes: 2_000,
        in_flight: 2,
        queued: 4,
        queued_bytes: 4_000,
        answer_bytes: 20_000,
        batch: 3,
        ..Limits::default()
    };
    limits.watch.mode = WatchMode::Off;
    limits
}

/// The context of one call.
pub fn context(services: &Arc<Services>) -> Context {
    Context::new(Arc::clone(services), Cancel::default(), None)
}

/// A call of a tool in the format of the targets' inputs: the name of the tool, then a line per argument with its name,
/// a space and its value, which is JSON or else a string.
pub fn tool_call(text: &str) -> Call {
    let (name, arguments) = text.split_once('\n').unwrap_or((text, ""));
    let argument = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        let is_json = serde_json::from_str::<&RawValue>(value).is_ok();
        let value = if is_json { value.to_owned() } else { Value::from(value).to_string() };
        format!("{}:{value}", Value::from(name))
    };
    let arguments: Vec<String> = arguments.split('\n').filter(|line| !line.is_empty()).map(argument).collect();
    let arguments = RawValue::from_string(format!("{{{}}}", arguments.join(","))).expect("JSON");
    Call::CallTool { name: name.to_owned(), arguments: Some(arguments) }
}

/// The text of a tool's answer; images and the like in debug format.
pub fn said(result: &ToolResult) -> String {
    let said = |block: &Block| match block {
        Block::Text(text) => text.as_str().to_owned(),
        Block::Resource(Contents { uri, data: Data::Text(text), .. }) => format!("{uri}\n{}", text.as_str()),
        other => format!("{other:?}"),
    };
    result.content.iter().map(said).collect::<Vec<_>>().join("\n")
}
