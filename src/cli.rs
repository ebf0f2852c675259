//! The command line, and the errors in it.

pub mod http;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::builder::TypedValueParser as _;
use tracing::level_filters::LevelFilter;

use self::http::HttpOptions;
use crate::limits::{Limits, WatchMode, Watching};
use crate::root::{Deny, Kind, Protect, RelPath, Root, Sandbox};
use crate::runtime::cancel::Cancel;

/// Serve one directory to MCP clients as resources and tools, and nothing outside it.
///
/// Claude Code: claude mcp add files -- mcp-fs /dir
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[command(name = "mcp-fs", version, about, after_help = AFTER_HELP)]
pub struct Cli {
    /// The directory to serve. Client roots never change it.
    #[arg(value_name = "DIR", value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from))]
    pub dir: PathBuf,

    /// Print what would be served and how to configure clients, then exit.
    #[arg(long)]
    pub check: bool,

    /// Let clients write, edit, create, move, copy and delete files in DIR (or set `MCP_FS_ALLOW_WRITE=true`).
    #[arg(long)]
    pub allow_write: bool,

    /// Do not wait for changes to reach the disk: faster, but a power cut can lose the latest ones.
    #[arg(long)]
    pub no_fsync: bool,

    /// Confine the process to DIR with Landlock: auto (as far as the kernel can), require (or do not start), off.
    #[arg(long, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    pub sandbox: Sandbox,

    /// Deny access to files that match PATTERN (gitignore syntax without negation); repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub deny: Vec<String>,

    /// Allow access to files that are denied by default, such as .env, .ssh/ and private keys.
    #[arg(long)]
    pub no_default_deny: bool,

    /// Make files that match PATTERN read-only (gitignore syntax without negation); repeatable.
    #[arg(long, value_name = "PATTERN", requires = "allow_write")]
    pub protect: Vec<String>,

    /// Allow changes to files that other programs run or obey, such as .git/, .vscode/ and .envrc.
    #[arg(long, requires = "allow_write")]
    pub no_default_protect: bool,

    /// Serve the Markdown files below PATH, a directory in DIR, as prompts.
    #[arg(long, value_name = "PATH")]
    pub prompts: Option<String>,

    /// Return at most N entries from resources/list, over all pages.
    #[arg(long, value_name = "N", default_value_t = Limits::default().list, value_parser = positive())]
    pub list_limit: usize,

    /// Return at most N entries per page of resources/list and prompts/list.
    #[arg(long, value_name = "N", default_value_t = Limits::default().page, value_parser = positive())]
    pub page_size: usize,

    /// Return at most BYTES of text per tool call.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().output_bytes, value_parser = at_least(1_000))]
    pub max_output_bytes: usize,

    /// Return at most BYTES of a text resource at a time; longer ones come in parts.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().resource_bytes, value_parser = at_least(1_000))]
    pub max_resource_bytes: usize,

    /// Refuse binary resources and media larger than BYTES.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().blob_bytes, value_parser = positive())]
    pub max_blob_bytes: usize,

    /// Process at most N requests at once.
    #[arg(long, value_name = "N", default_value_t = Limits::default().in_flight, value_parser = positive())]
    pub max_in_flight: usize,

    /// Stop a search after SECONDS and return what it found.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().search_time.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub search_timeout: u64,

    /// Fail a request whose file system call has not returned after SECONDS.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().io_time.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub io_timeout: u64,

    /// Search file contents with N threads. Default: one per processor, at most 8; on network file systems 16.
    #[arg(long, value_name = "N", value_parser = positive())]
    pub search_threads: Option<usize>,

    /// Detect changes by system events (auto), by polling (poll, for network file systems), or not at all (off).
    #[arg(long, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    pub watch: WatchMode,

    /// Watch at most N directories; poll the rest.
    #[arg(long, value_name = "N", default_value_t = Watching::default().directories, value_parser = positive())]
    pub watch_limit: usize,

