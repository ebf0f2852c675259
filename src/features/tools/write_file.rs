//! `write_file`: a file with this content, be it new, replaced or longer.

use super::arguments::{Kind, optional, path, text};
use super::changing::{create_parents, if_match, writable, wrote};
use super::{Arguments, DESTRUCTIVE, Problem, Tool};
use crate::call::Block;
use crate::context::Context;
use crate::root::write::{Replace, Version};

pub(super) const TOOL: Tool = Tool {
    name: "write_file",
    title: "Write file",
    description: "Create a file, or replace all of its content; with append, add to its end. The content is written as \
        UTF-8, exactly as given. A file is replaced at once or not at all, and keeps its permissions; a link inside \
        the directory is written through to its target. Use edit_file to change a part of a file.",
    parameters: &[
        path("The file: relative to the served directory, absolute inside it, or a file:// URI."),
        text("content", "The whole new content, or with append what is added."),
        optional("append", Kind::Flag, "Add to the end instead of replacing. Default false."),
        create_parents(),
        if_match(),
    ],
    annotations: DESTRUCTIVE,
    quick: false,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, Problem> {
    let asked = arguments.text("path");
    let path = context.root().locate(asked).map_err(|error| Problem::at(asked, error))?;
    let version = arguments.given_text("ifMatch").map(Version::new);
    let new = Replace {
        content: arguments.text("content").as_bytes(),
        parents: arguments.flag("createParents"),
        if_match: version.as_ref(),
    };
    let (root, append) = (writable(context)?, arguments.flag("append"));
    let _turn = context.edit_turn()?;
    let written =
        if append { root.append(&path, new, &context.cancel) } else { root.replace(&path, new, &context.cancel) };
    let written = written.map_err(|error| Problem::in_change(asked, error))?;
    Ok(wrote(context, if append { "Successfully appended to" } else { "Successfully wrote to" }, &written))
}
