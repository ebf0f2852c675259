//! Translates a line of an ignore file for `globset`, so that it has the same meaning as in git (git's `wildmatch.c`).
//!
//! In git, braces are literal, more than two stars equal two, and characters in a class may be escaped. A pattern that
//! can never match in git becomes an empty line.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// Characters with a special meaning somewhere in a class of `globset`, which has no escapes there.
const SPECIAL: [char; 5] = [']', '-', '!', '^', '['];

/// Named classes; with any other name, git matches nothing.
const NAMES: [&str; 12] =
    ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

/// The line in the other syntax, if it differs.
pub(super) fn as_git_reads(line: &str) -> Cow<'_, str> {
    // Git removes the last slash first. What remains then ends in the middle of an escape, or is not a name.
    let is_cut = |dir: &str| dir.ends_with('/') || (dir.len() - dir.trim_end_matches('\\').len()) % 2 == 1;
    if line.trim_end().strip_suffix('/').is_some_and(is_cut) {
        return Cow::Borrowed("");
    }
    let end = blank_end(line);
    if !line.contains(['{', '}', '[']) && !line.contains("***") && end.is_empty() {
        return Cow::Borrowed(line);
    }
    let Some(mut out) = rewritten(&line[..line.trim_end_matches(' ').len() - end.len()]) else {
        return Cow::Borrowed("");
    };
    if end.is_empty() {
        out.push_str(&line[line.trim_end_matches(' ').len()..]);
    }
    end.chars().for_each(|c| out.extend(['[', c, ']']));
    Cow::Owned(out)
}

/// Blanks at the end of a line before its last spaces: git removes only spaces, the other parser removes all blanks.
fn blank_end(line: &str) -> &str {
    let kept = line.trim_end_matches(' ');
    let blank = &kept[kept.trim_end().len()..];
    let is_escaped = (kept.len() - blank.len() - kept.trim_end().trim_end_matches('\\').len()) % 2 == 1;
    if is_escaped || blank.contains('\r') { "" } else { blank }
}

/// The line in the other syntax; `None` if it has a class that git rejects.
fn rewritten(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len() + 8);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' => out.extend(['\\', c]),
            '\\' => out.extend(std::iter::once(c).chain(rest.next())),
            '[' => Class::read(&mut rest)?.push_to(&mut out),
            '*' => {
                out.push('*');
                if rest.next_if_eq(&'*').is_some() {
                    out.push('*');
                    while rest.next_if_eq(&'*').is_some() {}
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// A character class.
#[derive(Debug, Default)]
struct Class {
    is_negated: bool,
    /// Neither end is a special character.
    ranges: Vec<(char, char)>,
    characters: Vec<char>,
    /// Names of [`NAMES`].
    named: Vec<&'static str>,
}

impl Class {
    /// Parses a class after its `[`; `None` if it does not end.
    fn read(rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        let mut class = Self { is_negated: rest.next_if(|c| matches!(c, '!' | '^')).is_some(), ..Self::default() };
        let mut before = None;
        let mut c = rest.next()?; // a `]` that is the first does not end it
        loop {
            before = if let Some(name) = name(c, rest) {
                class.named.push(NAMES.into_iter().find(|known| *known == name)?);
                None
            } else if let Some(from) = before
                && c == '-'
                && rest.peek().is_some_and(|next| *next != ']')
            {
                let to = unescaped(rest.next()?, rest)?;
                class.push_range(from, to);
                None
            } else {
                let c = unescaped(c, rest)?;
                class.characters.push(c);
                Some(c)
            };
            c = rest.next()?;
            if c == ']' {
                return Some(class);
            }
        }
    }

    /// Adds a range; a reversed one is empty.
    fn push_range(&mut self, from: char, to: char) {
        if to == '/' {
            self.characters.push(to); // a slash anywhere ties the pattern to its directory
        }
        let mut range = from..=to;
        let is_special = |c: &char| SPECIAL.contains(c);
        while let Some(c) = range.clone().next().filter(is_special) {
            self.characters.push(c);
            range.next();
        }
        while let Some(c) = range.clone().next_back().filter(is_special) {
            self.characters.push(c);
            range.next_back();
        }
        self.ranges.extend(range.clone().next().zip(range.next_back()));
    }

    /// Writes the class with `]` first, then characters that would be operators there, and `-` last.
    fn push_to(&self, out: &mut String) {
        let has = |c| self.characters.contains(&c);
        out.push_str(if self.is_negated { "[!" } else { "[" });
        out.push(if has(']') { ']' } else { '\0' }); // no name holds a NUL
        self.ranges.iter().for_each(|(from, to)| out.extend([*from, '-', *to]));
        out.extend(self.characters.iter().filter(|c| !SPECIAL.contains(c)));
        self.named.iter().for_each(|name| out.extend(["[:", name, ":]"]));
        out.extend(['[', '!', '^', '-'].into_iter().filter(|c| has(*c)));
        out.push(']');
    }
}

/// The character itself, or the one after a backslash.
fn unescaped(c: char, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    if c == '\\' { rest.next() } else { Some(c) }
}

/// The name between `[:` and `:]`, where `c` is the `[`; `None` if this is not a named class.
fn name(c: char, rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut ahead = rest.clone();
    if c != '[' || ahead.next() != Some(':') {
        return None;
    }
    let text: String = ahead.by_ref().take_while(|c| *c != ']').collect();
    let name = text.strip_suffix(':')?.to_owned();
    *rest = ahead;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tests/it/search/ignore.rs compares with git itself.
    #[test]
    fn what_git_reads_otherwise_is_written_otherwise() {
        for (line, want) in [
            ("/plain?*", "/plain?*"),
            ("{a}", "\\{a\\}"),
            ("a****b", "a**b"),
            ("\\***", "\\***"),
            ("[\\]x\\]]", "[]x]"),
            ("[^a-]", "[!\0a-]"),
            ("[z-a]", "[\0z]"),
            ("[z-/]", "[\0z/]"),
            ("[+--]", "[\0+-,+-]"),
            ("[[:digit:][:]", "[\0:[:digit:][]"),
            ("[a", ""),
            ("[\\]\\]", ""),
            ("[[:x:]]", ""),
            ("**//", ""),
            ("a\\/", ""),
            ("a\u{c} ", "a[\u{c}]"),
            ("{\t", "\\{[\t]"),
        ] {
            assert_eq!(as_git_reads(line), want, "{line}");
        }
    }
}
