//! A directory with all that is in it, looked through before anything is done to it: so that what must not be touched
//! is found first, and nothing is done to a part only.
//!
//! As a walk does, each directory is opened anew from the root, and links are entries and never entered. Denied
//! entries are not left out here but found.

use super::temporary::is_temporary;
use super::{WritableRoot, WriteError};
use crate::cancel::Cancel;
use crate::root::stat::Kind;
use crate::root::sys::{self, Access};
use crate::root::{RelPath, RootError};

/// Entries of a tree that are copied, deleted or moved in one call: some tens of megabytes while that goes on.
const MOST: usize = 200_000;

/// Everything in a tree but its top, each after the directory that it is in, and all of one directory together.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) entries: Vec<(RelPath, Kind)>,
}

/// What a tree is looked through for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// Where it will be: nothing may be denied there, either.
    pub(super) destination: Option<&'a RelPath>,
    /// Whether another file system may be mounted in it.
    pub(super) mounts: bool,
}

impl WritableRoot {
    /// Looks through the directory at a real path.
    pub(super) fn look_through(&self, top: &RelPath, rules: Rules<'_>, cancel: &Cancel) -> Result<Tree, WriteError> {
        let mut entries: Vec<(RelPath, Kind)> = Vec::new();
        let (mut next, mut directory) = (0, Some(top.clone()));
        let mut device = None;
        while let Some(path) = directory {
            let opened = sys::open(&self.root.dir, &path, Access::Directory, self.root.can);
            let (handle, stat) = opened.map_err(|error| WriteError::Unreadable(path.clone(), error))?;
            if !rules.mounts && *device.get_or_insert(stat.on_device()) != stat.on_device() {
                return Err(WriteError::HoldsMount(path));
            }
            self.gather(&handle, &path, &mut entries, cancel)?;
            // The next one that was found and not yet entered.
            while entries.get(next).is_some_and(|(_, kind)| *kind != Kind::Directory) {
                next += 1;
            }
            directory = entries.get(next).map(|(path, _)| path.clone());
            next += 1;
        }
        if let Some(destination) = rules.destination {
            for (path, _) in &entries {
                self.permitted(&moved(path, top, destination))?;
            }
        }
        Ok(Tree { entries })
    }

    fn gather(
        &self,
        handle: &std::fs::File,
        path: &RelPath,
        entries: &mut Vec<(RelPath, Kind)>,
        cancel: &Cancel,
    ) -> Result<(), WriteError> {
        let mut refused = cancel.check().map_err(WriteError::from);
        let listed = sys::list(handle, &mut Vec::new(), |name, kind| {
            let entry = path.join(name);
            if refused.is_ok() {
                refused = self.permitted(&entry);
            }
            entries.push((entry, kind));
            if entries.len() > MOST {
                refused = Err(WriteError::TooMany(MOST));
            }
            refused.is_ok()
        });
        listed.map_err(|error| WriteError::Unreadable(path.clone(), error))?;
        refused
    }

    /// What killed writes left is denied to clients, and is no reason to keep the tree that it is in.
    fn permitted(&self, entry: &RelPath) -> Result<(), WriteError> {
        match self.root.deny.check(entry) {
            Err(denied @ RootError::Denied { .. }) if !entry.file_name().is_some_and(is_temporary) => {
                Err(WriteError::HoldsDenied(denied))
            }
            _ => Ok(()),
        }
    }
}

/// Where an entry of a tree is once the tree is somewhere else.
pub(super) fn moved(entry: &RelPath, from: &RelPath, to: &RelPath) -> RelPath {
    RelPath::from_bytes(entry.below(from)).components().fold(to.clone(), |path, name| path.join(name))
}
