//! Where a path leads, as facts that reveal a change, and every entry on the way: a change of any of them may lead it
//! elsewhere.

use std::time::SystemTime;

use super::alike::Alike;
use super::resolve::LastLink;
use super::stat::{Kind, STEP, Stat};
use super::{RelPath, RequestedPath, Root, RootError, sys};
use crate::runtime::cancel::Cancel;

/// The limit of the entries of one path, in bytes. A path of 4,096 bytes can have 2,048 names, and all prefixes
/// together would take 4 MB.
const MOST_BYTES: usize = 16 << 10;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPath {
    /// The path that is followed: as requested, without `..`.
    pub path: RelPath,
    /// Every entry on the way, including links and missing ones; each without links before its name.
    pub entries: Vec<RelPath>,
    /// There are too many entries to watch; none is listed.
    pub is_too_long: bool,
    /// How changes of the file at its end are noticed.
    pub heard: Pending,
    /// The state of the file at its end.
    pub state: FileState,
}

/// How changes of a file are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// By watching its directory.
    InItsDirectory,
    /// Not always by its directory, because the file has several names (hard links) or is mounted there. It must be
    /// watched itself.
    ByItself,
    /// Not at all: other machines or programs may write to its file system without the kernel knowing.
    Never,
}

/// The file at the end of a path. While this stays the same, its content is assumed to be unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing that may be read.
    Absent,
    /// A file or a directory.
    Present {
        /// Its real path.
        path: RelPath,
        /// What it is.
        kind: Kind,
        /// In bytes; 0 for a directory, whose own size means nothing.
        size: u64,
        /// When its content last changed.
        modified: Option<SystemTime>,
        /// Identifies the file independently of its name.
        identity: u64,
    },
}

impl Root {
    /// Where `asked` leads now, even if that does not exist. Fails if it leads outside, to something denied or never
    /// readable, or if the directory that would contain it is missing.
    pub(crate) fn watch_path(&self, asked: &RequestedPath, cancel: &Cancel) -> Result<WatchPath, RootError> {
        match self.stat(asked, cancel) {
            Ok((_, stat)) if !matches!(stat.kind, Kind::File | Kind::Directory) => {
                Err(RootError::NotRegular(stat.kind))
            }
            Ok((real, stat)) => {
                let path = if asked.path.has_parent_refs() { real.clone() } else { asked.path.clone() };
                self.watch_path_to(path, Ok((real, stat)), cancel)
            }
            Err(RootError::NotFound) if !asked.directory => {
                self.watch_path_of(self.yet_to_come(&asked.path, cancel)?, cancel)
            }
            Err(error) => Err(error),
        }
    }

    /// Where a followed path leads now. Fails only if that cannot be determined at the moment.
    pub(crate) fn watch_path_of(&self, path: RelPath, cancel: &Cancel) -> Result<WatchPath, RootError> {
        let found = self.stat(&RequestedPath { path: path.clone(), directory: false }, cancel);
        self.watch_path_to(path, found, cancel)
    }

    fn watch_path_to(
        &self,
        path: RelPath,
        found: Result<(RelPath, Stat), RootError>,
        cancel: &Cancel,
    ) -> Result<WatchPath, RootError> {
        let mut way = Way::default();
        match &found {
            Ok((real, _)) if *real == path => way.straight_to(real),
            _ => {
                let end =
                    self.resolve_by(&path, LastLink::Followed, Alike::FormAndSpaces, cancel, |entry| way.pass(entry));
                // Any other failure is a fact as well.
                end.map(drop).or_else(|error| if error.is_passing() { Err(error) } else { Ok(()) })?;
                if let Ok((real, _)) = &found {
                    way.straight_to(real);
                }
            }
        }
        let state = match found {
            Ok((real, stat)) => FileState::of(real, &stat),
            Err(error) if error.is_passing() => return Err(error),
            Err(_) => FileState::Absent,
        };
        let (entries, is_too_long) = way.end();
        let heard = self.heard(&state);
        Ok(WatchPath { path, entries, is_too_long, heard, state })
    }

    fn heard(&self, state: &FileState) -> Pending {
        let FileState::Present { path, .. } = state else { return Pending::InItsDirectory };
        match sys::changes_elsewhere(&self.dir, path, self.can()) {
            Ok(None) => Pending::Never,
            Ok(Some(true)) => Pending::ByItself,
            // If it has just gone, it is examined again later.
            Ok(Some(false)) | Err(_) => Pending::InItsDirectory,
        }
    }

    /// The path of something that does not exist yet.
    fn yet_to_come(&self, asked: &RelPath, cancel: &Cancel) -> Result<RelPath, RootError> {
        let name = asked.file_name().filter(|name| *name != b"..").ok_or(RootError::NotFound)?;
        let parent = RequestedPath { path: asked.parent(), directory: true };
        let (real, stat) = self.stat(&parent, cancel)?;
        if stat.kind != Kind::Directory {
            return Err(RootError::NotFound);
        }
        let path = real.join(name);
        self.deny.check(&path)?;
        Ok(path)
    }
}

/// The entries on the way of a path.
#[derive(Default)]
struct Way {
    entries: Vec<RelPath>,
    bytes: usize,
}

impl Way {
    fn straight_to(&mut self, path: &RelPath) {
        // Half its length for each of its names: known before they are created.
        if path.depth() * path.as_bytes().len() / 2 > MOST_BYTES {
            self.bytes = usize::MAX;
            return;
        }
        path.and_above().for_each(|entry| self.pass(&entry));
    }

    fn pass(&mut self, entry: &RelPath) {
        self.bytes = self.bytes.saturating_add(entry.as_bytes().len());
        if self.bytes <= MOST_BYTES {
            self.entries.push(entry.clone());
        }
    }

    fn end(mut self) -> (Vec<RelPath>, bool) {
        if self.bytes > MOST_BYTES {
            return (Vec::new(), true);
        }
        self.entries.sort_unstable();
        self.entries.dedup();
        (self.entries, false)
    }
}

impl FileState {
    fn of(path: RelPath, stat: &Stat) -> Self {
        let is_directory = stat.kind == Kind::Directory;
        Self::Present {
            path,
            kind: stat.kind,
            size: if is_directory { 0 } else { stat.size },
            modified: stat.modified,
            identity: stat.identity(),
        }
    }

    /// Which file it is and where: the part that does not change when it is written to.
    pub(crate) fn place(&self) -> Option<(&RelPath, u64)> {
        match self {
            Self::Present { path, identity, .. } => Some((path, *identity)),
            Self::Absent => None,
        }
    }

    /// Whether this is a directory.
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self, Self::Present { kind: Kind::Directory, .. })
    }

    /// Whether a write at this moment might leave these facts unchanged.
    pub(crate) fn are_fresh(&self) -> bool {
        match self {
            Self::Present { modified: Some(modified), .. } => {
                SystemTime::now().duration_since(*modified).map_or(true, |age| age < STEP)
            }
            _ => false,
        }
    }
}
