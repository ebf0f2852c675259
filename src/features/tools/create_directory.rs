//! `create_directory`: creates a directory and any missing parents.

use super::arguments::parameters::named_directory;
use super::write_common::writable;
use super::{Arguments, Inline, Tool, ToolError};
use crate::call::{Block, ToolAnnotations};
use crate::features::format::shown;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "create_directory",
    title: "Create directory",
    description: "Create a directory and any missing parents. Succeeds if the directory already exists.",
    parameters: &[named_directory()],
    annotations: ToolAnnotations {
        read_only_hint: false,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    },
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let asked = arguments.text("path");
    let path = context.root().locate(asked).map_err(|error| ToolError::at(asked, error))?;
    let made = writable(context)?.create_directory(&path, &context.cancel);
    let (real, made) = made.map_err(|error| ToolError::in_change(asked, error))?;
    let text = format!("Successfully created directory {}", shown(context.root(), &real));
    let note = (made == 0).then(|| "[it was there already]".to_owned());
    Ok(std::iter::once(text).chain(note).map(|text| Block::Text(text.into())).collect())
}
