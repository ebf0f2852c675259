//! The rules of 2026-07-28: no session; every request carries its version and the client's capabilities in `_meta`
//! (<https://modelcontextprotocol.io/specification/2026-07-28>).

use serde_json::json;

use super::revision::{MODERN, SUPPORTED};
use super::{Next, Reply, Step, methods, progress_token};
use crate::object::{self, Object};
use crate::wire::error::{Error, INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION};
use crate::wire::message::Request;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Whether a request's `_meta` makes it a modern one.
pub(super) fn is_marked(meta: &Object<'_>) -> bool {
    meta.any_key(|key| matches!(key, VERSION | CLIENT_INFO | CLIENT_CAPABILITIES))
}

/// What is to be done about a request that [`is_marked`]. Checked in this order: version, other fields, method,
/// parameters.
pub(super) fn route(request: &Request<'_>, meta: &Object<'_>) -> Step {
    check(meta)?;
    if request.method == "server/discover" {
        return Ok(Next::Reply(Reply::Discover));
    }
    Ok(Next::Call(methods::call(&request.method, &request.params)?, progress_token(Some(meta))))
}

fn check(meta: &Object<'_>) -> Result<(), Error> {
    let Some(version) = meta.string(VERSION) else {
        return Err(Error::new(INVALID_PARAMS, format!("_meta must hold \"{VERSION}\", a string.")));
    };
    if version != MODERN {
        let version = object::shortened(&version);
        let message = format!("Protocol version {version:?} is not supported in _meta; {MODERN} is.");
        let data = json!({ "supported": SUPPORTED, "requested": version });
        return Err(Error::new(UNSUPPORTED_PROTOCOL_VERSION, message).with_data(data));
    }
    match meta.get(CLIENT_CAPABILITIES).map(Object::parse) {
        Some(Some(_)) => Ok(()),
        _ => Err(Error::new(INVALID_PARAMS, format!("_meta must hold \"{CLIENT_CAPABILITIES}\", an object."))),
    }
}
