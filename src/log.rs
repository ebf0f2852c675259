//! The log on stderr: errors and, at `trace`, every message in and out, so that a learner can watch the protocol.
//!
//! Names from the disk and lines from the client are untrusted. Control characters and those that change the direction
//! of text are escaped, so that a log line cannot control the terminal. Lines go through a bounded queue to a thread
//! that the first line starts. When stderr is full, lines are dropped and the server is not delayed.

use std::fmt;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::hostile;

/// Lines that may wait for stderr; further ones are dropped.
const QUEUE: usize = 4_096;

/// The longest line, in bytes. The rest is cut off.
const LONGEST_LINE: usize = 4 * SHOWN;

/// What a writable pipe accepts without blocking (`PIPE_BUF`, pipe(7)), less some room for a name.
const MOST: usize = 4_000;

/// One step of the wait for a full stderr at the end of the process.
const TICK: Duration = Duration::from_millis(10);
const PATIENCE: u32 = 5;

/// How many bytes of a protocol message the log shows.
pub const SHOWN: usize = 2_000;

/// Logs to stderr at `level` from now on.
pub fn start(level: LevelFilter) -> Log {
    let queue = Arc::default();
    // Fails only if a logger is already set, as in tests. That one stays.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(Stderr(Arc::clone(&queue)))
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .try_init();
    Log(queue)
}

/// Writes one line to stderr at once, without the log's queue and thread. The line is lost if stderr would block.
pub fn notice(line: &str) {
    let line: String = escaped(line)
        .chars()
        .scan(0, |bytes, c| {
            *bytes += c.len_utf8();
            (*bytes < MOST).then_some(c)
        })
        .collect();
    say(format!("mcp-fs: {line}\n").as_bytes());
}

/// Writes a short line if stderr accepts it without blocking.
fn say(line: &[u8]) {
    if can_be_written(&io::stderr()) {
        let _ = io::stderr().write_all(line);
    }
}

#[cfg(unix)]
fn can_be_written(stream: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::new(stream, PollFlags::OUT)];
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::OUT)
}

#[cfg(not(unix))]
fn can_be_written(_stream: &io::Stderr) -> bool {
    true
}

/// Keeps the log running. When it is dropped, queued lines are still written unless stderr is full.
pub struct Log(Arc<OnceLock<Queue>>);

/// The queue to the writing thread, which starts with the first line; most servers never log one.
struct Queue {
    /// `None` ends the thread.
    lines: SyncSender<Option<Vec<u8>>>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl Queue {
    fn start() -> Self {
        let (lines, queued) = sync_channel::<Option<Vec<u8>>>(QUEUE);
        let (running, ended) = channel();
        let write = move || {
            // Moved here so that it is dropped when the thread ends.
            let _running: std::sync::mpsc::Sender<()> = running;
            while let Ok(Some(line)) = queued.recv() {
                // If stderr is closed, lines are discarded so that none pile up.
                let _ = io::stderr().write_all(&line);
            }
        };
        // Without a thread the queue is disconnected, and each line is written by its caller.
        let _ = thread::Builder::new().name("log".to_owned()).spawn(write);
        Self { lines, ended: Mutex::new(ended) }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let Some(Queue { lines, ended }) = self.0.get() else { return };
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..PATIENCE {
            let told = lines.try_send(None);
            if !matches!(told, Err(TrySendError::Full(_))) {
                let _ = ended.recv_timeout(PATIENCE * TICK);
                return;
            }
            let _ = ended.recv_timeout(TICK);
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

struct Stderr(Arc<OnceLock<Queue>>);

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = Escaping;

    fn make_writer(&'a self) -> Escaping {
        Escaping(self.0.get_or_init(Queue::start).lines.clone())
    }
}

/// A protocol message as the log shows it: its beginning, and how many bytes follow. `head` holds at least that
/// beginning; `length` is the length of the message.
pub(crate) fn shown(head: &[u8], length: usize) -> impl fmt::Display {
    let head = &head[..head.len().min(SHOWN)];
    let more = match length.saturating_sub(head.len()) {
        0 => String::new(),
        more => format!("... ({more} more bytes)"),
    };
    String::from_utf8_lossy(head).into_owned() + &more
}

/// Escapes the control characters of each log line, except for the newline at its end.
struct Escaping(SyncSender<Option<Vec<u8>>>);

impl Write for Escaping {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Dropped if the queue is full.
        if let Err(TrySendError::Disconnected(Some(escaped))) = self.0.try_send(Some(bounded(line).into_bytes())) {
            say(&escaped[..escaped.len().min(MOST)]);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log line, escaped and cut to [`LONGEST_LINE`]: the queue is bounded in bytes as well.
fn bounded(line: &[u8]) -> String {
    let mut shown = escaped(&String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]));
    if line.len() > LONGEST_LINE || shown.len() > LONGEST_LINE {
        shown.truncate((0..=LONGEST_LINE.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0));
        shown.push_str("...\n");
    }
    shown
}

/// The text with hostile characters escaped, except for a newline at its end.
pub fn escaped(line: &str) -> String {
    let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
    hostile::escaped(text) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_line_can_act_on_a_terminal() {
        assert_eq!(escaped("a\u{1b}[2J\rb\nc\u{202e}d\n"), "a\\u{1b}[2J\\u{d}b\\u{a}c\\u{202e}d\n");
        assert_eq!(escaped("plain é\n"), "plain é\n");
    }

    #[test]
    fn a_log_line_is_bounded_also_when_it_is_escaped() {
        assert_eq!(bounded("plain é\n".as_bytes()), "plain é\n");
        for text in ["x", "é", "\u{1b}", "\n"] {
            let line = bounded((text.repeat(LONGEST_LINE) + "\n").as_bytes());
            assert!(line.len() <= LONGEST_LINE + 4 && line.ends_with("...\n"), "{text:?}: {}", line.len());
        }
    }

    #[test]
    fn long_lines_are_shown_by_their_beginning() {
        let line = shown(&[b'x'; SHOWN + 7], SHOWN + 7).to_string();
        assert!(line.ends_with("x... (7 more bytes)"), "{line}");
    }
}
