//! From a line to a message (JSON-RPC 2.0, <https://www.jsonrpc.org/specification>).
//!
//! Two rules shape this file. A readable id is always kept, even if the rest is invalid, so that the caller is not left
//! waiting. And only a message with a `method` is ever answered: one with a `result` or an `error` is a response, and
//! answering responses is how two peers end up shouting errors at each other.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::error::{Error, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use crate::object::{self, Array, Object};

/// What a line can be.
#[derive(Debug)]
pub enum Message<'a> {
    /// Expects an answer.
    Request(Request<'a>),
    /// Never gets an answer.
    Notification(Notification<'a>),
    /// An answer to a request that this server never sends; ignored.
    Response,
    /// A JSON array; [`item`] parses each of its items.
    Batch(Array<'a>),
    /// None of these. If there is an id, the error goes to that request.
    Malformed(Option<Id>, Error),
}

/// A request: `method` with an id.
#[derive(Debug)]
pub struct Request<'a> {
    /// The id to echo.
    pub id: Id,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters; empty if absent or `null`.
    pub params: Object<'a>,
}

/// A notification: `method` without an id.
#[derive(Debug)]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters; empty if absent or of the wrong type.
    pub params: Object<'a>,
}

/// The id of a request. A number keeps its text, so that any integer is echoed exactly.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// An integer, as its JSON text.
    Number(Box<str>),
    /// A string, decoded.
    String(Box<str>),
}

/// The longest id, in bytes as written in the JSON. An id is kept as long as its request, stream or batch, and the
/// client decides how many of those exist.
pub const LONGEST_ID: usize = 1 << 10;

/// Why a value is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadId {
    /// MCP forbids `null`, fractions, booleans, objects and arrays as ids.
    WrongType,
    /// Longer than [`LONGEST_ID`].
    TooLong,
}

impl Id {
    /// The length in bytes, decoded.
    #[allow(clippy::len_without_is_empty, reason = "an empty one is an id like any other")]
    pub(crate) fn len(&self) -> usize {
        let (Self::Number(text) | Self::String(text)) = self;
        text.len()
    }

    /// Reads an id.
    pub fn parse(raw: &RawValue) -> Result<Self, BadId> {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9') if text.len() > LONGEST_ID => Err(BadId::TooLong),
            Some(b'"') => object::string(raw).map(|s| Self::String(s.into())).ok_or(BadId::WrongType),
            Some(b'-' | b'0'..=b'9') if !text.contains(['.', 'e', 'E']) => Ok(Self::Number(text.into())),
            _ => Err(BadId::WrongType),
        }
    }
}

impl From<BadId> for Error {
    fn from(why: BadId) -> Self {
        match why {
            BadId::WrongType => Self::new(INVALID_REQUEST, "\"id\" must be a string or an integer."),
            BadId::TooLong => {
                Self::new(INVALID_REQUEST, format!("\"id\" is longer than {LONGEST_ID} bytes; send a shorter one."))
            }
        }
    }
}

/// As JSON, so that `1` and `"1"` differ in the log as well.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) => f.write_str(text),
            Self::String(text) => f.write_str(&json_escape_simd::escape(text)),
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses one line.
pub fn parse(line: &[u8]) -> Message<'_> {
    let Ok(text) = simdutf8::basic::from_utf8(line) else {
        return malformed(PARSE_ERROR, "The message is not valid UTF-8.");
    };
    if text.starts_with('[') {
        return match serde_json::from_str(text) {
            Ok(items) => Message::Batch(items),
            Err(error) => not_json(&error),
        };
    }
    match serde_json::from_str(text) {
        Ok(raw) => item(raw),
        Err(error) => not_json(&error),
    }
}

/// Parses one message that is valid JSON: a line, or an item of a batch.
pub fn item(raw: &RawValue) -> Message<'_> {
    match Object::parse(raw) {
        Some(envelope) => from_envelope(&envelope),
        None => malformed(INVALID_REQUEST, "A message must be a JSON object with \"jsonrpc\" and \"method\"."),
    }
}

