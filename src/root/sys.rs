//! The few things that each system does its own way; the only place under `root/` with a `cfg` for a system call.
//!
//! | | Linux | elsewhere, and where a sandbox refuses openat2 |
//! | --- | --- | --- |
//! | open without links | `openat2(2)`, `RESOLVE_BENEATH \| RESOLVE_NO_SYMLINKS` | a chain of cap-std handles, one name each |
//! | list a directory | `getdents64(2)` | cap-std |
//! | which file systems are served | by `fstatfs(2)`: known ones that hold files | all: there is no procfs |
//! | read that may not block | `preadv2(2)`, `RWF_NOWAIT` | not offered |
//! | hear of changes | `inotify(7)` | the `notify` crate |
//! | move without overwriting | `renameat2(2)`, `RENAME_NOREPLACE` | the same on macOS; else by a hard link |
//! | swap two names | `renameat2(2)`, `RENAME_EXCHANGE` | the same on macOS |
//! | lock a file against other servers | `flock(2)` | the same on Unix |
//! | confine the whole process | `landlock(7)` | no |
//! | the name that was opened is the one asked for | by itself | on Windows asked of each handle |
//! | replace a file that is open | yes | not on Windows |
//! | keep what a file carries | mode, owner, `user.*` attributes, ACL, label | mode and owner on Unix |
//!
//! Paths given to this module hold no `..`. None of its calls follows a link, anywhere in a path: what they open is
//! what the path says.

#[cfg(unix)]
use std::ffi::OsStr;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::path::Path;
use std::time::Duration;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use super::path::{RelPath, os_str};
#[cfg(unix)]
use super::stat::Stat;

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod notify;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(super) use landlock::enter_sandbox;
#[cfg(target_os = "linux")]
pub(super) use linux::{
    Caps, change, changes_elsewhere, directory_handle, list, must_be_served, open, read_cached, stat, stat_here,
    stat_in, stat_local,
};
#[cfg(not(target_os = "linux"))]
pub(super) use portable::{Caps, changes_elsewhere, enter_sandbox, must_be_served, read_cached, stat_here, stat_local};
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) use unix::{change, directory_handle, list, open, stat, stat_in};
#[cfg(windows)]
pub(super) use windows::{
    Facts, REPLACES_OPEN_FILES, change, directory_handle, list, must_be_named, open, rename_over, stat, stat_in,
    stat_outside,
};

/// What tells of changes; made public by [`super::hints`].
pub(super) mod hints {
    #[cfg(target_os = "linux")]
    pub(crate) use super::inotify::{Hints, Waker};
    #[cfg(not(target_os = "linux"))]
    pub(crate) use super::notify::{Hints, Waker};
}

/// How long a wait for hints takes at most where it might not be woken.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How an entry is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// A regular file, to read.
    File,
    /// A directory, to list.
    Directory,
}

/// What came of an attempt to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there all file systems are taken for such without locks"))]
pub(super) enum Lock {
    /// It is ours.
    Taken,
    /// Another program has it, or another handle in this one.
    Busy,
    /// It can be had by a handle that is open for writing.
    NeedsWriter,
    /// This file system has no locks.
    Unsupported,
}

/// How paths are confined where the kernel does not do it.
const CHAIN: &str = "cap-std handles, one name at a time, no links";

/// A mode for where the group cannot be kept: its bits are those of the others.
#[cfg(unix)]
fn without_group(mode: u32) -> u32 {
    (mode & 0o707) | ((mode & 0o007) << 3)
}

/// Whether a file can take the name of another one that this process has open.
#[cfg(unix)]
pub(super) const REPLACES_OPEN_FILES: bool = true;

/// What the listing of a directory says of its entries beyond their kind: nothing here.
#[cfg(unix)]
#[derive(Debug, Default)]
pub(super) struct Facts(());

#[cfg(unix)]
impl Facts {
    #[expect(clippy::unused_self, reason = "the same signature as on Windows")]
    pub(super) fn of(&self, _dir: &File, _name: &[u8]) -> Option<Stat> {
        None
    }
}

/// Gives a file the name of another one, in one step.
#[cfg(unix)]
pub(super) fn rename_over(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
    dir.rename(from, dir, to)
}

/// Fails where what was opened by a name has another one. Here nothing has.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Windows")]
pub(super) fn must_be_named(_file: &File, _dir: &Dir, _name: &OsStr) -> Result<(), super::RootError> {
    Ok(())
}

/// What a path outside leads to. Nothing is opened.
#[cfg(unix)]
pub(super) fn stat_outside(path: &Path) -> io::Result<Stat> {
    std::fs::metadata(path).map(|metadata| Stat::from(&metadata))
}

/// Reads at `offset` without moving the file's position.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// The directory that holds the path's last component, and that component's name: `.` for the root itself.
#[cfg(target_os = "linux")]
fn parent_and_name<'p>(root: &Dir, path: &'p RelPath) -> io::Result<(Dir, &'p OsStr)> {
    match path.file_name() {
        Some(name) => Ok((parent(root, path)?, os_str(name))),
        None => Ok((root.try_clone()?, OsStr::new("."))),
    }
}

/// The directory that holds the path's last component, reached name by name.
fn parent(root: &Dir, path: &RelPath) -> io::Result<Dir> {
    let mut dir = root.try_clone()?;
    let depth = path.depth();
    for name in path.components().take(depth - 1) {
        dir = dir.open_dir_nofollow(os_str(name))?;
    }
    Ok(dir)
}
