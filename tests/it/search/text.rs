//! `search_text`: the meaning of a query, and the format of matches. Which files are searched is in `texts`.

use serde_json::{Value, json};

use crate::support::{Client as _, TestServer, Tree};
use crate::tools::{text_and_note, with};

/// The text of an answer, and the note after it.
fn grep(server: &mut TestServer, arguments: Value) -> (String, String) {
    let (text, note) = text_and_note(server, "search_text", arguments);
    (text, note.expect("a note"))
}

/// The numbers of the lines that match, in a search of one file.
fn lines(server: &mut TestServer, arguments: Value) -> Vec<u64> {
    let (text, _) = grep(server, arguments);
    if text == "No matches found" {
        return Vec::new();
    }
    let number = |line: &str| line.split(':').nth(1).unwrap_or_else(|| panic!("{line}")).parse().expect("a number");
    text.lines().map(number).collect()
}

#[test]
fn a_query_means_what_its_arguments_say() {
    let text = "a.c\nabc\nABC\n(a|b)\n$x^ [y] {z} \\d +?*\n\u{c9}t\u{e9}\n\u{e9}t\u{e9}\nend of line 42\n";
    let tree = Tree::new().file("a.txt", text);
    let mut server = TestServer::start(&tree);
    for (query, options, want) in [
        // Literal text, unless `regex` is set.
        ("a.c", json!({}), &[1][..]),
        ("(a|b)", json!({}), &[4]),
        ("$x^ [y] {z} \\d +?*", json!({}), &[5]),
        ("\\d", json!({"regex": false}), &[5]),
        ("a.c", json!({"regex": true}), &[1, 2, 3]),
        ("^(abc|end)", json!({"regex": true}), &[2, 3, 8]),
        (r"\d+$", json!({"regex": true}), &[8]),
        // Case matters if the query has capitals, also in a regex, where a class such as \D is not one.
        ("abc", json!({}), &[2, 3]),
        ("ABC", json!({}), &[3]),
        ("aBc", json!({}), &[]),
        ("A.C", json!({"regex": true}), &[3]),
        (r"^a\Dc$", json!({"regex": true}), &[1, 2, 3]),
        ("\u{e9}t\u{e9}", json!({}), &[6, 7]),
        ("\u{c9}t\u{e9}", json!({}), &[6]),
        // Unless `caseSensitive` is given.
        ("abc", json!({"caseSensitive": true}), &[2]),
        ("aBC", json!({"caseSensitive": false}), &[2, 3]),
        ("\u{c9}T\u{c9}", json!({"caseSensitive": false}), &[6, 7]),
        ("abc", json!({"caseSensitive": null}), &[2, 3]),
    ] {
        let arguments = with(&json!({"query": query}), &options);
        assert_eq!(lines(&mut server, arguments), want, "{query} {options}");
    }
}

#[test]
fn dollar_matches_at_the_end_of_a_line_with_any_line_ending() {
    let tree =
        Tree::new().file("crlf.txt", "one end\r\nend two\r\nthe end").file("lf.txt", "one end\nend two\nthe end");
    let mut server = TestServer::start(&tree);
    for path in ["lf.txt", "crlf.txt"] {
        let arguments = json!({"query": "end$", "regex": true, "path": path});
        assert_eq!(lines(&mut server, arguments), [1, 3], "{path}");
    }
}

#[test]
fn a_carriage_return_at_the_end_of_a_line_is_not_shown() {
    let tree = Tree::new().file("a.txt", "before\r\nthe needle\r\nafter\r\n");
    let (text, _) = grep(&mut TestServer::start(&tree), json!({"query": "needle", "contextLines": 1}));
    assert_eq!(text, "a.txt-1- before\na.txt:2: the needle\na.txt-3- after");
}

#[test]
fn lines_have_paths_and_numbers_shallow_files_first() {
    let mut tree = Tree::new();
    for path in ["z.txt", "b.txt", "b/a.txt", "b/z/deep.txt", "a/z.txt", "a-b/c.txt"] {
        tree = tree.file(path, "first\nneedle here\n\n  indented needle\n");
    }
    let (text, note) = grep(&mut TestServer::start(&tree), json!({"query": "needle"}));
    let order = ["b.txt", "z.txt", "a/z.txt", "a-b/c.txt", "b/a.txt", "b/z/deep.txt"];
    let want: Vec<String> =
        order.iter().map(|path| format!("{path}:2: needle here\n{path}:4:   indented needle")).collect();
    assert_eq!(text, want.join("\n"));
    assert!(note.contains("12 matches in 6 files") && note.contains("6 files (222 B) searched"), "{note}");
}

/// A file of lines 1 to 40, some of which contain "needle".
fn numbered(needles: &[usize]) -> String {
    (1..=40)
        .fold(String::new(), |text, n| text + &format!("{} {n}\n", if needles.contains(&n) { "needle" } else { "x" }))
}

