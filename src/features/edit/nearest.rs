//! The lines that are most similar to a text that does not occur. Nearly always they differ in a detail, and the model
//! can see which.
//!
//! First choice is the place where most lines equal the text's apart from surrounding white space, then the line most
//! similar to the text's first line. Each takes one pass over the file, with a limit on the comparison at each line.

use std::fmt;

use super::lines::Lines;
use crate::runtime::cancel::Cancel;

/// How many lines are compared to choose a place.
const COMPARED: usize = 8;
/// How many bytes of a line are compared by their pairs.
const COMPARED_BYTES: usize = 200;
/// How many lines are examined. In a longer file, a similar text may come after them.
const LOOKED_AT: usize = 1_000_000;
/// How many lines are processed between two checks for cancellation.
const CHECKED: usize = 1_024;
/// How many lines are shown.
const SHOWN: usize = 8;
/// How many lines before the first difference are shown.
const SHOWN_BEFORE: usize = 2;
/// How many bytes of a line are shown.
const SHOWN_BYTES: usize = 120;
/// How many bytes are shown in all.
const SHOWN_ALL: usize = 450;
/// The least similarity, in thousandths.
const ALIKE: usize = 300;

/// Some lines of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The number of the first line that differs, counted from 1; `None` if only white space differs.
    differs: Option<usize>,
    /// The lines with their numbers.
    lines: Vec<(usize, String)>,
}

/// The lines of `text` most similar to `old`; `None` if nothing is similar.
pub(super) fn nearest(file: &Lines, old: &str, cancel: &Cancel) -> Option<Nearest> {
    let text = file.text.as_str();
    let wanted = || old.lines().map(str::trim).skip_while(|line| line.is_empty());
    let first = wanted().next()?;
    let place = equal_lines(text, &wanted().take(COMPARED).collect::<Vec<_>>(), cancel)
        .or_else(|| similar_line(text, first, cancel))?;
    let equal = equal_count(&text[place.start..], wanted());
    let differs = wanted().nth(equal).map(|_| place.number + equal);
    let skip = if differs.is_some() { equal.saturating_sub(SHOWN_BEFORE) } else { 0 };
    let lines = shown(text, place, skip).into_iter().map(|(line, text)| (file.number(line), text));
    Some(Nearest { differs: differs.map(|line| file.number(line)), lines: lines.collect() })
}

/// The position of a line.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Counted from 1.
    number: usize,
    /// In bytes.
    start: usize,
}

/// Up to a million lines with their positions; fewer if cancelled.
fn lines<'t>(text: &'t str, cancel: &Cancel) -> impl Iterator<Item = (Place, &'t str)> {
    let mut start = 0;
    let goes_on = |(_, number): &(&str, usize)| number % CHECKED != 0 || !cancel.checkpoint();
    text.split_inclusive('\n').zip(1..).take(LOOKED_AT).take_while(goes_on).map(move |(line, number)| {
        let place = Place { number, start };
        start += line.len();
        (place, line.trim())
    })
}

/// The place where most of the wanted lines follow one another.
fn equal_lines(text: &str, wanted: &[&str], cancel: &Cancel) -> Option<Place> {
    let first = wanted.first()?;
    let mut best = (0, None);
    for (place, _) in lines(text, cancel).filter(|(_, line)| line == first) {
        let equal = equal_count(&text[place.start..], wanted.iter().copied());
        if equal > best.0 {
            best = (equal, Some(place));
        }
        if equal == wanted.len() {
            break;
        }
    }
    best.1
}

/// How many of the wanted lines a text begins with, apart from surrounding white space.
fn equal_count<'w>(text: &str, wanted: impl Iterator<Item = &'w str>) -> usize {
    text.split('\n').zip(wanted).take_while(|(line, wanted)| line.trim() == *wanted).count()
}

/// The line most similar to another.
fn similar_line(text: &str, wanted: &str, cancel: &Cancel) -> Option<Place> {
    let pairs = Pairs::of(wanted);
    let mut best = (ALIKE, None);
    for (place, line) in lines(text, cancel) {
        let likeness = pairs.likeness(line);
        if likeness > best.0 {
            best = (likeness, Some(place));
        }
    }
    best.1
}

