//! Edits of a text file: a text in it is found and replaced, and not one byte beside it changes.
//!
//! From bytes to bytes: no disk and no protocol here. The tool `edit_file` reads and writes the file, and says what
//! came of it.
//!
//! | module | holds |
//! | --- | --- |
//! | [`document`] | a file as text, its line endings beside it, and how a place in it is replaced |
//! | [`replacement`] | what of a text is really replaced, and how the new lines end |
//! | [`lines`] | a text with its line endings apart, and put together again |
//! | [`find`] | where a text is, that there is just one such place, and what to say where not |
//! | [`nearest`] | the lines most like a text that is not there |
//! | [`alike`] | the place that only looks like it; [`fold`]: what a text looks like; [`names`]: characters in words |
//! | [`mod@diff`] | what has changed, as a unified diff |
//! | [`error`] | why there is no edit |
//! | [`append`] | text to be added at the end, as the file has text |

mod alike;
mod append;
mod diff;
mod document;
mod error;
mod find;
mod fold;
mod lines;
#[cfg(test)]
mod model;
mod names;
mod nearest;
mod replacement;
#[cfg(test)]
mod tests;

pub(super) use self::append::addition;
pub(super) use self::diff::diff;
use self::document::Document;
pub(super) use self::error::EditError;
use crate::runtime::cancel::Cancel;

/// The longest file that is edited, and the longest that an edit may make of it. It is held in memory a few times.
pub(super) const MOST: usize = 16 << 20;

/// Places that are replaced by one call.
const MOST_PLACES: usize = 1_000_000;

/// One text to be replaced by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// As it is in the file, but for the kind of its line endings.
    pub(super) old_text: String,
    /// Taken literally, but for the kind of its line endings.
    pub(super) new_text: String,
}

/// What came of edits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    /// The whole file.
    pub(super) bytes: Vec<u8>,
    /// Its text before, with `\n` at the end of every line; a lone `\r` ends none.
    pub(super) before: String,
    /// Its text now, in the same way.
    pub(super) after: String,
    /// Whether these are other bytes than before.
    pub(super) changed: bool,
    /// How many places were replaced.
    pub(super) replaced: usize,
    /// The encoding, where that does not go without saying.
    pub(super) encoding: Option<String>,
}

/// Makes all edits or none, in order; each sees what the ones before have made. `oldText` must be there exactly once,
/// or, with `replace_all`, at least once.
///
/// It can take seconds for a large file, so it is given up when `cancel` says so: what goes on for long below here
/// breaks off, and what that came to is not used.
pub(super) fn apply(file: &[u8], edits: &[Edit], replace_all: bool, cancel: &Cancel) -> Result<Edited, EditError> {
    let mut document = Document::decode(file)?;
    let before = document.text();
    let mut replaced = 0;
    for (index, edit) in edits.iter().enumerate() {
        let (number, of) = (index + 1, edits.len());
        let made = document.replace(edit, replace_all, MOST_PLACES - replaced, cancel);
        cancel.check().map_err(|_| EditError::Cancelled)?;
        replaced += made.map_err(|problem| EditError::Edit { number, of, problem })?;
    }
    let (bytes, encoding) = (document.encode()?, document.remarkable_encoding());
    Ok(Edited { changed: bytes != file, bytes, before, after: document.into_text(), replaced, encoding })
}
