//! `list_allowed_directories`: what is served, and how it is confined.

use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "list_allowed_directories",
    title: "List allowed directories",
    description: "Show the directory that this server serves, whether it is writable, and how the server is confined \
        to it. Nothing outside it can be reached.",
    parameters: &[],
    annotations: READ_ONLY,
    inline: Inline::Always,
    run,
};

#[expect(clippy::unnecessary_wraps, reason = "the signature that all tools have")]
fn run(_: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let root = context.root();
    let directory = format!("Allowed directories:\n{}", root.shown_path());
    let access = if context.writable().is_some() { "read and write" } else { "read-only" };
    let facts = format!("[{access}; paths are confined by {}; the process by {}]", root.confinement(), root.sandbox());
    Ok(vec![Block::Text(directory.into()), Block::Text(facts.into())])
}
