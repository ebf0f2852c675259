//! The text of a prompt in pieces: literal text, and places for arguments and files.
//!
//! It is parsed once, before any argument is known, so the value of an argument is never parsed.

use super::Format;

/// The longest placeholder, in bytes, so that looking for its end costs little.
const LONGEST: usize = 256;

/// A piece of a prompt's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// The value of the argument of this name.
    Argument(String),
    /// A file of the served directory; its path as written.
    File(String),
}

/// A placeholder in a text.
#[derive(Debug, PartialEq, Eq)]
struct Placeholder<'t> {
    /// The argument.
    name: &'t str,
    /// What the text says about it.
    hint: Option<&'t str>,
    /// Its length in the text, in bytes.
    length: usize,
}

/// Splits a text into pieces. `is_argument` is called with the name of each placeholder and what the text says about
/// it; a placeholder that is not an argument stays as it is.
pub(super) fn pieces(
    text: &str,
    format: Format,
    mut is_argument: impl FnMut(&str, Option<&str>) -> bool,
) -> Vec<Piece> {
    let mut pieces = Pieces::default();
    for line in text.split_inclusive('\n') {
        match file(line).filter(|_| format == Format::Own) {
            Some(path) => pieces.file(path),
            None => inline(line, format, &mut is_argument, &mut pieces),
        }
    }
    pieces.end()
}

/// The path in `{{file:PATH}}`, if the line contains nothing else.
fn file(line: &str) -> Option<&str> {
    let path = line.trim().strip_prefix("{{file:")?.strip_suffix("}}")?.trim();
    (!path.is_empty() && !path.contains("{{") && !path.contains("}}")).then_some(path)
}

fn inline(line: &str, format: Format, is_argument: &mut impl FnMut(&str, Option<&str>) -> bool, pieces: &mut Pieces) {
    let mark = if format == Format::Own { b'{' } else { b'$' };
    let (mut done, mut from) = (0, 0);
    while let Some(at) = memchr::memchr(mark, &line.as_bytes()[from..]).map(|at| from + at) {
        let found = placeholder(&line[at..], format).filter(|found| is_argument(found.name, found.hint));
        match found {
            Some(found) => {
                pieces.text(&line[done..at]);
                pieces.argument(found.name);
                done = at + found.length;
                from = done;
            }
            None => from = at + 1,
        }
    }
    pieces.text(&line[done..]);
}

fn placeholder(text: &str, format: Format) -> Option<Placeholder<'_>> {
    match format {
        Format::Own => {
            between(text, "{{", "}}").map(|(inner, length)| Placeholder { name: inner.trim(), hint: None, length })
        }
        Format::ClaudeCommand => dollar(text),
        Format::CopilotPrompt => {
            let (inner, length) = between(text, "${input:", "}")?;
            let (name, hint) = inner.split_once(':').map_or((inner, None), |(name, hint)| (name, Some(hint)));
            Some(Placeholder { name, hint: hint.filter(|hint| !hint.is_empty()), length })
        }
    }
}

/// `$ARGUMENTS`, or `$1` to `$9`. A longer word or number is not a placeholder.
fn dollar(text: &str) -> Option<Placeholder<'_>> {
    const ALL: &str = "ARGUMENTS";
    let rest = &text[1..];
    let name =
        if rest.starts_with(ALL) { &rest[..ALL.len()] } else { rest.get(..1).filter(|c| ("1"..="9").contains(c))? };
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '[');
    (!rest[name.len()..].starts_with(goes_on)).then_some(Placeholder { name, hint: None, length: 1 + name.len() })
}

/// The text between `open`, which must be at the start, and `close`; and the length of all three.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    let near = &inner.as_bytes()[..inner.len().min(LONGEST)];
    let end = memchr::memmem::find(near, close.as_bytes())?;
    Some((&inner[..end], open.len() + end + close.len()))
}

/// Pieces under construction: adjacent texts become one piece.
#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    text: String,
}

impl Pieces {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn argument(&mut self, name: &str) {
        self.add(Piece::Argument(name.to_owned()));
    }

    fn file(&mut self, path: &str) {
        self.add(Piece::File(path.to_owned()));
    }

    fn add(&mut self, piece: Piece) {
        self.flush();
        self.done.push(piece);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn end(mut self) -> Vec<Piece> {
        self.flush();
        self.done
    }
}
