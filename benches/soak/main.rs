//! The soak: random traffic, valid and invalid, for minutes, against the real program, and rules that always hold.
//!
//!     cargo bench --bench soak -- --minutes 10 --seed 42     (default: one minute, any seed, which is printed)
//!     cargo bench --bench soak -- --http --minutes 10        (over HTTP, both eras)
//!     cargo bench --bench soak -- --memory                   (what many large answers and attacks take, as tables)
//!     cargo bench --bench soak -- --ends                     (how long it takes to end)
//!
//! | module | holds |
//! | --- | --- |
//! | [`tree`] | the served directory with entries of every kind, and what to expect of each place |
//! | [`traffic`], [`calls`], [`noise`] | what is sent: pieces of traffic, valid calls, and invalid input |
//! | [`expect`] | what the model knows about an answer |
//! | [`life`] | one process from its start to its end, and the rules |
//! | [`http`] | the same over HTTP: many connections at once, and what clients do to them |
//! | [`meddler`] | another program that changes the directory meanwhile |
//! | [`measure`] | memory, descriptors and threads, and how they may grow |
//! | [`memory`] | the peak of memory under many large requests |
//! | [`attacks`], [`attempts`] | the same under requests designed for that, and what those are |
//! | [`ends`] | how long it takes to end |
//!
//! The same seed gives the same traffic; what overlaps depends on the machine. A broken rule ends the run with the
//! seed, the last messages and exit code 1.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken law ends the soak by a panic")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it sets its scene on the real disk")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "it reports")]

#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod attempts;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod expect;
#[cfg(target_os = "linux")]
mod http;
#[cfg(target_os = "linux")]
mod life;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod meddler;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod noise;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
#[path = "../../tests/it/support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod traffic;
#[cfg(target_os = "linux")]
mod tree;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    run::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("SKIPPED: the soak measures by /proc, which is Linux only");
}
