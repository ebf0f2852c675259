//! Names are swapped while the server works, as fast as the system can: a file with a link to the secret, a directory
//! with a link to one outside, and a directory that is moved out of the root and back.
//!
//! What was opened while it was inside may be read to its end. But what was never inside, content or name, is never
//! returned. A race is counted in swaps and answers, not in seconds: it continues until there are enough of each, and
//! after that for `MCP_FS_RACE_SECONDS`. It runs behind both walls, behind the first alone, and (`second_wall`) behind
//! the second alone.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::walls::Walls;
use super::{Answer, READ_RESOURCE, ask, asked, say};
use crate::support::{Client, Process, SECRET_MARKER, TIMEOUT, Tree, text_of};

/// The name of every file that is never inside.
pub(crate) const OUTSIDE_NAME: &str = "NAME-OF-THE-OUTSIDE";

pub(crate) fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("an exchange");
}

/// The progress of a race.
pub(crate) struct Race<'a> {
    swaps: &'a [AtomicU64],
    begun: Instant,
    /// The minimum duration, for those who want more than the counts.
    least: Duration,
}

impl Race<'_> {
    /// Whether to continue: too few swaps of a kind, too few answers (`enough` is `false`), or time left.
    pub(crate) fn goes_on(&self, enough: bool) -> bool {
        const LEAST: u64 = 1_000;
        assert!(self.begun.elapsed() < self.least + TIMEOUT, "that is no race: {:?} swaps", self.swaps);
        let few = self.swaps.iter().any(|count| count.load(Ordering::Relaxed) < LEAST);
        few || !enough || self.begun.elapsed() < self.least
    }
}

/// Runs `work` while threads call `swaps` in a loop. Returns the result, and how often each was called.
pub(crate) fn while_swapping<T>(swaps: &[&(dyn Fn() + Sync)], work: impl FnOnce() -> T) -> (T, Vec<u64>) {
    racing(swaps, |_| work())
}

