//! Requests designed to take much memory: what each of them adds, and what many of them take.
//!
//! By default two rules hold for all of them: one request of at most 64 KiB adds no more than 64 MiB, and no traffic
//! takes the program beyond 256 MiB. Each row runs in its own process, which is killed if it takes far too much, so
//! that the machine survives a broken rule. All rows are measured before the first broken rule ends the run.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::attempts::{Attempt, attempts};
use crate::support::{Tree, command};

/// What one request may add, and what all may take, in KiB.
const ONE_ADDS: u64 = 64 << 10;
const ALL_TAKE: u64 = 256 << 10;
/// At this size, in KiB, a process is killed.
const FAR_TOO_MUCH: u64 = 768 << 10;
/// How long a row may take. What is not answered by then is shown as such.
const PATIENCE: Duration = Duration::from_secs(30);
/// When memory has not grown for this long, a server whose answers nobody reads has stopped.
const STILL: Duration = Duration::from_secs(3);

/// Prints the table. Panics at the end if a rule was broken.
pub(crate) fn run() {
    println!("\nattacks: RSS in MiB before, at its peak, and what was added; processor time; answers");
    println!("{:58}{:>8}{:>8}{:>8}{:>9}  answers", "", "before", "peak", "added", "CPU s");
    let tree = crate::attempts::tree();
    let broken: Vec<String> = attempts().iter().filter_map(|attempt| judge(&tree, attempt)).collect();
    assert!(broken.is_empty(), "rules are broken:\n{}", broken.join("\n"));
}

/// Measures one attempt; returns the rule that it breaks.
fn judge(tree: &Tree, attempt: &Attempt) -> Option<String> {
    let figures = measure(tree, attempt);
    let Figures { before, peak, cpu, answers, killed } = figures;
    let added = peak.saturating_sub(before);
    let sign = if killed { ">" } else { "" };
    println!(
        "{:58}{:>8.1}{:>8}{:>8}{cpu:>9.2}  {answers} of {}",
        attempt.name,
        before as f64 / 1024.0,
        format!("{sign}{}", peak >> 10),
        format!("{sign}{}", added >> 10),
        attempt.count,
    );
    let is_one = attempt.count == 1 && (attempt.line)(0).len() <= 64 << 10;
    match () {
        () if is_one && added > ONE_ADDS => Some(format!("{}: one request added {} MiB", attempt.name, added >> 10)),
        () if peak > ALL_TAKE => Some(format!("{}: {} MiB were taken", attempt.name, peak >> 10)),
        () => None,
    }
}

struct Figures {
    /// In KiB.
    before: u64,
    peak: u64,
    /// In seconds, of the attack alone.
    cpu: f64,
    answers: usize,
    killed: bool,
}

/// A process that is killed at the end, whatever happens.
struct Victim(Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measure(tree: &Tree, attempt: &Attempt) -> Figures {
    let mut victim = Victim(serving(tree).spawn().expect("mcp-fs starts"));
    let (mut stdin, stdout) = (victim.0.stdin.take().expect("piped"), victim.0.stdout.take().expect("piped"));
    let proc = PathBuf::from(format!("/proc/{}", victim.0.id()));
    let answers = Arc::new(AtomicUsize::new(0));
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let (counted, reads) = (Arc::clone(&answers), attempt.reads);
    let reader = move || {
        let (mut stdout, mut line) = (BufReader::new(stdout), Vec::new());
        while stdout.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            counted.fetch_add(usize::from(is_answer(&line)), Ordering::Relaxed);
            line = Vec::new();
            if !reads {
                // A client that has stopped reading; the pipe stays open.
                let _ = gone.recv();
            }
        }
    };
    thread::spawn(reader);
    let begun = Instant::now();
    stdin.write_all(&attempt.ready).expect("it reads");
    while answers.load(Ordering::Relaxed) == 0 {
        assert!(begun.elapsed() < PATIENCE, "{}: it does not even begin", attempt.name);
        thread::sleep(Duration::from_millis(5));
    }
    let (before, cpu_before) = (kib(&proc, "VmRSS"), cpu(&proc));
    let (count, line) = (attempt.count, Arc::clone(&attempt.line));
    // The input stays open until it ends.
    thread::spawn(move || (0..count).try_for_each(|number| stdin.write_all(&line(number))).map(|()| thread::park()));
    let (begun, mut most, mut since) = (Instant::now(), 0, Instant::now());
    let killed = loop {
        let rss = kib(&proc, "VmRSS");
        if rss > most {
            (most, since) = (rss, Instant::now());
        }
        let killed = rss > FAR_TOO_MUCH;
        let done = answers.load(Ordering::Relaxed) > count || !reads && since.elapsed() > STILL;
        if done || killed || begun.elapsed() > PATIENCE {
            break killed;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let figures = Figures {
        before,
        peak: kib(&proc, "VmHWM").max(most),
        cpu: cpu(&proc) - cpu_before,
        answers: answers.load(Ordering::Relaxed) - 1,
        killed,
    };
    drop(go);
    figures
}

fn serving(tree: &Tree) -> Command {
    let mut command = command(["--log-level=off"]);
    command.arg(tree.path()).stderr(std::process::Stdio::null());
    command
}

/// Whether a line, whose id may be long, is an answer rather than a notification.
fn is_answer(line: &[u8]) -> bool {
    let head = &line[..line.len().min(200)];
    !head.windows(9).any(|part| part == b"\"method\":")
}

fn kib(proc: &std::path::Path, key: &str) -> u64 {
    let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.trim_start_matches(':').split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Processor time in seconds.
fn cpu(proc: &std::path::Path) -> f64 {
    let stat = fs::read_to_string(proc.join("stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    // utime and stime, in hundredths: see proc(5).
    after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
