//! Why an edit failed. The texts are for the model: what is wrong, and what to do next.

use std::fmt;

use super::alike::Alike;
use super::nearest::Nearest;

/// Why a file is not edited.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The file is too long to edit.
    #[error("longer than 16 MiB, which is the most that can be edited")]
    TooLong,
    /// The file would be too long after all edits.
    #[error("the edits would make it longer than 16 MiB, which is the most")]
    ResultTooLong,
    /// The file is not text.
    #[error("not text but binary, which cannot be edited")]
    Binary,
    /// Decoding with the guessed encoding loses information.
    #[error(
        "its encoding is not certain enough to write it back unchanged ({encoding}); use write_file to give it new text in UTF-8"
    )]
    Lossy {
        /// The encoding that the file seems to have.
        encoding: String,
    },
    /// The file's encoding cannot represent the new text.
    #[error(
        "\"newText\" has the character {character:?}, which the file's encoding ({encoding}) does not have; use other characters, or write_file to give it new text in UTF-8"
    )]
    Unmappable {
        /// The first such character.
        character: char,
        /// The encoding of the file.
        encoding: &'static str,
    },
    /// The client cancelled the request.
    #[error("cancelled")]
    Cancelled,
    /// One of the edits failed, so none was made.
    #[error("{}{problem}", Which(*number, *of))]
    Edit {
        /// Its number, from 1.
        number: usize,
        /// The number of edits.
        of: usize,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// What is wrong with one edit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// There is no text to look for.
    #[error("\"oldText\" is empty; give the text to replace, or use write_file for all new content")]
    EmptyOld,
    /// The file would no longer be text.
    #[error("\"newText\" has a NUL character, which no text has")]
    Nul,
    /// The file would be too long after this edit.
    #[error("the file would become longer than 16 MiB, which is the most")]
    ResultTooLong,
    /// The text occurs too often to be replaced in one call.
    #[error("more than 1,000,000 places would be replaced, which is the most for one call")]
    TooMany,
    /// The file has no text at all.
    #[error("the file is empty; use write_file to give it content")]
    EmptyFile,
    /// The text does not occur in the file. The message shows the nearest text.
    #[error(
        "\"oldText\" was not found. {}{}Read the file again (read_text_file) and copy the text exactly",
        Hint(alike),
        Shown(nearest)
    )]
    NotFound {
        /// A place that looks the same.
        alike: Option<Alike>,
        /// The most similar lines.
        nearest: Option<Nearest>,
    },
    /// The text occurs more than once.
    #[error("\"oldText\" is there {}{places} times, at {}; give more of the text around the one you mean, or set \"replaceAll\" to true", if *more { "more than " } else { "" }, Numbers(lines, *places))]
    Ambiguous {
        /// How often, or at least how often.
        places: usize,
        /// Whether there are more.
        more: bool,
        /// The lines of the first occurrences.
        lines: Vec<usize>,
    },
}

/// The number of an edit, if there are several.
struct Which(usize, usize);

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self(_, 1) => Ok(()),
            Self(1, of) => write!(f, "edit 1 of {of}: "),
            Self(number, of) => write!(f, "edit {number} of {of}, after the edits before it: "),
        }
    }
}

/// A sentence about the characters that differ.
struct Hint<'a>(&'a Option<Alike>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |alike| write!(f, "{alike} "))
    }
}

/// The nearest lines, each on a line of its own.
struct Shown<'a>(&'a Option<Nearest>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => writeln!(f, "{nearest}"),
            None => f.write_str("No similar text found. "),
        }
    }
}

/// `lines 1, 2, 3 and more`.
struct Numbers<'a>(&'a [usize], usize);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lines, places) = self;
        let mut distinct = lines.to_vec();
        distinct.dedup();
        let numbers: Vec<_> = distinct.iter().map(usize::to_string).collect();
        let word = if distinct.len() == 1 { "line" } else { "lines" };
        let more = if lines.len() < *places { " and more" } else { "" };
        write!(f, "{word} {}{more}", numbers.join(", "))
    }
}
