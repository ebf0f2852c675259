//! The lines of one file in which a query is found.
//!
//! Most files are read whole, into a buffer that is kept; a large one is read as a stream. Files with NUL bytes are
//! binary and are not searched. UTF-16 with its mark is decoded, and so is text in a legacy encoding where the query
//! is more than ASCII: otherwise its bytes are the same.

use std::io::{self, Read};

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::query::Query;
use crate::cancel::Cancel;
use crate::features::text;
use crate::root::{Blocking, File, RelPath, Root, RootError};

/// A larger file is read as a stream.
const WHOLE: u64 = 8 << 20;
/// A larger buffer is not kept for the next file.
const KEPT: usize = 1 << 20;

/// What came of one file.
#[derive(Debug)]
pub(super) enum Searched {
    /// It is text: its size, and what was found.
    Text(u64, Found),
    /// It is binary.
    Binary,
    /// It cannot be read.
    Unreadable,
}

/// The lines that were found in a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In order, with their context.
    pub(super) lines: Vec<Line>,
    /// How many matches they hold.
    pub(super) matches: u64,
    /// There were more.
    pub(super) is_cut: bool,
}

/// A line to be shown.
#[derive(Debug)]
pub(super) enum Line {
    Match(u64, String),
    Context(u64, String),
    /// Lines were left out here.
    Gap,
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
        Self { query, searcher: query.searcher(), most, buffer: Vec::new() }
    }

    /// Searches a file by a path that holds no link.
    pub(super) fn search(&mut self, root: &Root, path: RelPath, cancel: &Cancel) -> Searched {
        let Ok(file) = root.open_real_file(path, Blocking::Allowed) else { return Searched::Unreadable };
        let size = file.stat.size;
        match if size > WHOLE { self.stream(&file, cancel) } else { self.whole(&file) } {
            Ok(Some(found)) => Searched::Text(size, found),
            Ok(None) => Searched::Binary,
            Err(_) => Searched::Unreadable,
        }
    }

    /// `None`: it is binary.
    fn whole(&mut self, file: &File) -> Result<Option<Found>, RootError> {
        let size = file.stat.size as usize;
        if self.buffer.len() < size || self.buffer.len() > KEPT.max(size) {
            self.buffer = vec![0; size.next_power_of_two().max(64 << 10)];
        }
        let length = file.read_at(&mut self.buffer[..size], 0)?;
        let bytes = &self.buffer[..length];
        if memchr::memchr(0, bytes).is_some() || !(self.query.is_ascii() || crate::text::is_text(bytes)) {
            let Some(encoding) = text::detect(bytes, true) else { return Ok(None) };
            return match encoding.decode_whole(bytes.to_vec()) {
                Ok(text) => self.slice_of(text.as_bytes()),
                Err(_) => Ok(None),
            };
        }
        let mut collector = Collector::new(self.query, self.most);
        let _ = self.searcher.search_slice(self.query.matcher(), bytes, &mut collector);
        Ok(Some(collector.found))
    }

    fn slice_of(&mut self, bytes: &[u8]) -> Result<Option<Found>, RootError> {
        let mut collector = Collector::new(self.query, self.most);
        let searched = self.searcher.search_slice(self.query.matcher(), bytes, &mut collector);
        searched.map(|()| Some(collector.found)).map_err(RootError::from)
    }

    fn stream(&mut self, file: &File, cancel: &Cancel) -> Result<Option<Found>, RootError> {
        let sample = text::head(file, text::SAMPLE)?;
        let encoding = text::detect(&sample, false);
        if encoding.is_none() {
            return Ok(None);
        }
        let mut collector = Collector::new(self.query, self.most);
        let reader = Reader { file, at: 0, cancel };
        let searched = self.searcher.search_reader(self.query.matcher(), reader, &mut collector);
        match searched {
            Ok(()) if collector.is_binary => Ok(None),
            Ok(()) => Ok(Some(collector.found)),
            Err(error) => Err(error.into()),
        }
    }
}

/// A file as a stream, up to its size when it was opened, which ends when the search should.
struct Reader<'a> {
    file: &'a File,
    at: u64,
    cancel: &'a Cancel,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Ok(0);
        }
        let left = self.file.stat.size.saturating_sub(self.at);
        let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read =
            self.file.read_at(&mut buffer[..want], self.at).map_err(|error| io::Error::other(error.to_string()))?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Keeps the lines that the engine finds.
struct Collector<'q> {
    query: &'q Query,
    most: u64,
    found: Found,
    is_binary: bool,
}

impl<'q> Collector<'q> {
    fn new(query: &'q Query, most: u64) -> Self {
        Self { query, most, found: Found::default(), is_binary: false }
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.matches == self.most {
            self.found.is_cut = true;
            return Ok(false);
        }
        self.found.matches += 1;
        let first = matched.line_number().unwrap_or(1);
        for (number, line) in (first..).zip(matched.lines()) {
            self.found.lines.push(Line::Match(number, self.query.shown(line)));
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or(1);
        self.found.lines.push(Line::Context(number, self.query.shown(context.bytes())));
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.found.lines.push(Line::Gap);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}
