//! The soak over HTTP: threads of clients in both eras, which also do what clients should not, and the rules.
//! [`visits`] has what a single client does.
//!
//! Each visit knows the status it must get. After each round all connections are closed; then the program must have as
//! many descriptors as before, and over the whole time its memory must not grow. Abandoned sessions end only when they
//! have been idle for long or there are too many, so the maximum number exists before the first measurement.

mod visits;

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../../tests/it/http/requests.rs"]
mod requests;
#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../../tests/it/http/support.rs"]
mod support;

use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

use self::requests::initialize;
use self::support::HttpServer;
use self::visits::{VISITS, Visitor};
use crate::measure::{Counts, Sample};
use crate::support::{LATEST_LEGACY, TIMEOUT, Tree};

/// Concurrent clients.
const CLIENTS: u64 = 16;
/// Visits of each client from one quiet point to the next.
const ROUND: usize = 60;
/// The number of sessions that the server keeps.
const SESSIONS: usize = 4_096;
/// Quiet points until it is warmed up.
const WARM: usize = 2;
/// The least number of samples of which a third is meaningful.
const SAMPLES: usize = 6;
/// How much memory may grow, in KiB, besides a fifth: glibc fills the heaps of its threads gradually.
const GROWTH: u64 = 16 << 10;
/// Memory under load, in KiB: 64 MiB of answers, 64 MiB of bodies, the sessions and the program.
const PEAK: u64 = (64 + 64 + 128) << 10;

/// How long the server has to notice closed connections before anything is measured.
const SETTLED: Duration = Duration::from_millis(300);
/// Descriptors of the watcher, once something is followed.
const WATCHING: usize = 4;

/// Runs visits for `time`. Panics if a rule is broken.
pub(crate) fn soak(seed: u64, time: Duration) {
    println!("HTTP, seed {seed}, {:.1} minutes", time.as_secs_f64() / 60.0);
    let tree = (0..20).fold(Tree::new(), |tree, number| tree.file(format!("{number}.txt"), "one two\n".repeat(5_000)));
    let tree = tree.file("a.txt", "one\n").file("big.bin", vec![0xff; 3_500_000]).file("touched.txt", "0");
    let server = HttpServer::with(tree, &["--log-level", "error"]);
    let mut connection = server.connect();
    for _ in 0..SESSIONS {
        connection.send(&initialize(LATEST_LEGACY));
        assert_eq!(connection.reply().status, 200);
    }
    drop(connection);
    thread::sleep(SETTLED);
    let before = Sample::of(server.pid());
    let mut counts = Counts::default();
    let (begin, mut rounds) = (Instant::now(), 0);
    while begin.elapsed() < time || counts.samples.len() < SAMPLES {
        counts.add(&round(&server, seed.wrapping_add(rounds as u64 * CLIENTS)));
        rounds += 1;
        let sample = quiet(&server, &before);
        if rounds > WARM {
            counts.samples.push(sample);
        }
    }
    println!("{}", counts.summary(begin.elapsed()));
    counts.check_flat(GROWTH);
    assert!(server.end().success(), "it did not end well");
}

/// All clients at once, until each has made its visits.
fn round(server: &HttpServer, seed: u64) -> Counts {
    let mut counts = Counts::default();
    thread::scope(|scope| {
        let visit = |number| Visitor::new(server, Rng::with_seed(seed.wrapping_add(number))).visit_times(ROUND);
        let visitors: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || visit(number))).collect();
        for visitor in visitors {
            for kind in visitor.join().expect("a law is broken") {
                counts.pieces += 1;
                counts.count(VISITS[kind].0);
            }
        }
    });
    counts
}

/// Waits until the server has noticed all closed connections, so that there are as many descriptors as before.
fn quiet(server: &HttpServer, before: &Sample) -> Sample {
    let begin = Instant::now();
    loop {
        thread::sleep(SETTLED);
        let sample = Sample::of(server.pid());
        assert!(sample.peak <= PEAK, "{} KiB of memory, and {PEAK} are the most", sample.peak);
        if sample.descriptors <= before.descriptors + WATCHING {
            return sample;
        }
        let before = before.descriptors;
        assert!(begin.elapsed() < TIMEOUT, "{} descriptors, and before {before}", sample.descriptors);
    }
}
