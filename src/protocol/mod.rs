//! The revisions of the protocol: which one a message belongs to, and what its rules make of the message.
//!
//! *Legacy* means 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25: a session that begins with `initialize`. *Modern*
//! means 2026-07-28: no session; every request carries its version in `_meta`. One process serves both, even
//! interleaved: the era is determined for each message ([`route`]), and the process is never locked to one.
//!
//! | module | holds |
//! | --- | --- |
//! | [`revision`] | the five revisions, and the features of each |
//! | [`legacy`], [`modern`] | the rules for requests in either era |
//! | [`methods`] | the methods that both eras share, as [`Call`]s |
//! | [`encode`] | results and errors as each revision writes them |
//!
//! Nothing here does any work: the result of routing a request is a [`Call`].

pub(crate) mod encode;
mod legacy;
mod methods;
mod modern;
pub(crate) mod revision;

use serde_json::value::RawValue;

use crate::call::{Call, Failure, Outcome};
use crate::jsonrpc::error::{self, Error};
use crate::jsonrpc::message::{BadId, Id, LONGEST_ID, Notification, Request};
use crate::limits::LONGEST_URI;
use crate::object::{self, Object};
use revision::Revision;

/// The rules that a request and its answer follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize`, with the negotiated revision.
    Legacy(Revision),
    /// Stateless, 2026-07-28.
    Modern,
}

/// The state of one legacy session. Modern requests neither need nor change it.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Negotiated by `initialize`.
    revision: Option<Revision>,
    /// The client has sent `notifications/initialized`, so it may be sent notifications.
    initialized: bool,
}

impl Session {
    /// The revision for messages without an era, such as a line that is not JSON.
    fn revision_or_latest(&self) -> Revision {
        self.revision.unwrap_or(Revision::LATEST_LEGACY)
    }

    /// The revision that `initialize` negotiated.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// The era for notifications to a legacy client; `None` before it is ready for them.
    pub(crate) fn listener(&self) -> Option<Era> {
        self.revision.filter(|_| self.initialized).map(Era::Legacy)
    }

    /// Whether a JSON array of messages is valid.
    pub(crate) fn has_batches(&self) -> bool {
        self.revision.is_some_and(Revision::has_batches)
    }

    /// Whether an error without a readable id says `"id": null`. JSON-RPC 2.0 requires it; later revisions forbid it,
    /// and the TypeScript clients reject it.
    pub(crate) fn writes_null_id(&self) -> bool {
        self.revision.is_some_and(Revision::writes_null_id)
    }
}

/// A request after the rules of its era were applied.
#[derive(Debug)]
pub(crate) enum Routed {
    /// Answered here: the handshake, `ping`, and every protocol error.
    Answer(Result<Reply, Error>),
    /// A call for a feature, and the client's progress token.
    Call(Call, Option<Box<RawValue>>),
}

/// A result before it is encoded for a revision.
#[derive(Debug)]
pub(crate) enum Reply {
    /// `{}`.
    Empty,
    /// The answer to `initialize`.
    Initialize(Revision),
    /// The answer to `server/discover`.
    Discover,
    /// The end of a stream that `subscriptions/listen` began.
    StreamEnd,
    /// The result of a feature.
    Outcome(Outcome),
}

/// Determines the era of a request from its `_meta`, and applies that era's rules. An `initialize` marked as modern is
/// an unknown method, as the official conformance suite requires.
pub(crate) fn route(session: &mut Session, request: &Request<'_>, in_batch: bool) -> (Era, Routed) {
    let meta = request.params.get("_meta").and_then(Object::parse);
    match meta {
        Some(meta) if modern::is_marked(&meta) => (Era::Modern, modern::route(request, &meta, in_batch).into()),
        meta => {
            let step = legacy::route(session, request, in_batch, meta.as_ref());
            (Era::Legacy(session.revision_or_latest()), step.into())
        }
    }
}

/// Whether a message's parameters mark it as 2026-07-28.
pub(crate) fn is_modern(params: &Object<'_>) -> bool {
    params.get("_meta").and_then(Object::parse).is_some_and(|meta| modern::is_marked(&meta))
}

