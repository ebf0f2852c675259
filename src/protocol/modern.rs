//! The rules of 2026-07-28: no session; every request carries its version and the client's capabilities in `_meta`
//! (<https://modelcontextprotocol.io/specification/2026-07-28>).

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use super::revision::{MODERN, SUPPORTED};
use super::{Next, Reply, Step, methods, progress_token};
use crate::call::{Call, Interests, ListKind};
use crate::jsonrpc::error::{Error, INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED_PROTOCOL_VERSION};
use crate::jsonrpc::message::Request;
use crate::object::{self, Array, Object};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Whether a request's `_meta` marks it as modern.
pub(super) fn is_marked(meta: &Object<'_>) -> bool {
    meta.any_key(|key| matches!(key, VERSION | CLIENT_INFO | CLIENT_CAPABILITIES))
}

/// Handles a request that [`is_marked`]. Checks in this order: version, other fields of `_meta`, method, parameters.
pub(super) fn route(request: &Request<'_>, meta: &Object<'_>, in_batch: bool) -> Step {
    check(meta, |_| Ok(()))?;
    match request.method.as_ref() {
        "server/discover" => Ok(Next::Reply(Reply::Discover)),
        "subscriptions/listen" if in_batch => {
            Err(Error::new(INVALID_REQUEST, "subscriptions/listen cannot be part of a batch; send it alone."))
        }
        // A stream sends no progress notifications.
        "subscriptions/listen" => Ok(Next::Call(Call::Listen(interests(&request.params)?), None)),
        method => Ok(Next::Call(methods::call(method, &request.params)?, progress_token(Some(meta))?)),
    }
}

/// What a stream should report. Kinds of notifications that this server does not have are ignored; the acknowledgement
/// says what remains.
fn interests(params: &Object<'_>) -> Result<Interests, Error> {
    let wrong = |what: &str| Error::new(INVALID_PARAMS, format!("{what}."));
    let filter = params.get("notifications").and_then(Object::parse);
    let filter = filter.ok_or_else(|| wrong("\"notifications\" is missing; it must be an object"))?;
    let flag = |key: &str| match filter.get(key) {
        Some(raw) if !object::is_null(raw) => {
            serde_json::from_str::<bool>(raw.get()).map_err(|_| wrong(&format!("\"{key}\" must be true or false")))
        }
        _ => Ok(false),
    };
    flag("toolsListChanged")?;
    let mut lists = Vec::new();
    for (key, list) in [("resourcesListChanged", ListKind::Resources), ("promptsListChanged", ListKind::Prompts)] {
        if flag(key)? {
            lists.push(list);
        }
    }
    let uris = match filter.get("resourceSubscriptions") {
        Some(raw) if !object::is_null(raw) => {
            uris(raw).ok_or_else(|| wrong("\"resourceSubscriptions\" must be an array of strings, at most 1,000"))?
        }
        _ => Vec::new(),
    };
    Ok(Interests { lists, uris })
}

fn uris(raw: &RawValue) -> Option<Vec<String>> {
    let array: Array<'_> = serde_json::from_str(raw.get()).ok()?;
    let complete = array.items.len() == array.length;
    complete.then(|| array.items.iter().map(|raw| object::string(raw).map(Cow::into_owned)).collect())?
}

/// Checks a request's `_meta`. `agrees` is called with the version before it is checked for support.
pub(super) fn check(meta: &Object<'_>, agrees: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Error> {
    let Some(version) = meta.string(VERSION) else {
        return Err(Error::new(INVALID_PARAMS, format!("_meta must contain \"{VERSION}\", a string.")));
    };
    agrees(&version)?;
    if version != MODERN {
        let version = object::shortened(&version);
        let message = format!("Protocol version {version:?} is not supported in _meta; {MODERN} is.");
        let data = json!({ "supported": SUPPORTED, "requested": version });
        return Err(Error::new(UNSUPPORTED_PROTOCOL_VERSION, message).with_data(data));
    }
    match meta.get(CLIENT_CAPABILITIES).map(Object::parse) {
        Some(Some(_)) => Ok(()),
        _ => Err(Error::new(INVALID_PARAMS, format!("_meta must contain \"{CLIENT_CAPABILITIES}\", an object."))),
    }
}
