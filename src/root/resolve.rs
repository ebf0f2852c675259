//! Where a path with links or `..` really leads.
//!
//! The result contains neither, and is opened without following links: if something is swapped in between, opening
//! fails instead of leading elsewhere. So what was checked against the deny patterns is what is opened. Most paths
//! never get here, because they are first tried as they are.

use super::alike::Alike;
use super::path::RelPath;
use super::stat::Kind;
use super::{RequestedPath, Root, RootError, sys};
use crate::runtime::cancel::Cancel;

/// How many links one path may contain, as on Linux (`path_resolution(7)`).
const MAX_LINKS: usize = 40;
/// How many of them may be absolute: each starts again at the root.
const MAX_ABSOLUTE: usize = 8;

/// What happens to a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLink {
    /// It is followed.
    Followed,
    /// The link itself is meant.
    Itself,
}

/// How far a path exists.
#[derive(Debug)]
pub(super) struct Reached {
    /// The last entry that exists.
    pub(super) real: RelPath,
    /// The names after it, which do not exist, in order; none is `..`.
    pub(super) missing: Vec<Vec<u8>>,
}

impl Root {
    /// Follows all links and `..` in `asked`. Fails if that leads outside, without checking what is there.
    pub(super) fn resolve(&self, asked: &RelPath, cancel: &Cancel) -> Result<RelPath, RootError> {
        let reached = self.resolve_by(asked, LastLink::Followed, Alike::FormAndSpaces, cancel, |_| ())?;
        if reached.missing.is_empty() { Ok(reached.real) } else { Err(RootError::NotFound) }
    }

    /// The path of `asked` through links that lead to `real`, with names as they are on the disk. `None` if there are
    /// no links, or a `..`.
    pub(crate) fn path_through_links(&self, asked: &RequestedPath, real: &RelPath, cancel: &Cancel) -> Option<RelPath> {
        if asked.path == *real || asked.path.has_parent_refs() {
            return None;
        }
        let (mut shown, mut at) = (RelPath::root(), RelPath::root());
        for name in asked.path.components() {
            let (entry, kind) = self.entry(&at, name, Alike::FormAndSpaces, cancel).ok()?;
            shown.push(entry.file_name()?);
            at = if kind == Kind::Link { self.resolve(&entry, cancel).ok()? } else { entry };
        }
        (shown != *real && self.deny.check(&shown).is_ok()).then_some(shown)
    }

    /// The same as far as anything exists; the rest may be created. A name is not guessed for a change: one with
    /// another kind of space is another name.
    pub(super) fn resolve_far(&self, asked: &RelPath, last: LastLink, cancel: &Cancel) -> Result<Reached, RootError> {
        self.resolve_by(asked, last, Alike::Form, cancel, |_| ())
    }

    /// The same. `step` receives every entry on the way before it is examined, without links and `..` before its name.
    #[cfg(not(mcp_fs_unsandboxed))]
    pub(super) fn resolve_by(
        &self,
        asked: &RelPath,
        last: LastLink,
        alike: Alike,
        cancel: &Cancel,
        mut step: impl FnMut(&RelPath),
    ) -> Result<Reached, RootError> {
        let mut pending: Vec<Vec<u8>> = reversed(asked);
        let mut real = RelPath::root();
        let (mut links, mut absolute) = (0, 0);
        while let Some(name) = pending.pop() {
            if name == b".." {
                if !real.pop() {
                    return Err(RootError::Outside);
                }
                continue;
            }
            step(&real.join(&name));
            let (entry, kind) = match self.entry(&real, &name, alike, cancel) {
                Err(RootError::NotFound) => {
                    pending.push(name);
                    return self.missing(real, pending);
                }
                found => found?,
            };
            match kind {
                Kind::Link if last == LastLink::Itself && pending.is_empty() => real = entry,
                Kind::Link => {
                    links += 1;
                    let (target, is_absolute) = self.link_target(&entry)?;
                    if is_absolute {
                        absolute += 1;
                        real = RelPath::root();
                    }
                    if links > MAX_LINKS || absolute > MAX_ABSOLUTE {
                        return Err(RootError::Loop);
                    }
                    pending.extend(target);
                }
                Kind::Directory => real = entry,
                _ if pending.is_empty() => real = entry,
                _ => return Err(RootError::NotDirectory),
            }
        }
        Ok(Reached { real, missing: Vec::new() })
    }

    /// The part of a path that does not exist. A `..` in it leads nowhere.
    fn missing(&self, real: RelPath, mut pending: Vec<Vec<u8>>) -> Result<Reached, RootError> {
        pending.reverse();
        if pending.iter().any(|name| name == b"..") {
            return Err(RootError::NotFound);
        }
        let whole = pending.iter().fold(real.clone(), |path, name| path.join(name));
        self.deny.check(&whole)?;
        Ok(Reached { real, missing: pending })
    }

    /// The components of a link's target, last one first, and whether they start at the root: an absolute target does,
    /// if it is below the root.
    fn link_target(&self, link: &RelPath) -> Result<(Vec<Vec<u8>>, bool), RootError> {
        let target = self.dir.read_link_contents(link.as_path())?.into_os_string();
        let (target, is_absolute) = self.target_of_link(target.as_encoded_bytes())?;
        Ok((reversed(&target), is_absolute))
    }

    /// An entry by its exact name, or else the only one that has it in another spelling.
    fn entry(&self, dir: &RelPath, name: &[u8], alike: Alike, cancel: &Cancel) -> Result<(RelPath, Kind), RootError> {
        let exact = dir.join(name);
        self.deny.check(&exact)?; // before a look: what is in a denied directory is not even asked for
        match sys::stat(&self.dir, &exact, self.can()) {
            Ok(stat) => Ok((exact, stat.kind)),
            Err(RootError::NotFound) => {
                let path = dir.join(&self.alike(dir, name, alike, cancel)?);
                let kind = sys::stat(&self.dir, &path, self.can())?.kind;
                Ok((path, kind))
            }
            Err(error) => Err(error),
        }
    }
}

fn reversed(path: &RelPath) -> Vec<Vec<u8>> {
    let mut components: Vec<_> = path.components().map(<[u8]>::to_vec).collect();
    components.reverse();
    components
}