    /// Poll what cannot be watched every SECONDS.
    #[arg(long, value_name = "SECONDS", default_value_t = Watching::default().poll.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub poll_interval: u64,

    /// Log to stderr.
    #[arg(
        long,
        value_name = "LEVEL",
        help = "Log to stderr at LEVEL: off, error, warn, info, debug, or trace, which shows every protocol message. \
            Default: the environment variable MCP_FS_LOG, or warn"
    )]
    pub log_level: Option<LevelFilter>,

    /// Options of the HTTP server.
    #[command(flatten)]
    pub http: HttpOptions,
}

const AFTER_HELP: &str = "\
Examples:
  mcp-fs ~/notes                         serve a directory over stdio (clients start it like this)
  mcp-fs --check ~/notes                 see what would be served, and what to paste into a client
  mcp-fs --deny '*.pem' ~/project        hide certificates
  mcp-fs --http 127.0.0.1:8080 ~/notes   serve any number of clients over HTTP

Exit codes: 0 the input ended or the server was stopped, 1 reading or writing failed, 2 the arguments are wrong or DIR
cannot be served.";

/// Why the server does not start: one line for stderr.
#[derive(Debug, PartialEq, Eq)]
pub struct StartupError(pub String);

impl Cli {
    /// Parses the command line. `Err` holds clap's message, which may be the help.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::try_parse_from(arguments)
    }

    /// The names that clients may read but not change.
    pub fn protect(&self) -> Result<Protect, StartupError> {
        Protect::new(&self.protect, !self.no_default_protect).map_err(StartupError)
    }

    /// The real path of the prompts folder; `None` without `--prompts`.
    pub fn prompts(&self, root: &Root) -> Result<Option<RelPath>, StartupError> {
        let Some(path) = &self.prompts else { return Ok(None) };
        let found = root.locate(path).and_then(|asked| root.stat(&asked, &Cancel::default()));
        match found {
            Ok((path, stat)) if stat.kind == Kind::Directory => Ok(Some(path)),
            Ok(_) => Err(StartupError(format!("--prompts {path}: not a directory"))),
            Err(error) => {
                let hint = "name a directory in DIR, by its path relative to DIR";
                Err(StartupError(format!("--prompts {path}: {error}; {hint}")))
            }
        }
    }

    /// Applies `MCP_FS_ALLOW_WRITE` (`variable`, if set), which does the same as the flag. The flag wins.
    pub fn with_allow_write(mut self, variable: Option<&OsStr>) -> Result<Self, StartupError> {
        self.allow_write |= match variable.map(OsStr::to_str) {
            None | Some(Some("false")) => false,
            Some(Some("true")) => true,
            Some(_) => return Err(StartupError("MCP_FS_ALLOW_WRITE must be true or false, or not be set".to_owned())),
        };
        if self.no_fsync && !self.allow_write {
            return Err(StartupError("--no-fsync needs --allow-write; see mcp-fs --help".to_owned()));
        }
        Ok(self)
    }

    /// Confines the process to DIR, as far as the options ask for it and the kernel allows.
    pub fn enter_sandbox(&self, root: &mut Root) -> Result<(), StartupError> {
        root.enter_sandbox(self.sandbox, self.allow_write).map_err(|error| StartupError(error.to_string()))
    }

    /// Opens DIR.
    pub fn open_root(&self) -> Result<Root, StartupError> {
        if self.dir.to_str().is_some_and(|dir| dir.trim().is_empty()) {
            return Err(StartupError(
                "DIR is empty: the client passed an empty path, or a variable that is not set; write the path, or . for \
                 the directory that the client starts the server in"
                    .to_owned(),
            ));
        }
        if let Some(variable) = self.dir.to_str().filter(|dir| dir.contains("${")) {
            return Err(StartupError(format!(
                "{variable}: the client did not replace the variable; in .mcp.json write \"${{CLAUDE_PROJECT_DIR:-.}}\", \
                 with a default, or a plain path"
            )));
        }
        let deny = Deny::new(&self.deny, !self.no_default_deny).map_err(StartupError)?;
        Root::open(&self.dir, deny).map_err(|error| StartupError(error.to_string()))
    }

    /// The limits that the options set.
    pub fn limits(&self) -> Limits {
        Limits {
            list: self.list_limit,
            page: self.page_size,
            output_bytes: self.max_output_bytes,
            resource_bytes: self.max_resource_bytes,
            blob_bytes: self.max_blob_bytes,
            in_flight: self.max_in_flight,
            search_time: Duration::from_secs(self.search_timeout),
            io_time: Duration::from_secs(self.io_timeout),
            search_threads: self.search_threads.unwrap_or(Limits::default().search_threads),
            watch: Watching {
                mode: self.watch,
                directories: self.watch_limit,
                poll: Duration::from_secs(self.poll_interval),
                ..Watching::default()
            },
            // The other limits are constants.
            ..Limits::default()
        }
    }

    /// The options that were given, as they would be typed.
    pub fn given_options(&self) -> Vec<String> {
        let (now, default) = (self.limits(), Limits::default());
        let numbers = [
            ("--list-limit", now.list, default.list),
            ("--page-size", now.page, default.page),
            ("--max-output-bytes", now.output_bytes, default.output_bytes),
            ("--max-resource-bytes", now.resource_bytes, default.resource_bytes),
            ("--max-blob-bytes", now.blob_bytes, default.blob_bytes),
            ("--max-in-flight", now.in_flight, default.in_flight),
            ("--search-timeout", now.search_time.as_secs() as usize, default.search_time.as_secs() as usize),
            ("--io-timeout", now.io_time.as_secs() as usize, default.io_time.as_secs() as usize),
            ("--watch-limit", now.watch.directories, default.watch.directories),
            ("--poll-interval", now.watch.poll.as_secs() as usize, default.watch.poll.as_secs() as usize),
        ];
        let numbers = numbers.into_iter().filter(|(_, now, default)| now != default);
        let deny = self.deny.iter().map(|pattern| format!("--deny={pattern}"));
        let protect = self.protect.iter().map(|pattern| format!("--protect={pattern}"));
        let flags = [
            ("--allow-write", self.allow_write),
            ("--no-fsync", self.no_fsync),
            ("--no-default-deny", self.no_default_deny),
            ("--no-default-protect", self.no_default_protect),
        ];
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned());
        flags
            .chain(deny)
            .chain(protect)
            .chain(self.prompts.iter().map(|path| format!("--prompts={path}")))
            .chain((self.sandbox != Sandbox::Auto).then(|| format!("--sandbox={}", self.sandbox)))
            .chain((self.watch != WatchMode::Auto).then(|| format!("--watch={}", self.watch)))
            .chain(self.search_threads.map(|threads| format!("--search-threads={threads}")))
            .chain(numbers.map(|(name, now, _)| format!("{name}={now}")))
            .chain(self.log_level.map(|level| format!("--log-level={level}")))
            .collect()
    }

    /// The log level: from the option, else from the environment, else warnings.
    pub fn log_level(&self) -> Result<LevelFilter, StartupError> {
        match (self.log_level, std::env::var("MCP_FS_LOG")) {
            (Some(level), _) => Ok(level),
            (None, Ok(level)) if !level.is_empty() => level
                .parse()
                .map_err(|_| StartupError("MCP_FS_LOG must be off, error, warn, info, debug or trace".to_owned())),
            _ => Ok(LevelFilter::WARN),
        }
    }
}

fn positive() -> impl clap::builder::TypedValueParser<Value = usize> {
    at_least(1)
}

fn at_least(least: u64) -> impl clap::builder::TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(least..=1 << 40).map(|value| usize::try_from(value).unwrap_or(usize::MAX))
}
