//! How a test talks to a server: send, receive, request, in either era.
//!
//! A client implements three methods and gets the rest. Nothing that the server sends can be overlooked: messages that
//! arrive while a certain answer is awaited are kept for [`Client::recv`], and a message that is never read fails the
//! test.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, LEGACY, MODERN};

/// The key of a stream's id in the `_meta` of its notifications, and of the result that ends it.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The state of a conversation with a server.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// What was sent and received, and whether it was right.
    pub(crate) conversation: Conversation,
    /// Received, but not yet read by the test.
    pub(super) unread: VecDeque<Value>,
    asked: u64,
}

/// One end of a conversation.
pub(crate) trait Client: Sized {
    /// Its state.
    fn talk(&mut self) -> &mut Talk;

    /// Sends bytes as they are.
    fn write(&mut self, bytes: &[u8]);

    /// The next line with its newline, `None` after the last one. Panics if there is neither within [`super::TIMEOUT`].
    fn read(&mut self) -> Option<Vec<u8>>;

    /// Sends bytes as they are: any number of lines, or part of one.
    fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.talk().conversation.sent(bytes.as_ref());
        self.write(bytes.as_ref());
    }

    /// Sends a line.
    fn send_line(&mut self, line: impl AsRef<[u8]>) {
        self.send_raw([line.as_ref(), b"\n"].concat());
    }

    /// Sends a message.
    #[allow(clippy::needless_pass_by_value, reason = "called with json!")]
    fn send(&mut self, message: Value) {
        self.send_line(message.to_string());
    }

    /// Sends a notification.
    fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request as it is, and returns its id; [`Self::answer`] waits for the answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.talk().asked += 1;
        let id = json!(1000 + self.talk().asked);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The same with the `_meta` of 2026-07-28.
    fn ask_modern(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, with_meta(params))
    }

    /// The response to a request. Anything else that arrives meanwhile is kept.
    #[allow(clippy::needless_pass_by_value, reason = "called with json!")]
    fn answer(&mut self, id: Value) -> Value {
        let is_it = |message: &Value| message.get("id") == Some(&id) && message.get("method").is_none();
        if let Some(at) = self.talk().unread.iter().position(is_it) {
            return self.talk().unread.remove(at).expect("position gave it");
        }
        loop {
            let message = self.next_message().unwrap_or_else(|| panic!("the output ended before the answer to {id}"));
            if is_it(&message) {
                return message;
            }
            self.talk().unread.push_back(message);
        }
    }

    /// Sends a request as it is, and returns the whole response object.
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a request of 2026-07-28, with `_meta` added, and returns the whole response object.
    fn modern(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask_modern(method, params);
        self.answer(id)
    }

    /// Sends a request in the legacy era if that is negotiated or is being negotiated, else in the modern one; returns
    /// the whole response object.
    fn either(&mut self, method: &str, params: Value) -> Value {
        if method == "initialize" || self.talk().conversation.negotiated().is_some() {
            self.request(method, params)
        } else {
            self.modern(method, params)
        }
    }

    /// The same, and it must succeed; returns the result.
    fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.either(method, params);
        assert!(answer.get("result").is_some(), "{method} failed: {answer}");
        answer["result"].take()
    }

    /// The same, and it must fail; returns the error object.
    fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.either(method, params);
        assert!(answer.get("error").is_some(), "{method} did not fail: {answer}");
        answer["error"].take()
    }

    /// Calls a tool and returns the result, which may be an error of the tool.
    #[allow(clippy::needless_pass_by_value, reason = "called with json!")]
    fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Calls a tool, which must succeed; returns its first block, which must be text.
    fn tool_text(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_ne!(result["isError"], true, "{name} failed: {result}");
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{name} gave no text: {result}")).to_owned()
    }

    /// Calls a tool, which must fail; returns its text.
    fn tool_error(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{name} did not fail: {result}");
        text_of(&result)
    }

    /// The next message: a response, a notification, or the responses of a batch.
    fn recv(&mut self) -> Value {
        let aside = self.talk().unread.pop_front();
        aside.or_else(|| self.next_message()).expect("the output ended; a message was expected")
    }

    /// Nothing was sent that the test has not read, and nothing precedes the answer to a `ping` sent now. This does not
    /// wait for work that is still running.
    fn expect_silence(&mut self) {
        assert_eq!(self.talk().unread, [] as [Value; 0], "silence was expected");
        let id = self.ask("ping", json!({}));
        let message = self.next_message().expect("an answer to ping");
        assert_eq!(message["id"], id, "silence was expected: {message}");
    }

    /// Initializes with one of [`LEGACY`].
    #[must_use]
    fn legacy(mut self, revision: &str) -> Self {
        assert!(LEGACY.contains(&revision), "{revision} has no initialize");
        let client = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        self.notify("notifications/initialized", json!({}));
        self
    }

    /// The next message on the wire, checked; `None` after the last one.
    fn next_message(&mut self) -> Option<Value> {
        let line = self.read()?;
        Some(self.talk().conversation.received(&line))
    }

    /// Everything that was sent and not read, up to the end of the output.
    fn rest(&mut self) -> Vec<Value> {
        while let Some(message) = self.next_message() {
            self.talk().unread.push_back(message);
        }
        std::mem::take(&mut self.talk().unread).into()
    }
}

/// Removes the messages that end streams. They come with the end of the input, whatever a test is about.
pub(super) fn without_stream_ends(mut messages: Vec<Value>) -> Vec<Value> {
    messages.retain(|message| message["result"]["_meta"].get(SUBSCRIPTION_ID).is_none());
    messages
}

/// Adds what 2026-07-28 requires in every request's `_meta`; existing keys stay as they are.
pub(crate) fn with_meta(mut params: Value) -> Value {
    let meta = params.as_object_mut().expect("params").entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let meta = meta.as_object_mut().expect("_meta");
    for (key, value) in [
        ("io.modelcontextprotocol/protocolVersion", json!(MODERN)),
        ("io.modelcontextprotocol/clientInfo", json!({"name": "test", "version": "0"})),
        ("io.modelcontextprotocol/clientCapabilities", json!({})),
    ] {
        meta.entry(key).or_insert(value);
    }
    params
}

/// All text blocks of a tool's result, concatenated.
pub(crate) fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("content");
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
