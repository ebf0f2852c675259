//! What a client does to the server in one visit, valid or not, and the expected result.

use std::fs;

use fastrand::Rng;
use serde_json::{Value, json};

use super::requests::{Request, get, initialize, modern, post, request};
use super::support::{Connection, HttpServer, TOKEN};
use crate::support::LATEST_LEGACY;

/// The revisions that have sessions over HTTP.
const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", LATEST_LEGACY];

type Visit = fn(&mut Visitor<'_>);

/// All kinds of visits, with their names in the summary.
pub(super) const VISITS: [(&str, Visit); 13] = [
    ("modern call", |visitor| visitor.call()),
    ("modern listen, cut", |visitor| visitor.listen()),
    ("search, cut", |visitor| visitor.search_cut()),
    ("blob", |visitor| visitor.blob()),
    ("blob, cut", |visitor| visitor.blob_cut()),
    ("session, ended", |visitor| visitor.session()),
    ("session, left", |visitor| visitor.session_left()),
    ("session's stream, cut", |visitor| visitor.stream()),
    ("session's search with progress", |visitor| visitor.progress()),
    ("wrong token", |visitor| visitor.wrong_token()),
    ("half a body", |visitor| visitor.half_body()),
    ("half a head", |visitor| visitor.half_head()),
    ("refused", |visitor| visitor.refused()),
];

/// One client.
pub(super) struct Visitor<'s> {
    server: &'s HttpServer,
    rng: Rng,
    /// A connection that stays open across its visits.
    kept: Connection,
    next: u64,
}

impl<'s> Visitor<'s> {
    pub(super) fn new(server: &'s HttpServer, rng: Rng) -> Self {
        Self { server, rng, kept: server.connect(), next: 1 }
    }

    /// Makes `times` visits, and returns their kinds.
    pub(super) fn visit_times(&mut self, times: usize) -> Vec<usize> {
        let kinds: Vec<usize> = (0..times).map(|_| self.rng.usize(..VISITS.len())).collect();
        for kind in &kinds {
            VISITS[*kind].1(self);
        }
        kinds
    }

    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    #[allow(clippy::needless_pass_by_value, reason = "called with json!")]
    fn tool(&mut self, name: &str, arguments: Value) -> Request {
        modern(self.id(), "tools/call", json!({"name": name, "arguments": arguments}))
    }

