//! From the bytes of a file to text: its encoding, and some of its lines.
//!
//! Small files are read at once. Anything else is streamed through [`scan`], so that ten lines of a huge file take no
//! more memory than ten lines. Media types are up to [`super::content`]; how answers say where a part ends is up to the
//! tools and resources.

mod encoding;
mod ends;
mod evidence;
mod numbered;
mod part;
mod scan;
mod tail;

pub(super) use self::encoding::{Encoding, detect, line_ending};
pub(super) use self::ends::{Seen, look};
pub(super) use self::numbered::numbered;
pub(super) use self::part::{Part, Window};
use crate::bytes::Bytes;
use crate::root::{File, RootError};
use crate::runtime::cancel::Cancel;
use crate::text::Text;

/// The lines of a file up to this size, in bytes, are counted to the end.
pub(super) const COUNTED: u64 = 8 << 20;

/// How many bytes are examined to distinguish text from binary, and one encoding from another.
pub(super) const SAMPLE: usize = 64 << 10;

/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

/// Why a file yields no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextError {
    /// It contains NUL bytes, or bytes that are invalid in every encoding.
    Binary,
    /// Finding lines from the end would require decoding all of it, which is not done for a UTF-16 file of this size.
    TailTooLong,
    /// The file could not be read.
    Root(RootError),
}

impl From<RootError> for TextError {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}

/// Which lines to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Lines from a position on.
    From(Window),
    /// This many lines at the end.
    Last(u64),
}

/// Reads the text that `lines` selects, at most `max` bytes. A byte order mark is not part of the text.
pub(super) fn read(file: &File, lines: Lines, max: usize, cancel: &Cancel) -> Result<(Part, Encoding), TextError> {
    if lines == Lines::From(Window::ALL) && file.stat.size <= max as u64 {
        return read_whole(file, max, cancel);
    }
    let sample = head(file, SAMPLE, cancel)?;
    let encoding = detect(&sample, sample.len() as u64 >= file.stat.size).ok_or(TextError::Binary)?;
    match part(file, lines, max, encoding, cancel) {
        // Later bytes are not UTF-8 as the beginning suggested, so they decide.
        Err(TextError::Binary) if encoding.is_utf8() => {
            let encoding = Encoding::guess(&window_bytes(file, lines, cancel)?).ok_or(TextError::Binary)?;
            Ok((part(file, lines, max, encoding, cancel)?, encoding))
        }
        result => Ok((result?, encoding)),
    }
}

/// The last lines of a file with their position: if the file is long they have not been counted yet, so they are now.
/// (A UTF-16 file was decoded from its beginning, and counted.)
pub(super) fn place_last(part: Part, file: &File, cancel: &Cancel) -> Result<Part, TextError> {
    if part.lines.is_some() {
        return Ok(part);
    }
    Ok(part.at_end_of(tail::count_lines(file, cancel)?))
}

/// The first bytes of a file.
pub(super) fn head(file: &File, most: usize, cancel: &Cancel) -> Result<Bytes, RootError> {
    let mut bytes = Bytes::zeroed(most.min(usize::try_from(file.stat.size).unwrap_or(most)));
    let length = file.read_at(&mut bytes, 0, cancel)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads raw UTF-8 including a byte order mark, as resources return it. Offsets in the part are those of the file.
pub(super) fn read_raw(file: &File, window: Window, max: usize, cancel: &Cancel) -> Result<Part, TextError> {
    scan::scan(file, window, max, Encoding::RAW_UTF8, cancel)
}

/// All bytes of a file as text; `None` if they are binary.
pub(super) fn decode(bytes: impl Into<Bytes>) -> Option<(Text, Encoding)> {
    let bytes = bytes.into();
    let encoding = detect(&bytes, true)?;
    Some((encoding.decode_whole(bytes).ok()?, encoding))
}

fn read_whole(file: &File, max: usize, cancel: &Cancel) -> Result<(Part, Encoding), TextError> {
    let (text, encoding) = decode(head(file, max, cancel)?).ok_or(TextError::Binary)?;
    if text.len() > max {
        return Ok((scan::scan(file, Window::ALL, max, encoding, cancel)?, encoding));
    }
    Ok((Part::whole(text), encoding))
}

fn part(file: &File, lines: Lines, max: usize, encoding: Encoding, cancel: &Cancel) -> Result<Part, TextError> {
    match lines {
        Lines::From(window) => scan::scan(file, window, max, encoding, cancel),
        Lines::Last(count) => tail::tail(file, count, max, encoding, cancel),
    }
}

/// Some bytes at the position of the window, to guess their encoding.
fn window_bytes(file: &File, lines: Lines, cancel: &Cancel) -> Result<Vec<u8>, TextError> {
    let from = match lines {
        Lines::From(window) => scan::position_of_line(file, window.offset, cancel)?,
        Lines::Last(_) => file.stat.size.saturating_sub(SAMPLE as u64),
    };
    let mut bytes = vec![0; SAMPLE];
    let length = file.read_at(&mut bytes, from, cancel)?;
    bytes.truncate(length);
    Ok(bytes)
}
