//! `read_multiple_files`: one block per file in the requested order; an error in one does not affect the others.

use serde_json::json;

use super::{blocks, number_after};
use crate::support::{Client, TestServer, Tree};

#[test]
fn good_and_bad_files_each_get_their_block() {
    let tree =
        Tree::new().file("a.txt", "one\ntwo\n").file("d/b.txt", "no end").file("e.txt", "").file("x.bin", "a\0b");
    let paths = ["a.txt", "gone.txt", "d/b.txt", "d", "../secret", "e.txt", "x.bin", "a.txt"];
    let result = TestServer::start(&tree).tool("read_multiple_files", json!({"paths": paths}));
    assert_ne!(result["isError"], true, "one failure does not fail the rest");
    let blocks = blocks(&result);
    assert_eq!(blocks.len(), paths.len(), "{blocks:?}");
    for (index, whole) in
        [(0, "a.txt:\none\ntwo\n"), (2, "d/b.txt:\nno end"), (5, "e.txt:\n"), (7, "a.txt:\none\ntwo\n")]
    {
        assert_eq!(blocks[index], whole);
    }
    for (index, begin, reason) in [
        (1, "gone.txt: Error - ", "not found"),
        (3, "d: Error - ", "directory"),
        (4, "../secret: Error - ", "leads outside"),
        (6, "x.bin: Error - ", "binary"),
    ] {
        assert!(blocks[index].starts_with(begin) && blocks[index].contains(reason), "{}", blocks[index]);
    }
}

#[test]
fn many_files_share_the_room_of_one_answer() {
    let line = "0123456789\n";
    let tree = Tree::new().file("a", line.repeat(50)).file("b", line.repeat(80)).file("c", line);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let result = server.tool("read_multiple_files", json!({"paths": ["a", "b", "c"]}));
    let blocks = blocks(&result);
    assert_eq!(blocks[0], format!("a:\n{}", line.repeat(50)));
    let next = number_after("continue with offset", &blocks[1]).expect("b is cut and says how to go on");
    let kept = usize::try_from(next - 1).unwrap();
    assert!((1..80).contains(&kept) && blocks[1].starts_with(&format!("b:\n{}", line.repeat(kept))), "{}", blocks[1]);
    let rest = server.tool_text("read_text_file", json!({"path": "b", "offset": next}));
    assert_eq!(rest, line.repeat(80 - kept));
    assert!(
        blocks[2].starts_with("c: ") || blocks[2] == format!("c:\n{line}"),
        "c is given or told why not: {}",
        blocks[2]
    );
}

/// Clients cut or reject more than about 50,000 characters, whatever they consist of.
#[test]
fn a_hundred_long_paths_stay_within_the_limit() {
    let mut tree = Tree::new();
    let paths: Vec<String> = (0..100).map(|number| format!("{}/{number:03}.txt", "d".repeat(200))).collect();
    for path in &paths {
        tree = tree.file(path, "0123456789\n".repeat(1_000));
    }
    let result = TestServer::start(&tree).tool("read_multiple_files", json!({"paths": paths}));
    let bytes: usize = blocks(&result).iter().map(String::len).sum();
    assert!(bytes <= 50_000, "{bytes} bytes in one answer");
}

#[test]
fn a_byte_order_mark_is_left_out_and_named_in_the_block() {
    let tree = Tree::new().file("bom.txt", b"\xEF\xBB\xBFhello\n");
    let result = TestServer::start(&tree).tool("read_multiple_files", json!({"paths": ["bom.txt"]}));
    let block = &blocks(&result)[0];
    assert!(block.starts_with("bom.txt:\nhello\n") && block.contains("UTF-8 with BOM"), "{block}");
}

#[test]
fn one_to_a_hundred_paths_are_accepted() {
    let tree = Tree::new().file("a", "x");
    let mut server = TestServer::start(&tree);
    let result = server.tool("read_multiple_files", json!({"paths": vec!["a"; 100]}));
    assert_eq!(blocks(&result), vec!["a:\nx"; 100]);
    for paths in [json!([]), json!(vec!["a"; 101]), json!("a"), json!([1]), json!([null]), json!(null)] {
        let text = server.tool_error("read_multiple_files", json!({"paths": paths}));
        assert!(text.contains("\"paths\"") && text.contains("100"), "{paths}: {text}");
    }
}
