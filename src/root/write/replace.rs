//! A file gets a new content, whole or not at all: it is written beside the old one and takes its name in one step.
//!
//! What the old file carries goes over to the new one: see [`sys::change::keep`]. A file with several names is
//! refused, as a rename would leave the others with the old content, and nobody would be told. The directory's right
//! to replace a file is not enough: the file itself must be writable.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::OpenOptions;

use super::place::Place;
use super::temporary::{Readers, Temporary};
use super::{Version, WritableRoot, WriteError, Written};
use crate::cancel::Cancel;
use crate::root::resolve::LastLink;
use crate::root::stat::{Kind, Stat};
use crate::root::{Asked, RelPath, RootError, sys};

/// How often a change is applied again because another program writes to the file all the time.
const ATTEMPTS: usize = 8;

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
            let target = self.target(asked, LastLink::Followed)?;
            target.must_name_a_file()?;
            let _turn = self.turns.take(&[&target.path], cancel)?;
            if new.if_match.is_some() && !target.missing().is_empty() {
                return Err(WriteError::Gone);
            }
            let place = self.place(&target, new.parents)?;
            let old = Old::open(&place, false)?;
            must_match(old.as_ref().map(|old| &old.stat), new.if_match)?;
            let unchanged = new.if_match.is_some();
            self.put(&place, old.as_ref(), unchanged, |file| Ok(file.write_all(new.content)?))
        })
    }

    /// Reads a file, lets `change` make its new content out of the old one, and writes that; `None` writes nothing.
    /// Nobody in this server gets in between. What another program did meanwhile is noticed and not overwritten: if it
    /// wrote to the old file in the very moment in which that was replaced, `change` is applied again, to what it wrote.
    /// (A program that keeps the old file open, and writes to it later, writes to what has no name any more.)
    ///
    /// The inner error is the one of `change`, and nothing was changed then. A file of more than `most` bytes is not
    /// read.
    pub fn update<T, E>(
        &self,
        asked: &Asked,
        if_match: Option<&Version>,
        most: u64,
        cancel: &Cancel,
        change: impl Fn(&[u8]) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Result<Updated<T>, E>, WriteError> {
        let target = self.target(asked, LastLink::Followed)?;
        target.must_name_a_file()?;
        let _turn = self.turns.take(&[&target.path], cancel)?;
        if !target.missing().is_empty() {
            return Err(RootError::NotFound.into());
        }
        let place = self.place(&target, false)?;
        let mut source = Old::open(&place, true)?.ok_or(RootError::NotFound)?;
        must_match(Some(&source.stat), if_match)?;
        let mut ours: Option<Old> = None;
        for _ in 0..ATTEMPTS {
            let content = source.read(most)?;
            let there = ours.as_ref().unwrap_or(&source);
            let (new, value) = match change(&content) {
                Ok((new, value)) => (new, Ok(value)),
                // What was put into its place goes again.
                Err(error) => (ours.is_some().then_some(content), Err(error)),
            };
            let written = match new {
                Some(new) => self.put(&place, Some(there), true, |file| Ok(file.write_all(&new)?))?,
                None => Written::of(place.path.clone(), &there.stat, false),
            };
            if source.is_as_read()? {
                return Ok(value.map(|value| Updated { value, written }));
            }
            let is_ours = |old: &Old| Version::of(&old.stat) == written.version;
            ours = Some(Old::open(&place, true)?.filter(is_ours).ok_or(WriteError::Raced)?);
        }
        Err(WriteError::Raced)
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
        must_be_regular(stat.kind)?;
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
        must_be_regular(stat.kind)?;
        Ok(Some(Self { file, stat }))
    }

    fn read(&mut self, most: u64) -> Result<Vec<u8>, WriteError> {
        self.stat = Stat::from(&self.file.metadata()?);
        self.file.rewind()?;
        if self.stat.size > most {
            return Err(WriteError::TooLong { size: self.stat.size, most });
        }
        let mut content = Vec::with_capacity(self.stat.size as usize);
        (&self.file).take(most + 1).read_to_end(&mut content)?;
        // It has grown.
        if content.len() as u64 > most { Err(WriteError::Raced) } else { Ok(content) }
    }

    /// Whether nobody has written to it since it was read, be it without a name.
    fn is_as_read(&self) -> Result<bool, WriteError> {
        let now = Stat::from(&self.file.metadata()?);
        Ok((now.size, now.modified) == (self.stat.size, self.stat.modified))
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
    must_be_regular(Stat::from(&file.metadata()?).kind)?;
    if sys::is_kernel_file_system(&file) { Err(RootError::KernelFileSystem.into()) } else { Ok(file) }
}

pub(super) fn must_match(there: Option<&Stat>, version: Option<&Version>) -> Result<(), WriteError> {
    match (version, there.map(Version::of)) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(WriteError::Gone),
        (Some(wanted), Some(now)) if *wanted == now => Ok(()),
        (Some(_), Some(now)) => Err(WriteError::Changed { now }),
    }
}

pub(super) fn must_be_regular(kind: Kind) -> Result<(), WriteError> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(RootError::IsDirectory.into()),
        other => Err(RootError::NotRegular(other).into()),
    }
}
