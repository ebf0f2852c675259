//! `list_directory_with_sizes`: the official columns and totals.

use serde_json::json;

use super::text_and_note;
use crate::support::{Client, TestServer, Tree};

fn tree() -> Tree {
    Tree::new()
        .file("b.txt", "12")
        .file("a.bin", vec![0; 1_536])
        .file("c", "")
        .dir("sub")
        .file("d.dat", vec![0; 2 << 20])
}

/// What the official server prints (2026.8.31, sorted by name), except for the spaces at the end of a directory's line.
#[test]
fn columns_and_totals_are_the_official_ones() {
    let (text, note) = text_and_note(&mut TestServer::start(&tree()), "list_directory_with_sizes", json!({}));
    let want = "\
[FILE] a.bin                             1.50 KB
[FILE] b.txt                                 2 B
[FILE] c                                     0 B
[FILE] d.dat                             2.00 MB
[DIR] sub

Total: 4 files, 1 directories
Combined size: 2.00 MB";
    assert_eq!((text.as_str(), note), (want, None));
}

#[test]
fn they_are_sorted_by_size_on_request_largest_first() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    let names = |text: &str| -> Vec<String> {
        let lines = text.lines().take_while(|line| !line.is_empty());
        lines.map(|line| line.split_whitespace().nth(1).expect("a name").to_owned()).collect()
    };
    let by = |server: &mut TestServer, arguments| names(&server.tool_text("list_directory_with_sizes", arguments));
    let by_size = by(&mut server, json!({"sortBy": "size"}));
    assert_eq!(by_size[..3], ["d.dat", "a.bin", "b.txt"]);
    let by_name = ["a.bin", "b.txt", "c", "d.dat", "sub"];
    assert_eq!(by(&mut server, json!({"sortBy": "name"})), by_name);
    assert_eq!(by(&mut server, json!({"sortBy": null})), by_name);
}

#[test]
fn totals_are_those_of_the_whole_directory_in_every_part() {
    let mut server_tree = tree();
    server_tree = server_tree.file("sub/not-counted", "x".repeat(9_999));
    let mut server = TestServer::start(&server_tree);
    let (text, note) = text_and_note(&mut server, "list_directory_with_sizes", json!({"offset": 2, "limit": 1}));
    assert!(text.starts_with("[FILE] b.txt"), "{text}");
    assert!(text.ends_with("\n\nTotal: 4 files, 1 directories\nCombined size: 2.00 MB"), "{text}");
    assert!(note.is_some_and(|note| note.contains("2-2 of 5") && note.contains("continue with offset 3")));
}

#[test]
fn an_empty_directory_has_totals_of_nothing() {
    let tree = Tree::new().dir("d");
    let text = TestServer::start(&tree).tool_text("list_directory_with_sizes", json!({"path": "d"}));
    assert!(text.ends_with("Total: 0 files, 0 directories\nCombined size: 0 B"), "{text}");
}

#[test]
fn a_long_name_shifts_the_size_column() {
    let name = "n".repeat(45);
    let tree = Tree::new().file(&name, "12345");
    let text = TestServer::start(&tree).tool_text("list_directory_with_sizes", json!({}));
    assert_eq!(text.lines().next(), Some(format!("[FILE] {name}        5 B").as_str()));
}

#[cfg(unix)]
#[test]
fn a_link_has_no_size_and_is_not_counted_as_a_file() {
    let tree = Tree::new().file("f", "12345").link("l", "f").fifo("p");
    let text = TestServer::start(&tree).tool_text("list_directory_with_sizes", json!({}));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1..3], ["[LINK] l", "[OTHER] p"]);
    assert_eq!(lines[4..], ["Total: 1 files, 0 directories", "Combined size: 5 B"]);
}

#[test]
fn an_unknown_order_is_rejected() {
    let tree = tree();
    let mut server = TestServer::start(&tree);
    for wrong in [json!("age"), json!("SIZE"), json!(1), json!(["size"])] {
        let text = server.tool_error("list_directory_with_sizes", json!({"sortBy": wrong}));
        assert!(text.contains("\"sortBy\"") && text.contains("\"name\"") && text.contains("\"size\""), "{text}");
    }
}
