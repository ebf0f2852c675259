//! A directory that a call names is searched even if ignore files hide everything in it.
//!
//! `build/` hides the directory as an entry of the one above; a path that names the directory is already past that.
//! `build/*`, `build/**` and `*` hide the entries in it one by one instead: such patterns are not applied to a walk
//! that starts there. Patterns for some names, such as `*.log`, still apply.

use ignore::gitignore::Gitignore;

use crate::root::listing::Listing;
use crate::root::path::{RelPath, os_str};
use crate::root::stat::Kind;
use crate::runtime::cancel::Cancel;

/// Names that only a pattern for all names matches: with and without a dot, and with a space and a letter at either
/// end.
const ANY: [&[u8]; 2] = [b"q\x01", b"0 .q\x01"];

/// Files whose purpose is to keep a directory whose other content is ignored.
const KEEPERS: [&[u8]; 5] = [b".gitignore", b".ignore", b".gitkeep", b".keep", b".gitattributes"];

/// What a call named, relative to a directory with an ignore file.
pub(in crate::root) struct Named<'a> {
    /// The path from there; empty for that directory itself.
    pub(in crate::root) below: &'a [u8],
    pub(in crate::root) cancel: &'a Cancel,
}

impl Named<'_> {
    /// Whether patterns hide everything in it. If its own ignore file hides all names with meaningful exceptions, as in
    /// `*` and `!*.rs`, it applies, unless the exceptions only keep the directory.
    pub(super) fn is_hidden_by(&self, patterns: &Gitignore, listing: &Listing) -> bool {
        let hides = |is_dir| ANY.iter().all(|name| self.is_ignored(patterns, name, is_dir));
        hides(false) && hides(true) && (!self.below.is_empty() || self.has_no_other(patterns, listing))
    }

    /// Whether one pattern covers all names in it.
    pub(super) fn is_meant_by(&self, pattern: &Gitignore) -> bool {
        let hides = |is_dir| ANY.iter().all(|name| self.is_ignored(pattern, name, is_dir));
        !self.cancel.checkpoint() && (hides(false) || hides(true))
    }

    fn is_ignored(&self, patterns: &Gitignore, name: &[u8], is_dir: bool) -> bool {
        let path = RelPath::from_bytes(self.below).join(name);
        patterns.matched(os_str(path.as_bytes()), is_dir).is_ignore()
    }

    /// Whether all entries are hidden, except for those that only keep the directory.
    fn has_no_other(&self, patterns: &Gitignore, listing: &Listing) -> bool {
        listing.iter().all(|entry| {
            KEEPERS.contains(&entry.name)
                || entry.is_version_control()
                || self.cancel.checkpoint()
                || self.is_ignored(patterns, entry.name, entry.kind == Kind::Directory)
        })
    }
}
