//! The specification as judge, twice: its types, which every clone has ([`types`]), and its own JSON Schemas, if they
//! are beside the repository in `../shared/schema/<revision>/schema.json` (or below `$MCP_FS_SHARED`). They are not
//! part of the repository.

#[cfg(test)]
mod shapes;
mod types;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

/// Checks `instance` against a definition of a revision's schema; the error says what is wrong and where.
pub(crate) fn check(revision: &str, definition: &str, instance: &Value) -> Result<(), String> {
    types::check(revision, definition, instance)?;
    let Some(validator) = validator(revision, definition) else { return Ok(()) };
    let errors: Vec<String> = validator
        .iter_errors(instance)
        .map(|error| format!("  at {:?}: {}", error.instance_path().to_string(), shorten(&error.to_string())))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("no valid {definition} of {revision}:\n{}", errors.join("\n"))) }
}

/// The verdict of the official schema alone, if it is available.
#[cfg(test)]
fn official_accepts(revision: &str, definition: &str, instance: &Value) -> Option<bool> {
    Some(validator(revision, definition)?.is_valid(instance))
}

/// The definition for the result of a method.
pub(crate) fn result_definition(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/read" => "ReadResourceResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "ping" | "resources/subscribe" | "resources/unsubscribe" => "EmptyResult",
        _ => "Result",
    }
}

/// The definition for a notification; `None` for one that this server never sends.
pub(crate) fn notification_definition(method: &str) -> Option<&'static str> {
    Some(match method {
        "notifications/progress" => "ProgressNotification",
        "notifications/resources/updated" => "ResourceUpdatedNotification",
        "notifications/resources/list_changed" => "ResourceListChangedNotification",
        "notifications/prompts/list_changed" => "PromptListChangedNotification",
        "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
        _ => return None,
    })
}

/// The definition for an error response.
pub(crate) fn error_definition(revision: &str) -> &'static str {
    if revision >= "2025-11-25" { "JSONRPCErrorResponse" } else { "JSONRPCError" }
}

/// The definition for a successful response.
pub(crate) fn response_definition(revision: &str) -> &'static str {
    if revision >= "2025-11-25" { "JSONRPCResultResponse" } else { "JSONRPCResponse" }
}

fn validator(revision: &str, definition: &str) -> Option<Arc<Validator>> {
    type Cache = HashMap<(String, String), Arc<Validator>>;
    static COMPILED: OnceLock<Mutex<Cache>> = OnceLock::new();
    let directory = directory()?;
    let mut cache = COMPILED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let validator = cache
        .entry((revision.to_owned(), definition.to_owned()))
        .or_insert_with(|| Arc::new(compile(&directory.join(revision).join("schema.json"), definition)));
    Some(Arc::clone(validator))
}

/// The whole document is kept, so that its `$ref`s resolve; a `$ref` at the top selects the definition.
fn compile(file: &Path, definition: &str) -> Validator {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut schema: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let definitions = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    assert!(schema[definitions].get(definition).is_some(), "{}: no {definition}", file.display());
    schema["$ref"] = json!(format!("#/{definitions}/{definition}"));
    jsonschema::options()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .build(&schema)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn directory() -> Option<&'static PathBuf> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
        let shared = std::env::var_os("MCP_FS_SHARED").map_or_else(beside, PathBuf::from);
        Some(shared.join("schema")).filter(|directory| directory.is_dir())
    };
    DIRECTORY.get_or_init(find).as_ref()
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 300 { text.to_owned() } else { text.chars().take(300).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_results_are_detected() {
        for revision in crate::support::LEGACY.iter().chain(&[crate::support::MODERN]) {
            let wrong = json!({"resources": [{"name": "no uri"}], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            let error = check(revision, "ListResourcesResult", &wrong).unwrap_err();
            assert!(error.contains("uri"), "{error}");
            check(revision, error_definition(revision), &json!({"jsonrpc": "2.0", "id": true, "error": {}}))
                .unwrap_err();
            check(revision, response_definition(revision), &json!({"jsonrpc": "2.0", "id": 1})).unwrap_err();
        }
        let right = json!({"resources": [{"name": "a b", "uri": "file:///a%20b"}]});
        check("2024-11-05", "ListResourcesResult", &right).unwrap();
        let wrong = json!({"resources": [{"name": "a b", "uri": "file:///a b"}]});
        check("2024-11-05", "ListResourcesResult", &wrong).unwrap_err();
        check("2025-11-25", "ListResourcesResult", &wrong).unwrap_err();
    }
}
