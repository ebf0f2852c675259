//! `read_multiple_files`: several text files in one call; what is wrong with one does not fail the others.

use super::arguments::{Kind, Parameter};
use super::{Arguments, Problem, READ_ONLY, Tool, read_text_file};
use crate::call::Block;
use crate::context::Context;
use crate::features::text::{Lines, Window};

/// Files in one call.
const MOST: usize = 100;

/// What stands beside the path where a file has no room: more than a note or most errors take.
const LINE: usize = 70;

pub(super) const TOOL: Tool = Tool {
    name: "read_multiple_files",
    title: "Read multiple files",
    description: "Read several text files at once. Gives one block for each: its path and a colon, then its text on \
        the next lines, or \"PATH: Error - why\". Together they share 40,000 bytes (by default); a file that is cut \
        says how to go on with read_text_file.",
    parameters: &[Parameter {
        name: "paths",
        kind: Kind::Texts { least: 1, most: MOST },
        required: true,
        description: "The files, at most 100: relative to the served directory, absolute inside it, or file:// URIs.",
    }],
    annotations: READ_ONLY,
    quick: false,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, Problem> {
    let paths = arguments.texts("paths");
    // What every path costs at least is paid beforehand, so that the last ones still get their line.
    let lines: usize = paths.iter().map(|path| path.len() + LINE).sum();
    let mut room = context.limits().output_bytes.saturating_sub(lines);
    let mut blocks = Vec::with_capacity(paths.len());
    for path in paths {
        context.cancel.check().map_err(|cancelled| Problem::Failure(cancelled.into()))?;
        let text = one(path, room, context)?;
        room = room.saturating_sub(text.len().saturating_sub(path.len() + LINE));
        blocks.push(Block::Text(text.into()));
    }
    Ok(blocks)
}

fn one(path: &str, room: usize, context: &Context) -> Result<String, Problem> {
    if room == 0 {
        return Ok(format!("{path}: Error - no room left in this answer; read it in another call."));
    }
    let lines = Lines::From(Window::ALL);
    match read_text_file::read(path, lines, room, context) {
        Ok((part, encoding, file)) => {
            let note = read_text_file::note(&part, lines, encoding, file.stat.size);
            let note = note.map_or_else(String::new, |note| {
                let newline = if part.text.is_empty() || part.text.as_bytes().ends_with(b"\n") { "" } else { "\n" };
                format!("{newline}{note}")
            });
            Ok(format!("{path}:\n{}{note}", part.text.as_str()))
        }
        Err(problem) => {
            let message = problem.into_message()?;
            let why = message.strip_prefix(path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
            Ok(format!("{path}: Error - {why}"))
        }
    }
}
