//! Characters that make a person, a model or a terminal see something other than what is there, and one way to escape
//! them. File names and log lines can contain any of them.

use std::fmt::Write as _;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// Selects the picture form of the preceding character, as in `⚠️`. Many harmless names contain it.
const PICTURE: char = '\u{fe0f}';

/// Whether a character is invisible: Unicode's `Default_Ignorable_Code_Point`. It includes joiners, zero-width marks,
/// direction marks, fillers, variation selectors, and tags, which can spell out a whole text.
pub(crate) fn is_ignorable(c: char) -> bool {
    !c.is_ascii() && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// Whether a character must be escaped: control characters, line separators, annotation marks and invisible characters,
/// which include those that change the direction of text (Unicode TR 36).
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
        || (is_ignorable(c) && c != PICTURE)
}

/// The same text with hostile characters escaped, as `\u{1b}`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_or_acts_on_a_terminal_is_escaped() {
        for c in "\0\n\r\t\u{1b}\u{7f}\u{9b}\u{ad}\u{61c}\u{115f}\u{180e}\u{200b}\u{200d}\u{200e}\u{2028}\u{202e}\u{2060}\u{2066}\u{3164}\u{fe00}\u{feff}\u{ffa0}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\u{e0100}".chars() {
            assert!(is_hostile(c), "{c:?}");
        }
        for c in "a \u{a0}\u{e9}\u{301}\u{202f}\u{3000}\u{26a0}\u{fe0f}\u{1f600}\u{fffd}\\".chars() {
            assert!(!is_hostile(c), "{c:?}");
        }
        assert_eq!(escaped("a\u{1b}[2J\u{e0041}\u{26a0}\u{fe0f}"), "a\\u{1b}[2J\\u{e0041}\u{26a0}\u{fe0f}");
    }
}
