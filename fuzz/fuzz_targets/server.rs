//! The whole server: whatever bytes arrive, every line it writes is JSON-RPC, every request gets one answer with its
//! id, nothing outside is revealed, and it ends when its input ends.
//!
//! An input is what a client writes.

#![no_main]

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mcp_fs::jsonrpc::message::{Id, Message, item, parse};
use mcp_fs::limits::WatchMode;
use mcp_fs::object::Object;
use mcp_fs::server::Server;
use mcp_fs::transport::stdio;
use mcp_fs_fuzz::{Scene, limits};
use serde_json::value::RawValue;
use serde_json::{Value, from_str};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

static SCENE: LazyLock<Scene> = LazyLock::new(Scene::furnished);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// Longer than the second that work has after the end of the input.
const PATIENCE: Duration = Duration::from_mins(1);

fuzz_target!(|input: &[u8]| {
    let mut output = Vec::new();
    let mut limits = limits();
    limits.watch.mode = WatchMode::Auto;
    let server = Arc::new(Server::new(SCENE.open(), limits));
    let serve = stdio::serve(server, input, &mut output, pending());
    let served = RUNTIME.block_on(async { timeout(PATIENCE, serve).await });
    served.expect("it goes on after the end of its input").expect("in-memory streams do not fail");
    let output = str::from_utf8(&output).expect("UTF-8");
    let input_text = String::from_utf8_lossy(input);
    SCENE.assert_nothing_outside(output, &input_text);
    let (mut owed, said) = (owed(input), said(output));
    for (id, answers) in said {
        let owed = owed.remove(&id).unwrap_or_default();
        assert!(answers <= owed.most, "{answers} answers for {id:?}: {output}");
        assert!(answers >= owed.least, "{answers} answers for {id:?}: {output}");
    }
    let missing: Vec<_> = owed.iter().filter(|(_, owed)| owed.least > 0).collect();
    assert!(missing.is_empty(), "no answer: {missing:?}, only {output}");
});

/// How many answers an id may get.
#[derive(Debug, Default)]
struct Owed {
    least: usize,
    most: usize,
}

/// The answers required by an input.
fn owed(input: &[u8]) -> HashMap<Id, Owed> {
    let mut owed: HashMap<Id, Owed> = HashMap::new();
    let can_cancel = input.windows(9).any(|bytes| bytes == b"cancelled") || input.contains(&b'\\');
    let mut note = |message: Message<'_>, is_sure: bool| match message {
        Message::Request(request) => {
            let owed = owed.entry(request.id).or_default();
            owed.least += usize::from(is_sure && !can_cancel);
            owed.most += 1;
        }
        Message::Malformed(Some(id), _) => owed.entry(id).or_default().most += 1,
        _ => {}
    };
    for line in input.split(|byte| *byte == b'\n').filter(|line| line.len() <= limits().line_bytes) {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        match parse(line) {
            Message::Batch(batch) => batch.items.iter().for_each(|raw| note(item(raw), false)),
            message => note(message, true),
        }
    }
    owed
}

/// How many answers each id got.
fn said(output: &str) -> HashMap<Id, usize> {
    let mut answers = HashMap::new();
    assert!(output.is_empty() || output.ends_with('\n'), "a line without its end");
    for line in output.lines() {
        let raw: &RawValue = from_str(line).expect("JSON");
        let items = from_str::<Vec<&RawValue>>(line).unwrap_or_else(|_| vec![raw]);
        assert!(!items.is_empty(), "an empty batch");
        for raw in items {
            let message = Object::parse(raw).expect("an object");
            assert_eq!(message.string("jsonrpc").as_deref(), Some("2.0"), "{line}");
            let parts = ["result", "error", "method"].into_iter().filter(|key| message.get(key).is_some());
            assert_eq!(parts.count(), 1, "{line}");
            let _: Value = from_str(raw.get()).expect("JSON that is not too deep");
            if let Some(id) = message.get("id").and_then(|id| Id::parse(id).ok()) {
                *answers.entry(id).or_default() += 1;
            }
        }
    }
    answers
}
