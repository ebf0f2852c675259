//! The front matter of a prompt file: YAML between two lines of `---`, parsed within limits.
//!
//! Whoever can write a file below DIR writes YAML for this parser, so its memory must be bounded: the text is short,
//! nesting is shallow, and aliases, which can turn a few bytes into gigabytes, are rejected.

use serde::Deserialize;

use super::ParseError;
use crate::hostile::escaped;

/// The limit of the front matter, in bytes.
const MOST_BYTES: usize = 16 << 10;
/// The limit of nesting. A list of arguments has three levels.
const DEEPEST: usize = 16;
/// The limit of scalars, lists and mappings.
const MOST_NODES: usize = 1_000;

/// The keys that are read from the front matter of this server's own prompts; others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnKeys {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) arguments: Vec<DeclaredArgument>,
}

/// An entry of `arguments`.
#[derive(Debug, Deserialize)]
pub(super) struct DeclaredArgument {
    pub(super) name: String,
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) required: bool,
}

/// The keys that are read from the front matter of other programs' files.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ForeignKeys {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
}

/// Splits a text into its front matter, if any, and the rest.
pub(super) fn split(text: &str) -> Result<(&str, &str), ParseError> {
    let (first, rest) = first_line(text);
    if first != "---" {
        return Ok(("", text));
    }
    let mut body = rest;
    while !body.is_empty() {
        let length = rest.len() - body.len();
        let (line, after) = first_line(body);
        if line == "---" {
            return Ok((&rest[..length], after));
        }
        if length > MOST_BYTES {
            return Err(ParseError::FrontMatterTooLong(MOST_BYTES));
        }
        body = after;
    }
    Err(ParseError::FrontMatterWithoutEnd)
}

/// A line without its newline and trailing spaces, and the text after it.
fn first_line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end(), rest)
}

/// Parses the keys.
pub(super) fn read<'de, T: Deserialize<'de> + Default>(front_matter: &'de str) -> Result<T, ParseError> {
    if front_matter.len() > MOST_BYTES {
        return Err(ParseError::FrontMatterTooLong(MOST_BYTES));
    }
    if front_matter.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(T::default());
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            flow_nesting_limit: DEEPEST,
            max_depth: DEEPEST,
            max_nodes: MOST_NODES,
            max_events: 4 * MOST_NODES,
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_documents: 1,
            max_total_scalar_bytes: MOST_BYTES
        },
        strict_booleans: true,
    };
    serde_saphyr::from_str_with_options(front_matter, options).map_err(|error| {
        let message = error.without_snippet().to_string();
        let line = message.lines().next().unwrap_or_default();
        ParseError::Yaml(escaped(line).chars().take(300).collect())
    })
}

/// Removes the line `argument-hint:`, and returns its value. It is not valid YAML if it says `[number] [priority]`, as
/// in the documentation of Claude Code.
pub(super) fn take_hint(front_matter: &str) -> (String, Option<String>) {
    let (mut rest, mut hint) = (String::with_capacity(front_matter.len()), None);
    for line in front_matter.split_inclusive('\n') {
        match line.strip_prefix("argument-hint:") {
            Some(text) => hint = Some(text.trim().trim_matches(['"', '\'']).to_owned()).filter(|hint| !hint.is_empty()),
            None => rest.push_str(line),
        }
    }
    (rest, hint)
}
