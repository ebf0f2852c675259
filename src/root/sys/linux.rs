//! Linux: the kernel confines paths, and tells when it would have to wait.

pub(in crate::root) mod change;
mod kinds;

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::fd::AsFd;
use std::path::Path;

use cap_std::fs::Dir;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::{Errno, ReadWriteFlags, retry_on_intr};

pub(in crate::root) use self::kinds::must_be_served;
use super::{Access, CHAIN, RACE, parent_and_name};
use crate::root::RootError;
use crate::root::error::regular;
use crate::root::path::RelPath;
use crate::root::stat::{Kind, Stat, nanoseconds};

/// What the root's file system and kernel can do.
#[derive(Clone, Copy, Debug)]
pub(in crate::root) struct Caps {
    /// openat2 is there and allowed.
    openat2: bool,
    /// A local disk or memory, where opening and small reads do not block for long.
    pub(in crate::root) quick: bool,
    /// The root's own device. Others may be another kind of file system.
    device: u64,
    /// The name of the root's file system, if it is a remote one.
    pub(in crate::root) remote: Option<&'static str>,
    /// Only what is quick may be accessed.
    pub(in crate::root) only_local: bool,
}

impl Caps {
    pub(in crate::root) fn of(root: &Dir) -> io::Result<Self> {
        Ok(Self {
            openat2: has_openat2(root),
            quick: kinds::is_quick(root)?,
            device: fs::fstat(root)?.st_dev,
            remote: kinds::remote(root),
            only_local: false,
        })
    }
}

impl Caps {
    /// Whether the object of `stat` is on the root's own file system, and that is a local one.
    pub(in crate::root) fn is_quick_at(self, stat: &Stat) -> bool {
        self.quick && stat.device == self.device
    }

    /// Whether an open file or directory with these facts is on a remote file system.
    pub(in crate::root) fn is_remote_at(self, file: &File, stat: &Stat) -> bool {
        if stat.device == self.device { self.remote.is_some() } else { kinds::remote(file).is_some() }
    }

    pub(in crate::root) fn confinement(self) -> &'static str {
        if cfg!(mcp_fs_unsandboxed) {
            "nothing: a test build, without the first wall"
        } else if self.openat2 {
            "openat2 (RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS)"
        } else {
            CHAIN
        }
    }
}

/// Whether the kernel has openat2 (since 5.6), and a sandbox around this process, if any, allows it.
fn has_openat2(root: &Dir) -> bool {
    let probe = beneath(root, Path::new("."), OFlags::PATH, ResolveFlags::empty());
    !matches!(probe, Err(Errno::NOSYS | Errno::PERM))
}

/// Retries if the server of a network file system has replaced what was being opened, so that the name now leads to
/// another file.
fn fresh<T>(mut attempt: impl FnMut() -> Result<T, RootError>) -> Result<T, RootError> {
    for pause in RACE {
        match attempt() {
            Err(RootError::Stale) => std::thread::sleep(pause),
            done => return done,
        }
    }
    attempt()
}

/// Kind, size and times of what the path names; of a link itself, not its target. Nothing is opened for reading, so
/// neither a device nor the writer of a FIFO notices.
pub(in crate::root) fn stat(root: &Dir, path: &RelPath, can: Caps) -> Result<Stat, RootError> {
    fresh(|| served(&reach(root, path, OFlags::PATH, ResolveFlags::empty(), can)?, can))
}

/// The same, if it is on the root's own file system; `None` also if the kernel cannot tell.
pub(in crate::root) fn stat_local(root: &Dir, path: &RelPath, can: Caps) -> Option<Stat> {
    let handle = can.openat2.then(|| reach(root, path, OFlags::PATH, ResolveFlags::NO_XDEV, can))?.ok()?;
    handle.metadata().ok().map(|metadata| Stat::from(&metadata))
}

/// Facts about an open file or directory. Fails if it is on a file system that is not served; the root's own is.
fn served(handle: &File, can: Caps) -> Result<Stat, RootError> {
    let stat = Stat::from(&handle.metadata()?);
    if stat.device != can.device {
        must_be_served(handle)?;
    }
    Ok(stat)
}

