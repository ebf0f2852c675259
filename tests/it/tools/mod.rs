//! The promise of each tool: a successful call in the official server's format, and each error it declares.
//!
//! Details inside a tool are unit tests in the tool's file. Escape attempts are in `sandbox`; here are the paths that
//! must work.

// Arguments in general, unknown tools, the alias.
mod calling;
// The forms of `path`, for every tool.
mod paths;

mod directory_tree;
mod edit_file;
mod get_file_info;
mod list_directory;
mod list_directory_with_sizes;
mod read_media_file;
mod read_multiple_files;

// read_text_file: which lines; files longer than an answer; bytes that are not UTF-8.
mod encodings;
mod line_numbers;
mod long_files;
mod read_text_file;

use serde_json::{Map, Value};

use crate::support::Client;

/// The largest number that a tool accepts if there is no other limit.
pub(crate) const MOST_EXACT: u64 = (1 << 53) - 1;

/// The text blocks of a tool's result, which must have no others.
pub(crate) fn blocks(result: &Value) -> Vec<String> {
    let blocks = result["content"].as_array().expect("content");
    blocks.iter().map(|block| block["text"].as_str().expect("text").to_owned()).collect()
}

/// Calls a tool that must succeed with one text, and perhaps a note about it.
pub(crate) fn text_and_note(client: &mut impl Client, name: &str, arguments: Value) -> (String, Option<String>) {
    let result = client.tool(name, arguments);
    assert_ne!(result["isError"], true, "{name} failed: {result}");
    let mut blocks = blocks(&result).into_iter();
    let (text, note) = (blocks.next().expect("a text"), blocks.next());
    assert_eq!(blocks.next(), None, "more than a text and a note: {result}");
    (text, note)
}

/// The number after `word` in a note: `continue with offset 801, column 5`.
pub(crate) fn number_after(word: &str, note: &str) -> Option<u64> {
    let (_, rest) = note.split_once(&format!("{word} "))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some(digits.parse().unwrap_or_else(|_| panic!("no number after {word} in {note}")))
}

/// An object with these members and those of `more`.
pub(crate) fn with(object: &Value, more: &Value) -> Value {
    let members = |value: &Value| value.as_object().expect("an object").clone();
    Value::Object(members(object).into_iter().chain(members(more)).collect::<Map<_, _>>())
}
