//! Linux: inotify(7), on directories that were opened through the root.
//!
//! A watch is set on `/proc/self/fd/N` of the open directory or file, which leads to that one and nowhere else,
//! whatever is swapped meanwhile. The watch follows the directory when that is moved, so its path is only the former
//! one. When a directory appears, disappears or is renamed, all watches at and below that name are dropped; callers
//! that need them set them again.

use std::collections::{BTreeMap, HashMap};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::linux;
use crate::root::hints::{Happened, Hint, NoWatch, Scope, at_or_below};
use crate::root::{RelPath, Root};

/// How many bytes are read at once: some hundred hints.
const BUFFER: usize = 16 << 10;
/// How many reads before the caller continues.
const ROUNDS: usize = 16;

/// The watched directories, and which events are wanted.
#[derive(Debug)]
pub(crate) struct Hints {
    /// Absent if the system provides none, or should not be asked.
    inotify: Option<OwnedFd>,
    waker: Waker,
    directories: BTreeMap<RelPath, (i32, Scope)>,
    /// The paths of a watch: several if a directory is mounted twice.
    paths: HashMap<i32, Vec<RelPath>>,
}

/// Ends a [`Hints::wait`] from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Waker(Option<Arc<OwnedFd>>);

impl Hints {
    /// No watches yet. With `never` it stays that way, and can only wait.
    pub(crate) fn new(never: bool) -> Self {
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok().map(Arc::new);
        let init = || inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        Self {
            inotify: waker.as_ref().filter(|_| !never).and_then(|_| init()),
            waker: Waker(waker),
            directories: BTreeMap::new(),
            paths: HashMap::new(),
        }
    }

    /// The means to end a wait.
    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Watches a directory or file, given by a path without links, or changes which events of it are wanted.
    pub(crate) fn watch(&mut self, root: &Root, path: &RelPath, scope: Scope) -> Result<(), NoWatch> {
        let inotify = self.inotify.as_ref().ok_or(NoWatch::NoneLeft)?;
        let handle = match scope {
            Scope::File => linux::file_handle(&root.dir, path, root.can())?,
            Scope::Names | Scope::Contents => linux::directory_handle(&root.dir, path, root.can())?,
        };
        let way = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let id = inotify::add_watch(inotify, way, flags(scope)).map_err(|error| match error {
            Errno::ACCESS => NoWatch::Root(error.into()),
            _ => NoWatch::NoneLeft,
        })?;
        if self.directories.get(path).is_some_and(|(before, _)| *before != id) {
            self.forget(path);
        }
        let paths = self.paths.entry(id).or_default();
        if !paths.contains(path) {
            paths.push(path.clone());
        }
        self.directories.insert(path.clone(), (id, scope));
        Ok(())
    }

    /// Stops watching a directory.
    pub(crate) fn forget(&mut self, path: &RelPath) {
        let Some((id, _)) = self.directories.remove(path) else { return };
        let Some(paths) = self.paths.get_mut(&id) else { return };
        paths.retain(|other| other != path);
        if paths.is_empty() {
            self.paths.remove(&id);
            // Fails if the directory is gone, and the watch with it.
            let _ = self.inotify.as_ref().map(|inotify| inotify::remove_watch(inotify, id));
        }
    }

    /// Which events of a directory are wanted, if it is watched.
    pub(crate) fn scope(&self, path: &RelPath) -> Option<Scope> {
        self.directories.get(path).map(|(_, scope)| *scope)
    }

    /// The watched directories.
    pub(crate) fn watched(&self) -> impl ExactSizeIterator<Item = &RelPath> {
        self.directories.keys()
    }

    /// Waits for hints, a wake-up or the time, and passes the hints to `on`.
    pub(crate) fn wait(&mut self, until: Option<Instant>, mut on: impl FnMut(Hint<'_>)) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let Some(waker) = &self.waker.0 else {
            // There is not even an eventfd, so look once in a while.
            return thread::park_timeout(left.unwrap_or(super::LONGEST_WAIT).min(super::LONGEST_WAIT));
        };
        let mut waited = vec![PollFd::new(waker, PollFlags::IN)];
        waited.extend(self.inotify.as_ref().map(|inotify| PollFd::new(inotify, PollFlags::IN)));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let _ = poll(&mut waited, left.as_ref()); // interrupted, it has waited less
        let _ = rustix::io::read(waker, &mut [0; 8]);
        self.read(&mut on);
    }

    fn read(&mut self, on: &mut impl FnMut(Hint<'_>)) {
        let Some(inotify) = &self.inotify else { return };
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(inotify, &mut buffer);
        let mut gone = Vec::new();
        let mut rounds = 0;
        while !reader.is_buffer_empty() || rounds < ROUNDS {
            rounds += usize::from(reader.is_buffer_empty());
            let Ok(event) = reader.next() else { break };
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                on(Hint::Lost);
            }
            for directory in self.paths.get(&event.wd()).into_iter().flatten() {
                if flags.intersects(ENDS) {
                    gone.push(directory.clone());
                } else if self.scope(directory) == Some(Scope::File) {
                    let (parent, name) = (directory.parent(), directory.file_name().unwrap_or_default());
                    on(Hint::Entry { directory: &parent, name, what: happened(flags) });
                } else if let Some(name) = event.file_name() {
                    let (name, what) = (name.to_bytes(), happened(flags));
                    if what == Happened::Name {
                        // Also for a file, because another file may have its name.
                        gone.extend(at_or_below(&self.directories, &directory.join(name)));
                    }
                    on(Hint::Entry { directory, name, what });
                }
            }
        }
        for path in gone {
            self.forget(&path);
            on(Hint::Gone(path));
        }
    }
}

impl Waker {
    /// Ends the current wait, or the next one.
    pub(crate) fn wake(&self, waiting: &thread::Thread) {
        match &self.0 {
            // Fails only if it is already signalled.
            Some(waker) => drop(rustix::io::write(waker, &1_u64.to_ne_bytes())),
            None => waiting.unpark(),
        }
    }
}

/// The watch ends, or should: its path now belongs to another directory.
const ENDS: ReadFlags =
    ReadFlags::DELETE_SELF.union(ReadFlags::MOVE_SELF).union(ReadFlags::UNMOUNT).union(ReadFlags::IGNORED);

fn flags(scope: Scope) -> WatchFlags {
    let names = WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVE
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
        // It may already be watched by another path, for more events.
        | WatchFlags::MASK_ADD;
    match scope {
        Scope::Names => names,
        Scope::Contents => names | WatchFlags::MODIFY,
        Scope::File => names.union(WatchFlags::MODIFY).difference(WatchFlags::ONLYDIR),
    }
}

fn happened(flags: ReadFlags) -> Happened {
    let names = ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
    // The mode of a directory decides whether its content is visible.
    if flags.intersects(names) || flags.contains(ReadFlags::ATTRIB | ReadFlags::ISDIR) {
        Happened::Name
    } else if flags.contains(ReadFlags::MODIFY) {
        Happened::Write
    } else {
        Happened::Other
    }
}
