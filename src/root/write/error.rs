//! Why a change failed: one enum, and the one place that turns an [`io::Error`] of a change into it.
//!
//! As with [`RootError`], the messages go to clients and models: no path outside the served directory, no error number,
//! and what to do next if anything can be done. Unless a message says otherwise, nothing was changed.

use std::io;

use super::Version;
use crate::root::{ProtectedBy, RelPath, RootError};
use crate::runtime::cancel::Cancelled;

/// Why a change failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It cannot even be examined.
    #[error(transparent)]
    Root(#[from] RootError),
    /// A parent directory is missing.
    #[error("parent directory {} does not exist; pass \"createParents\": true, or use create_directory", .0.display())]
    NoDirectory(RelPath),
    /// A parent is not a directory.
    #[error("{} is not a directory", .0.display())]
    NotDirectory(RelPath),
    /// The destination exists.
    #[error("destination already exists; to move or copy into a directory, include the new name in the path")]
    Exists,
    /// A file would be copied onto itself.
    #[error("source and destination are the same file")]
    SameFile,
    /// The destination is a file that can be replaced.
    #[error("destination already exists; pass \"overwrite\": true to replace it")]
    NotOverwritten,
    /// A write in place would change the file under its other names, too.
    #[error(
        "the file has {0} names (hard links), and appending, or any write in place, would change them all; to break the \
         link, copy_file it to another name, delete_file it, and move_file the copy to its place"
    )]
    HardLinked(u64),
    /// An append failed in the middle, and another program appends to the file.
    #[error("{error}; the first {written} bytes were appended, so do not append them again")]
    PartlyAppended {
        /// How many bytes were appended.
        written: usize,
        /// What went wrong.
        error: Box<WriteError>,
    },
    /// The file's own permissions forbid it, although its directory would allow replacing it.
    #[error("the file is not writable for the server's user")]
    Protected,
    /// The directory's permissions forbid it.
    #[error("permission denied: the server's user cannot change its directory")]
    DirectoryProtected,
    /// The version does not match.
    #[error("the file has changed: its version is now {now}; read it again before you write")]
    Changed {
        /// The current version.
        now: Version,
    },
    /// A version was given, but the file is gone.
    #[error("the file no longer exists, so its version cannot match")]
    Gone,
    /// Another program changed the file first.
    #[error("another program changed it at the same time; read it again and retry")]
    Raced,
    /// The same, noticed too late to prevent it.
    #[error("the change was made, but a write by another program at the same moment was lost; read the file again")]
    Overtaken,
    /// Another program holds the lock on the file.
    #[error("locked by another program; try again later")]
    Locked,
    /// Another program changed the file first, and its version could not be put back.
    #[error(
        "another program changed it at the same moment, and its file could not be put back: it is in the same directory, \
         as {0}; read both, and move_file the right one to its place"
    )]
    Displaced(String),
    /// A write in place failed in the middle.
    #[error("{0}; the file can only be written in place, and holds a part of the new content; write all of it again")]
    PartlyWritten(Box<WriteError>),
    /// The file is too long to edit.
    #[error("the file has {size} bytes; the limit for editing is {most}")]
    TooLong {
        /// The size of the file, in bytes.
        size: u64,
        /// The limit, in bytes.
        most: u64,
    },
    /// The path is DIR itself.
    #[error("the served directory itself cannot be moved, replaced or deleted")]
    ServedDirectory,
    /// The destination is below the source.
    #[error("a directory cannot be moved or copied into itself")]
    IntoItself,
    /// The directory has entries.
    #[error("the directory is not empty; pass \"recursive\": true to delete it and its contents")]
    NotEmpty,
    /// The tree contains a denied entry.
    #[error("it contains a denied entry, so it cannot be moved, copied or deleted as a whole")]
    HoldsDenied,
    /// Its name is protected.
    #[error("{0}")]
    ProtectedName(ProtectedBy),
    /// The tree contains a protected entry.
    #[error("it contains {}, which is {}", .0.display(), .1)]
    HoldsProtected(RelPath, ProtectedBy),
    /// A directory in the tree cannot be read.
    #[error("{} inside it cannot be read: {}", .0.display(), .1)]
    Unreadable(RelPath, RootError),
    /// Another file system is mounted in the tree.
    #[error("another file system is mounted inside it, at {}", .0.display())]
    HoldsMount(RelPath),
    /// The tree has too many entries, or too long paths.
    #[error("it contains more than {0} entries; work on its parts")]
    TooMany(usize),
    /// The tree was processed only in part.
    #[error("{error}, at {}; {done} entries before it are done, the rest is not", .at.display())]
    Partly {
        /// What went wrong.
        error: Box<WriteError>,
        /// The entry at which it failed.
        at: RelPath,
        /// How many entries are done.
        done: usize,
    },
    /// The name is a Windows path.
    #[error(
        "it looks like a Windows path, and would become a strange name here; give a path relative to the directory"
    )]
    WindowsPath,
    /// The path ends in `/`, but should name a file.
    #[error("a path that ends in \"/\" names a directory, not a file")]
    NamesDirectory,
    /// The disk or the quota is full.
    #[error("the disk is full or the quota is exceeded; free some space, then try again")]
    Full,
    /// The file system is mounted read-only.
    #[error("the file system is read-only")]
    ReadOnly,
    /// A rename cannot cross file systems.
    #[error("source and destination are on different file systems; use copy_file, then delete_file")]
    OtherFileSystem,
    /// A mount point, or a running program.
    #[error("it is in use, as a mount point or a running program")]
    InUse,
    /// The file system has neither a rename that does not overwrite nor hard links.
    #[error("this file system cannot move without the risk of overwriting; use copy_file, then delete_file")]
    NoSafeMove,
    /// The change is done, but a power cut may undo it.
    #[error("done, but the disk did not confirm it: {0}")]
    Unconfirmed(String),
    /// Anything else, in words.
    #[error("cannot be changed: {0}")]
    Io(String),
}

