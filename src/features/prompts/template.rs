//! The text of a prompt as pieces: what is to be said as it stands, and where arguments and files go.
//!
//! It is read once, before any argument is known. What an argument says is never read for more.

use super::Format;

/// A placeholder is no longer than this, so that looking for its end costs little.
const LONGEST: usize = 256;

/// A piece of a prompt's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Said as it stands.
    Text(String),
    /// The value of the argument of this name.
    Argument(String),
    /// A file of the served directory; its path as it is written.
    File(String),
}

/// What can stand in a text.
#[derive(Debug, PartialEq, Eq)]
struct Placeholder<'t> {
    /// The argument.
    name: &'t str,
    /// What the text says of it.
    hint: Option<&'t str>,
    /// Bytes of the text.
    length: usize,
}

/// Reads a text. `is_argument` is shown the name of each placeholder, and what the text says of it; one that is none
/// stays as it stands.
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

/// The path in `{{file:PATH}}`, where that is all of a line.
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

/// `$ARGUMENTS`, or `$1` to `$9`. A longer word or number is another thing.
fn dollar(text: &str) -> Option<Placeholder<'_>> {
    const ALL: &str = "ARGUMENTS";
    let rest = &text[1..];
    let name =
        if rest.starts_with(ALL) { &rest[..ALL.len()] } else { rest.get(..1).filter(|c| ("1"..="9").contains(c))? };
    let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '[');
    (!rest[name.len()..].starts_with(goes_on)).then_some(Placeholder { name, hint: None, length: 1 + name.len() })
}

/// What is between `open`, which the text must begin with, and `close`; and the bytes of all three.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    let near = &inner.as_bytes()[..inner.len().min(LONGEST)];
    let end = memchr::memmem::find(near, close.as_bytes())?;
    Some((&inner[..end], open.len() + end + close.len()))
}

/// Pieces in the making: text that follows text is one piece.
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
