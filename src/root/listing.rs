//! The entries of one directory in compact form: a million names take some tens of megabytes, not hundreds.

use super::path::RelPath;
use super::stat::{Kind, Stat};
use super::{Root, RootError, sys};
use crate::runtime::cancel::Cancel;
use crate::runtime::concurrent::{self, REMOTE_OPERATIONS};

/// How many entries of one directory are read. Further ones are not seen, and [`Listing::cut`] is set.
const MAX_ENTRIES: usize = 1_000_000;

/// A directory, open for listing.
#[derive(Debug)]
pub struct Directory<'r> {
    root: &'r Root,
    file: std::fs::File,
    facts: sys::Facts,
    /// Its real path, without links and `..`.
    pub path: RelPath,
    /// It is on a remote file system.
    pub(crate) is_remote: bool,
}

/// The entries of a directory, sorted by the bytes of their names, without denied ones.
#[derive(Debug, Default)]
pub struct Listing {
    names: Vec<u8>,
    slots: Vec<Slot>,
    /// There are more entries than the limit of a million.
    pub cut: bool,
    /// How many entries were left out because they are denied. Only `--check` shows it, never a client.
    pub denied: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    length: u16,
    kind: Kind,
}

/// One entry of a [`Listing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The bytes of its name.
    pub name: &'a [u8],
    /// The kind of the entry itself: a link, not its target.
    pub kind: Kind,
}

/// Counts entries that were not shown.
#[derive(Default)]
struct Scanned {
    denied: usize,
    cut: bool,
}

impl<'r> Directory<'r> {
    pub(super) fn new(root: &'r Root, file: std::fs::File, path: RelPath, is_remote: bool) -> Self {
        Self { root, file, facts: sys::Facts::default(), path, is_remote }
    }

    /// Reads all entries.
    pub fn list(&self, cancel: &Cancel) -> Result<Listing, RootError> {
        self.list_with(&mut Vec::new(), cancel)
    }

    /// The same, with a buffer that is reused between directories.
    pub(super) fn list_with(&self, buffer: &mut Vec<u8>, cancel: &Cancel) -> Result<Listing, RootError> {
        let mut listing = Listing::default();
        let Scanned { denied, cut } = self.scan(MAX_ENTRIES, buffer, cancel, |entry| listing.push(entry))?;
        listing.sort();
        Ok(Listing { cut, denied, ..listing })
    }

    /// Reads all entries if there are fewer than `most`.
    pub(super) fn list_small(&self, most: usize, cancel: &Cancel) -> Result<Option<Listing>, RootError> {
        let mut listing = Listing::default();
        let Scanned { denied, cut } = self.scan(most, &mut Vec::new(), cancel, |entry| listing.push(entry))?;
        listing.sort();
        Ok((!cut).then_some(Listing { denied, ..listing }))
    }

    /// Passes every entry to `see`, unordered, without keeping any. Returns whether there are more than a million.
    pub(crate) fn each(&self, cancel: &Cancel, see: impl FnMut(Entry<'_>)) -> Result<bool, RootError> {
        self.scan(MAX_ENTRIES, &mut Vec::new(), cancel, see).map(|scanned| scanned.cut)
    }

    fn scan(
        &self,
        most: usize,
        buffer: &mut Vec<u8>,
        cancel: &Cancel,
        mut see: impl FnMut(Entry<'_>),
    ) -> Result<Scanned, RootError> {
        let mut scanned = Scanned::default();
        let mut seen = 0;
        sys::list(&self.file, buffer, |name, kind| {
            seen += 1;
            if self.root.deny.is_denied_in(&self.path, name) {
                scanned.denied += 1;
            } else {
                see(Entry { name, kind });
            }
            scanned.cut = seen >= most;
            let must_stop = seen.is_multiple_of(4_096) && cancel.checkpoint();
            !scanned.cut && !must_stop
        })?;
        cancel.check()?;
        Ok(scanned)
    }

    /// Facts about the directory itself, if it is on the local file system of the served directory.
    pub(super) fn own_stat_if_local(&self) -> Option<Stat> {
        let stat = Stat::of(&self.file).ok()?;
        self.root.can().is_quick_at(&stat).then_some(stat)
    }

    /// Size and times of one entry; of a link itself, not its target.
    pub(crate) fn stat(&self, name: &[u8]) -> Result<Stat, RootError> {
        let can = self.root.can();
        if can.only_local {
            return sys::stat_here(&self.file, name, can);
        }
        self.facts.of(&self.file, name).map_or_else(|| sys::stat_in(&self.file, name), Ok)
    }

    /// The same for several entries, at the same time on a remote file system; `None` for what has gone, and for the
    /// rest after a cancellation.
    pub(crate) fn stats(&self, names: &[&[u8]], cancel: &Cancel) -> Vec<Option<Stat>> {
        let threads = if self.is_remote { REMOTE_OPERATIONS } else { 1 };
        concurrent::map(names.len(), threads, |at| if cancel.checkpoint() { None } else { self.stat(names[at]).ok() })
    }
}

impl Entry<'_> {
    /// Whether this is a directory in which version control keeps its data.
    pub(crate) fn is_version_control(self) -> bool {
        const NAMES: [&[u8]; 8] = [b".git", b".hg", b".svn", b".jj", b".bzr", b".sl", b"_darcs", b"CVS"];
        matches!(self.name.first(), Some(b'.' | b'_' | b'C')) && NAMES.contains(&self.name)
    }
}

impl Listing {
    /// The entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + Clone {
        self.slots.iter().map(|slot| Entry { name: name_of(&self.names, *slot), kind: slot.kind })
    }

    /// The entry at a position in the order.
    pub(crate) fn get(&self, index: usize) -> Option<Entry<'_>> {
        self.slots.get(index).map(|slot| Entry { name: name_of(&self.names, *slot), kind: slot.kind })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is a regular file of this name.
    pub(crate) fn has_file(&self, name: &[u8]) -> bool {
        self.kind_of(name) == Some(Kind::File)
    }

    /// The kind of the entry with this name.
    pub(super) fn kind_of(&self, name: &[u8]) -> Option<Kind> {
        let found = self.slots.binary_search_by(|slot| name_of(&self.names, *slot).cmp(name));
        found.ok().map(|at| self.slots[at].kind)
    }

    /// Keeps the entries that `keep` selects. The names of the others stay in memory until the listing is dropped.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(Entry<'_>) -> bool) {
        let names = &self.names;
        self.slots.retain(|slot| keep(Entry { name: name_of(names, *slot), kind: slot.kind }));
    }

    fn push(&mut self, Entry { name, kind }: Entry<'_>) {
        let start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        self.slots.push(Slot { start, length: name.len() as u16, kind });
    }

    fn sort(&mut self) {
        let names = &self.names;
        self.slots.sort_unstable_by(|a, b| name_of(names, *a).cmp(name_of(names, *b)));
    }
}

fn name_of(names: &[u8], slot: Slot) -> &[u8] {
    &names[slot.start as usize..][..usize::from(slot.length)]
}
