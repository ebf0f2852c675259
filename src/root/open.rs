//! From a path to an open file, an open directory, or facts about them.
//!
//! The order is always the same. The name is checked against the deny patterns. Its target is examined without opening
//! it, so that neither a device nor the writer of a FIFO notices. Links are resolved, and where they end is checked
//! again. Only then is it opened, without following links, and the open handle is examined once more.

use std::sync::atomic::Ordering;

use super::error::regular;
use super::listing::Directory;
use super::locate::RequestedPath;
use super::path::RelPath;
use super::stat::{Kind, Stat};
use super::sys::{self, Access};
use super::{Root, RootError};
use crate::runtime::cancel::Cancel;

/// The largest file for [`Root::read_cached`], in bytes.
const SMALL: u64 = 64 << 10;

/// How many bytes are read or written at a time: few enough that a slow disk needs less than `--io-timeout` for them.
pub(super) const PIECE: usize = 256 << 10;

/// A regular file, open for reading. Its size and times are those of the open handle.
#[derive(Debug)]
pub struct File {
    pub(super) handle: std::fs::File,
    /// Its real path, without links and `..`.
    pub path: RelPath,
    /// The facts when it was opened; it may have grown or shrunk since.
    pub stat: Stat,
    /// The content, if it was read when the file was opened.
    content: Option<Vec<u8>>,
}

impl Root {
    /// Opens a regular file for reading. Anything else is rejected without being opened.
    pub fn open_file(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<File, RootError> {
        for pause in sys::RACE {
            match self.try_open_file(asked, cancel)? {
                Err(RootError::NotFound) => std::thread::sleep(pause),
                opened => return opened,
            }
        }
        self.try_open_file(asked, cancel)?
    }

    /// The inner error is from opening what was just there: if it is gone, another program may be replacing it.
    fn try_open_file(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<Result<File, RootError>, RootError> {
        let (path, stat) = self.reach(&asked.path, cancel)?;
        regular(stat.kind)?;
        if asked.directory {
            return Err(RootError::NotFound);
        }
        Ok(self.open_real_file(path))
    }

    /// Opens and reads a regular file of at most 64 KiB, provided that nothing can wait for a disk: DIR is in its place
    /// on a local file system, the path crosses neither links nor mounts, and the content is in the page cache. `None`
    /// says nothing about the file: [`Self::open_file`] finds out, on a thread that may wait.
    pub(crate) fn read_cached(&self, asked: &RequestedPath) -> Option<File> {
        let can = self.can();
        let may_try = can.quick && !asked.directory && !asked.path.has_parent_refs() && self.seems_in_place();
        if !may_try || self.deny.check(&asked.path).is_err() {
            return None;
        }
        let is_small = |stat: &Stat| stat.kind == Kind::File && stat.size <= SMALL;
        sys::stat_local(&self.dir, &asked.path, can).filter(is_small)?;
        let opened = sys::open(&self.dir, &asked.path, Access::File, can).ok();
        let (handle, stat) = opened.filter(|(_, stat)| is_small(stat))?;
        let mut content = vec![0; stat.size as usize];
        let length = sys::read_cached(&handle, &mut content).ok()?;
        content.truncate(length);
        Some(File { handle, path: asked.path.clone(), stat, content: Some(content) })
    }

    /// Opens a file by a path without links that is not denied, such as one from a walk.
    pub(crate) fn open_real_file(&self, path: RelPath) -> Result<File, RootError> {
        let (handle, stat) = sys::open(&self.dir, &path, Access::File, self.can())?;
        regular(stat.kind)?;
        Ok(File { handle, path, stat, content: None })
    }

    /// Opens a directory for listing.
    pub fn open_directory(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<Directory<'_>, RootError> {
        let (path, stat) = self.reach(&asked.path, cancel)?;
        match stat.kind {
            Kind::Directory => self.open_real_directory(&path),
            _ => Err(RootError::NotDirectory),
        }
    }

    /// Opens a directory by a path without links that is not denied, such as one from a walk.
    pub(crate) fn open_real_directory(&self, path: &RelPath) -> Result<Directory<'_>, RootError> {
        self.open_directory_with(self.can(), path)
    }

    /// The same for a walk, which avoids file systems that do not respond.
    pub(super) fn open_walked_directory(&self, path: &RelPath) -> Result<Directory<'_>, RootError> {
        let mut can = self.can();
        can.only_local |= self.walks_stay.load(Ordering::Relaxed);
        self.open_directory_with(can, path)
    }

