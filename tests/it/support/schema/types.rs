//! The specification's types, as the crate `rust-mcp-schema` generates them from its schemas: judges that every clone
//! has. All legacy revisions are parsed as 2025-11-25, which has every field of the others.
//!
//! Parsing alone is too lenient: serde takes `null` for an absent field and an array for an object. So the parsed
//! message must also be the same when it is serialised, and every URI must be valid. With that, the types reject what
//! the JSON Schemas reject; [`super::shapes`] shows it.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::MODERN;

/// Checks `instance` against a type of a revision; the error says what is wrong.
pub(super) fn check(revision: &str, definition: &str, instance: &Value) -> Result<(), String> {
    let read = reader(revision, definition);
    let read = read.unwrap_or_else(|| panic!("{revision} has no {definition}, or it is not in the table"));
    let instance = with_small_ids(instance);
    // These revisions answer a message without a readable id with `id: null`, which no schema allows: see `laws`.
    let lacks_id = definition == "JSONRPCError" && instance.get("id").is_none();
    let checked = if lacks_id { Err("/id is missing".to_owned()) } else { read(&instance).map_err(|e| e.to_string()) };
    let checked = checked.and_then(|written| is_same(&instance, &written, "")).and_then(|()| has_real_uris(&instance));
    checked.map_err(|why| format!("no valid {definition} of {revision}: {why}"))
}

/// Whether a message is the same after parsing and serialising. Numbers are compared by value: 1 may become 1.0.
fn is_same(sent: &Value, written: &Value, place: &str) -> Result<(), String> {
    match (sent, written) {
        (Value::Object(sent), Value::Object(written)) => sent.iter().try_for_each(|(key, value)| {
            let place = format!("{place}/{key}");
            match written.get(key) {
                Some(written) => is_same(value, written, &place),
                None if value.is_null() => Err(format!("{place} is null")),
                // An additional field, which every message may have.
                None => Ok(()),
            }
        }),
        (Value::Array(sent), Value::Array(written)) if sent.len() == written.len() => {
            sent.iter().zip(written).try_for_each(|(sent, written)| is_same(sent, written, place))
        }
        (Value::Number(sent), Value::Number(written)) if sent.as_f64() == written.as_f64() => Ok(()),
        _ if sent == written => Ok(()),
        _ => Err(format!("{place} has the wrong type")),
    }
}

/// Whether every `uri` is a URI. An error repeats what the client sent, which need not be one.
fn has_real_uris(instance: &Value) -> Result<(), String> {
    static URI: LazyLock<Validator> = LazyLock::new(|| {
        let options = jsonschema::options().should_validate_formats(true);
        options.build(&json!({"format": "uri"})).expect("a schema")
    });
    match instance {
        Value::Object(members) => members.iter().try_for_each(|(key, value)| match key.as_str() {
            "uri" if value.is_string() && !URI.is_valid(value) => Err(format!("{value} is not a URI")),
            "error" => Ok(()),
            _ => has_real_uris(value),
        }),
        Value::Array(items) => items.iter().try_for_each(has_real_uris),
        _ => Ok(()),
    }
}

/// The same with ids that fit into these types, which have 64 bits; the protocol allows any integer.
fn with_small_ids(instance: &Value) -> Value {
    let is_integer = |value: &Value| value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let small = |(key, value): (&String, &Value)| match key.as_str() {
        "id" | "io.modelcontextprotocol/subscriptionId" if is_integer(value) => (key.clone(), Value::from(1)),
        _ => (key.clone(), with_small_ids(value)),
    };
    match instance {
        Value::Object(members) => Value::Object(members.iter().map(small).collect()),
        other => other.clone(),
    }
}

type Reader = fn(&Value) -> serde_json::Result<Value>;

fn read<T: DeserializeOwned + Serialize>(instance: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(T::deserialize(instance)?)
}

/// The parsers of the definitions that both eras have, and of those that one has.
macro_rules! readers {
    ($types:ident, $definition:expr; $($also:ident),*) => {
        Some(match $definition {
            "ListToolsResult" => read::<$types::ListToolsResult>,
            "CallToolResult" => read::<$types::CallToolResult>,
            "ListResourcesResult" => read::<$types::ListResourcesResult>,
            "ReadResourceResult" => read::<$types::ReadResourceResult>,
            "ListResourceTemplatesResult" => read::<$types::ListResourceTemplatesResult>,
            "ListPromptsResult" => read::<$types::ListPromptsResult>,
            "GetPromptResult" => read::<$types::GetPromptResult>,
            "PromptListChangedNotification" => read::<$types::PromptListChangedNotification>,
            "CompleteResult" => read::<$types::CompleteResult>,
            "EmptyResult" => read::<$types::EmptyResult>,
            "Result" => read::<$types::Result>,
            "ProgressNotification" => read::<$types::ProgressNotification>,
            "ResourceUpdatedNotification" => read::<$types::ResourceUpdatedNotification>,
            "ResourceListChangedNotification" => read::<$types::ResourceListChangedNotification>,
            // The first name is used up to 2025-06-18.
            "JSONRPCError" | "JSONRPCErrorResponse" => read::<$types::JsonrpcErrorResponse>,
            "JSONRPCResponse" | "JSONRPCResultResponse" => read::<$types::JsonrpcResultResponse>,
            $(stringify!($also) => read::<$types::$also>,)*
            _ => return None,
        })
    };
}

fn reader(revision: &str, definition: &str) -> Option<Reader> {
    use rust_mcp_schema::mcp_2026_07_28 as modern;
    use rust_mcp_schema_legacy::mcp_2025_11_25 as legacy;
    if revision == MODERN {
        return readers!(modern, definition;
            DiscoverResult, SubscriptionsListenResult, SubscriptionsAcknowledgedNotification);
    }
    readers!(legacy, definition; InitializeResult)
}
