//! Changes while the server runs: who is notified of what, in which era's form, and how often.
//!
//! | module | holds |
//! | --- | --- |
//! | `updated` | what counts as a change of a file; each is reported once to each subscriber |
//! | `ways` | a file behind links, in directories that move; a directory; unusual names |
//! | `subscribe` | `resources/subscribe` and `unsubscribe`: what they reject, and how they end |
//! | `listen` | `subscriptions/listen`: what is acknowledged, and under which id |
//! | `order` | subscriptions begin and end in the order in which they were sent |
//! | `streams` | several streams: their own copies, their limits, their ends |
//! | `list` | when the list of resources counts as changed, and how often that is reported |
//! | `falling_back` | without inotify, with too few watches, switched off, without DIR |
//! | `watches` | what Linux is asked to watch, and that nothing of it is left behind |
//!
//! Real files change, and messages are awaited. That something is *not* reported is shown by what is reported next:
//! [`Live::nothing_else`] changes another file, about which nothing was said before.

mod falling_back;
mod list;
mod listen;
mod order;
mod streams;
mod subscribe;
mod updated;
#[cfg(target_os = "linux")]
pub(crate) mod watches;
#[cfg(unix)]
mod ways;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_fs::limits::Limits;
use serde_json::{Value, json};

use crate::support::client::{SUBSCRIPTION_ID, with_meta};
use crate::support::{Client, LATEST_LEGACY, Process, TIMEOUT, TestServer, Tree};

const SENTINEL: &str = "sentinel.txt";

/// A client that follows changes in a tree.
#[derive(Debug)]
pub(crate) struct Live<C: Client = TestServer> {
    // Before the tree, so that it ends before the tree is removed.
    pub(crate) client: C,
    pub(crate) tree: Tree,
}

impl Live {
    /// Serves a tree with some limits changed.
    pub(crate) fn with(tree: Tree, change: impl FnOnce(&mut Limits)) -> Self {
        let server = TestServer::builder(&tree).limits(change).start();
        Self::new(server, tree)
    }

    /// Serves a tree without any delays, for changes that are made in single steps.
    pub(crate) fn quick(tree: Tree) -> Self {
        Self::with(tree, quick)
    }

    /// The same, after the legacy handshake.
    pub(crate) fn legacy(tree: Tree) -> Self {
        let server = TestServer::builder(&tree).limits(quick).start().legacy(LATEST_LEGACY);
        Self::new(server, tree)
    }
}

impl Live<Process> {
    /// Runs the program on a tree.
    pub(crate) fn spawn<'a>(tree: Tree, args: impl IntoIterator<Item = &'a str>) -> Self {
        let mut command = crate::support::command(args);
        command.arg(tree.path());
        Self::new(Process::start(command), tree)
    }

    /// The same, after the legacy handshake.
    pub(crate) fn spawn_legacy(tree: Tree) -> Self {
        let process = Process::spawn([tree.path()]).legacy(LATEST_LEGACY);
        Self::new(process, tree)
    }

    /// Makes a change in several steps while the program is stopped, so that their duration does not matter: it sees
    /// all of them at once when it continues.
    #[cfg(unix)]
    pub(crate) fn in_one_moment(&self, change: impl FnOnce(&Tree)) {
        use rustix::process::Signal;
        self.client.signal(Signal::STOP);
        #[cfg(target_os = "linux")]
        until("it is stopped", || self.stat()[0] == "T");
        change(&self.tree);
        self.client.signal(Signal::CONT);
    }

    #[cfg(not(unix))]
    pub(crate) fn in_one_moment(&self, change: impl FnOnce(&Tree)) {
        change(&self.tree);
    }

    /// The fields of `/proc/PID/stat` from the state on.
    #[cfg(target_os = "linux")]
    pub(crate) fn stat(&self) -> Vec<String> {
        let stat = fs::read_to_string(self.client.proc("stat")).expect("/proc/PID/stat");
        let after_name = stat.rsplit_once(") ").expect("a name in brackets").1;
        after_name.split(' ').map(str::to_owned).collect()
    }
}

impl<C: Client> Live<C> {
    /// For a server of this tree. The file that [`Self::nothing_else`] needs must not be created later: the list would
    /// show it.
    pub(crate) fn new(client: C, tree: Tree) -> Self {
        fs::write(tree.join(SENTINEL), "").expect("a file");
        Self { client, tree }
    }