fn from_envelope<'a>(envelope: &Object<'a>) -> Message<'a> {
    let id = envelope.get("id").map(Id::parse);
    let Some(method) = envelope.get("method") else {
        if envelope.any_key(|key| key == "result" || key == "error") {
            return Message::Response;
        }
        return Message::Malformed(id.and_then(Result::ok), Error::new(INVALID_REQUEST, "\"method\" is missing."));
    };
    let version = envelope.string("jsonrpc");
    let version_is_right = version.as_deref() == Some("2.0");
    let params = match envelope.get("params") {
        Some(raw) if !object::is_null(raw) => Object::parse(raw),
        _ => Some(Object::default()),
    };
    let Some(id) = id else {
        return match object::string(method) {
            Some(method) if version_is_right => {
                Message::Notification(Notification { method, params: params.unwrap_or_default() })
            }
            _ => Message::Response, // a broken notification gets no answer either
        };
    };
    let id = match id {
        Ok(id) => id,
        Err(why) => return Message::Malformed(None, why.into()),
    };
    let wrong = |code, message: &str| Message::Malformed(Some(id.clone()), Error::new(code, message));
    if !version_is_right {
        return wrong(INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\".");
    }
    let Some(method) = object::string(method) else {
        return wrong(INVALID_REQUEST, "\"method\" must be a string.");
    };
    let Some(params) = params else {
        return wrong(INVALID_PARAMS, "\"params\" must be an object.");
    };
    Message::Request(Request { id, method, params })
}

fn malformed<'a>(code: i32, message: &str) -> Message<'a> {
    Message::Malformed(None, Error::new(code, message))
}

fn not_json<'a>(error: &serde_json::Error) -> Message<'a> {
    let message = format!("The message is not valid JSON: {error}.");
    Message::Malformed(None, Error::new(PARSE_ERROR, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short description of how `line` was parsed.
    fn read(line: &str) -> String {
        match parse(line.as_bytes()) {
            Message::Request(r) => format!("request {} {}", r.id, r.method),
            Message::Notification(n) => format!("notification {}", n.method),
            Message::Response => "ignored".to_owned(),
            Message::Batch(array) => format!("batch of {}", array.length),
            Message::Malformed(Some(id), e) => format!("{} for {id}", e.code),
            Message::Malformed(None, e) => e.code.to_string(),
        }
    }

    #[test]
    fn every_line_is_one_of_the_kinds() {
        for (line, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (r#"{"jsonrpc":"2.0","id":"1","method":"ping","params":null}"#, "request \"1\" ping"),
            (r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}"#, "request 9007199254740993 m"),
            (r#"{"jsonrpc":"2.0","id":-1,"method":"m"}"#, "request -1 m"),
            (r#"{"jsonrpc":"2.0","id":"","method":"m"}"#, "request \"\" m"),
            (r#"{"jsonrpc":"2.0","method":"m","params":{}}"#, "notification m"),
            (r#"{"jsonrpc":"2.0","method":"m","params":[1]}"#, "notification m"),
            (r#"{"jsonrpc":"1.0","method":"m"}"#, "ignored"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "ignored"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "ignored"),
            ("[]", "batch of 0"),
            ("[1,{}]", "batch of 2"),
            ("{not json", "-32700"),
            ("[1,", "-32700"),
            ("5", "-32600"),
            ("null", "-32600"),
            ("{}", "-32600"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "-32600 for 7"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "-32600"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "-32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "-32600 for 1"),
            (r#"{"id":1,"method":"m"}"#, "-32600 for 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "-32600 for 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, "-32602 for 1"),
        ] {
            assert_eq!(read(line), want, "{line}");
        }
    }

    #[test]
    fn ids_are_short_as_they_are_written() {
        let longest = LONGEST_ID - 2;
        for (id, is_short) in [
            ("9".repeat(LONGEST_ID), true),
            ("9".repeat(LONGEST_ID + 1), false),
            (format!("\"{}\"", "x".repeat(longest)), true),
            (format!("\"{}\"", "x".repeat(longest + 1)), false),
            (format!("\"{}\"", "\\u0041".repeat(longest / 6)), true),
            (format!("\"{}\"", "\\u0041".repeat(longest / 6 + 1)), false),
        ] {
            let what = if is_short { format!("request {} m", id.replace("\\u0041", "A")) } else { "-32600".to_owned() };
            assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)), what);
        }
    }

    #[test]
    fn invalid_utf8_is_a_parse_error() {
        assert!(matches!(parse(b"{\"a\":\"\xFF\"}"), Message::Malformed(None, e) if e.code == PARSE_ERROR));
    }
}
