//! Windows: what changes need beyond cap-std. Every name is one component in an open directory, and no link is
//! followed.
//!
//! A program that has a file open can prevent all others from opening, replacing or deleting it. Virus scanners,
//! indexers and backups do so briefly, so operations that fail for this reason are retried for a moment.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use winx::file::AccessMode;

use crate::root::sys::Lock;

pub(in crate::root) use crate::root::sys::portable::{data, listable, mount_of, reserve};

/// How long a change waits for a file that another program has open, and how often it tries.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(20);

/// The system's error for a file that another program has locked.
const SHARING_VIOLATION: i32 = 32;

/// Fails if this user may not write to the file itself.
pub(in crate::root) fn may_write(dir: &Dir, name: &OsStr) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).follow(FollowSymlinks::No);
    patiently(is_in_use, || dir.open_with(name, &options).map(drop))
}

/// Gives a file the name of another one, in one step. Permission to write to the other one was checked before, so a
/// denial means that it is in use.
pub(in crate::root) fn rename_over(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let seems_in_use = |error: &io::Error| is_in_use(error) || error.kind() == io::ErrorKind::PermissionDenied;
    patiently(seems_in_use, || dir.rename(from, dir, to)).map_err(|error| match error {
        error if seems_in_use(&error) => io::Error::from_raw_os_error(SHARING_VIOLATION),
        error => error,
    })
}

fn is_in_use(error: &io::Error) -> bool {
    error.raw_os_error() == Some(SHARING_VIOLATION)
}

fn patiently(is_in_use: impl Fn(&io::Error) -> bool, mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_in_use(&error) && begun.elapsed() < PATIENCE => sleep(PAUSE),
            done => return done,
        }
    }
}

/// No rename that Rust offers keeps a file that has the new name, but creating a hard link does. A file that cannot
/// lose its old name must not get the new one.
pub(in crate::root) fn rename_new(from: (&Dir, &OsStr), _to: (&Dir, &OsStr)) -> io::Result<()> {
    let mut options = super::to_look_at();
    options.access_mode(AccessMode::DELETE.bits());
    patiently(is_in_use, || from.0.open_with(from.1, &options).map(drop))?;
    Err(io::ErrorKind::Unsupported.into())
}

/// Names cannot be swapped.
pub(in crate::root) fn exchange(_one: (&Dir, &OsStr), _other: (&Dir, &OsStr)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Locks prevent others from reading, so none are used.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(in crate::root) fn try_lock(_file: &File) -> io::Result<Lock> {
    Ok(Lock::Unsupported)
}

/// There are no such bits.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(in crate::root) fn clear_set_id(_file: &File) -> io::Result<()> {
    Ok(())
}

/// The system writes names by itself.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(in crate::root) fn sync(_dir: &Dir) -> io::Result<()> {
    Ok(())
}

/// A new file gets its access list from the directory, and a read-only file is not replaced.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(in crate::root) fn keep(_old: &File, _new: &File) -> io::Result<()> {
    Ok(())
}

/// A copy of a read-only file is read-only.
pub(in crate::root) fn copy_mode(source: &File, copy: &File) -> io::Result<()> {
    let metadata = source.metadata()?;
    // For a directory, the attribute only affects how it is shown.
    if metadata.is_file() && metadata.permissions().readonly() {
        copy.set_permissions(metadata.permissions())?;
    }
    Ok(())
}
