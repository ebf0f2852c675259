//! The list from which the pages of `resources/list` are taken.
//!
//! A request without a cursor walks the directory and makes a snapshot. Each cursor names its snapshot and a position
//! in it, so pages are consistent while the snapshot is kept. A cursor still works when its snapshot is gone, or in
//! another process: the walk is repeated and continues after the path in the cursor.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::call::Fingerprint;
use crate::limits::LONGEST_URI;
use crate::root::{Exclude, Hidden, Kind, RelPath, Root, RootError, WalkOptions};
use crate::runtime::cancel::Cancel;

/// How long a snapshot is kept.
const LIFETIME: Duration = Duration::from_mins(1);
/// How many snapshots are kept.
const MOST: usize = 4;
/// The memory of all snapshots that are kept. A list that needs more is walked again for each page.
const MOST_KEPT: usize = 32 << 20;

/// The files found by one walk, in order.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Its name in cursors; random, so that it is not confused with that of another process.
    tag: u64,
    made: Instant,
    directories: Vec<RelPath>,
    names: Vec<u8>,
    files: Vec<Slot>,
    /// No directory was skipped for a reason that may have gone away by the next look.
    pub(crate) is_sure: bool,
    /// Some directories are on a remote file system.
    pub(crate) is_remote: bool,
    /// There were more files than the list may hold.
    pub(crate) truncated: bool,
    /// Entries that ignore files hid; 0 if the walk was cut.
    pub(crate) ignored: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    directory: u32,
    start: u32,
    length: u16,
}

impl Snapshot {
    /// Walks the served directory and records its files, up to `limit`. `each` is called for every directory with the
    /// number of files found before it. Unreadable directories are skipped, except for the served directory itself.
    /// Also returns the notes about ignore files.
    pub(crate) fn take(
        root: &Root,
        limit: usize,
        cancel: &Cancel,
        mut each: impl FnMut(&RelPath, usize),
    ) -> Result<(Self, Vec<(RelPath, String)>), RootError> {
        let mut snapshot = Self::new();
        let options =
            WalkOptions { hidden: Hidden::Skipped, max_depth: usize::MAX, exclude: Exclude::nothing().into() };
        let mut walk = root.walk(&RelPath::root(), options, cancel);
        for visit in walk.by_ref() {
            each(&visit.path.real, snapshot.len());
            match visit.listing {
                Ok((directory, listing)) => {
                    snapshot.is_remote |= directory.is_remote;
                    let files = listing.iter().filter(|entry| entry.kind == Kind::File).map(|entry| entry.name);
                    let files = files.filter(|name| visit.path.real.can_lead_to(name));
                    let room = limit - snapshot.len();
                    snapshot.truncated |= listing.cut || files.clone().nth(room).is_some();
                    snapshot.add(&visit.path.real, files.take(room));
                }
                Err(error) if visit.path.real.is_root() => return Err(error),
                Err(error) => {
                    snapshot.is_sure &= !error.is_passing();
                    tracing::info!("resources/list: {} is left out: {error}", visit.path.real.display());
                }
            }
            if snapshot.truncated {
                break;
            }
        }
        cancel.check()?;
        snapshot.truncated |= walk.cut;
        if !snapshot.truncated {
            snapshot.ignored = walk.ignored;
        }
        Ok((snapshot, walk.notes))
    }

    pub(crate) fn new() -> Self {
        Self {
            tag: RandomState::new().build_hasher().finish(),
            made: Instant::now(),
            directories: Vec::new(),
            names: Vec::new(),
            files: Vec::new(),
            is_sure: true,
            is_remote: false,
            truncated: false,
            ignored: 0,
        }
    }

