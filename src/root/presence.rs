//! Is the served directory still the one at its path?
//!
//! The root is a handle, and a handle stays with its directory when that is moved or replaced (`mv DIR DIR.old`, a
//! deployment that switches a link, a container whose mount is renewed). What it leads to then is not what the client
//! sees at that path, so serving it would show old files and change files that are no longer in use.
//!
//! The path is only ever asked what is there, never opened: what it leads to is compared with the handle. Landlock does
//! not restrict that. Where the path cannot be asked (a directory above it may not be searched any more), the directory
//! counts as being there.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use cap_std::fs::Dir;

use super::stat::Stat;
use super::{Root, RootError, sys};

/// Where the served directory has to be.
#[derive(Debug)]
pub(super) struct Presence {
    /// The paths by which it was found at the start: without links, and as it was typed.
    paths: Vec<PathBuf>,
    own: Identity,
    /// When the directory itself last changed before it was found in its place.
    seen: AtomicI64,
}

/// No directory has changed at this time.
const NEVER: i64 = i64::MAX;

/// Which directory it is: its device and its number there.
type Identity = (u64, u64);

impl Presence {
    /// Of a directory that was opened just now.
    pub(super) fn of(dir: &Dir, canonical: &Path, typed: &Path) -> io::Result<Self> {
        let stat = Stat::from(&dir.dir_metadata()?);
        let own = identity(&stat);
        let mut paths = vec![canonical.to_owned()];
        paths.extend(std::path::absolute(typed).ok().filter(|typed| typed != canonical));
        // A path that leads elsewhere from the start, such as one in /proc, says nothing later.
        paths.retain(|path| at(path).is_ok_and(|there| there == own));
        Ok(Self { paths, own, seen: AtomicI64::new(changed_at(&stat)) })
    }
}

impl Root {
    /// Whether the directory is still at its path.
    pub(crate) fn is_in_place(&self) -> bool {
        self.must_be_in_place().is_ok()
    }

    /// Fails where the directory is no longer at its path. It takes a system call or two, and so it is done once for
    /// each change, and once for each call that reads.
    pub(super) fn must_be_in_place(&self) -> Result<(), RootError> {
        // Before the look: what happens meanwhile is seen the next time.
        let changed = self.changed_at();
        for path in &self.presence.paths {
            match at(path) {
                Ok(there) if there == self.presence.own => {}
                Err(error) if !says_that_it_is_gone(&error) => {}
                _ => {
                    // From here on no read is done on the spot, until the directory is back.
                    self.presence.seen.store(NEVER, Ordering::Relaxed);
                    return Err(RootError::Replaced);
                }
            }
        }
        self.presence.seen.store(changed, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the directory itself has not changed since it was found in its place. For reads that must not wait: it asks
    /// the handle alone. Local file systems note a move of a directory as a change of it; what they do not note, such as
    /// a move of a directory above, is seen by the next call that may wait.
    pub(super) fn seems_in_place(&self) -> bool {
        let changed = self.changed_at();
        changed != NEVER && changed == self.presence.seen.load(Ordering::Relaxed)
    }

    fn changed_at(&self) -> i64 {
        self.dir.dir_metadata().map_or(NEVER, |metadata| changed_at(&Stat::from(&metadata)))
    }
}

/// The time of the last change, in nanoseconds.
#[cfg(unix)]
fn changed_at(stat: &Stat) -> i64 {
    i64::try_from(stat.changed).unwrap_or(NEVER)
}

/// Not needed: no read is asked not to wait.
#[cfg(not(unix))]
fn changed_at(_stat: &Stat) -> i64 {
    NEVER
}

fn identity(stat: &Stat) -> Identity {
    (stat.on_device(), stat.identity())
}

/// What is at a path outside now.
fn at(path: &Path) -> io::Result<Identity> {
    sys::stat_outside(path).map(|stat| identity(&stat))
}

fn says_that_it_is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
