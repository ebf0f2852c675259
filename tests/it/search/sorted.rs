//! `sortBy: "modified"` in `search_files` and `list_directory_with_sizes`: the most recent first, within the same
//! limits.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::found;
use crate::support::{Client as _, TestServer, Tree};
use crate::tools::text_and_note;

/// Files with these times, in seconds.
fn dated(files: &[(&str, u64)]) -> Tree {
    let tree = files.iter().fold(Tree::new(), |tree, (path, _)| tree.file(path, ""));
    for (path, seconds) in files {
        date(&tree, path, *seconds);
    }
    tree
}

fn date(tree: &Tree, path: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
    let file = File::options().write(true).open(tree.join(path)).expect("a file");
    file.set_modified(time).expect("a time");
}

#[test]
fn the_most_recent_come_first_wherever_they_are() {
    let tree = dated(&[("a.txt", 3), ("b.txt", 9), ("d/c.txt", 7), ("d/e/f.txt", 12), ("d/g.txt", 1), ("z.md", 50)]);
    let mut server = TestServer::start(&tree);
    let newest = ["d/e/f.txt", "b.txt", "d/c.txt", "a.txt", "d/g.txt"];
    for limit in [1, 2, 4, 5, 1_000] {
        let arguments = json!({"pattern": "*.txt", "sortBy": "modified", "limit": limit});
        let (text, note) = text_and_note(&mut server, "search_files", arguments);
        assert_eq!(text.lines().collect::<Vec<_>>(), newest[..limit.min(5)], "limit {limit}");
        assert_eq!(note.is_some(), limit < 5, "limit {limit}: {note:?}");
    }
    let by_path = ["a.txt", "b.txt", "d/c.txt", "d/g.txt", "d/e/f.txt"];
    for sort in [json!("path"), json!(null)] {
        assert_eq!(found(&mut server, json!({"pattern": "*.txt", "sortBy": sort})), by_path, "{sort}");
    }
    let error = server.tool_error("search_files", json!({"pattern": "*", "sortBy": "size"}));
    assert!(error.contains("\"sortBy\"") && error.contains("\"modified\""), "{error}");
}

/// Compared with sorting all of them: any limit yields the beginning of the same list.
#[test]
fn a_cut_answer_is_a_prefix_of_the_full_one() {
    let names: Vec<String> = (0..200).map(|number| format!("d{}/name-{number:03}", number % 7)).collect();
    let times: Vec<u64> = (0..200).map(|number: u64| number * 7_919 % 61).collect();
    let files: Vec<_> = names.iter().map(String::as_str).zip(times.iter().copied()).collect();
    let tree = dated(&files);
    // Files of the same time are in the order of the walk.
    let mut want = files.clone();
    want.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let want: Vec<_> = want.into_iter().map(|(path, _)| path).collect();
    for bytes in [100, 1_000, 40_000] {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = bytes).start();
        for limit in [3, 50, 1_000] {
            let arguments = json!({"pattern": "name-*", "sortBy": "modified", "limit": limit});
            let (text, _) = text_and_note(&mut server, "search_files", arguments);
            let lines: Vec<_> = text.lines().collect();
            assert!(text.len() <= bytes, "{} bytes", text.len());
            assert!(!lines.is_empty() && lines == want[..lines.len()], "{bytes} bytes, limit {limit}: {lines:?}");
        }
    }
}

/// Pages follow one another in the requested order, whatever ended them.
#[test]
fn pages_continue_in_order_of_time() {
    let names: Vec<String> = (0..60).map(|number| format!("d{}/name-{number:03}", number % 7)).collect();
    let files: Vec<_> = names.iter().zip(0_u64..).map(|(name, at)| (name.as_str(), at * 37 % 60)).collect();
    let tree = dated(&files);
    let mut want = files.clone();
    want.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    let want: Vec<_> = want.into_iter().map(|(path, _)| path.to_owned()).collect();
    for (bytes, limit) in [(40_000, 7), (100, 1_000)] {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = bytes).start();
        let mut all = Vec::new();
        while all.len() < want.len() {
            let (offset, before) = (all.len() + 1, all.len());
            let arguments = json!({"pattern": "name-*", "sortBy": "modified", "limit": limit, "offset": offset});
            let (text, note) = text_and_note(&mut server, "search_files", arguments);
            all.extend(text.lines().map(str::to_owned));
            assert!(all.len() > before && note.is_some(), "{text}");
            let goes_on = note.is_some_and(|note| note.contains(&format!("continue with offset {}", all.len() + 1)));
            assert_eq!(goes_on, all.len() < want.len());
        }
        assert_eq!(all, want);
        let arguments = json!({"pattern": "name-*", "sortBy": "modified", "offset": 61});
        let (text, note) = text_and_note(&mut server, "search_files", arguments);
        assert_eq!((text.as_str(), note.as_deref()), ("No more matches", Some("[only 60 results exist]")));
    }
}

#[test]
fn a_directory_is_listed_by_time() {
    let tree = dated(&[("a.txt", 3), ("b.txt", 9), ("c.txt", 9), ("d/x", 1)]);
    let mut server = TestServer::start(&tree);
    let names = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.split_whitespace().nth(1).filter(|_| line.starts_with('[')))
            .map(str::to_owned)
            .collect()
    };
    let text = server.tool_text("list_directory_with_sizes", json!({"sortBy": "modified"}));
    // The directory was created just now.
    assert_eq!(names(&text), ["d", "b.txt", "c.txt", "a.txt"], "{text}");
    assert!(text.contains("Total: 3 files, 1 directories"), "{text}");
    let text = server.tool_text("list_directory_with_sizes", json!({"sortBy": "modified", "offset": 2, "limit": 2}));
    assert_eq!(names(&text), ["b.txt", "c.txt"]);
}
