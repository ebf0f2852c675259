//! A directory that a call names is searched, although ignore files hide all that is in it.
//!
//! `build/` hides the directory as an entry of the one above, and a path that names it is past that. `build/*`, `build/**` and
//! `*` hide what is in it instead, one entry after the other: such patterns are not applied in a walk that begins there.
//! What hides some names, such as `*.log`, holds all the same.

use ignore::gitignore::Gitignore;

use crate::root::listing::Listing;
use crate::root::path::{RelPath, os_str};
use crate::root::stat::Kind;
use crate::runtime::cancel::Cancel;

/// Names that only a pattern for all names matches: with and without a dot, a space and a letter at either end.
const ANY: [&[u8]; 2] = [b"q\x01", b"0 .q\x01"];

/// Files that are there to keep a directory that is otherwise ignored.
const KEEPERS: [&[u8]; 5] = [b".gitignore", b".ignore", b".gitkeep", b".keep", b".gitattributes"];

/// What a call named, seen from a directory with an ignore file.
pub(in crate::root) struct Named<'a> {
    /// The path from there; empty where it is that directory.
    pub(in crate::root) below: &'a [u8],
    pub(in crate::root) cancel: &'a Cancel,
}

impl Named<'_> {
    /// Whether patterns hide all that is in it. What its own ignore file says of all names may have exceptions that
    /// are what it is about, as in `*` and `!*.rs`: these hold, unless they only keep the directory.
    pub(super) fn is_hidden_by(&self, patterns: &Gitignore, listing: &Listing) -> bool {
        let hides = |is_dir| ANY.iter().all(|name| self.is_ignored(patterns, name, is_dir));
        hides(false) && hides(true) && (!self.below.is_empty() || self.has_no_other(patterns, listing))
    }

    /// Whether one pattern is for all names in it.
    pub(super) fn is_meant_by(&self, pattern: &Gitignore) -> bool {
        let hides = |is_dir| ANY.iter().all(|name| self.is_ignored(pattern, name, is_dir));
        !self.cancel.checkpoint() && (hides(false) || hides(true))
    }

    fn is_ignored(&self, patterns: &Gitignore, name: &[u8], is_dir: bool) -> bool {
        let path = RelPath::from_bytes(self.below).join(name);
        patterns.matched(os_str(path.as_bytes()), is_dir).is_ignore()
    }

    /// Whether all entries are hidden, but for those that only keep the directory.
    fn has_no_other(&self, patterns: &Gitignore, listing: &Listing) -> bool {
        listing.iter().all(|entry| {
            KEEPERS.contains(&entry.name)
                || entry.is_version_control()
                || self.cancel.checkpoint()
                || self.is_ignored(patterns, entry.name, entry.kind == Kind::Directory)
        })
    }
}
