//! The lines of one file in which a query is found.
//!
//! Most files are read whole, into a buffer that is kept; a large one is read as a stream. Files with NUL bytes are
//! binary and are not searched. UTF-16 with its mark is decoded, and so is text in a legacy encoding where the query
//! is more than ASCII: otherwise its bytes are the same.

use std::io::{self, Read};

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::query::Query;
use crate::features::text;
use crate::root::{File, RelPath, Root, RootError};
use crate::runtime::cancel::Cancel;

/// A larger file is read as a stream, which can be stopped at every piece.
const WHOLE: u64 = 2 << 20;
/// A larger buffer is not kept for the next file.
const KEPT: usize = 1 << 20;

/// What came of one file.
#[derive(Debug)]
pub(super) enum Searched {
    /// It is text: how many bytes were searched, and what was found.
    Text(u64, Found),
    /// It is binary.
    Binary,
    /// It cannot be read.
    Unreadable,
    /// It has a line that is too long, or is too long for a search over lines.
    TooLong,
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In order.
    pub(super) hits: Vec<Hit>,
    /// There were more.
    pub(super) is_cut: bool,
}

/// A match.
#[derive(Debug)]
pub(super) struct Hit {
    /// Lines were left out before it.
    pub(super) gap: bool,
    /// Context, the lines of the match, and context.
    pub(super) lines: Vec<Line>,
}

/// A line to be shown.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) is_match: bool,
    pub(super) text: String,
}

/// Searches one file after the other.
pub(super) struct FileSearcher<'q> {
    query: &'q Query,
    searcher: Searcher,
    /// Matches taken from one file.
    most: u64,
    buffer: Vec<u8>,
}

impl<'q> FileSearcher<'q> {
    pub(super) fn new(query: &'q Query, most: u64) -> Self {
        Self { query, searcher: query.searcher(None), most, buffer: Vec::new() }
    }

    /// Searches a file by a path that holds no link.
    pub(super) fn search(&mut self, root: &Root, path: RelPath, cancel: &Cancel) -> Searched {
        let Ok(file) = root.open_real_file(path) else { return Searched::Unreadable };
        let searched = if file.stat.size > WHOLE { self.stream(&file, cancel) } else { self.whole(&file, cancel) };
        searched.unwrap_or(Searched::Unreadable)
    }

    fn whole(&mut self, file: &File, cancel: &Cancel) -> Result<Searched, RootError> {
        let size = file.stat.size as usize;
        if self.buffer.len() < size || self.buffer.len() > KEPT.max(size) {
            self.buffer = vec![0; size.next_power_of_two().max(64 << 10)];
        }
        let length = file.read_at(&mut self.buffer[..size], 0, cancel)?;
        let bytes = &self.buffer[..length];
        let has_nul = memchr::memchr(0, bytes).is_some();
        if !has_nul && self.query.is_ascii() {
            // Found or not found, whatever the encoding; but what is shown must be decoded.
            let found = find(self.query, &mut self.searcher, self.most, bytes);
            if found.hits.is_empty() || crate::text::is_text(bytes) {
                return Ok(Searched::Text(length as u64, found));
            }
        } else if !has_nul && crate::text::is_text(bytes) {
            return Ok(Searched::Text(length as u64, find(self.query, &mut self.searcher, self.most, bytes)));
        }
        let Some(Ok(text)) = text::detect(bytes, true).map(|encoding| encoding.decode_whole(bytes.to_vec())) else {
            return Ok(Searched::Binary);
        };
        Ok(Searched::Text(length as u64, find(self.query, &mut self.searcher, self.most, text.as_bytes())))
    }

    fn stream(&mut self, file: &File, cancel: &Cancel) -> Result<Searched, RootError> {
        let sample = text::head(file, text::SAMPLE, cancel)?;
        let Some(encoding) = text::detect(&sample, false) else { return Ok(Searched::Binary) };
        let label = (!encoding.is_utf8()).then(|| grep_searcher::Encoding::new(encoding.label()).ok()).flatten();
        let mut decoding = label.map(|label| self.query.searcher(Some(label)));
        let searcher = decoding.as_mut().unwrap_or(&mut self.searcher);
        let mut collector = Collector::new(self.query, self.most);
        let mut reader = Reader { file, at: 0, cancel, failed: false };
        let searched = searcher.search_reader(self.query.matcher(), &mut reader, &mut collector);
        Ok(match searched {
            Ok(()) if collector.is_binary => Searched::Binary,
            Ok(()) => Searched::Text(reader.at, collector.found),
            Err(_) if reader.failed => Searched::Unreadable,
            Err(_) => Searched::TooLong,
        })
    }
}

fn find(query: &Query, searcher: &mut Searcher, most: u64, bytes: &[u8]) -> Found {
    let mut collector = Collector::new(query, most);
    // Nothing is read here, and the collector never fails.
    let _ = searcher.search_slice(query.matcher(), bytes, &mut collector);
    collector.found
}

/// A file as a stream, up to its size when it was opened, which ends when the search should.
struct Reader<'a> {
    file: &'a File,
    at: u64,
    cancel: &'a Cancel,
    failed: bool,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.checkpoint() {
            return Ok(0);
        }
        let left = self.file.stat.size.saturating_sub(self.at);
        let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..want], self.at, self.cancel).map_err(|error| {
            self.failed = true;
            io::Error::other(error.to_string())
        })?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Keeps the lines that the engine finds.
struct Collector<'q> {
    query: &'q Query,
    most: u64,
    found: Found,
    /// Context before a match that is still to come, and whether lines were left out before that.
    before: Vec<Line>,
    gap: bool,
    is_binary: bool,
}

impl<'q> Collector<'q> {
    fn new(query: &'q Query, most: u64) -> Self {
        Self { query, most, found: Found::default(), before: Vec::new(), gap: false, is_binary: false }
    }

    fn line(&self, number: Option<u64>, is_match: bool, text: &[u8]) -> Line {
        Line { number: number.unwrap_or(1), is_match, text: self.query.shown(text) }
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.hits.len() as u64 == self.most {
            self.found.is_cut = true;
            return Ok(false);
        }
        let mut lines = std::mem::take(&mut self.before);
        let first = matched.line_number().unwrap_or(1);
        lines.extend((first..).zip(matched.lines()).map(|(number, line)| self.line(Some(number), true, line)));
        self.found.hits.push(Hit { gap: std::mem::take(&mut self.gap), lines });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(context.line_number(), false, context.bytes());
        match (context.kind(), self.found.hits.last_mut()) {
            (SinkContextKind::After, Some(hit)) => hit.lines.push(line),
            _ => self.before.push(line),
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}
