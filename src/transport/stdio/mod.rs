//! One client on stdin and stdout, one message per line
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio>).
//!
//! | module | holds |
//! | --- | --- |
//! | [`streams`] | stdin and stdout as what they are: pipes, sockets, or anything else |
//! | [`lines`] | from bytes to lines, bounded |
//! | [`outbox`] | from messages to bytes: the only writer of stdout |
//! | [`drain`] | how long unanswered requests may take after the input has ended |

mod drain;
pub mod lines;
mod outbox;
pub mod streams;

use std::io;
use std::pin::pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::drain::Drain;
use self::lines::{Line, LineReader};
use self::outbox::Outbox;
use crate::jsonrpc::message;
use crate::log;
use crate::peer::Peer;
use crate::server::Server;

/// Lines that are handled before their answers are written.
const COALESCED: usize = 32;

/// Reads messages from `input` and writes answers to `output`, until the input has ended and every request is answered.
/// Fails if either of them fails; if the client has closed our output, the error is `BrokenPipe`. After the end of the
/// input, it also fails that way when `closed` completes: otherwise a closed output would be noticed only when
/// something is written.
///
/// Must be called within a tokio runtime with time enabled.
pub async fn serve<R, W>(server: Arc<Server>, input: R, output: W, closed: impl Future<Output = ()>) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (line_bytes, drain_time) = (server.limits().line_bytes, server.limits().search_time);
    let mut looks = interval(server.watchdog().interval());
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lines = LineReader::new(input, line_bytes);
    let (mut peer, mut events) = Peer::new(server, Outbox::new(output));
    let mut closed = pin!(closed);
    let mut drain: Option<Drain> = None;
    loop {
        let all_handled = handle_lines(&mut peer, &mut lines, line_bytes);
        peer.advance();
        if drain.as_ref().is_some_and(Drain::is_over) {
            peer.shut_down();
        }
        if drain.is_some() && all_handled {
            peer.end_streams();
            if peer.is_idle() && !peer.sink().is_pending() {
                return Ok(());
            }
        }
        let (has_room, has_work, is_idle) = (peer.has_room(), peer.has_work(), peer.is_idle());
        tokio::select! {
            written = peer.sink().write(), if peer.sink().is_pending() => {
                written?;
                if let Some(drain) = &mut drain {
                    drain.last_write = Instant::now();
                }
            }
            Some(event) = events.recv() => {
                peer.on_event(event);
                while let Ok(event) = events.try_recv() {
                    peer.on_event(event);
                }
            }
            _ = looks.tick(), if has_work => peer.server().look_for_blocked(),
            more = lines.fill(), if drain.is_none() && all_handled && has_room => {
                if !more? {
                    drain = Some(Drain::within(drain_time));
                }
            }
            // More lines are ready. First, the answers so far are written, if the client takes them.
            () = std::future::ready(()), if !all_handled && has_room => {}
            () = closed.as_mut(), if drain.is_some() => return Err(io::ErrorKind::BrokenPipe.into()),
            () = Drain::deadline(drain.as_ref(), !is_idle), if drain.is_some() => {
                if is_idle {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
    }
}

/// Handles the lines that have been read, as long as there is room. Returns `true` if none is left.
fn handle_lines<R, W>(peer: &mut Peer<Outbox<W>>, lines: &mut LineReader<R>, line_bytes: usize) -> bool
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    for _ in 0..COALESCED {
        if !peer.has_room() {
            return false;
        }
        match lines.buffered() {
            Some(Line::Text(line)) => {
                tracing::trace!(target: "mcp_fs::wire", "-> {}", log::shown(line, line.len()));
                peer.receive(message::parse(line), line.len());
            }
            Some(Line::TooLong) => peer.refuse(&format!("The line is longer than {line_bytes} bytes.")),
            None => return true,
        }
    }
    false
}