/// Opens what the path names, without blocking on it and without acquiring a controlling terminal. The facts returned
/// are those of the open handle.
pub(in crate::root) fn open(root: &Dir, path: &RelPath, access: Access, can: Caps) -> Result<(File, Stat), RootError> {
    let flags = match access {
        Access::File => OFlags::NONBLOCK | OFlags::NOCTTY,
        Access::Directory => OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::DIRECTORY,
    };
    fresh(|| {
        let file = reach(root, path, flags, ResolveFlags::empty(), can)?;
        let stat = served(&file, can)?;
        Ok((file, stat))
    })
}

/// A handle of a directory, for looking up its entries, not for reading it.
pub(in crate::root) fn directory_handle(root: &Dir, path: &RelPath, can: Caps) -> Result<File, RootError> {
    fresh(|| {
        let handle = reach(root, path, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::empty(), can)?;
        served(&handle, can)?;
        Ok(handle)
    })
}

/// A handle of a regular file, for identifying it, not for reading it.
pub(in crate::root) fn file_handle(root: &Dir, path: &RelPath, can: Caps) -> Result<File, RootError> {
    fresh(|| {
        let handle = reach(root, path, OFlags::PATH, ResolveFlags::empty(), can)?;
        regular(Stat::from(&handle.metadata()?).kind)?;
        must_be_served(&handle)?;
        Ok(handle)
    })
}

/// Whether a file can change without an event for its directory. `None` if there are no events at all, because other
/// machines may write to the file system.
pub(in crate::root) fn changes_elsewhere(root: &Dir, path: &RelPath, can: Caps) -> Result<Option<bool>, RootError> {
    let handle = reach(root, path, OFlags::PATH, ResolveFlags::empty(), can)?;
    if kinds::remote(&handle).is_some() {
        return Ok(None);
    }
    let stat = Stat::from(&handle.metadata()?);
    if stat.kind != Kind::File {
        return Ok(Some(false));
    }
    Ok(Some(stat.links > 1 || (can.openat2 && is_mount_point(root, path, can)?)))
}

/// Whether something is mounted at the path itself, even of the same file system.
fn is_mount_point(root: &Dir, path: &RelPath, can: Caps) -> Result<bool, RootError> {
    let Some(name) = path.file_name() else { return Ok(false) };
    let parent = directory_handle(root, &path.parent(), can)?;
    let name = RelPath::from_bytes(name);
    let here = beneath(&parent, name.as_path(), OFlags::PATH | OFlags::NOFOLLOW, ResolveFlags::NO_XDEV);
    Ok(matches!(here, Err(Errno::XDEV)))
}

/// Opens without following links: in one step or, if the kernel cannot, by a chain of handles and then a single name.
fn reach(root: &Dir, path: &RelPath, flags: OFlags, resolve: ResolveFlags, can: Caps) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW;
    if can.only_local {
        return reach_here(root, path, flags, resolve, can);
    }
    if can.openat2 {
        return Ok(beneath(root, path.as_path(), flags, resolve)?.into());
    }
    let (parent, name) = parent_and_name(root, path)?;
    Ok(fs::openat(&parent, name, flags | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// The same, only on the directory's own file system, if that is a local one and the kernel can tell.
fn reach_here(root: &impl AsFd, path: &RelPath, flags: OFlags, resolve: ResolveFlags, can: Caps) -> io::Result<File> {
    if !can.quick || !can.openat2 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match beneath(root, path.as_path(), flags, resolve | ResolveFlags::NO_XDEV) {
        Err(Errno::XDEV) => Err(io::ErrorKind::TimedOut.into()),
        opened => Ok(opened?.into()),
    }
}

fn beneath(root: &impl AsFd, path: &Path, flags: OFlags, resolve: ResolveFlags) -> Result<rustix::fd::OwnedFd, Errno> {
    let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    #[cfg(mcp_fs_unsandboxed)]
    let (flags, resolve) = (flags - OFlags::NOFOLLOW, ResolveFlags::empty());
    retry_on_intr(|| fs::openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve))
}

/// Reads from the beginning until the buffer is full or the file ends, without waiting for a disk
/// ([`io::ErrorKind::WouldBlock`] if it would have to). File systems that do not know the flag (tmpfs, overlayfs) are
/// in memory or close to it anyway.
pub(in crate::root) fn read_cached(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    use std::os::unix::fs::FileExt as _;

    let mut done = 0;
    while done < buffer.len() {
        let (rest, at) = (&mut buffer[done..], done as u64);
        let read = match rustix::io::preadv2(file, &mut [IoSliceMut::new(rest)], at, ReadWriteFlags::NOWAIT) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => file.read_at(&mut buffer[done..], at)?,
            read => read?,
        };
        if read == 0 {
            break;
        }
        done += read;
    }
    Ok(done)
}

