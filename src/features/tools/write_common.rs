//! What the tools that change something have in common.

use super::{Arguments, ToolError};
use crate::call::Block;
use crate::features::format::{counted, shown};
use crate::root::write::{Caveats, Side, SideError, Written};
use crate::root::{RequestedPath, WritableRoot};
use crate::services::context::Context;

/// The arguments `source` and `destination`.
pub(super) struct TwoPaths<'a> {
    pub(super) source: RequestedPath,
    pub(super) destination: RequestedPath,
    asked: (&'a str, &'a str),
}

pub(super) fn two_paths<'a>(arguments: &'a Arguments<'_>, context: &Context) -> Result<TwoPaths<'a>, ToolError> {
    let asked = (arguments.text("source"), arguments.text("destination"));
    let locate = |asked| context.root().locate(asked).map_err(|error| ToolError::at(asked, error));
    Ok(TwoPaths { source: locate(asked.0)?, destination: locate(asked.1)?, asked })
}

impl TwoPaths<'_> {
    /// The error, with the path that it is about.
    pub(super) fn problem(&self, error: SideError) -> ToolError {
        let asked = match error.side {
            Side::Source => self.asked.0,
            Side::Destination => self.asked.1,
        };
        ToolError::in_change(asked, error.error)
    }
}

/// The served directory for writing. A tool that changes something is not run without it.
pub(super) fn writable(context: &Context) -> Result<&WritableRoot, ToolError> {
    context.writable().ok_or_else(not_writable)
}

/// The server was started read-only.
pub(super) fn not_writable() -> ToolError {
    ToolError::message("This server is read-only. Restart it with --allow-write to allow changes.")
}

/// The official server's words for what was written, then notes, then the facts about it now.
pub(super) fn wrote(context: &Context, words: &str, written: &Written, said: &[String]) -> Vec<Block> {
    let text = format!("{words} {}", shown(context.root(), &written.path));
    vec![Block::Text(text.into()), Block::Text(note(written, said).into())]
}

fn note(written: &Written, said: &[String]) -> String {
    let created = if written.created { Some("created".to_owned()) } else { None };
    let facts = facts(written);
    let said: Vec<_> = created.iter().chain(said).chain(&facts).map(String::as_str).collect();
    format!("[{}]", said.join("; "))
}

/// Size and version of a file after writing, and its caveats.
pub(super) fn facts(written: &Written) -> Vec<String> {
    let mut facts = vec![counted(written.size, "byte", "bytes"), format!("version {}", written.version)];
    facts.extend(caveats(written.caveats));
    facts
}

/// What else to know about how a file was written.
pub(super) fn caveats(Caveats { in_place, other_names }: Caveats) -> Vec<String> {
    let mut said = Vec::new();
    if in_place {
        said.push("the file is a mount point, so it was written in place, not atomically".to_owned());
    }
    if other_names > 0 {
        let names = counted(other_names, "other name keeps", "other names keep");
        said.push(format!("the file had several names (hard links), and {names} the old content"));
    }
    said
}
