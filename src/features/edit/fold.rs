//! The appearance of a text: characters that people and models confuse become one, and invisible ones are left out.
//!
//! Spaces of all widths, tabs and no-break spaces become one space, as does any run of them. Quotation marks, dashes,
//! full-width forms, ligatures, and Cyrillic and Greek letters that look Latin become ASCII. Accents are separated from
//! their letters, as in NFD. Zero-width and bidirectional control characters disappear.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;

/// One character of the appearance, and the part of the text that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) as_seen: char,
    /// The start of the part, right after the previous one: invisible characters belong to what follows.
    pub(super) from: usize,
    /// The part without leading invisible characters. If one character looks like several, only the first has it; the
    /// others are empty.
    pub(super) range: Range<usize>,
}

/// The appearance of a text, character by character.
pub(super) fn looks(text: &str) -> Looks<'_> {
    Looks { text, at: 0, from: 0, rest: Vec::new() }
}

/// See [`looks`].
pub(super) struct Looks<'t> {
    text: &'t str,
    /// How far the text has been read.
    at: usize,
    /// The end of the previous part.
    from: usize,
    /// Further characters that the previous part looks like, in reverse.
    rest: Vec<char>,
}

/// The appearance of one character.
enum Kind {
    Nothing,
    Space,
    Newline,
    Visible,
}

impl Iterator for Looks<'_> {
    type Item = Look;

    fn next(&mut self) -> Option<Look> {
        if let Some(as_seen) = self.rest.pop() {
            return Some(Look { as_seen, from: self.from, range: self.from..self.from });
        }
        loop {
            let (start, c) = (self.at, self.text[self.at..].chars().next()?);
            self.at += c.len_utf8();
            let as_seen = match kind(c) {
                Kind::Nothing => continue,
                Kind::Space => self.pass_blanks(false),
                Kind::Newline => self.pass_blanks(true),
                Kind::Visible if c.is_ascii() => ascii_look(c),
                Kind::Visible => {
                    decompose_compatible(latin(c), |part| self.rest.push(latin(part)));
                    self.rest.reverse();
                    self.rest.pop().unwrap_or(c)
                }
            };
            let from = std::mem::replace(&mut self.from, self.at);
            return Some(Look { as_seen, from, range: start..self.at });
        }
    }
}

impl Looks<'_> {
    /// Consumes the rest of a run of blanks, and returns its appearance.
    fn pass_blanks(&mut self, mut is_newline: bool) -> char {
        while let Some(c) = self.text[self.at..].chars().next() {
            match kind(c) {
                Kind::Visible => break,
                Kind::Newline => is_newline = true,
                Kind::Space | Kind::Nothing => {}
            }
            self.at += c.len_utf8();
        }
        if is_newline { '\n' } else { ' ' }
    }
}

fn kind(c: char) -> Kind {
    match c {
        '!'..='~' => Kind::Visible,
        ' ' | '\t' | '\u{2800}' | '\u{3164}' => Kind::Space,
        '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Kind::Newline,
        _ if c.is_whitespace() => Kind::Space,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}' => Kind::Nothing,
        _ => Kind::Visible,
    }
}

fn ascii_look(c: char) -> char {
    if c == '`' { '\'' } else { c }
}

