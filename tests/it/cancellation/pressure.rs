//! Clients that send without reading: everything is bounded, and nothing is lost.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_fs::call::{Contents, Data, Outcome};
use mcp_fs::limits::Limits;
use mcp_fs::root::{Deny, Root};
use mcp_fs::server::Server;
use mcp_fs::transport::stdio;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::time::timeout;

use super::work;
use crate::support::conversation::Conversation;
use crate::support::{Client as _, Gate, LATEST_LEGACY, TIMEOUT, TestServer, Tree};

/// The capacity of the streams in each direction.
const BUFFER: usize = 4 << 10;
/// What may be read before it is handled: the server's read-ahead, and the streams.
const ON_THE_WAY: usize = (80 << 10) + 2 * BUFFER;

fn server(tree: &Tree, gate: &Gate, change: impl FnOnce(&mut Limits)) -> Server {
    let mut limits = Limits::default();
    change(&mut limits);
    let root = Root::open(tree.path(), Deny::new(&[], true).expect("no patterns")).expect("a root");
    let gate = gate.clone();
    Server::new(root, limits).with_dispatch(move |call, context| work(call, context, &gate))
}

/// Writes until the server, whose answers nobody reads, accepts no more. Returns how many bytes it accepted. The test
/// and the server alternate on one thread, so "no more" needs no waiting: the server had a thousand turns.
async fn write_until_stuck(input: &mut DuplexStream, bytes: &[u8]) -> usize {
    let (mut taken, mut refused) = (0, 0);
    while taken < bytes.len() && refused < 1_000 {
        let write = |cx: &mut Context<'_>| Poll::Ready(Pin::new(&mut *input).poll_write(cx, &bytes[taken..]));
        match std::future::poll_fn(write).await {
            Poll::Ready(written) => {
                taken += written.expect("the server goes on");
                refused = 0;
            }
            Poll::Pending => {
                refused += 1;
                tokio::task::yield_now().await;
            }
        }
    }
    taken
}

/// Sends `lines` to a server without reading until it accepts no more. Then calls `go_on`, sends the rest, and reads:
/// each request must be answered. Returns how many bytes the server accepted before.
fn flood(server: Server, lines: &[Value], go_on: impl FnOnce()) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let bytes: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let mut conversation = Conversation::default();
    conversation.sent(bytes.as_bytes());
    let taken = runtime.block_on(async {
        let (mut input, server_input) = tokio::io::duplex(BUFFER);
        let (output, server_output) = tokio::io::duplex(BUFFER);
        let serving = tokio::spawn(stdio::serve(Arc::new(server), server_input, server_output, std::future::pending()));
        let taken = write_until_stuck(&mut input, bytes.as_bytes()).await;
        go_on();
        let rest = async {
            input.write_all(&bytes.as_bytes()[taken..]).await.expect("the server reads on");
            drop(input);
        };
        let mut output = BufReader::new(output);
        let answers = async {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).await.expect("in-memory streams do not fail") > 0 {
                conversation.received(&line);
                line.clear();
            }
        };
        timeout(TIMEOUT, async { tokio::join!(rest, answers) }).await.expect("the server stands still");
        serving.await.expect("no panic").expect("the server ends well");
        taken
    });
    runtime.shutdown_background();
    conversation.check_all_answered();
    taken
}

fn pings(count: usize) -> Vec<Value> {
    (0..count).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect()
}

/// Requests for the tool `wait`, of at least `size` bytes each.
fn waits(count: usize, size: usize) -> Vec<Value> {
    let params = crate::support::client::with_meta(json!({"name": "wait", "arguments": {"pad": "x".repeat(size)}}));
    (0..count).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).collect()
}

#[test]
fn beyond_the_queue_stdin_is_left_unread_and_nothing_is_lost() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let server = server(&tree, &gate, |limits| (limits.in_flight, limits.queued) = (2, 10));
    let taken = flood(server, &waits(1_000, 4_000), || {
        gate.wait_for(2);
        gate.open();
    });
    let most = 13 * 4_400 + ON_THE_WAY;
    assert!((12 * 4_000..most).contains(&taken), "{taken} bytes were read, of {most} at most");
}

