//! A file that nobody sees until it is complete: written under a name of our own in the directory where it is to
//! be, and renamed. Whatever goes wrong before that, the name goes again. Only a killed process leaves it behind; the
//! deny list keeps it from being seen, and the next write there removes it once it is old.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use super::WriteError;
use crate::root::stat::Kind;
use crate::root::sys;

/// What such a name begins and ends with; `deny.rs` has it as a pattern.
const PREFIX: &[u8] = b".mcp-fs-";
const SUFFIX: &[u8] = b".tmp";
/// Older ones belong to nobody any more: what is being written is younger.
const OLD: Duration = Duration::from_hours(1);
/// Entries of a directory that are looked at for old ones. In a larger one they may stay.
const MOST_LOOKED_AT: usize = 20_000;

/// A file under a temporary name, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary<'d> {
    dir: &'d Dir,
    name: String,
    pub(super) file: File,
    is_placed: bool,
}

/// Who may read a new file while it is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Its owner: it will get the mode of another file.
    Owner,
    /// Whom the system gives new files to: by the umask, or by the directory's access list.
    AsCreated,
}

impl<'d> Temporary<'d> {
    /// Creates it, empty. Old ones that killed writes have left there are removed first.
    pub(super) fn create(dir: &'d Dir, readers: Readers) -> Result<Self, WriteError> {
        remove_old(dir);
        loop {
            let name = format!(".mcp-fs-{:016x}.tmp", RandomState::new().build_hasher().finish());
            match dir.open_with(&name, &new_file(readers)) {
                Ok(file) => return Ok(Self { dir, name, file: file.into_std(), is_placed: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(WriteError::in_directory(error)),
            }
        }
    }

    /// Gives it the name of what is there, in one step.
    pub(super) fn replace(mut self, name: &OsStr) -> Result<(), WriteError> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.is_placed = true;
        Ok(())
    }

    /// Gives it a name that nothing has. [`WriteError::Exists`]: something has it by now.
    pub(super) fn appear(mut self, name: &OsStr) -> Result<(), WriteError> {
        match sys::change::rename_new((self.dir, OsStr::new(&self.name)), (self.dir, name)) {
            // A second name fails where one is taken, too; the first one goes with this value.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                match self.dir.hard_link(&self.name, self.dir, name) {
                    Ok(()) => return Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(WriteError::Exists),
                    // Neither: what came there in the last moment is lost, as with any program on such a file system.
                    Err(_) => self.dir.rename(&self.name, self.dir, name)?,
                }
            }
            renamed => renamed?,
        }
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

/// A file that is not there yet, to be written.
pub(super) fn new_file(readers: Readers) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        options.mode(if readers == Readers::Owner { 0o600 } else { 0o666 });
    }
    #[cfg(not(unix))]
    let _ = readers;
    options
}

/// Whether this is such a name.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == 16 && random.iter().all(u8::is_ascii_hexdigit))
}

/// Removes what killed writes have left in a directory. Whatever fails here fails nothing else.
fn remove_old(dir: &Dir) {
    let Ok(listable) = sys::change::listable(dir) else { return };
    let (mut found, mut seen) = (Vec::new(), 0);
    let _ = sys::list(&listable, &mut Vec::new(), |name, kind| {
        if kind == Kind::File && is_temporary(name) {
            found.push(name.to_vec());
        }
        seen += 1;
        seen < MOST_LOOKED_AT
    });
    for name in found {
        let stat = sys::stat_in(&listable, &name).ok().filter(|stat| stat.kind == Kind::File);
        let age = stat.and_then(|stat| SystemTime::now().duration_since(stat.modified?).ok());
        if age.is_some_and(|age| age >= OLD) {
            let _ = dir.remove_file(crate::root::path::os_str(&name));
        }
    }
}
