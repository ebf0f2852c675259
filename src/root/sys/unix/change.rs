//! Unix systems other than Linux: what changes need beyond cap-std. Every name is one component in an open directory,
//! and no link is followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use crate::root::sys::{Lock, without_group};

pub(in crate::root) use crate::root::sys::portable::{data, listable, mount_of, reserve};

/// Fails if this user may not write to the file itself.
pub(in crate::root) fn may_write(dir: &Dir, name: &OsStr) -> io::Result<()> {
    dir.open_with(name, OpenOptions::new().write(true).follow(FollowSymlinks::No)).map(drop)
}

/// Renames, and fails with [`io::ErrorKind::AlreadyExists`] if the new name is taken, even by a dangling link.
/// [`io::ErrorKind::Unsupported`]: this system or file system cannot guarantee that.
pub(in crate::root) fn rename_new(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    rename(from, to, Taken::IsError)
}

/// Swaps two names atomically. [`io::ErrorKind::Unsupported`]: this system or file system cannot.
pub(in crate::root) fn exchange(one: (&Dir, &OsStr), other: (&Dir, &OsStr)) -> io::Result<()> {
    rename(one, other, Taken::IsSwapped)
}

/// What happens to a new name that is taken.
enum Taken {
    IsError,
    IsSwapped,
}

#[cfg(target_vendor = "apple")]
fn rename(from: (&Dir, &OsStr), to: (&Dir, &OsStr), taken: Taken) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;

    let flags = match taken {
        Taken::IsError => RenameFlags::NOREPLACE,
        Taken::IsSwapped => RenameFlags::EXCHANGE,
    };
    match renameat_with(from.0, from.1, to.0, to.1, flags) {
        Err(Errno::INVAL | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_vendor = "apple"))]
fn rename(_from: (&Dir, &OsStr), _to: (&Dir, &OsStr), _taken: Taken) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Tries to take the advisory lock on an open file, which ends when the file is closed.
pub(in crate::root) fn try_lock(file: &File) -> io::Result<Lock> {
    use rustix::io::Errno;

    let errno = |error: &io::Error| error.raw_os_error().map(Errno::from_raw_os_error);
    match file.try_lock() {
        Ok(()) => Ok(Lock::Taken),
        Err(std::fs::TryLockError::WouldBlock) => Ok(Lock::Busy),
        Err(std::fs::TryLockError::Error(error)) => match errno(&error) {
            Some(Errno::BADF) => Ok(Lock::NeedsWriter),
            Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOTSUP | Errno::NOLCK) => {
                Ok(Lock::Unsupported)
            }
            _ if error.kind() == io::ErrorKind::Unsupported => Ok(Lock::Unsupported),
            _ => Err(error),
        },
    }
}

/// Removes set-user-id and set-group-id from a file that is written in place.
pub(in crate::root) fn clear_set_id(file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let mode = file.metadata()?.mode();
    if mode & 0o6000 == 0 {
        return Ok(());
    }
    match file.set_permissions(std::fs::Permissions::from_mode(mode & 0o1777)) {
        // Another user's file: then it is the kernel that clears them.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Waits until the names in a directory are on the disk.
pub(in crate::root) fn sync(dir: &Dir) -> io::Result<()> {
    listable(dir)?.sync_all()
}

/// Gives a new file the metadata of the old one, as far as this user may: the owner, and the mode without set-user-id
/// and the like.
pub(in crate::root) fn keep(old: &File, new: &File) -> io::Result<()> {
    use rustix::fs::{Gid, Uid, fchown};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let (from, to) = (old.metadata()?, new.metadata()?);
    let group = Gid::from_raw(from.gid());
    let keeps_group = fchown(new, Some(Uid::from_raw(from.uid())), Some(group)).is_ok()
        || from.gid() == to.gid()
        || fchown(new, None, Some(group)).is_ok();
    let mode = from.mode() & 0o777;
    let mode = if keeps_group { mode } else { without_group(mode) };
    new.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives a copy the mode of its source. If its group differs, the group's bits become the bits of others.
pub(in crate::root) fn copy_mode(source: &File, copy: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let (from, to) = (source.metadata()?, copy.metadata()?);
    let mode = from.mode() & 0o777;
    let mode = if from.gid() == to.gid() { mode } else { without_group(mode) };
    copy.set_permissions(std::fs::Permissions::from_mode(mode))
}
