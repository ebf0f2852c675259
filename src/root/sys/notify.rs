//! Other systems: the `notify` crate, for one directory at a time, not recursively and not through links.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

use notify::event::{EventKind, ModifyKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::LONGEST_WAIT;
use crate::root::hints::{Happened, Hint, NoWatch, Scope, at_or_below};
use crate::root::{RelPath, Root};

/// How many hints may wait; further ones are lost, and reported as such.
const WAITING: usize = 16 << 10;

/// The watched directories, and which events are wanted.
#[derive(Debug)]
pub(crate) struct Hints {
    watcher: Option<RecommendedWatcher>,
    heard: Receiver<Event>,
    lost: Arc<AtomicBool>,
    /// The waiting thread, if any.
    waiting: Arc<OnceLock<Thread>>,
    directories: BTreeMap<RelPath, Scope>,
    /// The served directory as the system's events name it.
    root: PathBuf,
}

/// Ends a [`Hints::wait`] from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Waker;

impl Hints {
    /// No watches yet. With `never` it stays that way, and can only wait.
    pub(crate) fn new(never: bool) -> Self {
        let (tell, heard) = sync_channel(WAITING);
        let (lost, waiting) = (Arc::<AtomicBool>::default(), Arc::<OnceLock<Thread>>::default());
        let listener = listener(tell, Arc::clone(&lost), Arc::clone(&waiting));
        let watcher = RecommendedWatcher::new(listener, Config::default().with_follow_symlinks(false)).ok();
        Self {
            watcher: watcher.filter(|_| !never),
            heard,
            lost,
            waiting,
            directories: BTreeMap::new(),
            root: PathBuf::new(),
        }
    }

    /// The means to end a wait.
    #[expect(clippy::unused_self, reason = "the same signature as on Linux")]
    pub(crate) fn waker(&self) -> Waker {
        Waker
    }

    /// Watches a directory, given by a path without links.
    pub(crate) fn watch(&mut self, root: &Root, path: &RelPath, scope: Scope) -> Result<(), NoWatch> {
        let watcher = self.watcher.as_mut().ok_or(NoWatch::NoneLeft)?;
        drop(root.open_real_directory(path)?); // it is there, and inside
        if self.directories.insert(path.clone(), scope).is_none() {
            root.path().clone_into(&mut self.root);
            let watched = watcher.watch(&self.root.join(path.as_path()), RecursiveMode::NonRecursive);
            if watched.is_err() {
                self.directories.remove(path);
                return Err(NoWatch::NoneLeft);
            }
        }
        Ok(())
    }

    /// Stops watching a directory.
    pub(crate) fn forget(&mut self, path: &RelPath) {
        if self.directories.remove(path).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            // Fails if the directory is gone, and the watch with it.
            let _ = watcher.unwatch(&self.root.join(path.as_path()));
        }
    }

    /// Which events of a directory are wanted, if it is watched.
    pub(crate) fn scope(&self, path: &RelPath) -> Option<Scope> {
        self.directories.get(path).copied()
    }

    /// The watched directories.
    pub(crate) fn watched(&self) -> impl ExactSizeIterator<Item = &RelPath> {
        self.directories.keys()
    }

    /// Waits for hints, a wake-up or the time, and passes the hints to `on`.
    pub(crate) fn wait(&mut self, until: Option<Instant>, mut on: impl FnMut(Hint<'_>)) {
        // Hints that arrived before the wait have woken nothing.
        let is_first = self.waiting.set(thread::current()).is_ok();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match left.or(is_first.then_some(LONGEST_WAIT)) {
            Some(left) => thread::park_timeout(left),
            None => thread::park(),
        }
        if self.lost.swap(false, Ordering::Relaxed) {
            on(Hint::Lost);
        }
        let heard: Vec<Event> = self.heard.try_iter().take(WAITING).collect();
        for event in &heard {
            self.pass_on(event, &mut on);
        }
    }

    fn pass_on(&mut self, event: &Event, on: &mut impl FnMut(Hint<'_>)) {
        if event.need_rescan() {
            on(Hint::Lost);
        }
        for path in &event.paths {
            let Some(path) = below(&self.root, path) else { continue };
            if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
                for gone in at_or_below(&self.directories, &path) {
                    self.forget(&gone);
                    on(Hint::Gone(gone));
                }
            }
            let directory = path.parent();
            if let Some(name) = path.file_name().filter(|_| self.directories.contains_key(&directory)) {
                on(Hint::Entry { directory: &directory, name, what: happened(event.kind) });
            }
        }
    }
}

impl Waker {
    /// Ends the current wait, or the next one.
    #[expect(clippy::unused_self, reason = "the same signature as on Linux")]
    pub(crate) fn wake(&self, waiting: &Thread) {
        waiting.unpark();
    }
}

fn listener(
    tell: SyncSender<Event>,
    lost: Arc<AtomicBool>,
    waiting: Arc<OnceLock<Thread>>,
) -> impl FnMut(notify::Result<Event>) {
    move |event| {
        let told = event.map(|event| tell.try_send(event));
        if matches!(told, Err(_) | Ok(Err(TrySendError::Full(_)))) {
            lost.store(true, Ordering::Relaxed);
        }
        if let Some(thread) = waiting.get() {
            thread.unpark();
        }
    }
}

fn below(root: &Path, path: &Path) -> Option<RelPath> {
    let below = path.strip_prefix(root).ok()?;
    let names = below.components().map(|name| name.as_os_str().as_encoded_bytes());
    Some(names.fold(RelPath::root(), |path, name| path.join(name)))
}

fn happened(kind: EventKind) -> Happened {
    match kind {
        // Windows does not say what has changed in a file.
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => Happened::Write,
        EventKind::Modify(ModifyKind::Metadata(_)) | EventKind::Access(_) => Happened::Other,
        _ => Happened::Name,
    }
}