    /// A directory for [`Directory::stat`] only, by a path without links that is not denied.
    pub(crate) fn directory_to_stat(&self, path: &RelPath) -> Result<Directory<'_>, RootError> {
        let file = sys::directory_handle(&self.dir, path, self.can())?;
        Ok(Directory::new(self, file, path.clone(), self.abilities.remote.is_some()))
    }

    fn open_directory_with(&self, can: sys::Caps, path: &RelPath) -> Result<Directory<'_>, RootError> {
        if path.is_root() {
            // A listing or walk of everything starts here.
            self.must_be_in_place()?;
        }
        let (file, stat) = sys::open(&self.dir, path, Access::Directory, can)?;
        let is_remote = can.is_remote_at(&file, &stat);
        Ok(Directory::new(self, file, path.clone(), is_remote))
    }

    /// What a path leads to once all links are followed, and its real path.
    pub fn stat(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<(RelPath, Stat), RootError> {
        let (path, stat) = self.reach(&asked.path, cancel)?;
        if asked.directory && stat.kind != Kind::Directory {
            return Err(RootError::NotFound);
        }
        Ok((path, stat))
    }

    /// Whether the path names a link, before its last link is followed.
    pub(crate) fn is_link(&self, asked: &RequestedPath, cancel: &Cancel) -> bool {
        let Some(name) = asked.path.file_name() else { return false };
        let real = self.resolve(&asked.path.parent(), cancel).map(|parent| parent.join(name));
        real.and_then(|path| sys::stat(&self.dir, &path, self.can())).is_ok_and(|stat| stat.kind == Kind::Link)
    }

    /// The directory that a link leads to, for a walk; `None` if it leads to none that may be entered. While walks
    /// avoid other file systems, links are not followed at all.
    pub(super) fn directory_behind(&self, link: &RelPath, cancel: &Cancel) -> Option<RelPath> {
        if self.walks_stay.load(Ordering::Relaxed) {
            return None;
        }
        let (real, stat) = self.reach(link, cancel).ok()?;
        (stat.kind == Kind::Directory).then_some(real)
    }

    /// Where `asked` really leads, and what is there. For most paths this takes one system call.
    fn reach(&self, asked: &RelPath, cancel: &Cancel) -> Result<(RelPath, Stat), RootError> {
        self.deny.check(asked)?;
        self.must_be_in_place()?;
        if !asked.has_parent_refs() {
            match sys::stat(&self.dir, asked, self.can()) {
                Ok(stat) if stat.kind != Kind::Link => return Ok((asked.clone(), stat)),
                // There is a link somewhere, or a name in another Unicode form, so the path is resolved step by step.
                Ok(_) | Err(RootError::Loop | RootError::NotDirectory | RootError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        let real = self.resolve(asked, cancel)?;
        self.deny.check(&real)?;
        let stat = sys::stat(&self.dir, &real, self.can())?;
        if stat.kind == Kind::Link { Err(RootError::Loop) } else { Ok((real, stat)) }
    }
}

impl File {
    /// Reads at `offset` into `buffer`. Fills it unless the file ends before.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64, cancel: &Cancel) -> Result<usize, RootError> {
        if let Some(content) = &self.content {
            let rest = content.get(offset as usize..).unwrap_or_default();
            let length = rest.len().min(buffer.len());
            buffer[..length].copy_from_slice(&rest[..length]);
            return Ok(length);
        }
        let mut done = 0;
        while done < buffer.len() {
            cancel.check()?;
            let end = buffer.len().min(done + PIECE);
            let (rest, at) = (&mut buffer[done..end], offset + done as u64);
            match sys::read_at(&self.handle, rest, at) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }
}
