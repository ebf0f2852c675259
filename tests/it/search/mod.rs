//! `search_files` and `search_text`: what they find, what they leave out, and what they say about it.

// search_files: the meaning of a pattern, kinds, notes, and what cannot be searched.
mod names;
// search_files: where it searches, in which order, and that each result can be read.
mod reach;
// search_files: the most recently modified first.
mod sorted;
// What ignore files hide, compared with git.
mod ignore;

// search_text: the meaning of a query, and the format of matches.
mod text;
// search_text: which files it searches, and what they may contain.
mod texts;
// search_text: the same answer in every run, equal to that of a slow and simple search.
mod same;
// Both: progress, cancellation, deadlines, and other requests meanwhile.
mod limits;
// Both: their memory, whatever is searched for and wherever.
#[cfg(target_os = "linux")]
mod memory;

use serde_json::Value;

use crate::support::Client;
use crate::tools::text_and_note;

/// The answer of a search without results.
pub(crate) const NOTHING: &str = "No matches found";

/// The results of `search_files`, one path each, in its order.
pub(crate) fn found(client: &mut impl Client, arguments: Value) -> Vec<String> {
    let (text, _) = text_and_note(client, "search_files", arguments);
    if text == NOTHING { Vec::new() } else { text.lines().map(str::to_owned).collect() }
}
