//! The file that is to be replaced: opened, locked, and compared with what it was.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::OpenOptions;

use super::lock::{Opened, open_locked};
use super::pieces::read_to_end;
use super::place::Place;
use super::{Version, WriteError};
use crate::root::error::regular;
use crate::root::stat::Stat;
use crate::root::{RootError, sys};
use crate::runtime::cancel::Cancel;

/// Bytes that another program can add to a file in the moment in which it is replaced.
const MOST_ADDED: u64 = 16 << 20;

/// The regular file that a name has, and that may be replaced. It is locked as long as this lives, where its file system
/// has locks.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) file: File,
    pub(super) stat: Stat,
    /// Another file system or file is mounted at the name, so that only the content can be replaced, not the name.
    pub(super) is_mount: bool,
}

/// What another program did to an open file since it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Since {
    Nothing,
    /// It has added this.
    Added(Vec<u8>),
    Changed,
}

impl Old {
    /// The file at a place, `None` where there is nothing. Fails where what is there may not be replaced.
    pub(super) fn open(place: &Place, to_read: bool, cancel: &Cancel) -> Result<Option<Self>, WriteError> {
        let opened = open_locked(place, cancel, |how| {
            let Some(stat) = place.look()? else { return Ok(None) };
            regular(stat.kind)?;
            match sys::change::may_write(&place.dir, place.name()) {
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    return Err(WriteError::Protected);
                }
                answer => answer?,
            }
            match open_in(place, OpenOptions::new().read(true).write(how == Opened::ToWrite)) {
                // What may be written and not be read keeps its mode and owner, too.
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

    /// What became of it since it was looked at and `read` bytes of it were read, be it without a name.
    pub(super) fn since(&self, read: u64) -> Result<Since, WriteError> {
        let now = Stat::from(&self.file.metadata()?);
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

    /// Fails where the place has another file by now, or this one has changed.
    pub(super) fn must_be_there(&self, place: &Place) -> Result<(), WriteError> {
        let now = place.look()?;
        if now.is_some_and(|now| Version::of(&now) == Version::of(&self.stat)) {
            Ok(())
        } else {
            Err(WriteError::Raced)
        }
    }
}

/// Opens what a place holds, without following a link or waiting for anything. What is opened is a regular file and
/// on a file system that is served, or else this fails.
pub(super) fn open_in(place: &Place, options: &mut OpenOptions) -> Result<File, WriteError> {
    options.follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = place.dir.open_with(place.name(), options)?.into_std();
    regular(Stat::from(&file.metadata()?).kind)?;
    sys::must_be_served(&file)?;
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
