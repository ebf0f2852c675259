//! The specification's types, as the crate `rust-mcp-schema` makes them from its schemas: judges that every clone has.
//! All legacy revisions are read as 2025-11-25, which has every field of the others.
//! They check which fields must be there and of which type they are. What JSON Schema says besides, such as the format of
//! a URI, is checked where the schemas themselves lie beside the repository.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::MODERN;

/// Checks `instance` against a type of a revision; the error says what is wrong.
pub(super) fn check(revision: &str, definition: &str, instance: &Value) -> Result<(), String> {
    let read = reader(revision, definition);
    let read = read.unwrap_or_else(|| panic!("{revision} has no {definition}, or it is not in the table"));
    read(&with_small_ids(instance)).map_err(|error| format!("no valid {definition} of {revision}: {error}"))
}

/// The same with ids that fit these types, which know 64 bits; the protocol has any integer.
fn with_small_ids(instance: &Value) -> Value {
    let small = |(key, value): (&String, &Value)| match key.as_str() {
        "id" | "io.modelcontextprotocol/subscriptionId" if value.is_number() => (key.clone(), Value::from(1)),
        _ => (key.clone(), with_small_ids(value)),
    };
    match instance {
        Value::Object(members) => Value::Object(members.iter().map(small).collect()),
        other => other.clone(),
    }
}

type Reader = fn(&Value) -> Result<(), serde_json::Error>;

fn read<T: DeserializeOwned>(instance: &Value) -> Result<(), serde_json::Error> {
    T::deserialize(instance).map(drop)
}

/// The readers of the definitions that both eras have, and of those that one has.
macro_rules! readers {
    ($types:ident, $definition:expr; $($also:ident),*) => {
        Some(match $definition {
            "ListToolsResult" => read::<$types::ListToolsResult>,
            "CallToolResult" => read::<$types::CallToolResult>,
            "ListResourcesResult" => read::<$types::ListResourcesResult>,
            "ReadResourceResult" => read::<$types::ReadResourceResult>,
            "ListResourceTemplatesResult" => read::<$types::ListResourceTemplatesResult>,
            "CompleteResult" => read::<$types::CompleteResult>,
            "EmptyResult" => read::<$types::EmptyResult>,
            "Result" => read::<$types::Result>,
            "ProgressNotification" => read::<$types::ProgressNotification>,
            "ResourceUpdatedNotification" => read::<$types::ResourceUpdatedNotification>,
            "ResourceListChangedNotification" => read::<$types::ResourceListChangedNotification>,
            // The first name is the one up to 2025-06-18.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::LEGACY;

    #[test]
    fn wrong_messages_are_refused_in_every_revision() {
        for revision in LEGACY.iter().chain(&[MODERN]) {
            let page = json!({"resources": [{"name": "a", "uri": "file:///a"}]});
            let modern = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            let right = |mut page: Value| {
                page.as_object_mut().expect("an object").extend(modern.as_object().expect("an object").clone());
                page
            };
            check(revision, "ListResourcesResult", &right(page.clone())).expect("a page");
            for wrong in [json!({"resources": [{"name": "no uri"}]}), json!({"resources": {}}), json!({})] {
                check(revision, "ListResourcesResult", &right(wrong)).unwrap_err();
            }
            check(revision, "CallToolResult", &right(json!({"content": [], "isError": "yes"}))).unwrap_err();
            let error = crate::support::schema::error_definition(revision);
            check(revision, error, &json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "x"}})).unwrap();
            for wrong in [json!({"code": "x", "message": "x"}), json!({"code": -1}), json!(null)] {
                check(revision, error, &json!({"jsonrpc": "2.0", "id": 1, "error": wrong})).unwrap_err();
            }
            let progress = json!({"progressToken": true, "progress": 1});
            let message = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
            check(revision, "ProgressNotification", &message).unwrap_err();
        }
        check(MODERN, "ListResourcesResult", &json!({"resources": []})).unwrap_err();
    }
}
