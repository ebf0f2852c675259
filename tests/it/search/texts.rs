//! `search_text`: which files it searches, and what they may contain.

use serde_json::{Value, json};

use crate::support::{Client as _, TestServer, Tree};
use crate::tools::{text_and_note, with};

/// The text of an answer and the note behind it.
fn grep(server: &mut TestServer, arguments: Value) -> (String, String) {
    let (text, note) = text_and_note(server, "search_text", arguments);
    (text, note.expect("a note"))
}

/// The paths of files that contain the query.
fn paths(server: &mut TestServer, arguments: &Value) -> Vec<String> {
    let (text, _) = grep(server, with(arguments, &json!({"filesOnly": true})));
    text.lines().filter(|line| *line != "No matches found").map(str::to_owned).collect()
}

fn project() -> Tree {
    let mut tree = Tree::new().file(".gitignore", "/build/\n*.log\n").file("src/.ignore", "gen.rs\n");
    for path in [
        "main.rs",
        "notes.log",
        "build/out.rs",
        "src/lib.rs",
        "src/gen.rs",
        "src/a/mod.rs",
        "src/a/mod.py",
        ".git/config",
        ".hidden/x.rs",
    ] {
        tree = tree.file(path, "needle\n");
    }
    tree
}

#[test]
fn path_glob_and_exclusions_select_the_files() {
    let tree = project();
    let mut server = TestServer::start(&tree);
    let uri = tree.uri("src/a");
    let absolute = tree.join("src/a").display().to_string();
    for (options, want) in [
        (json!({}), "main.rs .hidden/x.rs src/lib.rs src/a/mod.py src/a/mod.rs"),
        (json!({"path": "."}), "main.rs .hidden/x.rs src/lib.rs src/a/mod.py src/a/mod.rs"),
        (json!({"path": "src"}), "src/lib.rs src/a/mod.py src/a/mod.rs"),
        (json!({"path": absolute}), "src/a/mod.py src/a/mod.rs"),
        (json!({"path": uri}), "src/a/mod.py src/a/mod.rs"),
        // A single file, even one that a walk leaves out.
        (json!({"path": "src/lib.rs"}), "src/lib.rs"),
        (json!({"path": "notes.log"}), "notes.log"),
        (json!({"path": "build"}), "build/out.rs"),
        (json!({"path": ".git"}), ".git/config"),
        // Without a slash at any depth, with one relative to `path`.
        (json!({"glob": "*.rs"}), "main.rs .hidden/x.rs src/lib.rs src/a/mod.rs"),
        (json!({"glob": "mod.*"}), "src/a/mod.py src/a/mod.rs"),
        (json!({"glob": "src/*"}), "src/lib.rs"),
        (json!({"glob": "src/**"}), "src/lib.rs src/a/mod.py src/a/mod.rs"),
        (json!({"glob": "a/*.rs", "path": "src"}), "src/a/mod.rs"),
        (json!({"glob": "*.{py,md}"}), "src/a/mod.py"),
        (json!({"glob": "a"}), "src/a/mod.py src/a/mod.rs"),
        (json!({"excludePatterns": ["src"]}), "main.rs .hidden/x.rs"),
        (json!({"excludePatterns": ["*.rs"]}), "src/a/mod.py"),
        (json!({"excludePatterns": ["/a/**"], "path": "src"}), "src/lib.rs"),
        (json!({"excludePatterns": []}), "main.rs .hidden/x.rs src/lib.rs src/a/mod.py src/a/mod.rs"),
        (json!({"includeIgnored": true, "glob": "*.log"}), "notes.log"),
        (
            json!({"includeIgnored": true, "glob": "*.rs"}),
            "main.rs .hidden/x.rs build/out.rs src/gen.rs src/lib.rs src/a/mod.rs",
        ),
    ] {
        let arguments = with(&json!({"query": "needle"}), &options);
        assert_eq!(paths(&mut server, &arguments).join(" "), want, "{options}");
    }
}

#[test]
fn a_path_that_cannot_be_searched_is_named_in_the_error() {
    let tree = project();
    let mut server = TestServer::start(&tree);
    for (options, want) in [
        (json!({"path": "missing"}), "missing: not found"),
        (json!({"path": "../secret"}), "outside"),
        (json!({"glob": "src/[a"}), "src/[a\n        ^"),
        (json!({"excludePatterns": ["[z-a"]}), "[z-a"),
        (json!({"pattern": "x"}), "pattern"),
    ] {
        let error = server.tool_error("search_text", with(&json!({"query": "needle"}), &options));
        assert!(error.to_lowercase().contains(want), "{options}: {error}");
    }
}

