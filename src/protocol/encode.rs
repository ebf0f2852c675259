//! Results and errors as each revision writes them.
//!
//! Where older clients are known to ignore newer fields, one superset is used. What a revision forbids, or what a
//! client of its time cannot parse, is left out: titles before 2025-06-18, audio and annotations before 2025-03-26.
//! Modern results add that they are complete, which server sent them, and how long they may be cached.

mod content;

use self::content::{write_contents, write_prompt, write_tool_result};
use super::revision::{Revision, SUPPORTED};
use super::{Era, Reply};
use crate::call::{ListKind, Outbound, Outcome, ToolDefinition};
use crate::jsonrpc::body::Body;
use crate::jsonrpc::error::Error;
use crate::jsonrpc::message::Id;
use crate::server::{ServerInfo, implementation};

/// Identifies the stream of a message: the id of the request that opened it.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// How long a modern client may cache an answer that names DIR or the tools: neither changes while the process runs.
const STABLE_MS: u32 = 60_000;

/// A response with a result, without the newline.
pub(crate) fn result(id: &Id, era: Era, reply: Reply, info: &ServerInfo) -> Body {
    let mut body = Body::new();
    body.raw(r#"{"jsonrpc":"2.0","id":"#);
    body.raw(&id.to_string());
    body.key("result");
    body.open('{');
    let mut meta = Meta::default();
    let is_stream_end = matches!(reply, Reply::StreamEnd);
    let ttl = write_reply(&mut body, &mut meta, era, reply, info);
    if era == Era::Modern {
        body.key("resultType");
        body.string("complete");
        if let Some(milliseconds) = ttl {
            body.key("ttlMs");
            body.value(&milliseconds);
            body.key("cacheScope");
            body.string("private");
        }
        if is_stream_end {
            meta.0.push((SUBSCRIPTION_ID, id.to_string()));
        }
        meta.0.push(("io.modelcontextprotocol/serverInfo", implementation(true).to_string()));
    }
    meta.write(&mut body);
    body.raw("}}");
    body
}

/// A response with an error, without the newline.
pub(crate) fn error(id: Option<&Id>, null_id: bool, error: &Error) -> Body {
    let mut body = Body::new();
    body.set_error(error.code);
    body.raw(r#"{"jsonrpc":"2.0""#);
    match id {
        Some(id) => {
            body.key("id");
            body.raw(&id.to_string());
        }
        None if null_id => body.raw(r#","id":null"#),
        None => {}
    }
    body.key("error");
    body.open('{');
    body.key("code");
    body.value(&error.code);
    body.key("message");
    body.string(&error.message);
    if let Some(data) = &error.data {
        body.key("data");
        body.value(data);
    }
    body.raw("}}");
    body
}

/// A notification, without the newline. On a stream it carries the stream's id.
pub(crate) fn notification(era: Era, stream: Option<&Id>, outbound: &Outbound) -> Body {
    let (method, mut body) = (method(outbound), Body::new());
    body.raw(r#"{"jsonrpc":"2.0","method":""#);
    body.raw(method);
    body.raw(r#"","params":{"#);
    match outbound {
        Outbound::Progress { token, progress, message } => {
            body.key("progressToken");
            body.raw(token.get());
            body.key("progress");
            body.value(progress);
            if era.has_audio_and_annotations() {
                body.key("message");
                body.string(message);
            }
        }
        Outbound::Updated { uri } => {
            body.key("uri");
            body.string(uri);
        }
        Outbound::ListChanged(_) => {}
    }
    write_stream(&mut body, stream);
    body.raw("}}");
    body
}

fn method(outbound: &Outbound) -> &'static str {
    match outbound {
        Outbound::Progress { .. } => "notifications/progress",
        Outbound::Updated { .. } => "notifications/resources/updated",
        Outbound::ListChanged(ListKind::Resources) => "notifications/resources/list_changed",
        Outbound::ListChanged(ListKind::Prompts) => "notifications/prompts/list_changed",
    }
}

/// The first message of a stream: what it will report. Anything else is left out.
pub(crate) fn acknowledgement(stream: &Id, lists: &[ListKind], uris: &[&str]) -> Body {
    let mut body = Body::new();
    body.raw(r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"#);
    for list in lists {
        body.key(match list {
            ListKind::Resources => "resourcesListChanged",
            ListKind::Prompts => "promptsListChanged",
        });
        body.raw("true");
    }
    if !uris.is_empty() {
        body.key("resourceSubscriptions");
        body.value(&uris);
    }
    body.raw("}");
    write_stream(&mut body, Some(stream));
    body.raw("}}");
    body
}

fn write_stream(body: &mut Body, stream: Option<&Id>) {
    if let Some(id) = stream {
        let mut meta = Meta::default();
        meta.0.push((SUBSCRIPTION_ID, id.to_string()));
        meta.write(body);
    }
}

/// Writes the members of a result. Returns how long a modern client may cache it, if at all.
fn write_reply(body: &mut Body, meta: &mut Meta, era: Era, reply: Reply, info: &ServerInfo) -> Option<u32> {
    match reply {
        Reply::Empty | Reply::StreamEnd => None,
        Reply::Initialize(revision) => {
            body.key("protocolVersion");
            body.string(revision.as_str());
            write_server_info(body, info);
            body.key("serverInfo");
            body.value(&implementation(revision.has_titles()));
            None
        }
        Reply::Discover => {
            body.key("supportedVersions");
            body.value(&SUPPORTED);
            write_server_info(body, info);
            Some(STABLE_MS)
        }
        Reply::Outcome(outcome) => write_outcome(body, meta, era, outcome),
    }
}

fn write_server_info(body: &mut Body, info: &ServerInfo) {
    body.key("capabilities");
    body.value(&info.capabilities);
    body.key("instructions");
    body.string(&info.instructions);
}

fn write_outcome(body: &mut Body, meta: &mut Meta, era: Era, outcome: Outcome) -> Option<u32> {
    match outcome {
        Outcome::Tools(tools) => {
            body.key("tools");
            body.value(&tools.into_iter().map(|tool| era.tool(tool)).collect::<Vec<_>>());
            Some(STABLE_MS)
        }
        Outcome::Tool(result) => {
            write_tool_result(body, era, result);
            None
        }
        Outcome::Resources(mut page) => {
            if !era.has_titles() {
                for resource in &mut page.resources {
                    resource.annotations = None;
                }
            }
            body.key("resources");
            body.value(&page.resources);
            write_cursor(body, page.next_cursor.as_deref());
            if let Some(limit) = page.truncated {
                meta.0.push(("dev.mcp-fs/truncated", serde_json::json!({ "limit": limit }).to_string()));
            }
            if page.ignored > 0 {
                meta.0.push(("dev.mcp-fs/ignored", serde_json::json!({ "entries": page.ignored }).to_string()));
            }
            Some(0)
        }
        Outcome::Contents(contents) => {
            body.key("contents");
            body.open('[');
            write_contents(body, contents);
            body.close(']');
            Some(0)
        }
        Outcome::ResourceTemplates(mut templates) => {
            if !era.has_titles() {
                for template in &mut templates {
                    template.title = None;
                }
            }
            body.key("resourceTemplates");
            body.value(&templates);
            Some(STABLE_MS)
        }
        Outcome::Prompts(mut page) => {
            if !era.has_titles() {
                page.prompts.iter_mut().for_each(|prompt| prompt.title = None);
            }
            body.key("prompts");
            body.value(&page.prompts);
            write_cursor(body, page.next_cursor.as_deref());
            Some(0)
        }
        Outcome::Prompt(prompt) => {
            write_prompt(body, era, prompt);
            None
        }
        Outcome::Completion(completion) => {
            body.key("completion");
            body.value(&completion);
            None
        }
        // The peer answers these itself.
        Outcome::Subscribe(_) | Outcome::Unsubscribe(_) | Outcome::Listen(_) => None,
    }
}

fn write_cursor(body: &mut Body, next: Option<&str>) {
    if let Some(cursor) = next {
        body.key("nextCursor");
        body.string(cursor);
    }
}

/// The members of a `_meta` object, as JSON. An empty one is not written.
#[derive(Default)]
struct Meta(Vec<(&'static str, String)>);

impl Meta {
    fn write(&self, body: &mut Body) {
        if self.0.is_empty() {
            return;
        }
        body.key("_meta");
        body.open('{');
        for (key, value) in &self.0 {
            body.key(key);
            body.raw(value);
        }
        body.close('}');
    }
}

impl Era {
    fn has_titles(self) -> bool {
        self.since(Revision::has_titles)
    }

    fn has_audio_and_annotations(self) -> bool {
        self.since(Revision::has_audio_and_annotations)
    }

    /// The modern era has everything that any legacy revision has.
    fn since(self, has: fn(Revision) -> bool) -> bool {
        match self {
            Self::Legacy(revision) => has(revision),
            Self::Modern => true,
        }
    }

    fn tool(self, tool: ToolDefinition) -> ToolDefinition {
        ToolDefinition {
            title: tool.title.filter(|_| self.has_titles()),
            annotations: tool.annotations.filter(|_| self.has_audio_and_annotations()),
            meta: tool.meta.filter(|_| self.has_titles()),
            ..tool
        }
    }
}
