//! `read_text_file` (alias `read_file`): a text file, or some of its lines.

use super::arguments::Kind;
use super::arguments::parameters::{file, flag, limit, offset, optional};
use super::tool_error::quoted;
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{grouped, size};
use crate::features::text::{self, Encoding, Lines, Part, Window};
use crate::root::File;
use crate::root::write::Version;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "read_text_file",
    title: "Read text file",
    description: "Read a text file, or a range of its lines. Returns the exact text. If it does not fit (40,000 bytes \
        by default), returns the first part and a note that says how to get the next one. Use head for the first \
        lines, tail for the last, offset and limit for a range. Reads UTF-8 and UTF-16, and detects other encodings. \
        Use read_media_file for images, audio and other binary files, and search_text to find lines in many files.",
    parameters: &[
        file(),
        optional("head", Kind::Count, "Return only the first N lines. Cannot be combined with tail, offset or limit."),
        optional("tail", Kind::Count, "Return only the last N lines. Cannot be combined with head, offset or limit."),
        offset("line"),
        limit("lines"),
        optional("column", Kind::Count, "Start at this character of the first line, counted from 1. Default 1."),
        flag("lineNumbers", "Start each line with its number and a tab."),
    ],
    annotations: READ_ONLY,
    inline: Inline::SmallFile,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let lines = lines(arguments)?;
    let (asked, max) = (arguments.text("path"), context.limits().output_bytes);
    let with_numbers = arguments.flag("lineNumbers");
    let file = open(asked, context)?;
    context.reserve(if with_numbers { max as u64 } else { file.stat.size.min(max as u64) })?;
    let (mut part, encoding) = read(asked, &file, lines, max, context)?;
    let mut numbered = None;
    if with_numbers {
        part = placed(asked, &file, part, lines, context)?;
        let (cut, text) = text::numbered(part, lines, max);
        (part, numbered) = (cut, Some(text));
    }
    let note = note(&part, lines, encoding, &file, context);
    let text = numbered.unwrap_or(part.text);
    Ok(std::iter::once(text).chain(note.map(Into::into)).map(Block::Text).collect())
}

/// A part with line numbers: for the last lines of a long file, they have not been counted yet.
fn placed(asked: &str, file: &File, part: Part, lines: Lines, context: &Context) -> Result<Part, ToolError> {
    if !matches!(lines, Lines::Last(_)) {
        return Ok(part);
    }
    let cancel = context.search_cancel();
    let placed = text::place_last(part, file, &cancel);
    if placed.is_err() && context.check_search(&cancel)? {
        let (path, seconds) = (quoted(asked), context.limits().search_time.as_secs());
        return Err(ToolError::Message(format!(
            "{path}: could not count its lines within {seconds} seconds. Omit \"lineNumbers\", or use \"offset\"."
        )));
    }
    placed.map_err(|error| ToolError::in_text(asked, file.stat.size, error))
}

/// Opens a file for any tool that shows text.
pub(super) fn open(asked: &str, context: &Context) -> Result<File, ToolError> {
    let path = context.root().locate(asked);
    path.and_then(|path| context.open_file(&path)).map_err(|error| ToolError::at(asked, error))
}

/// Reads some lines of it.
pub(super) fn read(
    asked: &str,
    file: &File,
    lines: Lines,
    max: usize,
    context: &Context,
) -> Result<(Part, Encoding), ToolError> {
    let cancel = context.search_cancel();
    let read = text::read(file, lines, max, &cancel);
    if read.is_err() && context.check_search(&cancel)? {
        let seconds = context.limits().search_time.as_secs();
        return Err(ToolError::too_far(asked, seconds));
    }
    read.map_err(|error| ToolError::in_text(asked, file.stat.size, error))
}

/// The lines that the arguments select.
fn lines(arguments: &Arguments<'_>) -> Result<Lines, ToolError> {
    let count = |name| arguments.count(name);
    let window = count("offset").or(count("limit")).or(count("column"));
    match (count("head"), count("tail")) {
        (Some(_), Some(_)) => Err(ToolError::message("Give \"head\" or \"tail\", not both.")),
        (Some(_), None) | (None, Some(_)) if window.is_some() => Err(ToolError::message(
            "Give \"head\" or \"tail\", or else \"offset\", \"limit\" and \"column\"; not both.",
        )),
        (Some(head), None) => Ok(Lines::From(Window { limit: Some(head), ..Window::ALL })),
        (None, Some(tail)) => Ok(Lines::Last(tail)),
        (None, None) => Ok(Lines::From(Window {
            offset: count("offset").unwrap_or(1),
            limit: count("limit"),
            column: count("column").unwrap_or(1),
        })),
    }
}

/// Says which part of the file this is, how to continue, which encoding it has and, if clients may write, its version;
/// `None` if nothing needs to be said.
pub(super) fn note(part: &Part, lines: Lines, encoding: Encoding, file: &File, context: &Context) -> Option<String> {
    let mut said = Vec::new();
    if !part.is_whole {
        said.push(extent(part, lines, file.stat.size));
    }
    if let Some((line, column)) = part.next {
        let column = if column > 1 { format!(", column {column}") } else { String::new() };
        said.push(format!("continue with offset {line}{column}"));
    }
    if encoding.is_remarkable() {
        said.push(format!("encoding: {}", encoding.name()));
    }
    // The version from before reading: if the file has changed since, a write that names this version fails.
    said.extend(context.writable().map(|_| format!("version {}", Version::of(&file.stat))));
    (!said.is_empty()).then(|| format!("[{}]", said.join("; ")))
}

fn extent(part: &Part, lines: Lines, bytes: u64) -> String {
    let of = match part.lines {
        Some(lines) => format!("of {}", grouped(lines)),
        None => format!("of a file of {}", size(bytes)),
    };
    let count = part.line_count();
    let last = if count == 1 { "the last line".to_owned() } else { format!("the last {} lines", grouped(count)) };
    match (lines, count) {
        (Lines::From(window), 0) if window.column > 1 => {
            format!("nothing at line {}, column {} {of}", grouped(window.offset), grouped(window.column))
        }
        (Lines::From(window), 0) => format!("nothing at line {} {of}", grouped(window.offset)),
        (Lines::Last(asked), _) if count < asked && part.lines.is_none_or(|lines| count < lines) => {
            format!("{last} {of}, which is all that fits")
        }
        (Lines::Last(_), _) => format!("{last} {of}"),
        (_, 1) => format!("line {} {of}", grouped(part.first_line)),
        _ => format!("lines {}-{} {of}", grouped(part.first_line), grouped(part.first_line + count - 1)),
    }
}
