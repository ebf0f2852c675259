//! The rules themselves, applied to each line of the server in order.

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::schema;
use super::super::tree::{SECRET_MARKER, SECRET_MARKER_BASE64};
use super::{Conversation, LATEST_LEGACY, LEGACY, MODERN, Members, RequestedPath, id_key, is_answer};

type Verdict = Result<(), String>;

impl Conversation {
    /// Parses a line, and fails the test if it breaks a rule.
    pub(crate) fn received(&mut self, line: &[u8]) -> Value {
        self.note("<-", line);
        self.judge_line(line).unwrap_or_else(|why| panic!("{why}\n  in {}", String::from_utf8_lossy(line)))
    }

    fn judge_line(&mut self, line: &[u8]) -> Result<Value, String> {
        let text = str::from_utf8(line).map_err(|error| error.to_string())?;
        let text = text.strip_suffix('\n').ok_or("a line without its end")?;
        for secret in [SECRET_MARKER, SECRET_MARKER_BASE64] {
            require(!text.contains(secret), "it holds what lies outside the served directory")?;
        }
        if text.starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            require(self.takes_batches(), "a batch, in a revision without batches")?;
            require(!items.is_empty(), "an empty batch")?;
            return items.iter().map(|item| self.judge(item.get())).collect();
        }
        self.judge(text)
    }

    fn judge(&mut self, text: &str) -> Result<Value, String> {
        let message: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let raw: Members<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        require(message["jsonrpc"] == "2.0", "not JSON-RPC 2.0")?;
        let answers = raw.keys().filter(|key| is_answer(key)).count();
        match (raw.get("method"), raw.get("id")) {
            (Some(_), Some(_)) => Err("the server asks nothing".to_owned()),
            (Some(_), None) => self.judge_notification(&message),
            (None, _) if answers != 1 => Err("not exactly one of result and error".to_owned()),
            (None, Some(id)) if id.get() != "null" => self.judge_response(id, &message),
            (None, id) => self.judge_without_id(id.is_some(), &message),
        }?;
        Ok(message)
    }

    fn judge_response(&mut self, id: &RawValue, message: &Value) -> Verdict {
        let id = id_key(id).ok_or("an id that is neither a string nor an integer")?;
        let asked = self.answered(&id, &message["error"]["code"])?;
        if asked.method == "initialize"
            && let Some(version) = message["result"]["protocolVersion"].as_str()
        {
            require(LEGACY.contains(&version), "initialize agrees on a legacy revision")?;
            self.negotiated = Some(version.to_owned());
        }
        let revision = if asked.modern { MODERN } else { self.negotiated().unwrap_or(LATEST_LEGACY) };
        let Some(result) = message.get("result") else {
            require(
                !asked.modern || ![-32002, -32042].map(Value::from).contains(&message["error"]["code"]),
                "a legacy code",
            )?;
            return schema::check(revision, schema::error_definition(revision), message);
        };
        schema::check(revision, schema::response_definition(revision), message)?;
        schema::check(revision, schema::result_definition(&asked.method), result)?;
        if asked.modern {
            require(result["resultType"] == "complete", "a modern result that is not complete")?;
            let info = result["_meta"].get("io.modelcontextprotocol/serverInfo");
            require(info.is_some(), "a modern result that does not name the server")
        } else {
            let modern = ["resultType", "ttlMs", "cacheScope"].iter().find(|key| result.get(key).is_some());
            require(modern.is_none(), &format!("{modern:?} in a legacy result"))
        }
    }

    /// Takes out the request that is answered: of several with the same id, the last one if the duplicate is rejected.
    fn answered(&mut self, id: &str, code: &Value) -> Result<RequestedPath, String> {
        let mut same = self.open.iter().enumerate().filter(|(_, asked)| asked.id == id);
        let at =
            if *code == -32600 { same.next_back() } else { same.clone().find(|(_, a)| !a.excused).or(same.next()) };
        let (at, _) = at.ok_or_else(|| format!("no request {id} is open: never asked, or answered before"))?;
        Ok(self.open.remove(at))
    }

    /// The open stream of this id. A cancelled stream may still send messages, until its id is reused.
    fn stream(&mut self, id: &str) -> Option<&mut RequestedPath> {
        let mut streams: Vec<&mut RequestedPath> =
            self.open.iter_mut().filter(|asked| asked.id == id && asked.method == "subscriptions/listen").collect();
        let at = streams.iter().position(|asked| !asked.excused).unwrap_or_default();
        (at < streams.len()).then(|| streams.swap_remove(at))
    }

    /// An error for a message without a readable id. JSON-RPC 2.0 requires `id: null` there, and so, implicitly, do the
    /// revisions up to 2025-06-18; the later ones require that it is absent.
    fn judge_without_id(&self, null: bool, message: &Value) -> Verdict {
        require(message.get("error").is_some(), "a result without an id")?;
        let wants_null = |revision: &Option<String>| revision.as_ref().is_some_and(|r| r.as_str() <= "2025-06-18");
        let right = match &self.negotiated {
            None if wants_null(&self.requested) => true,
            negotiated => null == wants_null(negotiated),
        };
        require(right, &format!("id: null: {null}, while {:?} is negotiated", self.negotiated))?;
        if null {
            let error = &message["error"];
            return require(error["code"].is_i64() && error["message"].is_string(), "no error object");
        }
        schema::check(LATEST_LEGACY, schema::error_definition(LATEST_LEGACY), message)
    }

    fn judge_notification(&mut self, message: &Value) -> Verdict {
        let method = message["method"].as_str().unwrap_or_default();
        let definition = schema::notification_definition(method).ok_or("a notification that is never sent")?;
        let params = &message["params"];
        let legacy = self.negotiated.clone().unwrap_or_else(|| LATEST_LEGACY.to_owned());
        let stream = params["_meta"].get("io.modelcontextprotocol/subscriptionId");
        let mut revision = legacy.as_str();
        if method == "notifications/progress" {
            let token = params["progressToken"].to_string();
            let asked = self.open.iter_mut().find(|asked| asked.progress_token.as_ref() == Some(&token));
            let asked = asked.ok_or("progress of nothing that goes on")?;
            let progress = params["progress"].as_f64().unwrap_or(-1.0);
            require(progress > asked.progress, "progress that does not grow")?;
            asked.progress = progress;
            revision = if asked.modern { MODERN } else { revision };
        } else if let Some(stream) = stream {
            let id = stream.to_string();
            let asked = self.stream(&id).ok_or("it belongs to no open stream")?;
            let acknowledges = method == "notifications/subscriptions/acknowledged";
            require(acknowledges != asked.acknowledged, "a stream begins with its one acknowledgement")?;
            asked.acknowledged = true;
            revision = MODERN;
        } else {
            require(self.negotiated.is_some() && self.initialized, "it comes before notifications/initialized")?;
        }
        schema::check(revision, definition, message)
    }
}

