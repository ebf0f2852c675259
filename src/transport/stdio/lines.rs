//! From bytes to lines: one JSON-RPC message per line, terminated by `
//! ` (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio>).
//!
//! A byte order mark and a `\r` before the `
//! ` are accepted, empty lines are skipped, and the last line may lack its newline. A line over the limit is not kept: it is skipped, and reported once as [`Line::TooLong`].

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once, and how much buffer is kept while the client is silent.
const BUFFER: usize = 64 << 10;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes, without line ending and byte order mark; never blank.
    Text(&'a [u8]),
    /// It exceeded the limit, and its bytes were discarded.
    TooLong,
}

/// Splits a stream into lines. Every method is cancel safe: dropping its future loses no byte.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    /// Always initialised to its end, so that reading into it costs only the read.
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// No newline lies before this position.
    scanned: usize,
    /// The end of the input in the buffer.
    end: usize,
    limit: usize,
    /// Inside a line that is too long.
    skipping: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `limit` bytes from `input`.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input, buffer: Vec::new(), start: 0, scanned: 0, end: 0, limit, skipping: false, ended: false }
    }

    /// The next line that has been read completely. `None` if more must be read first, or the input has ended.
    pub fn buffered(&mut self) -> Option<Line<'_>> {
        loop {
            let (from, to) = self.take_line()?;
            if std::mem::take(&mut self.skipping) || to - from > self.limit {
                return Some(Line::TooLong);
            }
            let (from, to) = self.trim(from, to);
            if from < to {
                return Some(Line::Text(&self.buffer[from..to]));
            }
        }
    }

    /// Reads once. Returns `false` at the end of the input, after which [`Self::buffered`] returns what is left.
    pub async fn fill(&mut self) -> io::Result<bool> {
        self.make_room();
        let read = self.input.read(&mut self.buffer[self.end..]).await?;
        self.end += read;
        self.ended = read == 0;
        Ok(!self.ended)
    }

    /// Consumes the next line and returns its range. At the end of the input, the rest counts as a line.
    fn take_line(&mut self) -> Option<(usize, usize)> {
        let from = self.start;
        if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.end]) {
            let to = self.scanned + at;
            self.start = to + 1;
            self.scanned = self.start;
            return Some((from, to));
        }
        self.scanned = self.end;
        let unfinished = self.ended && (self.skipping || from < self.end);
        unfinished.then(|| {
            self.start = self.end;
            (from, self.end)
        })
    }

    /// Trims the byte order mark and surrounding blanks.
    fn trim(&self, from: usize, to: usize) -> (usize, usize) {
        let line = &self.buffer[from..to];
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii_start();
        let from = to - text.len();
        (from, from + text.trim_ascii_end().len())
    }

    /// Keeps only the unfinished line, drops it if it exceeds the limit, and makes room to read into.
    fn make_room(&mut self) {
        self.skipping |= self.end - self.start > self.limit;
        if self.skipping {
            self.start = self.end;
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() != BUFFER {
                self.buffer = vec![0; BUFFER]; // straight from the system: its pages cost nothing until they are used
            }
        } else if self.start > 0 && self.buffer.len() - self.end < BUFFER / 4 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        self.scanned = self.scanned.min(self.end).max(self.start);
        if self.buffer.len() - self.end < BUFFER / 4 {
            self.scanned = self.end;
            // Little more than the limit: a line that reaches it is not kept.
            let most = self.limit.saturating_add(BUFFER);
            self.buffer.resize((2 * self.buffer.len()).min(most).max(BUFFER), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of `input`, delivered `step` bytes at a time; `None` stands for a line that was too long.
    async fn lines(input: &[u8], step: usize, limit: usize) -> Vec<Option<String>> {
        let (mut writer, reader) = tokio::io::duplex(step);
        let mut lines = LineReader::new(reader, limit);
        let mut seen = Vec::new();
        let write = async {
            tokio::io::AsyncWriteExt::write_all(&mut writer, input).await.expect("the pipe is open");
            drop(writer);
        };
        let read = async {
            loop {
                while let Some(line) = lines.buffered() {
                    seen.push(match line {
                        Line::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
                        Line::TooLong => None,
                    });
                }
                if lines.ended {
                    break;
                }
                lines.fill().await.expect("the pipe is open");
            }
        };
        tokio::join!(write, read);
        seen
    }

    #[tokio::test]
    async fn lines_come_whole_however_the_bytes_arrive() {
        let input = b"\xEF\xBB\xBF{\"a\":1}\r\n\n  \r\n\xEF\xBB\xBF[2]\nlast";
        for step in [1, 2, 7, 4096] {
            let want: Vec<_> = ["{\"a\":1}", "[2]", "last"].map(|s| Some(s.to_owned())).into();
            assert_eq!(lines(input, step, 100).await, want, "step {step}");
        }
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_reported_once_and_the_next_one_is_read() {
        for size in [11, 1_000, 300_000] {
            for step in [3, 5_000] {
                let input = [&vec![b'x'; size][..], b"\nok\n"].concat();
                assert_eq!(lines(&input, step, 10).await, [None, Some("ok".to_owned())], "{size} by {step}");
            }
        }
    }

    #[tokio::test]
    async fn a_line_of_exactly_the_limit_passes() {
        assert_eq!(lines(b"0123456789\n", 4, 10).await, [Some("0123456789".to_owned())]);
    }

    #[tokio::test]
    async fn a_too_long_last_line_without_newline_is_reported() {
        assert_eq!(lines(&[b'x'; 5_000], 64, 10).await, [None]);
    }
}
