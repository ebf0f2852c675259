//! The server in this process, over in-memory streams: as fast as a function call, and with injected work.
//!
//! It runs in a thread of its own, with a runtime like the program's. The streams hold [`Builder::buffer`] bytes and
//! nothing reads ahead, so a test that does not read is a client that does not read.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use mcp_fs::call::{Call, Failure, Outcome};
use mcp_fs::limits::Limits;
use mcp_fs::root::{Deny, Protect, RelPath, Root};
use mcp_fs::runtime::pool::Pool;
use mcp_fs::server::Server;
use mcp_fs::services::context::Context;
use mcp_fs::transport::stdio;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::client::{Client, Talk, without_stream_ends};
use super::{NEVER, TIMEOUT, Tree};

/// A running server. When it is dropped, it must send nothing except the ends of streams: see [`TestServer::close`].
#[derive(Debug)]
pub(crate) struct TestServer {
    talk: Talk,
    runtime: Runtime,
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    thread: Option<JoinHandle<()>>,
    ended: mpsc::Receiver<io::Result<()>>,
}

type Dispatch = Box<dyn Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync>;

/// A server that is not started yet.
pub(crate) struct Builder {
    root: PathBuf,
    limits: Limits,
    deny: Vec<String>,
    default_deny: bool,
    protect: Vec<String>,
    default_protect: bool,
    allow_write: bool,
    prompts: Option<String>,
    dispatch: Option<Dispatch>,
    buffer: usize,
    threads: Option<usize>,
}

impl TestServer {
    /// Serves a tree with all defaults except those of time. Nothing has been sent yet.
    pub(crate) fn start(tree: &Tree) -> Self {
        Self::builder(tree).start()
    }

    /// A builder for a server that differs from the default.
    pub(crate) fn builder(tree: &Tree) -> Builder {
        let root = tree.path().to_owned();
        // On a busy machine, a healthy search or read can take longer than the defaults allow.
        let limits = Limits { search_time: NEVER, io_time: NEVER, ..Limits::default() };
        Builder {
            root,
            limits,
            deny: Vec::new(),
            default_deny: true,
            protect: Vec::new(),
            default_protect: true,
            allow_write: false,
            prompts: None,
            dispatch: None,
            buffer: 64 << 10,
            threads: None,
        }
    }

    /// Ends the input, and returns all messages that the test has not read. The server must end without an error and
    /// with every request answered.
    pub(crate) fn close(mut self) -> Vec<Value> {
        self.end()
    }

    /// Ends the input; what is still sent can be received.
    pub(crate) fn end_input(&mut self) {
        self.talk.conversation.sent_end();
        self.input = None;
    }

    fn end(&mut self) -> Vec<Value> {
        self.end_input();
        let rest = self.rest();
        let ended = self.ended.recv_timeout(TIMEOUT);
        if !matches!(ended, Err(mpsc::RecvTimeoutError::Timeout)) {
            // Its panic, if any, was printed where it happened.
            let thread = self.thread.take().expect("closed once");
            thread.join().expect("the server panicked");
        }
        ended.expect("the server goes on after the end of its input").expect("the server failed");
        self.talk.conversation.check_all_answered();
        rest
    }
}

impl Client for TestServer {
    fn talk(&mut self) -> &mut Talk {
        &mut self.talk
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input was ended");
        let write = async { timeout(TIMEOUT, input.write_all(bytes)).await };
        self.runtime.block_on(write).expect("the server does not read").expect("the server has ended");
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = async { timeout(TIMEOUT, self.output.read_until(b'\n', &mut line)).await };
        self.runtime.block_on(read).expect("the server says nothing").expect("in-memory streams do not fail");
        Some(line).filter(|line| !line.is_empty())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if !thread::panicking() && self.thread.is_some() {
            let unread = without_stream_ends(self.end());
            assert!(unread.is_empty(), "the test did not read {unread:?}");
        }
    }
}

impl Builder {
    /// Serves another path than that of the tree, such as a link to it.
    pub(crate) fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.root = path.into();
        self
    }

    /// Changes limits: `.limits(|limits| limits.page = 3)`.
    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Denies names in addition to the defaults.
    pub(crate) fn deny(mut self, pattern: &str) -> Self {
        self.deny.push(pattern.to_owned());
        self
    }

    /// Disables the default deny patterns.
    pub(crate) fn no_default_deny(mut self) -> Self {
        self.default_deny = false;
        self
    }

    /// Protects names in addition to the defaults.
    pub(crate) fn protect(mut self, pattern: &str) -> Self {
        self.protect.push(pattern.to_owned());
        self
    }

    /// Disables the default protected names.
    pub(crate) fn no_default_protect(mut self) -> Self {
        self.default_protect = false;
        self
    }

    /// Lets the client change the tree.
    pub(crate) fn allow_write(mut self) -> Self {
        self.allow_write = true;
        self
    }

    /// Serves the files below a directory as prompts.
    pub(crate) fn prompts(mut self, folder: &str) -> Self {
        self.prompts = Some(folder.to_owned());
        self
    }

    /// Replaces [`mcp_fs::features::dispatch::dispatch`], for example by slow or failing work.
    pub(crate) fn dispatch(
        mut self,
        dispatch: impl Fn(&Call, &Context) -> Result<Outcome, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.dispatch = Some(Box::new(dispatch));
        self
    }

    /// How many bytes can be in transit in each direction before the writer has to wait.
    pub(crate) fn buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// As if the system had no more threads than these for its work.
    pub(crate) fn threads(mut self, most: usize) -> Self {
        self.threads = Some(most);
        self
    }

    /// Starts it, with one client.
    pub(crate) fn start(self) -> TestServer {
        let [client] = self.start_shared();
        client
    }

    /// Starts it with several clients, which share nothing but the server.
    pub(crate) fn start_shared<const CLIENTS: usize>(self) -> [TestServer; CLIENTS] {
        let buffer = self.buffer;
        let server = Arc::new(self.server());
        [(); CLIENTS].map(|()| connect(Arc::clone(&server), buffer))
    }

    fn server(self) -> Server {
        let deny = Deny::new(&self.deny, self.default_deny).expect("patterns");
        let root = Root::open(&self.root, deny).expect("a root");
        let mut server = Server::new(root, self.limits);
        let prompts = self.prompts.map(|folder| RelPath::from_bytes(folder.as_bytes()));
        if let Some(folder) = &prompts {
            server = server.with_prompts(folder.clone());
        }
        if self.allow_write {
            let mut protect = Protect::new(&self.protect, self.default_protect).expect("patterns");
            if let Some(folder) = &prompts {
                protect = protect.with_prompts(folder).expect("a pattern");
            }
            server = server.allow_write(protect, true);
        }
        if let Some(dispatch) = self.dispatch {
            server = server.with_dispatch(dispatch);
        }
        if let Some(most) = self.threads {
            server = server.with_pool(Arc::new(Pool::new(most)));
        }
        server
    }
}

/// Connects another client to a server.
fn connect(server: Arc<Server>, buffer: usize) -> TestServer {
    let (input, server_input) = tokio::io::duplex(buffer);
    let (output, server_output) = tokio::io::duplex(buffer);
    let (end, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = runtime();
        let served = stdio::serve(server, server_input, server_output, std::future::pending());
        let _ = end.send(runtime.block_on(served));
        // Work that the server has given up must not delay the test.
        runtime.shutdown_background();
    });
    TestServer {
        talk: Talk::default(),
        runtime: runtime(),
        input: Some(input),
        output: BufReader::new(output),
        thread: Some(thread),
        ended,
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
