//! The rules of 2024-11-05 to 2025-11-25: a session that begins with `initialize`
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>).

use super::revision::Revision;
use super::{Next, Reply, Session, Step, methods, progress_token, required_string};
use crate::call::Call;
use crate::jsonrpc::error::{Error, INVALID_PARAMS, INVALID_REQUEST};
use crate::jsonrpc::message::Request;
use crate::object::Object;

/// Handles a request without modern `_meta`.
///
/// Requests are served once `initialize` has been answered, without waiting for `notifications/initialized`: Claude
/// Code sends both at once.
pub(super) fn route(session: &mut Session, request: &Request<'_>, in_batch: bool, meta: Option<&Object<'_>>) -> Step {
    match (request.method.as_ref(), session.revision) {
        ("initialize", None) if in_batch => {
            Err(Error::new(INVALID_REQUEST, "initialize cannot be part of a batch; send it alone."))
        }
        ("initialize", None) => initialize(session, request),
        ("initialize", Some(_)) => Err(Error::new(INVALID_REQUEST, "This session is already initialized.")),
        ("ping", _) => Ok(Next::Reply(Reply::Empty)),
        (_, None) => Err(Error::new(
            INVALID_PARAMS,
            "Not initialized: send initialize first, or with 2026-07-28 put \"io.modelcontextprotocol/protocolVersion\" into \
             the _meta of every request.",
        )),
        (method, Some(_)) => Ok(Next::Call(call(method, &request.params)?, progress_token(meta)?)),
    }
}

/// The methods of this era, and those that both eras share.
fn call(method: &str, params: &Object<'_>) -> Result<Call, Error> {
    match method {
        "resources/subscribe" => Ok(Call::Subscribe { uri: required_string(params, "uri")? }),
        "resources/unsubscribe" => Ok(Call::Unsubscribe { uri: required_string(params, "uri")? }),
        method => methods::call(method, params),
    }
}

/// Only the version matters. Client capabilities change nothing about what is served, and client roots least of all.
fn initialize(session: &mut Session, request: &Request<'_>) -> Step {
    let revision = Revision::negotiate(&required_string(&request.params, "protocolVersion")?);
    session.revision = Some(revision);
    Ok(Next::Reply(Reply::Initialize(revision)))
}
