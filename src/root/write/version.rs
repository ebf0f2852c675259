//! A short word for the state of a file, by which a client can tell that it is not the one it knows any more.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};
use std::time::UNIX_EPOCH;

use crate::root::Stat;

/// Which file, and as of when: number, size, and both times that a change leaves. Opaque to clients.
///
/// The device is left out, so that the token of a file is the same in another process, on another mount of the file
/// system, on another machine that has it mounted, and after a remount: as long as the file system's own numbers of
/// files are.
///
/// A program that changes a file in place, twice within the file system's clock tick, to the same size, is not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// As a client gives it back.
    pub(crate) fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// Of what a look at a file has shown.
    pub(crate) fn of(stat: &Stat) -> Self {
        // Not RandomState: the token must mean the same to the next process.
        let mut hasher = DefaultHasher::new();
        let modified = stat.modified.map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos().cast_signed(),
            Err(before) => -before.duration().as_nanos().cast_signed(),
        });
        (stat.identity(), stat.size, modified).hash(&mut hasher);
        #[cfg(unix)]
        stat.changed.hash(&mut hasher);
        Self(format!("{:016x}", hasher.finish()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a client sent may be anything; what goes out is ours.
        f.write_str(&self.0)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_does_not_count_and_the_file_does() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let stat = Stat::from(&file.as_file().metadata().expect("its facts"));
        let remounted = Stat { device: stat.device + 1, ..stat.clone() };
        assert_eq!(Version::of(&remounted), Version::of(&stat));
        let other = Stat { inode: stat.inode + 1, ..stat.clone() };
        assert_ne!(Version::of(&other), Version::of(&stat));
    }
}
