//! Letters of names in the form in which globs compare them: independent of case and Unicode form, one byte each.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Composed, and in lower case if case does not matter: macOS and copied archives have decomposed names.
pub(in crate::features) fn cased(text: &str, folded: bool) -> Cow<'_, str> {
    match (text.is_ascii(), folded) {
        (true, false) => Cow::Borrowed(text),
        (true, true) => Cow::Owned(text.to_ascii_lowercase()),
        (false, false) => Cow::Owned(text.nfc().collect()),
        (false, true) => Cow::Owned(text.nfc().flat_map(char::to_lowercase).nfc().collect()),
    }
}

/// The characters of a glob outside ASCII, each once, in order.
pub(super) fn letters(glob: &str) -> Vec<char> {
    let mut letters: Vec<char> = glob.chars().filter(|c| !c.is_ascii()).collect();
    letters.sort_unstable();
    letters.dedup();
    letters
}

/// How many letters can be mapped to control characters, with a free one between any two and at either end.
pub(super) const MOST_LETTERS: usize = 15;

/// A text with one byte per character: those outside ASCII become control characters, in the same order so that ranges
/// keep their meaning.
pub(super) fn one_byte_each(text: &str, letters: &[char]) -> String {
    let byte = |c: char| match letters.binary_search(&c) {
        Ok(at) => 2 * at as u8 + 2,
        Err(at) => 2 * at as u8 + 1,
    };
    text.chars().map(|c| if c.is_ascii() { c } else { char::from(byte(c)) }).collect()
}
