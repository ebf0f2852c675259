//! Whose turn it is: two calls that change the same file do it one after the other, from the first look to the
//! rename, so that neither is lost. Other programs do not take part; [`super::Version`] is what tells of them.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::WriteError;
use crate::cancel::{Cancel, Cancelled, PATIENCE};
use crate::root::RelPath;

/// The turns of all paths.
#[derive(Debug, Default)]
pub(super) struct Turns(Arc<Taken>);

#[derive(Debug, Default)]
struct Taken {
    /// With the word to stop of who has them, which shows whether it gets on.
    paths: Mutex<HashMap<String, Cancel>>,
    freed: Condvar,
}

/// One's turn at some paths, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    taken: Arc<Taken>,
    paths: Vec<String>,
}

impl Turns {
    /// Waits for the turn at all of `paths`, which must be real ones. They are taken all at once, so nobody who has one
    /// waits for another.
    pub(super) fn take(&self, paths: &[&RelPath], cancel: &Cancel) -> Result<Turn, WriteError> {
        let paths: Vec<_> = paths.iter().map(|path| one_name(path)).collect();
        let mut taken = self.0.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = None;
        while let Some(owner) = paths.iter().find_map(|path| taken.get(path)) {
            look(owner, &mut seen, cancel)?;
            taken = self.0.freed.wait_timeout(taken, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.extend(paths.iter().map(|path| (path.clone(), cancel.clone())));
        Ok(Turn { taken: Arc::clone(&self.0), paths })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = self.taken.paths.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            taken.remove(path);
        }
        self.taken.freed.notify_all();
    }
}

/// Looks at the owner once more. The waiter makes a step only if the owner has made one since it was `seen`: if the
/// owner is stuck, so is everyone who waits for it.
fn look(owner: &Cancel, seen: &mut Option<u64>, waiter: &Cancel) -> Result<(), Cancelled> {
    let steps = Some(owner.steps());
    if std::mem::replace(seen, steps) != steps {
        return waiter.check();
    }
    if waiter.was_told() { Err(Cancelled) } else { Ok(()) }
}

/// The same for names that a file system may take for one.
fn one_name(path: &RelPath) -> String {
    path.display().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_gets_on_as_long_as_the_owner_does() {
        let [owner, waiter] = [(); 2].map(|()| Cancel::default());
        let mut seen = None;
        let mut looks = |count: usize| (0..count).try_for_each(|_| look(&owner, &mut seen, &waiter));
        // The first look is a step in any case.
        for steps in 1..=4 {
            looks(5).expect("it is still wanted");
            assert_eq!(waiter.steps(), steps, "one step for each of the owner's, however often it looks");
            let _ = owner.is_cancelled();
        }
        looks(1).expect("it is still wanted");
        waiter.cancel();
        assert_eq!(looks(1), Err(Cancelled), "also while the owner is stuck");
        assert_eq!(waiter.steps(), 5);
    }

    #[test]
    fn a_path_is_taken_once_at_a_time_and_others_are_free() {
        let (turns, cancel) = (Turns::default(), Cancel::default());
        let [a, b, again] = ["a", "b", "A"].map(|path| RelPath::from_bytes(path.as_bytes()));
        let turn = turns.take(&[&a, &a], &cancel).expect("it is free");
        let other = turns.take(&[&b], &cancel).expect("nobody has it");
        drop(other);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take(&[&again, &b], &cancel).map(drop));
            drop(turn);
            waiting.join().expect("no panic").expect("it is free now");
        });
        let _turn = turns.take(&[&a], &cancel).expect("all are free");
        let cancel = Cancel::default();
        cancel.cancel();
        assert!(turns.take(&[&a], &cancel).is_err(), "who is cancelled does not wait");
    }
}
