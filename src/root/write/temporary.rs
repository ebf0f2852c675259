//! A file that is not visible until it is complete: written under a name of our own in the directory where it is to
//! be, and renamed. Whatever goes wrong before that, the name goes again. Only a killed process leaves it behind; the
//! deny list keeps it from being seen, and a server's first write there removes it once it is old.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

use super::WriteError;
use super::lock::lock_new;
use crate::root::stat::{Kind, Stat};
use crate::root::sys;

/// What such a name begins and ends with; `deny.rs` has it as a pattern.
const PREFIX: &str = ".mcp-fs-";
pub(super) const SUFFIX: &str = ".tmp";
/// Older ones are left over: files that are being written are younger.
const OLD: Duration = Duration::from_hours(1);
/// Entries of a directory that are looked at for old ones. In a larger one they may stay.
const MOST_LOOKED_AT: usize = 20_000;
/// Directories that are remembered to have been cleaned.
const MOST_CLEANED: usize = 1_024;

/// Directories in which this server has looked for old ones: once is enough, and a listing takes time.
#[derive(Debug, Default)]
pub(super) struct Cleaned(Mutex<HashSet<(u64, u64)>>);

impl Cleaned {
    /// Removes what killed writes have left in a directory, the first time that it is asked for it.
    fn clean(&self, dir: &Dir) {
        let Ok(stat) = dir.dir_metadata().map(|metadata| Stat::from(&metadata)) else { return };
        let mut cleaned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cleaned.len() >= MOST_CLEANED {
            cleaned.clear();
        }
        let is_first = cleaned.insert((stat.on_device(), stat.identity()));
        drop(cleaned);
        if is_first {
            remove_old(dir);
        }
    }
}

/// A file under a temporary name, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary<'d> {
    pub(super) dir: &'d Dir,
    pub(super) name: String,
    pub(super) file: File,
    /// What has the name is not to be removed: it is gone, or another program's file.
    pub(super) keeps_name: bool,
}

/// The permissions of a new file while it is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Its owner: it will get the mode of another file.
    Owner,
    /// Whom the system gives new files to: by the umask, or by the directory's access list.
    AsCreated,
}

impl<'d> Temporary<'d> {
    /// Creates it, empty. Old ones that killed writes have left there are removed first, once in a server's life.
    pub(super) fn create(dir: &'d Dir, readers: Readers, cleaned: &Cleaned) -> Result<Self, WriteError> {
        cleaned.clean(dir);
        loop {
            let name = new_name();
            match dir.open_with(&name, &new_file(readers)) {
                Ok(file) => {
                    let file = file.into_std();
                    lock_new(&file);
                    return Ok(Self { dir, name, file, keeps_name: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(WriteError::in_directory(error)),
            }
        }
    }

    /// What is known of the new file.
    pub(super) fn stat(&self) -> Result<Stat, WriteError> {
        Ok(Stat::of(&self.file)?)
    }

    /// Gives it the name of what is there, in one step.
    pub(super) fn replace(&mut self, name: &OsStr) -> Result<(), WriteError> {
        sys::rename_over(self.dir, OsStr::new(&self.name), name)?;
        self.keeps_name = true;
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
        self.keeps_name = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.keeps_name {
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
    stem(name).is_some()
}

/// When it was made, in seconds, and something random, in hexadecimal: what has such a name may be the file that was
/// replaced, whose own times tell nothing of that.
fn new_name() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let random = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{:08x}{:08x}{SUFFIX}", since.as_secs() as u32, random as u32)
}

/// What is between the beginning and the end of such a name.
fn stem(name: &[u8]) -> Option<&str> {
    let stem = name.strip_prefix(PREFIX.as_bytes())?.strip_suffix(SUFFIX.as_bytes())?;
    let stem = std::str::from_utf8(stem).ok()?;
    (stem.len() == 16 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(stem)
}

/// When a file got such a name.
fn named(name: &[u8]) -> Option<SystemTime> {
    let seconds = u32::from_str_radix(stem(name)?.get(..8)?, 16).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.into()))
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
        let latest = stat.and_then(|stat| Some(stat.modified?.max(named(&name)?)));
        let age = latest.and_then(|latest| SystemTime::now().duration_since(latest).ok());
        if age.is_some_and(|age| age >= OLD) {
            let _ = dir.remove_file(crate::root::path::os_str(&name));
        }
    }
}
