//! The service of the official Rust SDK with one tool, `read_text_file`, without sessions: what `benches/http.sh` compares
//! mcp-fs with, which builds it in a temporary folder.

use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    path: String,
}

#[derive(Clone)]
struct Files {
    root: PathBuf,
}

#[tool_router]
impl Files {
    #[tool(description = "Read a text file")]
    async fn read_text_file(
        &self,
        Parameters(Arguments { path }): Parameters<Arguments>,
    ) -> Result<CallToolResult, ErrorData> {
        let path = self.root.join(path);
        let text = tokio::fs::read_to_string(path)
            .await
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}

#[tool_handler]
impl ServerHandler for Files {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(root)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rmcp ADDRESS DIR".into());
    };
    let files = Files { root: root.into() };
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(files.clone()), Arc::new(NeverSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind(address).await?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
