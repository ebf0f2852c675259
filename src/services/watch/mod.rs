//! Detects changes of the files and directories that clients follow, and of the lists of resources and prompts.
//!
//! Nothing is watched until a client asks. Then one thread, the [`Watcher`], owns all state: hints from the system say
//! when to look, and what the root shows then is the truth. Differences are reported as a [`Change`]; the peer decides
//! which message goes to whom.
//!
//! | module | holds |
//! | --- | --- |
//! | `watcher` | the thread: waits for hints, and looks when something is due |
//! | `watches` | which directories the system watches for it |
//! | `targets` | what is followed, and when to look at it again |
//! | `list` | a list of resources or prompts, and when to look at it |
//! | `backoff` | how often a list that keeps changing is reported |
//!
//! Each part is needed. Without `watcher`, a look at a slow disk would delay every client. Without `watches`, the list
//! of a large tree would use up the system's watches and leave none for followed files. Without `targets`, a save in
//! several steps would be several changes, and a path through a link would not be followed to its end. Without `list`,
//! a client would hear about every change in the tree, even if its list of resources stays the same. Without `backoff`,
//! a build would make clients fetch all pages many times a minute.

mod backoff;
mod list;
mod targets;
mod watcher;
mod watches;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use self::watcher::Watcher;
use crate::call::{Fingerprint, ListKind};
use crate::limits::{Limits, WatchMode};
use crate::root::{Hints, RelPath, Root, RootError, Waker, WatchPath};
use crate::runtime::cancel::Cancel;

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The resource at a followed path.
    Updated(RelPath),
    /// A list.
    ListChanged(ListKind),
}

/// Why a resource cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotFollowed {
    /// Too many are followed already.
    #[error("Too many subscriptions (limit: {0} in all); unsubscribe from another one first.")]
    TooMany(usize),
    /// The system has no thread for the watcher.
    #[error("The system has no thread to notice changes with; raise the server's limit of processes (ulimit -u).")]
    NoThread,
}

/// The folder of the prompts, and how to look at it. Only their feature knows which files are prompts.
#[derive(Clone, Debug)]
pub(crate) struct Prompts {
    /// Its real path.
    pub(crate) folder: RelPath,
    /// Examines the folder.
    pub(crate) look: fn(&Root, &RelPath, &Cancel) -> Result<Look, RootError>,
}

/// The result of a look at a list.
#[derive(Debug)]
pub(crate) struct Look {
    /// Identifies the list.
    pub(crate) list: Fingerprint,
    /// The directories that it depends on.
    pub(crate) directories: Vec<RelPath>,
    /// Nothing was skipped for a reason that may have gone away by the next look.
    pub(crate) is_sure: bool,
    /// Some directories are on a remote file system.
    pub(crate) is_remote: bool,
}

/// Identifies a client to the watching thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClientId(u64);

/// Notifies a client of a change.
type Notify = Box<dyn Fn(Change) + Send + Sync>;

/// The clients, and how each is notified.
#[derive(Default)]
struct Clients {
    next: AtomicU64,
    all: Mutex<BTreeMap<ClientId, Notify>>,
}

/// The connection to the watching thread, which starts with the first subscription. All clients share it.
pub struct Watch {
    root: Arc<Root>,
    limits: Limits,
    prompts: Option<Prompts>,
    clients: Arc<Clients>,
    /// Followed paths, including those that the thread has yet to drop.
    known: Arc<AtomicUsize>,
    cancel: Cancel,
    commands: Mutex<Option<Commands>>,
}

/// A message to the thread.
enum Command {
    Follow(WatchPath),
    Unfollow(RelPath),
    /// A client subscribes to a list, and may know this version of it.
    WatchList(ListKind, ClientId, Option<Fingerprint>),
    /// It unsubscribes.
    UnwatchList(ListKind, ClientId),
    /// It received this list.
    Listed(ListKind, ClientId, Fingerprint),
}

#[derive(Clone)]
struct Commands {
    sender: Sender<Command>,
    waker: Waker,
    thread: Thread,
}

/// Whether changes are detected by polling alone: because the user chose so, or because the system has no events for
/// changes made by other machines.
fn polls(root: &Root, limits: &Limits) -> bool {
    limits.watch.mode == WatchMode::Poll || root.remote_file_system().is_some()
}

impl Watch {
    /// How many times the limit of one client all clients together may follow.
    const CLIENTS: usize = 8;

    /// A watcher for `root`. Nothing is watched yet.
    pub(crate) fn new(root: Arc<Root>, limits: &Limits) -> Self {
        Self {
            root,
            limits: limits.clone(),
            prompts: None,
            clients: Arc::default(),
            known: Arc::default(),
            cancel: Cancel::default(),
            commands: Mutex::default(),
        }
    }