/// Checks the `_meta` of a modern request, which over HTTP comes before the check of other headers. `agrees` is called
/// with the version before it is checked for support.
pub(crate) fn check_modern(params: &Object<'_>, agrees: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Error> {
    match params.get("_meta").and_then(Object::parse) {
        Some(meta) => modern::check(&meta, agrees),
        None => Err(Error::new(error::INVALID_PARAMS, "A request of 2026-07-28 needs \"_meta\" in its \"params\".")),
    }
}

/// Returns the id of the request that a notification cancels. Records that a legacy client is ready; ignores any other
/// notification. Both eras write `cancelled` the same way, and a malformed one is ignored.
pub(crate) fn on_notification(session: &mut Session, notification: &Notification<'_>) -> Option<Id> {
    match notification.method.as_ref() {
        "notifications/initialized" => {
            session.initialized = session.revision.is_some();
            None
        }
        "notifications/cancelled" => Id::parse(notification.params.get("requestId")?).ok(),
        _ => None,
    }
}

/// What an era's `route` returns, so that `?` works on its errors.
type Step = Result<Next, Error>;

enum Next {
    Reply(Reply),
    Call(Call, Option<Box<RawValue>>),
}

impl From<Step> for Routed {
    fn from(step: Step) -> Self {
        match step {
            Ok(Next::Reply(reply)) => Self::Answer(Ok(reply)),
            Ok(Next::Call(call, token)) => Self::Call(call, token),
            Err(error) => Self::Answer(Err(error)),
        }
    }
}

/// The token for progress notifications: a string or an integer, no longer than an id. Any other value counts as
/// absent.
fn progress_token(meta: Option<&Object<'_>>) -> Result<Option<Box<RawValue>>, Error> {
    let Some(token) = meta.and_then(|meta| meta.get("progressToken")) else { return Ok(None) };
    match Id::parse(token) {
        Ok(_) => Ok(Some(token.to_owned())),
        Err(BadId::WrongType) => Ok(None),
        Err(BadId::TooLong) => {
            let message = format!("\"progressToken\" is longer than {LONGEST_ID} bytes; send a shorter one.");
            Err(Error::new(error::INVALID_REQUEST, message))
        }
    }
}

impl Era {
    /// The JSON-RPC error for a failure; `None` if it gets no answer.
    pub(crate) fn error(self, failure: Failure) -> Option<Error> {
        let uri_data = |uri: &str| {
            let is_short = uri.len() <= LONGEST_URI;
            serde_json::json!({ "uri": if is_short { uri.to_owned() } else { object::shortened(uri) } })
        };
        Some(match failure {
            Failure::UnknownTool(name) => {
                let name = object::shortened(&name);
                Error::new(error::INVALID_PARAMS, format!("Unknown tool: {name}. See tools/list."))
            }
            Failure::InvalidParams(message) => Error::new(error::INVALID_PARAMS, message),
            Failure::BadUri { uri, message } => Error::new(error::INVALID_PARAMS, message).with_data(uri_data(&uri)),
            Failure::ResourceNotFound { uri } => {
                let code = match self {
                    Self::Legacy(_) => error::RESOURCE_NOT_FOUND,
                    Self::Modern => error::INVALID_PARAMS,
                };
                Error::new(code, "Resource not found").with_data(uri_data(&uri))
            }
            // Not -32602, because for that code Claude Code does not show the message.
            Failure::Unreadable { uri, message } => {
                Error::new(error::INTERNAL_ERROR, message).with_data(uri_data(&uri))
            }
            Failure::SwitchedOff { method, runs } => {
                let message = format!("Method not found: {method} (the server runs {runs})");
                Error::new(error::METHOD_NOT_FOUND, message)
            }
            Failure::Internal(message) => Error::new(error::INTERNAL_ERROR, message),
            Failure::Cancelled => return None,
        })
    }
}

/// A parameter that must be a string; `Ok(None)` if it is absent or `null`.
fn optional_string(params: &Object<'_>, key: &str) -> Result<Option<String>, Error> {
    match params.get(key) {
        Some(raw) if !object::is_null(raw) => match object::string(raw) {
            Some(text) => Ok(Some(text.into_owned())),
            None => Err(Error::new(error::INVALID_PARAMS, format!("\"{key}\" must be a string."))),
        },
        _ => Ok(None),
    }
}

fn required_string(params: &Object<'_>, key: &str) -> Result<String, Error> {
    optional_string(params, key)?
        .ok_or_else(|| Error::new(error::INVALID_PARAMS, format!("\"{key}\" is missing; it must be a string.")))
}
