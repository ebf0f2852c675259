//! `search_files` and `search_text`: what they find, what they leave out, and what they say about it.

// search_files: what a pattern means, kinds, notes, and what cannot be searched.
mod names;
// search_files: where it looks and where not, in which order, and that each result can be read.
mod reach;
// search_files: the newest first.
mod sorted;
// What ignore files hide, with git as the oracle.
mod ignore;

// search_text: how a query is meant, and how what was found is written.
mod text;
// search_text: which files it looks into, and what they may hold.
mod texts;
// search_text: the same answer in every run, and what a slow and simple search finds too.
mod same;
// Both: progress, cancellation, deadlines, and the server meanwhile.
mod limits;
// Both: the memory they take, whatever is asked and wherever.
#[cfg(target_os = "linux")]
mod memory;

use serde_json::Value;

use crate::support::Client;
use crate::tools::text_and_note;

/// What a search says that found nothing.
pub(crate) const NOTHING: &str = "No matches found";

/// What `search_files` finds, a path each, in its order.
pub(crate) fn found(client: &mut impl Client, arguments: Value) -> Vec<String> {
    let (text, _) = text_and_note(client, "search_files", arguments);
    if text == NOTHING { Vec::new() } else { text.lines().map(str::to_owned).collect() }
}
