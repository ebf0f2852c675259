//! What many large concurrent requests take: the program's peak memory, with a client that reads and one that does not,
//! compared with the memory that answers may have.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::measure::Sample;
use crate::support::client::with_meta;
use crate::support::{Client as _, Process, command};
use crate::tree::Served;

/// Concurrent requests: as many as are processed at once.
const REQUESTS: usize = 64;
/// Memory for answers, in KiB.
const BUDGET: u64 = 64 << 10;
/// What may be added to that, in KiB: the program, the chunks of an answer, lists and trees.
const BESIDE: u64 = 24 << 10;
/// And for each thread of the four concurrent searches, in KiB: a file of 2 MiB, and the matches in it.
const SEARCHING: u64 = 6 << 10;
/// When memory has not grown for this long, the server has stopped because nobody reads.
const STILL: Duration = Duration::from_millis(300);

type Requests = Vec<(&'static str, Value)>;

/// Prints the table. Panics if a limit is exceeded.
pub(crate) fn run() {
    let served = Served::new();
    let threads = 4 * thread::available_parallelism().map_or(1, |processors| processors.get().min(8)) as u64;
    let most = BUDGET + BESIDE + threads * SEARCHING;
    println!("peak RSS in KiB of {REQUESTS} requests at once, reading and not reading; at most {most}");
    println!("{:32}{:>12}{:>12}", "", "reads", "unread");
    for (name, requests) in cases(&served) {
        let peaks = [true, false].map(|reads| peak(&served, &requests, reads));
        println!("{name:32}{:12}{:12}", peaks[0], peaks[1]);
        assert!(peaks.iter().all(|peak| *peak <= most), "{name}: {peaks:?} KiB, and {most} are the most");
    }
}

fn cases(served: &Served) -> Vec<(&'static str, Requests)> {
    let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let read = |path: &str| ("resources/read", json!({"uri": served.tree.uri(path)}));
    let many = |request: (&'static str, Value)| vec![request; REQUESTS];
    let paths = vec!["text/long.txt"; 100];
    let mut cases = vec![
        ("ping", many(("ping", json!({})))),
        ("resources/read, largest blob", many(read("bin/most.bin"))),
        ("read_media_file, the same", many(tool("read_media_file", json!({"path": "bin/most.bin"})))),
        ("resources/read, 256 KiB of text", many(read("text/huge.txt"))),
        ("the same, of escapes", many(read("text/escapes.txt"))),
        ("read_text_file, most output", many(tool("read_text_file", json!({"path": "text/long.txt"})))),
        ("the same, one line", many(tool("read_text_file", json!({"path": "text/one-line.txt"})))),
        ("read_multiple_files, 100", many(tool("read_multiple_files", json!({"paths": paths})))),
        ("search_text, everything", many(tool("search_text", json!({"query": "e", "includeIgnored": true})))),
        ("directory_tree", many(tool("directory_tree", json!({"includeIgnored": true})))),
        ("list_directory", many(tool("list_directory", json!({"path": "many"})))),
        ("resources/list", many(("resources/list", json!({})))),
    ];
    let each: Requests = cases.iter().map(|(_, requests)| requests[0].clone()).collect();
    cases.push(("all of these, turn by turn", each.into_iter().cycle().take(2 * REQUESTS).collect()));
    cases
}

/// The peak of one process that gets all of these requests at once, in KiB.
fn peak(served: &Served, requests: &Requests, reads: bool) -> u64 {
    let mut process = Process::start_unread(command([served.tree.path()]));
    let ids: Vec<Value> =
        requests.iter().map(|(method, params)| process.ask(method, with_meta(params.clone()))).collect();
    if !reads {
        wait_until_still(&process);
    }
    for id in ids {
        process.answer(id);
    }
    let peak = Sample::of(process.pid()).peak;
    process.finish();
    peak
}

fn wait_until_still(process: &Process) {
    let (mut most, mut since) = (0, Instant::now());
    while since.elapsed() < STILL {
        let rss = Sample::of(process.pid()).rss;
        if rss > most {
            (most, since) = (rss, Instant::now());
        }
        thread::sleep(Duration::from_millis(10));
    }
}
