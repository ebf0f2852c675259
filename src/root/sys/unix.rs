//! Unix systems other than Linux: cap-std confines paths, one name at a time.

pub(in crate::root) mod change;

use std::fs::File;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use super::Access;
use super::portable::Caps;
use crate::root::RootError;
use crate::root::path::{RelPath, os_str};
use crate::root::stat::{Kind, Stat};

pub(in crate::root) fn stat(root: &Dir, path: &RelPath, can: Caps) -> Result<Stat, RootError> {
    can.answers()?;
    let Some(name) = path.file_name() else { return Ok(Stat::from(&root.dir_metadata()?)) };
    Ok(Stat::from(&super::parent(root, path)?.symlink_metadata(os_str(name))?))
}

pub(in crate::root) fn open(root: &Dir, path: &RelPath, access: Access, can: Caps) -> Result<(File, Stat), RootError> {
    can.answers()?;
    let file = open_nofollow(root, path, access)?;
    let stat = Stat::from(&file.metadata()?);
    Ok((file, stat))
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
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    Ok(parent.open_with(name, &options)?.into_std())
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

pub(in crate::root) fn stat_in(dir: &File, name: &[u8]) -> Result<Stat, RootError> {
    let name: &Path = os_str(name).as_ref();
    Ok(Stat::from(&Dir::from_std_file(dir.try_clone()?).symlink_metadata(name)?))
}
