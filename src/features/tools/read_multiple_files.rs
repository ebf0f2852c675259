//! `read_multiple_files`: several text files in one call. An error in one does not fail the others.

use super::arguments::Kind;
use super::arguments::parameters::required;
use super::tool_error::quoted;
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError, read_text_file};
use crate::call::Block;
use crate::features::text::{Lines, Window};
use crate::services::context::Context;

/// The maximum number of files in one call.
const MOST: usize = 100;

/// Room for the line of a file that does not fit, in addition to its path: more than a note or most errors take.
const LINE: usize = 100;

pub(super) const TOOL: Tool = Tool {
    name: "read_multiple_files",
    title: "Read multiple files",
    description: "Read up to 100 text files in one call. Returns a block for each: the path and a colon, then the text \
        on the following lines, or \"PATH: Error - reason\". The files share 40,000 bytes (by default); a note says \
        how to continue a file that was cut. Use read_text_file for a single file or a range of lines.",
    parameters: &[required(
        "paths",
        Kind::Texts { least: 1, most: MOST },
        "The files to read, 1 to 100: relative to the served directory, absolute inside it, or file:// URIs.",
    )],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let paths = arguments.texts("paths");
    // Reserved once for all files: waiting for more while holding some could deadlock with other calls.
    context.reserve(context.limits().output_bytes as u64)?;
    // The least that every path costs is deducted in advance, so that the last ones still get their line.
    let lines: usize = paths.iter().map(|path| quoted(path).len() + LINE).sum();
    let mut room = context.limits().output_bytes.saturating_sub(lines);
    let mut blocks = Vec::with_capacity(paths.len());
    for path in paths {
        context.cancel.check()?;
        let name = quoted(path);
        let text = one(path, room, context)?;
        room = room.saturating_sub(text.len().saturating_sub(LINE));
        blocks.push(Block::Text(format!("{name}:{text}").into()));
    }
    Ok(blocks)
}

/// The part after the path and its colon.
fn one(path: &str, room: usize, context: &Context) -> Result<String, ToolError> {
    if room == 0 {
        return Ok(" Error - does not fit into this answer; read it in another call.".to_owned());
    }
    let lines = Lines::From(Window::ALL);
    let read = read_text_file::open(path, context).and_then(|file| {
        let (part, encoding) = read_text_file::read(path, &file, lines, room, context)?;
        let note = read_text_file::note(&part, lines, encoding, &file, context);
        Ok((part.text, note))
    });
    match read {
        Ok((text, note)) => {
            let newline = if text.is_empty() || text.as_bytes().ends_with(b"\n") { "" } else { "\n" };
            let note = note.map_or_else(String::new, |note| format!("{newline}{note}"));
            Ok(format!("\n{}{note}", text.as_str()))
        }
        Err(problem) => {
            let message = problem.into_message()?;
            let why = message.strip_prefix(&quoted(path)).and_then(|rest| rest.strip_prefix(": "));
            Ok(format!(" Error - {}", why.unwrap_or(&message)))
        }
    }
}
