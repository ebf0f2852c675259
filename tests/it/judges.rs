//! The official Rust SDK's client drives the real program in each of the ways in which it can begin. Others wrote it
//! from the specification: whatever it cannot use is wrong, whatever our own reading says.

// Subscriptions, streams and the list.
mod live;

use std::borrow::Cow;
use std::process::Stdio;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ErrorCode, Implementation, ProtocolVersion, ReadResourceRequestParams,
    RequestMetaObject, ResourceContents,
};
use rmcp::service::{QuitReason, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::process::ChildStderr;
use tokio::time::timeout;

use crate::support::process::without_notice;
use crate::support::{TIMEOUT, Tree};

type Client = RunningService<RoleClient, ()>;

/// How a client of this SDK can begin, and the resulting revision.
fn modes() -> [(ClientLifecycleMode, ProtocolVersion); 4] {
    let (modern, legacy) = (ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25);
    let unknown: ProtocolVersion = serde_json::from_value(json!("2099-01-01")).expect("a version");
    let auto = ClientLifecycleMode::Auto { preferred_versions: vec![modern.clone()], legacy_version: None };
    let discover = |preferred_versions| ClientLifecycleMode::Discover { preferred_versions };
    [
        (ClientLifecycleMode::Initialize, legacy),
        (discover(vec![modern.clone()]), modern.clone()),
        // It is told the supported versions, and tries again.
        (discover(vec![unknown, modern.clone()]), modern.clone()),
        (auto, modern),
    ]
}

fn tree() -> Tree {
    let files = (0..25).map(|number| format!("many/file {number:02}.txt"));
    let tree = files.fold(Tree::new(), |tree, path| tree.file(path, "one of many\n"));
    tree.file("haiku.txt", "old pond\n").file("picture.bin", [0, 255, 1])
}

/// Starts the program and a client for it. Nothing may take longer than [`TIMEOUT`].
async fn start<H: ClientHandler>(
    tree: &Tree,
    mode: ClientLifecycleMode,
    handler: H,
) -> (RunningService<RoleClient, H>, ChildStderr) {
    let started = TokioChildProcess::builder(program(tree)).stderr(Stdio::piped()).spawn();
    let (transport, stderr) = started.expect("mcp-fs starts");
    let client = timeout(TIMEOUT, handler.serve_with_lifecycle(transport, mode)).await.expect("an answer in time");
    (client.expect("a session"), stderr.expect("stderr is piped"))
}

/// The program with small pages, and pipes for its streams.
fn program(tree: &Tree) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp-fs"));
    command.args(["--page-size", "10"]).arg(tree.path()).env_remove("MCP_FS_LOG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a test in each mode.
fn in_each_mode<F: Future<Output = ()>>(judgement: impl Fn(Arc<Tree>, Client, ChildStderr, ProtocolVersion) -> F) {
    runtime().block_on(async {
        for (mode, revision) in modes() {
            eprintln!("{mode:?}");
            let tree = Arc::new(tree());
            let (client, stderr) = start(&tree, mode, ()).await;
            timeout(TIMEOUT, judgement(Arc::clone(&tree), client, stderr, revision)).await.expect("it took too long");
        }
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(Cow::Borrowed(name)).with_arguments(arguments)
}

fn protocol_error<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> rmcp::ErrorData {
    match answer.expect_err("an error") {
        ServiceError::McpError(error) => error,
        other => panic!("not an error of the server: {other:?}"),
    }
}

#[test]
fn rmcp_agrees_on_the_newest_revision_of_its_era() {
    in_each_mode(|tree, client, _stderr, revision| async move {
        let info = client.peer_info().expect("what the server said of itself");
        assert_eq!(info.protocol_version, revision);
        assert!(info.capabilities.tools.is_some() && info.capabilities.resources.is_some(), "{info:?}");
        assert!(info.capabilities.completions.is_some(), "{info:?}");
        let name = tree.path().to_str().expect("text");
        assert!(info.instructions.as_deref().is_some_and(|text| text.contains(name)), "{info:?}");
        assert_eq!(info.server_info.as_ref().map(|server| server.name.as_str()), Some("mcp-fs"));
    });
}

#[test]
fn rmcp_lists_the_tools_with_their_schemas() {
    in_each_mode(|_tree, client, _stderr, _| async move {
        let tools = client.list_all_tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "read_text_file"), "{tools:?}");
        for tool in tools {
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.annotations.and_then(|annotations| annotations.read_only_hint), Some(true));
        }
    });
}

#[test]
fn rmcp_calls_tools() {
    in_each_mode(|tree, client, _stderr, _| async move {
        for path in ["haiku.txt", tree.uri("haiku.txt").as_str()] {
            let result = client.call_tool(call("read_text_file", json!({"path": path}))).await.expect("a result");
            assert_ne!(result.is_error, Some(true), "{result:?}");
            assert_eq!(result.content[0].as_text().expect("text").text, "old pond\n");
        }
        let refused = client.call_tool(call("read_text_file", json!({"path": "../secret"}))).await.expect("a result");
        assert_eq!(refused.is_error, Some(true), "{refused:?}");
        assert!(refused.content[0].as_text().expect("text").text.contains("outside"), "{refused:?}");
    });
}

#[test]
fn rmcp_gets_a_protocol_error_for_an_unknown_tool() {
    in_each_mode(|_tree, client, _stderr, _| async move {
        let error = protocol_error(client.call_tool(call("no_such_tool", json!({}))).await);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error:?}");
    });
}

