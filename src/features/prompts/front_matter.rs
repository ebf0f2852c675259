//! The front matter of a prompt file: YAML between two lines of `---`, read within limits.
//!
//! Whoever writes a file below DIR writes YAML for this parser, so nothing in it may grow: the text is short, nesting is
//! shallow, and aliases, which can make a few bytes into gigabytes, are not taken at all.

use serde::Deserialize;

use super::ParseError;
use crate::hostile::escaped;

/// Bytes of front matter.
const MOST_BYTES: usize = 16 << 10;
/// Levels of nesting. A list of arguments has three.
const DEEPEST: usize = 16;
/// Scalars, lists and mappings.
const MOST_NODES: usize = 1_000;

/// What is read of the front matter of this server's own prompts. Other keys mean nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnKeys {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) arguments: Vec<DeclaredArgument>,
}

/// One of `arguments`.
#[derive(Debug, Deserialize)]
pub(super) struct DeclaredArgument {
    pub(super) name: String,
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) required: bool,
}

/// What is read of the front matter of other programs' files.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ForeignKeys {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
}

/// The front matter, where there is any, and what comes after it.
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

/// A line without its end and the spaces before that, and what comes after it.
fn first_line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end(), rest)
}

/// Reads the keys that matter.
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

/// Takes the line `argument-hint:` out, and gives what it says. It is no YAML where it says `[number] [priority]`, as the
/// documentation of Claude Code shows it.
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