/// Calls `entry` for every name in an open directory until it says stop, without `.` and `..`.
pub(in crate::root) fn list(
    dir: &File,
    buffer: &mut Vec<u8>,
    mut entry: impl FnMut(&[u8], Kind) -> bool,
) -> Result<(), RootError> {
    buffer.reserve(64 << 10);
    let mut entries = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(next) = entries.next() {
        let next = next?;
        let name = next.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match next.file_type() {
            // Some file systems do not record it, so ask for the entry itself, never for a link's target.
            FileType::Unknown => match fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
                Err(_) => Kind::Other,
            },
            known => kind_of(known),
        };
        if !entry(name.to_bytes(), kind) {
            break;
        }
    }
    Ok(())
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        _ => Kind::Other,
    }
}

/// The same as [`stat_in`], only if that cannot be on another file system.
pub(in crate::root) fn stat_here(dir: &File, name: &[u8], can: Caps) -> Result<Stat, RootError> {
    let handle =
        reach_here(dir, &RelPath::from_bytes(name), OFlags::PATH | OFlags::NOFOLLOW, ResolveFlags::empty(), can)?;
    Ok(Stat::from(&handle.metadata()?))
}

/// Size and modification time of a name in an open directory; of a link itself, not its target.
pub(in crate::root) fn stat_in(dir: &File, name: &[u8]) -> Result<Stat, RootError> {
    let stat = fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let time = |seconds: i64, nanos: u64| {
        let base = std::time::UNIX_EPOCH;
        let whole = std::time::Duration::new(seconds.unsigned_abs(), 0);
        let floor = if seconds < 0 { base.checked_sub(whole) } else { base.checked_add(whole) };
        floor?.checked_add(std::time::Duration::from_nanos(nanos))
    };
    Ok(Stat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: time(stat.st_mtime, stat.st_mtime_nsec),
        accessed: time(stat.st_atime, stat.st_atime_nsec),
        created: None,
        mode: stat.st_mode & 0o777,
        device: stat.st_dev,
        inode: stat.st_ino,
        #[allow(clippy::useless_conversion, reason = "not a u64 on every processor")]
        links: stat.st_nlink.into(),
        changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec.cast_signed()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_is_a_race_and_in_the_end_an_error_of_its_own() {
        let opened_at = |attempt: u32| {
            let mut attempts = 0;
            let opened = fresh(|| {
                attempts += 1;
                if attempts == attempt { Ok(attempts) } else { Err(Errno::STALE.into()) }
            });
            (opened, attempts)
        };
        assert_eq!(opened_at(1), (Ok(1), 1));
        assert_eq!(opened_at(3), (Ok(3), 3));
        assert_eq!(opened_at(99), (Err(RootError::Stale), 4));
        let mut attempts = 0;
        assert_eq!(
            fresh::<()>(|| {
                attempts += 1;
                Err(RootError::NotFound)
            }),
            Err(RootError::NotFound)
        );
        assert_eq!(attempts, 1);
    }
}
