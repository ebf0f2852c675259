//! What a directory held when it was last read, as one hash a name: enough to say that a name is not among them.
//!
//! It serves as long as the directory's change time stays the same, and is kept only where that can be trusted: on a
//! local file system of a known kind. There is one directory at a time, which takes at most 8 MB.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::SystemTime;

use super::{Alike, canonical_form};
use crate::root::listing::Directory;
use crate::root::stat::STEP;

/// A smaller directory is read again: that takes no longer than anything else.
const WORTH_IT: usize = 2_000;

/// Which directory, and since when it has been as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    inode: u64,
    changed: SystemTime,
}

/// Hashes of names, in no order.
#[derive(Default)]
pub(super) struct Hashes(Vec<u64>);

/// A directory that was read.
#[derive(Debug)]
pub(super) struct Remembered {
    pub(super) state: State,
    /// In order.
    hashes: Vec<u64>,
}

impl Directory<'_> {
    /// `None` where its times do not show every change, or may not show the next one.
    pub(super) fn state(&self) -> Option<State> {
        let stat = self.own_stat_if_local()?;
        // Not its modification time: what unpacks archives sets that back.
        let changed = stat.last_change()?;
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age > STEP).then(|| State { inode: stat.identity(), changed })
    }
}

impl Hashes {
    pub(super) fn add(&mut self, name: &[u8]) {
        // What is not UTF-8 is never looked for.
        if let Ok(name) = std::str::from_utf8(name) {
            self.0.push(hash(name));
        }
    }
}

impl Remembered {
    /// `None` where it is not worth the memory.
    pub(super) fn new(state: State, hashes: Hashes) -> Option<Self> {
        let mut hashes = hashes.0;
        (hashes.len() >= WORTH_IT).then(|| {
            hashes.sort_unstable();
            hashes.shrink_to_fit();
            Self { state, hashes }
        })
    }

    /// Whether a name of this form may be there: names that are the same in one way of comparing them are in this one.
    pub(super) fn may_hold(&self, form: &str) -> bool {
        self.hashes.binary_search(&hash(form)).is_ok()
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    canonical_form(name, Alike::FormAndSpaces).hash(&mut hasher);
    hasher.finish()
}
