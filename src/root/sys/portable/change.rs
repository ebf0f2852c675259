//! Other systems: what changing a directory needs beyond cap-std. Every name is one component of an open directory,
//! and no link is followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

#[cfg(unix)]
use crate::root::sys::without_group;

/// Fails where this user may not write to the file itself.
pub(in crate::root) fn may_write(dir: &Dir, name: &OsStr) -> io::Result<()> {
    dir.open_with(name, OpenOptions::new().write(true).follow(FollowSymlinks::No)).map(drop)
}

/// Renames, and fails with [`io::ErrorKind::AlreadyExists`] where the new name is taken, be it by a link to nothing.
/// [`io::ErrorKind::Unsupported`]: this system or file system cannot promise that.
pub(in crate::root) fn rename_new(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;

        match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
            renamed => Ok(renamed?),
        }
    }
    #[cfg(not(target_vendor = "apple"))]
    {
        let (_, _) = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Which mount an open directory is reached by: not known here.
pub(in crate::root) fn mount_of(_directory: &File) -> Option<u64> {
    None
}

/// The directory, to be listed.
pub(in crate::root) fn listable(dir: &Dir) -> io::Result<File> {
    Ok(dir.try_clone()?.into_std_file())
}

/// Waits until the names in a directory are on the disk, where the system has such a thing.
pub(in crate::root) fn sync(dir: &Dir) -> io::Result<()> {
    if cfg!(unix) { listable(dir)?.sync_all() } else { Ok(()) }
}

/// Gives a new file what the old one carries, as far as this user may: on Unix the owner, and the mode without
/// set-user-id and the like.
pub(in crate::root) fn keep(old: &File, new: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
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
    #[cfg(not(unix))]
    {
        let (_, _) = (old, new);
        Ok(())
    }
}

/// Gives a copy the mode of its source, where there are modes. Where its group is another one, its bits become the
/// others' bits.
pub(in crate::root) fn copy_mode(source: &File, copy: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

        let (from, to) = (source.metadata()?, copy.metadata()?);
        let mode = from.mode() & 0o777;
        let mode = if from.gid() == to.gid() { mode } else { without_group(mode) };
        copy.set_permissions(std::fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let (_, _) = (source, copy);
        Ok(())
    }
}

/// Where the next data of a file is: holes are not known here.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
pub(in crate::root) fn data(_file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    Ok(Some((at, end)))
}
