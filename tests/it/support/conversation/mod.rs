//! The conversation so far, and the rules for everything that a server sends.
//!
//! Whatever a test is about, each line must follow these rules. There is one message per line, in UTF-8. It is valid by
//! the schema of its revision. A response answers an open request, once. A modern result says that it is complete, and
//! names the server; a legacy one has no modern member. Progress increases, and ends before the answer. A listen stream
//! begins with its acknowledgement. The legacy era gets no notifications before `notifications/initialized`. And
//! nothing outside the served directory ever appears. At the end, every request has been answered, unless cancelled.

mod laws;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

/// The revisions with `initialize`.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LATEST_LEGACY];
/// What a server chooses if it does not know the requested revision.
pub(crate) const LATEST_LEGACY: &str = "2025-11-25";
/// The revision without `initialize`.
pub(crate) const MODERN: &str = "2026-07-28";

const META_KEYS: [&str; 3] = ["protocolVersion", "clientInfo", "clientCapabilities"];
const META_PREFIX: &str = "io.modelcontextprotocol/";
/// The id of a longer line is not read: `Limits::line_bytes`.
const LINE_BYTES: usize = 32 << 20;
/// How many of the last lines a failed test prints.
const SHOWN: usize = 30;

/// The conversation, as far as it is needed to judge what follows.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    log: VecDeque<String>,
    /// How many lines preceded those.
    forgotten: usize,
    /// The beginning of a line whose end has not been sent yet.
    begun: Vec<u8>,
    /// The legacy revision that the client requested, if it is one, and the one that was negotiated.
    requested: Option<String>,
    negotiated: Option<String>,
    initialized: bool,
    open: Vec<RequestedPath>,
}

/// An unanswered request.
#[derive(Debug)]
struct RequestedPath {
    id: String,
    method: String,
    modern: bool,
    /// It may stay unanswered, because it was cancelled.
    excused: bool,
    progress_token: Option<String>,
    progress: f64,
    acknowledged: bool,
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The client's side.
impl Conversation {
    /// Records what is sent: any number of lines, or part of one.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            self.sent_line(&line);
        }
    }

    /// Records that nothing more is sent, which also ends a partial line.
    pub(crate) fn sent_end(&mut self) {
        let line = std::mem::take(&mut self.begun);
        self.sent_line(&line);
    }

    /// Allows a request to stay unanswered.
    pub(crate) fn excuse(&mut self, id: &Value) {
        let id = id.to_string();
        self.open.iter_mut().filter(|asked| asked.id == id).for_each(|asked| asked.excused = true);
    }

    /// The negotiated legacy revision.
    pub(crate) fn negotiated(&self) -> Option<&str> {
        self.negotiated.as_deref()
    }

    /// How many requests wait for their answer, without streams that have begun and cancelled requests.
    pub(crate) fn owed(&self) -> usize {
        self.open.iter().filter(|asked| !asked.excused && !asked.acknowledged).count()
    }

    /// Cancelled requests are not answered any more: for use once everything before has been answered.
    pub(crate) fn forget_excused(&mut self) {
        self.open.retain(|asked| !asked.excused);
    }

    /// Fails if a request is unanswered. To be called after the server has ended.
    pub(crate) fn check_all_answered(&self) {
        let open: Vec<_> = self.open.iter().filter(|asked| !asked.excused).collect();
        assert!(open.is_empty(), "never answered: {open:?}\n{self}");
    }

    fn sent_line(&mut self, line: &[u8]) {
        self.note("->", line);
        let Ok(text) = str::from_utf8(line) else { return };
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.len() > LINE_BYTES {
            return;
        }
        if !text.starts_with('[') {
            self.ask(text);
        } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
            && self.takes_batches()
            && items.len() <= 100
        {
            for item in items {
                self.ask(item.get());
            }
        }
    }

    fn ask(&mut self, text: &str) {
        let Ok(message) = serde_json::from_str::<Members<'_>>(text) else { return };
        let params = message.get("params").and_then(|raw| members(raw)).unwrap_or_default();
        let meta = params.get("_meta").and_then(|raw| members(raw)).unwrap_or_default();
        let method = message.get("method").and_then(|raw| string(raw));
        let Some(id) = message.get("id") else {
            match method.as_deref() {
                Some("notifications/initialized") => self.initialized = true,
                Some("notifications/cancelled") => {
                    let id = params.get("requestId").and_then(|raw| id_key(raw));
                    self.open.iter_mut().filter(|asked| Some(&asked.id) == id.as_ref()).for_each(|a| a.excused = true);
                }
                _ => {}
            }
            return;
        };
        let Some(id) = id_key(id).filter(|_| method.is_some() || !message.keys().any(is_answer)) else { return };
        let method = method.unwrap_or_default();
        if method == "initialize" {
            let version = params.get("protocolVersion").and_then(|raw| string(raw));
            self.requested = version.filter(|version| LEGACY.contains(&version.as_str()));
        }
        self.open.push(RequestedPath {
            id,
            modern: method != "initialize" && META_KEYS.iter().any(|k| meta.contains_key(&[META_PREFIX, k].concat())),
            method,
            excused: false,
            progress_token: meta.get("progressToken").and_then(|raw| value(raw)),
            progress: -1.0,
            acknowledged: false,
        });
    }

    fn takes_batches(&self) -> bool {
        self.negotiated.as_ref().or(self.requested.as_ref()).is_some_and(|revision| revision.as_str() <= "2025-03-26")
    }
}

impl Conversation {
    fn note(&mut self, direction: &str, line: &[u8]) {
        let text: String = String::from_utf8_lossy(line).trim_end().chars().take(500).collect();
        self.log.push_back(format!("{direction} {text}"));
        if self.log.len() > SHOWN {
            self.log.pop_front();
            self.forgotten += 1;
        }
    }
}

/// The last lines of the conversation.
impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "---- said before ({} earlier lines left out) ----", self.forgotten)?;
        self.log.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// A failing test prints the conversation.
impl Drop for Conversation {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{self}");
        }
    }
}

fn is_answer(key: impl AsRef<str>) -> bool {
    matches!(key.as_ref(), "result" | "error")
}

fn members(raw: &RawValue) -> Option<Members<'_>> {
    serde_json::from_str(raw.get()).ok()
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// An id in a comparable form: numbers as they are written, so that large ones stay exact. `None` if it is longer than
/// the server accepts.
fn id_key(raw: &RawValue) -> Option<String> {
    if raw.get().len() > 1_024 {
        return None;
    }
    match raw.get().as_bytes().first()? {
        b'"' => string(raw).map(|text| Value::String(text).to_string()),
        b'-' | b'0'..=b'9' if !raw.get().contains(['.', 'e', 'E']) => Some(raw.get().to_owned()),
        _ => None,
    }
}

/// A token in a comparable form.
fn value(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<Value>(raw.get()).ok().map(|value| value.to_string())
}
