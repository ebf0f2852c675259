//! A [`Template`] and its arguments to what is said. Pure: files are named here, and read elsewhere.

use std::borrow::Cow;

use super::parse::Template;
use super::template::Piece;
use crate::object;

/// Bytes of all that a prompt says, embedded files included.
pub const MOST_BYTES: usize = 1 << 20;

/// A part of what a prompt says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A file to be embedded; its path as the prompt's author wrote it.
    File(String),
}

/// Why a prompt cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A required argument was not given.
    #[error("The argument \"{0}\" is missing; this prompt requires it.")]
    Missing(String),
    /// One was given that the prompt does not have.
    #[error("Unknown argument \"{name}\"; this prompt has {known}.")]
    Unknown {
        /// As the client wrote it.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// It would be too long.
    #[error("The prompt would be longer than {MOST_BYTES} bytes with its arguments and files; give shorter ones.")]
    TooLong,
}

/// Puts `arguments` in their places, each as it is: what it says is not read again. The last one of a name counts.
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
        // Nothing but arguments, and they are empty: clients expect a message.
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