/// The same for work that runs until the race is over.
pub(crate) fn racing<T>(swaps: &[&(dyn Fn() + Sync)], work: impl FnOnce(&Race<'_>) -> T) -> (T, Vec<u64>) {
    /// Stops the threads even if the work panics, because they are waited for.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let stopped = AtomicBool::new(false);
    let counts: Vec<AtomicU64> = swaps.iter().map(|_| AtomicU64::new(0)).collect();
    let result = thread::scope(|scope| {
        let _stop = Stop(&stopped);
        for (swap, count) in swaps.iter().zip(&counts) {
            scope.spawn(|| {
                while !stopped.load(Ordering::Relaxed) {
                    swap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        work(&Race { swaps: &counts, begun: Instant::now(), least: least_time() })
    });
    (result, counts.into_iter().map(AtomicU64::into_inner).collect())
}

/// `swap.txt` and its counterpart, `swap-dir` and its counterpart, and `moving`, which contains `deep`.
pub(crate) struct Stage {
    pub(crate) tree: Tree,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let tree = Tree::new()
            .file("swap.txt", "inside\n")
            .file("swap-dir/inside.txt", "inside\n")
            .file("moving/deep/inside.txt", "inside\n")
            .file("still/inside.txt", "inside\n");
        let outside = tree.outside();
        for directory in ["other", "impostor"] {
            fs::create_dir(outside.join(directory)).expect("a directory");
            for name in ["inside.txt", OUTSIDE_NAME] {
                fs::write(outside.join(directory).join(name), SECRET_MARKER).expect("a file");
            }
        }
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(outside.join(target), outside.join(name)).expect("a link");
        };
        link("secret", "partner.txt");
        link("other", "partner-dir");
        Self { tree }
    }

    /// Replaces a file by a link to the secret, and back.
    pub(crate) fn swap_file(&self) {
        exchange(&self.tree.join("swap.txt"), &self.tree.outside().join("partner.txt"));
    }

    /// Replaces a directory by a link to one outside, and back.
    pub(crate) fn swap_directory(&self) {
        exchange(&self.tree.join("swap-dir"), &self.tree.outside().join("partner-dir"));
    }

    /// Moves a directory out. While it is outside, its content is exchanged: whoever continues from a handle of it gets
    /// to what was never inside.
    pub(crate) fn move_out_and_back(&self) {
        let (inside, moved) = (self.tree.join("moving"), self.tree.outside().join("moved"));
        let impostor = self.tree.outside().join("impostor");
        fs::rename(&inside, &moved).expect("out");
        exchange(&moved.join("deep"), &impostor);
        exchange(&moved.join("deep"), &impostor);
        fs::rename(&moved, &inside).expect("and back");
    }
}

/// What is requested in a loop.
const REQUESTS: &[(&str, &str)] = &[
    ("read_text_file", "swap.txt"),
    ("read_media_file", "swap.txt"),
    ("read_multiple_files", "swap.txt"),
    ("get_file_info", "swap.txt"),
    (READ_RESOURCE, "swap.txt"),
    ("read_text_file", "still/../swap.txt"),
    ("read_text_file", "swap-dir/inside.txt"),
    (READ_RESOURCE, "swap-dir/inside.txt"),
    (READ_RESOURCE, "swap-dir"),
    ("list_directory", "swap-dir"),
    ("list_directory_with_sizes", "swap-dir"),
    ("directory_tree", "swap-dir"),
    ("read_text_file", "swap-dir/../secret"),
    ("read_text_file", "moving/deep/inside.txt"),
    ("read_text_file", "moving/deep/../../secret"),
    ("list_directory", "moving/deep"),
    ("directory_tree", "moving"),
    ("directory_tree", "."),
];

/// What is followed all the time. The last never changes; the others may be reported.
const FOLLOWED: [&str; 5] =
    ["swap.txt", "swap-dir", "swap-dir/inside.txt", "moving/deep/inside.txt", "still/inside.txt"];

/// How often something was returned, and how often refused.
#[derive(Debug, Default)]
struct Tally {
    given: u64,
    refused: u64,
}

impl Tally {
    fn count(&mut self, operation: &str, answer: &Answer) {
        let words = answer.words();
        assert!(!words.contains(OUTSIDE_NAME), "{operation}: a name from outside: {words}");
        if answer.is_refusal() {
            self.refused += 1;
        } else {
            self.given += 1;
            let is_right = operation != "read_text_file" || answer.text() == Some("inside\n");
            assert!(is_right, "{operation} gave something else: {answer:?}");
        }
    }
}

fn least_time() -> Duration {
    let seconds = std::env::var("MCP_FS_RACE_SECONDS").map_or(0, |seconds| seconds.parse().unwrap_or(30));
    Duration::from_secs(seconds)
}

fn ask_during(race: &Race<'_>, server: &mut impl Client, tree: &Tree) -> Tally {
    const ROUNDS: usize = 30;
    let mut tally = Tally::default();
    let mut rounds = 0;
    while race.goes_on(rounds >= ROUNDS && tally.given > 10 && tally.refused > 10) {
        rounds += 1;
        for (operation, path) in REQUESTS {
            tally.count(operation, &ask(server, tree, operation, &asked(tree, operation, path)));
        }
        let listed = server.result("resources/list", json!({}));
        tally.count("resources/list", &Answer(json!({"result": listed})));
    }
    tally
}

/// The race against the program behind these walls.
pub(super) fn behind(walls: Walls) {
    let stage = Stage::new();
    let Some(mut server) = walls.start(&stage.tree, &[]) else { return };
    let followed = FOLLOWED.map(|path| stage.tree.uri(path));
    // Without the first wall, links are followed wherever they lead.
    let follows = walls != Walls::Second;
    for uri in followed.iter().filter(|_| follows) {
        server.result("resources/subscribe", json!({"uri": uri}));
    }
    let (tally, swaps) =
        racing(&[&|| stage.swap_file(), &|| stage.swap_directory(), &|| stage.move_out_and_back()], |race| {
            ask_during(race, &mut server, &stage.tree)
        });
    let Tally { given, refused } = tally;
    say(&format!("race, {walls:?}: {swaps:?} swaps, {given} answers given, {refused} refused"));
    if follows {
        heard_of_a_swap(&mut server, &stage);
    }
    server.close_stdin();
    let exit = server.wait();
    assert!(exit.status.success(), "{exit:?}");
    for message in &exit.rest {
        let is_followed = follows && followed[..4].iter().any(|uri| message["params"] == json!({"uri": uri}));
        match message["method"].as_str() {
            Some("notifications/resources/updated") => assert!(is_followed, "nobody asked for it: {message}"),
            method => assert_eq!(method, Some("notifications/resources/list_changed"), "{message}"),
        }
    }
}

/// Subscriptions still work after all that: one more swap is reported.
fn heard_of_a_swap(server: &mut Process, stage: &Stage) {
    let uri = json!({"uri": stage.tree.uri("swap-dir/inside.txt")});
    fs::write(stage.tree.join("swap-dir/inside.txt"), "inside\n").expect("it is written");
    while server.recv()["params"] != uri {}
}

#[test]
fn nothing_from_outside_comes_in_by_swapping_names() {
    behind(Walls::Both);
}

#[test]
fn nothing_from_outside_comes_in_by_swapping_names_behind_the_first_wall_alone() {
    behind(Walls::First);
}

/// A root is its handle: what its name leads to later is never served. While that is something else, nothing is.
#[test]
fn a_root_that_is_replaced_by_a_link_never_leads_elsewhere() {
    let stage = Stage::new();
    let (root, link) = (stage.tree.path(), stage.tree.outside().join("link"));
    let impostor = stage.tree.outside().join("impostor-root");
    fs::create_dir_all(impostor.join("still")).expect("a directory");
    fs::write(impostor.join("still/inside.txt"), SECRET_MARKER).expect("a file");
    fs::write(impostor.join(OUTSIDE_NAME), SECRET_MARKER).expect("a file");
    std::os::unix::fs::symlink(&impostor, &link).expect("a link");
    for walls in [Walls::First, Walls::Both] {
        let Some(mut server) = walls.start(&stage.tree, &["--allow-write"]) else { continue };
        let (rounds, swaps) = racing(&[&|| exchange(root, &link)], |race| {
            let (mut rounds, mut done) = (0, 0);
            while race.goes_on(rounds >= 100 && done > 10 && done < 5 * rounds) {
                let absolute = root.join("still/inside.txt").to_str().expect("text").to_owned();
                let mut says = |tool: &str, arguments: Value, expected: &str| {
                    let said = server.tool(tool, arguments);
                    let expected = if said["isError"] == true { "no longer at its path" } else { expected };
                    done += usize::from(said["isError"] != true);
                    let text = text_of(&said);
                    assert!(text.contains(expected) && !text.contains(OUTSIDE_NAME), "{tool}: {text}");
                };
                for path in ["still/inside.txt".to_owned(), absolute, stage.tree.uri("still/inside.txt")] {
                    says("read_text_file", json!({"path": path}), "inside\n");
                }
                says("list_directory", json!({}), "swap.txt");
                says("write_file", json!({"path": "written.txt", "content": "x"}), "written.txt");
                rounds += 1;
            }
            rounds
        });
        say(&format!("race for the root, {walls:?}: {swaps:?} swaps, {rounds} rounds"));
        if root.is_symlink() {
            exchange(root, &link);
        }
    }
    assert!(root.join("written.txt").exists() && !impostor.join("written.txt").exists());
}
