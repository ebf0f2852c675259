//! What Linux has and no other system that is served: here it is said that it is not to be had.

use std::fs::File;
use std::io;

use cap_std::fs::Dir;

use super::CHAIN;
use crate::root::RootError;
use crate::root::path::RelPath;
use crate::root::stat::{Kind, Stat};

#[derive(Clone, Copy, Debug)]
pub(in crate::root) struct Caps {
    pub(in crate::root) quick: bool,
    /// Nothing may be accessed, because nothing is known to be quick.
    pub(in crate::root) only_local: bool,
    /// `None`: nothing here distinguishes remote file systems from others.
    pub(in crate::root) remote: Option<&'static str>,
}

impl Caps {
    /// Without a read that never blocks, nothing counts as quick.
    pub(in crate::root) fn of(_root: &Dir) -> io::Result<Self> {
        Ok(Self { quick: false, only_local: false, remote: None })
    }

    pub(in crate::root) fn is_quick_at(self, _stat: &Stat) -> bool {
        self.quick
    }

    pub(in crate::root) fn is_remote_at(self, _file: &File, _stat: &Stat) -> bool {
        false
    }

    pub(in crate::root) fn confinement(self) -> &'static str {
        CHAIN
    }

    pub(super) fn answers(self) -> Result<(), RootError> {
        if self.only_local { Err(RootError::NoAnswer) } else { Ok(()) }
    }
}

/// Not offered: nothing here distinguishes local file systems from others.
pub(in crate::root) fn stat_local(_root: &Dir, _path: &RelPath, _can: Caps) -> Option<Stat> {
    None
}

/// Whether a file can change without an event for its directory. `None`: there are no events here.
pub(in crate::root) fn changes_elsewhere(root: &Dir, path: &RelPath, can: Caps) -> Result<Option<bool>, RootError> {
    // There are no events for a single file, so it has to be polled.
    let stat = super::stat(root, path, can)?;
    Ok(if stat.kind == Kind::File && stat.names() > 1 { None } else { Some(false) })
}

/// Other systems have sandboxes as well, but none that an unprivileged program can enter for one directory.
pub(in crate::root) fn enter_sandbox(_dir: &Dir, _writable: bool, _required: bool) -> Result<u32, String> {
    Err("this system has no Landlock, only Linux has".to_owned())
}

pub(in crate::root) fn must_be_served(_file: &File) -> Result<(), RootError> {
    Ok(())
}

/// Not offered: nothing here tells whether a read would wait.
pub(in crate::root) fn read_cached(_file: &File, _buffer: &mut [u8]) -> io::Result<usize> {
    Err(io::ErrorKind::WouldBlock.into())
}

pub(in crate::root) fn stat_here(_dir: &File, _name: &[u8], _can: Caps) -> Result<Stat, RootError> {
    Err(RootError::NoAnswer)
}

/// Reserves space for an open file: not supported here.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
pub(in crate::root) fn reserve(_file: &File, _size: u64) -> io::Result<()> {
    Ok(())
}

/// The mount through which a file or directory was opened: not known here. On Windows it is reached through a reparse
/// point, which is not followed.
pub(in crate::root) fn mount_of<F>(_file: F) -> Option<u64> {
    None
}

/// A handle of the directory for listing it.
pub(in crate::root) fn listable(dir: &Dir) -> io::Result<File> {
    Ok(dir.try_clone()?.into_std_file())
}

/// Where the next data of a file is: holes are not known here.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
pub(in crate::root) fn data(_file: &File, at: u64, end: u64) -> io::Result<Option<(u64, u64)>> {
    Ok(Some((at, end)))
}
