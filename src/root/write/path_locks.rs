//! Calls that change the same file run one after the other, from the first look to the rename, so that no change is
//! lost. A change of a whole directory, such as a move, excludes every change below it, and vice versa: otherwise a
//! file could be created in a directory that by then has another, denied name.
//!
//! [`super::lock`] does this between servers. Other programs do not take part; [`super::exchange`] and
//! [`super::Version`] detect their changes.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::WriteError;
use crate::root::RelPath;
use crate::runtime::cancel::{Cancel, Cancelled, PATIENCE};

/// The locks on all paths.
#[derive(Debug, Default)]
pub(super) struct PathLocks(Arc<Taken>);

#[derive(Debug, Default)]
struct Taken {
    claims: Mutex<Vec<Claim>>,
    freed: Condvar,
}

/// What a call changes: a real path, perhaps with everything below it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claimed<'p> {
    /// One name, without anything below it.
    Name(&'p RelPath),
    /// A name, and everything below it.
    Tree(&'p RelPath),
}

/// A locked path.
#[derive(Debug)]
struct Claim {
    path: String,
    is_tree: bool,
    /// The cancellation of the call, which shows whether it makes progress.
    cancel: Cancel,
    /// All locks that were taken together have the same.
    guard: Arc<()>,
}

/// Locks on some paths, until this is dropped.
#[derive(Debug)]
pub(super) struct PathGuard {
    taken: Arc<Taken>,
    guard: Arc<()>,
}

impl PathLocks {
    /// Waits for locks on all of `claimed`. They are taken all at once, so a call that holds one never waits for
    /// another.
    pub(super) fn take(&self, claimed: &[Claimed<'_>], cancel: &Cancel) -> Result<PathGuard, WriteError> {
        let guard = Arc::new(());
        let claims: Vec<_> = claimed.iter().map(|claimed| Claim::new(*claimed, cancel, &guard)).collect();
        let mut taken = self.0.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = None;
        while let Some(other) = taken.iter().find(|other| claims.iter().any(|claim| claim.excludes(other))) {
            look(&other.cancel, &mut seen, cancel)?;
            taken = self.0.freed.wait_timeout(taken, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.extend(claims);
        Ok(PathGuard { taken: Arc::clone(&self.0), guard })
    }
}

impl Drop for PathGuard {
    fn drop(&mut self) {
        let mut taken = self.taken.claims.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|claim| !Arc::ptr_eq(&claim.guard, &self.guard));
        self.taken.freed.notify_all();
    }
}

impl Claim {
    fn new(claimed: Claimed<'_>, cancel: &Cancel, guard: &Arc<()>) -> Self {
        let (path, is_tree) = match claimed {
            Claimed::Name(path) => (path, false),
            Claimed::Tree(path) => (path, true),
        };
        Self { path: one_name(path), is_tree, cancel: cancel.clone(), guard: Arc::clone(guard) }
    }

    fn excludes(&self, other: &Self) -> bool {
        self.path == other.path || self.holds(other) || other.holds(self)
    }

    /// Whether this one covers everything below it, and the other path is there.
    fn holds(&self, other: &Self) -> bool {
        let below = other.path.strip_prefix(&self.path);
        self.is_tree && (self.path.is_empty() || below.is_some_and(|below| below.starts_with('/')))
    }
}

/// Checks the owner once more. The waiter makes a step only if the owner has made one since it was `seen`: if the owner
/// is stuck, so is everything that waits for it.
fn look(owner: &Cancel, seen: &mut Option<u64>, waiter: &Cancel) -> Result<(), Cancelled> {
    let steps = Some(owner.steps());
    if std::mem::replace(seen, steps) != steps {
        return waiter.check();
    }
    if waiter.is_requested() { Err(Cancelled) } else { Ok(()) }
}

/// One spelling for names that a file system may treat as equal; empty for the served directory.
fn one_name(path: &RelPath) -> String {
    if path.is_root() { String::new() } else { path.display().to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::Claimed::{Name, Tree};
    use super::*;

    #[test]
    fn a_waiter_makes_progress_as_long_as_the_owner_does() {
        let [owner, waiter] = [(); 2].map(|()| Cancel::default());
        let mut seen = None;
        let mut looks = |count: usize| (0..count).try_for_each(|_| look(&owner, &mut seen, &waiter));
        // The first look always counts as a step.
        for steps in 1..=4 {
            looks(5).expect("it is still wanted");
            assert_eq!(waiter.steps(), steps, "one step for each of the owner's, however often it looks");
            let _ = owner.checkpoint();
        }
        looks(1).expect("it is still wanted");
        waiter.cancel();
        assert_eq!(looks(1), Err(Cancelled), "also while the owner is stuck");
        assert_eq!(waiter.steps(), 5);
    }

    #[test]
    fn a_path_is_taken_once_at_a_time_and_others_are_free() {
        let (path_locks, cancel) = (PathLocks::default(), Cancel::default());
        let [a, b, again] = ["a", "b", "A"].map(|path| RelPath::from_bytes(path.as_bytes()));
        let guard = path_locks.take(&[Name(&a), Name(&a)], &cancel).expect("it is free");
        let other = path_locks.take(&[Name(&b)], &cancel).expect("nobody has it");
        drop(other);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| path_locks.take(&[Name(&again), Name(&b)], &cancel).map(drop));
            drop(guard);
            waiting.join().expect("no panic").expect("it is free now");
        });
        let _guard = path_locks.take(&[Name(&a)], &cancel).expect("all are free");
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(path_locks.take(&[Name(&a)], &cancel).is_err(), "who is cancelled does not wait");
    }

    #[test]
    fn a_tree_excludes_what_is_below_it_and_nothing_beside_it() {
        let [d, below, beside, deep] = ["d", "D/f", "da/f", "d/e/f"].map(|path| RelPath::from_bytes(path.as_bytes()));
        let root = RelPath::root();
        let excludes = |one: Claimed<'_>, other: Claimed<'_>| {
            let claim = |claimed| Claim::new(claimed, &Cancel::default(), &Arc::new(()));
            let (one, other) = (claim(one), claim(other));
            assert_eq!(one.excludes(&other), other.excludes(&one));
            one.excludes(&other)
        };
        for (one, other) in [
            (Tree(&d), Name(&below)),
            (Tree(&d), Tree(&deep)),
            (Tree(&d), Name(&d)),
            (Name(&d), Name(&d)),
            (Tree(&root), Name(&beside)),
        ] {
            assert!(excludes(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [
            (Tree(&d), Name(&beside)),
            (Name(&d), Name(&below)),
            (Name(&d), Tree(&below)),
            (Tree(&below), Tree(&deep)),
            (Name(&root), Name(&d)),
        ] {
            assert!(!excludes(one, other), "{one:?} {other:?}");
        }
    }
}
