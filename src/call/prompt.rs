//! Prompts: how they are listed, and their messages.

use serde::Serialize;

use super::{Block, Fingerprint};

/// A prompt as `prompts/list` shows it.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The name for `prompts/get`.
    pub name: String,
    /// For people; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether `prompts/get` fails without it.
    pub required: bool,
}

/// A page of `prompts/list`.
#[derive(Debug)]
pub struct PromptPage {
    /// Sorted by name.
    pub prompts: Vec<Prompt>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// On the first page: identifies this list, to compare it with later ones.
    pub fingerprint: Option<Fingerprint>,
}

/// The messages of a prompt, all from the user, in this order.
#[derive(Debug)]
pub struct PromptMessages {
    /// For people.
    pub description: Option<String>,
    /// One message each.
    pub content: Vec<Block>,
}
