//! Windows: cap-std confines paths, one name at a time, and the system tells by which name it found each file.
//!
//! On Windows a file has more names than its directory lists: short ones (`ENV~1` for `.env`), other cases, and
//! whatever file servers and reparse points silently make of a name. So every handle is asked for its path, and its
//! part below the served directory must be the requested one, apart from case. This applies deny and protect patterns
//! to the name that is really opened.

pub(in crate::root) mod change;
mod facts;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use winx::file::{Flags, get_file_path};

use super::Access;
use super::portable::Caps;
use crate::root::RootError;
use crate::root::fold::fold;
use crate::root::path::{RelPath, os_str};
use crate::root::stat::{Kind, Stat};

pub(in crate::root) use change::rename_over;
pub(in crate::root) use facts::Facts;

/// Whether a file can take the name of another one that this process has open: only on NTFS, so it is not relied on.
pub(in crate::root) const REPLACES_OPEN_FILES: bool = false;

pub(in crate::root) fn stat(root: &Dir, path: &RelPath, can: Caps) -> Result<Stat, RootError> {
    can.answers()?;
    let Some(name) = path.file_name() else { return Ok(Stat::from(&root.dir_metadata()?)) };
    let parent = super::parent(root, path)?;
    let file = parent.open_with(os_str(name), &to_look_at())?.into_std();
    must_be_at(&file, root, path)?;
    Ok(Stat::of(&file)?)
}

pub(in crate::root) fn open(root: &Dir, path: &RelPath, access: Access, can: Caps) -> Result<(File, Stat), RootError> {
    can.answers()?;
    let file = open_nofollow(root, path, access)?;
    must_be_at(&file, root, path)?;
    let stat = Stat::of(&file)?;
    Ok((file, stat))
}

/// A handle of a directory, for looking up its entries.
pub(in crate::root) fn directory_handle(root: &Dir, path: &RelPath, can: Caps) -> Result<File, RootError> {
    open(root, path, Access::Directory, can).map(|(file, _)| file)
}

fn open_nofollow(root: &Dir, path: &RelPath, access: Access) -> io::Result<File> {
    let Some(name) = path.file_name() else { return Ok(root.try_clone()?.into_std_file()) };
    let (parent, name) = (super::parent(root, path)?, os_str(name));
    if access == Access::Directory {
        return Ok(parent.open_dir_nofollow(name)?.into_std_file());
    }
    Ok(parent.open_with(name, OpenOptions::new().read(true).follow(FollowSymlinks::No))?.into_std())
}

/// Opens anything, including a link itself, without reading or writing, so that no other program is locked out.
fn to_look_at() -> OpenOptions {
    let flags = Flags::FILE_FLAG_OPEN_REPARSE_POINT | Flags::FILE_FLAG_BACKUP_SEMANTICS;
    let mut options = OpenOptions::new();
    options.access_mode(0).custom_flags(flags.bits()).follow(FollowSymlinks::No);
    options
}

/// Fails if what was opened by `path` below `root` has another name.
fn must_be_at(file: &File, root: &Dir, path: &RelPath) -> Result<(), RootError> {
    let found = get_file_path(file)?;
    // Both are in the system's own spelling.
    let below = found.strip_prefix(path_of(root)?).map_err(|_| RootError::Outside)?;
    let mut asked = path.components();
    let mut is_asked = |found: &Path| asked.next().is_some_and(|asked| is_same_name(found, asked));
    let all = below.components().all(|name| is_asked(name.as_ref()));
    if all && asked.next().is_none() { Ok(()) } else { Err(RootError::OtherName) }
}

/// Fails if what was opened by a name has another one.
pub(in crate::root) fn must_be_named(file: &File, dir: &Dir, name: &OsStr) -> Result<(), RootError> {
    must_be_at(file, dir, &RelPath::root().join(name.as_encoded_bytes()))
}

/// Whether two names differ only in what patterns ignore: then the same patterns match both.
fn is_same_name(found: &Path, asked: &[u8]) -> bool {
    let found = found.as_os_str().as_encoded_bytes();
    found == asked || fold(&String::from_utf8_lossy(found)) == fold(&String::from_utf8_lossy(asked))
}

/// The path of an open directory, in the form in which every name is literal (`\\?\C:\dir`).
fn path_of(dir: &Dir) -> io::Result<PathBuf> {
    get_file_path(&dir.try_clone()?.into_std_file())
}

/// A listing includes the kind of each entry, so none has to be opened.
pub(in crate::root) fn list(
    dir: &File,
    _buffer: &mut Vec<u8>,
    mut entry: impl FnMut(&[u8], Kind) -> bool,
) -> Result<(), RootError> {
    // The handle prevents the directory from being moved, so this is still its path.
    for next in fs::read_dir(get_file_path(dir)?)? {
        let next = next?;
        let kind = next.file_type().map_or(Kind::Other, kind_of);
        if !entry(next.file_name().as_encoded_bytes(), kind) {
            break;
        }
    }
    Ok(())
}

fn kind_of(kind: fs::FileType) -> Kind {
    match kind {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

/// The facts about an entry from a listing.
pub(in crate::root) fn stat_in(dir: &File, name: &[u8]) -> Result<Stat, RootError> {
    let file = Dir::from_std_file(dir.try_clone()?).open_with(os_str(name), &to_look_at())?;
    Ok(Stat::of(&file.into_std())?)
}

/// What is at a path on the host.
pub(in crate::root) fn stat_outside(path: &Path) -> io::Result<Stat> {
    let flags = Flags::FILE_FLAG_BACKUP_SEMANTICS.bits();
    Stat::of(&fs::OpenOptions::new().access_mode(0).custom_flags(flags).open(path)?)
}
