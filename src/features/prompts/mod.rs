//! Prompts: Markdown files below the folder that `--prompts` names
//! (<https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>).
//!
//! | module | holds |
//! | --- | --- |
//! | [`list`](self::list()) | `prompts/list`, in pages |
//! | [`get`](self::get()) | `prompts/get`; files that a prompt embeds |
//! | `folder` | which files there are, and which name means which |
//! | `format` | which kind of files a folder holds: this server's own, Claude Code's, Copilot's |
//! | `parse` | bytes to a template; `front_matter` reads the YAML, `template` the text |
//! | `render` | a template and arguments to what is said |
//!
//! The last three are pure. Nothing in a prompt is ever run.

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

/// The folder of the prompts; without one there is no `method`.
fn folder_of<'c>(context: &'c Context, method: &'static str) -> Result<&'c RelPath, Failure> {
    context.prompts().ok_or(Failure::SwitchedOff { method, runs: "without --prompts" })
}

/// A disk error on a prompt's file or on the folder.
fn failure(error: &RootError) -> Failure {
    match error {
        RootError::Cancelled => Failure::Cancelled,
        error => Failure::Internal(format!("The prompts cannot be read: {error}.")),
    }
}

/// Why a file is no prompt. It is left out of the list, and the log says this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It is too long.
    #[error("longer than {0} bytes")]
    TooLong(usize),
    /// It is in another encoding, or no text.
    #[error("not text in UTF-8")]
    NotText,
    /// It says nothing.
    #[error("there is no text in it")]
    Empty,
    /// The second `---` is missing.
    #[error("the front matter has no end: a line of --- is missing")]
    FrontMatterWithoutEnd,
    /// It is too long.
    #[error("the front matter is longer than {0} bytes")]
    FrontMatterTooLong(usize),
    /// It is no YAML, or not what it has to be, or goes beyond the limits.
    #[error("the front matter cannot be read: {0}")]
    Yaml(String),
    /// An argument has a name that cannot stand in a text.
    #[error("\"{0}\" cannot be the name of an argument: use letters, digits, - and _, at most 64")]
    ArgumentName(String),
    /// Two arguments have one name.
    #[error("the argument \"{0}\" is declared twice")]
    ArgumentTwice(String),
    /// It has too many arguments.
    #[error("more than {0} arguments")]
    TooManyArguments(usize),
    /// It embeds too many files.
    #[error("more than {0} embedded files")]
    TooManyFiles(usize),
}
