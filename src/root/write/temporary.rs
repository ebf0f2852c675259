//! A file that becomes visible only when it is complete: it is written under a temporary name in the destination
//! directory, and then renamed. Whatever fails before that, the name is removed. Only a killed process leaves it
//! behind; the deny list hides it, and a server's first write in that directory removes it once it is old.

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

/// How such a name begins and ends; `deny.rs` has it as a pattern.
const PREFIX: &str = ".mcp-fs-";
pub(super) const SUFFIX: &str = ".tmp";
/// Older files are leftovers: files that are being written are younger.
const OLD: Duration = Duration::from_hours(1);
/// How many entries of a directory are examined for leftovers. In a larger directory they may stay.
const MOST_LOOKED_AT: usize = 20_000;
/// How many cleaned directories are remembered.
const MOST_CLEANED: usize = 1_024;

/// The directories in which this server has looked for leftovers: once is enough, because a listing takes time.
#[derive(Debug, Default)]
pub(super) struct Cleaned(Mutex<HashSet<(u64, u64)>>);

impl Cleaned {
    /// Removes the leftovers of killed writes in a directory, the first time it is called for it.
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

/// A file with a temporary name, which is removed on drop.
#[derive(Debug)]
pub(super) struct Temporary<'d> {
    pub(super) dir: &'d Dir,
    pub(super) name: String,
    pub(super) file: File,
    /// The file with the name must not be removed: it is gone, or belongs to another program.
    pub(super) keeps_name: bool,
}

/// The permissions of a new file while it is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// The owner only: it will get the mode of another file.
    Owner,
    /// Whoever the system gives new files to: by the umask, or by the directory's access list.
    AsCreated,
}

impl<'d> Temporary<'d> {
    /// Creates it, empty. First, once per server and directory, leftovers of killed writes are removed.
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

    /// The facts about the new file.
    pub(super) fn stat(&self) -> Result<Stat, WriteError> {
        Ok(Stat::of(&self.file)?)
    }

    /// Gives it the name of an existing file, in one step.
    pub(super) fn replace(&mut self, name: &OsStr) -> Result<(), WriteError> {
        sys::rename_over(self.dir, OsStr::new(&self.name), name)?;
        self.keeps_name = true;
        Ok(())
    }

    /// Gives it a name that does not exist. [`WriteError::Exists`] if it does by now.
    pub(super) fn appear(mut self, name: &OsStr) -> Result<(), WriteError> {
        match sys::change::rename_new((self.dir, OsStr::new(&self.name)), (self.dir, name)) {
            // A hard link also fails if the name exists; the temporary name is removed on drop.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                match self.dir.hard_link(&self.name, self.dir, name) {
                    Ok(()) => return Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(WriteError::Exists),
                    // Neither works: a file that has just appeared there is lost, as with any program on such a file
                    // system.
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

/// Options for creating a file that does not exist.
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

/// Whether this is a temporary name.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    stem(name).is_some()
}

/// The time of creation in seconds and a random part, in hexadecimal. After a swap, the file with this name may be the
/// replaced one, whose own times do not tell that.
fn new_name() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let random = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{:08x}{:08x}{SUFFIX}", since.as_secs() as u32, random as u32)
}

/// The part between the beginning and the end of such a name.
fn stem(name: &[u8]) -> Option<&str> {
    let stem = name.strip_prefix(PREFIX.as_bytes())?.strip_suffix(SUFFIX.as_bytes())?;
    let stem = std::str::from_utf8(stem).ok()?;
    (stem.len() == 16 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(stem)
}

/// When a file got its temporary name.
fn named(name: &[u8]) -> Option<SystemTime> {
    let seconds = u32::from_str_radix(stem(name)?.get(..8)?, 16).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.into()))
}

/// Removes the leftovers of killed writes in a directory. A failure here is not reported.
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