/// The lines from a place on, after skipping `skip`, limited in number and length.
fn shown(text: &str, place: Place, skip: usize) -> Vec<(usize, String)> {
    let mut room = SHOWN_ALL;
    let cut = |line: &str| {
        let end = line.floor_char_boundary(SHOWN_BYTES);
        format!("{}{}", &line[..end], if end < line.len() { "..." } else { "" })
    };
    let lines = text[place.start..].split('\n').zip(place.number..).skip(skip).take(SHOWN);
    let lines = lines.map(|(line, number)| (number, cut(line)));
    let fits = |(_, line): &(usize, String)| {
        room = room.saturating_sub(line.len());
        room > 0
    };
    lines.take_while(fits).collect()
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.differs {
            Some(number) => write!(f, "The most similar lines, which differ at line {number}:")?,
            None => f.write_str("These lines differ only in white space:")?,
        }
        self.lines.iter().try_for_each(|(number, line)| write!(f, "\n{number}: {line}"))
    }
}

/// The pairs of adjacent bytes in a line. The similarity of two lines is the share of pairs that they have in common
/// (Dice).
struct Pairs {
    seen: Vec<bool>,
    count: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut seen = vec![false; 1 << 16];
        let pairs = pairs(line);
        let count = pairs.len();
        for pair in pairs {
            seen[index(pair)] = true;
        }
        Self { seen, count }
    }

    /// In thousandths.
    fn likeness(&self, line: &str) -> usize {
        let pairs = pairs(line);
        let all = self.count + pairs.len();
        let common = pairs.filter(|pair| self.seen[index(pair)]).count().min(self.count);
        (2_000 * common).checked_div(all).unwrap_or(0)
    }
}

fn pairs(line: &str) -> std::slice::Windows<'_, u8> {
    line.as_bytes()[..line.len().min(COMPARED_BYTES)].windows(2)
}

fn index(pair: &[u8]) -> usize {
    pair.iter().fold(0, |index, byte| index << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::super::lines::LoneCr;
    use super::*;

    fn said(text: &str, old: &str) -> Option<String> {
        let file = Lines::split(text, LoneCr::of_file(text));
        nearest(&file, old, &Cancel::default()).map(|nearest| nearest.to_string())
    }

    #[test]
    fn lines_that_differ_in_white_space_are_shown_as_they_are() {
        let text = "fn a() {\n\tfoo();\n}\n";
        let want = "These lines differ only in white space:\n2: \tfoo();\n3: }\n4: ";
        assert_eq!(said(text, "    foo();\n}").as_deref(), Some(want));
        assert!(said("a\nlast", "last\n").expect("like it").contains("only in white space:\n2: last"));
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        let text = (1..=40).map(|number| format!("line {number};\n")).collect::<Vec<_>>().concat();
        let old = text.replace("line 30;", "line thirty;");
        let said = said(&text, &old).expect("like it");
        assert!(said.starts_with("The most similar lines, which differ at line 30:\n28: line 28;\n29: "), "{said}");
    }

    #[test]
    fn the_place_with_most_equal_lines_is_taken() {
        let text = "if x {\n    a();\n}\nif x {\n    b();\n    c();\n}\n";
        let said = said(text, "if x {\n  b();\n  d();\n").expect("like it");
        assert!(said.contains("at line 6:\n4: if x {\n5:     b();\n6:     c();"), "{said}");
    }

    #[test]
    fn else_the_most_similar_line_is_taken() {
        let text = "let total = 0;\nfor item in items {\n    total += item.price;\n}\n";
        let found = said(text, "for (item of items) {").expect("like it");
        assert!(found.contains("at line 2:\n2: for item in items {"), "{found}");
        assert_eq!(said(text, "0123456789"), None);
        assert_eq!(said(text, " \n\t\n"), None);
        assert_eq!(said("", "x"), None);
    }

    #[test]
    fn what_is_shown_is_short_whatever_the_file_holds() {
        let line = "é".repeat(5_000);
        let text = format!("{line}\n").repeat(50);
        let said = said(&text, &format!("{line}\nother")).expect("like it");
        assert!(said.len() < 800 && said.contains("...") && said.contains("1: ééé"), "{} {said}", said.len());
    }
}
