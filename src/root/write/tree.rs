//! A directory with everything in it, examined before anything is done to it, so that what must not be touched is found
//! before a part is changed.
//!
//! As in a walk, each directory is opened again from the root, and links are entries that are never entered. Denied
//! entries are not skipped here but found.

use super::temporary::is_temporary;
use super::{WritableRoot, WriteError};
use crate::root::path::LONGEST;
use crate::root::stat::Kind;
use crate::root::sys::{self, Access};
use crate::root::{RelPath, RootError};
use crate::runtime::cancel::Cancel;

/// How many entries of a tree one call copies, deletes or moves.
const MOST: usize = 200_000;
/// The limit of their paths, in bytes, which are held in memory meanwhile.
const MOST_BYTES: usize = 64 << 20;

/// Everything in a tree except its top: each entry after its directory, and the entries of a directory together.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) entries: Vec<(RelPath, Kind)>,
}

/// What to look for in a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// Whether it will disappear from its place, in which case nothing in it may be protected.
    pub(super) goes: bool,
    /// Where it will be. Nothing may be denied or protected there either, and every path must be short enough.
    pub(super) destination: Option<&'a RelPath>,
    /// Whether another file system may be mounted in it.
    pub(super) mounts: bool,
}

impl WritableRoot {
    /// Examines the directory at a real path.
    pub(super) fn look_through(&self, top: &RelPath, rules: Rules<'_>, cancel: &Cancel) -> Result<Tree, WriteError> {
        let (mut entries, mut bytes): (Vec<(RelPath, Kind)>, usize) = (Vec::new(), 0);
        let (mut next, mut directory) = (0, Some(top.clone()));
        let mut mount = None;
        while let Some(path) = directory {
            let opened = sys::open(&self.root.dir, &path, Access::Directory, self.root.can());
            let (handle, stat) = opened.map_err(|error| WriteError::Unreadable(path.clone(), error))?;
            // A directory of the same file system may be mounted there as well.
            let on = (stat.on_device(), sys::change::mount_of(&handle));
            if !rules.mounts && *mount.get_or_insert(on) != on {
                return Err(WriteError::HoldsMount(path));
            }
            self.gather(&handle, &path, rules, &mut entries, &mut bytes, cancel)?;
            // The next directory that was found and not yet entered.
            while entries.get(next).is_some_and(|(_, kind)| *kind != Kind::Directory) {
                next += 1;
            }
            directory = entries.get(next).map(|(path, _)| path.clone());
            next += 1;
        }
        if let Some(destination) = rules.destination {
            for (path, _) in &entries {
                cancel.check()?;
                let new = moved(path, top, destination);
                if new.as_bytes().len() > LONGEST {
                    return Err(RootError::BadPath("a path in it would be too long there").into());
                }
                self.permitted(&new)?;
                self.must_not_hold_protected(&new)?;
            }
        }
        Ok(Tree { entries })
    }

    fn gather(
        &self,
        handle: &std::fs::File,
        path: &RelPath,
        rules: Rules<'_>,
        entries: &mut Vec<(RelPath, Kind)>,
        bytes: &mut usize,
        cancel: &Cancel,
    ) -> Result<(), WriteError> {
        let mut refused = cancel.check().map_err(WriteError::from);
        let listed = sys::list(handle, &mut Vec::new(), |name, kind| {
            let entry = path.join(name);
            if refused.is_ok() {
                refused = self.permitted(&entry);
            }
            if rules.goes && refused.is_ok() {
                refused = self.must_not_hold_protected(&entry);
            }
            *bytes += entry.as_bytes().len();
            entries.push((entry, kind));
            if entries.len() > MOST || *bytes > MOST_BYTES {
                refused = Err(WriteError::TooMany(entries.len() - 1));
            }
            refused.is_ok()
        });
        listed.map_err(|error| WriteError::Unreadable(path.clone(), error))?;
        refused
    }

    /// Leftovers of killed writes are denied to clients, but do not protect the tree that contains them.
    fn permitted(&self, entry: &RelPath) -> Result<(), WriteError> {
        match self.root.deny.check(entry) {
            Err(RootError::Denied { .. }) if !entry.file_name().is_some_and(is_temporary) => {
                Err(WriteError::HoldsDenied)
            }
            _ => Ok(()),
        }
    }
}

/// The path of an entry after its tree has moved.
pub(super) fn moved(entry: &RelPath, from: &RelPath, to: &RelPath) -> RelPath {
    RelPath::from_bytes(entry.below(from)).components().fold(to.clone(), |path, name| path.join(name))
}
