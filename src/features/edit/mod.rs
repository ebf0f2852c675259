//! Edits of a text file: a text in it is found and replaced, and not one byte elsewhere changes.
//!
//! From bytes to bytes: there is no disk and no protocol here. The tool `edit_file` reads and writes the file, and
//! reports the result.
//!
//! | module | holds |
//! | --- | --- |
//! | [`document`] | a file as text with its line endings kept separately, and replacement in it |
//! | [`replacement`] | which part of a text is really replaced, and how new lines end |
//! | [`lines`] | splitting a text from its line endings, and joining them |
//! | [`find`] | finding a text, and checking that it occurs only once |
//! | [`nearest`] | the lines most similar to a text that does not occur |
//! | [`alike`], [`fold`], [`names`] | a place that only looks the same; what a text looks like; characters in words |
//! | [`mod@diff`] | the changes as a unified diff |
//! | [`error`] | why an edit failed |
//! | [`append`] | text to be appended, in the form of the file |

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

/// The longest file that can be edited, before and after, in bytes. It is held in memory several times.
pub(super) const MOST: usize = 16 << 20;

/// How many places one call may replace.
const MOST_PLACES: usize = 1_000_000;

/// Replaces one text with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// As in the file, apart from the kind of its line endings.
    pub(super) old_text: String,
    /// Taken literally, apart from the kind of its line endings.
    pub(super) new_text: String,
}

/// The result of edits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edited {
    /// The whole file.
    pub(super) bytes: Vec<u8>,
    /// The text before, with `
    /// ` at the end of every line; a lone `\r` does not end a line.
    pub(super) before: String,
    /// The text after, in the same form.
    pub(super) after: String,
    /// Whether the bytes differ from before.
    pub(super) changed: bool,
    /// How many places were replaced.
    pub(super) replaced: usize,
    /// The encoding, if it is worth mentioning.
    pub(super) encoding: Option<String>,
}

/// Makes all edits in order, or none; each applies to the result of the previous one. `oldText` must occur exactly once
/// or, with `replace_all`, at least once.
///
/// It can take seconds for a large file, so it can be cancelled: long steps below stop early, and their result is
/// discarded.
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