/// The ASCII character that `c` looks like; otherwise `c` itself.
fn latin(c: char) -> char {
    /// Each row: a character, and others that look like it.
    const ALIKE: &[(char, &str)] = &[
        ('\'', "\u{b4}\u{2b9}\u{2bb}\u{2bc}\u{2c8}\u{2018}\u{2019}\u{201a}\u{201b}\u{2032}\u{2035}\u{ff40}"),
        ('"', "\u{2ba}\u{201c}\u{201d}\u{201e}\u{201f}\u{2033}\u{2036}\u{3003}"),
        ('-', "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2043}\u{2212}\u{2500}\u{fe58}\u{fe63}"),
        ('/', "\u{2044}\u{2215}"),
        ('*', "\u{2217}\u{2731}"),
        ('|', "\u{2223}\u{2502}"),
        (':', "\u{2236}\u{a789}"),
        ('~', "\u{223c}\u{301c}"),
        ('<', "\u{2039}"),
        ('>', "\u{203a}"),
        (';', "\u{37e}"),
        // Cyrillic and Greek.
        ('A', "\u{410}\u{391}"),
        ('B', "\u{412}\u{392}"),
        ('C', "\u{421}\u{3f9}"),
        ('E', "\u{415}\u{395}"),
        ('H', "\u{41d}\u{397}"),
        ('I', "\u{406}\u{399}\u{4c0}"),
        ('J', "\u{408}"),
        ('K', "\u{41a}\u{39a}"),
        ('M', "\u{41c}\u{39c}"),
        ('N', "\u{39d}"),
        ('O', "\u{41e}\u{39f}"),
        ('P', "\u{420}\u{3a1}"),
        ('S', "\u{405}"),
        ('T', "\u{422}\u{3a4}"),
        ('X', "\u{425}\u{3a7}"),
        ('Y', "\u{4ae}\u{3a5}"),
        ('Z', "\u{396}"),
        ('a', "\u{430}"),
        ('c', "\u{441}\u{3f2}"),
        ('d', "\u{501}"),
        ('e', "\u{435}"),
        ('h', "\u{4bb}"),
        ('i', "\u{456}\u{131}"),
        ('j', "\u{458}\u{3f3}"),
        ('o', "\u{43e}\u{3bf}"),
        ('p', "\u{440}\u{3c1}"),
        ('q', "\u{51b}"),
        ('s', "\u{455}"),
        ('v', "\u{3bd}"),
        ('w', "\u{51d}"),
        ('x', "\u{445}"),
        ('y', "\u{443}"),
    ];
    // Characters that look like ASCII are in a few blocks; most text has none of them.
    let is_candidate = matches!(c, '\u{b4}' | '\u{131}' | '\u{2b9}'..='\u{51d}' | '\u{2010}'..='\u{2502}' | '\u{2731}')
        || matches!(c, '\u{3003}' | '\u{301c}' | '\u{a789}' | '\u{fe58}' | '\u{fe63}' | '\u{ff40}');
    let found = is_candidate.then(|| ALIKE.iter().find(|(_, others)| others.contains(c))).flatten();
    found.map_or(c, |(ascii, _)| *ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> String {
        looks(text).map(|look| look.as_seen).collect()
    }

    #[test]
    fn what_looks_alike_is_alike() {
        for (one, other) in [
            ("in\u{a0}current", "in current"),
            ("a\u{3000}b\u{202f}c", "a b c"),
            ("\t x", "        x"),
            ("\u{201c}it\u{2019}s\u{201d}", "\"it's\""),
            ("a \u{2014} b \u{2013} c \u{2212}1", "a - b - c -1"),
            ("a\u{200b}b\u{feff}c\u{ad}d\u{202e}e", "abcde"),
            ("\u{ff21}\u{ff11}\u{ff08}\u{ff02}", "A1(\""),
            ("caf\u{e9} \u{212b}", "cafe\u{301} A\u{30a}"),
            ("p\u{430}ssw\u{43e}rd \u{39f}\u{391}", "password OA"),
            ("\u{fb01}le\u{2026}", "file..."),
            ("a\u{2028}b\r\u{b}c \n\n\t d", "a\nb\nc\nd"),
        ] {
            assert_eq!(seen(one), seen(other), "{one:?}");
        }
        for (one, other) in [("a b", "ab"), ("a\nb", "a b"), ("é", "e"), ("a", "A"), ("日", "本"), ("'", "\"")] {
            assert_ne!(seen(one), seen(other));
        }
    }

    #[test]
    fn every_row_of_the_table_is_reached() {
        for c in '\u{80}'..='\u{ffff}' {
            if latin(c) != c {
                assert_eq!(seen(&c.to_string()), latin(c).to_string());
            }
        }
        assert_eq!(['\u{b4}', '\u{ff40}', '\u{51d}', '\u{2731}', '\u{2502}'].map(latin), ['\'', '\'', 'w', '*', '|']);
    }

    #[test]
    fn the_parts_are_the_text() {
        let text = "\u{feff}a\u{200b}\u{e9}\u{2026} \t\u{a0}\n\u{fb01}x";
        let parts: String = looks(text).map(|look| &text[look.from..look.range.end]).collect();
        assert_eq!(parts, text);
    }
}
