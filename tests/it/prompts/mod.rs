//! Prompts: what is listed, what their messages are, and what is never in either.

// Pages, order, what is left out and named on stderr, what is declared.
mod list;
// Arguments, embedded files, errors.
mod get;
// Completion of arguments that are paths.
mod completion;
// Who is notified that the list has changed, and when.
mod live;
// Files made to break it, and names that lead elsewhere.
mod hostile;

use serde_json::{Value, json};

use crate::support::server::Builder;
use crate::support::{Client, TestServer, Tree};

/// A prompt with a required and an optional argument.
pub(crate) const REVIEW: &str = "---\ntitle: Review\ndescription: Reviews a file\narguments:\n  - name: path\n    \
    description: Which file\n    required: true\n  - name: focus\n---\nReview {{path}} for {{focus}}.\n";

/// A server of a tree with its `prompts`.
fn serve(tree: &Tree) -> Builder {
    TestServer::builder(tree).prompts("prompts")
}

/// The names of all prompts, over all pages.
fn names(client: &mut impl Client) -> Vec<String> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    for _ in 0..1_000 {
        let page = client.result("prompts/list", params);
        let prompts = page["prompts"].as_array().expect("prompts");
        all.extend(prompts.iter().map(|prompt| prompt["name"].as_str().expect("a name").to_owned()));
        let Some(cursor) = page.get("nextCursor") else { return all };
        params = json!({"cursor": cursor});
    }
    panic!("the pages never come to an end");
}

/// The messages of a prompt: the content of each, all from the user.
#[allow(clippy::needless_pass_by_value, reason = "called with json!")]
fn said(client: &mut impl Client, name: &str, arguments: Value) -> Vec<Value> {
    let mut result = client.result("prompts/get", json!({"name": name, "arguments": arguments}));
    let messages = result["messages"].as_array_mut().expect("messages");
    assert!(messages.iter().all(|message| message["role"] == "user"), "{messages:?}");
    messages.iter_mut().map(|message| message["content"].take()).collect()
}
