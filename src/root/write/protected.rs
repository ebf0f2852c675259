//! What may be read and not changed: see [`crate::root::Protect`].

use super::{WritableRoot, WriteError};
use crate::root::RelPath;

impl WritableRoot {
    /// Fails where a path, or anything above it, is protected.
    pub(super) fn must_not_be_protected(&self, path: &RelPath) -> Result<(), WriteError> {
        self.protect.check(path).map_err(WriteError::ProtectedName)
    }

    /// The same for an entry of a tree that is to be changed as a whole.
    pub(super) fn must_not_hold_protected(&self, entry: &RelPath) -> Result<(), WriteError> {
        self.protect.check(entry).map_err(|by| WriteError::HoldsProtected(entry.clone(), by))
    }
}
