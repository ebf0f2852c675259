//! `read_text_file` with files longer than an answer: what is returned, and that following its note works.

use std::fmt::Write as _;

use serde_json::json;

use super::{number_after, text_and_note};
use crate::support::{Client, TestServer, Tree};

/// Follows the notes from the beginning to the end; no part may exceed `max`.
fn read_on(client: &mut impl Client, path: &str, max: usize) -> String {
    let (mut whole, mut offset, mut column) = (String::new(), 1, 1);
    for _ in 0..10_000 {
        let arguments = json!({"path": path, "offset": offset, "column": column});
        let (text, note) = text_and_note(client, "read_text_file", arguments);
        assert!(text.len() <= max, "{} bytes, and at most {max} are allowed", text.len());
        whole += &text;
        let note = note.unwrap_or_default();
        let Some(next) = number_after("continue with offset", &note) else { return whole };
        let next = (next, number_after("column", &note).unwrap_or(1));
        assert!(next > (offset, column), "{note} does not go on from {offset}, {column}");
        (offset, column) = next;
    }
    panic!("the notes never come to an end");
}

fn many_lines() -> String {
    let mut text = String::new();
    for number in 0..400 {
        let _ = writeln!(text, "{number} {}", "\u{e9}\u{1f600}x".repeat(number % 13));
        if number % 7 == 0 {
            text += "\r\n\n";
        }
        if number % 100 == 50 {
            text += &"\u{65e5}\u{672c}z".repeat(500);
            text += "\n";
        }
    }
    text
}

#[test]
fn reading_part_after_part_yields_the_file() {
    for end in ["", "\n", "no newline at the end", "\r"] {
        let content = many_lines() + end;
        let tree = Tree::new().file("long.txt", &content);
        let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
        assert!(read_on(&mut server, "long.txt", 1_000) == content, "end {end:?}: the parts are not the file");
    }
}

#[test]
fn by_default_an_answer_has_at_most_40_000_bytes() {
    let content = many_lines().repeat(10);
    let tree = Tree::new().file("long.txt", &content);
    let mut server = TestServer::start(&tree);
    let first = server.tool_text("read_text_file", json!({"path": "long.txt"}));
    assert!(first.len() > 30_000 && first.ends_with('\n'), "{} bytes", first.len());
    assert!(read_on(&mut server, "long.txt", 40_000) == content, "the parts are not the file");
}

#[test]
fn one_endless_line_is_read_by_column() {
    let content = "\u{e9}\u{65e5}\u{1f600}a".repeat(2_000);
    let tree = Tree::new().file("line.json", &content);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (_, note) = text_and_note(&mut server, "read_text_file", json!({"path": "line.json"}));
    assert!(note.as_deref().is_some_and(|note| note.contains("column")), "{note:?}");
    assert!(read_on(&mut server, "line.json", 1_000) == content, "the parts are not the file");
}

#[test]
fn a_file_that_just_fits_is_not_cut() {
    let tree = Tree::new().file("fits", "x".repeat(1_000)).file("over", "x".repeat(1_001));
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (text, note) = text_and_note(&mut server, "read_text_file", json!({"path": "fits"}));
    assert_eq!((text.len(), note), (1_000, None));
    let (text, note) = text_and_note(&mut server, "read_text_file", json!({"path": "over"}));
    assert_eq!(text.len(), 1_000);
    assert!(note.is_some_and(|note| note.contains("column 1001")));
}

#[test]
fn the_note_counts_the_lines_of_files_up_to_8_mib_and_gives_the_size_of_longer_ones() {
    let line = "0123456789abcde\n";
    let tree = Tree::new().file("counted", line.repeat(20_310)).file("sized", line.repeat((8 << 20) / 16 + 1));
    let mut server = TestServer::start(&tree);
    for (path, total) in [("counted", "lines 1-2 of 20,310"), ("sized", "8.00 MB")] {
        let (_, note) = text_and_note(&mut server, "read_text_file", json!({"path": path, "head": 2}));
        let note = note.expect("a note");
        assert!(note.contains(total) && note.contains("continue with offset 3"), "{path}: {note}");
    }
}

#[test]
fn a_tail_that_is_too_long_keeps_the_end_and_is_reported() {
    let content: String = (1..=500).fold(String::new(), |text, number| text + &format!("line {number}\n"));
    let tree = Tree::new().file("a.txt", &content);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = 1_000).start();
    let (text, note) = text_and_note(&mut server, "read_text_file", json!({"path": "a.txt", "tail": 400}));
    assert!(text.len() <= 1_000 && content.ends_with(&text) && text.starts_with("line "), "{text}");
    let note = note.expect("a note");
    assert!(note.contains("of 500") && note.contains("all that fits"), "{note}");
}

/// Reading the first lines of two gigabytes must not wait for the rest.
#[cfg(target_os = "linux")]
#[test]
fn a_window_of_a_huge_file_is_read_without_the_rest() {
    use std::os::unix::fs::FileExt as _;

    use crate::support::Process;

    let tree = Tree::new().file("huge.log", "some line\n".repeat(10_000));
    let file = std::fs::File::options().write(true).open(tree.join("huge.log")).unwrap();
    let size: u64 = 2 << 30;
    file.write_all_at(b"\nlast but one\nlast\n", size - 19).unwrap();
    let mut process = Process::spawn([tree.path()]);
    let read_bytes = |process: &Process| -> u64 {
        let io = std::fs::read_to_string(process.proc("io")).expect("/proc/PID/io");
        io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("rchar").parse().expect("a number")
    };
    for (arguments, want) in [
        (json!({"path": "huge.log", "head": 1}), "some line\n"),
        (json!({"path": "huge.log", "offset": 9_000, "limit": 2}), "some line\nsome line\n"),
        (json!({"path": "huge.log", "offset": 2, "limit": 1, "column": 6}), "line\n"),
        (json!({"path": "huge.log", "tail": 1}), "last\n"),
        (json!({"path": "huge.log", "tail": 2}), "last but one\nlast\n"),
    ] {
        let before = read_bytes(&process);
        assert_eq!(process.tool_text("read_text_file", arguments.clone()), want, "{arguments}");
        let read = read_bytes(&process) - before;
        assert!(read < 2 << 20, "{arguments}: {read} bytes were read");
    }
}
