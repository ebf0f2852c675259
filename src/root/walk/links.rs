//! Links to directories, which walks do not enter: one that a call names is entered, the others are counted.
//!
//! A link is resolved first, within the served directory and subject to the deny patterns. The walk continues at the
//! real path, which it opens like any other, without following links, and shows what it finds by the path through the
//! link. Each link is entered only once, so loops end.

use std::collections::HashSet;
use std::fmt;

use super::WalkedPath;
use crate::root::Root;
use crate::root::path::RelPath;
use crate::runtime::cancel::Cancel;

/// How many links one walk enters.
const MOST_ENTERED: usize = 100;
/// How many links that are not named are examined for counting: each takes a few system calls.
const MOST_LOOKED_AT: usize = 256;

/// Whether a call names the link at a path, as shown.
type Naming<'r> = Box<dyn Fn(&RelPath) -> bool + Send + Sync + 'r>;

/// The links of one walk.
#[derive(Default)]
pub(super) struct Links<'r> {
    /// `None`: no link is entered or counted.
    naming: Option<Naming<'r>>,
    /// The real paths of those that were entered.
    entered: HashSet<RelPath>,
    looked_at: usize,
    passed: NotEntered,
}

/// Links to directories that a walk did not enter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotEntered {
    /// How many.
    pub count: usize,
    /// There were too many links to examine them all.
    pub is_more: bool,
}

impl<'r> Links<'r> {
    pub(super) fn named_by(naming: impl Fn(&RelPath) -> bool + Send + Sync + 'r) -> Self {
        Self { naming: Some(Box::new(naming)), ..Self::default() }
    }

    pub(super) fn not_entered(&self) -> NotEntered {
        self.passed
    }

    /// Where to continue, if the link at `link` is to be entered.
    pub(super) fn enter(&mut self, root: &Root, link: &WalkedPath, cancel: &Cancel) -> Option<WalkedPath> {
        let is_named = self.naming.as_ref()?(link.shown());
        if !is_named && self.looked_at == MOST_LOOKED_AT {
            self.passed.is_more = true;
            return None;
        }
        self.looked_at += usize::from(!is_named);
        let real = root.directory_behind(&link.real, cancel)?;
        if is_named && self.entered.len() < MOST_ENTERED && self.entered.insert(link.real.clone()) {
            return Some(WalkedPath { real, shown: Some(link.shown().clone()) });
        }
        self.passed.count += 1;
        None
    }
}

impl fmt::Debug for Links<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("entered", &self.entered).field("passed", &self.passed).finish_non_exhaustive()
    }
}
