//! A file system that responds when the test lets it: it stands for a network disk whose server is gone.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry, ReplyOpen, ReplyStatfs, Request,
};

use super::remote_fs::attributes;
use crate::sandbox::skipped;
use crate::support::TIMEOUT;

/// Nothing is cached: each lookup is sent to the file system.
const TTL: Duration = Duration::ZERO;

/// The content of every file.
pub(super) const TEXT: &str = "from far away\n";

/// Its entries: a file and a directory that respond at once, and others that wait.
const ENTRIES: [(u64, FileType, &str); 5] = [
    (2, FileType::RegularFile, "fine.txt"),
    (3, FileType::RegularFile, "stuck.txt"),
    (4, FileType::Directory, "fine"),
    (5, FileType::Directory, "stuck"),
    (LARGE, FileType::RegularFile, "large.txt"),
];

/// One that waits, and claims to be large.
const LARGE: u64 = 6;

/// A mounted file system, until it is dropped; by then nobody may use it.
#[derive(Debug)]
pub(super) struct Hanging {
    gate: Arc<Gate>,
    _session: BackgroundSession,
}

impl Hanging {
    /// Mounts it on a directory. `None`, with a notice, if that is not permitted.
    pub(super) fn mount(at: &Path) -> Option<Self> {
        let gate = Arc::<Gate>::default();
        match fuser::spawn_mount(Far(Arc::clone(&gate)), at, &Config::default()) {
            Ok(session) => Some(Self { gate, _session: session }),
            Err(error) => {
                skipped("a file system that does not answer", &format!("FUSE cannot be mounted: {error}"));
                None
            }
        }
    }

    /// Waits until `stuck` operations are stuck.
    pub(super) fn wait_for(&self, stuck: usize) {
        let (waiting, changed) = (self.gate.lock(), &self.gate.changed);
        let too_few = |waiting: &mut Waiting| waiting.replies.len() < stuck;
        let (waiting, waited) = changed.wait_timeout_while(waiting, TIMEOUT, too_few).expect("no panic");
        let found = waiting.replies.len();
        drop(waiting);
        assert!(!waited.timed_out(), "only {found} are stuck");
    }

    /// Answers the next `times` lookups with ESTALE, as a file server does after a change.
    pub(super) fn be_stale(&self, times: usize) {
        self.gate.stale.store(times, Ordering::SeqCst);
    }

    /// Answers everything that waits, and from now on at once.
    pub(super) fn release(&self) {
        let mut waiting = self.gate.lock();
        waiting.is_open = true;
        waiting.replies.drain(..).for_each(Reply::answer);
    }
}

#[derive(Debug, Default)]
struct Gate {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// How many lookups will fail.
    stale: AtomicUsize,
}

#[derive(Debug, Default)]
struct Waiting {
    is_open: bool,
    replies: Vec<Reply>,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers now, or when the gate is opened.
    fn pass(&self, reply: Reply) {
        let mut waiting = self.lock();
        if waiting.is_open {
            reply.answer();
        } else {
            waiting.replies.push(reply);
            self.changed.notify_all();
        }
    }
}

#[derive(Debug)]
enum Reply {
    Data(ReplyData, u64),
    Directory(ReplyDirectory),
}

impl Reply {
    fn answer(self) {
        match self {
            Self::Data(reply, offset) => reply.data(TEXT.as_bytes().get(offset as usize..).unwrap_or_default()),
            Self::Directory(reply) => reply.ok(),
        }
    }
}

struct Far(Arc<Gate>);

fn far(number: u64, kind: FileType) -> FileAttr {
    let size = match (number, kind) {
        (LARGE, _) => 2 << 20,
        (_, FileType::RegularFile) => TEXT.len() as u64,
        _ => 0,
    };
    attributes(number, kind, size)
}

impl Filesystem for Far {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match ENTRIES.iter().find(|(.., entry)| parent == INodeNo::ROOT && *entry == name) {
            Some((number, kind, _)) => reply.entry(&TTL, &far(*number, *kind), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let entry = ENTRIES.iter().find(|(entry, ..)| number == INodeNo(*entry));
        reply.attr(&TTL, &far(number.0, entry.map_or(FileType::Directory, |(_, kind, _)| *kind)));
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let one_less = |left: usize| left.checked_sub(1);
        match self.0.stale.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Ok(_) => reply.error(Errno::ESTALE),
            Err(_) => reply.statfs(0, 0, 0, 0, 0, 512, 255, 0),
        }
    }

    /// Each read is sent to the file system, and none waits for the page of another.
    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        _: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let reply = Reply::Data(reply, offset);
        if [INodeNo(3), INodeNo(LARGE)].contains(&number) { self.0.pass(reply) } else { reply.answer() }
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if number == INodeNo(5) {
            return self.0.pass(Reply::Directory(reply));
        }
        let entries = ENTRIES.iter().enumerate().skip(offset as usize).filter(|_| number == INodeNo::ROOT);
        for (at, (number, kind, name)) in entries {
            if reply.add(INodeNo(*number), at as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
