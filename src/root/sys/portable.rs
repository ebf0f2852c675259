//! Other systems: cap-std confines paths, and every read may block.

pub(in crate::root) mod change;

use std::fs::File;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

use super::{Access, CHAIN};
use crate::root::RootError;
use crate::root::path::{RelPath, os_str};
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

    fn answers(self) -> Result<(), RootError> {
        if self.only_local { Err(RootError::NoAnswer) } else { Ok(()) }
    }
}

pub(in crate::root) fn stat(root: &Dir, path: &RelPath, can: Caps) -> Result<Stat, RootError> {
    can.answers()?;
    let Some(name) = path.file_name() else { return Ok(Stat::from(&root.dir_metadata()?)) };
    Ok(Stat::from(&super::parent(root, path)?.symlink_metadata(os_str(name))?))
}

/// Not offered: nothing here distinguishes local file systems from others.
pub(in crate::root) fn stat_local(_root: &Dir, _path: &RelPath, _can: Caps) -> Option<Stat> {
    None
}

pub(in crate::root) fn open(root: &Dir, path: &RelPath, access: Access, can: Caps) -> Result<(File, Stat), RootError> {
    can.answers()?;
    let file = open_nofollow(root, path, access)?;
    let stat = Stat::from(&file.metadata()?);
    Ok((file, stat))
}

/// Whether a file can change without an event for its directory. `None`: there are no events here.
pub(in crate::root) fn changes_elsewhere(root: &Dir, path: &RelPath, can: Caps) -> Result<Option<bool>, RootError> {
    // There are no events for a single file, so it has to be polled.
    let stat = stat(root, path, can)?;
    Ok(if stat.kind == Kind::File && stat.names() > 1 { None } else { Some(false) })
}

/// A handle of a directory, for looking up its entries.
pub(in crate::root) fn directory_handle(root: &Dir, path: &RelPath, can: Caps) -> Result<File, RootError> {
    can.answers()?;
    Ok(open_nofollow(root, path, Access::Directory)?)
}

fn open_nofollow(root: &Dir, path: &RelPath, access: Access) -> io::Result<File> {
    let Some(name) = path.file_name() else { return Ok(root.try_clone()?.into_std_file()) };
    let (parent, name) = (super::parent(root, path)?, os_str(name));
    if access == Access::Directory {
        return Ok(parent.open_dir_nofollow(name)?.into_std_file());
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    Ok(parent.open_with(name, &options)?.into_std())
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

pub(in crate::root) fn list(
    dir: &File,
    _buffer: &mut Vec<u8>,
    mut entry: impl FnMut(&[u8], Kind) -> bool,
) -> Result<(), RootError> {
    for next in Dir::from_std_file(dir.try_clone()?).entries()? {
        let next = next?;
        let kind = next.metadata().map_or(Kind::Other, |metadata| Stat::from(&metadata).kind);
        if !entry(next.file_name().as_encoded_bytes(), kind) {
            break;
        }
    }
    Ok(())
}

pub(in crate::root) fn stat_here(_dir: &File, _name: &[u8], _can: Caps) -> Result<Stat, RootError> {
    Err(RootError::NoAnswer)
}

pub(in crate::root) fn stat_in(dir: &File, name: &[u8]) -> Result<Stat, RootError> {
    let name: &Path = os_str(name).as_ref();
    Ok(Stat::from(&Dir::from_std_file(dir.try_clone()?).symlink_metadata(name)?))
}