#[test]
fn the_queue_is_bounded_in_bytes_too() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let server = server(&tree, &gate, |limits| (limits.in_flight, limits.queued_bytes) = (2, 100_000));
    let taken = flood(server, &waits(1_000, 4_000), || gate.open());
    let most = 100_000 + 4 * 4_400 + ON_THE_WAY;
    // The two in progress count twice.
    assert!((80_000..most).contains(&taken), "{taken} bytes were read, of {most} at most");
}

#[test]
fn input_of_a_client_that_does_not_read_is_left_unread() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let server = server(&tree, &gate, |limits| (limits.in_flight, limits.queued) = (8, 100));
    let lines = pings(8_000);
    let all: usize = lines.iter().map(|line| line.to_string().len() + 1).sum();
    let taken = flood(server, &lines, || ());
    assert!(taken < all / 2 && taken < (108 + 32) * 50 + ON_THE_WAY, "{taken} of {all} bytes were read");
}

/// Batches that lack their last answer, each with many answers that are ready, which must be counted.
#[test]
fn incomplete_batches_are_bounded_in_bytes() {
    let (tree, gate) = (Tree::new(), Gate::new());
    let server = server(&tree, &gate, |limits| {
        (limits.in_flight, limits.held_bytes, limits.line_bytes) = (2, 1 << 20, 1 << 20);
    });
    let initialize = json!({"jsonrpc": "2.0", "id": "first", "method": "initialize",
        "params": {"protocolVersion": "2025-03-26", "capabilities": {}}});
    let batch = |n: u32| {
        let wait = json!({"jsonrpc": "2.0", "id": format!("{n} waits"), "method": "tools/call",
            "params": {"name": "wait"}});
        let ping = |k: u32| json!({"jsonrpc": "2.0", "id": format!("{n} {k} {}", "x".repeat(1_000)), "method": "ping"});
        Value::from((0..99).map(ping).chain([wait]).collect::<Vec<_>>())
    };
    let lines: Vec<Value> = [initialize].into_iter().chain((0..50).map(batch)).collect();
    let taken = flood(server, &lines, || gate.open());
    // Each holds 100 KB of answers.
    assert!((5 * 100_000..15 * 105_000 + ON_THE_WAY).contains(&taken), "{taken} bytes were read");
}

#[test]
fn a_client_that_reads_late_gets_every_answer() {
    let tree = Tree::new().file("big.txt", "0123456789abcde\n".repeat(10_000));
    let server = server(&tree, &Gate::new(), |_| ());
    let params = crate::support::client::with_meta(json!({"uri": tree.uri("big.txt")}));
    let read = |id| json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params});
    flood(server, &(0..300).map(read).collect::<Vec<_>>(), || ());
}

#[test]
fn small_answers_overtake_waiting_large_ones() {
    let tree = Tree::new().file("x", "small");
    let uri = tree.uri("x");
    // A small file is read inline, so the large answers exist before the ping is handled.
    let read = uri.clone();
    let dispatch = move |_: &_, _: &_| {
        let (uri, mime_type) = (read.clone(), "text/plain".to_owned());
        Ok(Outcome::Contents(Contents {
            uri,
            mime_type,
            data: Data::Text("x".repeat(1_000_000).into()),
            continues: None,
            version: None,
        }))
    };
    let mut server = TestServer::builder(&tree).dispatch(dispatch).buffer(BUFFER).start().legacy(LATEST_LEGACY);
    let line = |id: u64, method: &str| {
        let params = if method == "ping" { json!({}) } else { json!({"uri": uri}) };
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n"
    };
    server.send_raw((1..=4).map(|id| line(id, "resources/read")).collect::<String>() + &line(5, "ping"));
    let mut order: Vec<u64> = (0..5).map(|_| server.recv()["id"].as_u64().expect("an id")).collect();
    let ping = order.iter().position(|id| *id == 5).expect("an answer");
    assert!(ping <= 1, "the ping came after more than the one that was being written: {order:?}");
    order.sort_unstable();
    assert_eq!(order, [1, 2, 3, 4, 5], "each is answered once");
}
