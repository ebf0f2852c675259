//! One process from its start to its end: what is sent to it, and the rules that always hold.
//!
//! The rules for every line are those of the tests ([`crate::support::conversation`]): schema, one answer each, no
//! secret. In addition, errors without an id are counted, and answers are compared with what the model knows. At quiet
//! points, when every request is answered and nothing is followed, memory, threads and descriptors are measured.

use std::collections::HashMap;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::expect::{Expect, shorten};
use crate::measure::{Counts, Sample};
use crate::meddler::Meddler;
use crate::support::{Client as _, Process, TIMEOUT, command};
use crate::traffic::{Piece, Traffic};
use crate::tree::Served;

/// How many pieces are sent from one quiet point to the next.
const ROUND: usize = 1_000;
/// How many requests may wait for their answers, except when nothing is read.
const WINDOW: usize = 150;
/// How many pieces are sent while nothing is read.
const UNREAD: usize = 200;
/// How long nothing is read.
const PAUSE: Duration = Duration::from_millis(50);
/// After this many quiet points it is warmed up: all kinds of traffic have occurred.
const WARM: usize = 2;
/// The least number of samples of which a third is meaningful.
const SAMPLES: usize = 6;
/// 64 requests and 8 spare threads as in `main.rs`, 4 searches with a thread for each processor, and a few for the
/// program, its log and the watcher.
const THREADS: u64 = 64 + 8 + 4 * 8 + 8;
/// How much memory may grow during a life, in KiB, besides a fifth. With one heap a leak is visible; glibc's several
/// heaps, one for every few threads, fill up gradually in the first minute, and then no more.
const GROWTH: [u64; 2] = [16 << 10, 4 << 10];
/// The environment variable that limits it to one heap.
const ONE_HEAP: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1");
/// Memory under load, in KiB: 64 MiB of answers; 32 MiB of input that is being processed, and two more lines while they
/// arrive; four walks, searches and changes of a few MiB each; and the program itself.
const PEAK: u64 = (64 + 32 + 2 * 32 + 12 * 4 + 16) << 10;

/// The parameters of a life.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) revision: &'static str,
    pub(crate) writable: bool,
    pub(crate) one_heap: bool,
    pub(crate) time: Duration,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.writable { "writing" } else { "reading" };
        let heaps = if self.one_heap { "one heap" } else { "heaps as usual" };
        write!(f, "{} and modern, {kind}, {heaps}, seed {}", self.revision, self.seed)
    }
}

/// Runs it. Panics if a rule is broken.
pub(crate) fn live(plan: &Plan) -> Counts {
    let served = Served::new();
    let mut command = command(plan.writable.then_some("--allow-write"));
    command.arg(served.tree.path());
    command.envs(plan.one_heap.then_some(ONE_HEAP));
    let process = Process::start_unread(command).legacy(plan.revision);
    let has_batches = plan.revision <= "2025-03-26";
    let traffic = Traffic::new(plan.seed, &served, plan.writable, has_batches);
    let mut life =
        Life { process, traffic, counts: Counts::default(), expected: HashMap::new(), nameless: 0, quiet: 0 };
    let meddler = plan.writable.then(|| Meddler::start(served.tree.path(), plan.seed));
    let begin = Instant::now();
    while begin.elapsed() < plan.time || life.counts.samples.len() < SAMPLES {
        life.round();
        life.rest();
    }
    drop(meddler);
    let counts = life.end();
    served.check_unharmed();
    counts.check_flat(GROWTH[usize::from(plan.one_heap)]);
    counts
}

struct Life<'a> {
    process: Process,
    traffic: Traffic<'a>,
    counts: Counts,
    /// The expected answers to the requests that are waiting.
    expected: HashMap<String, Expect>,
    /// How many errors without an id are due.
    nameless: usize,
    /// The number of quiet points so far.
    quiet: usize,
}

