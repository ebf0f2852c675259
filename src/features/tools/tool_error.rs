//! Errors inside a tool: a text for the model, which says what to do next, or a failure of the whole call.

use crate::call::Failure;
use crate::features::format;
use crate::features::text::TextError;
use crate::hostile;
use crate::root::RootError;
use crate::root::write::WriteError;
use crate::runtime::cancel::Cancelled;

/// Why a tool returns no answer.
#[derive(Debug)]
pub(super) enum ToolError {
    /// For the model, as a result with `isError`.
    Message(String),
    /// The call is over, for example because it was cancelled.
    Failure(Failure),
}

impl ToolError {
    pub(super) fn message(text: &str) -> Self {
        Self::Message(text.to_owned())
    }

    /// A disk error for the path that the client named as `asked`.
    #[expect(clippy::needless_pass_by_value, reason = "it is the error's end, as for `map_err`")]
    pub(super) fn at(asked: &str, error: RootError) -> Self {
        let hint = match error {
            RootError::Cancelled => return Self::Failure(Failure::Cancelled),
            RootError::NotFound => ". Use list_directory to see what is there; a [LINK] can be dangling",
            RootError::IsDirectory => "; use list_directory",
            RootError::NotDirectory => "; use read_text_file to read a file",
            RootError::Outside => " (by its path or through a link)",
            _ => "",
        };
        Self::Message(format!("{}: {error}{hint}.", quoted(asked)))
    }

    /// The same for a change.
    pub(super) fn in_change(asked: &str, error: WriteError) -> Self {
        match error {
            WriteError::Root(RootError::NotDirectory) => {
                Self::Message(format!("{}: a parent in this path is not a directory.", quoted(asked)))
            }
            WriteError::Root(error) => Self::at(asked, error),
            error => Self::Message(format!("{}: {}.", quoted(asked), hostile::escaped(&error.to_string()))),
        }
    }

    /// The same for reading text.
    pub(super) fn in_text(asked: &str, size: u64, error: TextError) -> Self {
        match error {
            TextError::Root(error) => Self::at(asked, error),
            TextError::Binary => {
                let size = format::size(size);
                Self::Message(format!("{}: binary file, {size}. Use read_media_file.", quoted(asked)))
            }
            TextError::TailTooLong => {
                let path = quoted(asked);
                Self::Message(format!("{path}: \"tail\" does not work on a UTF-16 file of this size. Use \"offset\"."))
            }
        }
    }

    /// The lines are so far into a file that they could not be found in time.
    pub(super) fn too_far(asked: &str, seconds: u64) -> Self {
        let path = quoted(asked);
        Self::Message(format!(
            "{path}: did not reach these lines within {seconds} seconds. \"tail\" is fast at any size."
        ))
    }

    /// The message for one file of several; `Err` if the whole call is over.
    pub(super) fn into_message(self) -> Result<String, Self> {
        match self {
            Self::Message(text) => Ok(text),
            failure @ Self::Failure(_) => Err(failure),
        }
    }
}

/// Something that could not be compiled.
impl From<Result<String, Failure>> for ToolError {
    fn from(wrong: Result<String, Failure>) -> Self {
        wrong.map_or_else(Self::from, Self::Message)
    }
}

impl From<Cancelled> for ToolError {
    fn from(cancelled: Cancelled) -> Self {
        Self::Failure(cancelled.into())
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Internal(text) => Self::Message(text),
            failure => Self::Failure(failure),
        }
    }
}

/// A path as the client wrote it, shortened and on one line.
pub(super) fn quoted(asked: &str) -> String {
    const MOST: usize = 300;
    let head: String = asked.chars().take(MOST).collect();
    let end = if head.len() < asked.len() { "..." } else { "" };
    if head.is_empty() {
        return "\"\"".to_owned();
    }
    hostile::escaped(&head) + end
}
