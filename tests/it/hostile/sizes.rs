//! Files of a terabyte and more that consist of holes: answers about them are immediate, and nobody reads or writes a
//! terabyte of zeros.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use serde_json::json;

use super::{everything, said};
use crate::resources::read;
use crate::sandbox::{READ_RESOURCE, skipped};
use crate::support::{Client, Process, TestServer, Tree};
use crate::writes::writing;

const TERABYTE: u64 = 1 << 40;

/// Files that begin as given and continue as holes; one only of zeros, and one of text that fills the part that is
/// examined to tell its type.
fn tree() -> Tree {
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    let text = b"needle\n".repeat(80 << 10);
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(b"n\0\n\0".repeat(40 << 10)).collect();
    let tree = Tree::new().file("zeros", "").file("short.txt", "needle\n").file("text.txt", text);
    let tree = tree.file("picture.png", picture).file("wide.txt", wide);
    for name in FILES {
        let file = fs::File::options().write(true).open(tree.join(name)).expect("a file");
        file.set_len(TERABYTE).expect("a terabyte of nothing");
    }
    tree
}

const FILES: [&str; 5] = ["zeros", "short.txt", "text.txt", "picture.png", "wide.txt"];

#[test]
fn every_request_for_a_terabyte_is_answered_in_little_memory() {
    let tree = tree();
    let mut process = Process::spawn(["--watch=off".as_ref(), tree.path()]);
    process.tool("list_directory", json!({}));
    let (memory, open) = (process.peak_memory() >> 10, process.descriptors());
    for name in FILES {
        for (operation, answer) in everything(&mut process, &tree, name) {
            let gives_text =
                name == "text.txt" || name == "wide.txt" || matches!(operation, "search_text" | "get_file_info");
            assert!(answer.is_refusal() || gives_text, "{operation} {name}: {answer:?}");
        }
        let info = process.tool_text("get_file_info", json!({"path": name}));
        assert!(info.contains("size: 1099511627776"), "{info}");
        for lines in [json!({"head": 3}), json!({"tail": 3}), json!({"offset": 2, "limit": 1})] {
            let mut arguments = lines;
            arguments["path"] = json!(name);
            process.tool("read_text_file", arguments);
        }
    }
    let listed = process.tool_text("list_directory_with_sizes", json!({"sortBy": "size"}));
    assert!(listed.ends_with("Combined size: 5.00 TB"), "{listed}");
    // It is binary as soon as the first hole is read.
    let (text, note) = said(&mut process, "search_text", json!({"query": "gone"}));
    assert!(text == crate::search::NOTHING && note.contains("5 binary files skipped"), "{text} {note}");
    assert_eq!(process.descriptors(), open);
    let grown = (process.peak_memory() >> 10) - memory;
    assert!(grown < 100, "{grown} MiB more than before");
}

#[test]
fn text_before_a_hole_is_returned_without_the_hole() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let text = |server: &mut TestServer, lines| said(server, "read_text_file", lines);
    let (part, note) = text(&mut server, json!({"path": "text.txt", "limit": 2}));
    assert_eq!(part, "needle\nneedle\n");
    assert!(note.contains("lines 1-2 of a file of 1.00 TB"), "{note}");
    let item = read(&mut server, &(tree.uri("text.txt") + "?offset=81919&limit=2"));
    assert_eq!(item["text"], "needle\nneedle\n");
    let error = server.tool_error("read_text_file", json!({"path": "text.txt", "offset": 81_921}));
    assert!(error.contains("binary"), "{error}");
}

/// A line that does not exist is looked for as long as a search may take, which is also how long others wait.
#[test]
fn lines_after_a_hole_are_looked_for_within_the_search_time() {
    let tree = tree();
    let builder = TestServer::builder(&tree).limits(|limits| limits.search_time = Duration::from_millis(100));
    let mut server = builder.start();
    for name in ["text.txt", "wide.txt"] {
        let error = server.tool_error("read_text_file", json!({"path": name, "offset": 1_000_000}));
        assert!(error.contains("within 0 seconds") && error.contains("tail"), "{error}");
    }
    let several = server.tool_text("read_multiple_files", json!({"paths": ["text.txt"]}));
    assert!(several.contains("continue with offset"), "{several}");
    let error = server.error(READ_RESOURCE, json!({"uri": tree.uri("text.txt") + "?offset=1000000"}));
    assert!(error["code"] == -32603 && error["message"].as_str().unwrap().contains("not found in"), "{error}");
}

#[test]
fn a_terabyte_of_holes_is_copied_moved_and_deleted_quickly() {
    let tree = Tree::new();
    let file = fs::File::create(tree.join("sparse")).expect("a file");
    std::os::unix::fs::FileExt::write_all_at(&file, b"data", TERABYTE / 2).expect("written");
    file.set_len(TERABYTE).expect("a hole at its end");
    let mut server = writing(&tree);
    server.tool_text("copy_file", json!({"source": "sparse", "destination": "copy"}));
    fs::create_dir(tree.join("tree")).expect("a directory");
    fs::rename(tree.join("sparse"), tree.join("tree/sparse")).expect("moved");
    server.tool_text("copy_file", json!({"source": "tree", "destination": "tree-copy"}));
    for name in ["copy", "tree-copy/sparse"] {
        let copy = fs::metadata(tree.join(name)).expect("a copy");
        assert!(copy.len() == TERABYTE && copy.blocks() * 512 < 1 << 20, "{name}: {} blocks", copy.blocks());
    }
    let error = server.tool_error("edit_file", json!({"path": "copy", "edits": [{"oldText": "data", "newText": "x"}]}));
    assert!(error.contains("MiB") || error.contains("bytes"), "{error}");
    server.tool_text("write_file", json!({"path": "copy", "content": "end\n", "append": true}));
    assert_eq!(fs::metadata(tree.join("copy")).expect("a copy").len(), TERABYTE + 4);
    server.tool_text("write_file", json!({"path": "copy", "content": "small\n"}));
    server.tool_text("move_file", json!({"source": "tree/sparse", "destination": "moved"}));
    server.tool_text("delete_file", json!({"path": "moved"}));
    for path in ["tree", "tree-copy"] {
        server.tool_text("delete_file", json!({"path": path, "recursive": true}));
    }
    assert_eq!(crate::writes::names(&tree, ""), ["copy"]);
}

/// Files can be so large that the sum of a few exceeds 64 bits.
#[test]
fn sums_of_sizes_do_not_overflow() {
    let memory = std::path::Path::new("/dev/shm");
    let Ok(tree) = tempfile::tempdir_in(memory) else {
        return skipped("files of eight exabytes", "no /dev/shm");
    };
    for name in ["a", "b", "c"] {
        if fs::File::create(tree.path().join(name)).and_then(|file| file.set_len(i64::MAX as u64)).is_err() {
            return skipped("files of eight exabytes", "/dev/shm does not take them");
        }
    }
    let mut process = Process::spawn([tree.path()]);
    let listed = process.tool_text("list_directory_with_sizes", json!({}));
    assert!(listed.contains("8388608.00 TB") && listed.ends_with("Combined size: 25165824.00 TB"), "{listed}");
    for name in ["a", "b", "c"] {
        process.tool("read_text_file", json!({"path": name, "tail": 1}));
        process.tool_error("read_media_file", json!({"path": name}));
    }
    assert!(said(&mut process, "search_text", json!({"query": "x"})).1.contains("3 binary files"));
}
