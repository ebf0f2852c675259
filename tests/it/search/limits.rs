//! Both searches: progress, cancellation, deadlines, the size of answers, and other requests meanwhile.
//!
//! The slow searches use a tree of many names for a few files, and a regular expression for which the engine has no
//! shortcut: minutes of work that are created in a moment.

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mcp_fs::call::Failure;
use serde_json::{Value, json};

use crate::search::NOTHING;
use crate::support::client::with_meta;
use crate::support::{Client as _, Process, TIMEOUT, TestServer, Tree};
use crate::tools::blocks;

/// Next to letters outside ASCII, the end of a word depends on Unicode, and the engine proceeds letter by letter.
const SLOW: &str = r"\b\d{3}\b|^needle$";
/// How many names each file has; some file systems allow no more than 1,023.
const NAMES: usize = 1_000;
const FILES: usize = 16;

/// 16,000 names for a gigabyte in all, and "needle" in the first file.
fn endless() -> Tree {
    names_for(1_200)
}

/// 16,000 names for files of `lines` lines.
fn names_for(lines: usize) -> Tree {
    let text = "l'\u{e9}t\u{e9} nous d\u{ee}nons dehors, o\u{f9} il fait d\u{e9}j\u{e0} nuit\n".repeat(lines);
    let mut tree = Tree::new().file("first.txt", "needle\n");
    for file in 0..FILES {
        let directory = format!("d{file:02}");
        tree = tree.file(format!("{directory}/0000"), &text);
        for name in 1..NAMES {
            let link = tree.join(format!("{directory}/{name:04}"));
            fs::hard_link(tree.join(format!("{directory}/0000")), link).expect("another name");
        }
    }
    tree
}

/// Parameters of a search in it.
fn long_search() -> Value {
    json!({"name": "search_text", "arguments": {"query": SLOW, "regex": true}})
}

#[test]
fn a_search_that_runs_out_of_time_returns_what_it_found() {
    let note = stopped(&endless(), "first.txt:1: needle");
    assert!(note.contains("narrow \"path\""), "{note}");
    assert!(!note.contains("could not be read"), "{note}");
}

/// Searches for a moment, or longer if that found nothing, as on a busy machine. It must find `first` and not finish;
/// returns the note about that.
fn stopped(tree: &Tree, first: &str) -> String {
    for time in (0..8).map(|doubled| Duration::from_millis(200 << doubled)) {
        let mut server = TestServer::builder(tree).limits(|limits| limits.search_time = time).start();
        let blocks = blocks(&server.result("tools/call", long_search()));
        let note = blocks.last().expect("a note");
        assert!(note.contains("stopped after"), "{blocks:?}");
        if blocks[0] == first {
            return note.clone();
        }
        assert_eq!(blocks[0], NOTHING);
    }
    panic!("nothing is found, however long it searches");
}

#[test]
fn a_long_file_is_abandoned_when_time_runs_out() {
    let line = "l'\u{e9}t\u{e9} nous d\u{ee}nons dehors, o\u{f9} il fait d\u{e9}j\u{e0} nuit\n";
    let tree = Tree::new().file("long.txt", format!("needle\n{}", line.repeat((96 << 20) / line.len())));
    stopped(&tree, "long.txt:1: needle");
}

