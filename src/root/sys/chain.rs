//! What every system can do: a path opened name by name, each without following links.

use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use crate::root::path::{RelPath, os_str};

/// The directory that holds the path's last component, and that component's name: `.` for the root itself.
#[cfg(target_os = "linux")]
pub(in crate::root) fn parent_and_name<'p>(root: &Dir, path: &'p RelPath) -> io::Result<(Dir, &'p std::ffi::OsStr)> {
    match path.file_name() {
        Some(name) => Ok((parent(root, path)?, os_str(name))),
        None => Ok((root.try_clone()?, std::ffi::OsStr::new("."))),
    }
}

/// The directory that holds the path's last component, reached name by name.
pub(super) fn parent(root: &Dir, path: &RelPath) -> io::Result<Dir> {
    let mut dir = root.try_clone()?;
    let depth = path.depth();
    for name in path.components().take(depth - 1) {
        dir = dir.open_dir_nofollow(os_str(name))?;
    }
    Ok(dir)
}
