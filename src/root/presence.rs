//! Is the served directory still the one at its path?
//!
//! The root is a handle, which stays with its directory when that is moved or replaced (`mv DIR DIR.old`, a deployment
//! that switches a link, a container whose mount is renewed). From then on it no longer leads to what the client sees
//! at that path. Serving it would show old files, and change files that are no longer in use.
//!
//! The path is only examined, never opened: what is there is compared with the handle. Landlock does not restrict that.
//! If the path cannot be examined (a directory above it may have become inaccessible), the directory counts as being in
//! its place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use cap_std::fs::Dir;

use super::stat::Stat;
use super::{Root, RootError, sys};

/// Where the served directory should be.
#[derive(Debug)]
pub(super) struct Presence {
    /// The paths by which it was found at startup: without links, and as typed.
    paths: Vec<PathBuf>,
    own: Identity,
    /// The change time of the directory when it was last found in its place.
    seen: AtomicI64,
}

/// A change time that no directory has.
const NEVER: i64 = i64::MAX;

/// Identifies a directory: its device and its inode there.
type Identity = (u64, u64);

impl Presence {
    /// For a directory that was just opened.
    pub(super) fn of(dir: &Dir, canonical: &Path, typed: &Path) -> io::Result<Self> {
        let stat = Stat::from(&dir.dir_metadata()?);
        let own = identity(&stat);
        let mut paths = vec![canonical.to_owned()];
        paths.extend(std::path::absolute(typed).ok().filter(|typed| typed != canonical));
        // A path that leads elsewhere from the start, such as one in /proc, tells nothing later.
        paths.retain(|path| at(path).is_ok_and(|there| there == own));
        Ok(Self { paths, own, seen: AtomicI64::new(changed_at(&stat)) })
    }
}

impl Root {
    /// Whether the directory is still at its path.
    pub(crate) fn is_in_place(&self) -> bool {
        self.must_be_in_place().is_ok()
    }

    /// Fails if the directory is no longer at its path. It takes one or two system calls, so it is done once per
    /// change, and once per call that reads.
    pub(super) fn must_be_in_place(&self) -> Result<(), RootError> {
        // Taken before looking, so that a change in between is noticed the next time.
        let changed = self.changed_at();
        for path in &self.presence.paths {
            match at(path) {
                Ok(there) if there == self.presence.own => {}
                Err(error) if !says_that_it_is_gone(&error) => {}
                _ => {
                    // From here on nothing is read inline, until the directory is back.
                    self.presence.seen.store(NEVER, Ordering::Relaxed);
                    return Err(RootError::Replaced);
                }
            }
        }
        self.presence.seen.store(changed, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the directory itself is unchanged since it was found in its place. It examines the handle only, for
    /// reads that must not wait. Local file systems record a move of a directory as a change of it. What they do not
    /// record, such as a move of a directory above, is noticed by the next call that may wait.
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

/// Not used here, because no read is inline.
#[cfg(not(unix))]
fn changed_at(_stat: &Stat) -> i64 {
    NEVER
}

fn identity(stat: &Stat) -> Identity {
    (stat.on_device(), stat.identity())
}

/// What is at a path on the host now.
fn at(path: &Path) -> io::Result<Identity> {
    sys::stat_outside(path).map(|stat| identity(&stat))
}

fn says_that_it_is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
