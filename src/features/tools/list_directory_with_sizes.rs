//! `list_directory_with_sizes`: the entries of one directory with their sizes, in the columns of the official server.

use std::cmp::Reverse;
use std::time::SystemTime;

use super::arguments::parameters::{directory, limit, offset, sort_by};
use super::list_directory::{self, Window};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{label, shown_entry, size};
use crate::root::{Entry, Kind as EntryKind};
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// How many entries are asked for their sizes at once.
const AT_ONCE: usize = 1_024;

pub(super) const TOOL: Tool = Tool {
    name: "list_directory_with_sizes",
    title: "List directory with sizes",
    description: "List the entries of a directory with file sizes, one per line, and totals at the end. Sorts by name, \
        by size (largest first), or by modification time (newest first). If the list does not fit (40,000 bytes by \
        default), a note says how to get the rest.",
    parameters: &[
        directory(),
        sort_by(&["name", "size", "modified"], "Sort by \"name\", \"size\" or \"modified\". Default \"name\"."),
        offset("entry"),
        limit("entries"),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let _permit = context.permit(Work::Walk)?;
    let (dir, listing) = list_directory::open(arguments, context)?;
    let by_time = arguments.text("sortBy") == "modified";
    let mut rows: Vec<(Entry<'_>, u64, Option<SystemTime>)> = Vec::with_capacity(listing.len());
    let is_wanted = |entry: &Entry<'_>| entry.kind == EntryKind::File || by_time;
    let mut stats = Vec::new().into_iter();
    for (at, entry) in listing.iter().enumerate() {
        if at.is_multiple_of(AT_ONCE) {
            let next = listing.iter().skip(at).take(AT_ONCE).filter(is_wanted);
            stats = dir.stats(&next.map(|entry| entry.name).collect::<Vec<_>>(), &context.cancel).into_iter();
            context.cancel.check()?;
        }
        // An entry that has disappeared has no size and no time, and is still shown.
        let stat = if is_wanted(&entry) { stats.next().flatten() } else { None };
        let bytes = stat.as_ref().filter(|_| entry.kind == EntryKind::File).map_or(0, |stat| stat.size);
        rows.push((entry, bytes, stat.filter(|_| by_time).and_then(|stat| stat.modified)));
    }
    let is = |kind| move |(entry, ..): &&(Entry<'_>, u64, Option<SystemTime>)| entry.kind == kind;
    let files = rows.iter().filter(is(EntryKind::File)).count();
    let directories = rows.iter().filter(is(EntryKind::Directory)).count();
    let combined = size(rows.iter().map(|(_, bytes, _)| u128::from(*bytes)).sum::<u128>()); // two sparse files may fill a u64
    // Stable: equal entries stay sorted by name.
    match arguments.text("sortBy") {
        "size" => rows.sort_by_key(|(_, bytes, _)| Reverse(*bytes)),
        "modified" => rows.sort_by_key(|(.., modified)| Reverse(*modified)),
        _ => {}
    }

    let window = Window::of(arguments, context);
    let mut text = String::new();
    let mut shown = 0;
    for (entry, bytes, _) in rows.into_iter().skip(window.skip).take(window.limit) {
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
