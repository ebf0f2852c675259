//! Responses: a message as JSON, an event stream, or the answer to a rejected request.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use tokio::time::{Instant, Sleep, sleep};

use super::client::Client;
use super::connections::InProgress;
use super::exchanges::{Outgoing, Part, Parts};
use super::sessions::InUse;
use crate::jsonrpc::error::{self, Error};
use crate::jsonrpc::message::Id;
use crate::protocol::encode;

/// Proxies and clients close streams that are silent for a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Approximate size of a frame, in bytes.
const FRAME: usize = 64 << 10;

/// The body of a response. Its request is in progress until this is dropped.
#[derive(Debug)]
pub(super) struct Written {
    body: ResponseBody,
    _in_progress: InProgress,
}

/// The content of a response.
#[derive(Debug)]
pub(super) enum ResponseBody {
    /// A text that is ready.
    Text(Bytes),
    /// A large message.
    Message(Outgoing),
    /// Messages as they arrive.
    Events(Box<EventStream>),
}

impl ResponseBody {
    pub(super) fn until_written(self, in_progress: InProgress) -> Written {
        Written { body: self, _in_progress: in_progress }
    }
}

impl Body for Written {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = match &mut self.body {
            ResponseBody::Text(text) => Some(std::mem::take(text)).filter(|text| !text.is_empty()),
            ResponseBody::Message(message) => {
                let (frame, _) = stage(message, Vec::new());
                Some(frame).filter(|frame| !frame.is_empty()).map(Bytes::from)
            }
            ResponseBody::Events(events) => ready!(events.poll_next(cx)),
        };
        Poll::Ready(next.map(|frame| Ok(Frame::data(frame))))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            ResponseBody::Text(text) => SizeHint::with_exact(text.len() as u64),
            ResponseBody::Message(_) | ResponseBody::Events(_) => SizeHint::default(),
        }
    }
}

/// Appends the next part of a message to `frame`. Returns `false` after the last part.
fn stage(message: &mut Outgoing, mut frame: Vec<u8>) -> (Vec<u8>, bool) {
    while frame.len() < FRAME {
        if !message.body.stage(&mut frame) {
            return (frame, false);
        }
    }
    (frame, true)
}

/// Messages as server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>). Events have no
/// ids, because nothing is stored for a client that wants to resume.
#[derive(Debug)]
pub(super) struct EventStream {
    /// A message that precedes `parts`.
    first: Option<Part>,
    /// `None`: nothing follows `first`.
    parts: Option<Parts>,
    writing: Option<Outgoing>,
    /// The answer has been taken, so nothing follows.
    is_answered: bool,
    silence: Pin<Box<Sleep>>,
    /// Kept until the stream ends.
    _kept: Kept,
}

/// What a response keeps alive until it is complete.
#[derive(Debug)]
pub(super) enum Kept {
    Session(#[expect(dead_code, reason = "its drop says that the session is not used any more")] InUse),
    Request(#[expect(dead_code, reason = "its drop cancels the request")] CancelOnDrop),
}

/// Cancels a modern request if its response is not read to the end.
#[derive(Debug)]
pub(super) struct CancelOnDrop {
    pub(super) client: Arc<Client>,
    pub(super) id: Id,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.client.cancel(&self.id);
    }
}

impl EventStream {
    pub(super) fn new(first: Option<Part>, parts: Option<Parts>, kept: Kept) -> Self {
        let silence = Box::pin(sleep(KEEP_ALIVE));
        Self { first, parts, writing: None, is_answered: false, silence, _kept: kept }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(message) = self.writing.take() {
            return Poll::Ready(Some(self.write(message, Vec::new())));
        }
        if self.is_answered {
            return Poll::Ready(None);
        }
        let part = match (self.first.take(), &mut self.parts) {
            (Some(part), _) => Poll::Ready(Some(part)),
            (None, Some(parts)) => parts.poll_recv(cx),
            (None, None) => Poll::Ready(None),
        };
        match part {
            Poll::Ready(Some(part)) => {
                let message = match part {
                    Part::Notification(message) => message,
                    Part::Answer(message) => {
                        self.is_answered = true;
                        message
                    }
                };
                Poll::Ready(Some(self.write(message, b"event: message\ndata: ".to_vec())))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(self.silence.as_mut().poll(cx));
                self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
                Poll::Ready(Some(Bytes::from_static(b":\n\n")))
            }
        }
    }

