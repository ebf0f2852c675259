//! A file gets a new content, whole or not at all: it is written beside the old one and takes its name in one step.
//!
//! What the old file carries goes over to the new one: see [`sys::change::keep`]. A file with several names is
//! refused, as a rename would leave the others with the old content, and nobody would be told. The directory's right
//! to replace a file is not enough: the file itself must be writable.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::OpenOptions;

use super::pieces::{read_to_end, write_all};
use super::place::{Place, Target};
use super::temporary::{Readers, Temporary};
use super::turns::Turn;
use super::{Version, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::open::regular;
use crate::root::resolve::LastLink;
use crate::root::stat::Stat;
use crate::root::{Asked, RelPath, RootError, sys};

/// Bytes that another program can add to a file in the moment in which it is replaced.
const MOST_ADDED: u64 = 16 << 20;

/// What a file is to become.
#[derive(Clone, Copy, Debug)]
pub struct Replace<'a> {
    /// All of it.
    pub content: &'a [u8],
    /// Whether missing directories on the way are made.
    pub parents: bool,
    /// Only if it is at this version.
    pub if_match: Option<&'a Version>,
}

/// What came of [`WritableRoot::update`].
#[derive(Debug)]
pub struct Updated<T> {
    /// What the change gave besides.
    pub value: T,
    /// The file as it is now, be it unchanged.
    pub written: Written,
}

/// The regular file that a name has, and that may be replaced.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) file: File,
    pub(super) stat: Stat,
}

impl WritableRoot {
    /// Creates a file, or gives one a new content.
    pub fn replace(&self, asked: &Asked, new: Replace<'_>, cancel: &Cancel) -> Result<Written, WriteError> {
        Self::persist(|| {
            let (place, _turn) = self.place_of(asked, new, cancel)?;
            let old = Old::open(&place, false)?;
            must_match(old.as_ref().map(|old| &old.stat), new.if_match)?;
            let unchanged = new.if_match.is_some();
            let written = self.put(&place, old.as_ref(), unchanged, |file| write_all(file, new.content, cancel))?;
            match old.filter(|_| unchanged) {
                Some(old) if old.added_since(old.stat.size)?.is_some() => Err(WriteError::Overtaken),
                _ => Ok(written),
            }
        })
    }

