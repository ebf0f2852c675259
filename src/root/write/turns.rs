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
            // Who waits gets on as long as the owner does; if that is stuck, so is who waits for it.
            let steps = Some(owner.steps());
            if std::mem::replace(&mut seen, steps) != steps {
                cancel.check()?;
            } else if cancel.was_told() {
                return Err(Cancelled.into());
            }
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

/// The same for names that a file system may take for one.
fn one_name(path: &RelPath) -> String {
    path.display().to_lowercase()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Waits until somebody has made another step.
    fn next_step(cancel: &Cancel) {
        let (steps, begun) = (cancel.steps(), std::time::Instant::now());
        while cancel.steps() == steps {
            assert!(begun.elapsed() < Duration::from_secs(10), "no step is made");
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_waits_gets_on_as_long_as_the_owner_does() {
        let (turns, [owner, waiter]) = (Turns::default(), [(); 2].map(|()| Cancel::default()));
        let path = RelPath::from_bytes(b"a");
        let turn = turns.take(&[&path], &owner).expect("it is free");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take(&[&path], &waiter).map(drop));
            // The first look is a step in any case.
            next_step(&waiter);
            for _ in 0..3 {
                let before = waiter.steps();
                std::thread::park_timeout(4 * PATIENCE);
                assert_eq!(waiter.steps(), before, "the owner is stuck, and so is who waits for it");
                let _ = owner.is_cancelled();
                next_step(&waiter);
            }
            drop(turn);
            waiting.join().expect("no panic").expect("it is free now");
        });
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