#[test]
fn rmcp_lists_the_resources_over_several_pages_and_reads_each() {
    in_each_mode(|tree, client, _stderr, _| async move {
        let first = client.list_resources(None).await.expect("a page");
        assert!(first.resources.len() == 10 && first.next_cursor.is_some(), "{first:?}");
        let resources = client.list_all_resources().await.expect("resources");
        let mut uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris.len(), 27);
        uris.dedup();
        assert_eq!(uris.len(), 27, "an entry is there twice");
        assert_eq!(uris[..2], [tree.uri("haiku.txt"), tree.uri("picture.bin")]);
        for uri in uris {
            let result = client.read_resource(ReadResourceRequestParams::new(uri)).await.expect(uri);
            match (&result.contents[..], uri.ends_with("picture.bin")) {
                ([ResourceContents::TextResourceContents { uri: given, text, .. }], false) => {
                    assert!(given == uri && ["old pond\n", "one of many\n"].contains(&text.as_str()), "{result:?}");
                }
                ([ResourceContents::BlobResourceContents { blob, .. }], true) => assert_eq!(blob, "AP8B"),
                _ => panic!("{uri}: {result:?}"),
            }
        }
    });
}

#[test]
fn rmcp_gets_the_reason_why_a_resource_cannot_be_read() {
    in_each_mode(|tree, client, _stderr, revision| async move {
        let read = |uri: String| client.read_resource(ReadResourceRequestParams::new(uri));
        let missing = protocol_error(read(tree.uri("missing.txt")).await);
        let modern = revision == ProtocolVersion::V_2026_07_28;
        let not_found = if modern { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
        assert_eq!(missing.code, not_found, "{missing:?}");
        assert_eq!(missing.data, Some(json!({"uri": tree.uri("missing.txt")})));
        let outside = protocol_error(read(tree.uri("../secret")).await);
        assert_eq!(outside.code, ErrorCode::INVALID_PARAMS, "{outside:?}");
    });
}

#[test]
fn rmcp_lists_the_template() {
    in_each_mode(|tree, client, _stderr, _| async move {
        let templates = client.list_all_resource_templates().await.expect("templates");
        let uris: Vec<&str> = templates.iter().map(|template| template.uri_template.as_str()).collect();
        assert_eq!(uris, [tree.uri("") + "/{+path}{?offset,limit,column}"]);
    });
}

#[test]
fn rmcp_completes_a_path() {
    in_each_mode(|tree, client, _stderr, _| async move {
        let template = tree.uri("") + "/{+path}{?offset,limit,column}";
        let complete = |name: &'static str, value| client.complete_resource_argument(&template, name, value, None);
        let values = |typed| async move { complete("path", typed).await.expect("a completion") };
        assert_eq!(values("").await.values, ["haiku.txt", "many/", "picture.bin"]);
        let many = values("many/FILE 0").await;
        assert_eq!((&*many.values[7], many.total, many.has_more), ("many/file 07.txt", Some(10), Some(false)));
        assert_eq!(values("../").await.values, [] as [&str; 0]);
        assert_eq!(protocol_error(complete("name", "").await).code, ErrorCode::INVALID_PARAMS);
    });
}

#[test]
fn rmcp_sends_many_requests_at_once() {
    in_each_mode(|_tree, client, _stderr, _| async move {
        let asked = (0..100).map(|number| {
            let (peer, path) = (client.peer().clone(), format!("many/file {:02}.txt", number % 25));
            tokio::spawn(async move { peer.call_tool(call("read_text_file", json!({"path": path}))).await })
        });
        for answer in asked.collect::<Vec<_>>() {
            let result = answer.await.expect("no panic").expect("a result");
            assert_eq!(result.content[0].as_text().expect("text").text, "one of many\n");
        }
    });
}

#[test]
fn rmcp_discovers_at_any_time() {
    in_each_mode(|_tree, client, _stderr, _| async move {
        let mut meta = RequestMetaObject::default();
        meta.set_protocol_version(ProtocolVersion::V_2026_07_28);
        meta.set_client_info(Implementation::new("judge", "0"));
        meta.set_client_capabilities(ClientCapabilities::default());
        let discovered = client.discover(meta).await.expect("an answer to server/discover");
        assert!(discovered.supported_versions.contains(&ProtocolVersion::V_2026_07_28), "{discovered:?}");
    });
}

/// The SDK closes the streams. It sends no signal, because the program is not its child: the server ends by itself.
#[test]
fn rmcp_shuts_the_server_down_cleanly() {
    for (mode, _) in modes() {
        let tree = tree();
        let run = async {
            let mut server = program(&tree).spawn().expect("mcp-fs starts");
            let streams = (server.stdout.take().expect("piped"), server.stdin.take().expect("piped"));
            let mut client = ().serve_with_lifecycle(streams, mode).await.expect("a session");
            client.list_all_tools().await.expect("tools");
            assert!(matches!(client.close().await, Ok(QuitReason::Cancelled | QuitReason::Closed)));
            server.wait_with_output().await.expect("it ends")
        };
        let output = runtime().block_on(async { timeout(TIMEOUT, run).await.expect("it goes on") });
        assert!(output.status.success(), "{output:?}");
        let said = without_notice(output.stderr);
        assert_eq!(String::from_utf8_lossy(&said), "", "a session like any other is nothing to complain about");
    }
}
