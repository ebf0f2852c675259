//! A short word for the state of a file, by which a client can tell that it is not the one it knows any more.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash as _, Hasher as _};

use crate::root::Stat;

/// Which file, and as of when: device, number, size, and both times that a change leaves. Opaque to clients.
///
/// A program that changes a file in place, twice within the file system's clock tick, to the same size, is not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// As a client gives it back.
    pub fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// Of what a look at a file has shown.
    pub fn of(stat: &Stat) -> Self {
        // Not RandomState: the token must mean the same to the next process.
        let mut hasher = DefaultHasher::new();
        (stat.on_device(), stat.identity(), stat.size, stat.modified).hash(&mut hasher);
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
