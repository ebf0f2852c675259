//! Finds text that looks the same as a text that does not occur in a file, and describes which characters differ and
//! where.
//!
//! Both are compared by their appearance, in one pass over the file and in memory that does not grow with it.

use std::fmt;
use std::ops::Range;

use super::fold::{Look, looks};
use super::lines::Lines;
use super::names::described;
use crate::runtime::cancel::Cancel;

/// How many characters of the wanted text are compared. Differences are mostly near its beginning.
const COMPARED: usize = 64 << 10;
/// How many characters are processed between two checks for cancellation.
const CHECKED: usize = 64 << 10;
/// How many differences are described.
const SHOWN: usize = 2;

/// Text in a file that looks the same as the wanted text but has other characters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    /// The first differences.
    differences: Vec<Difference>,
    /// There are more.
    more: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Difference {
    /// Both are counted from 1.
    line: usize,
    column: usize,
    /// What the file has there and what was wanted, in words.
    there: String,
    wanted: String,
}

/// The first place in `file` that looks like `old`, if any.
pub(super) fn alike(file: &Lines, old: &str, cancel: &Cancel) -> Option<Alike> {
    let (text, inner) = (file.text.as_str(), old.trim());
    let wanted: Vec<Look> = looks(inner).take(COMPARED).collect();
    let start = find(text, &wanted, cancel)?;
    let found = differences(&text[start..], inner, wanted.len()).into_iter();
    let mut found: Vec<_> =
        found.map(|(there, wanted)| (start + there.start..start + there.end, &inner[wanted])).collect();
    if found.is_empty() {
        found.extend(before(text, start, &old[..old.len() - old.trim_start().len()]));
    }
    let more = found.len() > SHOWN;
    let differences = found.into_iter().take(SHOWN).map(|(there, wanted)| Difference::new(file, there, wanted));
    Some(Alike { differences: differences.collect(), more }).filter(|alike| !alike.differences.is_empty())
}

/// The start of the first text that looks like `wanted` (Knuth, Morris and Pratt).
fn find(text: &str, wanted: &[Look], cancel: &Cancel) -> Option<usize> {
    let is_same = |at: usize, look: &Look| wanted.get(at).is_some_and(|wanted| wanted.as_seen == look.as_seen);
    // For each prefix of `wanted`, its longest proper suffix that is also a prefix.
    let mut shorter = vec![0; wanted.len()];
    let next = |shorter: &[usize], mut matched: usize, look: &Look| {
        while matched > 0 && !is_same(matched, look) {
            matched = shorter[matched - 1];
        }
        matched + usize::from(is_same(matched, look))
    };
    for at in 1..wanted.len() {
        shorter[at] = next(&shorter, shorter[at - 1], &wanted[at]);
    }
    let mut matched = 0;
    let goes_on = |(index, _): &(usize, Look)| index % CHECKED != 0 || !cancel.checkpoint();
    let last = looks(text).enumerate().take_while(goes_on).find_map(|(index, look)| {
        matched = next(&shorter, matched, &look);
        (matched == wanted.len()).then_some(index)
    })?;
    looks(text).nth((last + 1).checked_sub(wanted.len())?).map(|look| look.range.start)
}

/// Where two texts differ that look the same for `count` characters: ranges in both, without those that merely follow
/// from an earlier one.
fn differences(text: &str, old: &str, count: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let same = |(there, wanted): &(Look, Look)| there.as_seen == wanted.as_seen;
    for (there, wanted) in looks(text).zip(looks(old)).take(count).take_while(same) {
        let (there, wanted) = (there.from..there.range.end, wanted.from..wanted.range.end);
        if text[there.clone()] == old[wanted.clone()] {
            continue;
        }
        if found.len() > SHOWN {
            break;
        }
        match found.last_mut() {
            Some((last, last_wanted)) if last.end == there.start && last_wanted.end == wanted.start => {
                (last.end, last_wanted.end) = (there.end, wanted.end);
            }
            _ => found.push((there, wanted)),
        }
    }
    found
}

/// The blanks before a place, if the wanted text begins with different ones.
fn before<'o>(text: &str, start: usize, wanted: &'o str) -> Option<(Range<usize>, &'o str)> {
    if text[..start].ends_with(wanted) {
        return None;
    }
    let mut from = text[..start].trim_end().len();
    if !wanted.contains('\n') {
        from = text[from..start].rfind('\n').map_or(from, |at| from + at + 1);
    }
    Some((from..start, wanted))
}

impl Difference {
    /// Described without their common beginning and end.
    fn new(file: &Lines, there: Range<usize>, wanted: &str) -> Self {
        let is_same = |(a, b): &(char, char)| a == b;
        let text = &file.text[there.clone()];
        let head: usize = text.chars().zip(wanted.chars()).take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
        let (text, wanted) = (&text[head..], &wanted[head..]);
        let tail = text.chars().rev().zip(wanted.chars().rev()).take_while(is_same).map(|(c, _)| c.len_utf8());
        let tail: usize = tail.sum();
        let (line, column) = file.place(there.start + head);
        let (there, wanted) = (&text[..text.len() - tail], &wanted[..wanted.len() - tail]);
        Self { line, column, there: described(there), wanted: described(wanted) }
    }
}

