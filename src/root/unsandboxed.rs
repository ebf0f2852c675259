//! The first wall, torn down: only in a build with `RUSTFLAGS="--cfg mcp_fs_unsandboxed"`, by which the tests prove that
//! the second wall holds alone. Paths go to the system as they are asked for; `..`, links and absolute paths lead where
//! they lead. Such a build serves nothing where there is no second wall ([`Root::lock`]).

use super::alike::Alike;
use super::path::RelPath;
use super::resolve::{LastLink, Reached};
use super::{Root, RootError, sys};
use crate::runtime::cancel::Cancel;

impl Root {
    /// An absolute path as one from the directory: up to the top first.
    pub(super) fn from_the_top(&self, path: &RelPath) -> RelPath {
        let up = self.spellings[0].components().map(|_| b"..".as_slice());
        let mut way = RelPath::root();
        up.chain(path.components()).for_each(|name| way.push(name));
        way
    }

    /// Nothing is resolved: the system will do it. The last name may be missing.
    pub(super) fn resolve_by(
        &self,
        asked: &RelPath,
        _last: LastLink,
        _alike: Alike,
        _cancel: &Cancel,
        _step: impl FnMut(&RelPath),
    ) -> Result<Reached, RootError> {
        match (sys::stat(&self.dir, asked, self.can()), asked.file_name()) {
            (Err(RootError::NotFound), Some(name)) => {
                Ok(Reached { real: asked.parent(), missing: vec![name.to_vec()] })
            }
            (found, _) => found.map(|_| Reached { real: asked.clone(), missing: Vec::new() }),
        }
    }
}
