//! POST under 2026-07-28: every request stands alone. The headers must match the message, and closing the response
//! cancels the request (<https://modelcontextprotocol.io/specification/2026-07-28/basic/transports>).

use std::sync::Arc;

use hyper::{Response, StatusCode};

use super::{Connection, Post, not_acceptable, respond_later};
use crate::jsonrpc::error::{Error, INVALID_REQUEST};
use crate::jsonrpc::message::{Message, Request};
use crate::protocol;
use crate::transport::http::client::Client;
use crate::transport::http::exchanges::{Exchange, Part};
use crate::transport::http::headers;
use crate::transport::http::response::{self, CancelOnDrop, EventStream, Kept, Refusal, ResponseBody};

impl Connection {
    pub(super) async fn post_modern(
        &self,
        message: Message<'_>,
        post: &Post<'_>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let bad = |id, error| Err(Refusal::error(StatusCode::BAD_REQUEST, id, error));
        match &message {
            Message::Request(request) => check(request, post)?,
            // A posted `cancelled` has no effect: ids belong to connections, and all clients use the same ones.
            Message::Notification(_) => return Ok(response::empty(StatusCode::ACCEPTED)),
            Message::Malformed(id, error) => return bad(id.as_ref(), error.clone()),
            Message::Response | Message::Batch(_) => {
                return bad(None, Error::new(INVALID_REQUEST, "The body must be one request or notification."));
            }
        }
        let Message::Request(Request { id, .. }) = &message else { return Ok(response::empty(StatusCode::ACCEPTED)) };
        let client = self.client.get_or_init(|| Client::new(&self.endpoint.server));
        let id = id.clone();
        let exchange = client.exchange(message, post.bytes, post.accepts.events);
        // When this is dropped, the client no longer waits for the answer.
        let cancel = || Kept::Request(CancelOnDrop { client: Arc::clone(client), id });
        match exchange {
            None => Err(Refusal::busy("Too many requests are in progress; send this again later.")),
            Some(Exchange::Nothing) => Ok(response::empty(StatusCode::ACCEPTED)),
            Some(Exchange::Answered(answer)) if post.accepts.json => {
                Ok(response::message(response::status_of(&answer, true), answer))
            }
            Some(Exchange::Answered(answer)) => {
                Ok(response::events(EventStream::new(Some(Part::Answer(answer)), None, cancel())))
            }
            Some(Exchange::Waits(parts)) => Ok(respond_later(parts, post.accepts, cancel()).await),
        }
    }
}

/// `_meta` first, then the headers.
fn check(request: &Request<'_>, post: &Post<'_>) -> Result<(), Refusal> {
    let bad = |error| Refusal::error(StatusCode::BAD_REQUEST, Some(&request.id), error);
    protocol::check_modern(&request.params, |version| headers::check_version(post.headers, version)).map_err(bad)?;
    headers::check_routing(post.headers, request).map_err(bad)?;
    if request.method == "subscriptions/listen" && !post.accepts.events {
        return Err(not_acceptable("text/event-stream"));
    }
    Ok(())
}
