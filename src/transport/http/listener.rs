//! Where clients connect: TCP addresses, a Unix socket, or a socket bound by systemd. Everything is bound before the
//! kernel sandbox, which then forbids connecting but not accepting.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdTcpListener};
use std::path::PathBuf;
use std::str::FromStr;
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;

/// The pause after a failed accept. Usually there are no descriptors left until a connection ends.
const PAUSE: Duration = Duration::from_millis(50);

/// The value of `--http`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port; port 0 means any free port.
    Tcp(SocketAddr),
    /// `localhost:PORT`: loopback over IPv4 and IPv6.
    Localhost(u16),
    /// `unix:PATH`.
    Unix(PathBuf),
    /// `systemd`: the socket that this process was started with (`LISTEN_FDS`, `sd_listen_fds(3)`).
    Systemd,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "systemd" {
            return Ok(Self::Systemd);
        }
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
            return Ok(Self::Localhost(port));
        }
        text.parse()
            .map(Self::Tcp)
            .map_err(|_| "write IP:PORT (127.0.0.1:8080, [::1]:8080), localhost:PORT, unix:PATH or systemd".to_owned())
    }
}

/// A bound socket.
#[derive(Debug)]
pub enum Bound {
    /// A TCP socket.
    Tcp(StdTcpListener),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener),
}

/// Binds a TCP address; `localhost` over IPv4 and, if available, IPv6.
pub fn bind_tcp(address: &Address) -> io::Result<Vec<Bound>> {
    let listen = |address: SocketAddr| -> io::Result<StdTcpListener> {
        let listener = StdTcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    match address {
        Address::Tcp(address) => Ok(vec![Bound::Tcp(listen(*address)?)]),
        Address::Localhost(port) => {
            let first = listen((Ipv4Addr::LOCALHOST, *port).into())?;
            let second = listen((Ipv6Addr::LOCALHOST, first.local_addr()?.port()).into());
            Ok(std::iter::once(first).chain(second.ok()).map(Bound::Tcp).collect())
        }
        Address::Unix(_) | Address::Systemd => Ok(Vec::new()),
    }
}

/// The sockets that systemd has bound for this process.
#[cfg(unix)]
pub(crate) fn inherited() -> io::Result<Vec<Bound>> {
    let mut given = listenfd::ListenFd::from_env();
    let mut all = Vec::new();
    for index in 0..given.len() {
        if let Ok(Some(listener)) = given.take_tcp_listener(index) {
            must_listen(&listener)?;
            listener.set_nonblocking(true)?;
            all.push(Bound::Tcp(listener));
        } else if let Some(listener) = given.take_unix_listener(index)? {
            must_listen(&listener)?;
            listener.set_nonblocking(true)?;
            all.push(Bound::Unix(listener));
        }
    }
    Ok(all)
}

/// Refuses a socket that is a connection: under `Accept=yes` systemd passes one, and accepting on it would fail forever.
#[cfg(unix)]
fn must_listen(socket: impl std::os::fd::AsFd) -> io::Result<()> {
    match rustix::net::getpeername(socket) {
        Ok(_) => Err(io::Error::other("systemd passed a connection; write Accept=no into the socket unit")),
        Err(_) => Ok(()),
    }
}

impl Bound {
    /// The address of a TCP socket.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }
}

/// Bound sockets, registered with a runtime.
#[derive(Debug)]
pub struct Listener {
    sockets: Vec<Socket>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

/// A connection.
#[derive(Debug)]
pub enum Accepted {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Listener {
    /// Must be called within a tokio runtime.
    pub fn new(bound: Vec<Bound>) -> io::Result<Self> {
        let sockets = bound.into_iter().map(|bound| match bound {
            Bound::Tcp(listener) => TcpListener::from_std(listener).map(Socket::Tcp),
            #[cfg(unix)]
            Bound::Unix(listener) => UnixListener::from_std(listener).map(Socket::Unix),
        });
        Ok(Self { sockets: sockets.collect::<io::Result<_>>()? })
    }

    /// Waits for the next connection. Failures to accept are logged.
    pub(super) async fn accept(&mut self) -> Accepted {
        loop {
            match self.next().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!("a connection could not be accepted: {error}");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    async fn next(&mut self) -> io::Result<Accepted> {
        poll_fn(|cx| {
            for socket in &self.sockets {
                let accepted = match socket {
                    Socket::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| {
                        // Without it, an answer in two segments waits 40 ms for the client's acknowledgement.
                        drop(stream.set_nodelay(true));
                        Accepted::Tcp(stream)
                    }),
                    #[cfg(unix)]
                    Socket::Unix(listener) => listener.poll_accept(cx).map_ok(|(stream, _)| Accepted::Unix(stream)),
                };
                if accepted.is_ready() {
                    return accepted;
                }
            }
            Poll::Pending
        })
        .await
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Localhost(port) => write!(f, "localhost:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Systemd => f.write_str("systemd"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_the_same() {
        for text in ["127.0.0.1:8080", "[::1]:0", "localhost:80", "unix:/run/mcp.sock", "systemd"] {
            assert_eq!(text.parse::<Address>().expect("an address").to_string(), text);
        }
        for wrong in ["", "8080", "localhost", "example.org:80", "unix:", "127.0.0.1"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    /// HT18: without it every call but the first takes 40 ms.
    #[tokio::test]
    async fn small_segments_do_not_wait_for_acknowledgements() {
        let bound = bind_tcp(&Address::Localhost(0)).expect("a free port");
        let addresses: Vec<_> = bound.iter().filter_map(Bound::address).collect();
        let mut listener = Listener::new(bound).expect("within a runtime");
        for address in addresses {
            let _client = TcpStream::connect(address).await.expect("it listens");
            let Accepted::Tcp(stream) = listener.accept().await else { panic!("not TCP") };
            assert!(stream.nodelay().expect("a socket"));
        }
    }
}
