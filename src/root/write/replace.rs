//! Gives a file new content, all or nothing: it is written next to the old file and takes over its name in one step.
//!
//! The metadata of the old file is kept: see [`sys::change::keep`]. If the file has several names, only the given one
//! is replaced, and the others keep the old content: [`Caveats`] says so. Permission to replace files in the directory
//! is not enough: the file itself must be writable.
//!
//! From examining the old file until it is replaced, [`super::path_locks`] keeps other calls away and [`super::lock`]
//! other servers, and [`super::exchange`] detects what other programs do.

use std::io::Write as _;

use cap_std::fs::OpenOptions;

use super::old::{Old, Since, must_match, open_in};
use super::path_locks::{Claimed, PathGuard};
use super::pieces::write_all;
use super::place::{Place, Target};
use super::temporary::{Readers, Temporary};
use super::{Caveats, Version, WritableRoot, WriteError, Written};
use crate::root::resolve::LastLink;
use crate::root::stat::Stat;
use crate::root::{RelPath, RequestedPath, RootError, sys};
use crate::runtime::cancel::Cancel;

/// The new state of a file.
#[derive(Clone, Copy, Debug)]
pub struct Replace<'a> {
    /// Its whole content.
    pub content: &'a [u8],
    /// Whether to create missing parent directories.
    pub parents: bool,
    /// Write only if the file has this version.
    pub if_match: Option<&'a Version>,
}

/// The result of [`WritableRoot::update`].
#[derive(Debug)]
pub struct Updated<T> {
    /// The additional result of the change.
    pub value: T,
    /// The file as it is now, even if unchanged.
    pub written: Written,
}

/// Why [`WritableRoot::update`] did not write.
#[derive(Debug, PartialEq, Eq)]
pub enum UpdateError<E> {
    /// The file could not be read or replaced.
    Write(WriteError),
    /// The change function failed, so nothing was written.
    Change(E),
}

impl<E> UpdateError<E> {
    /// Merges two nested errors into one.
    pub(super) fn flatten<T>(result: Result<Result<T, E>, WriteError>) -> Result<T, Self> {
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Self::Change(error)),
            Err(error) => Err(Self::Write(error)),
        }
    }
}

/// What may have happened to an old file, of which `read` bytes are known, by the time it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Anything: all of it is replaced.
    Anything,
    /// Nothing.
    Same { read: u64 },
    /// Nothing, or bytes were appended, which are then appended to the new file as well.
    SameOrLonger { read: u64 },
}

impl WritableRoot {
    /// Creates a file, or replaces its content.
    pub(crate) fn replace(
        &self,
        asked: &RequestedPath,
        new: Replace<'_>,
        cancel: &Cancel,
    ) -> Result<Written, WriteError> {
        Self::persist(|| {
            let (place, _guard) = self.place_of(asked, new, cancel)?;
            let old = Old::open(&place, false, cancel)?;
            must_match(old.as_ref().map(|old| &old.stat), new.if_match)?;
            let expected = match (&old, new.if_match) {
                (Some(old), Some(_)) => Expected::Same { read: old.stat.size },
                _ => Expected::Anything,
            };
            self.put(&place, old, expected, new.content, cancel)
        })
    }

