//! Tools: how they are listed, and what calling one returns.

use serde::Serialize;
use serde_json::Value;

use super::Contents;
use crate::bytes::Bytes;
use crate::text::Text;

/// A tool as `tools/list` shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The name for `tools/call`.
    pub name: &'static str,
    /// For people; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// For the model.
    pub description: String,
    /// A flat JSON Schema.
    pub input_schema: Value,
    /// Hints for the client's permission prompts; since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Extensions that some clients know; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// What a tool does to its environment. All four hints are always present, because clients assume the worst if one is
/// missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four")]
pub struct ToolAnnotations {
    /// The tool changes nothing.
    pub read_only_hint: bool,
    /// The tool can destroy something.
    pub destructive_hint: bool,
    /// Repeating a call with the same arguments changes nothing more.
    pub idempotent_hint: bool,
    /// The tool reaches beyond the served directory; always false.
    pub open_world_hint: bool,
}

/// The answer of a tool.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// For the model, in this order.
    pub content: Vec<Block>,
    /// The tool ran and failed; `content` says why.
    pub is_error: bool,
}

/// A part of a tool's answer.
#[derive(Debug)]
pub enum Block {
    /// Plain text.
    Text(Text),
    /// A picture.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// The file's bytes.
        data: Bytes,
    },
    /// A sound; since 2025-03-26.
    Audio {
        /// The URI of the file, for revisions that can only embed it.
        uri: String,
        /// Such as `audio/wav`.
        mime_type: String,
        /// The file's bytes.
        data: Bytes,
    },
    /// Any other file.
    Resource(Contents),
}
