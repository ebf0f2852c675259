//! `move_file`: moves or renames a file, directory or link, and never overwrites.

use super::arguments::parameters::{create_parents, destination, source};
use super::write_common::{two_paths, writable};
use super::{Arguments, DESTRUCTIVE, Inline, Tool, ToolError};
use crate::call::Block;
use crate::features::format::shown;
use crate::runtime::permits::Work;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "move_file",
    title: "Move file",
    description: "Move or rename a file, or a directory with its contents. Fails if the destination exists; nothing is \
        overwritten. A link is moved itself, not its target. The destination is the new path, not the directory to \
        move into.",
    parameters: &[source(), destination("The new path. It must not exist."), create_parents()],
    annotations: DESTRUCTIVE,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let paths = two_paths(arguments, context)?;
    let _permit = context.permit(Work::Tree)?;
    let parents = arguments.flag("createParents");
    let moved = writable(context)?.rename(&paths.source, &paths.destination, parents, &context.cancel);
    let moved = moved.map_err(|error| paths.problem(error))?;
    let (from, to) = (shown(context.root(), &moved.from), shown(context.root(), &moved.to));
    Ok(vec![Block::Text(format!("Successfully moved {from} to {to}").into())])
}
