//! A file's bytes to text: which encoding, and which lines of it.
//!
//! Whole small files are read at once; anything else streams through [`scan`], so that ten lines of a huge file take
//! no more memory than ten lines. What the parts of this module leave to others: media types ([`super::content`]),
//! and how answers say where a part ends (the tools, and resources).

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

/// Up to this size a file's lines are counted to the end.
pub(super) const COUNTED: u64 = 8 << 20;

/// How much is looked at to tell text from binary and one encoding from another.
pub(super) const SAMPLE: usize = 64 << 10;

/// What is read at once.
const CHUNK: usize = 64 << 10;

/// Why a file gives no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextError {
    /// It holds NUL bytes, or bytes that no encoding explains.
    Binary,
    /// A window from the end is only found by reading all, which is not done for a UTF-16 file this long.
    TailTooLong,
    /// The disk said no.
    Root(RootError),
}

impl From<RootError> for TextError {
    fn from(error: RootError) -> Self {
        Self::Root(error)
    }
}

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// From a line on.
    From(Window),
    /// The last ones, as many as this.
    Last(u64),
}

/// Reads text: what `lines` says, at most `max` bytes of it. A byte order mark is not part of the text.
pub(super) fn read(file: &File, lines: Lines, max: usize, cancel: &Cancel) -> Result<(Part, Encoding), TextError> {
    if lines == Lines::From(Window::ALL) && file.stat.size <= max as u64 {
        return read_whole(file, max, cancel);
    }
    let sample = head(file, SAMPLE, cancel)?;
    let encoding = detect(&sample, sample.len() as u64 >= file.stat.size).ok_or(TextError::Binary)?;
    match part(file, lines, max, encoding, cancel) {
        // The bytes further on are not what the beginning promised: they decide.
        Err(TextError::Binary) if encoding.is_utf8() => {
            let encoding = Encoding::guess(&window_bytes(file, lines, cancel)?).ok_or(TextError::Binary)?;
            Ok((part(file, lines, max, encoding, cancel)?, encoding))
        }
        result => Ok((result?, encoding)),
    }
}

/// The last lines of a file with their place in it: where they were not counted because the file is long, they are now.
/// (One in UTF-16 was decoded from its beginning, and counted.)
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

/// Reads raw UTF-8, byte order mark included: what a resource gives. Offsets in the part are those of the file.
pub(super) fn read_raw(file: &File, window: Window, max: usize, cancel: &Cancel) -> Result<Part, TextError> {
    scan::scan(file, window, max, Encoding::RAW_UTF8, cancel)
}

/// A whole file's bytes as text; `None` if they are binary.
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

/// Some bytes from where the window is, to guess their encoding.
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
