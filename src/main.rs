//! The program: parses arguments, opens the root and the transport, locks the process in, and runs [`mcp_fs::server`]
//! until the input ends.
//!
//! The order matters. Everything outside the directory is opened before the kernel locks the process in, and every
//! thread starts afterwards: a thread that was already running would stay unconfined.

#![forbid(unsafe_code)]

use std::io::{self, IsTerminal as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use mcp_fs::cli::http::Door;
use mcp_fs::cli::{Cli, StartupError};
use mcp_fs::limits::Limits;
use mcp_fs::root::{Protect, RelPath, Root};
use mcp_fs::runtime::pool::Pool;
use mcp_fs::server::Server;
use mcp_fs::transport::http;
use mcp_fs::transport::http::listener::Listener;
use mcp_fs::transport::stdio::{self, streams};
use mcp_fs::{check, log};
use tokio::runtime::Runtime;
use tracing::level_filters::LevelFilter;

/// The input could not be read, or the output not written.
const FAILED: u8 = 1;
/// The arguments are wrong, or DIR cannot be served.
const UNUSABLE: u8 = 2;

/// tokio's threads: one for stdin and one for stdout, where they are needed.
const STREAMS: usize = 2;

/// Concurrent requests per HTTP client. The pool has room for this many clients at that rate, so one busy client leaves
/// threads for the others.
const IN_FLIGHT_OF_ONE: usize = 16;
const CLIENTS_AT_WORK: usize = 16;

/// Threads of a search on a remote file system, where they mostly wait.
const REMOTE_SEARCH_THREADS: usize = 16;

/// The maximum number of threads that answer HTTP clients. A small read takes a few microseconds.
const MOST_WORKERS: usize = 4;

/// More connections would take more memory than this server should.
const MOST_CONNECTIONS: usize = 2_048;

/// How long tokio keeps a thread for stdin or stdout: for ever, as the system may have no other to give later.
const KEPT: Duration = Duration::from_hours(24 * 365);

/// How long the system may take to start a thread.
const START: Duration = Duration::from_secs(3);

/// How long cancelled work may take to stop once everything else is done.
const LAST_MOMENT: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let cli = cli.with_allow_write(std::env::var_os("MCP_FS_ALLOW_WRITE").as_deref());
    match cli.and_then(|cli| start(&cli)) {
        Ok(code) => code,
        Err(StartupError(message)) => complain(&message),
    }
}

/// Prints the help or the version on stdout, and anything wrong with the arguments on stderr, on one line.
fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let what = text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: ");
    let what: Vec<_> = what.lines().map(str::trim).collect();
    complain(&format!("{}; see mcp-fs --help", what.join(" ")))
}

fn complain(message: &str) -> ExitCode {
    // If stderr is closed, there is nothing left to report to.
    let _ = writeln!(io::stderr(), "mcp-fs: {}", log::escaped(message));
    ExitCode::from(UNUSABLE)
}

fn start(cli: &Cli) -> Result<ExitCode, StartupError> {
    let level = cli.log_level()?;
    let protect = cli.protect()?;
    let mut root = cli.open_root()?;
    let prompts = cli.prompts(&root)?;
    let protect = match &prompts {
        Some(folder) => protect.with_prompts(folder).map_err(StartupError)?,
        None => protect,
    };
    let rules = Rules { protect, prompts };
    if cli.check {
        cli.enter_sandbox(&mut root)?;
        return Ok(print_check(cli, &root, &rules));
    }
    match cli.http.open(&root)? {
        Some(door) => start_http(cli, root, rules, door, level),
        None => start_stdio(cli, root, rules, level),
    }
}

/// What holds for names in DIR.
struct Rules {
    /// Those that are never changed.
    protect: Protect,
    /// The folder of the prompts.
    prompts: Option<RelPath>,
}

fn start_stdio(cli: &Cli, mut root: Root, rules: Rules, level: LevelFilter) -> Result<ExitCode, StartupError> {
    end_on_signals()?;
    let runtime = runtime()?;
    let streams = {
        let _within = runtime.enter();
        streams::open()
    };
    cli.enter_sandbox(&mut root)?;
    let level = if streams::stderr_is_stdout() { LevelFilter::OFF } else { level };
    // Through the log: a panic message must not corrupt a protocol message where stderr is stdout, and must not wait
    // for a full stderr.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let limits = limits(cli, &root);
    let pool = Arc::new(Pool::new(limits.in_flight + limits.left_behind));
    start_threads(&runtime, streams.threads, &pool)?;
    let log = (level > LevelFilter::OFF).then(|| log::start(level));
    if log.is_some() {
        log::notice(&check::summary(&root, cli.allow_write));
    }
    if io::stdin().is_terminal() && !streams::stderr_is_stdout() {
        log::notice("waiting for an MCP client on stdin; press Ctrl-D to stop, or run with --check.");
    }
    let code = serve(runtime, server(cli, root, rules, limits, &pool), streams, &pool);
    drop(log);
    Ok(code)
}

/// The limits that the options set. On a remote file system, more threads search by default.
fn limits(cli: &Cli, root: &Root) -> Limits {
    let mut limits = cli.limits();
    if cli.search_threads.is_none() && root.remote_file_system().is_some() {
        limits.search_threads = REMOTE_SEARCH_THREADS;
    }
    limits
}

fn server(cli: &Cli, root: Root, rules: Rules, limits: Limits, pool: &Arc<Pool>) -> Server {
    let server = Server::new(root, limits).with_pool(Arc::clone(pool));
    let server = match rules.prompts {
        Some(folder) => server.with_prompts(folder),
        None => server,
    };
    if cli.allow_write { server.allow_write(rules.protect, !cli.no_fsync) } else { server }
}

