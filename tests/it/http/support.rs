//! The program with `--http`, and clients that write their bytes by hand: what HTTP libraries hide is what is tested.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::requests::{Request, initialize, post};

use crate::support::{TIMEOUT, Tree, command};

pub(crate) const TOKEN: &str = "the-token-of-the-tests";

/// A server with a tree of its own. When dropped, it is told to end, and must end well.
#[derive(Debug)]
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) tree: Tree,
    stderr: Mutex<Receiver<String>>,
    ended: bool,
}

impl HttpServer {
    pub(crate) fn start(tree: Tree) -> Self {
        Self::with(tree, &[])
    }

    pub(crate) fn with(tree: Tree, options: &[&str]) -> Self {
        let mut command = http_command("127.0.0.1:0", &tree, options);
        let mut child = command.spawn().expect("the program starts");
        let stderr = lines(&mut child);
        let address = loop {
            let line = stderr.recv_timeout(TIMEOUT).expect("it says where it listens");
            if let Some((_, rest)) = line.split_once("listening on http://") {
                break rest.trim_end_matches("/mcp").parse().expect("an address");
            }
        };
        Self { child, address, tree, stderr: Mutex::new(stderr), ended: false }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line on stderr that contains `text`.
    pub(crate) fn line_with(&self, text: &str) -> String {
        let stderr = self.stderr.lock().expect("no other test reads it");
        loop {
            let line = stderr.recv_timeout(TIMEOUT).expect("it is said");
            if line.contains(text) {
                return line;
            }
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// Sends one request on a new connection.
    pub(crate) fn ask(&self, request: &Request) -> Reply {
        let mut connection = self.connect();
        connection.send(request);
        connection.reply()
    }

    /// Begins a session of a revision, and returns its id.
    pub(crate) fn session(&self, revision: &str) -> String {
        let reply = self.ask(&initialize(revision));
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = reply.header("mcp-session-id").expect("a session id").to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.ask(&post(&initialized).session(&session)).status, 202);
        session
    }

    /// Tells it to end, and waits until it has.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.terminate();
        self.wait()
    }

    pub(crate) fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.ended = true;
        self.child.wait().expect("it ends")
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if !self.ended {
            self.terminate();
            let status = self.wait();
            assert!(thread::panicking() || status.success(), "it ended with {status}");
        }
    }
}

/// The program serving `tree` over HTTP with the token of the tests.
pub(crate) fn http_command(at: &str, tree: &Tree, options: &[&str]) -> Command {
    let mut command = command(["--http", at]);
    command.args(options).arg(tree.path()).env("MCP_FS_TOKEN", TOKEN);
    if options.contains(&"--no-token") {
        command.env_remove("MCP_FS_TOKEN");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).env("MCP_FS_LOG", "debug");
    command
}

pub(crate) fn lines(child: &mut Child) -> Receiver<String> {
    let (said, lines) = channel();
    let stderr = child.stderr.take().expect("it is piped");
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if said.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// One TCP connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    /// Text of a chunk that has not been read as an event yet.
    events: String,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of its error.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The messages of a complete event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).expect("text");
        text.split("\n\n").filter_map(event).collect()
    }
}

/// The message of an event; `None` for a comment.
fn event(text: &str) -> Option<Value> {
    let data = text.lines().find_map(|line| line.strip_prefix("data: "))?;
    assert!(!text.contains("\nid:") && !text.starts_with("id:"), "an id, but nothing is resumed: {text}");
    Some(serde_json::from_str(data).expect("JSON"))
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        Self { stream: BufReader::new(stream), events: String::new() }
    }

    pub(crate) fn send(&mut self, request: &Request) {
        self.write(request.bytes());
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have rejected the request and closed the connection before all was written.
        let _ = self.stream.get_mut().write_all(bytes.as_ref());
    }

    pub(crate) fn end_input(&mut self) {
        self.stream.get_mut().shutdown(Shutdown::Write).expect("a socket");
    }

    /// The next response as a whole.
    pub(crate) fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        if let Some(length) = reply.header("content-length") {
            reply.body = vec![0; length.parse().expect("a number")];
            self.stream.read_exact(&mut reply.body).expect("the whole body");
        } else if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                reply.body.extend(chunk);
            }
        }
        reply
    }

    /// The status and the headers of the next response.
    pub(crate) fn head(&mut self) -> Reply {
        let status = self.line();
        let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut reply = Reply {
            status: code.unwrap_or_else(|| panic!("no status: {status:?}")),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            reply.headers.push((name.to_owned(), value.to_owned()));
        }
        let cross = reply.headers.iter().find(|(name, _)| name.to_ascii_lowercase().starts_with("access-control"));
        assert!(cross.is_none(), "a header for other origins: {reply:?}");
        reply
    }

    /// The next message of an event stream; `None` at its end.
    pub(crate) fn event(&mut self) -> Option<Value> {
        loop {
            if let Some((first, rest)) = self.events.split_once("\n\n") {
                let (first, rest) = (first.to_owned(), rest.to_owned());
                self.events = rest;
                if let Some(message) = event(&first) {
                    return Some(message);
                }
                continue;
            }
            let chunk = self.chunk()?;
            self.events.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    }

    fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.line();
        let size = usize::from_str_radix(&size, 16).unwrap_or_else(|_| panic!("no chunk: {size:?}"));
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).expect("a whole chunk");
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line in time");
        line.trim_end().to_owned()
    }

    /// Everything until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("it stays open: {error}"),
            _ => String::from_utf8_lossy(&rest).into_owned(),
        }
    }
}

/// The current memory of a process, in bytes.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") << 10
}

/// A tree that takes a while to search.
pub(crate) fn wide_tree() -> Tree {
    (0..8).fold(Tree::new(), |tree, n| tree.file(format!("{n}.txt"), "xxxxxxxxxxxxxxxxxxxxxxxxxxx ".repeat(200_000)))
}
