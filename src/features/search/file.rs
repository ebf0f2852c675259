//! Searches one file.
//!
//! Most files are read as a whole, into a buffer that is reused; a large one is streamed. Files with NUL bytes are
//! binary and are not searched. UTF-16 with a byte order mark is decoded. Text in a legacy encoding is decoded only if
//! the query contains characters outside ASCII, because otherwise the bytes are the same.
//!
//! A worker's memory is limited and small, because there are several: a file of [`WHOLE`] bytes, [`SHORT_LINE`] bytes
//! of lines, and three times [`DECODED`] of decoded text. Whatever needs more is searched on the [`SerialExecutor`],
//! one file at a time for the whole server: a file of [`MAX_LINE`] bytes and as much decoded text, or a line of that
//! length.

use std::io::{self, Read};

use encoding_rs::DecoderResult;
use grep_searcher::Searcher;

use super::collect::{Collector, Found, Room};
use super::query::Query;
use crate::bytes::Bytes;
use crate::features::format::shown;
use crate::features::text::{self, Encoding};
use crate::root::{File, Root, RootError, WalkedPath};
use crate::runtime::cancel::Cancel;
use crate::runtime::serial_executor::SerialExecutor;

/// A larger file is streamed, so that it can be stopped at every piece.
const WHOLE: u64 = 2 << 20;
/// A larger buffer is not kept for the next file.
const KEPT: usize = 1 << 20;
/// A larger file is decoded on the serial executor.
const DECODED: usize = 256 << 10;
/// A longer line in a stream is searched on the serial executor.
const SHORT_LINE: usize = 1 << 20;
/// A longer line is not searched, and neither is a longer file for matches across lines.
const MAX_LINE: usize = 16 << 20;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The result for one file.
#[derive(Debug)]
pub(super) enum Searched {
    /// It is text: the number of bytes searched, and the matches.
    Text(u64, Found),
    /// It is binary.
    Binary,
    /// It cannot be read.
    Unreadable,
    /// It has a line that is too long, or is too long to be searched across lines.
    TooLong,
}

/// The result of a search; `None` if it takes more memory than a worker may use.
type Tried = Result<Option<Searched>, RootError>;

/// Searches one file after another.
pub(super) struct FileSearcher<'q> {
    query: &'q Query,
    searcher: Searcher,
    serial_executor: &'q SerialExecutor,
    buffer: Bytes,
}

impl<'q> FileSearcher<'q> {
    pub(super) fn new(query: &'q Query, serial_executor: &'q SerialExecutor) -> Self {
        Self {
            query,
            searcher: query.searcher(None, query.piece(SHORT_LINE)),
            serial_executor,
            buffer: Bytes::default(),
        }
    }

    /// Searches a file, which is shown by the path through the link that led there. `None` if the search was stopped.
    pub(super) fn search(&mut self, root: &Root, path: &WalkedPath, room: Room, cancel: &Cancel) -> Option<Searched> {
        let Ok(file) = root.open_real_file(path.real.clone()) else {
            return Some(Searched::Unreadable);
        };
        let label = || shown(root, path.shown());
        let task = Task { query: self.query, file: &file, label: &label, room, cancel };
        let tried = if file.stat.size <= self.query.piece(WHOLE as usize) as u64 {
            self.whole(&task)
        } else if self.query.is_multiline() {
            Ok(None)
        } else {
            task.stream(&mut self.searcher, self.query.piece(SHORT_LINE))
        };
        match tried {
            Ok(Some(searched)) => Some(searched),
            Ok(None) => {
                let label = label();
                self.on_serial_executor(file, label, room, cancel)
            }
            Err(RootError::Cancelled) => None,
            Err(_) => Some(Searched::Unreadable),
        }
    }

    fn whole(&mut self, task: &Task<'_>) -> Tried {
        let size = task.file.stat.size as usize;
        if self.buffer.len() < size || self.buffer.len() > KEPT.max(size) {
            // The old buffer is freed first.
            self.buffer = Bytes::default();
            self.buffer = Bytes::zeroed(size.next_power_of_two().max(64 << 10));
        }
        let length = task.file.read_at(&mut self.buffer[..size], 0, task.cancel)?;
        Ok(task.bytes(&mut self.searcher, &mut self.buffer[..length], DECODED))
    }

    fn on_serial_executor(&self, file: File, label: String, room: Room, cancel: &Cancel) -> Option<Searched> {
        let (query, stop) = (self.query.clone(), cancel.clone());
        let searched = self.serial_executor.run_anyway(cancel, move || {
            let label = || label.clone();
            Task { query: &query, file: &file, label: &label, room, cancel: &stop }.large()
        });
        match searched {
            Some(Err(RootError::Cancelled)) => None,
            Some(searched) => Some(searched.unwrap_or(Searched::Unreadable)),
            None if cancel.checkpoint() => None,
            None => Some(Searched::Unreadable),
        }
    }
}

