//! Hand-written requests.

use serde_json::{Value, json};

use super::support::TOKEN;
use crate::support::client::with_meta;

/// A request whose headers are correct until a test changes them.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    line: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        let headers = [("Host", "localhost"), ("Authorization", &format!("Bearer {TOKEN}"))]
            .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        Self { line: format!("{method} {target} HTTP/1.1"), headers: headers.to_vec(), body: Vec::new() }
    }

    /// Sets a header, replacing all of that name.
    pub(crate) fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).and(name, value)
    }

    /// Adds a header.
    pub(crate) fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id)
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self.header("Content-Type", "application/json")
    }

    /// The bytes on the wire, with the length of the body.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        if !self.line.starts_with("GET") {
            bytes.extend(format!("Content-Length: {}\r\n", self.body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }

    /// The request line and headers, without the empty line at their end.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &self.headers {
            head.extend(format!("{name}: ").bytes());
            head.extend(value);
            head.extend(b"\r\n");
        }
        head
    }
}

/// A POST of a message to the endpoint.
pub(crate) fn post(message: &Value) -> Request {
    Request::new("POST", "/mcp").header("Accept", "application/json, text/event-stream").body(message.to_string())
}

pub(crate) fn initialize(revision: &str) -> Request {
    let client = json!({"name": "test", "version": "0"});
    post(&request(1, "initialize", json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client})))
}

/// A request as a message.
#[allow(clippy::needless_pass_by_value, reason = "called with json!")]
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A request of 2026-07-28 with all its headers.
pub(crate) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Request {
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let request = post(&request(id, method, with_meta(params)));
    let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
    match name {
        Some(name) if name.is_ascii() => request.header("Mcp-Name", name),
        Some(name) => {
            let encoded = base64_simd::STANDARD.encode_to_string(name);
            request.header("Mcp-Name", format!("=?base64?{encoded}?="))
        }
        None => request,
    }
}

/// A GET of a session's event stream.
pub(crate) fn get(session: &str) -> Request {
    Request::new("GET", "/mcp").header("Accept", "text/event-stream").session(session)
}
