//! `copy_file`: copies a file or directory without its content passing through the model.

use super::arguments::parameters::{create_parents, destination, flag, source};
use super::write_common::{caveats, two_paths, writable};
use super::{Arguments, DESTRUCTIVE, Inline, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{counted, shown};
use crate::root::write::{Copied, CopyOptions};
use crate::runtime::permits::Work;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "copy_file",
    title: "Copy file",
    description: "Copy a file, or a directory with its contents, on the server. Use this instead of reading and \
        writing. Keeps permissions; links inside a directory stay links. Fails if the destination exists, unless \
        overwrite is true and both are files. The destination is the path of the copy, not the directory to copy \
        into.",
    parameters: &[
        source(),
        destination("The path of the copy."),
        create_parents(),
        flag("overwrite", "Replace an existing file."),
    ],
    annotations: DESTRUCTIVE,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let paths = two_paths(arguments, context)?;
    let _permit = context.permit(Work::Tree)?;
    let options = CopyOptions { parents: arguments.flag("createParents"), overwrite: arguments.flag("overwrite") };
    let report = |done: usize| context.report(done as u64, || format!("{done} entries copied"));
    let root = writable(context)?;
    let copied = root.copy(&paths.source, &paths.destination, options, &context.cancel, &report);
    let copied = copied.map_err(|error| paths.problem(error))?;
    let (from, to) = (shown(context.root(), &copied.from), shown(context.root(), &copied.to));
    let text = format!("Successfully copied {from} to {to}");
    Ok(vec![Block::Text(text.into()), Block::Text(note(&copied).into())])
}

fn note(copied: &Copied) -> String {
    let entries = counted(copied.entries as u64, "entry", "entries");
    let bytes = counted(copied.bytes, "byte", "bytes");
    let mut said = vec![format!("{entries}, {bytes}")];
    if copied.skipped > 0 {
        said.push(format!("left out: {}", counted(copied.skipped as u64, "special file", "special files")));
    }
    said.extend(caveats(copied.caveats));
    format!("[{}]", said.join("; "))
}
