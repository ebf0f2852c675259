//! Any number of clients over HTTP, at one endpoint, `/mcp`, in both eras
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>).
//!
//! A request goes down this list. What a message means is for the [`peer`](crate::peer), as it is on stdio.
//!
//! | module | holds |
//! | --- | --- |
//! | [`listener`] | the socket, bound before the kernel sandbox |
//! | `connections` | the open connections, bounded in number |
//! | [`service`] | a connection without its socket, for the fuzz target |
//! | `endpoint` | the checks in their order, and what each method does |
//! | `probe`, [`access`], `headers`, `body` | what the checks ask |
//! | [`token`] | where the token comes from |
//! | `sessions`, `client` | legacy clients by their session, and a peer for each client |
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

/// How long the headers of a request may take, and how long a connection may be idle.
const IDLE: Duration = Duration::from_secs(75);

/// How long a client may leave a response unread that waits to be written.
const STALL: Duration = Duration::from_mins(1);

/// Bytes of a request's headers, and of a response that hyper holds.
const BUFFER: usize = 64 << 10;

/// How often idle sessions are removed.
const SWEEP: Duration = Duration::from_secs(30);

/// How long requests in progress may go on when the server ends.
const LAST_MOMENT: Duration = Duration::from_millis(1_500);

/// Serves clients that come to `listener` until `stop` is ready: then streams get their ends, and what is in progress a
/// moment. At most `most` connections are open.
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
                // Where all are busy, the connection is closed again.
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
    // How it ends does not matter: the client is gone, or has sent what is not HTTP and was told so.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = open.evicted.notified() => return,
        _ = closed.changed() => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}
