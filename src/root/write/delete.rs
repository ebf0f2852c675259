//! Deletes a file, a link (never its target), an empty directory or, if requested, a directory with everything in it.
//!
//! A tree is examined first, and then deleted innermost first. For every entry, its directory is opened again from the
//! root, so that one that was moved out meanwhile is not followed. If deleting a tree fails or is cancelled, part of it
//! is gone.

use super::path_locks::Claimed;
use super::tree::{Rules, Tree};
use super::{WritableRoot, WriteError};
use crate::root::path::os_str;
use crate::root::resolve::LastLink;
use crate::root::stat::Kind;
use crate::root::{RelPath, RequestedPath, RootError};
use crate::runtime::cancel::Cancel;

/// The result of deleting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// What was deleted.
    pub kind: Kind,
    /// Where it was: a real path.
    pub path: RelPath,
    /// How many entries were deleted, including itself.
    pub entries: usize,
}

impl WritableRoot {
    /// Deletes the entry `asked`. `report` receives the number of deleted entries of a tree.
    pub fn delete(
        &self,
        asked: &RequestedPath,
        recursive: bool,
        cancel: &Cancel,
        report: &dyn Fn(usize),
    ) -> Result<Deleted, WriteError> {
        let target = self.target(asked, LastLink::Itself, cancel)?;
        let _guard = self.path_locks.take(&[Claimed::Tree(&target.path)], cancel)?;
        if !target.missing().is_empty() {
            return Err(RootError::NotFound.into());
        }
        let place = self.place(&target, false)?;
        let kind = place.look()?.ok_or(RootError::NotFound)?.kind;
        target.must_fit(kind)?;
        let mut entries = 1;
        if kind == Kind::Directory {
            if recursive {
                let tree =
                    self.look_through(&target.path, Rules { goes: true, destination: None, mounts: false }, cancel)?;
                self.delete_tree(&tree, cancel, report)?;
                entries += tree.entries.len();
            }
            self.must_still_be(&place)?;
            place.dir.remove_dir(place.name()).map_err(|error| match WriteError::in_directory(error) {
                WriteError::NotEmpty if recursive => WriteError::Raced,
                error => error,
            })?;
        } else {
            self.must_still_be(&place)?;
            place.dir.remove_file(place.name()).map_err(WriteError::in_directory)?;
        }
        self.settle(&place.dir)?;
        Ok(Deleted { kind, path: target.path, entries })
    }

    fn delete_tree(&self, tree: &Tree, cancel: &Cancel, report: &dyn Fn(usize)) -> Result<(), WriteError> {
        for (done, (path, kind)) in tree.entries.iter().rev().enumerate() {
            let deleted = cancel.check().map_err(WriteError::from).and_then(|()| {
                let dir = self.open(&path.parent())?;
                let name = os_str(path.file_name().unwrap_or_default());
                Ok(if *kind == Kind::Directory { dir.remove_dir(name) } else { dir.remove_file(name) }?)
            });
            deleted.map_err(|error| error.partly(path, done))?;
            report(done + 1);
        }
        Ok(())
    }
}