#[test]
fn binary_files_are_skipped_and_counted() {
    let tree = Tree::new()
        .file("a.bin", b"needle\n\0\n")
        .file("big.bin", [b"needle\n", &b"x\n".repeat(5 << 20)[..], b"\0"].concat())
        .file("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR needle")
        .file("text.txt", "needle\n")
        .file("empty", "");
    let mut server = TestServer::start(&tree);
    let (text, note) = grep(&mut server, json!({"query": "needle"}));
    assert_eq!(text, "text.txt:1: needle");
    assert_eq!(note, "[1 match in 1 file; 2 files (7 B) searched; 3 binary files skipped]");
    let (text, note) = grep(&mut server, json!({"query": "needle", "path": "a.bin"}));
    assert_eq!((text.as_str(), note.as_str()), ("No matches found", "[0 files (0 B) searched; 1 binary file skipped]"));
}

/// The bytes of a text in UTF-16, with its mark.
fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// Long enough for its encoding to be detected.
const FRENCH: &str =
    "Voil\u{e0}, c'est pr\u{ea}t\r\nLe gar\u{e7}on a pos\u{e9} deux cr\u{e8}mes br\u{fb}l\u{e9}es\r\nfin\r\n";

fn encoded() -> Tree {
    let latin1: Vec<u8> = FRENCH.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    Tree::new()
        .file("utf8.txt", FRENCH)
        .file("bom.txt", format!("\u{feff}{FRENCH}"))
        .file("le.txt", utf16(FRENCH, u16::to_le_bytes))
        .file("be.txt", utf16(FRENCH, u16::to_be_bytes))
        .file("latin1.txt", latin1)
}

#[test]
fn every_encoding_that_can_be_read_can_be_searched() {
    let tree = encoded();
    let mut server = TestServer::start(&tree);
    for (query, options) in [
        ("cr\u{e8}mes", json!({})),
        ("CR\u{c8}MES", json!({"caseSensitive": false})),
        (r"cr.mes\b", json!({"regex": true})),
        ("gar\u{e7}on|nobody", json!({"regex": true})),
    ] {
        for path in ["utf8.txt", "bom.txt", "le.txt", "be.txt", "latin1.txt"] {
            let (text, _) = grep(&mut server, with(&json!({"query": query, "path": path}), &options));
            let want = format!("{path}:2: Le gar\u{e7}on a pos\u{e9} deux cr\u{e8}mes br\u{fb}l\u{e9}es");
            assert_eq!(text, want, "{query} {options}");
        }
    }
    let (text, _) = grep(&mut server, json!({"query": "^Voil\u{e0}", "regex": true, "path": "bom.txt"}));
    assert_eq!(text, "bom.txt:1: Voil\u{e0}, c'est pr\u{ea}t", "the mark is not part of the text");
}

#[test]
fn matches_are_shown_decoded_whatever_the_query() {
    let tree = encoded();
    let mut server = TestServer::start(&tree);
    for path in ["utf8.txt", "le.txt", "be.txt", "latin1.txt"] {
        let (text, _) = grep(&mut server, json!({"query": "deux", "path": path}));
        assert_eq!(text, format!("{path}:2: Le gar\u{e7}on a pos\u{e9} deux cr\u{e8}mes br\u{fb}l\u{e9}es"));
    }
}

#[test]
fn a_file_of_more_than_8_mib_is_searched_to_its_end() {
    let line = "no such thing on this line, which is one of many\n";
    let count = (9 << 20) / line.len();
    let tree = Tree::new()
        .file("utf8.txt", format!("{}the n\u{e9}edle\r\nthe end", line.repeat(count)))
        .file("le.txt", utf16(&format!("{}the n\u{e9}edle\r\nthe end", line.repeat(count / 2)), u16::to_le_bytes));
    let mut server = TestServer::start(&tree);
    for (path, lines) in [("utf8.txt", count), ("le.txt", count / 2)] {
        assert!(std::fs::metadata(tree.join(path)).expect("a file").len() > 8 << 20, "{path} is not streamed");
        let (text, note) = grep(&mut server, json!({"query": "n\u{e9}edle", "path": path, "contextLines": 1}));
        let (before, after) = (lines, lines + 2);
        let want = format!(
            "{path}-{before}- {}\n{path}:{}: the n\u{e9}edle\n{path}-{after}- the end",
            line.trim_end(),
            lines + 1
        );
        assert_eq!(text, want);
        assert!(note.contains("1 match in 1 file; 1 file"), "{note}");
    }
}