impl fmt::Display for Alike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The file has text that looks the same: ")?;
        for (index, Difference { line, column, there, wanted }) in self.differences.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(
                f,
                "{separator}at line {line}, column {column} the file has {there} where \"oldText\" has {wanted}"
            )?;
        }
        f.write_str(if self.more { "; and more." } else { "." })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lines::LoneCr;
    use super::*;

    fn said(text: &str, old: &str) -> Option<String> {
        let file = Lines::split(text, LoneCr::of_file(text));
        alike(&file, old, &Cancel::default()).map(|alike| alike.to_string())
    }

    #[test]
    fn the_characters_are_named_with_their_place() {
        for (text, old, want) in [
            (
                "a\nin\u{a0}current\n",
                "in current",
                "line 2, column 3 the file has no-break space (U+00A0) where \"oldText\" has space (U+0020).",
            ),
            (
                "say \u{201c}hi\u{201d}",
                "\"hi\"",
                "line 1, column 5 the file has left double quotation mark (U+201C) where \"oldText\" has quotation mark (U+0022); at line 1, column 8",
            ),
            (
                "x\u{200b}y",
                "xy",
                "line 1, column 2 the file has zero-width space (U+200B) where \"oldText\" has nothing.",
            ),
            (
                "xy",
                "x\u{200b}y",
                "line 1, column 2 the file has nothing where \"oldText\" has zero-width space (U+200B).",
            ),
            (
                "if a\n\tb();\n",
                "if a\n    b();",
                "line 2, column 1 the file has tab (U+0009) where \"oldText\" has 4 spaces (U+0020).",
            ),
            (
                "\tb();\n",
                "  b();",
                "line 1, column 1 the file has tab (U+0009) where \"oldText\" has 2 spaces (U+0020).",
            ),
            ("a \nb", "a\nb", "line 1, column 2 the file has space (U+0020) where \"oldText\" has nothing."),
            (
                "caf\u{e9}",
                "cafe\u{301}",
                "column 4 the file has '\u{e9}' (U+00E9) where \"oldText\" has 'e' (U+0065), combining mark (U+0301).",
            ),
            (
                "p\u{430}ss",
                "pass",
                "column 2 the file has Cyrillic '\u{430}' (U+0430) where \"oldText\" has 'a' (U+0061).",
            ),
            (
                "\u{ff21}BC",
                "ABC",
                "column 1 the file has full-width '\u{ff21}' (U+FF21) where \"oldText\" has 'A' (U+0041).",
            ),
            (
                "a\u{2028}b",
                "a\nb",
                "column 2 the file has line separator (U+2028) where \"oldText\" has line feed (U+000A).",
            ),
            (
                "end\u{2026}",
                "end...",
                "column 4 the file has horizontal ellipsis (U+2026) where \"oldText\" has 3 full stops (U+002E).",
            ),
            ("a\u{202e}b", "ab", "the file has right-to-left override (U+202E) where \"oldText\" has nothing."),
        ] {
            let said = said(text, old).unwrap_or_else(|| panic!("{text:?} {old:?}"));
            assert!(said.contains(want), "{text:?} {old:?}: {said}");
        }
    }

    #[test]
    fn what_does_not_look_alike_is_not_found() {
        for (text, old) in [("abc", "abd"), ("", "x"), ("a b", "ab"), ("x", " \n"), ("ab", "a\u{200b}\u{200b}c")] {
            assert_eq!(said(text, old), None, "{text:?} {old:?}");
        }
    }

    #[test]
    fn a_place_within_repetitions_is_found() {
        let text = format!("{}{}\u{a0}end", "ab ".repeat(50_000), "ab ".repeat(3));
        let said = said(&text, &format!("{} end", "ab ".repeat(3).trim_end())).expect("it is there");
        assert!(said.contains("no-break space"), "{said}");
    }

    #[test]
    fn what_is_said_is_short() {
        let (text, old) = ("\u{201c}\u{a0}\u{2014}\u{200b}\u{202e}x".repeat(50_000), "\" -x".repeat(50_000));
        let said = said(&text, &old).expect("it is there");
        assert!(said.len() < 400 && said.ends_with("and more."), "{} {said}", said.len());
    }

    proptest! {
        #[test]
        fn whatever_looks_the_same_is_found(
            parts in prop::collection::vec((0..LIKE.len(), 0..3_usize, 0..3_usize), 1..12),
            around in prop::collection::vec(0..LIKE.len(), 0..6),
        ) {
            let (text, old): (String, String) =
                parts.iter().map(|(look, one, other)| (LIKE[*look][*one], LIKE[*look][*other])).unzip();
            let around: String = around.iter().map(|look| LIKE[*look][0]).collect();
            let (text, old) = (format!("{around}<{text}>{around}"), format!("<{old}>"));
            if !text.replace("\r\n", "\n").contains(&old) {
                prop_assert!(said(&text, &old).is_some_and(|said| said.contains("U+")));
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in ".{0,40}", from: prop::sample::Index, length in 0..6_usize, other in ".{0,4}") {
            let chars: Vec<char> = text.chars().collect();
            let from = from.index(chars.len() + 1);
            let part: String = chars[from..(from + length).min(chars.len())].iter().collect();
            for old in [&other, &format!("{part}{other}"), &format!(" \t{part}\u{200b}")] {
                let _ = said(&text, old);
            }
        }
    }

    /// The characters of each row look the same.
    const LIKE: [[&str; 3]; 8] = [
        ["a", "\u{430}", "\u{ff41}"],
        [" ", "\u{a0}", "\t "],
        ["\"", "\u{201c}", "\u{200b}\u{201d}"],
        ["-", "\u{2014}", "\u{2212}"],
        ["\u{e9}", "e\u{301}", "\u{435}\u{301}"],
        ["\n", "\n  ", "\u{2028}"],
        ["...", "\u{2026}", ".\u{202e}.."],
        ["x", "x", "\u{feff}x"],
    ];
}
