//! The advisory lock on the file that is about to be changed (flock(2)): between two servers on one directory, also on
//! two machines where the file system carries locks, it does what [`super::path_locks`] does inside one server.
//!
//! It is the file's own lock, as directories have none on network file systems, and no lock file is ever made. A change
//! gives the name to another file, so what was locked may be out of its place by then: it counts only if the place
//! still holds it, else the file that is there now is locked. A new file is locked before it gets its name, so that
//! its writer is done with it before the next one begins.
//!
//! Where the file system has no locks, servers do not exclude each other; [`super::exchange`] still does what it can.

use std::fs::File;
use std::time::{Duration, Instant};

use super::WriteError;
use super::place::Place;
use crate::root::stat::Stat;
use crate::root::sys::{Lock, change};
use crate::runtime::cancel::Cancel;

/// How long a change waits for a lock that another program has.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it waits before it tries again, at first and later.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(10)];
/// When "later" begins.
const SOON: Duration = Duration::from_millis(100);

/// How a file is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// As it is needed.
    Plainly,
    /// The same, and to write: some file systems lock nothing else.
    ToWrite,
}

/// Opens by `open` what a place holds, locks it, and gives it with what is known of it then. `None` where `open` finds
/// nothing there.
pub(super) fn open_locked(
    place: &Place,
    cancel: &Cancel,
    mut open: impl FnMut(Opened) -> Result<Option<File>, WriteError>,
) -> Result<Option<(File, Stat)>, WriteError> {
    let begun = Instant::now();
    let mut how = Opened::Plainly;
    loop {
        let Some(file) = open(how)? else { return Ok(None) };
        let lock = change::try_lock(&file)?;
        if lock == Lock::NeedsWriter && how == Opened::Plainly {
            how = Opened::ToWrite;
            continue;
        }
        if lock != Lock::Busy {
            let stat = Stat::of(&file)?;
            if place.look()?.is_some_and(|there| there.is_same_file(&stat)) {
                return Ok(Some((file, stat)));
            }
        }
        cancel.check()?;
        if begun.elapsed() >= PATIENCE {
            return Err(if lock == Lock::Busy { WriteError::Locked } else { WriteError::Raced });
        }
        std::thread::sleep(PAUSES[usize::from(begun.elapsed() >= SOON)]);
    }
}

/// Locks a file that has no name yet but ours.
pub(super) fn lock_new(file: &File) {
    // Nothing is lost without it: then the next writer does not wait.
    let _ = change::try_lock(file);
}
