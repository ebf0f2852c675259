//! Why reading failed: one enum, and the one place that turns an [`io::Error`] into it.
//!
//! The messages go to clients and models. They contain no path outside the served directory and no error number, and
//! say what to do next if anything can be done. An attempt to leave the directory reads the same whether or not its
//! target exists.

use std::fmt;
use std::io;

use super::stat::Kind;
use crate::runtime::cancel::Cancelled;

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    /// A path, a link or a race leads outside.
    #[error("leads outside the served directory")]
    Outside,
    /// Nothing exists at this path.
    #[error("not found")]
    NotFound,
    /// Several names match only after Unicode normalization.
    #[error("not found by this exact name; several names differ from it only in Unicode normalization")]
    Ambiguous,
    /// Windows found an entry by another name: a short one, or through something like a link.
    #[error(
        "found under another name only (a short name of Windows, such as GIT~1, or a hidden link); use the name that \
         the listing of its directory shows"
    )]
    OtherName,
    /// Another program has locked the file, as Windows allows.
    #[error("in use by another program; close it there, or try again")]
    InUse,
    /// The operating system denies access.
    #[error("permission denied")]
    PermissionDenied,
    /// A deny pattern matches.
    #[error("denied by the pattern \"{pattern}\"{of}")]
    Denied {
        /// As the user wrote it.
        pattern: String,
        /// Where the pattern comes from.
        of: DeniedBy,
    },
    /// A FIFO, socket or device, which is never opened.
    #[error("not a regular file: {0}")]
    NotRegular(Kind),
    /// A file was expected.
    #[error("is a directory, not a file")]
    IsDirectory,
    /// A directory was expected.
    #[error("not a directory")]
    NotDirectory,
    /// Links form a loop.
    #[error("too many links, possibly a loop")]
    Loop,
    /// The path is invalid.
    #[error("{0}")]
    BadPath(&'static str),
    /// It is on procfs, sysfs or the like, which expose the server's own secrets.
    #[error("on a kernel file system such as /proc, which is never served")]
    KernelFileSystem,
    /// It is on a file system of an unknown kind, which may be a kernel file system.
    #[error(
        "on a file system of a kind that the server does not know and therefore does not serve; copy it to another file \
         system, or ask for this one to be supported (the server's log has its number)"
    )]
    UnknownFileSystem(u32),
    /// The handle of a network file system keeps going stale.
    #[error("changed on the file server while it was being read; try again")]
    Stale,
    /// Another program holds a lease on it, as file servers do.
    #[error("held by another program (a lease); try again")]
    Held,
    /// The file system took too long, or other requests are stuck in it.
    #[error("on a file system that does not respond; try again later")]
    NoAnswer,
    /// The client cancelled the request.
    #[error("cancelled")]
    Cancelled,
    /// The process has too many files open.
    #[error("the server has too many open files; try again, or raise the limit (ulimit -n)")]
    TooManyOpen,
    /// The served directory itself was moved, replaced or deleted.
    #[error(
        "not served: the served directory is no longer at its path (it was moved, replaced or deleted); restart the \
         server to serve what is there now"
    )]
    Replaced,
    /// Anything else, in words.
    #[error("cannot be read: {0}")]
    Io(String),
}

/// Where a deny pattern comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeniedBy {
    /// From `--deny`.
    Option,
    /// From the default list.
    Default,
    /// From the server itself.
    Server,
}

impl fmt::Display for DeniedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => " given with --deny",
            Self::Default => "; --no-default-deny lifts the default patterns",
            Self::Server => ", which is reserved for temporary files of the server",
        })
    }
}

impl RootError {
    /// Whether the error says nothing about the file itself: a second attempt may succeed although nothing has changed.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::TooManyOpen | Self::Io(_) | Self::Stale | Self::NoAnswer | Self::Held | Self::InUse | Self::Cancelled
        )
    }
}

/// Fails for anything but a regular file.
pub(super) fn regular(kind: Kind) -> Result<(), RootError> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(RootError::IsDirectory),
        other => Err(RootError::NotRegular(other)),
    }
}

impl From<Cancelled> for RootError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<io::Error> for RootError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;

        match error.kind() {
            // An error without a number is cap-std's own refusal; the system's (EACCES, EPERM) have one.
            Kind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            // With RESOLVE_BENEATH, openat2 fails with EXDEV for a path that leads outside.
            Kind::CrossesDevices => Self::Outside,
            Kind::PermissionDenied => Self::PermissionDenied,
            Kind::NotFound => Self::NotFound,
            Kind::NotADirectory => Self::NotDirectory,
            Kind::IsADirectory => Self::IsDirectory,
            // ERROR_INVALID_NAME: no name can contain such a character there, so it does not exist.
            Kind::InvalidFilename if cfg!(windows) && error.raw_os_error() == Some(123) => Self::NotFound,
            Kind::InvalidFilename => Self::BadPath("the path, or a name in it, is too long"),
            Kind::InvalidInput => Self::BadPath("the path contains a character that this system does not allow"),
            Kind::StaleNetworkFileHandle => Self::Stale,
            Kind::TimedOut => Self::NoAnswer,
            // No open or read blocks, except for a lease.
            Kind::WouldBlock => Self::Held,
            _ => from_number(&error),
        }
    }
}

#[cfg(unix)]
fn from_number(error: &io::Error) -> RootError {
    use rustix::io::Errno;

    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::LOOP) => RootError::Loop,
        Some(Errno::MFILE | Errno::NFILE) => RootError::TooManyOpen,
        Some(Errno::NXIO | Errno::NODEV) => RootError::NotRegular(Kind::Other),
        _ => RootError::Io(error.kind().to_string()),
    }
}

#[cfg(windows)]
fn from_number(error: &io::Error) -> RootError {
    match error.raw_os_error() {
        // ERROR_TOO_MANY_OPEN_FILES
        Some(4) => RootError::TooManyOpen,
        // ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
        Some(32 | 33) => RootError::InUse,
        // ERROR_STOPPED_ON_SYMLINK: cap-std returns it for a link that must not be followed.
        Some(681) => RootError::Loop,
        _ => RootError::Io(error.kind().to_string()),
    }
}

#[cfg(unix)]
impl From<rustix::io::Errno> for RootError {
    fn from(errno: rustix::io::Errno) -> Self {
        io::Error::from(errno).into()
    }
}
