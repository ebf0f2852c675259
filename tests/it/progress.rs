//! `notifications/progress`: sent only on request, under the token as it was written, and in the form of the revision.
//!
//! The work here reports until the test has received it, so no timing decides what is seen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use mcp_fs::call::Call;
use serde_json::{Value, json};

use crate::support::client::with_meta;
use crate::support::{Client, LEGACY, TIMEOUT, TestServer, Tree};

/// A server whose `resources/list` reports progress until it is told to end.
struct Busy {
    server: TestServer,
    end: Arc<AtomicBool>,
}

impl Busy {
    fn start(tree: &Tree) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let server = TestServer::builder(tree).dispatch(move |call, context| {
            let begun = Instant::now();
            let mut done = 0;
            while matches!(call, Call::ListResources { .. }) && !ended.load(Ordering::Relaxed) {
                done += 1;
                context.report(done, || "counting".to_owned());
                assert!(begun.elapsed() < TIMEOUT, "nobody ended the work");
                std::thread::yield_now();
            }
            mcp_fs::features::dispatch::dispatch(call, context)
        });
        Self { server: server.start(), end }
    }

    /// The next progress notification, and its text.
    fn hear(&mut self) -> (Value, String) {
        let line = self.server.read().expect("progress");
        let message = self.server.talk().conversation.received(&line);
        assert_eq!(message["method"], "notifications/progress", "{message}");
        (message, String::from_utf8(line).expect("UTF-8"))
    }

    /// Ends the work and waits for the answer. Progress notifications before that need not be read.
    fn end(&mut self, id: Value) {
        self.end.store(true, Ordering::Relaxed);
        assert!(self.server.answer(id)["result"]["resources"].is_array());
    }

    /// Reads everything before the answers.
    fn close(self) {
        for message in self.server.close() {
            assert_eq!(message["method"], "notifications/progress", "{message}");
        }
    }
}

#[test]
fn a_token_is_echoed_as_it_was_written() {
    let tree = Tree::new();
    for token in ["\"t\"", "\"\"", "0", "-1", "9007199254740993", "\"\u{e9}\u{1f600}\"", r#""a\"b\\c""#] {
        for modern in [false, true] {
            let mut busy = Busy::start(&tree);
            if !modern {
                busy.server = busy.server.legacy("2025-06-18");
            }
            let base = if modern { with_meta(json!({})) } else { json!({"_meta": {}}) };
            let params =
                base.to_string().replacen(r#""_meta":{"#, &format!(r#""_meta":{{"progressToken":{token},"#), 1);
            let params = params.replace(",}", "}");
            busy.server.send_line(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{params}}}"#));
            let (message, line) = busy.hear();
            let echoed = format!(r#""progressToken":{token},"#);
            assert!(line.contains(&echoed), "modern: {modern}: {token} is not in {message}");
            busy.end(json!(1));
            busy.close();
        }
    }
}

#[test]
fn progress_is_reported_repeatedly_and_increases() {
    let tree = Tree::new();
    let mut busy = Busy::start(&tree);
    let id = busy.server.ask_modern("resources/list", json!({"_meta": {"progressToken": "t"}}));
    // The harness checks that it increases.
    busy.hear();
    busy.hear();
    busy.end(id);
    busy.close();
}

#[test]
fn a_request_without_a_token_gets_no_progress() {
    let tree = Tree::new();
    let mut busy = Busy::start(&tree);
    let silent: Vec<Value> =
        [json!({}), json!({"_meta": {"progressToken": null}}), json!({"_meta": {"progressToken": {}}})]
            .map(|params| busy.server.ask_modern("resources/list", params))
            .into();
    let id = busy.server.ask_modern("resources/list", json!({"_meta": {"progressToken": "t"}}));
    // All four report alike; by the third notification of this one, the others would have been seen.
    for _ in 0..3 {
        let (message, _) = busy.hear();
        assert_eq!(message["params"]["progressToken"], "t", "{message}");
    }
    busy.end(id);
    for id in silent {
        busy.end(id);
    }
    busy.close();
}

#[test]
fn tokens_distinguish_the_progress_of_concurrent_requests() {
    let tree = Tree::new();
    let mut busy = Busy::start(&tree);
    let ids =
        ["a", "b"].map(|token| busy.server.ask_modern("resources/list", json!({"_meta": {"progressToken": token}})));
    let mut wanted = vec!["a", "b"];
    while !wanted.is_empty() {
        let (message, _) = busy.hear();
        wanted.retain(|token| message["params"]["progressToken"] != *token);
    }
    for id in ids {
        busy.end(id);
    }
    busy.close();
}

#[test]
fn progress_has_a_message_since_2025_03_26() {
    let tree = Tree::new();
    for revision in LEGACY {
        let mut busy = Busy::start(&tree);
        busy.server = busy.server.legacy(revision);
        let id = busy.server.ask("resources/list", json!({"_meta": {"progressToken": 1}}));
        let (message, _) = busy.hear();
        let has_message = message["params"].get("message").is_some();
        assert_eq!(has_message, revision >= "2025-03-26", "{revision}: {message}");
        busy.end(id);
        busy.close();
    }
}

#[test]
fn a_cancelled_request_makes_no_more_progress() {
    let tree = Tree::new();
    let mut busy = Busy::start(&tree);
    let id = busy.server.ask_modern("resources/list", json!({"_meta": {"progressToken": "t"}}));
    busy.hear();
    busy.server.notify("notifications/cancelled", json!({"requestId": id}));
    // Its answer comes after everything sent before the server knew. From then on, only the other one reports.
    let sync = busy.server.ask_modern("tools/list", json!({}));
    loop {
        let message = busy.server.recv();
        if message["id"] == sync {
            break;
        }
        assert_eq!(message["params"]["progressToken"], "t", "{message}");
    }
    let id = busy.server.ask_modern("resources/list", json!({"_meta": {"progressToken": "other"}}));
    for _ in 0..3 {
        let (message, _) = busy.hear();
        assert_eq!(message["params"]["progressToken"], "other", "{message}");
    }
    busy.end(id);
    busy.close();
}
