//! The command line, the lives one after another, and the summary.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser as _;

use crate::life::{self, Plan};
use crate::measure::Counts;
use crate::memory;
use crate::support::LEGACY;
use crate::{attacks, ends, http};

/// The shortest life: its first third is compared with its last.
const SHORTEST_LIFE: Duration = Duration::from_secs(15);
/// Each revision, with and without write access.
const KINDS: u32 = 8;

/// Random traffic against mcp-fs.
#[derive(Debug, clap::Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
struct Options {
    /// The duration.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// The same seed gives the same traffic.
    #[arg(long)]
    seed: Option<u64>,
    /// Send the traffic over HTTP instead.
    #[arg(long)]
    http: bool,
    /// Measure the memory of many large answers and of attacks instead.
    #[arg(long)]
    memory: bool,
    /// Only that of the attacks.
    #[arg(long)]
    attacks: bool,
    /// Measure how long it takes to end instead.
    #[arg(long)]
    ends: bool,
    /// Added by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

pub(crate) fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    let run = || {
        let time = Duration::from_secs_f64(options.minutes * 60.0);
        if options.http {
            http::soak(seed, time);
        } else if options.memory {
            memory::run();
            attacks::run();
        } else if options.attacks {
            attacks::run();
        } else if options.ends {
            ends::run();
        } else {
            soak(seed, time);
        }
    };
    if catch_unwind(run).is_err() {
        eprintln!("FAILED: a law is broken; the seed is {seed}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn soak(seed: u64, time: Duration) {
    println!("seed {seed}, {:.1} minutes", time.as_secs_f64() / 60.0);
    let life = SHORTEST_LIFE.max(time / KINDS);
    let begin = Instant::now();
    let mut total = Counts::default();
    for number in 0.. {
        if number > 0 && begin.elapsed() + life / 2 > time {
            break;
        }
        let plan = Plan {
            seed: seed.wrapping_add(number as u64),
            revision: LEGACY[number % LEGACY.len()],
            // Alternating, and the other way round the second time.
            writable: (number + number / LEGACY.len()) % 2 == 1,
            one_heap: number % 2 == 0,
            time: life,
        };
        println!("{plan}");
        let lived = Instant::now();
        let counts = life::live(&plan);
        println!("{}", counts.summary(lived.elapsed()));
        total.add(&counts);
    }
    println!("in all: {}", total.line(begin.elapsed()));
}
