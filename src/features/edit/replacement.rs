//! Which part of a text is really replaced, and how the new lines end.
//!
//! Models repeat the lines around a change to locate it. These lines stay as they are, each with its own ending. New
//! lines end like those that they replace, or like the nearest line.

use std::ops::Range;

use super::lines::{Ending, Lines, count};

/// The replacement of one text with another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    /// Bytes in the first lines of the old text that are also the first of the new text.
    pub(super) head: usize,
    /// The same for its last lines.
    pub(super) tail: usize,
    /// The number of line endings in the head and in the tail.
    around: (usize, usize),
    /// What goes between them, with the line endings as given.
    middle: Lines,
}

impl Replacement {
    /// Replaces `old` with `new`.
    pub(super) fn new(old: &str, new: &Lines) -> Self {
        let same = |(old, new): &(&str, &str)| old == new;
        let length = |(line, _): (&str, &str)| line.len();
        let lines = |from| (old[from..].split_inclusive('\n'), new.text[from..].split_inclusive('\n'));
        let (old_lines, new_lines) = lines(0);
        let head: usize = old_lines.zip(new_lines).take_while(same).map(length).sum();
        let (old_lines, new_lines) = lines(head);
        let tail: usize = old_lines.rev().zip(new_lines.rev()).take_while(same).map(length).sum();
        let text = &new.text[head..new.text.len() - tail];
        let around = (count(&new.text[..head]), count(&new.text[new.text.len() - tail..]));
        let endings = &new.endings[around.0..new.endings.len() - around.1];
        Self { head, tail, around, middle: Lines { text: text.to_owned(), endings: endings.to_vec() } }
    }

    /// Appends the new part to `edited`, in place of the lines that end with `endings[replaced]`.
    pub(super) fn push_to(&self, edited: &mut Lines, endings: &[Ending], replaced: Range<usize>) {
        edited.text.push_str(&self.middle.text);
        let (before, rest) = endings.split_at(replaced.start);
        let (replaced, after) = rest.split_at(replaced.len());
        let near = replaced.last().or_else(|| self.nearest(before, after));
        let given = self.middle.endings.iter().enumerate();
        edited.endings.extend(given.map(|(index, given)| *replaced.get(index).or(near).unwrap_or(given)));
    }

    /// The ending of the nearest line: among the matched ones if there are any, and rather before than after.
    fn nearest<'e>(&self, before: &'e [Ending], after: &'e [Ending]) -> Option<&'e Ending> {
        match self.around {
            (0, 1..) => after.first(),
            _ => before.last().or(after.first()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::LoneCr;
    use super::*;

    #[test]
    fn the_lines_around_a_change_are_left_out_of_it() {
        for (old, new, head, middle, tail) in [
            ("a", "b", 0, "b", 0),
            ("a\nb\nc", "a\nB\nc", 2, "B\n", 1),
            ("a\nc", "a\nb\nc", 2, "b\n", 1),
            ("a\nb\nc\n", "a\nc\n", 2, "", 2),
            ("a\n", "a\na\n", 2, "a\n", 0),
            ("a\na\n", "a\n", 2, "", 0),
            ("ab", "ab", 2, "", 0),
            ("a", "ab", 0, "ab", 0),
            ("a\nb", "a\nb\n", 2, "b\n", 0),
        ] {
            let replacement = Replacement::new(old, &Lines::split(new, LoneCr::Character));
            let found = (replacement.head, replacement.middle.text.as_str(), replacement.tail);
            assert_eq!(found, (head, middle, tail), "{old:?} -> {new:?}");
        }
    }
}
