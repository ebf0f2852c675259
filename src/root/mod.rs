//! The served directory, and the only code in the crate that touches the disk.
//!
//! [`Root`] is a capability: a handle of the directory, opened once. Everything is reached through it, by paths that
//! the kernel (or cap-std, where the kernel cannot) keeps beneath it. No check can be forgotten, because there is no
//! other way to the disk. `Root` has no method that changes anything.
//!
//! | module | answers |
//! | --- | --- |
//! | [`locate`] | which path does this text mean? (no disk) |
//! | [`resolve`], [`alike`] | where do its links and `..` lead? Does an entry have this name in another spelling? |
//! | [`open`] | the file or directory behind it, and facts about it |
//! | [`listing`], [`walk`] | what is in a directory, or below it |
//! | [`deny`], [`ignore`] | what is never served; what listings leave out |
//! | [`protect`] | what is served but never changed |
//! | [`patterns`], [`fold`] | how are such names compared? |
//! | [`watch_path`], [`hints`] | how is a change recognised; when to look for one |
//! | [`mod@write`] | how is it changed? Only with a [`WritableRoot`] |
//! | [`presence`] | is the directory still the one at its path? |
//! | [`sandbox`] | what does the kernel deny to the whole process? |
//! | [`sys`] | how does this system do it? |
//!
//! Bind mounts and hard links below the directory are part of it: whoever can create them could also copy the files
//! there.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the one place that touches the disk; everything else goes through Root"
)]

mod alike;
pub(crate) mod deny;
mod error;
mod fold;
mod globs;
pub(crate) mod hints;
mod ignore;
mod listing;
mod locate;
mod open;
mod path;
mod patterns;
mod presence;
mod protect;
mod resolve;
pub(crate) mod sandbox;
mod stat;
mod sys;
#[cfg(mcp_fs_unsandboxed)]
mod unsandboxed;
mod uri;
mod walk;
mod watch_path;
pub mod write;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::fs::Dir;

use crate::hostile::is_hostile;

use self::alike::Lookups;
use self::presence::Presence;

pub use self::deny::Deny;
pub use self::error::RootError;
pub(crate) use self::globs::Globs;
pub use self::ignore::Exclude;
pub(crate) use self::listing::{Directory, Entry, Listing};
pub use self::locate::RequestedPath;
pub use self::open::File;
pub use self::path::RelPath;
pub use self::protect::Protect;
pub(crate) use self::protect::ProtectedBy;
pub use self::sandbox::{Sandbox, SandboxStatus};
pub use self::stat::Kind;
pub(crate) use self::stat::Stat;
pub(crate) use self::sys::hints::{Hints, Waker};
pub use self::walk::{Hidden, NotEntered, Visit, Walk, WalkOptions, WalkedPath};
pub(crate) use self::watch_path::{FileState, Pending, WatchPath};
pub use self::write::WritableRoot;

/// The served directory.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    abilities: sys::Caps,
    /// Only the directory's own file system is accessed, provided that it is local.
    only_local: AtomicBool,
    /// The same for walks only, which would enter other file systems without being asked to.
    walks_stay: AtomicBool,
    deny: Deny,
    lookups: Lookups,
    presence: Presence,
    /// The directory's absolute path, with all links resolved.
    path: PathBuf,
    /// The same as components, and the path as given on the command line: clients use either.
    spellings: Vec<RelPath>,
    /// `file://` followed by the absolute path.
    uri: String,
    /// What the kernel enforces on the process.
    sandbox: SandboxStatus,
}

/// How file systems mounted inside the served directory are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountPolicy {
    /// They are served like everything else.
    Follow,
    /// Walks do not enter them.
    ExplicitOnly,
    /// They are not served.
    Skip,
}

/// Why a directory cannot be served. Printed once on stderr.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct OpenError {
    path: String,
    /// What is wrong, and what to do about it.
    why: String,
}