    fn write(&mut self, mut message: Outgoing, frame: Vec<u8>) -> Bytes {
        self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
        let (mut frame, more) = stage(&mut message, frame);
        if more {
            self.writing = Some(message);
        } else {
            frame.extend_from_slice(b"\n\n");
        }
        frame.into()
    }
}

/// A response with one message. A small one has a length, and releases its memory at once.
pub(super) fn message(status: StatusCode, mut message: Outgoing) -> Response<ResponseBody> {
    let body = if message.body.is_small() {
        ResponseBody::Text(stage(&mut message, Vec::new()).0.into())
    } else {
        ResponseBody::Message(message)
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, "application/json");
    response
}

/// A response with an event stream.
pub(super) fn events(stream: EventStream) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Events(Box::new(stream)));
    set(&mut response, CONTENT_TYPE, "text/event-stream");
    // nginx would otherwise hold events back until its buffer is full.
    set(&mut response, HeaderName::from_static("x-accel-buffering"), "no");
    response
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Text(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A response with a JSON text that is not a message.
pub(super) fn json(status: StatusCode, value: &serde_json::Value) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Text(value.to_string().into()));
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, "application/json");
    response
}

pub(super) fn set(response: &mut Response<ResponseBody>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

/// Why a request is rejected: a status, and an error that says what to do.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    id: Option<Id>,
    error: Error,
}

impl Refusal {
    /// The request is invalid as HTTP.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, id: None, error: Error::new(error::INVALID_REQUEST, message) }
    }

    /// The request is invalid as a message.
    pub(super) fn error(status: StatusCode, id: Option<&Id>, error: Error) -> Self {
        Self { status, id: id.cloned(), error }
    }

    /// The server is at a limit; the request may be sent again.
    pub(super) fn busy(message: &str) -> Self {
        Self { error: Error::new(error::INTERNAL_ERROR, message), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "") }
    }

    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let mut body = encode::error(self.id.as_ref(), false, &self.error);
        let mut text = Vec::new();
        while body.stage(&mut text) {}
        let mut response = Response::new(ResponseBody::Text(text.into()));
        *response.status_mut() = self.status;
        set(&mut response, CONTENT_TYPE, "application/json");
        match self.status {
            StatusCode::UNAUTHORIZED => set(&mut response, WWW_AUTHENTICATE, "Bearer"),
            StatusCode::METHOD_NOT_ALLOWED => set(&mut response, ALLOW, "POST, GET, DELETE"),
            StatusCode::SERVICE_UNAVAILABLE => set(&mut response, RETRY_AFTER, "1"),
            _ => {}
        }
        response
    }
}

/// The HTTP status for an answer. Some errors of 2026-07-28 have their own; invalid messages are bad requests in all
/// revisions.
pub(super) fn status_of(answer: &Outgoing, is_modern: bool) -> StatusCode {
    match answer.body.error_code() {
        Some(error::METHOD_NOT_FOUND) if is_modern => StatusCode::NOT_FOUND,
        Some(error::HEADER_MISMATCH | error::UNSUPPORTED_PROTOCOL_VERSION | error::PARSE_ERROR) => {
            StatusCode::BAD_REQUEST
        }
        Some(error::INVALID_REQUEST) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Adds the headers that every response has.
pub(super) fn finish(response: &mut Response<ResponseBody>) {
    set(response, CACHE_CONTROL, "no-store");
}
