//! What is followed: what was last known of it, which entries it depends on, and when to look at it again.
//!
//! A look waits until nothing has happened for a moment, so that a save in several steps is one change. The wait is
//! limited, because a log file never rests.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::limits::Watching;
use crate::root::hints::{Happened, Scope};
use crate::root::{FileState, Kind, Pending, RelPath, WatchPath};

/// A look waits at most this many quiet moments.
const PATIENCE: u32 = 10;

/// Everything that is followed.
#[derive(Debug)]
pub(super) struct Targets {
    settle: Duration,
    by_path: HashMap<RelPath, Target>,
    /// Which targets depend on an entry.
    by_entry: Index,
    /// Which targets are a directory.
    by_directory: Index,
}

/// Targets by a path that affects them.
type Index = HashMap<RelPath, Vec<Arc<RelPath>>>;

#[derive(Debug)]
struct Target {
    followers: usize,
    watched: WatchPath,
    /// The last write may not have changed the recorded facts.
    fresh: bool,
    due: Option<Due>,
}

#[derive(Debug)]
struct Due {
    at: Instant,
    latest: Instant,
    /// It was written to, whatever the facts say.
    written: bool,
}

/// The result of looking at a target.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    /// It has changed.
    pub(super) changed: bool,
    /// It depends on other entries than before.
    pub(super) moved: bool,
    /// It is another file, or somewhere else, so its watches may be on the old one.
    pub(super) replaced: bool,
}

/// What has to be watched.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub(super) directories: BTreeMap<RelPath, Scope>,
    /// Followed files, and whether a watch on the directory would miss some events.
    pub(super) files: BTreeMap<RelPath, bool>,
}

impl Needed {
    fn add(&mut self, watched: &WatchPath) {
        let mut add = |path: RelPath, scope: Scope| {
            let known = self.directories.entry(path).or_insert(scope);
            *known = scope.max(*known);
        };
        for entry in &watched.entries {
            let scope = if watched.ends_at(entry) { Scope::Contents } else { Scope::Names };
            add(entry.parent(), scope);
        }
        if let Some(directory) = watched.directory() {
            add(directory.clone(), Scope::Names);
        }
        if let FileState::Present { path, kind: Kind::File, .. } = &watched.state
            && !watched.is_too_long
        {
            self.files.insert(path.clone(), watched.heard == Pending::ByItself);
        }
    }

    /// For one of them.
    pub(super) fn of(watched: &WatchPath) -> Self {
        let mut needed = Self::default();
        needed.add(watched);
        needed
    }
}

impl Targets {
    pub(super) fn new(options: &Watching) -> Self {
        Self { settle: options.settle, by_path: HashMap::new(), by_entry: Index::new(), by_directory: Index::new() }
    }

    /// Follows one more path. It is looked at again once it is watched, but not at once: otherwise a write at that
    /// moment would be reported twice, by the look and by its event.
    pub(super) fn follow(&mut self, watched: WatchPath, now: Instant) {
        if let Some(target) = self.by_path.get_mut(&watched.path) {
            target.followers += 1;
            return;
        }
        let path = watched.path.clone();
        self.index(&watched);
        let fresh = watched.state.are_fresh();
        let mut target = Target { followers: 1, watched, fresh, due: None };
        target.stir(self.settle, now, false);
        self.by_path.insert(path, target);
    }