    /// Subscribes to a file or directory.
    pub(crate) fn subscribe(&mut self, path: impl AsRef<Path>) {
        let uri = self.tree.uri(path);
        let answer = self.client.request("resources/subscribe", json!({"uri": uri}));
        assert_eq!(answer["result"], json!({}), "{uri}: {answer}");
    }

    /// Opens a stream, and returns what is acknowledged.
    #[allow(clippy::needless_pass_by_value, reason = "called with json!")]
    pub(crate) fn listen(&mut self, id: impl Into<Value>, notifications: Value) -> Value {
        let id = id.into();
        self.client.send(listen(&id, notifications));
        let message = self.client.recv();
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
        assert_eq!(message["params"]["_meta"][SUBSCRIPTION_ID], id, "{message}");
        message["params"]["notifications"].clone()
    }

    /// Opens a stream on one file.
    pub(crate) fn listen_to(&mut self, id: impl Into<Value>, path: impl AsRef<Path>) {
        let wanted = json!({"resourceSubscriptions": [self.tree.uri(path)]});
        assert_eq!(self.listen(id, wanted.clone()), wanted);
    }

    /// Opens a stream on the list, lists, and waits until the server has looked as well: from here on, every change is
    /// reported once.
    pub(crate) fn listen_to_list(&mut self, id: impl Into<Value>) {
        let wanted = json!({"resourcesListChanged": true});
        assert_eq!(self.listen(id, wanted.clone()), wanted);
        self.client.modern("resources/list", json!({}));
        self.nothing_else();
    }

    /// Cancels a stream. Nothing more is sent on it once the server has read that.
    pub(crate) fn cancel(&mut self, id: impl Into<Value>) {
        self.client.notify("notifications/cancelled", json!({"requestId": id.into()}));
    }

    /// The next message in short form: the id of its stream if it has one, what it says, and the path.
    pub(crate) fn news(&mut self) -> String {
        let message = self.client.recv();
        self.in_short(&message)
    }

    /// `count` messages in short form, sorted, because streams may be notified in any order.
    pub(crate) fn all_news(&mut self, count: usize) -> Vec<String> {
        let mut news: Vec<String> = (0..count).map(|_| self.news()).collect();
        news.sort();
        news
    }

    /// Checks that nothing more is reported of what happened before.
    pub(crate) fn nothing_else(&mut self) {
        let watcher = "sentinel";
        self.listen_to(watcher, SENTINEL);
        // Twice: whatever became due together with the first is reported before the second.
        for _ in 0..2 {
            append(&self.tree, SENTINEL, "still here\n");
            assert_eq!(self.news(), format!("{watcher:?} updated {SENTINEL}"));
        }
        self.cancel(watcher);
        self.client.expect_silence();
    }

    fn in_short(&self, message: &Value) -> String {
        let method = message["method"].as_str().unwrap_or_else(|| panic!("news were expected: {message}"));
        let what = method.trim_start_matches("notifications/").trim_start_matches("resources/");
        let params = &message["params"];
        let stream = params["_meta"].get(SUBSCRIPTION_ID).map(|id| format!("{id} ")).unwrap_or_default();
        let root = self.tree.uri("");
        let path = params["uri"].as_str().map(|uri| uri.strip_prefix(&root).unwrap_or(uri).trim_start_matches('/'));
        let path = path.map(|path| format!(" {path}")).unwrap_or_default();
        format!("{stream}{what}{path}")
    }
}

/// Without delays. The list is reported as often as it changes.
pub(crate) fn quick(limits: &mut Limits) {
    limits.watch.settle = Duration::from_millis(10);
    limits.watch.poll = Duration::from_millis(50);
    limits.watch.list_pause = Duration::from_millis(1);
    limits.watch.list_longest_pause = Duration::from_millis(1);
}

/// The request that opens a stream.
#[allow(clippy::needless_pass_by_value, reason = "called with json!")]
pub(crate) fn listen(id: &Value, notifications: Value) -> Value {
    let params = with_meta(json!({"notifications": notifications}));
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
}

/// Appends to a file in one step.
pub(crate) fn append(tree: &Tree, path: &str, text: &str) {
    let file = fs::OpenOptions::new().append(true).open(tree.join(path));
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("it is written");
}

/// Waits for something that causes no event.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "{what}: not in {TIMEOUT:?}");
        std::thread::yield_now();
    }
}
