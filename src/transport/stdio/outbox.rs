//! From messages to bytes: the only writer of stdout.
//!
//! Lines never interleave. Small answers that wait go out together, ahead of large ones that have not begun. A large
//! one is escaped piece by piece as the client reads. All state is kept here, so that a write can be dropped at any
//! await and resumed.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::jsonrpc::body::Body;
use crate::peer::sink::{Destination, Sink};
use crate::runtime::memory::Reservation;

/// Notifications are accepted while fewer messages than this are unwritten.
const AHEAD: usize = 64;

/// Staging continues until the buffer holds this many bytes.
const CHUNK: usize = 64 << 10;

/// A message on its way out.
#[derive(Debug)]
struct Line {
    body: Body,
    /// Released when the message has been written.
    held: Vec<Reservation>,
}

/// What waits to be written, and what is being written.
#[derive(Debug)]
pub(super) struct Outbox<W> {
    output: W,
    small: VecDeque<Line>,
    big: VecDeque<Line>,
    current: Option<Line>,
    staged: Vec<u8>,
    written: usize,
    /// Answers whose last byte is in `staged`, with their memory.
    ending: usize,
    held: Vec<Reservation>,
    unwritten: usize,
    /// The memory of messages that have not begun to be written.
    waiting_bytes: usize,
    dirty: bool,
}

impl<W> Sink for Outbox<W> {
    fn send(&mut self, to: Destination<'_>, mut body: Body, held: Vec<Reservation>) {
        body.end_line();
        self.unwritten += 1;
        self.waiting_bytes += body.memory();
        // A large answer may be overtaken. A message that keeps order may not, whatever its size.
        let queue = if body.is_small() || to.keeps_order() { &mut self.small } else { &mut self.big };
        queue.push_back(Line { body, held });
    }

    fn room(&self, to: Destination<'_>) -> usize {
        match to {
            // Progress is useless while answers wait to be read.
            Destination::Progress(_) => usize::from(self.unwritten == 0),
            _ => AHEAD.saturating_sub(self.unwritten),
        }
    }

    fn unwritten(&self) -> usize {
        self.unwritten
    }

    fn bytes(&self) -> usize {
        let current = self.current.as_ref().map_or(0, |line| line.body.memory());
        self.waiting_bytes + current + (self.staged.len() - self.written)
    }
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    /// Writes to `output`.
    pub(super) fn new(output: W) -> Self {
        Self {
            output,
            small: VecDeque::new(),
            big: VecDeque::new(),
            current: None,
            staged: Vec::new(),
            written: 0,
            ending: 0,
            held: Vec::new(),
            unwritten: 0,
            waiting_bytes: 0,
            dirty: false,
        }
    }

    /// Whether [`Self::write`] has something to do.
    pub(super) fn is_pending(&self) -> bool {
        self.unwritten > 0 || self.dirty
    }

    /// Writes once, and flushes when nothing is left. Cancel safe.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        if self.written == self.staged.len() {
            self.stage();
        }
        if self.written < self.staged.len() {
            let count = self.output.write(&self.staged[self.written..]).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.dirty = true;
            self.written += count;
            if self.written == self.staged.len() {
                self.unwritten -= std::mem::take(&mut self.ending);
                self.held.clear();
            }
        }
        if self.unwritten == 0 && self.dirty {
            self.output.flush().await?;
            self.dirty = false;
        }
        Ok(())
    }

    /// The message to write next.
    fn next(&mut self) -> Option<Line> {
        let line = self.small.pop_front().or_else(|| self.big.pop_front())?;
        self.waiting_bytes -= line.body.memory();
        Some(line)
    }

    /// Fills the buffer with what comes next.
    fn stage(&mut self) {
        self.staged.clear();
        self.staged.shrink_to(8 * CHUNK);
        self.written = 0;
        while self.staged.len() < CHUNK {
            let Some(mut line) = self.current.take().or_else(|| self.next()) else { return };
            if line.body.stage(&mut self.staged) {
                self.current = Some(line);
            } else {
                self.ending += 1;
                self.held.append(&mut line.held);
            }
        }
    }
}
