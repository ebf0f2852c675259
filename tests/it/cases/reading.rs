//! Group B: reading. Bounded answers, the end of a file, large files, and special files.

use serde_json::json;

use crate::support::{Client, TestServer, Tree};
#[cfg(unix)]
use crate::support::{Process, text_of};
use crate::tools::{number_after, text_and_note};

/// modelcontextprotocol/servers #4643, #4674: a final newline counted as a line, so `tail: 1` returned nothing.
#[test]
fn b1_tail_counts_lines_as_people_do() {
    let tree = Tree::new().file("end", "a\nb\nc\n").file("no-end", "a\nb\nc").file("blank", "a\n\n");
    let mut server = TestServer::start(&tree);
    for (path, tail, want) in [
        ("end", 1, "c\n"),
        ("end", 2, "b\nc\n"),
        ("end", 3, "a\nb\nc\n"),
        ("no-end", 1, "c"),
        ("no-end", 2, "b\nc"),
        ("blank", 1, "\n"),
        ("blank", 2, "a\n\n"),
    ] {
        assert_eq!(server.tool_text("read_text_file", json!({"path": path, "tail": tail})), want, "{path} {tail}");
    }
}

/// servers #2102, #4461, rust-mcp-filesystem #35: ten lines of a long file cost the memory of all of it.
#[cfg(target_os = "linux")]
#[test]
fn b4_a_small_window_of_a_large_file_takes_little_memory() {
    use std::fmt::Write as _;

    let mut content = String::with_capacity(48 << 20);
    let mut number = 0;
    while content.len() < 48 << 20 {
        number += 1;
        let _ = writeln!(content, "line {number} {}", "x".repeat(100));
    }
    let tree = Tree::new().file("large.log", content).file("small", "x");
    let mut process = Process::spawn([tree.path()]);
    process.tool_text("read_text_file", json!({"path": "small", "head": 1}));
    let before = process.peak_memory();
    let window = json!({"path": "large.log", "offset": 100_000, "limit": 11});
    let text = process.tool_text("read_text_file", window);
    let lines: Vec<&str> = text.lines().map(|line| line.rsplit_once(' ').expect("two spaces").0).collect();
    assert_eq!(lines, (100_000..=100_010).map(|number| format!("line {number}")).collect::<Vec<_>>());
    let last = process.tool_text("read_text_file", json!({"path": "large.log", "tail": 1}));
    assert!(last.starts_with(&format!("line {number} ")), "{last}");
    let grown = process.peak_memory() - before;
    assert!(grown < 32 << 10, "{grown} KiB more for eleven lines of 48 MiB");
}

/// mcp-workspace #42, servers #1077: an answer longer than the client accepts is discarded as a whole.
#[test]
fn b5_a_long_file_is_cut_and_the_note_says_how_to_continue() {
    let line = "0123456789abcde\n";
    let tree = Tree::new().file("long.txt", line.repeat((14 << 20) / 16));
    let mut server = TestServer::start(&tree);
    let id = server.ask_modern("tools/call", json!({"name": "read_text_file", "arguments": {"path": "long.txt"}}));
    let answer = server.answer(id);
    // The text occurs once, and not again as structuredContent.
    assert!(answer.to_string().len() < 100_000, "{} bytes", answer.to_string().len());
    let result = &answer["result"];
    let (text, note) = (result["content"][0]["text"].as_str().unwrap(), result["content"][1]["text"].as_str().unwrap());
    assert!(text.len() <= 40_000 && text.len() > 30_000, "{} bytes", text.len());
    let lines = text.len() / line.len();
    assert!(note.contains("14.00 MB"), "the total: {note}");
    assert_eq!(number_after("continue with offset", note), Some(lines as u64 + 1), "{note}");
    let next = json!({"path": "long.txt", "offset": lines + 1, "limit": 1});
    assert_eq!(text_and_note(&mut server, "read_text_file", next).0, line);
}

