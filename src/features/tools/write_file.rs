//! `write_file`: creates a file, replaces its content, or appends to it.

use super::arguments::parameters::{create_parents, file, flag, if_match, text};
use super::tool_error::quoted;
use super::write_common::{writable, wrote};
use super::{Arguments, DESTRUCTIVE, Inline, Tool, ToolError};
use crate::call::Block;
use crate::features::edit;
use crate::root::write::{Ends, Replace, UpdateError, Updated, Version};
use crate::runtime::permits::Work;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "write_file",
    title: "Write file",
    description: "Create a file or replace its whole content. Writes UTF-8, exactly as given. With append, adds to the \
        end, in the file's encoding and with the line ending of its last line. The file is replaced atomically and \
        keeps its permissions; a link inside the served directory is followed to its target. To change part of a \
        file, use edit_file.",
    parameters: &[
        file(),
        text("content", "The new content, or with append the text to add."),
        flag("append", "Add to the end instead of replacing the file."),
        create_parents(),
        if_match(),
    ],
    annotations: DESTRUCTIVE,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let asked = arguments.text("path");
    let path = context.root().locate(asked).map_err(|error| ToolError::at(asked, error))?;
    let version = arguments.given_text("ifMatch").map(Version::new);
    let content = arguments.text("content");
    let new =
        Replace { content: content.as_bytes(), parents: arguments.flag("createParents"), if_match: version.as_ref() };
    let root = writable(context)?;
    let _permit = context.permit(Work::Edit)?;
    if !arguments.flag("append") {
        let written = root.replace(&path, new, &context.cancel).map_err(|error| ToolError::in_change(asked, error))?;
        return Ok(wrote(context, "Successfully wrote to", &written, &[]));
    }
    let fit = |ends: &Ends| edit::addition(ends, content).map(|addition| (addition.bytes, addition.said));
    let appended = root.append(&path, new, &context.cancel, fit);
    let Updated { value: said, written } = appended.map_err(|error| match error {
        UpdateError::Write(error) => ToolError::in_change(asked, error),
        UpdateError::Change(error) => ToolError::Message(format!("{}: {error}.", quoted(asked))),
    })?;
    Ok(wrote(context, "Successfully appended to", &written, &said))
}
