//! Every limit of the server in one place, with its default and the reason for it.
//!
//! `--help` shows them, and [`crate::cli`] sets them.

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

/// The longest URI that is accepted, in bytes. No file needs more: a path has at most 4,095 bytes, and so has the path
/// of the served directory; each byte may be percent-encoded as three. The rest leaves room for a range.
pub const LONGEST_URI: usize = 32 << 10;

/// All limits. They are hard: nothing that a client sends or a disk holds can exceed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum entries of `resources/list`, over all pages. Claude Code reads 20 pages and the TypeScript client 64;
    /// Codex drops a server with more than 100.
    pub list: usize,
    /// Maximum entries per page of `resources/list`.
    pub page: usize,
    /// Maximum bytes of UTF-8 in one tool answer. Clients cut or reject more than about 50,000 characters.
    pub output_bytes: usize,
    /// Maximum bytes of a text resource in one answer. Claude Code puts all of it into the model's context.
    pub resource_bytes: usize,
    /// Maximum bytes of a binary resource or media file.
    pub blob_bytes: usize,
    /// Maximum bytes of one line of input.
    pub line_bytes: usize,
    /// Requests in progress per client. A slot is held until the answer is written.
    pub in_flight: usize,
    /// Requests that may wait for a slot.
    pub queued: usize,
    /// Bytes of the requests that wait or are in progress. One more line is always read.
    pub queued_bytes: usize,
    /// Bytes of answers that are being prepared or written.
    pub answer_bytes: u64,
    /// Bytes of everything kept for one client: requests waiting or in progress, incomplete batches, unwritten output,
    /// subscriptions. Beyond it, input is left unread. Subscriptions may take a quarter of it.
    pub held_bytes: usize,
    /// Messages per batch.
    pub batch: usize,
    /// How long a search may take before it returns what it found, and how long a read may scan for lines far into a
    /// file.
    pub search_time: Duration,
    /// How long a file system may keep work blocked before its request fails.
    pub io_time: Duration,
    /// How many blocked threads may be left behind. Each of them holds some memory.
    pub left_behind: usize,
    /// Threads per content search.
    pub search_threads: usize,
    /// How changes are detected.
    pub watch: Watching,
}

/// How changes are detected, and how often they are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watching {
    /// The mechanism.
    pub mode: WatchMode,
    /// Directories watched at once. On Linux, all processes of a user share a few thousand watches.
    pub directories: usize,
    /// The interval between polls of what cannot be watched.
    pub poll: Duration,
    /// Subscriptions, over all streams.
    pub followed: usize,
    /// Open streams (`subscriptions/listen`).
    pub streams: usize,
    /// Events within this time count as one change.
    pub settle: Duration,
    /// The first pause between two `list_changed` notifications.
    pub list_pause: Duration,
    /// The longest pause, while the list keeps changing.
    pub list_longest_pause: Duration,
}

/// How changes are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WatchMode {
    /// By system events, and by polling where there are none.
    Auto,
    /// By polling: network file systems do not report changes made by other machines.
    Poll,
    /// Not at all: there are no subscriptions.
    Off,
}

/// The number of processors that this process may use, at most 8: more threads do not speed up a search, and would
/// starve the thread that answers. It is read once and early, because the sandbox later hides the files that tell a
/// container its share.
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