/// servers PR #4044: a large picture was put into the model's context.
#[test]
fn b7_a_large_picture_is_refused_with_its_size_and_the_limit() {
    let tree = Tree::new().file("large.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01");
    std::fs::File::options().write(true).open(tree.join("large.png")).unwrap().set_len(20_000_000).unwrap();
    let mut server = TestServer::start(&tree);
    let text = server.tool_error("read_media_file", json!({"path": "large.png"}));
    assert!(text.contains("20,000,000") && text.contains("3,750,000") && text.len() < 1_000, "{text}");
    let error = server.error("resources/read", json!({"uri": tree.uri("large.png")}));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("20,000,000") && message.contains("3,750,000"), "{message}");
}

/// vscode #251725: a directory returned as several contents was not shown.
#[test]
fn b8_a_directory_resource_is_one_content_under_the_requested_uri() {
    let tree = Tree::new().file("d/a.txt", "").file("d/b.txt", "");
    let mut server = TestServer::start(&tree);
    for uri in [tree.uri("d"), tree.uri("d") + "/", tree.uri("")] {
        let result = server.result("resources/read", json!({"uri": uri}));
        assert_eq!(result["contents"].as_array().map(Vec::len), Some(1), "{result}");
        let item = &result["contents"][0];
        assert_eq!((&item["uri"], &item["mimeType"]), (&json!(uri), &json!("inode/directory")));
        assert!(item["text"].is_string() && item.get("blob").is_none(), "{item}");
    }
}

/// `MagicNet` PR #171, mempalace #2221, filebrowser #1155: a named pipe blocked the server, which then ignored EOF.
#[cfg(unix)]
#[test]
fn b10_special_files_neither_block_nor_are_they_read() {
    let tree = Tree::new().fifo("pipe").socket("sock").file("a.txt", "still served\n").link("to-pipe", "pipe");
    let mut process = Process::spawn([tree.path()]);
    let names = ["pipe", "sock", "to-pipe"];
    // All requests are sent before any answer is awaited: eight concurrent reads of a pipe used to take all threads.
    let mut asked = Vec::new();
    for path in names.into_iter().chain(["pipe"; 8]) {
        for tool in ["read_text_file", "read_media_file"] {
            let id = process.ask_modern("tools/call", json!({"name": tool, "arguments": {"path": path}}));
            asked.push((tool, path, id));
        }
    }
    for (tool, path, id) in asked {
        let result = process.answer(id)["result"].take();
        let said = text_of(&result);
        assert!(result["isError"] == true && said.contains("not a regular file"), "{tool} {path}: {said}");
    }
    let many = text_of(&process.tool("read_multiple_files", json!({"paths": ["pipe", "a.txt", "sock"]})));
    assert_eq!(many.matches("not a regular file").count(), 2, "{many}");
    for path in names {
        let code = process.error("resources/read", json!({"uri": tree.uri(path)}))["code"].clone();
        assert_eq!(code, -32603, "{path}");
        assert!(process.tool_text("get_file_info", json!({"path": path})).contains("isFile: false"), "{path}");
    }
    let listed = process.tool_text("list_directory", json!({}));
    assert_eq!(listed, "[FILE] a.txt\n[OTHER] pipe\n[OTHER] sock\n[LINK] to-pipe");
    assert_eq!(process.tool_text("directory_tree", json!({})).matches("\"other\"").count(), 2);
    let list = process.result("resources/list", json!({}));
    assert_eq!(list["resources"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(process.tool_text("read_text_file", json!({"path": "a.txt"})), "still served\n");
    process.finish();
}

/// The same for a device. Only root can create one, and not in every container.
#[cfg(target_os = "linux")]
#[test]
fn b10_a_device_is_not_read() {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

    let tree = Tree::new();
    let mode = Mode::from_raw_mode(0o666);
    if let Err(error) = mknodat(CWD, tree.join("zero"), FileType::CharacterDevice, mode, makedev(1, 5)) {
        return crate::sandbox::skipped("a device in the served directory", &error.to_string());
    }
    let mut server = TestServer::start(&tree);
    for tool in ["read_text_file", "read_media_file"] {
        let text = server.tool_error(tool, json!({"path": "zero"}));
        assert!(text.contains("not a regular file"), "{tool}: {text}");
    }
    assert_eq!(server.tool_text("list_directory", json!({})), "[OTHER] zero");
}
