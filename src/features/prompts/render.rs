//! From a [`Template`] and its arguments to messages. Pure: files are named here, and read elsewhere.

use std::borrow::Cow;

use super::parse::Template;
use super::template::Piece;
use crate::object;

/// The limit of all messages of a prompt, in bytes, including embedded files.
pub const MOST_BYTES: usize = 1 << 20;

/// A part of the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A file to embed; its path as the author of the prompt wrote it.
    File(String),
}

/// Why a prompt cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A required argument is missing.
    #[error("The argument \"{0}\" is missing; this prompt requires it.")]
    Missing(String),
    /// The prompt does not have this argument.
    #[error("Unknown argument \"{name}\"; this prompt has {known}.")]
    Unknown {
        /// As the client wrote it.
        name: String,
        /// The arguments that it has.
        known: String,
    },
    /// It would be too long.
    #[error("The prompt would be longer than {MOST_BYTES} bytes with its arguments and files; give shorter ones.")]
    TooLong,
}

/// Inserts `arguments` literally: placeholders in their values have no effect. The last one of a name counts.
pub fn render(template: &Template, arguments: &[(String, String)]) -> Result<Vec<Part>, RenderError> {
    check(template, arguments)?;
    let value =
        |name: &str| arguments.iter().rev().find(|(given, _)| given == name).map_or("", |(_, value)| value.as_str());
    let length: usize = template.pieces.iter().map(|piece| text(piece, value).len()).sum();
    if length > MOST_BYTES {
        return Err(RenderError::TooLong);
    }
    let mut parts = Vec::new();
    for between in template.pieces.split_inclusive(|piece| matches!(piece, Piece::File(_))) {
        let said: String = between.iter().map(|piece| text(piece, value)).collect();
        let said = said.trim_matches('\n');
        if !said.trim().is_empty() {
            parts.push(Part::Text(said.to_owned()));
        }
        if let Some(Piece::File(path)) = between.last() {
            parts.push(Part::File(path.clone()));
        }
    }
    if parts.is_empty() {
        // It consists only of arguments, which are empty: clients expect a message.
        parts.push(Part::Text(String::new()));
    }
    Ok(parts)
}

fn text<'t>(piece: &'t Piece, value: impl Fn(&str) -> &'t str) -> Cow<'t, str> {
    match piece {
        Piece::Text(text) => Cow::Borrowed(text),
        Piece::Argument(name) => Cow::Borrowed(value(name)),
        Piece::File(_) => Cow::Borrowed(""),
    }
}

fn check(template: &Template, arguments: &[(String, String)]) -> Result<(), RenderError> {
    let known = &template.arguments;
    if let Some((name, _)) = arguments.iter().find(|(name, _)| !known.iter().any(|known| known.name == *name)) {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(RenderError::Unknown { name: object::shortened(name), known });
    }
    let is_missing = |name: &str| !arguments.iter().any(|(given, _)| given == name);
    match known.iter().find(|known| known.required && is_missing(&known.name)) {
        Some(missing) => Err(RenderError::Missing(missing.name.clone())),
        None => Ok(()),
    }
}
