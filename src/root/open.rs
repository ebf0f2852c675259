//! From a path to an open file, a directory or what is known of them.
//!
//! The order is always the same: the name is checked against the deny patterns; what it names is looked at, without
//! opening it, so that no FIFO's writer and no device notices; links are resolved and their end is checked again;
//! only then it is opened, without following anything; and the open handle is looked at once more.

use std::sync::atomic::Ordering;

use super::listing::Directory;
use super::locate::RequestedPath;
use super::path::RelPath;
use super::stat::{Kind, Stat};
use super::sys::{self, Access};
use super::{Root, RootError};
use crate::runtime::cancel::Cancel;

/// The largest file that is read where the reader may not block.
const QUICK_SIZE: u64 = 64 << 10;

/// How much is read or written at a time: on a slow disk, too, that does not take as long as `--io-timeout`.
pub(super) const PIECE: usize = 256 << 10;

/// Whether an operation may wait for a disk or a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It may.
    Allowed,
    /// It gives [`RootError::WouldBlock`] instead.
    Refused,
}

/// A regular file, open for reading. Its size and times are those of the open handle.
#[derive(Debug)]
pub struct File {
    pub(super) handle: std::fs::File,
    /// Where it really is: without links and `..`.
    pub path: RelPath,
    /// What was known when it was opened; it may grow or shrink since.
    pub stat: Stat,
    blocking: Blocking,
}

impl Root {
    /// Opens a regular file for reading. Anything else is refused without being opened.
    pub fn open_file(&self, asked: &RequestedPath, blocking: Blocking, cancel: &Cancel) -> Result<File, RootError> {
        let (path, stat) = self.reach(&asked.path, blocking, cancel)?;
        regular(stat.kind)?;
        if asked.directory {
            return Err(RootError::NotFound);
        }
        self.open_real_file(path, blocking)
    }

    /// Opens a file by a path that holds no link and that is not denied, such as one that a walk gave.
    pub fn open_real_file(&self, path: RelPath, blocking: Blocking) -> Result<File, RootError> {
        let opened = sys::open(&self.dir, &path, Access::File, self.can());
        let (file, stat) = opened.map_err(|error| match error {
            RootError::WouldBlock if blocking == Blocking::Allowed => RootError::Held,
            error => error,
        })?;
        regular(stat.kind)?;
        if blocking == Blocking::Refused && stat.size > QUICK_SIZE {
            return Err(RootError::WouldBlock);
        }
        Ok(File { handle: file, path, stat, blocking })
    }

    /// Opens a directory for listing.
    pub fn open_directory(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<Directory<'_>, RootError> {
        let (path, stat) = self.reach(&asked.path, Blocking::Allowed, cancel)?;
        match stat.kind {
            Kind::Directory => self.open_real_directory(&path),
            _ => Err(RootError::NotDirectory),
        }
    }

    /// Opens a directory by a path that holds no link and that is not denied, such as one that a walk gave.
    pub fn open_real_directory(&self, path: &RelPath) -> Result<Directory<'_>, RootError> {
        self.open_directory_with(self.can(), path)
    }

    /// The same for a walk, which goes round what does not answer.
    pub(super) fn open_walked_directory(&self, path: &RelPath) -> Result<Directory<'_>, RootError> {
        let mut can = self.can();
        can.only_local |= self.walks_stay.load(Ordering::Relaxed);
        self.open_directory_with(can, path)
    }

    fn open_directory_with(&self, can: sys::Caps, path: &RelPath) -> Result<Directory<'_>, RootError> {
        if path.is_root() {
            // A listing or a walk of everything begins here.
            self.must_be_in_place()?;
        }
        let (file, _) = sys::open(&self.dir, path, Access::Directory, can)?;
        Ok(Directory::new(self, file, path.clone()))
    }

    /// What a path names once all links are followed, and where it really is.
    pub fn stat(
        &self,
        asked: &RequestedPath,
        blocking: Blocking,
        cancel: &Cancel,
    ) -> Result<(RelPath, Stat), RootError> {
        let (path, stat) = self.reach(&asked.path, blocking, cancel)?;
        if asked.directory && stat.kind != Kind::Directory {
            return Err(RootError::NotFound);
        }
        Ok((path, stat))
    }

    /// Whether the path itself, before its last link is followed, names a link.
    pub fn is_link(&self, asked: &RequestedPath, cancel: &Cancel) -> bool {
        let Some(name) = asked.path.file_name() else { return false };
        let real = self.resolve(&asked.path.parent(), cancel).map(|parent| parent.join(name));
        real.and_then(|path| sys::stat(&self.dir, &path, self.can(), false)).is_ok_and(|stat| stat.kind == Kind::Link)
    }

    /// Where `asked` really is, and what is there. The way that most paths take is one system call.
    fn reach(&self, asked: &RelPath, blocking: Blocking, cancel: &Cancel) -> Result<(RelPath, Stat), RootError> {
        let refused = blocking == Blocking::Refused;
        if refused && !(self.can().quick && self.seems_in_place()) {
            return Err(RootError::WouldBlock);
        }
        self.deny.check(asked)?;
        if !refused {
            self.must_be_in_place()?;
        }
        if !asked.has_parent_refs() {
            match sys::stat(&self.dir, asked, self.can(), refused) {
                Ok(stat) if stat.kind != Kind::Link => return Ok((asked.clone(), stat)),
                // A link somewhere, or a name in another Unicode form: to be looked at step by step.
                Ok(_) | Err(RootError::Loop | RootError::NotDirectory | RootError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        if refused {
            return Err(RootError::WouldBlock);
        }
        let real = self.resolve(asked, cancel)?;
        self.deny.check(&real)?;
        let stat = sys::stat(&self.dir, &real, self.can(), false)?;
        if stat.kind == Kind::Link { Err(RootError::Loop) } else { Ok((real, stat)) }
    }
}

impl File {
    /// Reads at `offset` into `buffer`; fewer bytes than it holds only at the end of the file.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64, cancel: &Cancel) -> Result<usize, RootError> {
        let mut done = 0;
        while done < buffer.len() {
            cancel.check()?;
            let end = buffer.len().min(done + PIECE);
            let (rest, at) = (&mut buffer[done..end], offset + done as u64);
            let read = match self.blocking {
                Blocking::Allowed => sys::read_at(&self.handle, rest, at),
                Blocking::Refused => sys::read_at_now(&self.handle, rest, at),
            };
            match read {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }
}

/// Fails for anything but a regular file.
pub(super) fn regular(kind: Kind) -> Result<(), RootError> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(RootError::IsDirectory),
        other => Err(RootError::NotRegular(other)),
    }
}
