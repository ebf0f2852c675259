//! Every bound of the server in one place, with its default and why it is what it is.
//!
//! `--help` shows them; [`crate::cli`] sets them.

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

/// The longest URI that is read, in bytes. No file has a longer one: a path has at most 4,095 bytes, each written as
/// three, and as much of the served directory's before it; the rest is room for a range.
pub const LONGEST_URI: usize = 32 << 10;

/// How much of everything. All are hard: nothing a client sends or a disk holds goes beyond them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of `resources/list`, over all pages. Claude Code reads 20 pages, the TypeScript client 64, Codex drops
    /// a server with more than 100.
    pub list: usize,
    /// Entries in one page of `resources/list`.
    pub page: usize,
    /// Bytes of UTF-8 in one tool answer. Clients cut or refuse beyond about 50,000 characters.
    pub output_bytes: usize,
    /// Bytes of a text resource in one answer; Claude Code puts it whole into the model's context.
    pub resource_bytes: usize,
    /// Bytes of a binary resource or of media.
    pub blob_bytes: usize,
    /// Bytes of one line of input.
    pub line_bytes: usize,
    /// Requests worked on at once; a place is held until the answer is written.
    pub in_flight: usize,
    /// Requests waiting for such a place.
    pub queued: usize,
    /// Bytes of the lines of requests that wait or are worked on; one more line is always read.
    pub queued_bytes: usize,
    /// Bytes of answers being prepared or written.
    pub answer_bytes: u64,
    /// Bytes of all that is kept for one client: requests that wait or are worked on, batches that are not complete,
    /// what is not written yet, subscriptions. Beyond it input is left unread; subscriptions have a quarter of it.
    pub held_bytes: usize,
    /// Messages in one batch.
    pub batch: usize,
    /// How long a search goes on before it gives what it found, and lines far into a file are looked for.
    pub search_time: Duration,
    /// How long work may be stuck in a file system that does not answer, before its request gets an error.
    pub io_time: Duration,
    /// Threads that are left behind where that never ends; each holds some memory.
    pub left_behind: usize,
    /// Threads of one search of contents.
    pub search_threads: usize,
    /// How changes are noticed.
    pub watch: Watching,
}

/// How changes are noticed, and how often they are told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watching {
    /// By what.
    pub mode: WatchMode,
    /// Directories watched at once. A user of Linux has some thousand watches for everything that runs.
    pub directories: usize,
    /// How often what cannot be watched is looked at.
    pub poll: Duration,
    /// Subscriptions, over all streams.
    pub followed: usize,
    /// Open streams (`subscriptions/listen`).
    pub streams: usize,
    /// What happens within this time is one change.
    pub settle: Duration,
    /// Between two messages that the list has changed, at first.
    pub list_pause: Duration,
    /// The same when it never stops changing.
    pub list_longest_pause: Duration,
}

/// What tells that something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WatchMode {
    /// The system tells; where it cannot, looking now and then.
    Auto,
    /// Looking now and then: network file systems tell nothing of what other machines do.
    Poll,
    /// Nothing: there are no subscriptions.
    Off,
}

/// How many processors this process may use, but at most 8: more threads do not help a search, and would starve the one
/// that answers. Asked once, and early: what a container may use is told by files that are out of reach later.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(8));

impl Default for Limits {
    fn default() -> Self {
        Self {
            list: 10_000,
            page: 1_000,
            output_bytes: 40_000,
            resource_bytes: 256 << 10,
            blob_bytes: 3_750_000,
            line_bytes: 32 << 20,
            in_flight: 64,
            queued: 1_024,
            queued_bytes: 32 << 20,
            answer_bytes: 64 << 20,
            held_bytes: 64 << 20,
            batch: 100,
            search_time: Duration::from_secs(30),
            io_time: Duration::from_secs(30),
            left_behind: 32,
            search_threads: *PROCESSORS,
            watch: Watching::default(),
        }
    }
}

impl Default for Watching {
    fn default() -> Self {
        Self {
            mode: WatchMode::Auto,
            directories: 1_024,
            poll: Duration::from_secs(2),
            followed: 1_024,
            streams: 64,
            settle: Duration::from_millis(100),
            list_pause: Duration::from_secs(2),
            list_longest_pause: Duration::from_mins(1),
        }
    }
}

impl fmt::Display for WatchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Poll => "poll",
            Self::Off => "off",
        })
    }
}