/// Denied names and version control's own files are not searched, whatever is requested.
#[test]
fn denied_files_are_never_searched() {
    let tree = Tree::new()
        .file(".env", "needle")
        .file("sub/.env.local", "needle")
        .file(".ssh/config", "needle")
        .file("private/key.txt", "needle")
        .file("seen.txt", "needle");
    let mut server = TestServer::builder(&tree).deny("private/").start();
    for options in [json!({}), json!({"includeIgnored": true}), json!({"glob": ".env*"}), json!({"path": "sub"})] {
        let arguments = with(&json!({"query": "needle"}), &options);
        let found = paths(&mut server, &arguments);
        assert!(found.iter().all(|path| path == "seen.txt"), "{options}: {found:?}");
    }
    for path in [".env", "sub/.env.local", ".ssh", ".ssh/config", "private", "private/key.txt"] {
        let error = server.tool_error("search_text", json!({"query": "needle", "path": path}));
        assert!(error.contains("denied"), "{path}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_unless_named() {
    let tree = Tree::new()
        .file("real/a.txt", "needle")
        .link("to-file", "real/a.txt")
        .link("to-dir", "real")
        .link("real/loop", "..")
        .link("out", "../secret")
        .link("out-dir", "{outside}");
    let mut server = TestServer::start(&tree);
    assert_eq!(paths(&mut server, &json!({"query": "needle"})), ["real/a.txt"]);
    assert_eq!(paths(&mut server, &json!({"query": "SECRET"})), [] as [String; 0]);
    for (path, want) in
        [("to-file", "real/a.txt"), ("to-dir", "to-dir/a.txt"), ("real/loop/real", "real/loop/real/a.txt")]
    {
        assert_eq!(paths(&mut server, &json!({"query": "needle", "path": path})), [want], "{path}");
    }
    for path in ["out", "out-dir", "out-dir/secret"] {
        let error = server.tool_error("search_text", json!({"query": "SECRET", "path": path}));
        assert!(error.contains("outside"), "{path}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn special_files_are_neither_opened_nor_counted() {
    let tree = Tree::new().fifo("a-fifo").socket("a-socket").file("b.txt", "needle");
    let mut server = TestServer::start(&tree);
    let (text, note) = grep(&mut server, json!({"query": "needle"}));
    assert_eq!((text.as_str(), note.as_str()), ("b.txt:1: needle", "[1 match in 1 file; 1 file (6 B) searched]"));
    let error = server.tool_error("search_text", json!({"query": "needle", "path": "a-fifo"}));
    assert!(error.contains("a-fifo"), "{error}");
}

/// An answer is read line by line: a name of two lines must not look like two names. Its URI can be sent back.
#[cfg(target_os = "linux")]
#[test]
fn names_that_do_not_fit_on_a_line_are_shown_as_uris() {
    let names: [&[u8]; 5] = [b"new\nline.txt", b"\xFF.txt", b"esc\x1b[0m.txt", b"plain.txt", "\u{202e}.txt".as_bytes()];
    let mut tree = Tree::new();
    for name in names {
        tree = tree.file_bytes_name(name, "the needle\n");
    }
    let mut server = TestServer::start(&tree);
    let (text, _) = grep(&mut server, json!({"query": "needle"}));
    assert_eq!(text.lines().count(), names.len(), "{text}");
    let plain = text.lines().filter(|line| !line.starts_with("file:///")).collect::<Vec<_>>();
    assert_eq!(plain, ["plain.txt:1: the needle"]);
    for path in paths(&mut server, &json!({"query": "needle"})) {
        let (again, _) = grep(&mut server, json!({"query": "needle", "path": path}));
        assert_eq!(again, format!("{path}:1: the needle"));
        assert_eq!(server.tool_text("read_text_file", json!({"path": path})), "the needle\n", "{path}");
    }
}