/// Which of two paths an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The path that something is taken from.
    Source,
    /// The path that something is put at.
    Destination,
}

/// Why something could not be moved or copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideError {
    /// The path with the problem.
    pub side: Side,
    /// The problem.
    pub error: WriteError,
}

impl Side {
    /// For `map_err`.
    pub(super) fn of<E: Into<WriteError>>(self) -> impl Fn(E) -> SideError {
        move |error| SideError { side: self, error: error.into() }
    }
}

impl WriteError {
    /// The same in the middle of a tree of which `done` entries are done.
    pub(super) fn partly(self, at: &RelPath, done: usize) -> Self {
        match self {
            Self::Root(RootError::Cancelled) => self,
            error => Self::Partly { error: Box::new(error), at: at.clone(), done },
        }
    }
}

impl WriteError {
    /// An error of waiting for the disk after everything was written.
    #[expect(clippy::needless_pass_by_value, reason = "it is the error's end, as for `map_err`")]
    pub(super) fn unconfirmed(error: io::Error) -> Self {
        Self::Unconfirmed(error.kind().to_string())
    }

    /// An error of an operation on the names in a directory, which requires permission to write to the directory.
    pub(super) fn in_directory(error: io::Error) -> Self {
        match error.into() {
            Self::Root(RootError::PermissionDenied) => Self::DirectoryProtected,
            error => error,
        }
    }
}

impl From<Cancelled> for WriteError {
    fn from(cancelled: Cancelled) -> Self {
        Self::Root(cancelled.into())
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;

        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Self::Full,
            Kind::ReadOnlyFilesystem => Self::ReadOnly,
            // From a rename. If a path led outside, opening it would have failed earlier with a RootError.
            Kind::CrossesDevices => Self::OtherFileSystem,
            Kind::AlreadyExists => Self::Exists,
            Kind::DirectoryNotEmpty => Self::NotEmpty,
            Kind::ResourceBusy | Kind::ExecutableFileBusy => Self::InUse,
            Kind::FileTooLarge => Self::Io("the file would be larger than this system allows".to_owned()),
            Kind::TooManyLinks => Self::Io("the directory is full".to_owned()),
            // Nothing here blocks, so another program has a lease on the file.
            Kind::WouldBlock => Self::Root(RootError::Held),
            Kind::WriteZero | Kind::Other | Kind::Unsupported => Self::Io(error.kind().to_string()),
            _ => match RootError::from(error) {
                RootError::Io(text) => Self::Io(text),
                error => Self::Root(error),
            },
        }
    }
}