/// Serves over HTTP. The sockets are bound before the kernel sandbox, and all threads start after it.
fn start_http(
    cli: &Cli,
    mut root: Root,
    rules: Rules,
    door: Door,
    level: LevelFilter,
) -> Result<ExitCode, StartupError> {
    let mut limits = limits(cli, &root);
    limits.in_flight = limits.in_flight.min(IN_FLIGHT_OF_ONE);
    let workers = cli.limits().search_threads.min(MOST_WORKERS);
    if cli.search_threads.is_none() && root.remote_file_system().is_none() {
        // A search leaves one processor to other clients.
        limits.search_threads = (limits.search_threads - 1).max(1);
    }
    let connections = connections();
    cli.enter_sandbox(&mut root)?;
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let pool = Arc::new(Pool::new(CLIENTS_AT_WORK * limits.in_flight + limits.left_behind));
    let cannot = |error: io::Error| StartupError(format!("cannot start: {error}"));
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).max_blocking_threads(STREAMS).enable_all();
    let runtime = runtime.build().map_err(cannot)?;
    start_threads(&runtime, 0, &pool)?;
    let log = (level > LevelFilter::OFF).then(|| log::start(level));
    if log.is_some() {
        log::notice(&check::summary(&root, cli.allow_write));
    }
    let server = Arc::new(server(cli, root, rules, limits, &pool));
    let served = runtime.block_on(async {
        let listener = Listener::new(door.bound)?;
        let ended = end_signal()?;
        for notice in &door.notices {
            log::notice(notice);
        }
        http::serve(server, listener, door.access, connections, ended).await;
        Ok(())
    });
    pool.end(LAST_MOMENT);
    runtime.shutdown_background();
    drop(log);
    served.map(|()| ExitCode::SUCCESS).map_err(cannot)
}

/// How many connections may be open: half of the file descriptors that this process can get.
fn connections() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // If the limit cannot be raised, the current one holds.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
        let descriptors = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
        descriptors.map_or(MOST_CONNECTIONS, |most| MOST_CONNECTIONS.min(most / 2))
    }
    #[cfg(not(unix))]
    MOST_CONNECTIONS
}

/// Completes on the first signal to end. Further signals end the process at once.
#[cfg(unix)]
fn end_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn end_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// One thread, and more for stdin and stdout where they are needed.
fn runtime() -> Result<Runtime, StartupError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_all().max_blocking_threads(STREAMS).thread_keep_alive(KEPT).build();
    built.map_err(|error| StartupError(format!("cannot start: {error}")))
}

/// Starts the threads that the server depends on: one for work, and `streams` of tokio's for stdin and stdout. Fails if
/// the system does not provide them; later, that could not be reported.
fn start_threads(runtime: &Runtime, streams: usize, pool: &Pool) -> Result<(), StartupError> {
    let has_thread = pool.has_thread();
    let (begun, begins) = mpsc::channel();
    let start = || {
        let (begun, (end, ended)) = (begun.clone(), mpsc::channel::<()>());
        runtime.spawn_blocking(move || begun.send(()).is_ok() && ended.recv().is_err());
        end
    };
    // tokio panics if there is no thread at all. If there are too few, the second one never begins.
    let ends = catch_unwind(AssertUnwindSafe(|| (0..streams).map(|_| start()).collect::<Vec<_>>()));
    let all_begin = |ends: Vec<_>| ends.iter().all(|_| begins.recv_timeout(START).is_ok());
    if has_thread && ends.is_ok_and(all_begin) {
        return Ok(());
    }
    Err(StartupError(
        "cannot start a thread: the process limit is reached; raise it (ulimit -u for the user, pids.max for a \
         container)"
            .to_owned(),
    ))
}

fn serve(runtime: Runtime, server: Server, streams: streams::Streams, pool: &Pool) -> ExitCode {
    let served =
        runtime.block_on(stdio::serve(Arc::new(server), streams.input, streams.output, streams::output_closed()));
    // Cancelled writers remove unfinished files. A thread can also be stuck in a read that never returns; that one is
    // not waited for.
    pool.end(LAST_MOMENT);
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        // The client is gone, which is not an error.
        Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!("stdin or stdout failed: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// SIGINT, SIGTERM and SIGHUP end the process at once, whatever it is doing. That is their default as well, except for
/// process 1 of a container, which ignores them by default.
#[cfg(unix)]
fn end_on_signals() -> Result<(), StartupError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};

    let cannot_listen = |error| StartupError(format!("cannot listen to signals: {error}"));
    let always = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        register_conditional_shutdown(signal, 128 + signal, std::sync::Arc::clone(&always)).map_err(cannot_listen)?;
    }
    // Handled so that it does not kill the process: a write beyond the process's limit (ulimit -f) fails, and the
    // server continues.
    register(SIGXFSZ, always).map_err(cannot_listen)?;
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn end_on_signals() -> Result<(), StartupError> {
    Ok(())
}

fn print_check(cli: &Cli, root: &Root, rules: &Rules) -> ExitCode {
    let protect = cli.allow_write.then_some(&rules.protect);
    let program = std::env::current_exe().unwrap_or_else(|_| "mcp-fs".into());
    let report = check::report(root, protect, rules.prompts.as_ref(), &cli.limits(), &program, &cli.given_options());
    match io::stdout().write_all(report.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(FAILED),
    }
}
