//! Lists the next directories of a walk at the same time, on a remote file system, where each takes several round trips.
//! The order of the walk stays the same: what was listed ahead waits for its turn.

use std::collections::VecDeque;

use super::{Pending, Walk};
use crate::root::listing::{Directory, Listing};
use crate::root::{Root, RootError};
use crate::runtime::cancel::Cancel;
use crate::runtime::concurrent::{self, REMOTE_OPERATIONS};

/// Entries of a directory that is listed ahead. A larger one is listed in its turn, so that the directories that wait
/// take some megabytes at most.
const MOST_ENTRIES: usize = 20_000;

/// What came of listing a directory.
pub(super) type Listed<'r> = Result<(Directory<'r>, Listing), RootError>;

/// The directories at the front of the queue that have been listed; `None` for one that was too large.
#[derive(Debug, Default)]
pub(super) struct Ahead<'r>(VecDeque<Option<Listed<'r>>>);

impl<'r> Walk<'r> {
    /// Lists the start of the walk, so that its error can be told apart from those below it. A cancellation is not an
    /// error here: it ends the walk.
    pub(crate) fn begin(&mut self) -> Result<(), RootError> {
        let Some(pending) = self.queue.pop_front() else { return Ok(()) };
        let listed = self.list(&pending);
        self.queue.push_front(pending);
        if matches!(listed, Err(RootError::Cancelled)) {
            return Ok(());
        }
        self.ahead.0.push_front(Some(Ok(listed?)));
        Ok(())
    }

    /// Lists a directory that was just taken from the queue, unless that was done ahead.
    pub(super) fn list(&mut self, pending: &Pending) -> Listed<'r> {
        if self.ahead.0.is_empty() && pending.is_remote {
            self.list_ahead(pending);
        }
        if let Some(listed) = self.ahead.0.pop_front().flatten() {
            return listed;
        }
        let dir = self.root.open_walked_directory(&pending.path.real)?;
        let listing = dir.list_with(&mut self.buffer, self.cancel)?;
        Ok((dir, listing))
    }

    /// Lists this directory and those after it in the queue, as far as they are remote.
    fn list_ahead(&mut self, pending: &Pending) {
        let after = self.queue.iter().take(REMOTE_OPERATIONS - 1).take_while(|next| next.is_remote);
        let next: Vec<&Pending> = std::iter::once(pending).chain(after).collect();
        let (root, cancel) = (self.root, self.cancel);
        let listed = concurrent::map(next.len(), REMOTE_OPERATIONS, |at| list_small(root, next[at], cancel));
        self.ahead.0 = listed.into();
    }
}

fn list_small<'r>(root: &'r Root, pending: &Pending, cancel: &Cancel) -> Option<Listed<'r>> {
    if cancel.checkpoint() {
        return Some(Err(RootError::Cancelled));
    }
    let listed = root.open_walked_directory(&pending.path.real).and_then(|dir| {
        let listing = dir.list_small(MOST_ENTRIES, cancel)?;
        Ok(listing.map(|listing| (dir, listing)))
    });
    listed.transpose()
}
