//! Hints from the system that something in a directory has changed.
//!
//! A hint is not a fact: it can be late, lost, or about a directory that has been moved since. The receiver checks
//! again through the root. Single directories and files are watched, each opened through the root; a hint never names
//! anything but an entry of such a directory, or such a file.

use std::collections::BTreeMap;

use super::{RelPath, RootError};

/// Which events of a directory are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Entries that appear, disappear, get other times or modes, or are closed after a write.
    Names,
    /// Also every write.
    Contents,
    /// Not of a directory but of a file: events by any of its names. Its directory reports only what is done by the
    /// name there, not by another hard link or another mount.
    File,
}

/// Something may have changed.
#[derive(Debug)]
pub(crate) enum Hint<'h> {
    /// An entry of a watched directory.
    Entry {
        /// The directory.
        directory: &'h RelPath,
        /// The entry.
        name: &'h [u8],
        /// What may have happened to it.
        what: Happened,
    },
    /// A directory is no longer watched: it is gone, or it or one above it was moved.
    Gone(RelPath),
    /// Hints were lost: anything may have happened.
    Lost,
}

/// What may have happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// It was created, deleted or replaced, or it is a directory whose permissions changed.
    Name,
    /// It was written to.
    Write,
    /// Something else: its times or mode changed, or a writer closed it.
    Other,
}

/// Why a directory is not watched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoWatch {
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

/// The directories that are at a path or below it.
pub(super) fn at_or_below<V>(directories: &BTreeMap<RelPath, V>, path: &RelPath) -> Vec<RelPath> {
    let below = path.join(b"");
    let prefix = below.as_bytes();
    let inside = directories.range(below.clone()..).map(|(path, _)| path);
    let inside = inside.take_while(|directory| directory.as_bytes().starts_with(prefix));
    directories.get_key_value(path).map(|(path, _)| path).into_iter().chain(inside).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_or_below_a_path_is_no_namesake() {
        let paths = ["a", "a!", "a/b", "a/b/c", "a0", "ab/c", "b"].map(|path| RelPath::from_bytes(path.as_bytes()));
        let directories: BTreeMap<_, _> = paths.into_iter().map(|path| (path, "watched")).collect();
        let found = |path: &str| {
            let found = at_or_below(&directories, &RelPath::from_bytes(path.as_bytes()));
            found.iter().map(|path| path.display().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("a"), ["a", "a/b", "a/b/c"]);
        assert_eq!(found("a/b/c"), ["a/b/c"]);
        assert_eq!(found("ab"), ["ab/c"]);
        assert_eq!(found("c"), [""; 0]);
    }
}
