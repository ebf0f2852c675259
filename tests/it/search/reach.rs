//! `search_files`: where it searches, in which order, and that each result can be passed to every tool.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::found;
use crate::support::{Client, TestServer, Tree};

#[test]
fn hidden_files_are_searched_and_version_control_only_if_named() {
    let tree = [".dot/x", ".git/x", ".git/hooks/x", ".github/x", ".hg/x", "sub/.git/x", "sub/x"]
        .iter()
        .fold(Tree::new(), |tree, path| tree.file(path, ""));
    let mut server = TestServer::start(&tree);
    for more in [json!({}), json!({"includeIgnored": true}), json!({"path": "."})] {
        let arguments = crate::tools::with(&json!({"pattern": "x"}), &more);
        assert_eq!(found(&mut server, arguments), [".dot/x", ".github/x", "sub/x"], "{more}");
    }
    assert_eq!(found(&mut server, json!({"pattern": ".git"})), [""; 0]);
    for path in [".git".to_owned(), ".git/".to_owned(), tree.uri(".git")] {
        assert_eq!(found(&mut server, json!({"pattern": "x", "path": path})), [".git/x", ".git/hooks/x"], "{path}");
    }
    assert_eq!(found(&mut server, json!({"pattern": "x", "path": "sub/.git"})), ["sub/.git/x"]);
}

#[test]
fn an_ignored_directory_is_searched_if_named() {
    let tree = Tree::new().file(".gitignore", "build/\n*.tmp\n").file("build/x", "").file("build/x.tmp", "");
    let mut server = TestServer::start(&tree);
    assert_eq!(found(&mut server, json!({"pattern": "x*"})), [""; 0]);
    // Patterns of the directories above for some names still apply in it.
    assert_eq!(found(&mut server, json!({"pattern": "x*", "path": "build"})), ["build/x"]);
    let arguments = json!({"pattern": "x*", "path": "build", "includeIgnored": true});
    assert_eq!(found(&mut server, arguments), ["build/x", "build/x.tmp"]);
}