    /// Adds the files of a directory. Directories and names must come in order.
    pub(crate) fn add<'n>(&mut self, directory: &RelPath, names: impl Iterator<Item = &'n [u8]>) {
        let index = self.directories.len() as u32;
        let mut names = names.peekable();
        if names.peek().is_none() {
            return; // there may be far more of these than of files
        }
        for name in names {
            self.files.push(Slot { directory: index, start: self.names.len() as u32, length: name.len() as u16 });
            self.names.extend_from_slice(name);
        }
        self.directories.push(directory.clone());
    }

    /// Equal for another snapshot only if it holds the same files.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut hasher = DefaultHasher::new();
        let mut directory = None;
        for slot in &self.files {
            if directory != Some(slot.directory) {
                directory = Some(slot.directory);
                self.directories[slot.directory as usize].hash(&mut hasher);
            }
            self.names[slot.start as usize..][..usize::from(slot.length)].hash(&mut hasher);
        }
        Fingerprint(hasher.finish())
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Approximate memory, in bytes.
    fn bytes(&self) -> usize {
        let directories: usize = self.directories.iter().map(|path| path.as_bytes().len() + size_of::<RelPath>()).sum();
        directories + self.names.capacity() + self.files.capacity() * size_of::<Slot>()
    }

    /// The directory and name of a file.
    pub(crate) fn file(&self, index: usize) -> (&RelPath, &[u8]) {
        let slot = self.files[index];
        (&self.directories[slot.directory as usize], &self.names[slot.start as usize..][..usize::from(slot.length)])
    }

    /// The index of the first file after `path`.
    pub(crate) fn position_after(&self, path: &RelPath) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let (directory, name) = self.file(middle);
            if directory.join(name).shallow_first(path).is_le() { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The cursor that continues after the file at `index`.
    pub(crate) fn cursor(&self, index: usize) -> String {
        let (directory, name) = self.file(index);
        Cursor { tag: self.tag, path: directory.join(name) }.write()
    }
}

/// A position in a list: its snapshot, and the last file that was returned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    tag: u64,
    pub(crate) path: RelPath,
}

impl Cursor {
    /// Tag, depth and path in readable form. The depth follows from the path, and reveals a cursor that was cut off.
    fn write(&self) -> String {
        let path = percent_encode(self.path.as_bytes(), NON_ALPHANUMERIC);
        format!("{:016x}.{}.{path}", self.tag, self.path.depth())
    }

    /// Parses the output of [`Self::write`]; `None` for anything else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST_URI {
            return None;
        }
        let mut parts = text.splitn(3, '.');
        let tag = u64::from_str_radix(parts.next()?, 16).ok()?;
        let depth: usize = parts.next()?.parse().ok()?;
        let path = RelPath::from_bytes(&percent_decode_str(parts.next()?).collect::<Vec<_>>());
        let cursor = Self { tag, path };
        (depth > 0 && depth == cursor.path.depth() && cursor.write() == text).then_some(cursor)
    }
}

/// The snapshots that are being paged through.
#[derive(Debug, Default)]
pub struct Snapshots(Mutex<Vec<Arc<Snapshot>>>);

impl Snapshots {
    /// The snapshot of a cursor, if it is still kept.
    pub(crate) fn find(&self, cursor: &Cursor) -> Option<Arc<Snapshot>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|snapshot| snapshot.made.elapsed() < LIFETIME);
        kept.iter().find(|snapshot| snapshot.tag == cursor.tag).cloned()
    }

    /// Keeps a snapshot for its cursors; drops the oldest if necessary.
    pub(crate) fn keep(&self, snapshot: Arc<Snapshot>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|snapshot| snapshot.made.elapsed() < LIFETIME);
        kept.push(snapshot);
        while kept.len() > MOST || kept.iter().map(|snapshot| snapshot.bytes()).sum::<usize>() > MOST_KEPT {
            kept.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_can_be_read_and_nothing_else_is_one() {
        let cursor = Cursor { tag: 0xfeed, path: RelPath::from_bytes(b"a b/c\xFF.txt") };
        let text = cursor.write();
        assert_eq!(text, "000000000000feed.2.a%20b%2Fc%FF%2Etxt");
        assert_eq!(Cursor::read(&text), Some(cursor));
        for bad in [
            "",
            "x",
            "1",
            "weird:3",
            "000000000000feed.1.a%20b%2Fc",
            "000000000000feed.0.",
            "feed.1.a",
            "000000000000feed.2.a%2F%2E%2E%2F",
        ] {
            assert_eq!(Cursor::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_place_is_found_also_where_its_file_is_gone() {
        let mut snapshot = Snapshot::new();
        snapshot.add(&RelPath::root(), [&b"a"[..], b"c"].into_iter());
        snapshot.add(&RelPath::from_bytes(b"d"), [&b"a"[..]].into_iter());
        let after = |path: &str| snapshot.position_after(&RelPath::from_bytes(path.as_bytes()));
        assert_eq!([after("a"), after("b"), after("c"), after("d/a"), after("z/z")], [1, 1, 2, 3, 3]);
    }
}
