//! Hints from the system that something changed in a directory.
//!
//! A hint is never the truth: it can be late, lost, or about a directory that was moved since. Whoever gets one looks
//! again through the root. What is watched are single directories, each opened through the root as for listing; no
//! hint ever names anything but an entry of one of them.

use super::{RelPath, RootError};

pub use super::sys::hints::{Bell, Hints};

/// What is to be heard of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// That entries come and go, and that somebody has finished writing one.
    Names,
    /// Also each write, and changed times.
    Contents,
}

/// Something may have changed.
#[derive(Debug)]
pub enum Hint<'h> {
    /// An entry of a watched directory.
    Entry {
        /// The directory.
        directory: &'h RelPath,
        /// The entry.
        name: &'h [u8],
        /// What may have happened to it.
        what: Happened,
    },
    /// A directory is gone or was moved, and not watched any more.
    Gone(RelPath),
    /// Hints were lost: anything may have happened.
    Lost,
}

/// What may have happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It came, went, or another one took its name.
    Name,
    /// It was written to.
    Write,
    /// Something else: its times, its mode, or a writer has closed it.
    Other,
}

/// Why a directory is not watched.
#[derive(Debug, PartialEq, Eq)]
pub enum NoWatch {
    /// The system has no watches left, or none at all.
    NoneLeft,
    /// The directory cannot be opened.
    Root(RootError),
}

impl From<RootError> for NoWatch {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}