impl Root {
    /// Opens the directory at `path`. The only use of ambient authority in the crate.
    pub fn open(path: &Path, deny: Deny) -> Result<Self, OpenError> {
        let unusable = |why: &str| OpenError { path: path.display().to_string(), why: why.to_owned() };
        let describe = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound if path.starts_with("~") => {
                unusable("no such directory; only shells expand ~, so write the full path")
            }
            io::ErrorKind::NotFound => unusable("no such directory; create it, or name another one"),
            io::ErrorKind::NotADirectory => unusable("not a directory; name the directory to serve"),
            io::ErrorKind::PermissionDenied => unusable("permission denied; it must be readable by this user"),
            _ => unusable(&error.to_string()),
        };
        let canonical = path.canonicalize().map_err(describe)?;
        let dir = Dir::open_ambient_dir(&canonical, cap_std::ambient_authority()).map_err(describe)?;
        let can = sys::Caps::of(&dir).map_err(describe)?;
        let listable = sys::open(&dir, &RelPath::root(), sys::Access::Directory, can)
            .and_then(|(dir, _)| sys::must_be_served(&dir));
        listable.map_err(|error| match error {
            RootError::PermissionDenied => describe(io::ErrorKind::PermissionDenied.into()),
            RootError::UnknownFileSystem(number) => unusable(&format!(
                "on a file system of a kind that mcp-fs does not know ({number:#x}); serve a directory on another one, \
                 and report this number if it holds files"
            )),
            error => unusable(&error.to_string()),
        })?;
        Ok(Self {
            uri: file_uri(&canonical).ok_or_else(|| unusable("its path cannot be written as a file:// URI"))?,
            spellings: std::iter::once(canonical.clone())
                .chain(std::path::absolute(path))
                .map(|p| spelling(&p))
                .collect(),
            presence: Presence::of(&dir, &canonical, path).map_err(describe)?,
            dir,
            abilities: can,
            only_local: AtomicBool::new(false),
            walks_stay: AtomicBool::new(false),
            deny,
            lookups: Lookups::default(),
            path: canonical,
            sandbox: SandboxStatus::not_applied(),
        })
    }

    /// The directory's absolute path, with all links resolved.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path for people and for command lines.
    pub(crate) fn plain_path(&self) -> Cow<'_, Path> {
        plain(&self.path)
    }

    /// The path on one line, or its URI if the path contains characters that do not show as they are.
    pub(crate) fn shown_path(&self) -> String {
        let path = self.plain_path();
        path.to_str().filter(|path| !path.contains(is_hostile)).map_or_else(|| self.uri.clone(), str::to_owned)
    }

    /// The last component of the path, for people.
    pub(crate) fn name(&self) -> String {
        let path = self.plain_path();
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The directory's `file://` URI.
    pub(crate) fn own_uri(&self) -> &str {
        &self.uri
    }

    /// Sets which other file systems are accessed, after one has stopped responding. If the directory itself is not on
    /// a local file system, it counts as another one, except for walks. What is not accessed fails at once with
    /// [`RootError::NoAnswer`].
    pub(crate) fn set_mount_policy(&self, policy: MountPolicy) {
        self.only_local.store(policy == MountPolicy::Skip, Ordering::Relaxed);
        self.walks_stay.store(policy != MountPolicy::Follow && self.abilities.quick, Ordering::Relaxed);
    }

    /// The name of the directory's file system, if other machines or programs may change it without this kernel knowing.
    pub fn remote_file_system(&self) -> Option<&'static str> {
        self.abilities.remote
    }

    fn can(&self) -> sys::Caps {
        let mut can = self.abilities;
        can.only_local = self.only_local.load(Ordering::Relaxed);
        can
    }

    /// How this system confines paths to the directory, in words.
    pub(crate) fn confinement(&self) -> &'static str {
        self.can().confinement()
    }
}

fn spelling(path: &Path) -> RelPath {
    let bytes = plain(path).as_os_str().as_encoded_bytes().to_vec();
    let bytes = if cfg!(windows) { bytes.iter().map(|b| if *b == b'\\' { b'/' } else { *b }).collect() } else { bytes };
    RelPath::from_bytes(&bytes)
}

/// The URI of a directory. `url` leaves some characters unencoded that RFC 3986 requires to be encoded.
fn file_uri(path: &Path) -> Option<String> {
    let mut uri = url::Url::from_file_path(plain(path)).ok().map(String::from)?;
    for (character, encoded) in [("[", "%5B"), ("]", "%5D"), ("|", "%7C"), ("^", "%5E")] {
        uri = uri.replace(character, encoded);
    }
    Some(uri)
}

/// The path as people write it: on Windows, canonical paths are in the system's own form.
fn plain(path: &Path) -> Cow<'_, Path> {
    match path.to_str().filter(|_| cfg!(windows)).map(locate::windows::plain) {
        Some(Cow::Owned(text)) => PathBuf::from(text).into(),
        Some(Cow::Borrowed(text)) => Path::new(text).into(),
        None => path.into(),
    }
}
