//! The log on stderr: what goes wrong and, at `trace`, every line in and out, so that a learner can watch the
//! protocol.
//!
//! Names from the disk and lines from the client are untrusted: control characters and those that turn the direction
//! of text are escaped, so that no terminal is talked into anything. Lines go through a bounded queue to a thread of
//! its own, started by the first of them; when stderr is full they are lost, and the server is not held up.

use std::fmt;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::hostile;

/// Lines waiting for stderr; more are lost.
const QUEUE: usize = 4_096;

/// The longest line, in bytes; more of it is cut off.
const LONGEST_LINE: usize = 4 * SHOWN;

/// What a pipe that can be written to takes without waiting (`PIPE_BUF`, pipe(7)), less some for a name.
const MOST: usize = 4_000;

/// How long the end waits for a full stderr: so many times this long, twice.
const TICK: Duration = Duration::from_millis(10);
const PATIENCE: u32 = 5;

/// How much of a line of the protocol is shown.
pub const SHOWN: usize = 2_000;

/// Logs to stderr at `level` from now on.
pub fn start(level: LevelFilter) -> Log {
    let queue = Arc::default();
    // Fails only when a logger is set already, as in tests: then that one stays.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(Stderr(Arc::clone(&queue)))
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .try_init();
    Log(queue)
}

/// Says one line on stderr at once, without the log's queue and thread; not at all where stderr does not take it.
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

/// Writes a short line, where stderr takes it without waiting.
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

/// Keeps the log going. What is queued when this is dropped is still written, unless stderr is full.
pub struct Log(Arc<OnceLock<Queue>>);

/// The queue to a thread that writes, started when there is something to say, as most servers never have.
struct Queue {
    /// `None` is the end.
    lines: SyncSender<Option<Vec<u8>>>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl Queue {
    fn start() -> Self {
        let (lines, queued) = sync_channel::<Option<Vec<u8>>>(QUEUE);
        let (running, ended) = channel();
        let write = move || {
            // Moved in here, so that it goes with the thread.
            let _running: std::sync::mpsc::Sender<()> = running;
            while let Ok(Some(line)) = queued.recv() {
                // A closed stderr is read past, so that nothing piles up.
                let _ = io::stderr().write_all(&line);
            }
        };
        // Without a thread the queue is disconnected, and every line is written where it comes from.
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

/// A line of the protocol as the log shows it: its beginning, of which `head` is at least enough, and how much more
/// there is when it is `length` bytes long.
pub(crate) fn shown(head: &[u8], length: usize) -> impl fmt::Display {
    let head = &head[..head.len().min(SHOWN)];
    let more = match length.saturating_sub(head.len()) {
        0 => String::new(),
        more => format!("... ({more} more bytes)"),
    };
    String::from_utf8_lossy(head).into_owned() + &more
}

/// Writes a log line with its control characters escaped, but for the newline at its end.
struct Escaping(SyncSender<Option<Vec<u8>>>);

impl Write for Escaping {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Lost when the queue is full.
        if let Err(TrySendError::Disconnected(Some(escaped))) = self.0.try_send(Some(bounded(line).into_bytes())) {
            say(&escaped[..escaped.len().min(MOST)]);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log line, escaped and at most [`LONGEST_LINE`] long: the queue is bounded in bytes, too.
fn bounded(line: &[u8]) -> String {
    let mut shown = escaped(&String::from_utf8_lossy(&line[..line.len().min(LONGEST_LINE)]));
    if line.len() > LONGEST_LINE || shown.len() > LONGEST_LINE {
        shown.truncate((0..=LONGEST_LINE.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0));
        shown.push_str("...\n");
    }
    shown
}

/// The same text with hostile characters escaped, but for a newline at its end.
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