    /// Reads a file, lets `change` make its new content out of the old one, and writes that; `None` writes nothing.
    /// Nobody in this server gets in between. What another program did meanwhile is noticed and not overwritten, and
    /// what it adds to the old file in the very moment in which that is replaced is added to the new one, too. (A
    /// program that keeps the old file open, and writes to it later, writes to what has no name any more.)
    ///
    /// The inner error is the one of `change`, and nothing was written then. A file of more than `most` bytes is not
    /// read.
    pub fn update<T, E>(
        &self,
        asked: &Asked,
        if_match: Option<&Version>,
        most: u64,
        cancel: &Cancel,
        change: impl FnOnce(&[u8]) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Result<Updated<T>, E>, WriteError> {
        let (target, _turn) = self.file(asked, cancel)?;
        if !target.missing().is_empty() {
            return Err(RootError::NotFound.into());
        }
        let place = self.place(&target, false)?;
        let old = Old::open(&place, true)?.ok_or(RootError::NotFound)?;
        must_match(Some(&old.stat), if_match)?;
        let content = old.read(most, cancel)?;
        let (new, value) = match change(&content) {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let Some(new) = new else {
            let written = Written::of(place.path, &old.stat, false);
            return Ok(Ok(Updated { value, written }));
        };
        let mut written = self.put(&place, Some(&old), true, |file| write_all(file, &new, cancel))?;
        if let Some(late) = old.added_since(content.len() as u64)? {
            // The edit is made: whatever fails now, trying again is no cure.
            written = self.add_late(&place, &late).map_err(|_| WriteError::Overtaken)?;
        }
        Ok(Ok(Updated { value, written }))
    }

    /// Where a file is to be written, and the turn at it. What is not there matches no version, and then nothing is
    /// made on the way to it.
    pub(super) fn place_of(
        &self,
        asked: &Asked,
        new: Replace<'_>,
        cancel: &Cancel,
    ) -> Result<(Place, Turn), WriteError> {
        let (target, turn) = self.file(asked, cancel)?;
        if new.if_match.is_some() && !target.missing().is_empty() {
            return Err(WriteError::Gone);
        }
        Ok((self.place(&target, new.parents)?, turn))
    }

    fn file(&self, asked: &Asked, cancel: &Cancel) -> Result<(Target, Turn), WriteError> {
        let target = self.target(asked, LastLink::Followed, cancel)?;
        target.must_name_a_file()?;
        let turn = self.turns.take(&[&target.path], cancel)?;
        Ok((target, turn))
    }

    /// Adds what another program has added to the file that this one replaces.
    fn add_late(&self, place: &Place, late: &[u8]) -> Result<Written, WriteError> {
        let mut file = open_in(place, OpenOptions::new().append(true))?;
        file.write_all(late)?;
        if self.durable {
            file.sync_all()?;
        }
        Ok(Written::of(place.path.clone(), &Stat::from(&file.metadata()?), false))
    }

    /// Writes a file by `fill` and gives it its place. If it must be `unchanged`, what was looked at as `old` must be
    /// there up to the last moment.
    pub(super) fn put(
        &self,
        place: &Place,
        old: Option<&Old>,
        unchanged: bool,
        fill: impl FnOnce(&mut File) -> Result<(), WriteError>,
    ) -> Result<Written, WriteError> {
        let readers = if old.is_some() { Readers::Owner } else { Readers::AsCreated };
        let mut new = Temporary::create(&place.dir, readers)?;
        fill(&mut new.file)?;
        if let Some(old) = old {
            sys::change::keep(&old.file, &new.file)?;
        }
        self.place_file(place, new, old, unchanged)
    }

    /// The last steps: to the disk, into place, and the directory to the disk.
    pub(super) fn place_file(
        &self,
        place: &Place,
        new: Temporary<'_>,
        old: Option<&Old>,
        unchanged: bool,
    ) -> Result<Written, WriteError> {
        if self.durable {
            new.file.sync_all()?;
        }
        let file = new.file.try_clone()?;
        match old {
            Some(old) => {
                if unchanged {
                    old.must_be_there(place)?;
                }
                new.replace(place.name())?;
            }
            None => new.appear(place.name()).map_err(|error| match error {
                WriteError::Exists => WriteError::Raced,
                error => error,
            })?,
        }
        self.settle(&place.dir)?;
        // After the rename, which is a change, too.
        Ok(Written::of(place.path.clone(), &Stat::from(&file.metadata()?), old.is_none()))
    }
}

impl Written {
    pub(super) fn of(path: RelPath, stat: &Stat, created: bool) -> Self {
        Self { path, size: stat.size, created, version: Version::of(stat) }
    }
}

impl Old {
    /// The file at a place, `None` where there is nothing. Fails where what is there may not be replaced.
    pub(super) fn open(place: &Place, to_read: bool) -> Result<Option<Self>, WriteError> {
        let Some(stat) = place.look()? else { return Ok(None) };
        regular(stat.kind)?;
        if stat.names() > 1 {
            return Err(WriteError::HardLinked(stat.names()));
        }
        match sys::change::may_write(&place.dir, place.name()) {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Err(WriteError::Protected),
            answer => answer?,
        }
        let file = match open_in(place, OpenOptions::new().read(true)) {
            // What may be written and not be read keeps its mode and owner, too.
            Err(WriteError::Root(RootError::PermissionDenied)) if !to_read => {
                open_in(place, OpenOptions::new().write(true))?
            }
            file => file?,
        };
        let stat = Stat::from(&file.metadata()?);
        Ok(Some(Self { file, stat }))
    }

    fn read(&self, most: u64, cancel: &Cancel) -> Result<Vec<u8>, WriteError> {
        if self.stat.size > most {
            return Err(WriteError::TooLong { size: self.stat.size, most });
        }
        let content = read_to_end(&self.file, self.stat.size, most, cancel)?;
        // It has grown.
        if content.len() as u64 > most { Err(WriteError::Raced) } else { Ok(content) }
    }

    /// What was added to it since it was read, be it without a name. Fails where it was changed in another way.
    fn added_since(&self, read: u64) -> Result<Option<Vec<u8>>, WriteError> {
        let now = Stat::from(&self.file.metadata()?);
        if (now.size, now.modified) == (read, self.stat.modified) {
            return Ok(None);
        }
        if now.size <= read || now.size - read > MOST_ADDED {
            return Err(WriteError::Overtaken);
        }
        let mut added = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(read))?;
        file.take(MOST_ADDED).read_to_end(&mut added)?;
        Ok(Some(added))
    }

    /// Fails where the place has another file by now, or this one has changed.
    fn must_be_there(&self, place: &Place) -> Result<(), WriteError> {
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