#[test]
fn denied_names_are_never_found() {
    let denied = [".env", ".ENV.local", "d/.env", "d/.ssh/known", "id_rsa", "x.pem", "secret/known", "d/.mcp-fs-1.tmp"];
    let tree = denied.iter().fold(Tree::new(), |tree, path| tree.file(path, "")).file("d/given", "");
    let mut server = TestServer::builder(&tree).deny("*.pem").deny("secret").start();
    let everything = json!({"pattern": "*", "includeIgnored": true});
    assert_eq!(found(&mut server, everything), ["d", "d/given"]);
    for pattern in [".env", ".env*", "**/.env", "known", "d/.ssh/", "*.pem", "secret/*", "id_*", ".mcp-fs-*"] {
        let (text, note) = crate::tools::text_and_note(&mut server, "search_files", json!({"pattern": pattern}));
        assert_eq!(text, super::NOTHING, "{pattern}");
        // Nor does a count reveal that there is something.
        assert!(note.is_some_and(|note| note.starts_with("[2 entries searched")), "{pattern}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_found_by_name_and_entered_only_if_named() {
    let tree = Tree::new().file("d/inside", "").link("in", "d").link("loop", ".").link("d/up", "..");
    let tree = tree.link("out", "..").link("file", "d/inside").link("gone", "/nowhere");
    let mut server = TestServer::start(&tree);
    let all = ["d", "file", "gone", "in", "loop", "out", "d/inside", "d/up"];
    assert_eq!(found(&mut server, json!({"pattern": "*"})), all);
    assert_eq!(found(&mut server, json!({"pattern": "*", "kind": "file"})), ["d/inside"]);
    assert_eq!(found(&mut server, json!({"pattern": "{root,secret}"})), [""; 0]);
    for pattern in ["out/*", "**/root", "i*/*", "{in,loop}/**", "gone/**", "file/**"] {
        assert_eq!(found(&mut server, json!({"pattern": pattern})), [""; 0], "{pattern}");
    }
    // If named, a link is followed if it stays inside; its content is shown by paths through the link.
    assert_eq!(found(&mut server, json!({"pattern": "in/*"})), ["in/inside", "in/up"]);
    assert_eq!(found(&mut server, json!({"pattern": "inside", "path": "in"})), ["in/inside"]);
    let up = ["loop/d/up/in/inside", "loop/d/up/in/up"];
    assert_eq!(found(&mut server, json!({"pattern": "*", "path": "loop/d/up/in"})), up);
    for path in ["out", "d/up/out", "gone"] {
        let error = server.tool_error("search_files", json!({"pattern": "*", "path": path}));
        assert!(error.contains("leads outside the served directory"), "{path}: {error}");
    }
}

/// A name must not forge a line of its own, and what is shown instead must name the file everywhere.
#[cfg(target_os = "linux")]
#[test]
fn every_result_can_be_passed_to_every_tool_whatever_its_name() {
    let odd: [&[u8]; 4] = [b"new\nline", b"bad\xff.txt", b"odd\tdir/plain.txt", "turned\u{202e}txt".as_bytes()];
    let plain: [&[u8]; 6] = [b" lead", b"trail ", b"Q&A $5;.md", b"a%20b", b"a#b?c", b"file:"];
    let tree = odd.iter().chain(&plain).fold(Tree::new(), |tree, name| tree.file_bytes_name(name, *name));
    let mut server = TestServer::start(&tree);
    let results = found(&mut server, json!({"pattern": "*", "kind": "file"}));
    assert_eq!(results.iter().filter(|path| path.starts_with("file:///")).count(), odd.len(), "{results:?}");
    let mut contents: Vec<Vec<u8>> = Vec::new();
    for path in &results {
        assert!(!path.contains(char::is_control), "{path:?}");
        let text = server.tool_text("read_text_file", json!({"path": path}));
        assert!(!text.is_empty(), "{path}");
        assert!(server.tool_text("get_file_info", json!({"path": path})).contains("size:"), "{path}");
        let media = server.tool("read_media_file", json!({"path": path}));
        let uri = media["content"][0]["resource"]["uri"].as_str().unwrap_or_else(|| panic!("{path}: {media}"));
        // A result that is a URI is also the resource's; the others are as tools name them.
        assert!(!path.starts_with("file:///") || uri == path, "{path}: {uri}");
        let uri = uri.to_owned();
        contents.push(crate::resources::bytes_of(&crate::resources::read(&mut server, &uri)));
    }
    // Each file contains its own name.
    let mut want: Vec<&[u8]> = odd.iter().chain(&plain).copied().collect();
    want.sort_unstable();
    contents.sort();
    assert_eq!(contents, want);
    // A directory that is shown by its URI can be searched by it.
    let directory = found(&mut server, json!({"pattern": "odd*"})).remove(0);
    let inside = found(&mut server, json!({"pattern": "*", "path": directory}));
    assert_eq!(inside, [format!("{directory}/plain.txt")]);
}

/// Names that sort differently as whole paths than component by component.
fn trees() -> impl Strategy<Value = Vec<String>> {
    let directory = prop::sample::select(vec!["d", "d!", "e", ".h", "É"]);
    let name = prop::sample::select(vec!["a.rs", "B.rs", "b", ".rs", "x.rs.bak"]);
    let file = (prop::collection::vec(directory, 0..4), name);
    prop::collection::vec(
        file.prop_map(|(above, name)| above.into_iter().chain([name]).collect::<Vec<_>>().join("/")),
        0..25,
    )
}

/// Everything that `walkdir` finds below `start`, as paths relative to the root, shallow first.
fn oracle(tree: &Tree, start: &str, wanted: impl Fn(&str, bool) -> bool) -> Vec<String> {
    let walk = walkdir::WalkDir::new(tree.join(start)).min_depth(1).into_iter().map(|entry| entry.expect("readable"));
    let relative =
        |path: &Path| path.strip_prefix(tree.path()).expect("inside").to_str().expect("text").replace('\\', "/");
    let all = walk.map(|entry| (relative(entry.path()), entry.file_type().is_dir()));
    let mut all: Vec<String> = all.filter(|(path, is_dir)| wanted(path, *is_dir)).map(|(path, _)| path).collect();
    all.sort_by_cached_key(|path| (path.matches('/').count(), path.split('/').map(str::to_owned).collect::<Vec<_>>()));
    all
}

#[test]
fn results_and_their_order_equal_those_of_another_walker() {
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let found_wrong = TestRunner::new(config).run(&trees(), |files| {
        let tree = files.iter().fold(Tree::new().dir("d"), |tree, path| tree.file(path, ""));
        let mut server = TestServer::start(&tree);
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let mut agree = |arguments: serde_json::Value, want: Vec<String>| {
            prop_assert_eq!(found(&mut server, arguments.clone()), want, "{}", arguments);
            Ok(())
        };
        agree(json!({"pattern": "*"}), oracle(&tree, "", |_, _| true))?;
        agree(json!({"pattern": "**/*"}), oracle(&tree, "", |_, _| true))?;
        agree(json!({"pattern": "*", "kind": "directory"}), oracle(&tree, "", |_, is_dir| is_dir))?;
        agree(
            json!({"pattern": "*.rs", "kind": "file"}),
            oracle(&tree, "", |path, _| path.strip_suffix(".rs").is_some()),
        )?;
        agree(json!({"pattern": "b*"}), oracle(&tree, "", |path, _| name(path).to_lowercase().starts_with('b')))?;
        agree(json!({"pattern": "d/**"}), oracle(&tree, "d", |_, _| true))?;
        agree(json!({"pattern": "*", "path": "d"}), oracle(&tree, "d", |_, _| true))?;
        agree(json!({"pattern": "*/*"}), oracle(&tree, "", |path, _| path.matches('/').count() == 1))
    });
    found_wrong.unwrap_or_else(|failure| panic!("{failure}"));
}

/// A walker that keeps directories open, or opens what it lists, fails here.
#[cfg(unix)]
#[test]
fn twenty_thousand_files_are_searched_with_few_descriptors() {
    use std::process::Stdio;

    let directory = |number: usize| format!("{}/{number:03}", ["a", "a/b", "a/b/c", "d"][number % 4]);
    let tree = (0..20_000).fold(Tree::new(), |tree, number| match number % 100 {
        0 => tree.file(format!("{}/00.rs", directory(number / 100)), ""),
        rest => {
            std::fs::write(tree.join(format!("{}/{rest:02}.txt", directory(number / 100))), "").expect("a file");
            tree
        }
    });
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mcp-fs")]).arg(tree.path());
    command.env_remove("MCP_FS_LOG").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = crate::support::Process::start(command);
    let rust_files = found(&mut process, json!({"pattern": "*.rs"}));
    assert_eq!(rust_files.len(), 200);
    let (_, note) = crate::tools::text_and_note(&mut process, "search_files", json!({"pattern": "gone"}));
    assert!(note.is_some_and(|note| note.starts_with("[20,204 entries searched")), "all of them");
}
