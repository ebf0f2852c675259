//! The message parser compared with the same rules in plainer form; and a request that is serialised again is the same
//! request.

#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use mcp_fs::jsonrpc::error::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use mcp_fs::jsonrpc::message::{Id, Message, Request, item, parse};
use serde_json::value::RawValue;
use serde_json::{Value, from_str};

fuzz_target!(|line: &[u8]| {
    let message = parse(line);
    let Some(raw) = str::from_utf8(line).ok().and_then(|text| from_str::<&RawValue>(text).ok()) else {
        assert!(matches!(message, Message::Malformed(None, error) if error.code == PARSE_ERROR));
        return;
    };
    if let Ok(items) = from_str::<Vec<&RawValue>>(raw.get()) {
        if let Message::Batch(batch) = &message {
            assert_eq!(batch.length, items.len());
        }
        for (raw, read) in items.iter().zip(items.iter().map(|raw| item(raw))) {
            check(raw, &read);
        }
    }
    check(raw, &message);
});

/// The kind of a message.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Request(Id),
    Notification,
    Response,
    Batch,
    Malformed(Option<Id>, i32),
}

fn check(raw: &RawValue, message: &Message<'_>) {
    let kind = match message {
        Message::Request(request) => Kind::Request(request.id.clone()),
        Message::Notification(_) => Kind::Notification,
        Message::Response => Kind::Response,
        Message::Batch(_) => Kind::Batch,
        Message::Malformed(id, error) => Kind::Malformed(id.clone(), error.code),
    };
    if let Some(expected) = expected(raw) {
        assert_eq!(kind, expected);
    }
    if let Message::Request(request) = message {
        comes_back(request);
    }
}

/// The expected kind; `None` if it is hard to say.
fn expected(raw: &RawValue) -> Option<Kind> {
    let text = raw.get();
    if text.starts_with('[') {
        return None; // a batch where it is a line, and wrong within one
    }
    if !text.starts_with('{') {
        return Some(Kind::Malformed(None, INVALID_REQUEST));
    }
    // Keys that are not text, and more keys than are read, are left to the tests.
    let members: HashMap<String, &RawValue> = from_str(text).ok()?;
    let value = |key| members.get(key).map(|raw| from_str::<Value>(raw.get()).unwrap_or(Value::Bool(false)));
    let is_response = members.contains_key("result") || members.contains_key("error");
    let is_version_2 = value("jsonrpc") == Some("2.0".into());
    let is_text = |value: &Value| value.is_string();
    let has_params = members.get("params").is_none_or(|params| params.get() == "null" || params.get().starts_with('{'));
    let id = members.get("id").map(|id| Id::parse(id).ok());
    Some(match (value("method"), id) {
        (None, _) if is_response => Kind::Response,
        (None, id) => Kind::Malformed(id.flatten(), INVALID_REQUEST),
        (Some(method), None) if is_text(&method) && is_version_2 => Kind::Notification,
        (Some(_), None) => Kind::Response,
        (Some(_), Some(None)) => Kind::Malformed(None, INVALID_REQUEST),
        (Some(method), Some(id)) if !is_text(&method) || !is_version_2 => Kind::Malformed(id, INVALID_REQUEST),
        (Some(_), Some(id)) if !has_params => Kind::Malformed(id, INVALID_PARAMS),
        (Some(_), Some(Some(id))) => Kind::Request(id),
    })
}

/// Serialised as JSON, it is parsed as the same request.
fn comes_back(request: &Request<'_>) {
    let members = |request: &Request<'_>| -> Vec<(String, String)> {
        request.params.members().map(|(key, value)| (key.to_owned(), value.get().to_owned())).collect()
    };
    let before = members(request);
    let params: Vec<String> =
        before.iter().map(|(key, value)| format!("{}:{value}", Value::from(key.as_str()))).collect();
    let method = Value::from(request.method.as_ref());
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":{},"method":{method},"params":{{{}}}}}"#, request.id, params.join(","));
    let Message::Request(again) = parse(line.as_bytes()) else { panic!("no request any more: {line}") };
    assert_eq!((&again.id, &again.method), (&request.id, &request.method));
    assert_eq!(members(&again), before);
}
