//! A file gets a new content, whole or not at all: it is written beside the old one and takes its name in one step.
//!
//! What the old file carries goes over to the new one: see [`sys::change::keep`]. Of a file with several names the one
//! that was given is replaced, and the others keep the old content: [`Caveats`] tells. The directory's right to replace
//! a file is not enough: the file itself must be writable.
//!
//! Between the look at the old file and the moment in which it is replaced, other calls are kept away by
//! [`super::path_locks`], other servers by [`super::lock`], and what other programs do is seen by [`super::exchange`].

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

/// Why [`WritableRoot::update`] did not write.
#[derive(Debug, PartialEq, Eq)]
pub enum UpdateError<E> {
    /// The file could not be read or replaced.
    Write(WriteError),
    /// The change refused, and nothing was written.
    Change(E),
}

impl<E> UpdateError<E> {
    /// One error of the two that stand one inside the other.
    pub(super) fn flatten<T>(result: Result<Result<T, E>, WriteError>) -> Result<T, Self> {
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Self::Change(error)),
            Err(error) => Err(Self::Write(error)),
        }
    }
}

/// What may have become of an old file, of which `read` bytes are known, up to the moment in which it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Anything: all of it is replaced.
    Anything,
    /// It is still the same.
    Same { read: u64 },
    /// The same, or more was added to its end, which is then added to the new file, too.
    SameOrLonger { read: u64 },
}

impl WritableRoot {
    /// Creates a file, or gives one a new content.
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

    /// Reads a file, lets `change` make its new content out of the old one, and writes that; `None` writes nothing.
    /// Nobody in this server gets in between, and no other server. What another program did meanwhile is noticed and
    /// not overwritten, and what it adds to the old file in the very moment in which that is replaced is added to the
    /// new one, too. (A program that keeps the old file open, and writes to it later, writes to what has no name any
    /// more.)
    ///
    /// Where another program was faster, `change` is asked again. A file of more than `most` bytes is not read.
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

    /// The inner error is the one of `change`, and nothing was written then.
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

    /// Where a file is to be written, and the turn at it. What is not there matches no version, and then nothing is
    /// made on the way to it.
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

    /// Writes a file with this content and gives it its place, which `old` has, or nothing.
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
        // After the rename, which is a change, too. What another program has made of it by now is not what was written.
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
        // The directory may have been moved in the last moment, to a place where nothing is written.
        self.must_still_be(place).inspect_err(|_| {
            if place.look().is_ok_and(|there| there.is_some_and(|there| there.is_same_file(&ours))) {
                let _ = place.dir.remove_file(place.name());
            }
        })
    }

    /// Gives a new file the place of an old one, unless that is not as expected. Gives whether something was added.
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
            // Too late to be undone.
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

    /// The same where an open file keeps its name. What another program does after the last look is not seen.
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

    /// What came `out` of the place must be the old file, and the place where it was.
    fn look_at(&self, place: &Place, out: &Stat, old: &Old, read: u64) -> Result<Since, WriteError> {
        if !out.is_same_file(&old.stat) {
            return Err(WriteError::Raced);
        }
        self.must_still_be(place)?;
        old.since(read)
    }

    /// Adds what another program has added to the file that this one replaces.
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
