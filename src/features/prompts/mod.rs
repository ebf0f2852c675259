//! Prompts: Markdown files below the folder that `--prompts` names
//! (<https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>).
//!
//! | module | holds |
//! | --- | --- |
//! | `format` | which kind of files a folder holds: this server's own, Claude Code's, Copilot's |
//! | `parse` | bytes to a template; `front_matter` reads the YAML, `template` the text |
//! | `render` | a template and arguments to what is said |
//!
//! These three are pure. Nothing in a prompt is ever run.

mod format;
mod front_matter;
mod parse;
mod render;
mod template;
#[cfg(test)]
mod tests;

pub use self::format::Format;
pub use self::parse::{MOST_ARGUMENTS, MOST_FILE_BYTES, MOST_FILES, Template, parse};
pub use self::render::{MOST_BYTES, Part, RenderError, render};
pub use self::template::Piece;

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
