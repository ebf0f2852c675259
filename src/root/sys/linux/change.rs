//! Linux: what changes need beyond cap-std. Every name is one component in an open directory, and no link is followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use cap_std::fs::Dir;
use rustix::fs::{
    self, Access, AtFlags, FallocateFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, SeekFrom, StatxFlags, Uid,
    XattrFlags,
};
use rustix::io::Errno;

use crate::root::sys::{Lock, without_group};

/// The largest extended attribute on Linux, in bytes.
const LARGEST_ATTRIBUTE: usize = 64 << 10;
/// POSIX access rights beyond the mode.
const ACL: &str = "system.posix_acl_access";
/// The `SELinux` label.
const LABEL: &str = "security.selinux";

/// Fails if this user may not write to the file itself.
pub(in crate::root) fn may_write(dir: &Dir, name: &OsStr) -> io::Result<()> {
    match fs::accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW) {
        // Kernels before 5.8, and sandboxes older than that call, which may say EPERM.
        Err(Errno::NOSYS | Errno::PERM) => Ok(fs::accessat(dir, name, Access::WRITE_OK, AtFlags::empty())?),
        answer => Ok(answer?),
    }
}

/// Renames, and fails with [`io::ErrorKind::AlreadyExists`] if the new name is taken, even by a dangling link.
/// [`io::ErrorKind::Unsupported`]: this file system cannot guarantee that.
pub(in crate::root) fn rename_new(from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
    match fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // A container's filter answers EPERM to a call that it does not know.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
        renamed => Ok(renamed?),
    }
}

/// Swaps two names atomically. [`io::ErrorKind::Unsupported`]: this kernel or file system cannot.
pub(in crate::root) fn exchange(one: (&Dir, &OsStr), other: (&Dir, &OsStr)) -> io::Result<()> {
    match fs::renameat_with(one.0, one.1, other.0, other.1, RenameFlags::EXCHANGE) {
        // A container's filter answers EPERM to a call that it does not know.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
        exchanged => Ok(exchanged?),
    }
}

/// Tries to take the advisory lock on an open file (flock(2)), which ends when the file is closed.
pub(in crate::root) fn try_lock(file: &File) -> io::Result<Lock> {
    match fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Taken),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Busy),
        // NFS turns it into a lock for writers, and requires a file that is open for writing.
        Err(Errno::BADF) => Ok(Lock::NeedsWriter),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::PERM) => Ok(Lock::Unsupported),
        Err(error) => Err(error.into()),
    }
}

/// Removes set-user-id and set-group-id from a file that is written in place. The kernel does the same, except for
/// root.
pub(in crate::root) fn clear_set_id(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.mode();
    if mode & 0o6000 == 0 {
        return Ok(());
    }
    match fs::fchmod(file, Mode::from_raw_mode(mode & 0o1777)) {
        // Another user's file, where the kernel clears them.
        Err(Errno::PERM) => Ok(()),
        done => Ok(done?),
    }
}

/// Reserves `size` bytes on the disk for an open file, if the file system can, so that a write in place does not run
/// out of space midway.
pub(in crate::root) fn reserve(file: &File, size: u64) -> io::Result<()> {
    match fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, size.max(1)) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
            // ext4 keeps what it reserved before it ran out of space; truncating frees what is beyond the end.
            let _ = file.metadata().and_then(|now| file.set_len(now.len()));
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// The mount through which a file or directory was opened; `None` if the kernel (before 5.8) does not tell.
pub(in crate::root) fn mount_of(file: impl AsFd) -> Option<u64> {
    let stat = fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// A handle of the directory for listing it.
pub(in crate::root) fn listable(dir: &Dir) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(fs::openat(dir, ".", flags, Mode::empty())?.into())
}

/// Waits until the names in a directory are on the disk, if its file system supports that.
pub(in crate::root) fn sync(dir: &Dir) -> io::Result<()> {
    match fs::fsync(listable(dir)?) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        synced => Ok(synced?),
    }
}

