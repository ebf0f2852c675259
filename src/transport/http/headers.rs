//! The headers that describe the body, and those of 2026-07-28 that repeat parts of the message.

use std::borrow::Cow;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use super::access::only;
use crate::jsonrpc::error::{Error, HEADER_MISMATCH};
use crate::jsonrpc::message::Request;
use crate::object;
use crate::protocol::revision::MODERN;

/// The revision of a message.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The session of a legacy message.
pub(super) const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The types that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// Parses `Accept` (RFC 9110, 12.5.1). Without the header, everything is accepted; a type with weight zero (`q=0`)
    /// is not.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        if !headers.contains_key(ACCEPT) {
            return Self { json: true, events: true };
        }
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = values.flat_map(|value| value.split(',')).filter(|range| has_weight(range)).collect();
        let takes = |kind: &str, main: &str| {
            let wanted = |range: &&str| {
                let range = range.split(';').next().unwrap_or_default().trim();
                [kind, main, "*/*"].iter().any(|kind| range.eq_ignore_ascii_case(kind))
            };
            ranges.iter().any(wanted)
        };
        Self { json: takes("application/json", "application/*"), events: takes("text/event-stream", "text/*") }
    }
}

fn has_weight(range: &str) -> bool {
    let weight = range.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("q="));
    weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0))
}

/// Whether the content type is JSON. A web page cannot send that to another origin without a preflight request.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, CONTENT_TYPE.as_str()).ok().flatten().and_then(|value| value.to_str().ok());
    let essence = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    essence.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
}

/// Whether the headers alone mark a request as 2026-07-28.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_some_and(|version| version == MODERN)
}

/// Checks that the version in the header equals the one in `_meta` (2026-07-28, "Transports").
pub(super) fn check_version(headers: &HeaderMap, meta: &str) -> Result<(), Error> {
    let version = routing(headers, "MCP-Protocol-Version", VERSION)?;
    agrees("MCP-Protocol-Version", version, meta, "the protocol version in _meta")
}

/// Checks that the method and the name in the headers equal those of the message.
pub(super) fn check_routing(headers: &HeaderMap, request: &Request<'_>) -> Result<(), Error> {
    agrees("Mcp-Method", routing(headers, "Mcp-Method", METHOD)?, &request.method, "the message's method")?;
    let key = match request.method.as_ref() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let Some(name) = request.params.string(key) else { return Ok(()) };
    let given = decoded(routing(headers, "Mcp-Name", NAME)?)?;
    agrees("Mcp-Name", &given, &name, key)
}

/// The single value of a required header.
fn routing<'h>(headers: &'h HeaderMap, shown: &str, name: &str) -> Result<&'h str, Error> {
    let wrong = |why: &str| Error::new(HEADER_MISMATCH, format!("The header {shown} {why}."));
    let value = only(headers, name).map_err(|_| wrong("is there more than once"))?;
    let value = value.ok_or_else(|| wrong("is missing; a request of 2026-07-28 needs it"))?;
    value.to_str().map_err(|_| wrong("has characters that are not ASCII; encode it as =?base64?...?="))
}

fn agrees(shown: &str, header: &str, message: &str, what: &str) -> Result<(), Error> {
    if header == message {
        return Ok(());
    }
    let (header, message) = (object::shortened(header), object::shortened(message));
    Err(Error::new(HEADER_MISMATCH, format!("The header {shown} is {header:?}, but {what} is {message:?}.")))
}

/// Decodes `=?base64?...?=`; any other value is literal.
fn decoded(value: &str) -> Result<Cow<'_, str>, Error> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(value.into());
    };
    let bytes = base64_simd::STANDARD.decode_to_vec(encoded).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Cow::Owned).ok_or_else(|| {
        Error::new(HEADER_MISMATCH, "The header Mcp-Name is not valid: =?base64?...?= must hold base64 of UTF-8.")
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn what_a_client_takes_is_read_in_any_order_case_and_weight() {
        for (accept, json, events) in [
            ("application/json, text/event-stream", true, true),
            ("text/event-stream, application/json", true, true),
            ("Application/JSON;q=0.5", true, false),
            ("text/event-stream", false, true),
            ("*/*", true, true),
            ("application/*", true, false),
            ("text/html", false, false),
            ("application/json;q=0, text/event-stream", false, true),
            ("", false, false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(Accepts::read(&headers), Accepts { json, events }, "{accept}");
        }
        assert_eq!(Accepts::read(&HeaderMap::new()), Accepts { json: true, events: true });
    }

    #[test]
    fn a_name_is_decoded_strictly() {
        for (value, want) in [
            ("nope", Some("nope")),
            ("=?base64?bm9wZQ==?=", Some("nope")),
            ("=?base64??=", Some("")),
            ("=?BASE64?bm9wZQ==?=", Some("=?BASE64?bm9wZQ==?=")),
            ("=?base64?bm9wZQ==", Some("=?base64?bm9wZQ==")),
            ("=?base64?bm9wZQ?=", None),
            ("=?base64?bm9 wZQ==?=", None),
            ("=?base64?/w==?=", None),
        ] {
            assert_eq!(decoded(value).ok().as_deref(), want, "{value}");
        }
    }
}
