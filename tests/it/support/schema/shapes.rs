//! The shape of each message: the least that it must contain, so that removing anything is an error.
//!
//! They prove that the judges can say no. Each shape is changed in every simple way: with a member missing or of
//! another type, it must be rejected in any clone. If the official schemas are beside the repository, the types must
//! also reject whatever those reject.

use serde_json::{Value, json};

use super::{check, error_definition, official_accepts, response_definition, types};
use crate::support::client::SUBSCRIPTION_ID;
use crate::support::{LEGACY, MODERN};

/// Shapes that are the same in every revision.
fn common() -> Vec<(&'static str, Value)> {
    vec![
        ("ListToolsResult", json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})),
        ("CallToolResult", json!({"content": [{"type": "text", "text": "t"}]})),
        ("ListResourcesResult", json!({"resources": [{"name": "a", "uri": "file:///a"}]})),
        ("ReadResourceResult", json!({"contents": [{"uri": "file:///a", "text": "t"}]})),
        ("ReadResourceResult", json!({"contents": [{"uri": "file:///a", "blob": "AA=="}]})),
        (
            "ListResourceTemplatesResult",
            json!({"resourceTemplates": [{"name": "f", "uriTemplate": "file:///{+path}"}]}),
        ),
        ("CompleteResult", json!({"completion": {"values": ["a"]}})),
        ("ListPromptsResult", json!({"prompts": [{"name": "p"}]})),
        ("GetPromptResult", json!({"messages": [{"role": "user", "content": {"type": "text", "text": "t"}}]})),
    ]
}

#[allow(clippy::needless_pass_by_value, reason = "called with json!")]
fn notification(name: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{name}"), "params": params})
}

/// With `initialize`: it says who the server is, and results contain nothing but the answer.
fn legacy() -> Vec<(&'static str, Value)> {
    let server = json!({"name": "s", "version": "1"});
    let mut shapes = common();
    shapes.extend([
        ("InitializeResult", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": server})),
        ("ProgressNotification", notification("progress", json!({"progressToken": "t", "progress": 0.5}))),
        ("ResourceUpdatedNotification", notification("resources/updated", json!({"uri": "file:///a"}))),
        (
            "ResourceListChangedNotification",
            json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}),
        ),
        ("PromptListChangedNotification", json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})),
    ]);
    shapes
}

/// Without a session: each result says that it is complete, and for how long and for whom it may be cached.
fn modern() -> Vec<(&'static str, Value)> {
    let mut shapes = common();
    shapes.push(("DiscoverResult", json!({"supportedVersions": [MODERN], "capabilities": {}})));
    for (definition, result) in &mut shapes {
        result["resultType"] = json!("complete");
        if !["CallToolResult", "CompleteResult", "GetPromptResult"].contains(definition) {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
    }
    shapes.extend([
        ("SubscriptionsListenResult", json!({"resultType": "complete", "_meta": {SUBSCRIPTION_ID: "s"}})),
        // It also names its stream in `_meta`, which the schema leaves open and `laws` checks.
        (
            "SubscriptionsAcknowledgedNotification",
            notification("subscriptions/acknowledged", json!({"notifications": {}})),
        ),
        ("ProgressNotification", notification("progress", json!({"progressToken": "t", "progress": 0.5}))),
        ("ResourceUpdatedNotification", notification("resources/updated", json!({"uri": "file:///a"}))),
        (
            "ResourceListChangedNotification",
            json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}),
        ),
        ("PromptListChangedNotification", json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})),
    ]);
    shapes
}

/// The shapes of one revision, including responses and errors.
fn of(revision: &str) -> Vec<(&'static str, Value)> {
    let mut shapes = if revision == MODERN { modern() } else { legacy() };
    let result = if revision == MODERN { json!({"resultType": "complete"}) } else { json!({}) };
    shapes.push((response_definition(revision), json!({"jsonrpc": "2.0", "id": 1, "result": result})));
    let mut error = json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "m"}});
    if revision < "2025-11-25" {
        // Since then, an error for a message without a readable id has no id either.
        error["id"] = json!(1);
    }
    shapes.push((error_definition(revision), error));
    shapes
}

/// A message that was changed in one place.
struct Changed {
    what: String,
    message: Value,
    /// It is wrong whatever the schemas say: something is missing, or of another type.
    is_wrong: bool,
}

/// A message without each of its members in turn, and with each value replaced by one of every type.
fn changed(message: &Value) -> Vec<Changed> {
    let others = [json!(null), json!(true), json!(1.5), json!("x"), json!([]), json!([7]), json!({"a": 7})];
    let replace = |other: Value| Changed {
        what: format!(" = {other}"),
        is_wrong: json_type(&other) != json_type(message),
        message: other,
    };
    let mut all: Vec<Changed> = others.into_iter().map(replace).collect();
    let mut inside = |key: &str, member: &Value, put: &dyn Fn(Value) -> Value| {
        all.extend(changed(member).into_iter().map(|inner| Changed {
            what: format!("/{key}{}", inner.what),
            message: put(inner.message),
            // The only member that may be of two types.
            is_wrong: inner.is_wrong && (key, &*inner.what) != ("id", " = \"x\""),
        }));
    };
    match message {
        Value::Object(members) => {
            for (key, member) in members {
                inside(key, member, &|wrong| {
                    let mut message = message.clone();
                    message[key] = wrong;
                    message
                });
            }
            all.extend(members.keys().map(|key| {
                let mut less = members.clone();
                less.remove(key);
                Changed { what: format!("/{key} is missing"), message: Value::Object(less), is_wrong: true }
            }));
        }
        Value::Array(items) => items.iter().for_each(|item| inside("0", item, &|wrong| json!([wrong]))),
        _ => {}
    }
    all
}

/// The JSON type; integers count as a type of their own.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// How each shape fares unchanged and changed: with both judges, or with one if the other is not available.
#[test]
fn correct_shapes_are_accepted_and_broken_ones_rejected() {
    for revision in LEGACY.iter().chain(&[MODERN]) {
        for (definition, message) in of(revision) {
            check(revision, definition, &message).unwrap();
            for Changed { what, message, is_wrong } in changed(&message) {
                let official_refuses = official_accepts(revision, definition, &message) == Some(false);
                let refused = types::check(revision, definition, &message).is_err();
                assert!(refused || !(is_wrong || official_refuses), "{revision} {definition}: {what} is accepted");
            }
        }
    }
}

#[test]
fn optional_members_must_be_valid_if_present() {
    for (definition, place, wrong) in [
        ("CallToolResult", "/isError", json!("yes")),
        ("ListToolsResult", "/tools/0/description", json!(7)),
        ("ListToolsResult", "/tools/0/annotations", json!({"readOnlyHint": "yes"})),
        ("ListResourcesResult", "/nextCursor", json!(7)),
        ("ListResourcesResult", "/resources/0/size", json!("big")),
        ("ListResourcesResult", "/resources/0/annotations", json!([])),
        ("ReadResourceResult", "/contents/0/mimeType", json!(null)),
        ("CompleteResult", "/completion/hasMore", json!(1)),
        ("CompleteResult", "/_meta", json!("m")),
    ] {
        for revision in LEGACY.iter().chain(&[MODERN]) {
            let (_, mut message) = of(revision).into_iter().find(|(name, _)| *name == definition).expect("a shape");
            let (parent, member) = place.rsplit_once('/').expect("a pointer");
            message.pointer_mut(parent).expect("it is in the shape")[member] = wrong.clone();
            assert!(
                types::check(revision, definition, &message).is_err(),
                "{revision} {definition}: {place} is {wrong}"
            );
        }
    }
}
