//! Every bound of the server in one place, with its default and why it is what it is.
//!
//! `--help` shows them; [`crate::cli`] sets them.

use std::time::Duration;

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
    /// Messages in one batch.
    pub batch: usize,
    /// How long a search goes on before it gives what it found.
    pub search_time: Duration,
}

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
            batch: 100,
            search_time: Duration::from_secs(30),
        }
    }
}
