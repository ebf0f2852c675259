//! The file that is about to be replaced: opened, locked, and compared with the version that the client knows.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::fs::File;
use std::hash::{Hash as _, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::UNIX_EPOCH;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::OpenOptions;

use super::WriteError;
use super::lock::{Opened, open_locked};
use super::pieces::read_to_end;
use super::place::Place;
use crate::root::error::regular;
use crate::root::stat::Stat;
use crate::root::{RootError, sys};
use crate::runtime::cancel::Cancel;

/// How many bytes another program may append while a file is being replaced.
const MOST_ADDED: u64 = 16 << 20;

/// The regular file at a name, which may be replaced. It is locked until this is dropped, if its file system has locks.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) file: File,
    pub(super) stat: Stat,
    /// Another file system or file is mounted at the name, so only the content can be replaced, not the name.
    pub(super) is_mount: bool,
}

/// What another program has done to an open file since it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Since {
    Nothing,
    /// It has appended this.
    Added(Vec<u8>),
    Changed,
}

impl Old {
    /// The file at a place; `None` if there is nothing. Fails if what is there may not be replaced.
    pub(super) fn open(place: &Place, to_read: bool, cancel: &Cancel) -> Result<Option<Self>, WriteError> {
        let opened = open_locked(place, cancel, |how| {
            let Some(stat) = place.look()? else { return Ok(None) };
            regular(stat.kind)?;
            if cfg!(windows) && stat.is_read_only() {
                return Err(WriteError::Protected);
            }
            match sys::change::may_write(&place.dir, place.name()) {
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    return Err(WriteError::Protected);
                }
                answer => answer?,
            }
            match open_in(place, OpenOptions::new().read(true).write(how == Opened::ToWrite)) {
                // A file that is writable but not readable also keeps its mode and owner.
                Err(WriteError::Root(RootError::PermissionDenied)) if !to_read => {
                    open_in(place, OpenOptions::new().write(true))
                }
                file => file,
            }
            .map(Some)
        })?;
        let Some((file, stat)) = opened else { return Ok(None) };
        let is_mount = sys::change::mount_of(&file) != sys::change::mount_of(&place.dir);
        Ok(Some(Self { file, stat, is_mount }))
    }

    pub(super) fn read(&self, most: u64, cancel: &Cancel) -> Result<Vec<u8>, WriteError> {
        if self.stat.size > most {
            return Err(WriteError::TooLong { size: self.stat.size, most });
        }
        let content = read_to_end(&self.file, self.stat.size, most, cancel)?;
        // It has grown.
        if content.len() as u64 > most { Err(WriteError::Raced) } else { Ok(content) }
    }

    /// What has happened to it since its first `read` bytes were read, even if it has lost its name.
    pub(super) fn since(&self, read: u64) -> Result<Since, WriteError> {
        let now = Stat::of(&self.file)?;
        if (now.size, now.modified) == (read, self.stat.modified) {
            return Ok(Since::Nothing);
        }
        if now.size <= read || now.size - read > MOST_ADDED {
            return Ok(Since::Changed);
        }
        let mut added = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(read))?;
        file.take(MOST_ADDED).read_to_end(&mut added)?;
        Ok(Since::Added(added))
    }

    /// Fails if the place now holds another file, or this one has changed.
    pub(super) fn must_be_there(&self, place: &Place) -> Result<(), WriteError> {
        let now = place.look()?;
        if now.is_some_and(|now| Version::of(&now) == Version::of(&self.stat)) {
            Ok(())
        } else {
            Err(WriteError::Raced)
        }
    }
}

/// Opens the file at a place, without following a link or waiting for anything. Fails unless it is a regular file on a
/// file system that is served.
pub(super) fn open_in(place: &Place, options: &mut OpenOptions) -> Result<File, WriteError> {
    options.follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = place.dir.open_with(place.name(), options)?.into_std();
    regular(Stat::of(&file)?.kind)?;
    sys::must_be_served(&file)?;
    sys::must_be_named(&file, &place.dir, place.name())?;
    Ok(file)
}

pub(super) fn must_match(there: Option<&Stat>, version: Option<&Version>) -> Result<(), WriteError> {
    match (version, there.map(Version::of)) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(WriteError::Gone),
        (Some(wanted), Some(now)) if *wanted == now => Ok(()),
        (Some(_), Some(now)) => Err(WriteError::Changed { now }),
    }
}

/// Identifies a file and its state: its inode, size, and the two times that a change updates. Opaque to clients.
///
/// The device is left out, so that the token of a file is the same in another process, on another mount or machine, and
/// after a remount, as long as the file system keeps its inode numbers.
///
/// It misses a program that changes a file in place twice within one clock tick of the file system and leaves the same
/// size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// From a client.
    pub(crate) fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// From the facts about a file.
    pub(crate) fn of(stat: &Stat) -> Self {
        // Not RandomState: the token must mean the same to the next process.
        let mut hasher = DefaultHasher::new();
        let modified = stat.modified.map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos().cast_signed(),
            Err(before) => -before.duration().as_nanos().cast_signed(),
        });
        (stat.identity(), stat.size, modified).hash(&mut hasher);
        #[cfg(unix)]
        stat.changed.hash(&mut hasher);
        Self(format!("{:016x}", hasher.finish()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A client may send anything; what we send is our own.
        f.write_str(&self.0)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_does_not_count_and_the_file_does() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let stat = Stat::from(&file.as_file().metadata().expect("its facts"));
        let remounted = Stat { device: stat.device + 1, ..stat.clone() };
        assert_eq!(Version::of(&remounted), Version::of(&stat));
        let other = Stat { inode: stat.inode + 1, ..stat.clone() };
        assert_ne!(Version::of(&other), Version::of(&stat));
    }
}
