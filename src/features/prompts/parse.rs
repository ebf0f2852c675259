//! From the bytes of a prompt file to a [`Template`]: its description, its arguments, and its text. Pure, and bounded
//! by the length of the file.

use super::front_matter::{self, DeclaredArgument, ForeignKeys, OwnKeys};
use super::template::{self, Piece};
use super::{Format, ParseError};
use crate::call::PromptArgument;
use crate::hostile::{escaped, is_hostile};

/// The limit of a prompt file, in bytes.
pub const MOST_FILE_BYTES: usize = 256 << 10;
/// The limit of arguments of one prompt.
pub const MOST_ARGUMENTS: usize = 32;
/// The limit of files embedded in one prompt.
pub const MOST_FILES: usize = 32;
/// The longest name of an argument, in characters.
const LONGEST_NAME: usize = 64;
/// The longest description taken from the text, in characters.
const LONGEST_SUMMARY: usize = 200;

/// A prompt as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// For people.
    pub title: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// At most [`MOST_ARGUMENTS`].
    pub arguments: Vec<PromptArgument>,
    /// The text in pieces.
    pub pieces: Vec<Piece>,
}

/// Parses a prompt file.
pub fn parse(bytes: &[u8], format: Format) -> Result<Template, ParseError> {
    if bytes.len() > MOST_FILE_BYTES {
        return Err(ParseError::TooLong(MOST_FILE_BYTES));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(ParseError::NotText)?;
    let (front_matter, body) = front_matter::split(text)?;
    let body = body.trim();
    if body.is_empty() {
        return Err(ParseError::Empty);
    }
    let template = match format {
        Format::Own => own(front_matter, body)?,
        Format::ClaudeCommand => claude_command(front_matter, body)?,
        Format::CopilotPrompt => copilot_prompt(front_matter, body)?,
    };
    if template.arguments.len() > MOST_ARGUMENTS {
        return Err(ParseError::TooManyArguments(MOST_ARGUMENTS));
    }
    if template.pieces.iter().filter(|piece| matches!(piece, Piece::File(_))).count() > MOST_FILES {
        return Err(ParseError::TooManyFiles(MOST_FILES));
    }
    Ok(template)
}

fn own(front_matter: &str, body: &str) -> Result<Template, ParseError> {
    let keys: OwnKeys = front_matter::read(front_matter)?;
    let mut arguments: Vec<PromptArgument> = Vec::new();
    for DeclaredArgument { name, description, required } in keys.arguments {
        if !is_argument_name(&name) {
            return Err(ParseError::ArgumentName(escaped(&name).chars().take(LONGEST_NAME).collect()));
        }
        if arguments.iter().any(|known| known.name == name) {
            return Err(ParseError::ArgumentTwice(name));
        }
        arguments.push(PromptArgument { name, description, required });
    }
    let is_argument = |name: &str, _: Option<&str>| arguments.iter().any(|known| known.name == name);
    let pieces = template::pieces(body, Format::Own, is_argument);
    Ok(Template { title: keys.title, description: keys.description, arguments, pieces })
}

/// The arguments are those that the text mentions; none is required.
fn claude_command(front_matter: &str, body: &str) -> Result<Template, ParseError> {
    let (front_matter, hint) = front_matter::take_hint(front_matter);
    let keys: ForeignKeys = front_matter::read(&front_matter)?;
    let mut arguments = Vec::new();
    let pieces = template::pieces(body, Format::ClaudeCommand, |name, _| {
        note(&mut arguments, name, hint.as_deref(), false);
        true
    });
    arguments.sort_by(|a, b| a.name.cmp(&b.name));
    let description = keys.description.or_else(|| summary(body));
    Ok(Template { title: None, description, arguments, pieces })
}

/// Every input is a required argument.
fn copilot_prompt(front_matter: &str, body: &str) -> Result<Template, ParseError> {
    let (front_matter, _) = front_matter::take_hint(front_matter);
    let keys: ForeignKeys = front_matter::read(&front_matter)?;
    let mut arguments = Vec::new();
    let pieces = template::pieces(body, Format::CopilotPrompt, |name, hint| {
        let is_name = is_argument_name(name);
        if is_name {
            note(&mut arguments, name, hint, true);
        }
        is_name
    });
    Ok(Template { title: keys.name, description: keys.description, arguments, pieces })
}

/// Adds an argument that is not known yet. One more than allowed is kept, to show that there are too many.
fn note(arguments: &mut Vec<PromptArgument>, name: &str, description: Option<&str>, required: bool) {
    if arguments.len() <= MOST_ARGUMENTS && !arguments.iter().any(|known| known.name == name) {
        let description = description.map(str::to_owned);
        arguments.push(PromptArgument { name: name.to_owned(), description, required });
    }
}

fn is_argument_name(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || is_hostile(c) || matches!(c, '{' | '}' | ':' | '$');
    !name.is_empty() && name.chars().count() <= LONGEST_NAME && !name.contains(is_odd)
}

/// The first line, which Claude Code shows if a command has no description.
fn summary(body: &str) -> Option<String> {
    let line = body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST_SUMMARY).collect())
}
