//! A request from its first header to its response: the checks in order, and what each method does. The first check
//! that fails determines the response. Until all have passed, no session begins and no thread is used.
//!
//! Probes; host and origin; path; token; method; content type and accepted types; length; JSON; then the rules of the
//! revision, in `modern` and `legacy`.

mod legacy;
mod modern;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes};
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::access::{Access, Denied};
use super::body;
use super::client::Client;
use super::exchanges::{Part, Parts};
use super::headers::{self, Accepts};
use super::probe::Probes;
use super::response::{self, EventStream, Kept, Refusal, ResponseBody};
use super::sessions::Sessions;
use crate::jsonrpc::message::{self, Message};
use crate::object;
use crate::protocol;
use crate::server::Server;

/// The path of the MCP endpoint.
pub(super) const PATH: &str = "/mcp";

/// How long the response to a failed attempt is delayed: the first time, and at most.
const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// How many failed attempts are delayed at once; others are rejected without delay.
const DELAYED: usize = 64;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) server: Arc<Server>,
    pub(super) access: Access,
    pub(super) sessions: Sessions,
    probes: Probes,
    delays: Semaphore,
    failed: AtomicU64,
}

/// One connection, which is also a modern client.
#[derive(Debug)]
pub(super) struct Connection {
    endpoint: Arc<Endpoint>,
    client: OnceLock<Arc<Client>>,
    failed: AtomicU32,
    /// It has shown the token, or none is required.
    admitted: std::sync::atomic::AtomicBool,
}

/// The headers of a POST, and the response types that its client accepts.
struct Post<'h> {
    headers: &'h HeaderMap,
    accepts: Accepts,
    bytes: usize,
}

impl Endpoint {
    pub(super) fn new(server: Arc<Server>, access: Access) -> Self {
        Self {
            probes: Probes::new(Arc::clone(&server)),
            server,
            access,
            sessions: Sessions::default(),
            delays: Semaphore::new(DELAYED),
            failed: AtomicU64::new(0),
        }
    }
}

impl Connection {
    pub(super) fn new(endpoint: Arc<Endpoint>) -> Self {
        Self { endpoint, client: OnceLock::new(), failed: AtomicU32::new(0), admitted: false.into() }
    }

    /// Whether a request with the token has arrived.
    pub(super) fn is_admitted(&self) -> bool {
        self.admitted.load(Ordering::Relaxed)
    }

    /// Ends the streams of its modern client, each with its result.
    pub(super) fn end_streams(&self) {
        if let Some(client) = self.client.get() {
            client.end_streams();
        }
    }

    /// Answers a request and logs it, without the token and without any content.
    pub(super) async fn respond<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let mut line = tracing::enabled!(tracing::Level::DEBUG).then(|| LogLine::new(&request));
        let answered = self.answer(request, &mut line).await;
        let mut response = answered.unwrap_or_else(Refusal::into_response);
        response::finish(&mut response);
        if let Some(LogLine { begun, request, message }) = line {
            tracing::debug!("{request} {message}: {} after {:?}", response.status().as_u16(), begun.elapsed());
        }
        response
    }

    async fn answer(
        &self,
        request: Request<impl Body<Data = Bytes> + Unpin>,
        line: &mut Option<LogLine>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let (head, body) = request.into_parts();
        if let Some(response) = self.endpoint.probes.answer(&head.method, head.uri.path()).await {
            return Ok(response);
        }
        self.endpoint.access.check_host(&head.uri, &head.headers).map_err(refusal)?;
        if head.uri.path() != PATH {
            return Ok(not_found());
        }
        self.check_token(&head.headers).await?;
        match head.method {
            Method::POST => self.post(&head.headers, body, line).await,
            Method::GET => self.get(&head.headers),
            Method::DELETE => self.delete(&head.headers),
            _ => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "The endpoint takes POST, GET and DELETE.")),
        }
    }

    async fn post(
        &self,
        headers: &HeaderMap,
        body: impl Body<Data = Bytes> + Unpin,
        line: &mut Option<LogLine>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        if !headers::is_json(headers) {
            let message = "The header Content-Type must be application/json.";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let accepts = Accepts::read(headers);
        if !accepts.json && !accepts.events {
            return Err(not_acceptable("application/json or text/event-stream"));
        }
        let received = body::read(body, self.endpoint.server.limits().line_bytes).await?;
        let message = message::parse(received.bytes.trim_ascii());
        if let Some(line) = line {
            line.message = shown(&message);
        }
        let post = Post { headers, accepts, bytes: received.bytes.len() };
        if is_modern(&message, headers) {
            self.post_modern(message, &post).await
        } else {
            self.post_legacy(message, &post).await
        }
    }

    /// Checks the token. The response to a wrong one is delayed, which affects this connection only.
    async fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let denied = match self.endpoint.access.check_token(headers) {
            Ok(()) => {
                self.admitted.store(true, Ordering::Relaxed);
                return Ok(());
            }
            Err(denied) => denied,
        };
        let all = self.endpoint.failed.fetch_add(1, Ordering::Relaxed) + 1;
        if all.is_power_of_two() {
            tracing::warn!("{all} requests came without the token or with a wrong one");
        }
        let before = self.failed.fetch_add(1, Ordering::Relaxed);
        if let Ok(_delayed) = self.endpoint.delays.try_acquire() {
            sleep((FIRST_DELAY * 2_u32.pow(before.min(5))).min(LONGEST_DELAY)).await;
        }
        Err(refusal(denied))
    }
}

