//! A file system over a network, in memory: it counts the operations that reach it, may delay each of them, and can be
//! changed as if by another machine, of which the kernel hears nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, Request,
};

/// How it behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour {
    /// How long the kernel may cache names and attributes.
    pub(crate) ttl: Duration,
    /// How long each operation takes.
    pub(crate) delay: Duration,
}

/// A mounted file system, until it is dropped.
#[derive(Debug)]
pub(crate) struct RemoteFs {
    shared: Arc<Shared>,
    _session: BackgroundSession,
}

#[derive(Debug)]
struct Shared {
    behaviour: Behaviour,
    /// By number, minus one.
    nodes: Mutex<Vec<Node>>,
    counts: Mutex<BTreeMap<&'static str, usize>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

#[derive(Clone, Debug)]
struct Node {
    parent: u64,
    name: String,
    /// `None` for a directory.
    content: Option<String>,
}

impl RemoteFs {
    /// Mounts it with these files, whose directories come before them.
    pub(crate) fn mount(at: &Path, files: &[(String, String)], behaviour: Behaviour) -> io::Result<Self> {
        let root = Node { parent: 1, name: String::new(), content: None };
        let shared = Arc::new(Shared {
            behaviour,
            nodes: Mutex::new(vec![root]),
            counts: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        });
        for (path, content) in files {
            shared.add(path, content);
        }
        let mut config = Config::default();
        config.n_threads = Some(32);
        config.clone_fd = true;
        let session = fuser::spawn_mount(Handler(Arc::clone(&shared)), at, &config)?;
        Ok(Self { shared, _session: session })
    }

    /// Creates or replaces a file, as if on another machine.
    pub(crate) fn add(&self, path: &str, content: &str) {
        self.shared.add(path, content);
    }

    /// The operations since the last call, and how many were in flight at once.
    pub(crate) fn take_counts(&self) -> (BTreeMap<&'static str, usize>, usize) {
        let counts = std::mem::take(&mut *lock(&self.shared.counts));
        (counts, self.shared.most_in_flight.swap(0, Ordering::SeqCst))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn add(&self, path: &str, content: &str) {
        let mut nodes = lock(&self.nodes);
        let mut parent = 1;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let content = names.peek().is_none().then(|| content.to_owned());
            let found = nodes.iter().position(|node| node.parent == parent && node.name == name);
            let at = found.unwrap_or_else(|| {
                nodes.push(Node { parent, name: name.to_owned(), content: content.clone() });
                nodes.len() - 1
            });
            nodes[at].content = content;
            parent = at as u64 + 1;
        }
    }

    /// Counts an operation, and takes as long as each does.
    fn work(&self, operation: &'static str) -> Counted<'_> {
        *lock(&self.counts).entry(operation).or_default() += 1;
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        // It is the time that the operation takes, and nothing waits for it but its caller.
        #[allow(clippy::disallowed_methods, reason = "the network that this stands for")]
        std::thread::sleep(self.behaviour.delay);
        Counted(&self.in_flight)
    }

    fn node(&self, number: INodeNo) -> Option<Node> {
        lock(&self.nodes).get(number.0 as usize - 1).cloned()
    }
}

fn of_node(number: u64, node: &Node) -> FileAttr {
    match &node.content {
        Some(content) => attributes(number, FileType::RegularFile, content.len() as u64),
        None => attributes(number, FileType::Directory, 0),
    }
}

/// What a file system of these tests says of an entry.
pub(crate) fn attributes(number: u64, kind: FileType, size: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: 1,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm: 0o755,
        nlink: 1,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        rdev: 0,
        blksize: 512,
        flags: 0,
    }
}

struct Counted<'s>(&'s AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Handler(Arc<Shared>);

impl Filesystem for Handler {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_DO_READDIRPLUS | InitFlags::FUSE_READDIRPLUS_AUTO;
        config.add_capabilities(wanted).map_err(|_| io::Error::other("no readdirplus"))
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let _counted = self.0.work("lookup");
        let nodes = lock(&self.0.nodes).clone();
        match nodes.iter().position(|node| node.parent == parent.0 && *node.name == *name && !node.name.is_empty()) {
            Some(at) => {
                let attributes = of_node(at as u64 + 1, &nodes[at]);
                reply.entry(&self.0.behaviour.ttl, &attributes, Generation(0));
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let _counted = self.0.work("getattr");
        match self.0.node(number) {
            Some(node) => reply.attr(&self.0.behaviour.ttl, &of_node(number.0, &node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let _counted = self.0.work("statfs");
        reply.statfs(0, 0, 0, 0, 0, 512, 255, 0);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let _counted = self.0.work("open");
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let _counted = self.0.work("read");
        let content = self.0.node(number).and_then(|node| node.content).unwrap_or_default();
        let rest = content.as_bytes().get(offset as usize..).unwrap_or_default();
        reply.data(&rest[..rest.len().min(size as usize)]);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        let _counted = self.0.work("flush");
        reply.error(Errno::ENOSYS);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let _counted = self.0.work("opendir");
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let _counted = self.0.work("readdir");
        let nodes = lock(&self.0.nodes).clone();
        for (at, node) in nodes.iter().enumerate().skip(offset as usize).filter(|(at, _)| *at > 0) {
            let kind = of_node(0, node).kind;
            if node.parent == number.0 && reply.add(INodeNo(at as u64 + 1), at as u64 + 1, kind, &node.name) {
                break;
            }
        }
        reply.ok();
    }

    fn readdirplus(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectoryPlus) {
        let _counted = self.0.work("readdirplus");
        let (nodes, ttl) = (lock(&self.0.nodes).clone(), self.0.behaviour.ttl);
        for (at, node) in nodes.iter().enumerate().skip(offset as usize).filter(|(at, _)| *at > 0) {
            let (own, attributes) = (at as u64 + 1, of_node(at as u64 + 1, node));
            if node.parent == number.0 && reply.add(INodeNo(own), own, &node.name, &ttl, &attributes, Generation(0)) {
                break;
            }
        }
        reply.ok();
    }
}
