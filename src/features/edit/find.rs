//! Finds a text in another, and checks that it occurs only once.
//!
//! Time is linear in both, whatever their content: the search is memchr's, which has no bad cases.

use memchr::memmem::{self, Finder};

use super::alike::alike;
use super::error::Problem;
use super::lines::{Lines, count};
use super::nearest::nearest;
use crate::runtime::cancel::Cancel;

/// How many line numbers an error lists.
const NAMED: usize = 10;
/// Limits for counting overlapping occurrences: bytes compared, and occurrences. Beyond them, the error says "more
/// than".
const COUNTED: (usize, usize) = (32 << 20, 100_000);

/// Finds `old` and returns the number of its occurrences, which must be one unless `all` are wanted, up to that many.
pub(super) fn find(file: &Lines, old: &str, all: Option<usize>, cancel: &Cancel) -> Result<usize, Problem> {
    let text = file.text.as_str();
    if old.is_empty() {
        return Err(Problem::EmptyOld);
    }
    let Some(first) = memmem::find(text.as_bytes(), old.as_bytes()) else {
        return Err(if text.is_empty() {
            Problem::EmptyFile
        } else {
            Problem::NotFound { alike: alike(file, old, cancel), nearest: nearest(file, old, cancel) }
        });
    };
    if let Some(most) = all {
        let places = each(text, old).take(most + 1).count();
        return if places > most { Err(Problem::TooMany) } else { Ok(places) };
    }
    match memmem::find(&text.as_bytes()[first + 1..], old.as_bytes()) {
        None => Ok(1),
        Some(_) => Err(ambiguous(file, old)),
    }
}

/// Every occurrence of `old` that does not overlap the one before.
pub(super) fn each<'t>(text: &'t str, old: &'t str) -> impl Iterator<Item = usize> + 't {
    memmem::find_iter(text.as_bytes(), old.as_bytes())
}

/// Counts all occurrences, including overlapping ones.
fn ambiguous(file: &Lines, old: &str) -> Problem {
    let (text, finder) = (file.text.as_str(), Finder::new(old));
    let (mut places, mut lines) = (0, Vec::new());
    let (mut from, mut line, mut counted) = (0, 1, 0);
    while let Some(found) = finder.find(&text.as_bytes()[from..]) {
        places += 1;
        if lines.len() < NAMED {
            line += count(&text[counted..from + found]);
            counted = from + found;
            lines.push(file.number(line));
        }
        from += found + 1;
        if places * old.len() > COUNTED.0 || places == COUNTED.1 {
            return Problem::Ambiguous { places, more: finder.find(&text.as_bytes()[from..]).is_some(), lines };
        }
    }
    Problem::Ambiguous { places, more: false, lines }
}

#[cfg(test)]
mod tests {
    use super::super::lines::LoneCr;
    use super::*;

    fn find(text: &str, old: &str, all: Option<usize>) -> Result<usize, Problem> {
        super::find(&Lines::split(text, LoneCr::of_file(text)), old, all, &Cancel::default())
    }

    fn ambiguous(text: &str, old: &str) -> String {
        find(text, old, None).expect_err("several").to_string()
    }

    #[test]
    fn a_text_must_be_there_once_unless_all_are_wanted() {
        assert_eq!(find("abcabd", "abd", None), Ok(1));
        assert_eq!(find("abcabd", "ab", Some(9)), Ok(2));
        assert_eq!(find("", "", Some(9)), Err(Problem::EmptyOld));
        assert!(matches!(find("abc", "x", Some(9)), Err(Problem::NotFound { .. })));
        assert!(matches!(find("é", "\u{a9}", Some(9)), Err(Problem::NotFound { .. })), "not within a character");
    }

    #[test]
    fn several_places_are_counted_and_their_lines_named() {
        assert!(ambiguous("x\na a\nb\na\n", "a").contains("there 3 times, at lines 2, 4;"));
        assert!(ambiguous("\n\n\n", "\n").contains("there 3 times, at lines 1, 2, 3;"));
        assert!(ambiguous("\n\n\n\n", "\n\n").contains("there 3 times, at lines 1, 2, 3;"));
        assert!(ambiguous("aaaa", "aa").contains("there 3 times, at line 1;"));
        let many = ambiguous(&"a\n".repeat(1_000), "a");
        assert!(many.contains("there 1000 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more;"), "{many}");
    }

    #[test]
    fn where_counting_would_take_long_there_are_more_than_that() {
        let said = ambiguous(&"a".repeat(3 << 20), &"a".repeat(1 << 20));
        assert!(said.contains("there more than 33 times"), "{said}");
        assert!(ambiguous(&"a".repeat(16 << 20), "a").contains("there more than 100000 times"));
        assert!(ambiguous(&"a".repeat(100_000), "a").contains("there 100000 times"));
    }
}
