//! Whose turn it is: two calls that change the same file do it one after the other, from the first look to the
//! rename, so that neither is lost. Other programs do not take part; [`super::Version`] is what tells of them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::WriteError;
use crate::cancel::{Cancel, Cancelled};
use crate::memory::{Budget, Reservation};
use crate::root::RelPath;

/// Paths share them by chance, which costs a short wait at worst; so there is nothing to be tidied up.
const TURNS: usize = 64;

/// The turns of all paths.
#[derive(Debug)]
pub(super) struct Turns(Vec<Arc<Budget>>);

/// One's turn at some paths, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held, not used")] Vec<Reservation>);

impl Default for Turns {
    fn default() -> Self {
        Self(std::iter::repeat_with(|| Budget::new(1)).take(TURNS).collect())
    }
}

impl Turns {
    /// Waits for the turn at all of `paths`, which must be real ones.
    pub(super) fn take(&self, paths: &[&RelPath], cancel: &Cancel) -> Result<Turn, WriteError> {
        let mut slots: Vec<_> = paths.iter().map(|path| slot(path)).collect();
        // All in one order: nobody waits for one who waits for him.
        slots.sort_unstable();
        slots.dedup();
        let taken: Result<Vec<_>, _> = slots.into_iter().map(|slot| self.0[slot].reserve(1, cancel, true)).collect();
        taken.map(Turn).map_err(|_| Cancelled.into())
    }
}

/// The same for names that a file system may take for one.
fn slot(path: &RelPath) -> usize {
    let mut hasher = DefaultHasher::new();
    path.display().to_lowercase().hash(&mut hasher);
    hasher.finish() as usize % TURNS
}
