//! Lines prefixed with their numbers: `12`, a tab, and the line. The numbers take room, so fewer lines may fit.

use super::part::Part;
use super::{Lines, Window};
use crate::text::Text;

/// A part of a text with its lines numbered, at most `max` bytes. The part is cut to fit: at its end or, if the last
/// lines were requested, at its beginning.
pub(crate) fn numbered(part: Part, lines: Lines, max: usize) -> (Part, Text) {
    let part = match lines {
        Lines::From(window) => cut_end(part, window, max),
        Lines::Last(_) => cut_beginning(part, max),
    };
    let mut text = String::with_capacity(part.text.len());
    for (line, number) in part.text.as_str().split_inclusive('\n').zip(part.first_line..) {
        text += &format!("{number}\t{line}");
    }
    (part, text.into())
}

fn cut_end(part: Part, window: Window, max: usize) -> Part {
    let text = part.text.as_str();
    let mut room = max;
    let lines = text.split_inclusive('\n').zip(part.first_line..);
    let mut end: usize = lines.map_while(|line| take(&mut room, line)).sum();
    if end == 0 {
        end = text.floor_char_boundary(one_line(part.first_line, max));
    }
    if end >= text.len() {
        return part;
    }
    let kept = &text[..end];
    let ends = memchr::memchr_iter(b'\n', kept.as_bytes()).count() as u64;
    let next = if ends > 0 { (part.first_line + ends, 1) } else { (part.first_line, window.column + chars(kept)) };
    let lines = if part.is_whole { Some(part.line_count()) } else { part.lines };
    let range = (part.range.0, part.range.0 + end as u64);
    Part { text: kept.to_owned().into(), next: Some(next), lines, range, is_whole: false, is_cut: true, ..part }
}

fn cut_beginning(part: Part, max: usize) -> Part {
    let text = part.text.as_str();
    let mut room = max;
    let lines: Vec<_> = text.split_inclusive('\n').zip(part.first_line..).collect();
    let length: usize = lines.iter().rev().map_while(|line| take(&mut room, *line)).sum();
    let mut start = text.len() - length;
    if let (0, Some((line, number))) = (length, lines.last()) {
        start = text.ceil_char_boundary(text.len() - one_line(*number, max).min(line.len()));
    }
    if start == 0 {
        return part;
    }
    let first_line = part.first_line + memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() as u64;
    Part { text: text[start..].to_owned().into(), first_line, ..part }
}

/// Takes the room for a line with its number. Returns the length of the line, if it fits.
fn take(room: &mut usize, (line, number): (&str, u64)) -> Option<usize> {
    *room = room.checked_sub(prefix(number) + line.len())?;
    Some(line.len())
}

/// How many bytes of a line fit if not all of it does; enough for a character in any case.
fn one_line(number: u64, max: usize) -> usize {
    max.saturating_sub(prefix(number)).max(4)
}

/// The bytes of a number and the tab after it.
fn prefix(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 2
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_start(text: &str, max: usize) -> (Part, String) {
        let (part, text) = numbered(Part::whole(text.to_owned().into()), Lines::From(Window::ALL), max);
        (part, text.as_str().to_owned())
    }

    #[test]
    fn every_line_has_its_number() {
        assert_eq!(from_start("a\n\nb", 99).1, "1\ta\n2\t\n3\tb");
        assert_eq!(from_start("", 99).1, "");
        assert!(from_start("a\n", 99).0.is_whole);
    }

    #[test]
    fn what_does_not_fit_with_its_number_is_cut() {
        let (part, text) = from_start("aa\nbb\ncc\n", 10);
        assert_eq!((text.as_str(), part.next, part.lines), ("1\taa\n2\tbb\n", Some((3, 1)), Some(3)));
        assert_eq!(from_start("aa\nbb\n", 10).0.next, None);
        let (part, text) = from_start("ééééé\n", 7);
        assert_eq!((text.as_str(), part.next), ("1\téé", Some((1, 3))));
    }

    #[test]
    fn the_last_lines_are_cut_at_their_beginning() {
        let last = |text: &str, max| {
            let part = Part { is_whole: false, ..Part::whole(text.to_owned().into()) }.at_end_of(100);
            let (part, text) = numbered(part, Lines::Last(9), max);
            (part.first_line, text.as_str().to_owned())
        };
        assert_eq!(last("a\nb\n", 99), (99, "99\ta\n100\tb\n".to_owned()));
        assert_eq!(last("a\nb\n", 8), (100, "100\tb\n".to_owned()));
        assert_eq!(last("a\néééé\n", 9), (100, "100\téé\n".to_owned()));
    }

    #[test]
    fn numbers_are_measured_as_they_are_written() {
        for number in [1, 9, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(prefix(number), format!("{number}\t").len());
        }
    }
}