    /// Also watches the list of these prompts.
    #[must_use]
    pub(crate) fn with_prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = Some(prompts);
        self
    }

    /// Whether changes are never detected (`--watch off`).
    pub(crate) fn is_off(&self) -> bool {
        self.limits.watch.mode == WatchMode::Off
    }

    /// The channel to the thread, which is started if it is not running. `None` if it cannot be started.
    fn commands(&self) -> Option<Commands> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if commands.is_none() {
            let hints = Hints::new(polls(&self.root, &self.limits));
            let (sender, receiver) = mpsc::channel();
            let waker = hints.waker();
            let (root, known, cancel) = (Arc::clone(&self.root), Arc::clone(&self.known), self.cancel.clone());
            let prompts = self.prompts.clone();
            let watcher = Watcher::new(root, &self.limits, prompts, hints, known, cancel, Arc::clone(&self.clients));
            match thread::Builder::new().name("watch".to_owned()).spawn(move || watcher.run(&receiver)) {
                Ok(running) => *commands = Some(Commands { sender, waker, thread: running.thread().clone() }),
                Err(error) => tracing::error!("changes are not detected: cannot start a thread: {error}"),
            }
        }
        commands.clone()
    }
}

/// What one client follows, and what it knows of the list.
#[derive(Debug)]
pub(crate) struct WatchClient {
    watch: Arc<Watch>,
    id: ClientId,
    /// How many paths it follows.
    followed: Arc<AtomicUsize>,
    /// The lists that it last received, even if that was before it subscribed.
    given: BTreeMap<ListKind, Fingerprint>,
}

impl WatchClient {
    /// A client whose changes are passed to `notify`, which is called on the watching thread.
    pub(crate) fn new(watch: Arc<Watch>, notify: impl Fn(Change) + Send + Sync + 'static) -> Self {
        let id = watch.clients.add(Box::new(notify));
        Self { watch, id, followed: Arc::default(), given: BTreeMap::new() }
    }

    /// Follows a path, starting from what is known of it now.
    pub(crate) fn follow(&self, path: WatchPath) -> Result<Followed, NotFollowed> {
        let most = self.watch.limits.watch.followed;
        let commands = self.watch.commands().ok_or(NotFollowed::NoThread)?;
        // The backlog of a thread that hangs is bounded, too.
        if self.watch.known.load(Ordering::Relaxed) >= Watch::CLIENTS * most {
            return Err(NotFollowed::TooMany(most));
        }
        let room = |count: usize| (count < most).then_some(count + 1);
        let counted = self.followed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        counted.map_err(|_| NotFollowed::TooMany(most))?;
        let name = path.path.clone();
        self.watch.known.fetch_add(1, Ordering::Relaxed);
        commands.send(Command::Follow(path));
        Ok(Followed { path: name, all: Arc::clone(&self.followed), commands })
    }

    /// Subscribes to a list.
    pub(crate) fn watch_list(&self, kind: ListKind) -> ListWatched {
        let (commands, given) = (self.watch.commands(), self.given.get(&kind).copied());
        commands.as_ref().inspect(|commands| commands.send(Command::WatchList(kind, self.id, given)));
        ListWatched { kind, client: self.id, commands }
    }

    /// The client received this list. If it differs from what the thread sees, there is something to report.
    pub(crate) fn listed(&mut self, kind: ListKind, list: Fingerprint) {
        self.given.insert(kind, list);
        let commands = self.watch.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().inspect(|commands| commands.send(Command::Listed(kind, self.id, list)));
    }
}

impl Drop for WatchClient {
    fn drop(&mut self) {
        self.watch.clients.remove(self.id);
    }
}

impl Clients {
    fn add(&self, notify: Notify) -> ClientId {
        let id = ClientId(self.next.fetch_add(1, Ordering::Relaxed));
        self.lock().insert(id, notify);
        id
    }

    fn remove(&self, id: ClientId) {
        self.lock().remove(&id);
    }

    /// Notifies all clients; each knows what it follows.
    fn tell_all(&self, change: &Change) {
        self.lock().values().for_each(|notify| notify(change.clone()));
    }

    fn tell(&self, client: ClientId, change: Change) {
        if let Some(notify) = self.lock().get(&client) {
            notify(change);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ClientId, Notify>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cancel.cancel();
        let commands = self.commands.get_mut().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().inspect(|commands| commands.waker.wake(&commands.thread));
    }
}

impl Commands {
    fn send(&self, command: Command) {
        // Fails if the thread has ended: with the server, or by a panic, which is in the log.
        drop(self.sender.send(command));
        self.waker.wake(&self.thread);
    }
}

/// A path is followed until this is dropped.
pub(crate) struct Followed {
    path: RelPath,
    /// How many are followed in all.
    all: Arc<AtomicUsize>,
    commands: Commands,
}

impl Followed {
    /// As in [`Change::Updated`].
    pub(crate) fn path(&self) -> &RelPath {
        &self.path
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
        self.commands.send(Command::Unfollow(self.path.clone()));
    }
}

/// A client is subscribed to a list until this is dropped.
pub(crate) struct ListWatched {
    kind: ListKind,
    client: ClientId,
    commands: Option<Commands>,
}

impl ListWatched {
    /// Which list.
    pub(crate) fn kind(&self) -> ListKind {
        self.kind
    }

    /// Whether there is a thread that watches it.
    pub(crate) fn is_watched(&self) -> bool {
        self.commands.is_some()
    }
}

impl Drop for ListWatched {
    fn drop(&mut self) {
        let end = || Command::UnwatchList(self.kind, self.client);
        self.commands.as_ref().inspect(|commands| commands.send(end()));
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("known", &self.known).finish_non_exhaustive()
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Followed").field(&self.path).finish()
    }
}

impl fmt::Debug for ListWatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListWatched").field(&self.kind).finish()
    }
}