/// A file to search.
struct Task<'a> {
    query: &'a Query,
    file: &'a File,
    /// The name of the file in the answer.
    label: &'a dyn Fn() -> String,
    room: Room,
    cancel: &'a Cancel,
}

impl Task<'_> {
    /// With all the memory that one file may use.
    fn large(&self) -> Result<Searched, RootError> {
        let longest = self.query.piece(MAX_LINE);
        let mut searcher = self.query.searcher(None, longest);
        if self.file.stat.size > longest.min(WHOLE as usize) as u64 && !self.query.is_multiline() {
            return Ok(self.stream(&mut searcher, longest)?.unwrap_or(Searched::TooLong));
        }
        if self.file.stat.size > longest as u64 {
            return Ok(Searched::TooLong);
        }
        let mut bytes = text::head(self.file, MAX_LINE, self.cancel)?;
        Ok(self.bytes(&mut searcher, &mut bytes, longest).unwrap_or(Searched::TooLong))
    }

    /// Searches a whole file; `None` if more than `most` bytes would have to be decoded or would result from that.
    fn bytes(&self, searcher: &mut Searcher, bytes: &mut [u8], most: usize) -> Option<Searched> {
        let size = bytes.len() as u64;
        let is_utf16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
        let has_nul = memchr::memchr(0, bytes).is_some();
        let length = if is_utf16 || has_nul { bytes.len() } else { self.query.make_lines_even(bytes) };
        let bytes = &mut bytes[..length];
        if !has_nul && !is_utf16 && (self.query.is_ascii() || crate::text::is_text(bytes)) {
            let found = self.find(searcher, bytes);
            // For ASCII, finding is independent of the encoding, but what is shown must be decoded.
            if !self.query.is_ascii() || found.matches() == 0 || crate::text::is_text(bytes) {
                return Some(Searched::Text(size, found));
            }
        }
        if bytes.len() > most {
            return None;
        }
        let Some(encoding) = text::detect(bytes, true) else { return Some(Searched::Binary) };
        let mut text = Bytes::zeroed((3 * bytes.len() + 16).min(self.query.piece(MAX_LINE)));
        match decode(encoding, bytes, &mut text) {
            Decoded::Text(length) => {
                let length = self.query.make_lines_even(&mut text[..length]);
                Some(Searched::Text(size, self.find(searcher, &text[..length])))
            }
            Decoded::Binary => Some(Searched::Binary),
            Decoded::TooLong => None,
        }
    }

    fn find(&self, searcher: &mut Searcher, mut bytes: &[u8]) -> Found {
        // With a byte order mark, the engine would copy the file.
        while let Some(rest) = bytes.strip_prefix(MARK) {
            bytes = rest;
        }
        let mut collector = Collector::new(self.query, self.label, self.room);
        // Nothing is read here, and the collector never fails.
        let _ = searcher.search_slice(self.query.matcher(), bytes, &mut collector);
        collector.finish().unwrap_or_default()
    }

    /// Searches a file without reading it as a whole; `None` if a line is longer than `longest`.
    fn stream(&self, searcher: &mut Searcher, longest: usize) -> Tried {
        let sample = text::head(self.file, text::SAMPLE, self.cancel)?;
        let Some(encoding) = text::detect(&sample, false) else { return Ok(Some(Searched::Binary)) };
        let label = (!encoding.is_utf8()).then(|| grep_searcher::Encoding::new(encoding.label()).ok()).flatten();
        let mut decoding = label.map(|label| self.query.searcher(Some(label), longest));
        let searcher = decoding.as_mut().unwrap_or(searcher);
        let mut collector = Collector::new(self.query, self.label, self.room);
        let mut reader = Reader { file: self.file, at: 0, cancel: self.cancel, failed: false };
        let searched = searcher.search_reader(self.query.matcher(), &mut reader, &mut collector);
        Ok(match searched {
            Ok(()) => Some(collector.finish().map_or(Searched::Binary, |found| Searched::Text(reader.at, found))),
            Err(_) if reader.failed => Some(Searched::Unreadable),
            Err(_) => None,
        })
    }
}

enum Decoded {
    /// Bytes of text.
    Text(usize),
    Binary,
    TooLong,
}

fn decode(encoding: Encoding, bytes: &[u8], text: &mut [u8]) -> Decoded {
    let bytes = &bytes[encoding.mark()..];
    let (result, _, length) = encoding.decoder().decode_to_utf8_without_replacement(bytes, text, true);
    match result {
        DecoderResult::InputEmpty if memchr::memchr(0, &text[..length]).is_none() => Decoded::Text(length),
        DecoderResult::InputEmpty | DecoderResult::Malformed(..) => Decoded::Binary,
        DecoderResult::OutputFull => Decoded::TooLong,
    }
}

/// A file as a stream, up to its size when it was opened, which ends early if the search should stop.
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
