//! `list_directory_with_sizes`: the entries of one directory with their sizes, in the official server's columns.

use super::arguments::{Kind, directory, optional};
use super::list_directory::{self, Window};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{label, shown_entry, size};
use crate::root::{Entry, Kind as EntryKind};
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "list_directory_with_sizes",
    title: "List directory with sizes",
    description: "List what is in a directory with the size of each file, one entry a line, and the totals below. \
        Sorted by name, or by size with the largest first. If there is more than fits (40,000 bytes by default), a \
        note says how to go on.",
    parameters: &[
        directory(),
        optional("sortBy", Kind::Choice(&["name", "size"]), "\"name\" or \"size\". Default \"name\"."),
        optional("offset", Kind::Count, "The entry to begin with, counted from 1. Default 1."),
        optional("limit", Kind::Count, "At most this many entries. Default: as many as fit."),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let _permit = context.walk_permit()?;
    let (dir, listing) = list_directory::open(arguments, context)?;
    let mut rows: Vec<(Entry<'_>, u64)> = Vec::with_capacity(listing.len());
    for entry in listing.iter() {
        context.cancel.check()?;
        let bytes = match entry.kind {
            // What is gone by now has no size, and is still shown as it was listed.
            EntryKind::File => dir.stat(entry.name).map_or(0, |stat| stat.size),
            _ => 0,
        };
        rows.push((entry, bytes));
    }
    let is = |kind| move |(entry, _): &&(Entry<'_>, u64)| entry.kind == kind;
    let files = rows.iter().filter(is(EntryKind::File)).count();
    let directories = rows.iter().filter(is(EntryKind::Directory)).count();
    let combined = size(rows.iter().map(|(_, bytes)| u128::from(*bytes)).sum::<u128>()); // two sparse files may fill a u64
    if arguments.text("sortBy") == "size" {
        rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes)); // stable: equal sizes stay sorted by name
    }

    let window = Window::of(arguments, context);
    let mut text = String::new();
    let mut shown = 0;
    for (entry, bytes) in rows.into_iter().skip(window.skip).take(window.limit) {
        let name = shown_entry(context.root(), &dir.path, entry.name);
        let bytes = if entry.kind == EntryKind::File { size(bytes) } else { String::new() };
        let line = format!("{} {name:<30} {bytes:>10}", label(entry.kind));
        if shown > 0 && text.len() + line.len() + 100 > window.bytes {
            break;
        }
        text.push_str(line.trim_end());
        text.push('\n');
        shown += 1;
    }
    text.push_str(&format!("\nTotal: {files} files, {directories} directories\nCombined size: {combined}"));
    Ok(list_directory::blocks(text, window.note(shown, &listing)))
}
