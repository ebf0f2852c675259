//! `delete_file`: deletes a file, a link or an empty directory; with `recursive`, a directory with everything in it.

use super::arguments::parameters::{flag, path};
use super::write_common::writable;
use super::{Arguments, DESTRUCTIVE, Inline, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{counted, shown};
use crate::runtime::permits::Work;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "delete_file",
    title: "Delete file",
    description: "Delete a file, a link (never its target) or an empty directory; with recursive, a directory and its \
        contents. This cannot be undone. Refuses a directory that contains a denied name such as .env or a protected \
        one such as .git.",
    parameters: &[
        path("The file, link or directory to delete"),
        flag("recursive", "Also delete a directory that is not empty."),
    ],
    annotations: DESTRUCTIVE,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let asked = arguments.text("path");
    let path = context.root().locate(asked).map_err(|error| ToolError::at(asked, error))?;
    let _permit = context.permit(Work::Tree)?;
    let report = |done: usize| context.report(done as u64, || format!("{done} entries deleted"));
    let deleted = writable(context)?.delete(&path, arguments.flag("recursive"), &context.cancel, &report);
    let deleted = deleted.map_err(|error| ToolError::in_change(asked, error))?;
    let text = format!("Successfully deleted {}", shown(context.root(), &deleted.path));
    let what = match deleted.entries {
        1 => deleted.kind.to_string(),
        entries => format!("{} with its contents: {}", deleted.kind, counted(entries as u64, "entry", "entries")),
    };
    Ok(vec![Block::Text(text.into()), Block::Text(format!("[it was {what}]").into())])
}
