//! Prompts as they are listed, and what one says.

use serde::Serialize;

use super::{Block, Fingerprint};

/// A prompt as `prompts/list` shows it.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// What `prompts/get` names.
    pub name: String,
    /// For people; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it can be given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

/// What a prompt can be given.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Without it the prompt is not given.
    pub required: bool,
}

/// A page of `prompts/list`.
#[derive(Debug)]
pub struct PromptPage {
    /// In the order of their names.
    pub prompts: Vec<Prompt>,
    /// Absent on the last page.
    pub next_cursor: Option<String>,
    /// On the first page: which list this is, so that it can be told from a later one.
    pub fingerprint: Option<Fingerprint>,
}

/// What a prompt says: messages of the user, in this order.
#[derive(Debug)]
pub struct PromptMessages {
    /// For people.
    pub description: Option<String>,
    /// One message each.
    pub content: Vec<Block>,
}
