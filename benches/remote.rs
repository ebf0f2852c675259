//! Calls on a file system whose every operation takes 5 ms, beside `find` and `rg -j16` on the same one, in one run.
//! Needs Linux, FUSE, `find` and, for the last row, `rg`.
//!
//!     cargo bench --bench remote

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program of its own that runs, times and reports; nothing of it is in the server"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/it/slow/remote_fs.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod remote_fs;

#[cfg(target_os = "linux")]
fn main() {
    linux::run();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: needs Linux and FUSE");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{BufRead, BufReader, Write};
    use std::path::Path;
    use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use crate::remote_fs::{Behaviour, RemoteFs};

    const DIRECTORIES: usize = 61;
    const FILES: usize = 1_005;
    /// As long as most network file systems let the kernel cache what they told it.
    const TTL: Duration = Duration::from_secs(1);
    const DELAY: Duration = Duration::from_millis(5);
    const ROUNDS: usize = 3;

    pub(crate) fn run() {
        let at = tempfile::tempdir().expect("a temporary directory");
        let file = |n: usize| (format!("d{:02}/f{n:04}.txt", n % DIRECTORIES), format!("line\nneedle {n}\n"));
        let files: Vec<_> = (0..FILES).map(file).collect();
        let behaviour = Behaviour { ttl: TTL, delay: DELAY };
        let _remote = match RemoteFs::mount(at.path(), &files, behaviour) {
            Ok(remote) => remote,
            Err(error) => return println!("SKIPPED: FUSE cannot be mounted: {error}"),
        };
        let mut server = Server::start(at.path());
        let shell = |line: &str| format!("{line} {}", at.path().display());
        let rows: [(&str, String, &str, Value); 4] = [
            ("resources/list", shell("find -H"), "resources/list", json!({})),
            ("search_files", shell("find -H"), "search_files", json!({"pattern": "f00*.txt"})),
            ("directory_tree", shell("find -H"), "directory_tree", json!({})),
            (
                "search_text",
                shell("rg -j16 -uuu -c needle"),
                "search_text",
                json!({"query": "needle", "limit": 2_000, "filesOnly": true}),
            ),
        ];
        for (name, command, method, arguments) in rows {
            let command = if name == "resources/list" { format!("{command} -ls") } else { command };
            let other = median(|| time(|| shell_out(&command)));
            let own = median(|| time(|| server.call(method, &arguments)));
            let Some(other) = other.filter(|_| is_there(&command)) else {
                println!("{name}: {own:?}; SKIPPED: `{command}` is not there");
                continue;
            };
            let own = own.expect("it was called");
            let tool = command.split(" -").next().unwrap_or_default();
            println!("{name}: {own:.2?}; {tool} {other:.2?}; ratio {:.2}", own.as_secs_f64() / other.as_secs_f64());
        }
    }

    fn is_there(command: &str) -> bool {
        let program = command.split(' ').next().unwrap_or_default();
        Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
    }

    fn shell_out(command: &str) {
        let _ = Command::new("sh").args(["-c", command]).stdout(Stdio::null()).status();
    }

    fn time(work: impl FnOnce()) -> Duration {
        // What the kernel has cached of the last run is forgotten.
        std::thread::sleep(TTL + Duration::from_millis(100));
        let began = Instant::now();
        work();
        began.elapsed()
    }

    fn median(mut measure: impl FnMut() -> Duration) -> Option<Duration> {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| measure()).collect();
        times.sort_unstable();
        times.get(ROUNDS / 2).copied()
    }

    struct Server {
        child: Child,
        stdin: ChildStdin,
        stdout: BufReader<ChildStdout>,
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    impl Server {
        fn start(at: &Path) -> Self {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-fs"));
            command.arg("--watch=off").arg("--max-output-bytes=1000000").arg("--page-size=5000").arg(at);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program");
            let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
            Self { child, stdin, stdout: BufReader::new(stdout) }
        }

        /// Calls a method, or a tool, in the modern era.
        fn call(&mut self, name: &str, arguments: &Value) {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let (method, params) = if name.contains('/') {
                (name, json!({"_meta": meta}))
            } else {
                ("tools/call", json!({"name": name, "arguments": arguments, "_meta": meta}))
            };
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            writeln!(self.stdin, "{request}").expect("it reads");
            let mut answer = String::new();
            self.stdout.read_line(&mut answer).expect("it answers");
            assert!(answer.contains("\"result\"") && !answer.contains("\"isError\":true"), "{answer:.300}");
        }
    }
}