fn require(holds: bool, otherwise: &str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const INITIALIZE: &str =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    /// Sends `sent`, receives `heard`, and returns what is wrong with the last line.
    fn verdict(sent: &[&str], heard: &[Value]) -> Result<(), String> {
        let mut conversation = Conversation::default();
        for line in sent {
            conversation.sent(format!("{line}\n").as_bytes());
        }
        let mut verdict = Ok(());
        for message in heard {
            verdict?;
            verdict = conversation.judge_line(format!("{message}\n").as_bytes()).map(|_| ());
        }
        verdict
    }

    #[test]
    fn an_answer_needs_an_open_request() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let pong = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        verdict(&[ping], std::slice::from_ref(&pong)).unwrap();
        verdict(&[ping], &[pong.clone(), pong.clone()]).unwrap_err();
        verdict(&[ping, ping], &[pong.clone(), pong.clone()]).unwrap();
        verdict(&[], &[pong]).unwrap_err();
        verdict(&[ping], &[json!({"jsonrpc": "2.0", "id": "1", "result": {}})]).unwrap_err();
        verdict(&[ping], &[json!({"jsonrpc": "2.0", "id": 1})]).unwrap_err();
        verdict(&[ping], &[json!({"jsonrpc": "2.0", "id": 1, "result": {"ttlMs": 0}})]).unwrap_err();
        verdict(&[ping], &[json!({"jsonrpc": "2.0", "id": 1, "result": {"x": SECRET_MARKER}})]).unwrap_err();
    }

    #[test]
    fn null_ids_and_batches_belong_to_the_old_revisions() {
        let error = json!({"code": -32700, "message": "?"});
        let null = json!({"jsonrpc": "2.0", "id": null, "error": error});
        let absent = json!({"jsonrpc": "2.0", "error": error});
        verdict(&["{"], std::slice::from_ref(&absent)).unwrap();
        verdict(&["{"], std::slice::from_ref(&null)).unwrap_err();
        let info = json!({"name": "", "version": ""});
        let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": info});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "result": hello});
        verdict(&[INITIALIZE, "{"], &[hello.clone(), null]).unwrap();
        verdict(&[INITIALIZE, "{"], &[hello.clone(), absent]).unwrap_err();
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#;
        verdict(&[INITIALIZE, batch], &[hello.clone(), json!([{"jsonrpc": "2.0", "id": 1, "result": {}}])]).unwrap();
        verdict(&[INITIALIZE, batch], &[hello, json!([])]).unwrap_err();
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        verdict(&[ping], &[json!([{"jsonrpc": "2.0", "id": 1, "result": {}}])]).unwrap_err();
    }

    #[test]
    fn a_stream_begins_with_its_acknowledgement() {
        let meta = json!({"io.modelcontextprotocol/subscriptionId": "s"});
        let acknowledged = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": meta, "notifications": {}}});
        let changed =
            json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": {"_meta": meta}});
        verdict(&[LISTEN], &[acknowledged.clone(), changed.clone()]).unwrap();
        verdict(&[LISTEN], std::slice::from_ref(&changed)).unwrap_err();
        verdict(&[LISTEN], &[acknowledged.clone(), acknowledged.clone()]).unwrap_err();
        verdict(&[], &[acknowledged]).unwrap_err();
        verdict(&[], &[json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})]).unwrap_err();
    }

    #[test]
    fn a_modern_answer_is_complete() {
        let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "x", "version": "1"}});
        let answer = |result: Value| [json!({"jsonrpc": "2.0", "id": "s", "result": result})];
        let call = LISTEN.replace("subscriptions/listen", "tools/call");
        verdict(&[&call], &answer(json!({"content": [], "resultType": "complete", "_meta": info}))).unwrap();
        verdict(&[&call], &answer(json!({"content": [], "resultType": "complete"}))).unwrap_err();
        verdict(&[&call], &answer(json!({"content": [], "_meta": info}))).unwrap_err();
        let error = json!({"code": -32002, "message": "?"});
        verdict(&[&call], &[json!({"jsonrpc": "2.0", "id": "s", "error": error})]).unwrap_err();
    }

    #[test]
    fn progress_grows_while_its_request_is_open() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":"t"}}}"#;
        let progress = |n: u32| {
            let params = json!({"progressToken": "t", "progress": n});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        };
        let pong = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        verdict(&[call], &[progress(1), progress(2), pong.clone()]).unwrap();
        verdict(&[call], &[progress(2), progress(2)]).unwrap_err();
        verdict(&[call], &[pong, progress(1)]).unwrap_err();
    }
}