/// The log line of a request, while it is being answered.
struct LogLine {
    begun: Instant,
    request: String,
    message: String,
}

impl LogLine {
    fn new<B>(request: &Request<B>) -> Self {
        let request = format!("{} {}", request.method(), object::shortened(request.uri().path()));
        Self { begun: Instant::now(), request, message: String::new() }
    }
}

/// How a message is named in the log.
fn shown(message: &Message<'_>) -> String {
    let Message::Request(request) = message else { return String::new() };
    let key = if request.method == "resources/read" { "uri" } else { "name" };
    let name = request.params.string(key).map(|name| format!(" {}", object::shortened(&name)));
    object::shortened(&request.method) + &name.unwrap_or_default()
}

/// Whether the rules of 2026-07-28 apply: the message is marked as such, or the headers are.
fn is_modern(message: &Message<'_>, headers: &HeaderMap) -> bool {
    let is_marked = match message {
        Message::Request(request) => protocol::is_modern(&request.params),
        Message::Notification(notification) => protocol::is_modern(&notification.params),
        _ => false,
    };
    is_marked || headers::is_modern(headers)
}

/// The response to a request that is not answered at once: JSON if nothing precedes the answer, else a stream.
async fn respond_later(mut parts: Parts, accepts: Accepts, kept: Kept) -> Response<ResponseBody> {
    let first = parts.recv().await;
    let is_modern = matches!(kept, Kept::Request(_));
    match first {
        Some(Part::Answer(answer)) if accepts.json => {
            response::message(response::status_of(&answer, is_modern), answer)
        }
        Some(part) => response::events(EventStream::new(Some(part), Some(parts), kept)),
        // The request was cancelled, so there is no answer.
        None if accepts.events => response::events(EventStream::new(None, None, kept)),
        None => response::empty(StatusCode::ACCEPTED),
    }
}

/// The OAuth code of clients probes paths that do not exist, and shows the user this text (seen with Claude Code).
fn not_found() -> Response<ResponseBody> {
    let description = format!(
        "mcp-fs has one endpoint, {PATH}, and no OAuth. Put its token into the client's configuration, as the header \
         \"Authorization: Bearer TOKEN\"."
    );
    response::json(StatusCode::NOT_FOUND, &json!({ "error": "not_found", "error_description": description }))
}

fn not_acceptable(what: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_ACCEPTABLE, format!("The answer is {what}, which the header Accept leaves out."))
}

fn refusal(denied: Denied) -> Refusal {
    let (status, message) = match denied {
        Denied::NoHost => (StatusCode::BAD_REQUEST, "The request needs one Host header."),
        Denied::Host => (
            StatusCode::FORBIDDEN,
            "The Host header does not name this server. Use localhost, or start mcp-fs with --allow-host NAME.",
        ),
        Denied::Origin => (
            StatusCode::FORBIDDEN,
            "Web pages of this Origin may not use this server. Start mcp-fs with --allow-origin ORIGIN to allow it.",
        ),
        Denied::MalformedToken => {
            (StatusCode::BAD_REQUEST, "Send one header \"Authorization: Bearer TOKEN\", with the token of this server.")
        }
        Denied::Token => (
            StatusCode::UNAUTHORIZED,
            "This server asks for its token. Send the header \"Authorization: Bearer TOKEN\"; mcp-fs printed the token when \
             it started, or read it from --token-file or MCP_FS_TOKEN.",
        ),
    };
    Refusal::new(status, message)
}
