//! Hostile names: each is shown on one line, and what is shown leads back to it and to no other, also in changes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use super::{completed, everything};
use crate::resources::{bytes_of, list_all, read};
use crate::sandbox::FILE_OPERATIONS;
use crate::search::found;
use crate::support::{Client, TestServer, Tree};
use crate::writes::writing;

/// Names that break lines, options, URIs or globs, or deceive the eye. Each file contains its own name.
fn hostile() -> Vec<Vec<u8>> {
    // Special to shells, options, URIs, globs and Windows.
    let signs =
        r#"-rf -- ~ ... a:b c:\x back\slash % %2e%2e %00 %41 # a#b ? a?offset=2 & * ** [a] {a,b} !x " ' `id` $HOME"#;
    let schemes = ["file:", "file:a", "http:a"];
    let invisible = [
        "new\nline",
        "cr\rlf",
        "tab\t",
        "esc\u{1b}[2J",
        "\u{7f}",
        "\u{202e}txt.exe",
        "line\u{2028}separator",
        "tag\u{e0041}",
        "joi\u{200d}ned",
    ];
    let spaces = [" ", " lead", "trail ", "\u{feff}mark", "zero\u{200b}width"];
    // Look-alikes and other forms: Latin, Greek and Cyrillic A, K and the kelvin sign, a ligature, dotless i.
    let alike = "caf\u{e9} cafe\u{301} A \u{391} \u{410} K \u{212a} \u{fb01} fi I \u{131} i\u{307}";
    let text = signs.split(' ').chain(schemes).chain(invisible).chain(spaces).chain(alike.split(' '));
    let bytes: [&[u8]; 4] = [b"bad\xff", b"\xc0\xae\xc0\xae", b"half\xe2\x82", b"\xed\xa0\x80"];
    let long = ["x".repeat(255), "\u{1f600}".repeat(63), "\u{202e}".repeat(85)];
    let all = text.map(|name| name.as_bytes().to_vec()).chain(bytes.map(<[u8]>::to_vec));
    all.chain(long.map(String::into_bytes)).chain([vec![0xff; 255], vec![b'\n'; 255]]).collect()
}

fn tree() -> Tree {
    hostile().iter().fold(Tree::new(), |tree, name| tree.file_bytes_name(name, name))
}

/// The names in DIR as another program sees them.
fn on_disk(tree: &Tree) -> BTreeSet<Vec<u8>> {
    let entries = fs::read_dir(tree.path()).expect("the root");
    entries.map(|entry| entry.expect("an entry").file_name().as_bytes().to_vec()).collect()
}

/// The paths that a listing shows, one per line.
fn shown(server: &mut TestServer) -> Vec<String> {
    let listed = server.tool_text("list_directory", json!({}));
    listed.lines().map(|line| line.strip_prefix("[FILE] ").expect("a file").to_owned()).collect()
}

#[test]
fn every_shown_name_leads_to_its_own_file_in_every_operation() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let shown = shown(&mut server);
    assert_eq!(shown.len(), hostile().len());
    assert_eq!(found(&mut server, json!({"pattern": "*"})), shown);
    let mut seen = BTreeSet::new();
    for path in &shown {
        assert!(!path.contains(mcp_fs::hostile::is_hostile), "{path:?}");
        let media = server.tool("read_media_file", json!({"path": path}));
        seen.insert(bytes_of(&media["content"][0]["resource"]));
        for operation in FILE_OPERATIONS.into_iter().filter(|operation| *operation != crate::sandbox::READ_RESOURCE) {
            let answer = crate::sandbox::ask(&mut server, &tree, operation, path);
            assert!(!answer.is_refusal(), "{operation} {path}: {answer:?}");
        }
        let info = server.tool_text("get_file_info", json!({"path": path}));
        assert!(info.contains("isFile: true"), "{path}: {info}");
    }
    assert_eq!(seen, on_disk(&tree));
    let listed = list_all(&mut server);
    let read: BTreeSet<_> =
        listed.iter().map(|file| bytes_of(&read(&mut server, file["uri"].as_str().unwrap()))).collect();
    assert_eq!(read, seen);
    everything(&mut server, &tree, "");
}

#[test]
fn completions_can_be_read_after_the_template_prefix() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let offered = completed(&mut server, &tree, "");
    assert_eq!(offered.len(), hostile().len());
    let base = tree.uri("") + "/";
    let read = offered.iter().map(|path| {
        let item = server.result("resources/read", json!({"uri": base.clone() + path}));
        bytes_of(&item["contents"][0])
    });
    assert_eq!(read.collect::<BTreeSet<_>>(), on_disk(&tree));
}

#[test]
fn every_name_can_be_copied_written_moved_and_deleted_and_no_other_is_touched() {
    let tree = tree();
    let mut server = writing(&tree);
    for path in shown(&mut server) {
        let before = on_disk(&tree);
        server.tool_text("copy_file", json!({"source": path, "destination": "safe"}));
        let name = fs::read(tree.join("safe")).expect("a copy");
        server.tool_text("write_file", json!({"path": path, "content": "written\n"}));
        assert_eq!(fs::read(tree.join(OsStr::from_bytes(&name))).expect("a file"), b"written\n", "{path}");
        server.tool_text("edit_file", json!({"path": path, "edits": [{"oldText": "written", "newText": "edited"}]}));
        assert_eq!(fs::read(tree.join(OsStr::from_bytes(&name))).expect("a file"), b"edited\n", "{path}");
        server.tool_text("delete_file", json!({"path": path}));
        let mut without = before.clone();
        without.remove(&name);
        without.insert(b"safe".to_vec());
        assert_eq!(on_disk(&tree), without, "{path}");
        server.tool_text("move_file", json!({"source": "safe", "destination": "inner/safe", "createParents": true}));
        server.tool_text("delete_file", json!({"path": "inner", "recursive": true}));
    }
    assert_eq!(on_disk(&tree), BTreeSet::new());
}

#[test]
fn every_operation_rejects_a_name_of_256_bytes() {
    let tree = Tree::new().file("a", "a\n");
    let mut server = writing(&tree);
    let name = "x".repeat(256);
    for (operation, answer) in everything(&mut server, &tree, &name) {
        assert!(answer.words().contains("too long"), "{operation}: {answer:?}");
    }
    for (tool, arguments) in [
        ("write_file", json!({"path": name, "content": ""})),
        ("create_directory", json!({"path": name})),
        ("copy_file", json!({"source": "a", "destination": name})),
        ("move_file", json!({"source": "a", "destination": name})),
        ("delete_file", json!({"path": name})),
    ] {
        let error = server.tool_error(tool, arguments);
        assert!(error.contains("too long"), "{tool}: {error}");
    }
    assert_eq!(on_disk(&tree), BTreeSet::from([b"a".to_vec()]));
}
