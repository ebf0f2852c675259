//! Prompts: Markdown files below the folder that `--prompts` names
//! (<https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>).
//!
//! | module | holds |
//! | --- | --- |
//! | [`list`](self::list()) | `prompts/list`, in pages |
//! | [`get`](self::get()) | `prompts/get`, and the files that a prompt embeds |
//! | `folder` | which files exist, and which name means which file |
//! | `format` | the format of the files in a folder: this server's own, Claude Code's, or Copilot's |
//! | `parse` | from bytes to a template; `front_matter` parses the YAML, `template` the text |
//! | `render` | from a template and arguments to messages |
//!
//! The last two are pure. Nothing in a prompt is ever executed.

mod folder;
mod format;
mod front_matter;
mod get;
mod list;
mod parse;
mod render;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use self::folder::{check, look};
pub use self::format::Format;
pub(super) use self::get::{find, get};
pub(super) use self::list::list;
pub use self::parse::{MOST_ARGUMENTS, MOST_FILE_BYTES, MOST_FILES, Template, parse};
pub use self::render::{MOST_BYTES, Part, RenderError, render};
pub use self::template::Piece;
use crate::call::Failure;
use crate::root::{RelPath, RootError};
use crate::services::context::Context;

/// The prompts folder; without one, `method` does not exist.
fn folder_of<'c>(context: &'c Context, method: &'static str) -> Result<&'c RelPath, Failure> {
    context.prompts().ok_or(Failure::SwitchedOff { method, runs: "without --prompts" })
}

/// A disk error for the file of a prompt, or for the folder.
fn failure(error: &RootError) -> Failure {
    match error {
        RootError::Cancelled => Failure::Cancelled,
        error => Failure::Internal(format!("The prompts cannot be read: {error}.")),
    }
}

/// Why a file is not a valid prompt. It is left out of the list, and the log gives this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The file is too long.
    #[error("longer than {0} bytes")]
    TooLong(usize),
    /// It is in another encoding, or not text.
    #[error("not text in UTF-8")]
    NotText,
    /// It contains no text.
    #[error("there is no text in it")]
    Empty,
    /// The second `---` is missing.
    #[error("the front matter has no end: a line of --- is missing")]
    FrontMatterWithoutEnd,
    /// The front matter is too long.
    #[error("the front matter is longer than {0} bytes")]
    FrontMatterTooLong(usize),
    /// The front matter is not valid YAML, has the wrong types, or exceeds the limits.
    #[error("the front matter cannot be read: {0}")]
    Yaml(String),
    /// An argument has a name that cannot be used in a text.
    #[error("\"{0}\" cannot be the name of an argument: use letters, digits, - and _, at most 64")]
    ArgumentName(String),
    /// Two arguments have the same name.
    #[error("the argument \"{0}\" is declared twice")]
    ArgumentTwice(String),
    /// There are too many arguments.
    #[error("more than {0} arguments")]
    TooManyArguments(usize),
    /// Too many files are embedded.
    #[error("more than {0} embedded files")]
    TooManyFiles(usize),
}
