//! Another program that changes `churn/` all the time: files and directories appear, change, move and disappear, and a
//! link leads inside at one moment and outside at the next.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fastrand::Rng;

/// The pause between two changes: short enough that every walk meets one, and long enough for other work on two
/// processors.
const PAUSE: Duration = Duration::from_millis(2);

/// A thread that meddles until it is dropped.
#[derive(Debug)]
pub(crate) struct Meddler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Meddler {
    pub(crate) fn start(root: &Path, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, churn) = (Arc::clone(&stop), root.join("churn"));
        let mut rng = Rng::with_seed(seed);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                meddle(&churn, &mut rng);
                thread::sleep(PAUSE);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// One change. Some fail, because something does not exist yet or exists already, which is left to chance as well.
fn meddle(churn: &Path, rng: &mut Rng) {
    let [one, other]: [PathBuf; 2] = std::array::from_fn(|_| {
        let directory = ["a", "a/b", "c", "d"][rng.usize(0..4)];
        churn.join(directory).join(format!("x{}", rng.u32(0..6)))
    });
    let parent = one.parent().expect("below churn");
    let _ = match rng.u32(0..8) {
        0 | 1 => fs::write(&one, "changed\n".repeat(rng.usize(0..50))),
        2 => fs::rename(&one, &other),
        3 => fs::remove_file(&one),
        4 => fs::create_dir_all(parent),
        5 => fs::rename(churn.join("c"), churn.join("d")),
        6 => fs::remove_dir_all(churn.join("d")),
        _ => {
            let _ = symlink(["a", "../.."][rng.usize(0..2)], churn.join("new"));
            fs::rename(churn.join("new"), churn.join("swap"))
        }
    };
}
