//! Where a path to be written really leads: an open directory and one name in it. Also which names may not be written
//! or created.

use std::ffi::OsStr;

use cap_std::fs::Dir;

use super::path_locks::Claimed;
use super::{WritableRoot, WriteError};
use crate::root::path::os_str;
use crate::root::resolve::{LastLink, Reached};
use crate::root::stat::{Kind, Stat};
use crate::root::{RelPath, RequestedPath, RootError, sys};
use crate::runtime::cancel::Cancel;

/// The longest name on Windows, in UTF-16 code units.
const LONGEST_NAME: usize = 255;

/// Where a path leads, before anything is opened.
#[derive(Debug)]
pub(super) struct Target {
    reached: Reached,
    /// The whole path: the part that exists, and the part that does not.
    pub(super) path: RelPath,
    /// The requested path ended in `/`.
    directory: bool,
}

/// A name in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) dir: Dir,
    /// Relative to the root.
    pub(super) path: RelPath,
}

impl WritableRoot {
    /// Fails if a path or anything above it is protected.
    pub(super) fn must_not_be_protected(&self, path: &RelPath) -> Result<(), WriteError> {
        self.protect.check(path).map_err(WriteError::ProtectedName)
    }

    /// The same for an entry of a tree that is to be changed as a whole.
    pub(super) fn must_not_hold_protected(&self, entry: &RelPath) -> Result<(), WriteError> {
        self.protect.check(entry).map_err(|by| WriteError::HoldsProtected(entry.clone(), by))
    }

    /// Where `asked` leads. Fails if that is outside, denied or protected, but not if something is missing.
    pub(super) fn target(&self, asked: &RequestedPath, last: LastLink, cancel: &Cancel) -> Result<Target, WriteError> {
        self.root.deny.check(&asked.path)?;
        self.must_not_be_protected(&asked.path)?;
        self.root.must_be_in_place()?;
        let reached = self.root.resolve_far(&asked.path, last, cancel)?;
        let path = reached.missing.iter().fold(reached.real.clone(), |path, name| path.join(name));
        self.root.deny.check(&path)?;
        self.must_not_be_protected(&path)?;
        if !reached.missing.is_empty() {
            must_be_creatable(&asked.path, &path)?;
        }
        Ok(Target { reached, path, directory: asked.directory })
    }

    /// Opens the directory that contains the target. Creates a missing one if `parents` is set.
    pub(super) fn place(&self, target: &Target, parents: bool) -> Result<Place, WriteError> {
        if target.path.is_root() {
            return Err(WriteError::ServedDirectory);
        }
        let missing = &target.reached.missing;
        let to_make = missing.len().saturating_sub(1);
        if to_make > 0 && !parents {
            return Err(WriteError::NoDirectory(target.reached.real.join(&missing[0])));
        }
        self.make_directories(&target.reached.real, &missing[..to_make])?;
        Ok(Place { dir: self.open(&target.path.parent())?, path: target.path.clone() })
    }

    /// A real directory, opened for changes in it.
    pub(super) fn open(&self, path: &RelPath) -> Result<Dir, WriteError> {
        match sys::directory_handle(&self.root.dir, path, self.root.can()) {
            Ok(handle) => Ok(Dir::from_std_file(handle)),
            Err(RootError::NotDirectory) => Err(WriteError::NotDirectory(path.clone())),
            Err(error) => Err(error.into()),
        }
    }

    /// Fails if a place is no longer where it was found: another program has moved a directory above it, and the change
    /// would be made somewhere else, perhaps under a denied name or outside.
    pub(super) fn must_still_be(&self, place: &Place) -> Result<(), WriteError> {
        self.must_be_at(&place.path.parent(), &place.dir)
    }

    /// The same for an open directory that was found at `path`.
    pub(super) fn must_be_at(&self, path: &RelPath, dir: &Dir) -> Result<(), WriteError> {
        let stat = |dir: &Dir| dir.dir_metadata().map(|metadata| Stat::from(&metadata));
        let there = self.open(path).map_err(|_| WriteError::Raced)?;
        if stat(&there)?.is_same_file(&stat(dir)?) { Ok(()) } else { Err(WriteError::Raced) }
    }

    /// Creates a directory and any missing parents. Returns its real path and how many were created. An existing
    /// directory is not an error.
    pub(crate) fn create_directory(
        &self,
        asked: &RequestedPath,
        cancel: &Cancel,
    ) -> Result<(RelPath, usize), WriteError> {
        let target = self.target(asked, LastLink::Followed, cancel)?;
        let _guard = self.path_locks.take(&[Claimed::Name(&target.path)], cancel)?;
        self.make_directories(target.real(), target.missing())?;
        // Also if another program created that name meanwhile.
        let stat = sys::stat(&self.root.dir, &target.path, self.root.can())?;
        if stat.kind != Kind::Directory {
            return Err(RootError::NotDirectory.into());
        }
        Ok((target.path.clone(), target.missing().len()))
    }

    /// Creates directories below an existing one, each inside the previous one.
    pub(super) fn make_directories(&self, real: &RelPath, names: &[Vec<u8>]) -> Result<(), WriteError> {
        let mut path = real.clone();
        for name in names {
            let dir = self.open(&path)?;
            match dir.create_dir(os_str(name)) {
                // Another program was faster. If it did not create a directory, opening fails.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => {
                    made.map_err(WriteError::in_directory)?;
                    self.must_be_at(&path, &dir).inspect_err(|_| drop(dir.remove_dir(os_str(name))))?;
                }
            }
            self.settle(&dir)?;
            path.push(name);
        }
        Ok(())
    }

    /// Waits until the names in a directory are on the disk, if changes have to be durable.
    pub(super) fn settle(&self, dir: &Dir) -> Result<(), WriteError> {
        if !self.durable {
            return Ok(());
        }
        match sys::change::sync(dir) {
            // It is writable but not readable, so no handle can be opened for syncing.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced.map_err(WriteError::unconfirmed),
        }
    }
}

