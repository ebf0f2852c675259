//! Noticing changes: of single files and directories that somebody follows, and of the list of resources.
//!
//! Nothing is watched until somebody asks. Then one thread, the [`Watcher`], holds everything there is to know:
//! hints from the system say when to look, and what the root says then is the truth. What is different is told as a
//! [`Change`]; who is to hear of it, and in which words, is the connection's business.
//!
//! | module | holds |
//! | --- | --- |
//! | `watcher` | the thread: waits for hints, looks when something is due |
//! | `watches` | which directories the system watches for it |
//! | `targets` | what is followed, and when to look at it again |
//! | `list` | the list of resources, and when to look at that |
//! | `backoff` | how often a list that goes on changing is told of |

mod backoff;
mod list;
mod targets;
mod watcher;
mod watches;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};

use self::watcher::Watcher;
use crate::features::resources::Fingerprint;
use crate::limits::{Limits, WatchMode};
use crate::root::hints::{Hints, Waker};
use crate::root::{RelPath, Root, WatchPath};
use crate::runtime::cancel::Cancel;

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// What a followed path leads to.
    Updated(RelPath),
    /// Which resources there are.
    ListChanged,
}

/// Why something is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowed {
    /// Too much is followed already.
    #[error("Too many subscriptions (limit: {0} in all); unsubscribe from another one first.")]
    TooMany(usize),
    /// The system has no thread for the watcher.
    #[error("The system has no thread to notice changes with; raise the server's limit of processes (ulimit -u).")]
    NoThread,
}

/// Whoever is told of changes.
type Tell = Box<dyn Fn(Change) + Send + Sync>;

/// The way to the watching thread, which begins with the first one who wants to know something.
pub struct Watch {
    root: Arc<Root>,
    limits: Limits,
    tell: Arc<OnceLock<Tell>>,
    /// How many are followed.
    followed: Arc<AtomicUsize>,
    /// The same, and those that the thread has not forgotten yet.
    known: Arc<AtomicUsize>,
    /// The list that the client was given last, be it before anybody watched.
    given: Mutex<Option<Fingerprint>>,
    cancel: Cancel,
    commands: Mutex<Option<Commands>>,
}

/// What the thread is told.
enum Command {
    Follow(WatchPath),
    Unfollow(RelPath),
    /// Somebody wants to hear of the list, and may have this one.
    WatchList(Option<Fingerprint>),
    /// One who wanted does not any more.
    UnwatchList,
    /// The client was given this list.
    Listed(Fingerprint),
}

#[derive(Clone)]
struct Commands {
    sender: Sender<Command>,
    waker: Waker,
    thread: Thread,
}

impl Watch {
    /// For `root`. Nothing is watched yet.
    pub fn new(root: Arc<Root>, limits: &Limits) -> Self {
        Self {
            root,
            limits: limits.clone(),
            tell: Arc::default(),
            followed: Arc::default(),
            known: Arc::default(),
            given: Mutex::default(),
            cancel: Cancel::default(),
            commands: Mutex::default(),
        }
    }

    /// Says who is to be told of changes; once, before anything is watched.
    pub fn connect(&self, tell: impl Fn(Change) + Send + Sync + 'static) {
        let _ = self.tell.set(Box::new(tell));
    }

    /// Whether changes are never noticed (`--watch off`).
    pub fn is_off(&self) -> bool {
        self.limits.watch.mode == WatchMode::Off
    }

    /// Follows what a path leads to, from what is known of it now.
    pub fn follow(&self, watched: WatchPath) -> Result<Followed, NotFollowed> {
        let most = self.limits.watch.followed;
        let commands = self.commands().ok_or(NotFollowed::NoThread)?;
        // What waits for a thread that hangs is bounded, too.
        if self.known.load(Ordering::Relaxed) >= 2 * most {
            return Err(NotFollowed::TooMany(most));
        }
        let room = |count: usize| (count < most).then_some(count + 1);
        let counted = self.followed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        counted.map_err(|_| NotFollowed::TooMany(most))?;
        let path = watched.path.clone();
        self.known.fetch_add(1, Ordering::Relaxed);
        commands.send(Command::Follow(watched));
        Ok(Followed { path, all: Arc::clone(&self.followed), commands })
    }

    /// Watches the list of resources.
    pub fn watch_list(&self) -> ListWatched {
        let commands = self.commands();
        let given = *self.given.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().inspect(|commands| commands.send(Command::WatchList(given)));
        ListWatched(commands)
    }

    /// The client was given this list: if it is another one than what the thread sees, there is something to tell.
    pub fn listed(&self, list: Fingerprint) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(list);
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_ref().inspect(|commands| commands.send(Command::Listed(list)));
    }

    /// The way to the thread, which is started where it does not run yet. `None` where that is impossible.
    fn commands(&self) -> Option<Commands> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if commands.is_none() {
            let hints = Hints::new(self.limits.watch.mode == WatchMode::Poll);
            let (sender, receiver) = mpsc::channel();
            let waker = hints.waker();
            let tell = Arc::clone(&self.tell);
            let tell = move |change| {
                if let Some(tell) = tell.get() {
                    tell(change);
                }
            };
            let (root, known, cancel) = (Arc::clone(&self.root), Arc::clone(&self.known), self.cancel.clone());
            let watcher = Watcher::new(root, &self.limits, hints, known, cancel, Box::new(tell));
            match thread::Builder::new().name("watch".to_owned()).spawn(move || watcher.run(&receiver)) {
                Ok(running) => *commands = Some(Commands { sender, waker, thread: running.thread().clone() }),
                Err(error) => tracing::error!("changes are not noticed: no thread for it: {error}"),
            }
        }
        commands.clone()
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
        // It fails when the thread has ended: with the server, or by a fault, which the log names.
        drop(self.sender.send(command));
        self.waker.wake(&self.thread);
    }
}

/// A path is followed as long as this lives.
pub struct Followed {
    path: RelPath,
    /// How many there are.
    all: Arc<AtomicUsize>,
    commands: Commands,
}

impl Followed {
    /// As it stands in [`Change::Updated`].
    pub fn path(&self) -> &RelPath {
        &self.path
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
        self.commands.send(Command::Unfollow(self.path.clone()));
    }
}

/// The list of resources is watched as long as this lives.
pub struct ListWatched(Option<Commands>);

impl ListWatched {
    /// Whether there is a thread that watches it.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for ListWatched {
    fn drop(&mut self) {
        self.0.as_ref().inspect(|commands| commands.send(Command::UnwatchList));
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("followed", &self.followed).finish_non_exhaustive()
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Followed").field(&self.path).finish()
    }
}

impl fmt::Debug for ListWatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListWatched").finish()
    }
}