impl Life<'_> {
    /// Traffic with some concurrent requests, and occasionally a time in which nothing is read.
    fn round(&mut self) {
        let window = self.traffic.rng.usize(0..WINDOW);
        let pause = self.traffic.rng.usize(0..ROUND);
        for number in 0..ROUND {
            self.send_next();
            if number == pause {
                (0..UNREAD).for_each(|_| self.send_next());
                thread::sleep(PAUSE);
            }
            while self.owed() > window {
                self.receive();
            }
        }
    }

    fn send_next(&mut self) {
        let piece = self.traffic.next();
        self.send(piece);
    }

    fn send(&mut self, piece: Piece) {
        self.counts.pieces += 1;
        self.nameless += piece.nameless;
        self.expected.extend(piece.expected.into_iter().map(|(id, expect)| (id.to_string(), expect)));
        if let Some(id) = piece.cancels {
            self.expected.remove(&id.to_string());
        }
        if piece.is_refused_unread {
            self.process.write(&piece.bytes);
        } else {
            self.process.send_raw(&piece.bytes);
        }
    }

    fn owed(&mut self) -> usize {
        self.process.talk().conversation.owed()
    }

    /// Reads one line and checks it.
    fn receive(&mut self) {
        let message = self.process.next_message().expect("the output ended");
        self.judge(&message);
    }

    fn judge(&mut self, message: &Value) {
        if let Some(items) = message.as_array() {
            self.counts.count("batch");
            return items.iter().for_each(|item| self.judge(item));
        }
        if let Some(method) = message["method"].as_str() {
            return self.counts.count(method);
        }
        self.counts.count(kind(message));
        match message.get("id").filter(|id| !id.is_null()) {
            None => {
                let left = self.nameless.checked_sub(1);
                self.nameless = left.unwrap_or_else(|| panic!("nothing is owed without an id: {message}"));
            }
            Some(id) => {
                let expect = self.expected.remove(&id.to_string()).unwrap_or(Expect::Any);
                if let Err(why) = expect.verdict(message) {
                    panic!("{why}, got {}", shorten(&message.to_string()));
                }
            }
        }
    }

    /// Waits until everything is answered, and ends all subscriptions. Then it must be as small as before.
    fn rest(&mut self) {
        while let Some(piece) = self.traffic.unfollow() {
            self.send(piece);
        }
        self.read_all();
        // Answers to cancelled requests may still be on their way: small ones before small ones, large before large.
        let uri = self.traffic.served.tree.uri("bin/middle.bin");
        let big = self.traffic.request("resources/read", json!({"uri": uri}), Expect::Works);
        self.send(big);
        self.read_all();
        assert_eq!(self.nameless, 0, "errors without an id that never came");
        self.process.talk().conversation.forget_excused();
        self.expected.clear();
        self.quiet += 1;
        if self.quiet > WARM {
            self.measure();
        }
    }

    fn read_all(&mut self) {
        let ping = self.traffic.request_in(false, "ping", json!({}), Expect::Works);
        self.send(ping);
        while self.owed() > 0 {
            self.receive();
        }
    }

    /// Cancelled work may still be running, and the watcher opens a directory occasionally, so the number of
    /// descriptors gets some time to return to normal.
    fn measure(&mut self) {
        let begin = Instant::now();
        let before = self.counts.samples.first().map(|sample| sample.descriptors);
        let sample = loop {
            let sample = Sample::of(self.process.pid());
            if before.is_none_or(|before| before == sample.descriptors) {
                break sample;
            }
            assert!(begin.elapsed() < TIMEOUT, "{} descriptors, and before {before:?}", sample.descriptors);
            self.read_all();
        };
        assert!(sample.threads <= THREADS, "{} threads", sample.threads);
        assert!(sample.peak <= PEAK, "{} KiB of memory, and {PEAK} are the most", sample.peak);
        self.counts.samples.push(sample);
    }

    /// Ends the input in the middle of the traffic and of a line: everything is answered, and it exits with 0.
    fn end(mut self) -> Counts {
        (0..WINDOW).for_each(|_| self.send_next());
        let mut last = self.traffic.request_in(false, "ping", json!({}), Expect::Works);
        last.bytes.pop();
        self.send(last);
        self.process.close_stdin();
        // What is not done after a second gets an error, whatever was expected.
        self.expected.clear();
        while let Some(message) = self.process.next_message() {
            self.judge(&message);
        }
        assert_eq!(self.nameless, 0, "errors without an id that never came");
        let stderr = self.process.finish();
        assert!(!stderr.contains("panicked"), "{stderr}");
        stderr.lines().take(3).for_each(|line| println!("  stderr: {line}"));
        self.counts
    }
}

fn kind(response: &Value) -> String {
    let code = &response["error"]["code"];
    match (code.as_i64(), response.get("id").is_none_or(Value::is_null)) {
        (Some(code), false) => format!("error {code}"),
        (Some(code), true) => format!("error {code} without an id"),
        (None, _) if response["result"]["isError"] == true => "tool error".to_owned(),
        (None, _) => "result".to_owned(),
    }
}
