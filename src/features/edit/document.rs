//! A file as text with its line endings kept separately, and the replacement of a place in it.

use std::borrow::Cow;

use super::error::{EditError, Problem};
use super::find::{each, find};
use super::lines::{Lines, LoneCr, count};
use super::replacement::Replacement;
use super::{Edit, MOST};
use crate::features::text::{self, Encoding};
use crate::runtime::cancel::Cancel;

/// The longest text: encoded, it can be a third as long.
const MOST_TEXT: usize = 3 * MOST;

/// How many places are processed between two checks for cancellation.
const CHECKED: usize = 4_096;

/// A file that is being edited.
#[derive(Debug)]
pub(super) struct Document {
    lines: Lines,
    lone_cr: LoneCr,
    encoding: Encoding,
    /// Characters outside ASCII were added.
    has_new_characters: bool,
}

impl Document {
    /// Decodes a file. Fails if it is binary or could not be encoded back unchanged.
    pub(super) fn decode(file: &[u8]) -> Result<Self, EditError> {
        if file.len() > MOST {
            return Err(EditError::TooLong);
        }
        let (text, encoding) = text::decode(file.to_vec()).ok_or(EditError::Binary)?;
        let text = text.as_str();
        if !encoding.is_utf8() && encoding.encode(text).as_deref() != Ok(file) {
            return Err(EditError::Lossy { encoding: encoding.name() });
        }
        let lone_cr = LoneCr::of_file(text);
        Ok(Self { lines: Lines::split(text, lone_cr), lone_cr, encoding, has_new_characters: false })
    }

    /// Encodes the text as a file.
    pub(super) fn encode(&self) -> Result<Vec<u8>, EditError> {
        let unmappable = |character| EditError::Unmappable { character, encoding: self.encoding.label() };
        let bytes = self.encoding.encode(&self.lines.join()).map_err(unmappable)?;
        if bytes.len() > MOST {
            return Err(EditError::ResultTooLong);
        }
        // The next reader also guesses the encoding, and must get the same text.
        let reads_back = || text::decode(bytes.clone()).is_some_and(|(text, _)| text.as_str() == self.lines.join());
        if self.has_new_characters && self.encoding.is_guessed() && !reads_back() {
            return Err(EditError::Lossy { encoding: self.encoding.name() });
        }
        Ok(bytes)
    }

    /// The text, with `
    /// ` at the end of every line.
    pub(super) fn text(&self) -> String {
        self.lines.as_counted().into_owned()
    }

    /// The same, consuming the document.
    pub(super) fn into_text(self) -> String {
        match self.lines.as_counted() {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => self.lines.text,
        }
    }

    /// The encoding, if it is worth mentioning.
    pub(super) fn remarkable_encoding(&self) -> Option<String> {
        self.encoding.is_remarkable().then(|| self.encoding.name())
    }

    /// Replaces a text at its only occurrence or, with `all`, at each of up to `most` occurrences. Returns how many.
    pub(super) fn replace(&mut self, edit: &Edit, all: bool, most: usize, cancel: &Cancel) -> Result<usize, Problem> {
        if edit.new_text.contains('\0') {
            return Err(Problem::Nul);
        }
        let old = Lines::split(&edit.old_text, self.lone_cr).text;
        let new = Lines::split(&edit.new_text, self.lone_cr);
        let places = find(&self.lines, &old, all.then_some(most), cancel)?;
        let rest = self.lines.text.len() - places * old.len();
        if rest.saturating_add(places.saturating_mul(new.text.len())) > MOST_TEXT {
            return Err(Problem::ResultTooLong);
        }
        self.has_new_characters |= !edit.new_text.is_ascii();
        self.put(&old, &Replacement::new(&old, &new), cancel);
        Ok(places)
    }

    /// Applies the replacement at every occurrence of `old`.
    fn put(&mut self, old: &str, replacement: &Replacement, cancel: &Cancel) {
        let Lines { text, endings } = &self.lines;
        let mut edited = Lines { text: String::with_capacity(text.len()), endings: Vec::with_capacity(endings.len()) };
        let (mut from, mut endings_from) = (0, 0);
        for (number, place) in each(text, old).enumerate() {
            if number % CHECKED == 0 && cancel.checkpoint() {
                return;
            }
            let (start, end) = (place + replacement.head, place + old.len() - replacement.tail);
            let endings_start = endings_from + count(&text[from..start]);
            let endings_end = endings_start + count(&text[start..end]);
            edited.text.push_str(&text[from..start]);
            edited.endings.extend_from_slice(&endings[endings_from..endings_start]);
            replacement.push_to(&mut edited, endings, endings_start..endings_end);
            (from, endings_from) = (end, endings_end);
        }
        edited.text.push_str(&text[from..]);
        edited.endings.extend_from_slice(&endings[endings_from..]);
        self.lines = edited;
    }
}
