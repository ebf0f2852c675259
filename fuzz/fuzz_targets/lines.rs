//! The line reader: however the bytes arrive, the lines are those of the whole input, and memory is bounded.
//!
//! An input is the limit (two bytes), the sizes of the reads (one byte, their number, and one for each), and then the
//! bytes to be read. A byte that UTF-8 does not have, 0xF8 and up, stands for a long run of `x`.

#![no_main]

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::{Corpus, fuzz_target};
use mcp_fs::transport::stdio::lines::{Line, LineReader};
use tokio::io::{AsyncRead, ReadBuf};

/// What the reader may hold beside lines of the limit's length: room to read into.
const ROOM: usize = 64 << 10;

/// Bytes of input: a few lines over the highest limit.
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

/// The lines as the reader gives them; `None` for one that is too long.
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
        // A read that is not done is dropped, as `select!` does, and begun again.
        if let Poll::Ready(more) = pin!(reader.fill()).poll(&mut Context::from_waker(Waker::noop())) {
            goes_on = more.expect("the source does not fail");
        }
    }
}

/// The lines of the whole input at once.
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

/// Gives its bytes in the given steps; a step of 0 has to be waited for.
struct Source<'a> {
    rest: &'a [u8],
    steps: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    /// The most room that there was to read into.
    offered: &'a mut usize,
}

impl AsyncRead for Source<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        *self.offered = buffer.remaining().max(*self.offered);
        // Large steps too, or long lines would take long.
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
