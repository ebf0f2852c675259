//! Any number of clients over HTTP, at one endpoint, `/mcp`, in both eras
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>).
//!
//! Modules in the order in which a request meets them. What a message means is up to the [`peer`](crate::peer), as on
//! stdio.
//!
//! | module | holds |
//! | --- | --- |
//! | [`listener`] | the sockets, bound before the kernel sandbox |
//! | `connections` | the open connections, limited in number |
//! | [`service`] | a connection without its socket, for the fuzz target |
//! | `endpoint` | the checks in order, and what each method does |
//! | `probe`, [`access`], `headers`, `body` | what the checks examine |
//! | [`token`] | where the token comes from |
//! | `sessions`, `client` | legacy clients by session, and a peer for each client |
//! | `exchanges` | which response a message of the peer goes to |
//! | `response` | messages as JSON or as an event stream |

pub mod access;
mod body;
mod client;
mod connections;
mod endpoint;
mod exchanges;
mod headers;
pub mod listener;
mod probe;
mod response;
pub mod service;
mod sessions;
pub mod token;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_io_timeout::TimeoutStream;

use self::access::Access;
use self::connections::{Connections, Entry};
use self::endpoint::{Connection, Endpoint};
use self::listener::{Accepted, Listener};
use crate::server::Server;

/// How long a request's headers may take, and how long a connection may be idle.
const IDLE: Duration = Duration::from_secs(75);

/// How long a client may leave a response unread before its connection is closed.
const STALL: Duration = Duration::from_mins(1);

/// The limit of a request's headers and of the output that hyper buffers, in bytes.
const BUFFER: usize = 64 << 10;

/// How often idle sessions are removed.
const SWEEP: Duration = Duration::from_secs(30);

/// How long requests in progress may continue when the server ends.
const LAST_MOMENT: Duration = Duration::from_millis(1_500);

/// Serves the clients of `listener` until `stop` completes. Then streams end, and requests in progress get a moment to
/// finish. At most `most` connections are open.
///
/// Must be called within a tokio runtime with time enabled.
pub async fn serve(
    server: Arc<Server>,
    mut listener: Listener,
    access: Access,
    most: usize,
    stop: impl Future<Output = ()>,
) {
    let mut looks = interval(server.watchdog().interval());
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweep = interval(SWEEP);
    let endpoint = Arc::new(Endpoint::new(server, access));
    let connections = Connections::new(most);
    let (closing, closed) = watch::channel(());
    let mut tasks = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // If all are busy, the new connection is closed.
                if let Some(entry) = connections.add(Connection::new(Arc::clone(&endpoint))) {
                    match accepted {
                        Accepted::Tcp(stream) => tasks.spawn(connection(stream, entry, closed.clone())),
                        #[cfg(unix)]
                        Accepted::Unix(stream) => tasks.spawn(connection(stream, entry, closed.clone())),
                    };
                }
            }
            Some(_) = tasks.join_next() => {}
            _ = looks.tick() => endpoint.server.look_for_blocked(),
            _ = sweep.tick() => endpoint.sessions.expire(),
            () = stop.as_mut() => break,
        }
    }
    drop(listener);
    let _ = closing.send(());
    connections.end_streams();
    for client in endpoint.sessions.clients() {
        client.end_streams();
    }
    let _ = timeout(LAST_MOMENT, async { while tasks.join_next().await.is_some() {} }).await;
}

/// Serves one connection until its end.
async fn connection<S>(stream: S, entry: Entry, mut closed: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALL));
    let open = &entry.open;
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let in_progress = open.begin();
        async move {
            let response = open.connection.respond(request).await;
            Ok::<_, Infallible>(response.map(|body| body.until_written(in_progress)))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(BUFFER);
    let mut serving = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    // The result does not matter: the client is gone, or sent something other than HTTP and was told so.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = open.evicted.notified() => return,
        _ = closed.changed() => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}