#[test]
fn search_timeout_is_in_seconds() {
    let tree = endless();
    let mut process = Process::spawn([tree.path().as_os_str(), "--search-timeout".as_ref(), "1".as_ref()]);
    let begun = Instant::now();
    let result = process.result("tools/call", long_search());
    assert!(blocks(&result)[1].contains("stopped after 1 second"), "{result}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_search_for_names_that_runs_out_of_time_returns_what_it_found() {
    let tree = Tree::new().file("a.txt", "");
    let mut server = TestServer::builder(&tree).limits(|limits| limits.search_time = Duration::ZERO).start();
    let result = server.tool("search_files", json!({"pattern": "*"}));
    assert_ne!(result["isError"], true);
    assert!(blocks(&result)[1].contains("stopped after"), "{result}");
}

#[test]
fn a_request_with_a_token_gets_progress() {
    // Progress is reported file by file, and these are short.
    let tree = names_for(200);
    let mut server = TestServer::start(&tree);
    let begun = Instant::now();
    let params = with_meta(
        json!({"_meta": {"progressToken": "t"}, "name": "search_text", "arguments": long_search()["arguments"]}),
    );
    let id = server.ask("tools/call", params);
    // The harness checks that it increases.
    for heard in 1..=2 {
        let message = server.recv();
        let params = &message["params"];
        assert_eq!((&message["method"], &params["progressToken"]), (&json!("notifications/progress"), &json!("t")));
        assert!(params["message"].as_str().is_some_and(|text| text.starts_with("searching d")), "{message}");
        assert!(begun.elapsed() >= heard * Duration::from_millis(100), "more than ten a second");
    }
    server.notify("notifications/cancelled", json!({"requestId": id}));
    for message in server.close() {
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
}

#[test]
fn a_request_without_a_token_gets_only_the_answer() {
    let tree = endless();
    let time = Duration::from_millis(500);
    let mut server = TestServer::builder(&tree).limits(|limits| limits.search_time = time).start();
    let id = server.ask_modern("tools/call", long_search());
    assert_eq!(server.recv()["id"], id);
}

/// A server that searches without end, and reports when a search begins, when it has ended, and how.
fn watched(tree: &Tree) -> (TestServer, mpsc::Receiver<Option<Result<(), Failure>>>) {
    let (tell, told) = mpsc::channel();
    let server = TestServer::builder(tree).dispatch(move |call, context| {
        tell.send(None).expect("the test listens");
        let done = mcp_fs::features::dispatch::dispatch(call, context);
        let how = match &done {
            Err(Failure::Cancelled) => Err(Failure::Cancelled),
            _ => Ok(()),
        };
        tell.send(Some(how)).expect("the test listens");
        done
    });
    (server.start(), told)
}

#[test]
fn a_cancelled_search_is_not_answered_and_the_server_continues() {
    let tree = endless();
    let (mut server, told) = watched(&tree);
    let id = server.ask_modern("tools/call", long_search());
    assert_eq!(told.recv_timeout(TIMEOUT), Ok(None), "it begins");
    server.expect_silence();
    server.notify("notifications/cancelled", json!({"requestId": id}));
    assert_eq!(told.recv_timeout(TIMEOUT), Ok(Some(Err(Failure::Cancelled))), "its work ends");
    assert_eq!(server.tool_text("read_text_file", json!({"path": "first.txt"})), "needle\n");
    let rest = server.close();
    assert_eq!(rest, [] as [Value; 0]);
}

#[test]
fn the_server_answers_while_it_searches() {
    let tree = endless();
    let mut process = Process::spawn(["--search-timeout=86400".as_ref(), tree.path().as_os_str()]);
    let searches = [(); 2].map(|()| process.ask_modern("tools/call", long_search()));
    for _ in 0..20 {
        process.expect_silence();
        assert_eq!(process.tool_text("read_text_file", json!({"path": "first.txt"})), "needle\n");
    }
    assert!(process.tool_text("list_directory", json!({})).contains("first.txt"));
    for id in searches {
        process.notify("notifications/cancelled", json!({"requestId": id}));
    }
}

/// `printf ... | mcp-fs DIR` gets its answers however long the search takes.
#[test]
fn a_search_continues_after_the_end_of_input_until_its_deadline() {
    let tree = endless();
    let mut process = Process::spawn(["--search-timeout=2".as_ref(), tree.path()]);
    let id = process.ask_modern("tools/call", long_search());
    process.expect_silence();
    process.close_stdin();
    let exit = process.wait();
    assert!(exit.status.success(), "{exit:?}");
    let [answer] = &exit.rest[..] else { panic!("{exit:?}") };
    assert!(answer["id"] == id && answer.get("result").is_some(), "{answer}");
}

#[test]
fn an_answer_stays_within_its_limit() {
    let line = format!("x{}\n", "y".repeat(200));
    let mut tree = Tree::new();
    for number in 0..100 {
        tree = tree.file(format!("a-directory-with-a-name/file-{number}.txt"), line.repeat(50));
    }
    for most in [1_000, 5_000, 40_000] {
        let mut server = TestServer::builder(&tree).limits(|limits| limits.output_bytes = most).start();
        for (tool, arguments) in [
            ("search_text", json!({"query": "x", "limit": 10_000})),
            ("search_text", json!({"query": "x", "limit": 10_000, "contextLines": 3})),
            ("search_text", json!({"query": "x", "limit": 10_000, "filesOnly": true})),
            ("search_files", json!({"pattern": "*.txt"})),
        ] {
            let blocks = blocks(&server.tool(tool, arguments.clone()));
            assert!(blocks[0].len() <= most, "{tool} {arguments}: {} bytes", blocks[0].len());
            let is_all = blocks[0].lines().count() == 100;
            assert!(is_all || blocks[1].contains("narrow"), "{tool} {arguments}: {blocks:?}");
            assert!(!blocks[0].ends_with("--"), "{tool} {arguments}: nothing comes after the last mark");
        }
    }
}

/// Some systems allow 256 descriptors; 32 must suffice, and a leak of one per file would be visible after any search.
#[cfg(target_os = "linux")]
#[test]
fn searching_uses_few_descriptors_and_leaks_none() {
    use std::process::Stdio;

    let mut tree = Tree::new();
    for number in 0..400 {
        tree = tree.file(format!("d{number}/e/f.txt"), "needle\n");
    }
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 32; exec \"$0\" \"$1\"", env!("CARGO_BIN_EXE_mcp-fs")]).arg(tree.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(command);
    let mut counts = Vec::new();
    for _ in 0..4 {
        let text = process.tool_text("search_text", json!({"query": "needle", "limit": 1_000}));
        assert_eq!(text.lines().count(), 400);
        assert_eq!(process.tool_text("search_files", json!({"pattern": "f.txt"})).lines().count(), 400);
        counts.push(process.descriptors());
    }
    // What the first call opens for good exists from then on.
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
}
