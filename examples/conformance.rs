//! The fixtures of the official conformance suite behind this server's protocol layer and HTTP transport. The program itself
//! has none of them: it serves files.
//!
//! `.ci/conformance` runs it: `cargo run --example conformance -- 127.0.0.1:8081 sample-root`.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcp_fs::call::{Block, Call, Contents, Data, Failure, Outcome, ToolDefinition, ToolResult};
use mcp_fs::features::dispatch::dispatch;
use mcp_fs::limits::Limits;
use mcp_fs::root::{Deny, Root};
use mcp_fs::server::Server;
use mcp_fs::services::context::Context;
use mcp_fs::transport::http::{self, access::Access, listener};
use serde_json::json;

/// The smallest image and sound that a client might try to decode.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
const WAV: &[u8] = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88X\x01\0\x02\0\x10\0data\0\0\0\0";

const TOOLS: [&str; 7] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: conformance ADDRESS DIR".into());
    };
    let root = Root::open(Path::new(&directory), Deny::new(&[], true)?)?;
    let server = Arc::new(Server::new(root, Limits::default()).with_dispatch(fixtures));
    let bound = listener::bind_tcp(&address.parse()?)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = listener::Listener::new(bound)?;
        http::serve(server, listener, Access::default(), 1_000, std::future::pending()).await;
        Ok(())
    })
}

/// The suite's tools and resources; everything else is answered by the server as usual.
fn fixtures(call: &Call, context: &Context) -> Result<Outcome, Failure> {
    match call {
        Call::ListTools => Ok(Outcome::Tools(TOOLS.map(definition).into())),
        Call::CallTool { name, .. } if TOOLS.contains(&name.as_str()) => Ok(Outcome::Tool(run(name, context))),
        Call::ReadResource { uri } => match resource(uri) {
            Some(contents) => Ok(Outcome::Contents(contents)),
            None => dispatch(call, context),
        },
        Call::Subscribe { uri } if uri.starts_with("test:") => {
            dispatch(&Call::Subscribe { uri: "haiku.txt".to_owned() }, context)
        }
        Call::Unsubscribe { uri } if uri.starts_with("test:") => {
            dispatch(&Call::Unsubscribe { uri: "haiku.txt".to_owned() }, context)
        }
        call => dispatch(call, context),
    }
}

fn definition(name: &'static str) -> ToolDefinition {
    let input_schema = json!({"type": "object"});
    let description = "A fixture of the conformance suite".to_owned();
    ToolDefinition { name, title: None, description, input_schema, annotations: None, meta: None }
}

fn run(name: &str, context: &Context) -> ToolResult {
    let text = |text: &str| Block::Text(text.to_owned().into());
    let png = || Block::Image { mime_type: "image/png".to_owned(), data: PNG.to_vec().into() };
    let resource = |uri, text| Block::Resource(contents(uri, "text/plain", Data::Text(str::to_owned(text).into())));
    let content = match name {
        "test_image_content" => vec![png()],
        "test_audio_content" => {
            let (uri, mime_type) = ("test://audio".to_owned(), "audio/wav".to_owned());
            vec![Block::Audio { uri, mime_type, data: WAV.to_vec().into() }]
        }
        "test_embedded_resource" => vec![resource("test://embedded-resource", "An embedded resource")],
        "test_multiple_content_types" => {
            vec![text("Several kinds of content"), png(), resource("test://mixed-content-resource", "{}")]
        }
        "test_tool_with_progress" => {
            for progress in [1, 50, 100] {
                pause();
                context.report(progress, || "on the way".to_owned());
            }
            vec![text("Done")]
        }
        _ => vec![text("A simple text")],
    };
    ToolResult { content, is_error: name == "test_error_handling" }
}

/// Progress is reported at most ten times a second.
fn pause() {
    let (_open, nothing) = channel::<()>();
    let _ = nothing.recv_timeout(Duration::from_millis(120));
}

fn resource(uri: &str) -> Option<Contents> {
    let data = |text: String| Data::Text(text.into());
    Some(match uri {
        "test://static-text" => contents(uri, "text/plain", data("A static text".to_owned())),
        "test://static-binary" => contents(uri, "image/png", Data::Blob(PNG.to_vec().into())),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            contents(uri, "application/json", data(json!({"id": id, "templateTest": true}).to_string()))
        }
    })
}

fn contents(uri: &str, mime_type: &str, data: Data) -> Contents {
    let (uri, mime_type) = (uri.to_owned(), mime_type.to_owned());
    Contents { uri, mime_type, data, continues: None, version: None }
}
