//! What the model knows about an answer in advance.

use std::sync::Arc;

use serde_json::Value;

/// The expected answer to a request.
#[derive(Clone, Debug)]
pub(crate) enum Expect {
    /// Some answer.
    Any,
    /// A result that is not an error.
    Works,
    /// An error, or a tool result that is one.
    Fails,
    /// Exactly this text.
    Text(Arc<str>),
    /// Bytes, in base64.
    Base64(Arc<str>),
    /// A text that contains this.
    Holds(String),
    /// If it is a text, all its lines are the same, as one write made them.
    Uniform,
    /// If it is a text, it consists of whole entries, as appending makes them.
    Entries,
}

/// The line that is appended, the only content of the file.
pub(crate) const ENTRY: &str = "entry: appended whole, or not at all\n";

impl Expect {
    /// What is wrong with a response, if anything.
    pub(crate) fn verdict(&self, response: &Value) -> Result<(), String> {
        let failed = response.get("error").is_some() || response["result"]["isError"] == true;
        let said = text(response);
        let holds = match self {
            Self::Any => true,
            Self::Works => !failed,
            Self::Fails => failed,
            Self::Text(expected) => !failed && said == Some(expected),
            Self::Holds(expected) => !failed && said.is_some_and(|said| said.contains(expected)),
            Self::Base64(expected) => !failed && blob(response) == Some(expected),
            Self::Uniform => failed || said.is_some_and(is_uniform),
            Self::Entries => failed || said.is_some_and(|said| said.lines().all(|line| line == ENTRY.trim_end())),
        };
        if holds { Ok(()) } else { Err(format!("expected {}", shorten(&format!("{self:?}")))) }
    }
}

fn is_uniform(text: &str) -> bool {
    let first = text.lines().next();
    text.lines().all(|line| Some(line) == first)
}

/// The first text of a tool's result or of a resource.
fn text(response: &Value) -> Option<&str> {
    let (block, item) = (&response["result"]["content"][0], &response["result"]["contents"][0]);
    [&block["text"], &block["resource"]["text"], &item["text"]].into_iter().find_map(Value::as_str)
}

fn blob(response: &Value) -> Option<&str> {
    let (block, item) = (&response["result"]["content"][0], &response["result"]["contents"][0]);
    [&block["data"], &block["resource"]["blob"], &item["blob"]].into_iter().find_map(Value::as_str)
}

pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(300).collect()
}