#[test]
fn context_lines_are_marked_and_groups_separated() {
    let tree = Tree::new().file("a.txt", numbered(&[1, 3, 10])).file("b.txt", numbered(&[40]));
    let mut server = TestServer::start(&tree);
    let (text, note) = grep(&mut server, json!({"query": "needle", "contextLines": 1}));
    let want = "a.txt:1: needle 1\na.txt-2- x 2\na.txt:3: needle 3\na.txt-4- x 4\n--\na.txt-9- x 9\na.txt:10: needle 10\n\
        a.txt-11- x 11\n--\nb.txt-39- x 39\nb.txt:40: needle 40";
    assert_eq!(text, want);
    assert!(note.contains("4 matches in 2 files"), "{note}");
    let (text, _) = grep(&mut server, json!({"query": "needle", "contextLines": 100, "path": "b.txt"}));
    assert_eq!(text.lines().count(), 40, "as many as there are: {text}");
    assert!(server.tool_error("search_text", json!({"query": "x", "contextLines": 101})).contains("from 0 to 100"));
}

#[test]
fn zero_lines_of_context_can_be_requested() {
    let tree = Tree::new().file("a.txt", numbered(&[3]));
    let (text, _) = grep(&mut TestServer::start(&tree), json!({"query": "needle", "contextLines": 0}));
    assert_eq!(text, "a.txt:3: needle 3");
}

#[test]
fn a_cut_leaves_no_context_of_omitted_matches() {
    let tree = Tree::new().file("a.txt", numbered(&[5, 20, 30])).file("b.txt", numbered(&[5, 20]));
    let mut server = TestServer::start(&tree);
    for (cut, want) in [
        (json!({"limit": 1}), "a.txt-4- x 4\na.txt:5: needle 5\na.txt-6- x 6"),
        (
            json!({"maxPerFile": 1}),
            "a.txt-4- x 4\na.txt:5: needle 5\na.txt-6- x 6\n--\nb.txt-4- x 4\nb.txt:5: needle 5\nb.txt-6- x 6",
        ),
    ] {
        let (text, _) = grep(&mut server, with(&json!({"query": "needle", "contextLines": 1}), &cut));
        assert_eq!(text, want, "{cut}");
    }
    // The fourth match is b's first: the context before its second is not shown either.
    let (text, _) = grep(&mut server, json!({"query": "needle", "contextLines": 1, "limit": 4}));
    assert!(text.ends_with("b.txt:5: needle 5\nb.txt-6- x 6"), "{text}");
}

#[test]
fn limits_cut_and_the_note_says_how_to_continue() {
    let tree = Tree::new().file("a.txt", numbered(&[1, 2, 3])).file("b.txt", numbered(&[7, 8]));
    let mut server = TestServer::start(&tree);
    for (cut, want, more) in [
        (json!({}), "a1 a2 a3 b7 b8", None),
        (json!({"limit": 5}), "a1 a2 a3 b7 b8", None),
        (json!({"limit": 4}), "a1 a2 a3 b7", Some("\"limit\"")),
        (json!({"limit": 3}), "a1 a2 a3", Some("\"limit\"")),
        (json!({"maxPerFile": 3}), "a1 a2 a3 b7 b8", None),
        (json!({"maxPerFile": 2}), "a1 a2 b7 b8", Some("\"maxPerFile\"")),
        (json!({"maxPerFile": 1, "limit": 2}), "a1 b7", Some("\"maxPerFile\"")),
    ] {
        let (text, note) = grep(&mut server, with(&json!({"query": "needle"}), &cut));
        let short = |line: &str| format!("{}{}", &line[..1], line.split(':').nth(1).unwrap_or_default());
        assert_eq!(text.lines().map(short).collect::<Vec<_>>().join(" "), want, "{cut}");
        assert_eq!(note.contains("more matches"), more.is_some(), "{cut}: {note}");
        assert!(more.is_none_or(|more| note.contains(more)), "{cut}: {note}");
    }
    for wrong in [json!({"limit": 0}), json!({"maxPerFile": -1}), json!({"limit": "5x"}), json!({"limit": 1.5})] {
        let error = server.tool_error("search_text", with(&json!({"query": "x"}), &wrong));
        assert!(error.contains("integer"), "{wrong}: {error}");
    }
}

#[test]
fn by_default_there_are_at_most_200_matches() {
    let tree = Tree::new().file("a.txt", "x\n".repeat(500));
    let (text, note) = grep(&mut TestServer::start(&tree), json!({"query": "x"}));
    assert_eq!(text.lines().count(), 200);
    assert!(note.contains("200 matches in 1 file") && note.contains("more matches"), "{note}");
}

#[test]
fn files_only_returns_each_path_once() {
    let tree = Tree::new().file("a.txt", "x\nx\n").file("b.txt", "y\n").file("c/d.txt", "x\n").file("e/f.txt", "x\n");
    let mut server = TestServer::start(&tree);
    let all = json!({"query": "x", "filesOnly": true, "contextLines": 2});
    let (text, note) = grep(&mut server, all.clone());
    assert_eq!(text, "a.txt\nc/d.txt\ne/f.txt");
    assert!(!note.contains("more matches"), "{note}");
    let (text, note) = grep(&mut server, with(&all, &json!({"limit": 2})));
    assert_eq!(text, "a.txt\nc/d.txt");
    assert!(note.contains("more matches"), "{note}");
}

