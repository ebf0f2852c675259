//! Whose turn it is: two calls that change the same file do it one after the other, from the first look to the
//! rename, so that neither is lost. Other programs do not take part; [`super::Version`] is what tells of them.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::WriteError;
use crate::cancel::{Cancel, Cancelled};
use crate::root::RelPath;

/// How often one who waits looks whether the call was cancelled.
const PATIENCE: Duration = Duration::from_millis(20);

/// The turns of all paths.
#[derive(Debug, Default)]
pub(super) struct Turns(Arc<Taken>);

#[derive(Debug, Default)]
struct Taken {
    paths: Mutex<HashSet<String>>,
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
        while paths.iter().any(|path| taken.contains(path)) {
            // No step: who has the turn may be stuck, and then so is who waits for it.
            if cancel.was_told() {
                return Err(Cancelled.into());
            }
            taken = self.0.freed.wait_timeout(taken, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.extend(paths.iter().cloned());
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
    use super::*;

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
        cancel.cancel();
        assert!(turns.take(&[&a], &cancel).is_err(), "who is cancelled does not wait");
    }
}
