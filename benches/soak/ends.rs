//! How long the program takes to end, when its input ends and after a signal.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Client as _, LATEST_LEGACY, Process, Tree};

/// The limit for idle servers. Claude Code kills them half a second after SIGINT.
const MOST: Duration = Duration::from_millis(200);
const TIMES: usize = 21;

/// Prints the table. Panics if a median is too long.
pub(crate) fn run() {
    let tree = Tree::new().file("a.txt", "one\n");
    let median = |name: &str, end: &dyn Fn(Process)| {
        let mut times: Vec<Duration> = (0..TIMES)
            .map(|_| {
                let mut process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
                process.result("resources/list", json!({}));
                let begun = Instant::now();
                end(process);
                begun.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("{name:24}{:>10.1} ms (median of {TIMES})", times[TIMES / 2].as_secs_f64() * 1e3);
        assert!(times[TIMES / 2] < MOST, "{name}: {times:?}");
    };
    median("end of the input, idle", &|process| drop(process.finish()));
    for (name, signal) in [("SIGINT", Signal::INT), ("SIGTERM", Signal::TERM), ("SIGHUP", Signal::HUP)] {
        median(name, &|process| {
            process.signal(signal);
            drop(process.wait());
        });
    }
}
