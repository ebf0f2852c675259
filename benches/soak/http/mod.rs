//! The soak over HTTP: threads of clients in both eras, who also do what clients should not, and the laws. What a client
//! does by itself is in [`visits`].
//!
//! Each visit knows the status that it must get. After each round all connections are closed; then the program must have
//! the descriptors that it had, and over the whole time its memory must not grow. Sessions that are left go only when
//! they are idle for long or too many, so there are as many as may be before the first measurement.

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

/// Clients at once.
const CLIENTS: u64 = 16;
/// Visits of each from one quiet point to the next.
const ROUND: usize = 60;
/// Sessions that the server keeps.
const SESSIONS: usize = 4_096;
/// Quiet points before it is warm.
const WARM: usize = 2;
/// The fewest samples of which a third tells something.
const SAMPLES: usize = 6;
/// What memory may grow, in KiB, besides a fifth: glibc fills the heaps of its threads little by little.
const GROWTH: u64 = 16 << 10;
/// Memory while it works, in KiB: 64 MiB of answers, 64 MiB of bodies, the sessions and the program.
const PEAK: u64 = (64 + 64 + 128) << 10;

/// How long the server has to notice what was cut before anything is measured.
const SETTLED: Duration = Duration::from_millis(300);
/// Descriptors of what watches the tree, once something is followed.
const WATCHING: usize = 4;

/// Visits for `time`. Panics where a law is broken.
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

/// Waits until what was cut is gone: then there are the descriptors that there were.
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
