//! The real program, as a client starts it: over pipes, or over the sockets that Node clients use.
//!
//! Threads write to it, read from it and wait for it, so that nothing a program does or leaves undone can block a test
//! for longer than [`TIMEOUT`].

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
#[cfg(target_os = "linux")]
use std::time::Duration;

use serde_json::Value;

use super::TIMEOUT;
use super::client::{Client, Talk, without_stream_ends};

/// A running program. When it is dropped, its input ends; it must then send nothing except the ends of streams, and
/// exit with 0.
#[derive(Debug)]
pub(crate) struct Process {
    talk: Talk,
    pid: u32,
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    status: Receiver<ExitStatus>,
    waited: bool,
}

/// How a program has ended.
#[derive(Debug)]
pub(crate) struct Exit {
    /// Its exit code or signal.
    pub(crate) status: ExitStatus,
    /// The messages that the test has not read.
    pub(crate) rest: Vec<Value>,
    /// Everything it wrote to stderr.
    pub(crate) stderr: String,
}

/// The program with arguments, and its input and outputs piped: to be modified and then passed to [`Process::start`].
/// It runs where cargo runs tests: at the top of the repository.
pub(crate) fn command(args: impl IntoIterator<Item: AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-fs"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("MCP_FS_LOG");
    command.env_remove("MCP_FS_ALLOW_WRITE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program on some input to its end: `printf INPUT | mcp-fs ARGS`.
pub(crate) fn run(args: impl IntoIterator<Item: AsRef<OsStr>>, stdin: impl AsRef<[u8]>) -> Output {
    let mut process = Process::start(command(args));
    process.write(stdin.as_ref());
    process.close_stdin();
    let mut stdout = Vec::new();
    while let Some(line) = process.read() {
        stdout.extend(line);
    }
    let (status, stderr) = process.ended();
    Output { status, stdout, stderr }
}

/// stderr without the line with which every server begins, which has its own tests.
pub(crate) fn without_notice(stderr: Vec<u8>) -> Vec<u8> {
    let line = stderr.iter().position(|byte| *byte == b'\n').map_or(stderr.len(), |end| end + 1);
    if stderr.starts_with(b"mcp-fs: serving ") { stderr[line..].to_vec() } else { stderr }
}

/// Handles a line that was read; returns `false` if the next one is not wanted.
trait Take: Fn(Vec<u8>) -> bool + Send + 'static {}

impl<T: Fn(Vec<u8>) -> bool + Send + 'static> Take for T {}

/// Everything that the program writes is read at once, whenever the test gets to it.
fn read_at_once() -> (impl Take, Receiver<Vec<u8>>) {
    let (line, lines) = mpsc::channel();
    (move |read| line.send(read).is_ok(), lines)
}

impl Process {
    /// Starts it on pipes, like Python clients.
    pub(crate) fn spawn(args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        Self::start(command(args))
    }

    /// Starts it on three socket pairs, like Node clients.
    #[cfg(unix)]
    pub(crate) fn spawn_on_sockets(args: impl IntoIterator<Item: AsRef<OsStr>>) -> Self {
        use std::os::fd::OwnedFd;
        use std::os::unix::net::UnixStream;
        let [stdin, stdout, stderr] = std::array::from_fn(|_| UnixStream::pair().expect("sockets"));
        let mut command = command(args);
        command.stdin(OwnedFd::from(stdin.0)).stdout(OwnedFd::from(stdout.0)).stderr(OwnedFd::from(stderr.0));
        let child = command.spawn().expect("mcp-fs starts");
        // It holds our copies of the child's ends: while they are open, the output would never end.
        drop(command);
        Self::over(child, stdin.1, stdout.1, stderr.1, read_at_once())
    }

    /// Starts a [`command`] that was modified: another directory, environment, or wrapper.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_with(command, read_at_once())
    }

    /// The same for a client that reads the output only when it wants to, line by line.
    pub(crate) fn start_unread(command: Command) -> Self {
        let (line, lines) = mpsc::sync_channel(0);
        Self::start_with(command, (move |read| line.send(read).is_ok(), lines))
    }

    fn start_with(mut command: Command, reading: (impl Take, Receiver<Vec<u8>>)) -> Self {
        let mut child = command.spawn().expect("mcp-fs starts");
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        Self::over(child, stdin, stdout, stderr, reading)
    }

    fn over(
        mut child: Child,
        mut stdin: impl Write + Send + 'static,
        stdout: impl Read + Send + 'static,
        mut stderr: impl Read + Send + 'static,
        (take, lines): (impl Take, Receiver<Vec<u8>>),
    ) -> Self {
        let pid = child.id();
        let (input, to_write) = mpsc::channel::<Vec<u8>>();
        // Ends, and closes stdin, with the sender; or with the program, whose end the test notices by its output.
        thread::spawn(move || {
            to_write.iter().try_for_each(|bytes| stdin.write_all(&bytes).and_then(|()| stdin.flush()))
        });
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while stdout.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
                if !take(std::mem::take(&mut bytes)) {
                    return;
                }
            }
        });
        let (all, stderr_read) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            let _ = all.send(bytes);
        });
        let (exited, status) = mpsc::channel();
        thread::spawn(move || child.wait().map(|status| exited.send(status)));
        Self { talk: Talk::default(), pid, input: Some(input), lines, stderr: stderr_read, status, waited: false }
    }

    /// Ends its input.
    pub(crate) fn close_stdin(&mut self) {
        self.talk.conversation.sent_end();
        self.input = None;
    }

    /// Waits for it to end, which must have been caused before, by [`Self::close_stdin`] or [`Self::signal`].
    pub(crate) fn wait(mut self) -> Exit {
        self.end()
    }

    /// Ends its input and waits. It must send nothing more, and exit with 0 and every request answered. Returns what it
    /// wrote to stderr.
    pub(crate) fn finish(mut self) -> String {
        self.end_well()
    }

    /// It must not send anything for this long: for cases in which that is the promise, and nothing can be awaited.
    #[cfg(target_os = "linux")]
    pub(crate) fn says_nothing_for(&mut self, time: Duration) {
        let said = self.lines.recv_timeout(time);
        assert_eq!(said, Err(RecvTimeoutError::Timeout), "silence was expected");
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// A file below `/proc/PID`.
    pub(crate) fn proc(&self, path: impl AsRef<Path>) -> std::path::PathBuf {
        Path::new("/proc").join(self.pid.to_string()).join(path)
    }

    /// Its peak memory, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(self.proc("status")).expect("/proc/PID/status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
        peak.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// How many descriptors it has open.
    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(self.proc("fd")).expect("/proc/PID/fd").count()
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.unix_pid(), signal).expect("a signal");
    }

    #[cfg(unix)]
    fn unix_pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_raw(self.pid.cast_signed()).expect("a process id")
    }

    /// Kills it, if it is still running.
    fn kill(&self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process(self.unix_pid(), rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ = Command::new("taskkill").args(["/F", "/PID", &self.pid.to_string()]).output();
    }

    fn give_up(&self, why: &str) -> ! {
        self.kill();
        panic!("{why} in {TIMEOUT:?}");
    }

    fn end(&mut self) -> Exit {
        let rest = self.rest();
        let (status, stderr) = self.ended();
        Exit { status, rest, stderr: String::from_utf8(stderr).expect("stderr is UTF-8") }
    }

    fn end_well(&mut self) -> String {
        self.close_stdin();
        let exit = self.end();
        let unread = without_stream_ends(exit.rest);
        assert!(unread.is_empty(), "the test did not read {unread:?}");
        assert!(exit.status.success(), "{}: {}", exit.status, exit.stderr);
        self.talk.conversation.check_all_answered();
        exit.stderr
    }

    fn ended(&mut self) -> (ExitStatus, Vec<u8>) {
        let status = self.status.recv_timeout(TIMEOUT).unwrap_or_else(|_| self.give_up("the program did not end"));
        self.waited = true;
        (status, without_notice(self.stderr.recv_timeout(TIMEOUT).expect("its stderr did not end")))
    }
}

impl Client for Process {
    fn talk(&mut self) -> &mut Talk {
        &mut self.talk
    }

    fn write(&mut self, bytes: &[u8]) {
        // A program that has ended is noticed when its output is read.
        let _ = self.input.as_ref().expect("the input was ended").send(bytes.to_owned());
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.give_up("the program said nothing"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.waited {
            return;
        }
        if !thread::panicking() {
            self.end_well();
            return;
        }
        if self.status.try_recv().is_err() {
            self.kill();
        }
        if let Ok(stderr) = self.stderr.recv_timeout(TIMEOUT) {
            eprintln!("---- its stderr ----\n{}", String::from_utf8_lossy(&stderr));
        }
    }
}
