//! A directory is made, and those on the way to it.

use super::path_locks::Claimed;
use super::{WritableRoot, WriteError};
use crate::root::resolve::LastLink;
use crate::root::stat::Kind;
use crate::root::{RelPath, RequestedPath, RootError, sys};
use crate::runtime::cancel::Cancel;

impl WritableRoot {
    /// Makes a directory with all that are missing above it, and gives its real path and how many were made. That it
    /// is there is no failure.
    pub fn create_directory(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<(RelPath, usize), WriteError> {
        let target = self.target(asked, LastLink::Followed, cancel)?;
        let _guard = self.path_locks.take(&[Claimed::Name(&target.path)], cancel)?;
        self.make_directories(target.real(), target.missing())?;
        // Also where somebody else has made something of that name meanwhile.
        let stat = sys::stat(&self.root.dir, &target.path, self.root.can())?;
        if stat.kind != Kind::Directory {
            return Err(RootError::NotDirectory.into());
        }
        Ok((target.path.clone(), target.missing().len()))
    }
}
