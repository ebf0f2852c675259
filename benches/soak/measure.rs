//! Memory, descriptors and threads of a process, and how they may grow; counters, and their summary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

/// The measurements at one moment, in KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) rss: u64,
    pub(crate) peak: u64,
    pub(crate) threads: u64,
    pub(crate) descriptors: usize,
}

impl Sample {
    pub(crate) fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("/proc/PID/status");
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("a line of /proc/PID/status");
            line.trim_start_matches(':').split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).expect("/proc/PID/fd").count();
        Self { rss: number("VmRSS"), peak: number("VmHWM"), threads: number("Threads"), descriptors }
    }
}

/// What happened.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) pieces: u64,
    /// By kind: `result`, `tool error`, `error -32602`, or the method of a notification.
    pub(crate) answers: BTreeMap<String, u64>,
    /// Taken at quiet points.
    pub(crate) samples: Vec<Sample>,
}

impl Counts {
    pub(crate) fn count(&mut self, kind: impl Into<String>) {
        *self.answers.entry(kind.into()).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.pieces += other.pieces;
        self.samples.extend(&other.samples);
        for (kind, count) in &other.answers {
            *self.answers.entry(kind.clone()).or_default() += count;
        }
    }

    /// Memory is flat: the median of the last third exceeds that of the first by at most a fifth and `allowance` KiB.
    pub(crate) fn check_flat(&self, allowance: u64) {
        let (first, last) = self.thirds();
        assert!(last <= first * 6 / 5 + allowance, "memory grows: {first} KiB in the first third, {last} in the last");
    }

    fn thirds(&self) -> (u64, u64) {
        let rss: Vec<u64> = self.samples.iter().map(|sample| sample.rss).collect();
        let third = rss.len().div_ceil(3);
        (median(&rss[..third]), median(&rss[rss.len() - third..]))
    }

    pub(crate) fn summary(&self, time: Duration) -> String {
        let (first, last) = self.thirds();
        let peak = self.samples.iter().map(|sample| sample.peak).max().unwrap_or_default();
        let threads = self.samples.iter().map(|sample| sample.threads).max().unwrap_or_default();
        let descriptors = self.samples.last().map_or(0, |sample| sample.descriptors);
        format!(
            "  {}\n  RSS first {first}, last {last}, peak {peak} KiB at {} quiet points; {descriptors} descriptors, at most {threads} threads",
            self.line(time),
            self.samples.len()
        )
    }

    pub(crate) fn line(&self, time: Duration) -> String {
        let mut line = format!(
            "{} pieces in {:.0} s, {:.0}/s",
            self.pieces,
            time.as_secs_f64(),
            self.pieces as f64 / time.as_secs_f64()
        );
        for (kind, count) in &self.answers {
            write!(line, ", {kind} {count}").expect("a String takes all");
        }
        line
    }
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