/// Gives a new file the metadata of the old one, as far as this user may: owner, `user.*` attributes, access control
/// list, `SELinux` label, and the mode without set-user-id and the like; never capabilities. If this user is not root,
/// a file of another user becomes this user's, with the same mode.
///
/// The mode comes last: at no time may anybody read the new file who may not read the old one.
pub(in crate::root) fn keep(old: &File, new: &File) -> io::Result<()> {
    let (from, to) = (old.metadata()?, new.metadata()?);
    let keeps_group = keep_owner((from.uid(), from.gid()), (to.uid(), to.gid()), new);
    keep_attributes(old, new)?;
    // A directory may pass an access list on to what is created in it; that is removed as well.
    let acl = attribute(old, ACL)?.filter(|_| keeps_group);
    let had = match acl {
        Some(acl) => fs::fsetxattr(new, ACL, &acl, XattrFlags::empty()),
        None => fs::fremovexattr(new, ACL),
    };
    unless_permitted(had)?;
    if let Some(label) = attribute(old, LABEL)? {
        unless_permitted(fs::fsetxattr(new, LABEL, &label, XattrFlags::empty()))?;
    }
    let mode = from.mode() & 0o777;
    let mode = if keeps_group { mode } else { without_group(mode) };
    set_mode(new, mode)
}

/// Gives a copy the mode of its source. If its group differs, or an access control list overlays the group's bits,
/// these become the bits of others.
pub(in crate::root) fn copy_mode(source: &File, copy: &File) -> io::Result<()> {
    let (from, to) = (source.metadata()?, copy.metadata()?);
    let says_all = from.gid() == to.gid() && attribute(source, ACL)?.is_none();
    let mode = from.mode() & 0o777;
    let mode = if says_all { mode } else { without_group(mode) };
    set_mode(copy, mode | (to.mode() & 0o2000))
}

/// Does nothing if there is nothing to change: some file systems have no modes, and fail.
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    if file.metadata()?.mode() & 0o7777 == mode {
        return Ok(());
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Where the next data of a file is, from `at` on and before `end`; `None` if only holes follow.
pub(in crate::root) fn data(file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    match fs::seek(file, SeekFrom::Data(at)) {
        Ok(start) if start >= end => Ok(None),
        Ok(start) => Ok(Some((start, fs::seek(file, SeekFrom::Hole(start))?.min(end)))),
        Err(Errno::NXIO) => Ok(None),
        // This file system does not support it.
        Err(_) => Ok(Some((at, end))),
    }
}

/// Whether the group is kept. Only root may give files away.
fn keep_owner(from: (u32, u32), to: (u32, u32), new: &File) -> bool {
    if from == to {
        return true;
    }
    let group = Gid::from_raw(from.1);
    let whole = fs::fchown(new, Some(Uid::from_raw(from.0)), Some(group));
    whole.is_ok() || from.1 == to.1 || fs::fchown(new, None, Some(group)).is_ok()
}

fn keep_attributes(old: &File, new: &File) -> io::Result<()> {
    let mut names = vec![0; LARGEST_ATTRIBUTE];
    let length = match fs::flistxattr(old, &mut names[..]) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::ACCESS | Errno::PERM) => 0,
        length => length?,
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        if let Some(value) = attribute(old, name)? {
            unless_permitted(fs::fsetxattr(new, name, &value, XattrFlags::empty()))?;
        }
    }
    Ok(())
}

/// The value of an attribute; `None` if there is none, or it may not be read.
fn attribute<Name: rustix::path::Arg>(file: &File, name: Name) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; LARGEST_ATTRIBUTE];
    match fs::fgetxattr(file, name, &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS | Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Metadata that a user may not set is left out.
fn unless_permitted(done: Result<(), Errno>) -> io::Result<()> {
    match done {
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS | Errno::ACCESS | Errno::PERM) => Ok(()),
        done => Ok(done?),
    }
}
