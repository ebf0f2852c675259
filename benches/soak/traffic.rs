//! What is sent, piece by piece, generated from a seed.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::expect::Expect;
use crate::support::client::with_meta;
use crate::tree::Served;

/// How many requests are remembered, of which one may be cancelled or its id reused.
const REMEMBERED: usize = 50;
/// How many subscriptions and streams are open at once. The server's own limits for more are tested elsewhere.
const FOLLOWED: usize = 20;

/// Lines to send, and the answers that they require.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// The expected answers to requests, by id.
    pub(crate) expected: Vec<(Value, Expect)>,
    /// How many errors without an id are due, because the message has no readable one.
    pub(crate) nameless: usize,
    /// The line is too long to be read.
    pub(crate) is_refused_unread: bool,
    /// The request that it cancels.
    pub(crate) cancels: Option<Value>,
}

impl Piece {
    pub(crate) fn line(bytes: impl Into<Vec<u8>>) -> Self {
        let mut bytes = bytes.into();
        bytes.push(b'\n');
        Self { bytes, ..Self::default() }
    }

    /// A piece that requires one error without an id.
    pub(crate) fn broken(bytes: impl Into<Vec<u8>>) -> Self {
        Self { nameless: 1, ..Self::line(bytes) }
    }
}

/// A source of traffic.
#[derive(Debug)]
pub(crate) struct Traffic<'a> {
    pub(crate) rng: Rng,
    pub(crate) served: &'a Served,
    pub(crate) writable: bool,
    pub(crate) has_batches: bool,
    asked: u64,
    recent: Vec<(Value, Vec<u8>)>,
    /// Open streams, by the ids of their requests, and subscribed URIs.
    streams: Vec<Value>,
    subscribed: Vec<Value>,
}

