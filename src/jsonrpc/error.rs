//! JSON-RPC errors: the codes in use and the error object.
//!
//! Which failure gets which code in which revision is decided in [`crate::protocol`].

use serde_json::Value;

/// Invalid JSON was received (JSON-RPC 2.0, section 5.1).
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is not a valid request (JSON-RPC 2.0, section 5.1).
pub const INVALID_REQUEST: i32 = -32600;
/// The method does not exist (JSON-RPC 2.0, section 5.1).
pub const METHOD_NOT_FOUND: i32 = -32601;
/// Invalid method parameters (JSON-RPC 2.0, section 5.1).
pub const INVALID_PARAMS: i32 = -32602;
/// The server failed (JSON-RPC 2.0, section 5.1).
pub const INTERNAL_ERROR: i32 = -32603;
/// The resource was not found: up to 2025-11-25; 2026-07-28 uses [`INVALID_PARAMS`] instead.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// An HTTP header contradicts the message (2026-07-28, "Transports").
pub const HEADER_MISMATCH: i32 = -32020;
/// The protocol version in `_meta` is not supported (2026-07-28, "Versioning").
pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// One of the codes of this module.
    pub code: i32,
    /// One or two sentences: what is wrong and what to do next.
    pub message: String,
    /// Facts for programs, such as the URI.
    pub data: Option<Value>,
}

impl Error {
    /// An error without data.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with `data`.
    #[must_use]
    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}
