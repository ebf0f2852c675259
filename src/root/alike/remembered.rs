//! What a directory held when it was last read, as one hash per name: enough to rule out a name.
//!
//! It is valid while the change time of the directory stays the same, and kept only where that can be trusted: on a
//! local file system of a known kind. One directory is remembered at a time, in at most 8 MB.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::SystemTime;

use super::{Alike, canonical_form};
use crate::root::listing::Directory;
use crate::root::stat::STEP;

/// A smaller directory is read again, which is fast enough.
const WORTH_IT: usize = 2_000;

/// A directory, and the time since which it is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    inode: u64,
    changed: SystemTime,
}

/// Hashes of names, unordered.
#[derive(Default)]
pub(super) struct Hashes(Vec<u64>);

/// A directory that was read.
#[derive(Debug)]
pub(super) struct Remembered {
    pub(super) state: State,
    /// Sorted.
    hashes: Vec<u64>,
}

impl Directory<'_> {
    /// `None` if the times of the directory do not show every change, or might not show the next one.
    pub(super) fn state(&self) -> Option<State> {
        let stat = self.own_stat_if_local()?;
        // Not the modification time, which programs that unpack archives set back.
        let changed = stat.last_change()?;
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age > STEP).then(|| State { inode: stat.identity(), changed })
    }
}

impl Hashes {
    pub(super) fn add(&mut self, name: &[u8]) {
        // A name that is not UTF-8 is never looked for.
        if let Ok(name) = std::str::from_utf8(name) {
            self.0.push(hash(name));
        }
    }
}

impl Remembered {
    /// `None` if the directory is too small to be worth it or too large for the memory.
    pub(super) fn new(state: State, hashes: Hashes) -> Option<Self> {
        let mut hashes = hashes.0;
        (hashes.len() >= WORTH_IT).then(|| {
            hashes.sort_unstable();
            hashes.shrink_to_fit();
            Self { state, hashes }
        })
    }

    /// Whether a name of this form may exist. Names that match in any comparison have the same form here.
    pub(super) fn may_hold(&self, form: &str) -> bool {
        self.hashes.binary_search(&hash(form)).is_ok()
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    canonical_form(name, Alike::FormAndSpaces).hash(&mut hasher);
    hasher.finish()
}
