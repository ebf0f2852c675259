//! The line reader: however the bytes arrive, the lines are those of the whole input, and memory is bounded.
//!
//! An input is the limit (two bytes), the sizes of the reads (their number in one byte, then one byte each), and then
//! the bytes to read. A byte that does not occur in UTF-8, 0xF8 and up, stands for a long run of `x`.

#![no_main]

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::{Corpus, fuzz_target};
use mcp_fs::transport::stdio::lines::{Line, LineReader};
use tokio::io::{AsyncRead, ReadBuf};

/// How much the reader may hold beyond lines of the maximum length: room to read into.
const ROOM: usize = 64 << 10;

/// The limit of the input in bytes: a few lines over the highest limit.
const MOST: usize = 256 << 10;

fuzz_target!(|data: &[u8]| -> Corpus { check(data).map_or(Corpus::Reject, |()| Corpus::Keep) });

fn check(data: &[u8]) -> Option<()> {
    let (limit, rest) = data.split_first_chunk::<2>()?;
    let (count, rest) = rest.split_first()?;
    let (steps, rest) = rest.split_at_checked(usize::from(*count))?;
    if *count > 0 && steps.iter().all(|step| *step == 0) {
        return None; // it would wait for ever
    }
    let limit = usize::from(u16::from_le_bytes(*limit));
    let input: Vec<u8> = rest.iter().flat_map(|byte| run(*byte)).take(MOST).collect();
    let mut offered = 0;
    let source = Source { rest: &input, steps: steps.iter().cycle(), offered: &mut offered };
    assert_eq!(read(source, limit), expected(&input, limit));
    assert!(offered <= 2 * (limit + ROOM), "{offered} bytes of room for lines of {limit}");
    Some(())
}

/// A byte, or what it stands for.
fn run(byte: u8) -> impl Iterator<Item = u8> {
    let (byte, count) = if byte < 0xF8 { (byte, 1) } else { (b'x', 1 << (byte - 0xF8 + 10)) };
    std::iter::repeat_n(byte, count)
}

/// The lines from the reader; `None` for one that is too long.
fn read(source: Source<'_>, limit: usize) -> Vec<Option<Vec<u8>>> {
    let mut reader = LineReader::new(source, limit);
    let mut lines = Vec::new();
    let mut goes_on = true;
    loop {
        while let Some(line) = reader.buffered() {
            lines.push(match line {
                Line::Text(text) => Some(text.to_vec()),
                Line::TooLong => None,
            });
        }
        if !goes_on {
            return lines;
        }
        // A read that is not done is dropped, as by `select!`, and started again.
        if let Poll::Ready(more) = pin!(reader.fill()).poll(&mut Context::from_waker(Waker::noop())) {
            goes_on = more.expect("the source does not fail");
        }
    }
}

/// The lines of the whole input.
fn expected(input: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
    let line = |line: &[u8]| {
        if line.len() > limit {
            return Some(None);
        }
        let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        (!text.is_empty()).then(|| Some(text.to_vec()))
    };
    input.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// Returns its bytes in the given steps; a step of 0 is pending.
struct Source<'a> {
    rest: &'a [u8],
    steps: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    /// The largest buffer that was offered for reading.
    offered: &'a mut usize,
}

impl AsyncRead for Source<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        *self.offered = buffer.remaining().max(*self.offered);
        // Large steps as well, because long lines would otherwise take long.
        let step = self.steps.next().map_or(usize::MAX, |step| usize::from(*step).pow(2));
        if step == 0 && !self.rest.is_empty() {
            return Poll::Pending;
        }
        let (now, later) = self.rest.split_at(step.min(buffer.remaining()).min(self.rest.len()));
        buffer.put_slice(now);
        self.rest = later;
        Poll::Ready(Ok(()))
    }
}
