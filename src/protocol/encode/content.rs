//! Content: of tools and prompts, and of resources.

use super::Meta;
use crate::bytes::Bytes;
use crate::call::{Block, Contents, Continuation, Data, PromptMessages, ToolResult};
use crate::jsonrpc::body::Body;
use crate::protocol::Era;

pub(super) fn write_prompt(body: &mut Body, era: Era, prompt: PromptMessages) {
    if let Some(description) = &prompt.description {
        body.key("description");
        body.string(description);
    }
    body.key("messages");
    body.open('[');
    for block in prompt.content {
        body.open('{');
        body.key("role");
        body.string("user");
        body.key("content");
        write_block(body, era, block);
        body.close('}');
    }
    body.close(']');
}

pub(super) fn write_tool_result(body: &mut Body, era: Era, result: ToolResult) {
    body.key("content");
    body.open('[');
    for block in result.content {
        write_block(body, era, block);
    }
    body.close(']');
    if result.is_error {
        body.key("isError");
        body.raw("true");
    }
}

fn write_block(body: &mut Body, era: Era, block: Block) {
    body.open('{');
    body.key("type");
    match block {
        Block::Text(text) => {
            body.string("text");
            body.key("text");
            body.text(text);
        }
        Block::Image { mime_type, data } => write_media(body, "image", &mime_type, data),
        Block::Audio { mime_type, data, .. } if era.has_audio_and_annotations() => {
            write_media(body, "audio", &mime_type, data);
        }
        Block::Audio { uri, mime_type, data } => {
            write_resource(body, Contents { uri, mime_type, data: Data::Blob(data), continues: None, version: None });
        }
        Block::Resource(contents) => write_resource(body, contents),
    }
    body.close('}');
}

fn write_media(body: &mut Body, kind: &str, mime_type: &str, data: Bytes) {
    body.string(kind);
    body.key("mimeType");
    body.string(mime_type);
    body.key("data");
    body.base64(data);
}

fn write_resource(body: &mut Body, contents: Contents) {
    body.string("resource");
    body.key("resource");
    write_contents(body, contents);
}

pub(super) fn write_contents(body: &mut Body, contents: Contents) {
    body.open('{');
    body.key("uri");
    body.string(&contents.uri);
    body.key("mimeType");
    body.string(&contents.mime_type);
    match contents.data {
        Data::Text(text) => {
            body.key("text");
            body.text(text);
        }
        Data::Blob(data) => {
            body.key("blob");
            body.base64(data);
        }
    }
    let mut meta = Meta::default();
    if let Some(continuation) = contents.continues {
        let key = match continuation {
            Continuation::Next { .. } => "dev.mcp-fs/continues",
            Continuation::PastEnd { .. } => "dev.mcp-fs/pastEnd",
        };
        meta.0.push((key, serde_json::json!(continuation).to_string()));
    }
    if let Some(version) = contents.version {
        meta.0.push(("dev.mcp-fs/version", serde_json::json!(version.to_string()).to_string()));
    }
    meta.write(body);
    body.close('}');
}