    /// One follower of the path has left.
    pub(super) fn unfollow(&mut self, path: &RelPath) {
        let Some(target) = self.by_path.get_mut(path) else { return };
        target.followers -= 1;
        if target.followers == 0
            && let Some(target) = self.by_path.remove(path)
        {
            self.unindex(&target.watched);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Whether a target must be polled, because there is too much on its path to watch, or no events arrive for it.
    pub(super) fn must_poll(&self) -> bool {
        self.by_path.values().any(|target| target.watched.is_too_long || target.watched.heard == Pending::Never)
    }

    /// What has to be watched for all targets.
    pub(super) fn needed(&self) -> Needed {
        let mut needed = Needed::default();
        self.by_path.values().for_each(|target| needed.add(&target.watched));
        needed
    }

    /// An event for an entry of a watched directory.
    pub(super) fn hint(&mut self, directory: &RelPath, name: &[u8], what: Happened, now: Instant) {
        let entry = directory.join(name);
        // Events inside a directory concern those who follow the directory, not those whose path leads through it.
        let within = self.by_directory.get(directory).filter(|_| what == Happened::Name);
        for path in within.into_iter().chain(self.by_entry.get(&entry)).flatten() {
            if let Some(target) = self.by_path.get_mut(&**path) {
                target.stir(self.settle, now, what == Happened::Write && target.watched.ends_at(&entry));
            }
        }
    }

    /// A directory is no longer watched.
    pub(super) fn gone(&mut self, directory: &RelPath, now: Instant) {
        for path in self.by_entry.get(directory).into_iter().flatten() {
            if let Some(target) = self.by_path.get_mut(&**path) {
                target.stir(self.settle, now, false);
            }
        }
    }

    /// Anything may have happened to this target.
    pub(super) fn stir(&mut self, path: &RelPath, now: Instant) {
        if let Some(target) = self.by_path.get_mut(path) {
            target.stir(self.settle, now, false);
        }
    }

    /// The look could not determine what is there.
    pub(super) fn look_later(&mut self, path: &RelPath, written: bool, at: Instant) {
        if let Some(target) = self.by_path.get_mut(path) {
            target.due.get_or_insert(Due { at, latest: at, written });
        }
    }

    /// Anything may have happened to all targets; they are looked at now.
    pub(super) fn stir_all(&mut self, now: Instant) {
        for target in self.by_path.values_mut() {
            target.stir(Duration::ZERO, now, false);
        }
    }

    /// When the next target is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.by_path.values().filter_map(|target| target.due.as_ref().map(|due| due.at)).min()
    }

    /// The targets that are due, and whether they were written to.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<(RelPath, bool)> {
        let due = |(path, target): (&RelPath, &mut Target)| {
            let due = target.due.take_if(|due| due.at <= now)?;
            Some((path.clone(), due.written))
        };
        self.by_path.iter_mut().filter_map(due).collect()
    }

    /// Records the result of a look.
    pub(super) fn note(&mut self, watched: &WatchPath, written: bool) -> Noted {
        let Some(target) = self.by_path.get_mut(&watched.path) else { return Noted::default() };
        let changed = target.watched.state != watched.state || (written && target.fresh);
        let moved = target.watched.entries != watched.entries || target.watched.directory() != watched.directory();
        let replaced = target.watched.state.place() != watched.state.place() || target.watched.heard != watched.heard;
        target.fresh = watched.state.are_fresh();
        let before = std::mem::replace(&mut target.watched, watched.clone());
        if moved {
            self.unindex(&before);
            self.index(watched);
        }
        Noted { changed, moved, replaced }
    }

    fn index(&mut self, watched: &WatchPath) {
        let path = Arc::new(watched.path.clone());
        for entry in &watched.entries {
            self.by_entry.entry(entry.clone()).or_default().push(Arc::clone(&path));
        }
        if let Some(directory) = watched.directory() {
            self.by_directory.entry(directory.clone()).or_default().push(path);
        }
    }

    fn unindex(&mut self, watched: &WatchPath) {
        for entry in &watched.entries {
            remove(&mut self.by_entry, entry, &watched.path);
        }
        if let Some(directory) = watched.directory() {
            remove(&mut self.by_directory, directory, &watched.path);
        }
    }
}

fn remove(index: &mut Index, at: &RelPath, target: &RelPath) {
    if let Some(paths) = index.get_mut(at) {
        paths.retain(|path| **path != *target);
        if paths.is_empty() {
            index.remove(at);
        }
    }
}

impl Target {
    fn stir(&mut self, settle: Duration, now: Instant, written: bool) {
        let due = self.due.get_or_insert_with(|| Due { at: now, latest: now + settle * PATIENCE, written });
        due.at = (now + settle).min(due.latest);
        due.written |= written;
    }
}

impl WatchPath {
    /// Whether the path leads to the content of this entry.
    fn ends_at(&self, entry: &RelPath) -> bool {
        *entry == self.path || matches!(&self.state, FileState::Present { path, .. } if path == entry)
    }

    /// The directory that the path leads to, if it is one.
    fn directory(&self) -> Option<&RelPath> {
        match &self.state {
            FileState::Present { path, .. } if self.state.is_directory() => Some(path),
            _ => None,
        }
    }
}