    fn call(&mut self) {
        let request = match self.rng.usize(..5) {
            0 => self.tool("read_text_file", json!({"path": "a.txt"})),
            1 => self.tool("list_directory", json!({"path": "."})),
            2 => self.tool("search_text", json!({"query": "two", "limit": 3})),
            3 => modern(self.id(), "resources/list", json!({})),
            _ => modern(self.id(), "server/discover", json!({})),
        };
        self.kept.send(&request);
        let reply = self.kept.reply();
        assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(self.next)), "{reply:?}");
    }

    fn listen(&mut self) {
        let wanted =
            json!({"resourcesListChanged": true, "resourceSubscriptions": [self.server.tree.uri("touched.txt")]});
        let mut connection = self.server.connect();
        connection.send(&modern(self.id(), "subscriptions/listen", json!({"notifications": wanted})));
        assert_eq!(connection.head().status, 200);
        let first = connection.event().expect("an acknowledgement");
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        self.touch();
    }

    /// A change that is reported to others of the same kind.
    fn touch(&mut self) {
        if self.rng.bool() {
            fs::write(self.server.tree.join("touched.txt"), self.rng.u64(..).to_string()).expect("it is written");
        }
    }

    fn search_cut(&mut self) {
        let mut connection = self.server.connect();
        let request = self.tool("search_text", json!({"query": "(o|t)+w[a-z]*$", "regex": true}));
        connection.send(&request);
    }

    fn blob_request(&mut self) -> Request {
        modern(self.id(), "resources/read", json!({"uri": self.server.tree.uri("big.bin")}))
    }

    fn blob(&mut self) {
        let request = self.blob_request();
        self.kept.send(&request);
        let reply = self.kept.reply();
        // As many at once as there is memory for.
        assert!(reply.status == 200 && reply.body.len() > 4_000_000 || reply.status == 503, "{}", reply.status);
    }

    fn blob_cut(&mut self) {
        let mut connection = self.server.connect();
        connection.send(&self.blob_request());
        if self.rng.bool() {
            connection.head();
        }
    }

    fn begin(&mut self) -> String {
        let revision = REVISIONS[self.rng.usize(..REVISIONS.len())];
        self.server.session(revision)
    }

    fn session(&mut self) {
        let session = self.begin();
        let list = post(&request(self.id(), "tools/list", json!({}))).session(&session);
        assert_eq!(self.server.ask(&list).status, 200);
        assert_eq!(self.server.ask(&Request::new("DELETE", "/mcp").session(&session)).status, 204);
        assert_eq!(self.server.ask(&list).status, 404);
    }

    fn session_left(&mut self) {
        self.kept.send(&initialize(LATEST_LEGACY));
        let reply = self.kept.reply();
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(reply.header("mcp-session-id").is_some());
    }

    fn stream(&mut self) {
        let session = self.begin();
        let uri = self.server.tree.uri("touched.txt");
        let subscribe = post(&request(self.id(), "resources/subscribe", json!({"uri": uri}))).session(&session);
        assert_eq!(self.server.ask(&subscribe).status, 200);
        let mut stream = self.server.connect();
        stream.send(&get(&session));
        assert_eq!(stream.head().status, 200);
        self.touch();
        if self.rng.bool() {
            fs::write(self.server.tree.join("touched.txt"), self.rng.u64(..).to_string()).expect("it is written");
            let told = stream.event().expect("a notification");
            assert_eq!(told["method"], "notifications/resources/updated");
        }
    }

    fn progress(&mut self) {
        let session = self.begin();
        let params = json!({
            "name": "search_text", "arguments": {"query": "two", "limit": 5}, "_meta": {"progressToken": 1},
        });
        let reply = self.server.ask(&post(&request(self.id(), "tools/call", params)).session(&session));
        assert_eq!(reply.status, 200, "{reply:?}");
        let last = if reply.is_stream() { reply.events().pop().expect("an answer") } else { reply.json() };
        assert_eq!(last["id"], self.next, "{last}");
    }

    fn wrong_token(&mut self) {
        let list = modern(self.id(), "tools/list", json!({}));
        let wrong = match self.rng.usize(..3) {
            0 => list.without("Authorization"),
            1 => list.header("Authorization", "Bearer not-the-token-of-the-tests"),
            _ => list.header("Authorization", format!("Basic {TOKEN}")),
        };
        assert_eq!(self.server.ask(&wrong).status, 401);
    }

    fn half_body(&mut self) {
        let head = self.tool("read_text_file", json!({"path": "a.txt"})).head();
        let length = 1 + self.rng.usize(..4_000_000);
        let mut connection = self.server.connect();
        connection.write([&head[..], format!("Content-Length: {length}\r\n\r\n").as_bytes()].concat());
        connection.write(vec![b' '; length / 2]);
    }

    fn half_head(&mut self) {
        let head = self.tool("read_text_file", json!({"path": "a.txt"})).head();
        self.server.connect().write(&head[..self.rng.usize(..head.len())]);
    }

    fn refused(&mut self) {
        let list = modern(self.id(), "tools/list", json!({}));
        let (status, request) = match self.rng.usize(..9) {
            0 => (403, list.header("Host", "evil.example")),
            1 => (403, list.header("Origin", "http://evil.example")),
            2 => (415, list.header("Content-Type", "text/plain")),
            3 => (406, list.header("Accept", "text/html")),
            4 => (400, list.header("Mcp-Method", "tools/call")),
            5 => (404, Request::new("GET", "/other")),
            6 => (404, get("no-such-session")),
            7 => (405, Request::new("PUT", "/mcp")),
            _ => (400, list.body("{\"jsonrpc\":")),
        };
        let reply = self.server.ask(&request);
        assert_eq!(reply.status, status, "{reply:?}");
    }
}
