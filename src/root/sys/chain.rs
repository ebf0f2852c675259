//! What every system can do: a path opened name by name, each without following links.

use std::fs::File;
use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

use super::Access;
use crate::root::path::{RelPath, os_str};
use crate::root::stat::Stat;

pub(in crate::root) fn stat(root: &Dir, path: &RelPath) -> io::Result<Stat> {
    let Some(name) = path.file_name() else { return Ok(Stat::from(&root.dir_metadata()?)) };
    let name = os_str(name);
    Ok(Stat::from(&parent(root, path)?.symlink_metadata(name)?))
}

pub(in crate::root) fn open(root: &Dir, path: &RelPath, access: Access) -> io::Result<File> {
    let Some(name) = path.file_name() else { return Ok(root.try_clone()?.into_std_file()) };
    let name = os_str(name);
    let parent = parent(root, path)?;
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

/// The directory that holds the path's last component, reached name by name.
fn parent(root: &Dir, path: &RelPath) -> io::Result<Dir> {
    let mut dir = root.try_clone()?;
    let depth = path.depth();
    for name in path.components().take(depth - 1) {
        dir = dir.open_dir_nofollow(os_str(name))?;
    }
    Ok(dir)
}
