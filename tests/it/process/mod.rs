//! What only the real program shows: its standard streams as what they are, how it ends, and its log. This covers what
//! [`crate::support::Process`] does not: streams that are not pipes, and other users.

mod end;
#[cfg(target_os = "linux")]
mod linux;
mod log;
mod streams;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(unix)]
pub(crate) mod users;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use crate::support::conversation::Conversation;
use crate::support::process::without_notice;
use crate::support::{TIMEOUT, Tree, command};

/// The program with all three streams null, for the test to replace.
fn silent(tree: &Tree) -> Command {
    let mut command = command([tree.path()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits for the end of a program whose streams nobody else uses.
pub(crate) fn output(child: Child) -> Output {
    let pid = child.id();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = told.recv_timeout(TIMEOUT) else {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        panic!("the program did not end in {TIMEOUT:?}");
    };
    let output = output.expect("its output");
    Output { stderr: without_notice(output.stderr), ..output }
}

/// Reads a whole file or pipe within [`TIMEOUT`].
#[cfg(unix)]
fn read_all(mut from: impl std::io::Read + Send + 'static) -> Vec<u8> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        tell.send(bytes)
    });
    told.recv_timeout(TIMEOUT).expect("it does not end")
}

/// Checks the output against the usual rules, and returns the messages.
fn judge(input: &str, output: &[u8]) -> Vec<Value> {
    let mut conversation = Conversation::default();
    conversation.sent(input.as_bytes());
    conversation.sent_end();
    let messages = output.split_inclusive(|byte| *byte == b'\n').map(|line| conversation.received(line)).collect();
    conversation.check_all_answered();
    messages
}

/// `count` modern reads of a file in the tree, one per line.
fn reads(tree: &Tree, path: impl AsRef<Path>, count: usize) -> String {
    let params = crate::support::client::with_meta(json!({"uri": tree.uri(path)}));
    let line = |id| json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params}).to_string();
    (0..count).map(|id| line(id) + "\n").collect()
}

/// The legacy handshake, followed by pings with ids from 1.
fn pings(count: usize) -> String {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    std::iter::once(hello).chain((1..=count).map(ping)).map(|message| message.to_string() + "\n").collect()
}
