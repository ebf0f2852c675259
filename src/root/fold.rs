//! One spelling for all names that some file system treats as equal: without case, in one Unicode form, and without
//! invisible characters.
//!
//! File systems differ in this, and so do their versions. This covers what APFS, HFS+, NTFS and ext4 (casefold) do
//! together, by Unicode's own tables: full case folding (CaseFolding.txt, C and F) and `Default_Ignorable_Code_Point`.
//! To them `.e\u{200b}nv` is `.env`, and `ẞ` is `ss` (in git, this was CVE-2014-9390).

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization as _;

use crate::hostile::is_ignorable;

/// The spelling that represents all others.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    // Not the compatibility forms, which turn some characters into `/`. Upper case first, as NTFS compares: it turns
    // `ı` into `i`, which folding alone leaves as it is.
    let visible: String = text.nfd().filter(|c| !is_ignorable(*c)).flat_map(char::to_uppercase).collect();
    Cow::Owned(UniCase::unicode(visible).to_folded_case().nfc().collect())
}

/// The path as Windows and its file systems read it, if that differs: what follows the first `:` of a name is a stream
/// of the file, and dots and spaces at the end are dropped.
pub(super) fn as_windows_reads(path: &[u8]) -> Option<Vec<u8>> {
    let is_cut = |name: &[u8]| name != b".." && (name.contains(&b':') || matches!(name.last(), Some(b'.' | b' ')));
    if !path.split(|byte| *byte == b'/').any(is_cut) {
        return None;
    }
    let names: Vec<&[u8]> =
        path.split(|byte| *byte == b'/').map(|name| if is_cut(name) { cut(name) } else { name }).collect();
    Some(names.join(&b'/'))
}

/// The same for one name. A name of which nothing is left stays as it is.
fn cut(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|byte| *byte == b':').unwrap_or(name.len());
    let end = name[..end].iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
    if end == 0 { name } else { &name[..end] }
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

    use super::*;

    /// Full case foldings to ASCII only (CaseFolding.txt, status F).
    const FULL: [(char, &str); 9] = [
        ('\u{df}', "ss"),
        ('\u{1e9e}', "ss"),
        ('\u{fb00}', "ff"),
        ('\u{fb01}', "fi"),
        ('\u{fb02}', "fl"),
        ('\u{fb03}', "ffi"),
        ('\u{fb04}', "ffl"),
        ('\u{fb05}', "st"),
        ('\u{fb06}', "st"),
    ];

    /// Ranges that contain nearly all characters with case, with another spelling, or invisible.
    fn characters() -> impl Iterator<Item = char> {
        ('\0'..='\u{2fff}')
            .chain('\u{a640}'..='\u{abff}')
            .chain('\u{f900}'..='\u{ffff}')
            .chain('\u{10400}'..='\u{118ff}')
            .chain('\u{1e900}'..='\u{1e95f}')
    }

    /// Checked against the tables of another crate.
    #[test]
    fn every_ignorable_code_point_is_one() {
        let class = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").expect("a property");
        let HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = class.into_kind() else { panic!("a class") };
        let known: Vec<char> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
        assert!(('\0'..=char::MAX).filter(|c| is_ignorable(*c)).eq(known.iter().copied()));
        for c in ['\u{fff0}', '\u{fff8}', '\u{1bca0}', '\u{1d173}', '\u{1d17a}', '\u{e0fff}', '\u{3164}'] {
            assert!(is_ignorable(c), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn all_that_folds_to_an_ascii_letter_does_so_here() {
        for letter in 'a'..='z' {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
            class.case_fold_simple();
            for c in class.iter().flat_map(|range| range.start()..=range.end()) {
                assert_eq!(fold(&c.to_string()), letter.to_string(), "{c:?}");
            }
        }
        for (c, folded) in FULL {
            assert_eq!(fold(&c.to_string()), folded, "{c:?}");
        }
    }

    #[test]
    fn every_character_is_folded_once_and_for_all() {
        for c in characters() {
            let text = c.to_string();
            let folded = fold(&text);
            assert_eq!(fold(&folded), folded, "{c:?}");
            assert!(c == '/' || !folded.contains('/'), "{c:?} has become a separator");
            for other in [c.to_uppercase().collect::<String>(), c.to_lowercase().collect(), text.nfd().collect()] {
                assert_eq!(fold(&other), folded, "{c:?} as {other:?}");
            }
        }
    }

    #[test]
    fn names_are_cut_as_windows_does() {
        for (path, read) in [
            (".env:", Some(".env")),
            (".env::$DATA", Some(".env")),
            ("a:x/b. /c", Some("a/b/c")),
            (".ssh...", Some(".ssh")),
            ("a/../b:", Some("a/../b")),
            (":", Some(":")),
            ("... ", Some("... ")),
            ("a/../b", None),
            (".env", None),
        ] {
            let cut = as_windows_reads(path.as_bytes());
            assert_eq!(cut.as_deref(), read.map(str::as_bytes), "{path}");
        }
    }
}
