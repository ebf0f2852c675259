//! `list_directory`: the entries of one directory, one line each.

use super::arguments::parameters::{directory, limit, offset};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{grouped, push_entry};
use crate::root::{Directory, Listing};
use crate::runtime::permits::Work;
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "list_directory",
    title: "List directory",
    description: "List the entries of a directory, one per line, sorted by name: [FILE], [DIR], [LINK] or [OTHER], \
        then the name. A name that does not fit on one line is shown as its file:// URI. If the list does not fit \
        (40,000 bytes by default), a note says how to get the rest. Use search_files to find files by name at any \
        depth.",
    parameters: &[directory(), offset("entry"), limit("entries")],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let _permit = context.permit(Work::Walk)?;
    let (dir, listing) = open(arguments, context)?;
    let window = Window::of(arguments, context);
    let mut text = String::with_capacity((24 * listing.len()).min(window.bytes));
    let mut count = 0;
    for entry in listing.iter().skip(window.skip).take(window.limit) {
        if !push_entry(&mut text, window.bytes, context.root(), &dir.path, entry) {
            break;
        }
        count += 1;
    }
    Ok(blocks(text, window.note(count, &listing)))
}

/// Opens and reads the directory that the arguments name.
pub(super) fn open<'r>(arguments: &Arguments<'_>, context: &'r Context) -> Result<(Directory<'r>, Listing), ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let dir = root.locate(asked).and_then(|path| root.open_directory(&path, &context.cancel));
    let listed = dir.and_then(|dir| dir.list(&context.cancel).map(|listing| (dir, listing)));
    listed.map_err(|error| ToolError::at(asked, error))
}

/// The text, and the note if there is one; for an empty directory, only the note.
pub(super) fn blocks(text: String, note: Option<String>) -> Vec<Block> {
    let text = (!text.is_empty() || note.is_none()).then_some(text);
    text.into_iter().chain(note).map(|text| Block::Text(text.into())).collect()
}

/// Which entries are requested, and how many bytes they may take.
pub(super) struct Window {
    pub(super) skip: usize,
    pub(super) limit: usize,
    pub(super) bytes: usize,
}

impl Window {
    pub(super) fn of(arguments: &Arguments<'_>, context: &Context) -> Self {
        let count = |name| arguments.count(name).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        Self {
            skip: count("offset").map_or(0, |offset| offset - 1),
            limit: count("limit").unwrap_or(usize::MAX),
            bytes: context.limits().output_bytes,
        }
    }

    /// Says which part of the directory is shown, if not all of it.
    pub(super) fn note(&self, shown: usize, listing: &Listing) -> Option<String> {
        let total = if listing.cut { "more than " } else { "" }.to_owned() + &grouped(listing.len() as u64);
        let end = self.skip.saturating_add(shown);
        let said = match (shown, listing.len()) {
            (_, 0) if listing.denied == 0 => "the directory is empty".to_owned(),
            (_, 0) => String::new(),
            (0, _) if self.skip >= listing.len() => format!("nothing at offset {} of {total} entries", self.skip + 1),
            (shown, all) if shown < all || listing.cut => {
                let more = if end < all { format!("; continue with offset {}", end + 1) } else { String::new() };
                format!("entries {}-{end} of {total}{more}", self.skip + 1)
            }
            _ if listing.denied == 0 => return None,
            _ => String::new(),
        };
        // Without their number: clients must not learn about denied entries.
        let denied = (listing.denied > 0).then(|| "denied entries are not shown".to_owned());
        let said: Vec<_> = Some(said).filter(|said| !said.is_empty()).into_iter().chain(denied).collect();
        Some(format!("[{}]", said.join("; ")))
    }
}
