//! The tools: one file each, and the registry from which everything else is made.
//!
//! A tool is a constant: its name and descriptions for the model, its parameters, its effects, and the function that
//! runs it. `tools/list`, the checks of arguments, and the README's table are all made from it, so they cannot
//! disagree. **To add a tool, write its file and add its line to [`TOOLS`].**
//!
//! Answers are plain text blocks, without `structuredContent`: if that is present, Claude Code, Codex and VS Code show
//! the model escaped JSON instead of the text, and Gemini and Zed ignore it.

mod arguments;
mod copy_file;
mod create_directory;
mod delete_file;
mod directory_tree;
mod edit_file;
mod edits;
mod get_file_info;
mod list_allowed_directories;
mod list_directory;
mod list_directory_with_sizes;
mod move_file;
mod read_media_file;
mod read_multiple_files;
mod read_text_file;
mod search_files;
mod search_text;
mod tool_error;
mod write_common;
mod write_file;

use serde_json::json;
use serde_json::value::RawValue;

use self::arguments::{Arguments, Parameter};
use self::tool_error::ToolError;
use crate::call::{Block, Failure, ToolAnnotations, ToolDefinition, ToolResult};
use crate::object::Object;
use crate::root::{RequestedPath, Root};
use crate::services::context::Context;

/// Every tool, in the order of `tools/list`.
const TOOLS: &[&Tool] = &[
    &read_text_file::TOOL,
    &read_media_file::TOOL,
    &read_multiple_files::TOOL,
    &list_directory::TOOL,
    &list_directory_with_sizes::TOOL,
    &directory_tree::TOOL,
    &search_files::TOOL,
    &search_text::TOOL,
    &get_file_info::TOOL,
    &list_allowed_directories::TOOL,
    &write_file::TOOL,
    &edit_file::TOOL,
    &create_directory::TOOL,
    &move_file::TOOL,
    &copy_file::TOOL,
    &delete_file::TOOL,
];

/// Names that can be called but are not listed: older ones of the official server, which prompts still use.
const ALIASES: &[(&str, &str)] = &[("read_file", "read_text_file")];

/// Tools that need the user's confirmation each time, whatever was permitted before. Claude Code knows this key.
const ASK_FIRST: (&[&str], &str) = (&["delete_file"], "anthropic/requiresUserInteraction");

/// One tool.
struct Tool {
    /// In `snake_case`, at most 30 characters: clients prepend their own prefix.
    name: &'static str,
    /// For people.
    title: &'static str,
    /// For the model: at most 1,000 characters, with defaults and limits in words.
    description: &'static str,
    parameters: &'static [Parameter],
    annotations: ToolAnnotations,
    inline: Inline,
    run: fn(&Arguments<'_>, &Context) -> Result<Vec<Block>, ToolError>,
}

/// When a tool is served on the event loop's own thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inline {
    /// Always: it needs no disk.
    Always,
    /// If the file named by its argument `path`, the only one that it opens, is small and in the page cache.
    SmallFile,
    /// Never.
    Never,
}

/// The annotations of every tool that only reads.
const READ_ONLY: ToolAnnotations =
    ToolAnnotations { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };

/// The annotations of a tool that can overwrite or remove something.
const DESTRUCTIVE: ToolAnnotations =
    ToolAnnotations { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: false };

/// The tools for `tools/list`, including those that change something if `writable`.
pub(super) fn definitions(writable: bool) -> Vec<ToolDefinition> {
    TOOLS.iter().filter(|tool| writable || !tool.changes()).map(|tool| tool.definition()).collect()
}

/// When this tool is served inline.
pub(super) fn inline(name: &str) -> Inline {
    find(name).map_or(Inline::Never, |tool| tool.inline)
}

/// The path that the argument `path` names, if it is valid.
pub(super) fn path_of(arguments: &RawValue, root: &Root) -> Option<RequestedPath> {
    let arguments = Object::parse(arguments)?;
    root.locate(&arguments.string("path")?).ok()
}

/// Calls a tool. An error inside it is an answer for the model, not a failure of the protocol.
pub(super) fn call(name: &str, arguments: Option<&RawValue>, context: &Context) -> Result<ToolResult, Failure> {
    let tool = find(name).ok_or_else(|| Failure::UnknownTool(name.to_owned()))?;
    if tool.changes() && context.writable().is_none() {
        let text = format!("{name} is not allowed: this server is read-only. It must be started with --allow-write.");
        return Ok(ToolResult { content: vec![Block::Text(text.into())], is_error: true });
    }
    let content = Arguments::parse(tool.parameters, arguments).and_then(|arguments| (tool.run)(&arguments, context));
    match content {
        Ok(content) => Ok(ToolResult { content, is_error: false }),
        Err(ToolError::Message(text)) => Ok(ToolResult { content: vec![Block::Text(text.into())], is_error: true }),
        Err(ToolError::Failure(failure)) => Err(failure),
    }
}

/// The answer for a tool that is stuck.
pub(super) fn timed_out(name: &str, message: &str) -> ToolResult {
    let next = if find(name).is_some_and(Tool::changes) {
        "Whether anything was changed is not known: look before you try again."
    } else {
        "Try again later; what lies elsewhere may be reached meanwhile."
    };
    ToolResult { content: vec![Block::Text(format!("{message} {next}").into())], is_error: true }
}

/// The answer of a tool that could not be started.
pub(super) fn not_begun(message: &str) -> ToolResult {
    ToolResult { content: vec![Block::Text(message.to_owned().into())], is_error: true }
}

fn find(name: &str) -> Option<&'static Tool> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

impl Tool {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name,
            title: Some(self.title),
            description: self.description.to_owned(),
            input_schema: arguments::schema(self.parameters),
            annotations: Some(self.annotations),
            meta: ASK_FIRST.0.contains(&self.name).then(|| json!({ ASK_FIRST.1: true })),
        }
    }

    /// Whether it changes what is served.
    fn changes(&self) -> bool {
        !self.annotations.read_only_hint
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A single bad tool makes clients drop all of them.
    #[test]
    fn every_tool_is_one_that_every_client_takes() {
        let mut names = HashSet::new();
        for tool in TOOLS {
            assert!(names.insert(tool.name), "{} is there twice", tool.name);
            assert!(tool.name.len() <= 30 && tool.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(tool.description.chars().count() <= 1_000, "{}: too long", tool.name);
            assert!(!tool.annotations.open_world_hint, "{}", tool.name);
            for parameter in tool.parameters {
                assert!(!parameter.description.concat().is_empty(), "{}: {}", tool.name, parameter.name);
            }
        }
        assert!(ASK_FIRST.0.iter().all(|name| names.contains(name)));
        for (alias, name) in ALIASES {
            assert!(!names.contains(alias) && names.contains(name), "{alias}");
        }
    }

    #[test]
    fn the_list_is_small_enough_for_every_context() {
        for (writable, most) in [(false, 12 << 10), (true, 18 << 10)] {
            let bytes = serde_json::to_vec(&definitions(writable)).expect("definitions are JSON").len();
            assert!(bytes <= most, "{bytes} bytes, writable: {writable}");
        }
    }
}