#[test]
fn a_match_spans_lines_only_if_requested() {
    let tree = Tree::new().file("a.txt", "fn one(\n    a: u8,\n)\nfn two()\nlast one\nlast two\n");
    let mut server = TestServer::start(&tree);
    // A text with a newline can mean nothing else.
    assert_eq!(lines(&mut server, json!({"query": "one\nlast"})), [5, 6]);
    let regex = json!({"query": "fn [a-z]+\\(\\n", "regex": true});
    let error = server.tool_error("search_text", regex.clone());
    assert!(error.contains("\"multiline\""), "{error}");
    assert_eq!(lines(&mut server, with(&regex, &json!({"multiline": true}))), [1]);
    let over = json!({"query": "(?s)one\\(.*?\\)", "regex": true, "multiline": true});
    assert_eq!(lines(&mut server, over), [1, 2, 3]);
    // Without `multiline`, whatever could match a newline does not.
    assert_eq!(lines(&mut server, json!({"query": "one\\(\\s*", "regex": true})), [1]);
}

#[test]
fn a_match_of_two_lines_is_one_match() {
    let tree = Tree::new().file("a.txt", "one\ntwo\nthree\n");
    let (text, note) = grep(&mut TestServer::start(&tree), json!({"query": "one\ntwo", "limit": 1}));
    assert_eq!(text, "a.txt:1: one\na.txt:2: two");
    assert!(note.starts_with("[1 match in 1 file; 1 file"), "{note}");
}

#[test]
fn long_lines_are_cut_around_the_match_at_whole_characters() {
    let (before, after) = ("\u{e9}\u{65e5}".repeat(3_000), "\u{1f600}\u{65e5}".repeat(3_000));
    let content = format!("{before}needle{after}\nneedle{after}\n{before}needle\n{}\n", "x".repeat(400));
    let tree = Tree::new().file("a.txt", content);
    let mut server = TestServer::start(&tree);
    let (text, _) = grep(&mut server, json!({"query": "needle"}));
    let shown: Vec<&str> = text.lines().map(|line| line.splitn(3, ':').nth(2).expect("text").trim_start()).collect();
    for (line, cut_before, cut_after) in [(shown[0], true, true), (shown[1], false, true), (shown[2], true, false)] {
        assert_eq!((line.starts_with("..."), line.ends_with("...")), (cut_before, cut_after), "{line}");
        assert!(line.contains("needle") && line.len() < 500, "{line}");
        let whole = line.trim_start_matches("...").trim_end_matches("...");
        assert!(format!("{before}needle{after}").contains(whole), "whole characters of the line: {line}");
    }
    assert_eq!(grep(&mut server, json!({"query": "xxx"})).0, format!("a.txt:4: {}", "x".repeat(400)));
}

#[test]
fn no_matches_is_a_successful_answer() {
    let tree = Tree::new().file("a.txt", "one\n").file("b/c.txt", "two\n");
    let mut server = TestServer::start(&tree);
    let (text, note) = grep(&mut server, json!({"query": "three"}));
    assert_eq!((text.as_str(), note.as_str()), ("No matches found", "[2 files (8 B) searched]"));
    let (text, note) = grep(&mut server, json!({"query": "one", "glob": "*.rs"}));
    assert_eq!(
        (text.as_str(), note.as_str()),
        ("No matches found", "[0 files (0 B) searched; \"glob\" matches none of 2 files]")
    );
}

#[test]
fn an_invalid_query_is_quoted_with_the_place_of_the_error() {
    let tree = Tree::new().file("a.txt", "one\n");
    let mut server = TestServer::start(&tree);
    for (regex, column, why) in [
        ("foo(bar", 3, "unclosed group"),
        ("[z-a]", 1, "invalid character class range"),
        ("a**{2", 3, "repetition"),
        ("\u{e9}+\\q", 2, "unrecognized escape"),
        ("(?=ahead)", 0, "look-around"),
        ("(?<name>a)\\1", 10, "backreferences"),
    ] {
        let error = server.tool_error("search_text", json!({"query": regex, "regex": true}));
        let (_, after) = error.split_once(&format!("    {regex}\n")).unwrap_or_else(|| panic!("{regex}: {error}"));
        let mark = after.lines().next().expect("a mark");
        assert_eq!(mark.find('^'), Some(column + 4), "{error}");
        assert!(error.contains("\"query\"") && error.contains(why), "{regex}: {error}");
        // As literal text it is as good as any.
        assert_eq!(lines(&mut server, json!({"query": regex})), [] as [u64; 0], "{regex}");
    }
    let error = server.tool_error("search_text", json!({"query": ""}));
    assert!(error.contains("empty"), "{error}");
    for huge in ["(a{1000}){1000}", r"\pL{5000}", "((a{100}){100}){100}"] {
        let error = server.tool_error("search_text", json!({"query": huge, "regex": true}));
        assert!(error.contains("size"), "{huge}: {error}");
    }
}