impl Target {
    /// The missing names, in order.
    pub(super) fn missing(&self) -> &[Vec<u8>] {
        &self.reached.missing
    }

    /// The last entry that exists.
    pub(super) fn real(&self) -> &RelPath {
        &self.reached.real
    }

    /// Fails if the path ends in a slash but `kind` is not a directory.
    pub(super) fn must_fit(&self, kind: Kind) -> Result<(), WriteError> {
        if self.directory && kind != Kind::Directory { Err(RootError::NotDirectory.into()) } else { Ok(()) }
    }

    /// Fails if the form of the path names a directory.
    pub(super) fn must_name_a_file(&self) -> Result<(), WriteError> {
        if self.directory { Err(WriteError::NamesDirectory) } else { Ok(()) }
    }
}

impl Place {
    pub(super) fn name(&self) -> &OsStr {
        os_str(self.path.file_name().unwrap_or_default())
    }

    /// What has the name now: a link itself, not its target. `None` if nothing has it.
    pub(super) fn look(&self) -> Result<Option<Stat>, WriteError> {
        match self.dir.symlink_metadata(self.name()) {
            Ok(metadata) => Ok(Some(Stat::from(&metadata))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Fails if the missing end of `path`, requested as `asked`, must not be created on this system.
fn must_be_creatable(asked: &RelPath, path: &RelPath) -> Result<(), WriteError> {
    if cfg!(unix) {
        return if looks_like_windows(asked) { Err(WriteError::WindowsPath) } else { Ok(()) };
    }
    if std::str::from_utf8(path.as_bytes()).is_err() {
        return Err(RootError::BadPath("a name must be valid UTF-8 on this system").into());
    }
    if cfg!(windows) { must_be_windows_names(path) } else { Ok(()) }
}

/// Fails for names that are impossible on Windows. The system itself would say that they are not found.
fn must_be_windows_names(path: &RelPath) -> Result<(), WriteError> {
    let names = || path.components().map(String::from_utf8_lossy);
    let cannot_be = |c: char| c.is_control() || r#"<>:"|?*\"#.contains(c);
    let why = if path.components().any(is_device) {
        "on Windows this name means a device"
    } else if names().any(|name| name.contains(cannot_be)) {
        "on Windows a name cannot contain < > : \" | ? * or control characters"
    } else if names().any(|name| name.encode_utf16().count() > LONGEST_NAME) {
        "the path, or a name in it, is too long"
    } else {
        return Ok(());
    };
    Err(RootError::BadPath(why).into())
}

/// `C:\x`, `C:/x`, `\\server\share`: a client that assumes another system's paths would create files of these names.
fn looks_like_windows(asked: &RelPath) -> bool {
    let first = asked.components().next().unwrap_or_default();
    let is_drive = matches!(first, [letter, b':', rest @ ..] if letter.is_ascii_alphabetic()
        && rest.first().is_none_or(|next| *next == b'\\'));
    is_drive || first.starts_with(br"\\")
}

/// `NUL`, `con.txt`: a write to them is lost, and a read waits for the keyboard.
fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default().trim_ascii_end();
    let stem = stem.to_ascii_lowercase();
    // The system takes these three for digits, too.
    let is_superscript = |rest: &[u8]| ["\u{b9}", "\u{b2}", "\u{b3}"].map(str::as_bytes).contains(&rest);
    let is_digit = |rest: &[u8]| matches!(rest, [b'0'..=b'9']) || is_superscript(rest);
    let is_numbered = |stem: &[u8]| matches!(stem.split_at_checked(3), Some((b"com" | b"lpt", rest)) if is_digit(rest));
    [&b"con"[..], b"prn", b"aux", b"nul", b"conin$", b"conout$"].contains(&stem.as_slice()) || is_numbered(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_are_told_from_names() {
        for path in [r"C:\x", "C:/x", "c:", r"\\srv\x", r"z:\"] {
            assert!(looks_like_windows(&RelPath::from_bytes(path.as_bytes())), "{path}");
        }
        for path in ["C:x", "CC:/x", r"a\b", r"\x", "a/C:/x", "1:/x", "", ":"] {
            assert!(!looks_like_windows(&RelPath::from_bytes(path.as_bytes())), "{path}");
        }
    }

    #[test]
    fn names_impossible_on_windows_are_rejected() {
        let bad = |path: &str| must_be_windows_names(&RelPath::from_bytes(path.as_bytes())).is_err();
        for path in ["a<b", "*.env", "a/b?/c", "tab\t", "d/NUL", &"x".repeat(256)] {
            assert!(bad(path), "{path}");
        }
        assert!(!bad("a/b c/\u{e9}~1.txt") && !bad(&"\u{e9}".repeat(255)));
    }

    #[test]
    fn devices_are_told_from_files() {
        for name in ["NUL", "con.txt", "Com1", "lpt9.a.b", "aux ", "CONOUT$", "COM\u{b9}", "lpt\u{b3}.x"] {
            assert!(is_device(name.as_bytes()), "{name}");
        }
        for name in ["null", "com", "com10", "a.nul", "", ".con", "console.txt"] {
            assert!(!is_device(name.as_bytes()), "{name}");
        }
    }
}