    /// Reads a file, passes its content to `change`, and writes the new content that it returns; `None` writes nothing.
    /// No other call, here or in another server, gets in between. Changes that other programs make meanwhile are
    /// detected and not overwritten; what they append to the old file at the moment it is replaced is appended to the
    /// new one as well. (A program that keeps the old file open and writes later writes to a file without a name.)
    ///
    /// If another program was faster, `change` is called again. A file of more than `most` bytes is not read.
    pub fn update<T, E>(
        &self,
        asked: &RequestedPath,
        if_match: Option<&Version>,
        most: u64,
        cancel: &Cancel,
        change: impl Fn(&[u8]) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Updated<T>, UpdateError<E>> {
        UpdateError::flatten(Self::persist(|| self.update_once(asked, if_match, most, cancel, &change)))
    }

    /// The inner error is from `change`; in that case nothing was written.
    fn update_once<T, E>(
        &self,
        asked: &RequestedPath,
        if_match: Option<&Version>,
        most: u64,
        cancel: &Cancel,
        change: impl Fn(&[u8]) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Result<Updated<T>, E>, WriteError> {
        let (target, _guard) = self.file(asked, cancel)?;
        if !target.missing().is_empty() {
            return Err(RootError::NotFound.into());
        }
        let place = self.place(&target, false)?;
        let old = Old::open(&place, true, cancel)?.ok_or(RootError::NotFound)?;
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
        let expected = Expected::SameOrLonger { read: content.len() as u64 };
        let written = self.put(&place, Some(old), expected, &new, cancel)?;
        Ok(Ok(Updated { value, written }))
    }

    /// Where a file is to be written, and the lock on its path. A missing file matches no version, so no parents are
    /// created for it.
    pub(super) fn place_of(
        &self,
        asked: &RequestedPath,
        new: Replace<'_>,
        cancel: &Cancel,
    ) -> Result<(Place, PathGuard), WriteError> {
        let (target, guard) = self.file(asked, cancel)?;
        if new.if_match.is_some() && !target.missing().is_empty() {
            return Err(WriteError::Gone);
        }
        Ok((self.place(&target, new.parents)?, guard))
    }

    fn file(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<(Target, PathGuard), WriteError> {
        let target = self.target(asked, LastLink::Followed, cancel)?;
        target.must_name_a_file()?;
        let guard = self.path_locks.take(&[Claimed::Name(&target.path)], cancel)?;
        Ok((target, guard))
    }

    /// Writes a file with this content and puts it in its place, which `old` occupies, or nothing.
    pub(super) fn put(
        &self,
        place: &Place,
        old: Option<Old>,
        expected: Expected,
        mut content: &[u8],
        cancel: &Cancel,
    ) -> Result<Written, WriteError> {
        if let Some(old) = old.as_ref().filter(|old| old.is_mount) {
            let size = content.len() as u64;
            return self.overwrite(place, old, expected, &mut content, size, cancel);
        }
        let readers = if old.is_some() { Readers::Owner } else { Readers::AsCreated };
        let mut new = Temporary::create(&place.dir, readers, &self.cleaned)?;
        write_all(&mut new.file, content, cancel)?;
        if let Some(old) = &old {
            sys::change::keep(&old.file, &new.file)?;
        }
        self.place_file(place, new, old, expected)
    }

    /// The last steps: to the disk, into place, and the directory to the disk.
    pub(super) fn place_file(
        &self,
        place: &Place,
        new: Temporary<'_>,
        mut old: Option<Old>,
        expected: Expected,
    ) -> Result<Written, WriteError> {
        if self.durable {
            new.file.sync_all()?;
        }
        let (file, before) = (new.file.try_clone()?, new.stat()?);
        let (created, names) = (old.is_none(), old.as_ref().map_or(1, |old| old.stat.names()));
        self.must_still_be(place)?;
        let late = match (old.take_if(|_| !sys::REPLACES_OPEN_FILES), &old) {
            (Some(closed), _) => Self::close_and_replace(place, new, closed, expected).map(|()| false)?,
            (None, Some(old)) => self.take_place_of(place, new, old, expected)?,
            (None, None) => self.appear(place, new).map(|()| false)?,
        };
        self.settle(&place.dir)?;
        // After the rename, which counts as a change as well. Whatever another program has made of it by now is not
        // what was written.
        let now = Stat::of(&file)?;
        let stat = if late || now.has_content_of(&before) { now } else { before };
        let caveats = Caveats { in_place: false, other_names: names.saturating_sub(1) };
        Ok(Written { caveats, ..Written::of(place.path.clone(), &stat, created) })
    }

    fn appear(&self, place: &Place, new: Temporary<'_>) -> Result<(), WriteError> {
        let ours = new.stat()?;
        new.appear(place.name()).map_err(|error| match error {
            WriteError::Exists => WriteError::Raced,
            error => error,
        })?;
        // The directory may have been moved at the last moment, to where nothing may be written.
        self.must_still_be(place).inspect_err(|_| {
            if place.look().is_ok_and(|there| there.is_some_and(|there| there.is_same_file(&ours))) {
                let _ = place.dir.remove_file(place.name());
            }
        })
    }

    /// Puts a new file in the place of an old one, unless that is not as expected. Returns whether something was
    /// appended.
    fn take_place_of(
        &self,
        place: &Place,
        mut new: Temporary<'_>,
        old: &Old,
        expected: Expected,
    ) -> Result<bool, WriteError> {
        let read = match expected {
            Expected::Anything => return new.replace(place.name()).map(|()| false),
            Expected::Same { read } | Expected::SameOrLonger { read } => read,
        };
        let may_be_longer = expected == Expected::SameOrLonger { read };
        old.must_be_there(place)?;
        let before = new.stat()?;
        let Some(out) = new.exchange(place.name())? else {
            new.replace(place.name())?;
            // Too late to undo.
            return match old.since(read)? {
                Since::Nothing => Ok(false),
                Since::Added(late) if may_be_longer => {
                    self.add_late(place, &before, &late).map_err(|_| WriteError::Overtaken)?;
                    Ok(true)
                }
                _ => Err(WriteError::Overtaken),
            };
        };
        let looked = self.look_at(place, &out, old, read).and_then(|since| match since {
            Since::Nothing => Ok(None),
            Since::Added(late) if may_be_longer => Ok(Some(late)),
            _ => Err(WriteError::Raced),
        });
        match looked {
            Err(error) => {
                new.put_back(place.name(), &before)?;
                return Err(error);
            }
            Ok(None) => new.discard(),
            Ok(Some(late)) => {
                if let Err(error) = self.add_late(place, &before, &late) {
                    let ours = new.stat()?;
                    new.put_back(place.name(), &ours)?;
                    return Err(error);
                }
                new.discard();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same on a system where an open file keeps its name. What another program does after the last look is not
    /// noticed.
    fn close_and_replace(
        place: &Place,
        mut new: Temporary<'_>,
        old: Old,
        expected: Expected,
    ) -> Result<(), WriteError> {
        if let Expected::Same { read } | Expected::SameOrLonger { read } = expected {
            old.must_be_there(place)?;
            if old.since(read)? != Since::Nothing {
                return Err(WriteError::Raced);
            }
        }
        drop(old);
        new.replace(place.name())
    }

    /// The file that came `out` must be the old one, and the place must be where it was.
    fn look_at(&self, place: &Place, out: &Stat, old: &Old, read: u64) -> Result<Since, WriteError> {
        if !out.is_same_file(&old.stat) {
            return Err(WriteError::Raced);
        }
        self.must_still_be(place)?;
        old.since(read)
    }

    /// Appends what another program has appended to the file that this one replaces.
    fn add_late(&self, place: &Place, ours: &Stat, late: &[u8]) -> Result<(), WriteError> {
        let mut file = open_in(place, OpenOptions::new().append(true))?;
        if !Stat::of(&file)?.is_same_file(ours) {
            return Err(WriteError::Raced);
        }
        file.write_all(late)?;
        if self.durable {
            file.sync_all()?;
        }
        Ok(())
    }
}

impl Written {
    pub(super) fn of(path: RelPath, stat: &Stat, created: bool) -> Self {
        Self { path, size: stat.size, created, version: Version::of(stat), caveats: Caveats::default() }
    }
}