impl<'a> Traffic<'a> {
    pub(crate) fn new(seed: u64, served: &'a Served, writable: bool, has_batches: bool) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            served,
            writable,
            has_batches,
            asked: 0,
            recent: Vec::new(),
            streams: Vec::new(),
            subscribed: Vec::new(),
        }
    }

    /// The next piece.
    pub(crate) fn next(&mut self) -> Piece {
        match self.rng.u32(0..1000) {
            0..560 => self.good_call(),
            560..620 => self.odd_call(),
            620..720 => self.method(),
            720..790 => self.cancel(),
            790..810 => self.same_id(),
            810..850 => self.follow(),
            850..880 => self.batch(),
            880..885 => self.huge(),
            _ => self.noise(),
        }
    }

    /// A valid call, in either era.
    fn good_call(&mut self) -> Piece {
        let (method, params, expect) = self.call();
        self.request(method, params, expect)
    }

    /// A request in either era, perhaps with a progress token.
    pub(crate) fn request(&mut self, method: &str, params: Value, expect: Expect) -> Piece {
        let is_modern = self.rng.bool();
        self.request_in(is_modern, method, params, expect)
    }

    pub(crate) fn request_in(&mut self, is_modern: bool, method: &str, mut params: Value, expect: Expect) -> Piece {
        if is_modern {
            params = with_meta(params);
        }
        let id = self.new_id();
        if self.rng.u32(0..5) == 0 {
            params["_meta"]["progressToken"] = if self.rng.bool() { id.clone() } else { json!(format!("token {id}")) };
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let piece = Piece { expected: vec![(id.clone(), expect)], ..Piece::line(message.to_string()) };
        self.recent.push((id, piece.bytes.clone()));
        if self.recent.len() > REMEMBERED {
            self.recent.remove(0);
        }
        piece
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(0..of.len())].clone()
    }

    pub(crate) fn new_id(&mut self) -> Value {
        self.asked += 1;
        match self.rng.u32(0..4) {
            0 => json!(format!("id {} \"é\"", self.asked)),
            1 => json!(-(self.asked.cast_signed())),
            _ => json!(self.asked),
        }
    }

    /// The last request must not be cancelled, nor its id reused.
    pub(crate) fn forget_last(&mut self) {
        self.recent.pop();
    }

    /// Cancels a request, which may be done or not.
    fn cancel(&mut self) -> Piece {
        match self.recent.len() {
            0 => Piece::default(),
            most => {
                // Recent ones more often, because they are not answered yet.
                let back = self.rng.usize(0..most).min(self.rng.usize(0..most));
                let (id, _) = self.recent.remove(most - 1 - back);
                cancelled(id)
            }
        }
    }

    /// Reuses the id of a request that may be done or not. The request is the same as well: the answer to the first may
    /// be on its way and be overtaken, and the two could not be told apart.
    fn same_id(&mut self) -> Piece {
        let Some((id, bytes)) = self.recent.last().cloned() else { return Piece::default() };
        Piece { expected: vec![(id, Expect::Any)], bytes, ..Piece::default() }
    }

    /// Begins or ends a subscription or a stream.
    fn follow(&mut self) -> Piece {
        let changing = ["mine", "mine/f1.txt", "mine/f2.txt", "log/l1.txt", "churn/a/x1", "churn/swap", "churn"];
        let changing = json!(self.served.tree.uri(self.pick(&changing)));
        let uri = if self.rng.bool() { changing } else { self.any_uri() };
        match self.rng.u32(0..6) {
            0 | 1 if self.streams.len() < FOLLOWED => {
                let list = self.rng.bool();
                let params = json!({"notifications": {"resourcesListChanged": list, "resourceSubscriptions": [uri]}});
                let piece = self.request_in(true, "subscriptions/listen", params, Expect::Any);
                self.streams.extend(self.recent.pop().map(|(id, _)| id));
                piece
            }
            2 | 3 if self.subscribed.len() < FOLLOWED => {
                self.subscribed.push(uri.clone());
                self.request_in(false, "resources/subscribe", json!({"uri": uri}), Expect::Any)
            }
            4 if !self.streams.is_empty() => self.end_stream(),
            5 if !self.subscribed.is_empty() => self.unsubscribe(),
            _ => Piece::default(),
        }
    }

    /// Ends what is followed, one at a time, until nothing is left.
    pub(crate) fn unfollow(&mut self) -> Option<Piece> {
        match (self.streams.is_empty(), self.subscribed.is_empty()) {
            (false, _) => Some(self.end_stream()),
            (true, false) => Some(self.unsubscribe()),
            (true, true) => None,
        }
    }

    fn end_stream(&mut self) -> Piece {
        let at = self.rng.usize(0..self.streams.len());
        cancelled(self.streams.remove(at))
    }

    fn unsubscribe(&mut self) -> Piece {
        let at = self.rng.usize(0..self.subscribed.len());
        let uri = self.subscribed.remove(at);
        self.request_in(false, "resources/unsubscribe", json!({"uri": uri}), Expect::Any)
    }

    /// Several messages on one line; occasionally one message too many.
    fn batch(&mut self) -> Piece {
        let most = if self.rng.u32(0..20) == 0 { 120 } else { 12 };
        let mut batch = Piece::default();
        let mut items = 0;
        let text: Vec<String> = (0..self.rng.usize(0..most))
            .map(|_| {
                items += 1;
                if self.rng.u32(0..5) == 0 {
                    return json!({"jsonrpc": "2.0", "method": "notifications/none"}).to_string();
                }
                let piece = if self.rng.u32(0..5) == 0 { self.odd_call() } else { self.good_call() };
                self.forget_last();
                // Together they may be too much for one line.
                batch.expected.extend(piece.expected.into_iter().map(|(id, _)| (id, Expect::Any)));
                String::from_utf8(piece.bytes).expect("text").trim_end().to_owned()
            })
            .collect();
        batch.bytes = format!("[{}]\n", text.join(",")).into_bytes();
        if !self.has_batches || items == 0 || items > 100 {
            (batch.nameless, batch.expected) = (1, Vec::new());
        }
        batch
    }
}

fn cancelled(id: Value) -> Piece {
    let params = json!({"requestId": id, "reason": "a soak"});
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    Piece { cancels: Some(id), ..Piece::line(message.to_string()) }
}
