//! POST, GET and DELETE under 2025-03-26 to 2025-11-25: a session that begins with `initialize`, and its event stream
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>).

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::{Connection, Post, not_acceptable, respond_later};
use crate::jsonrpc::message::Message;
use crate::protocol::revision::SUPPORTED;
use crate::transport::http::access::only;
use crate::transport::http::client::Client;
use crate::transport::http::exchanges::{Exchange, Part};
use crate::transport::http::headers::{self, Accepts, SESSION, VERSION};
use crate::transport::http::response::{self, EventStream, Kept, Refusal, ResponseBody};
use crate::transport::http::sessions::InUse;

impl Connection {
    pub(super) async fn post_legacy(
        &self,
        message: Message<'_>,
        post: &Post<'_>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        if !post.headers.contains_key(SESSION) {
            return self.begin_session(message, post);
        }
        let session = self.session(post.headers)?;
        check_version(post.headers)?;
        let is_request = matches!(message, Message::Request(_));
        match session.client.exchange(message, post.bytes, post.accepts.events && is_request) {
            None => Err(Refusal::busy("Too many requests of this session are in progress; send this again later.")),
            Some(Exchange::Nothing) => Ok(response::empty(StatusCode::ACCEPTED)),
            Some(Exchange::Answered(answer)) if post.accepts.json => {
                Ok(response::message(response::status_of(&answer, false), answer))
            }
            Some(Exchange::Answered(answer)) => {
                Ok(response::events(EventStream::new(Some(Part::Answer(answer)), None, Kept::Session(session))))
            }
            Some(Exchange::Waits(parts)) => Ok(respond_later(parts, post.accepts, Kept::Session(session)).await),
        }
    }

    /// A message without a session, which must be `initialize`.
    fn begin_session(&self, message: Message<'_>, post: &Post<'_>) -> Result<Response<ResponseBody>, Refusal> {
        match &message {
            Message::Request(request) if request.method == "initialize" => {}
            Message::Malformed(id, error) => {
                return Err(Refusal::error(StatusCode::BAD_REQUEST, id.as_ref(), error.clone()));
            }
            Message::Request(request) => return Err(no_session(Some(&request.id))),
            _ => return Err(no_session(None)),
        }
        let client = Client::new(&self.endpoint.server);
        let exchange = client.exchange(message, post.bytes, false);
        let Some(Exchange::Answered(answer)) = exchange else {
            return Err(Refusal::busy("The server cannot begin a session now; try again later."));
        };
        if client.revision().is_none() {
            return Ok(response::message(response::status_of(&answer, false), answer));
        }
        let session = self.endpoint.sessions.begin(client);
        let session = session.ok_or_else(|| Refusal::busy("Too many sessions are in use; try again later."))?;
        let id = HeaderValue::from_str(&session.id).ok();
        let mut response = if post.accepts.json {
            response::message(StatusCode::OK, answer)
        } else {
            response::events(EventStream::new(Some(Part::Answer(answer)), None, Kept::Session(session)))
        };
        id.map(|id| response.headers_mut().insert(HeaderName::from_static(SESSION), id));
        Ok(response)
    }

    /// Opens the event stream of a session.
    pub(super) fn get(&self, headers: &HeaderMap) -> Result<Response<ResponseBody>, Refusal> {
        // Neither 400 nor 404: clients take the first for a broken server, the second for a session that has ended.
        if headers::is_modern(headers) || !headers.contains_key(SESSION) {
            let message = "GET opens the event stream of a session; without Mcp-Session-Id there is none.";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        if !Accepts::read(headers).events {
            return Err(not_acceptable("text/event-stream"));
        }
        let session = self.session(headers)?;
        check_version(headers)?;
        let parts = session.client.listen();
        Ok(response::events(EventStream::new(None, Some(parts), Kept::Session(session))))
    }

    /// Ends a session.
    pub(super) fn delete(&self, headers: &HeaderMap) -> Result<Response<ResponseBody>, Refusal> {
        if headers::is_modern(headers) {
            let message = "There are no sessions under 2026-07-28, and so none to end.";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        if !headers.contains_key(SESSION) {
            return Err(no_session(None));
        }
        let session = self.session(headers)?;
        self.endpoint.sessions.end(&session.id);
        Ok(response::empty(StatusCode::NO_CONTENT))
    }

    fn session(&self, headers: &HeaderMap) -> Result<InUse, Refusal> {
        let id = only(headers, SESSION).ok().flatten().and_then(|id| id.to_str().ok());
        id.and_then(|id| self.endpoint.sessions.find(id)).ok_or_else(|| {
            let message = "There is no session of this id, or it has ended; send initialize to begin a new one.";
            Refusal::new(StatusCode::NOT_FOUND, message)
        })
    }
}

fn no_session(id: Option<&crate::jsonrpc::message::Id>) -> Refusal {
    let message = "The header Mcp-Session-Id is missing. Send initialize first; its answer carries the session id. \
                   Under 2026-07-28, put \"io.modelcontextprotocol/protocolVersion\" into the _meta of every request.";
    Refusal::error(
        StatusCode::BAD_REQUEST,
        id,
        crate::jsonrpc::error::Error::new(crate::jsonrpc::error::INVALID_REQUEST, message),
    )
}

/// A version that the header names must be supported, but the session's version applies. Gemini CLI sends no header.
fn check_version(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(version) = headers.get(VERSION) else { return Ok(()) };
    if SUPPORTED.iter().any(|supported| version == *supported) {
        return Ok(());
    }
    let message = format!("The header MCP-Protocol-Version must be one of {}.", SUPPORTED.join(", "));
    Err(Refusal::new(StatusCode::BAD_REQUEST, message))
}
