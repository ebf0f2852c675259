//! The advisory lock on the file that is about to be changed (flock(2)). Between servers on one directory, including
//! other machines if the file system propagates locks, it does what [`super::path_locks`] does within one server.
//!
//! It is a lock on the file itself, because directories have none on network file systems; no lock file is ever
//! created. A change gives the name to another file, so a locked file may have lost its place: the lock counts only if
//! the place still holds that file; otherwise the file that is there now is locked. A new file is locked before it gets
//! its name, so that its writer is done before the next one starts.
//!
//! If the file system has no locks, servers do not exclude each other; [`super::exchange`] still does what it can.

use std::fs::File;
use std::time::{Duration, Instant};

use super::WriteError;
use super::place::Place;
use crate::root::stat::Stat;
use crate::root::sys::{Lock, change};
use crate::runtime::cancel::Cancel;

/// How long a change waits for another program's lock.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pauses between attempts, at first and later.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(10)];
/// When the longer pauses begin.
const SOON: Duration = Duration::from_millis(100);

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// As the operation needs it.
    Plainly,
    /// Also for writing: some file systems lock nothing else.
    ToWrite,
}

/// Opens the file at a place with `open`, locks it, and returns it with its facts at that time. `None` if `open` finds
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

/// Locks a file that is known under our temporary name only.
pub(super) fn lock_new(file: &File) {
    // Nothing is lost without the lock, except that the next writer does not wait.
    let _ = change::try_lock(file);
}
