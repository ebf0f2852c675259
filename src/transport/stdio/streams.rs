//! stdin and stdout as what they are.
//!
//! tokio's own stdin and stdout work for everything, at the price of a thread each, which costs more than a small read
//! from the disk. On Linux, pipes (Python clients, shells) and sockets (Node clients) do not need one:
//!
//! * A pipe is reopened through `/proc/self/fd`, because `O_NONBLOCK` belongs to the open file description, which may be
//!   shared with the parent or with stderr. This fails if the pipe belongs to another user (sudo).
//! * A socket is read with `MSG_DONTWAIT`, which affects that call only. Its flags are never changed.
//!
//! For anything else, and whenever something fails, tokio's are used.

use std::pin::Pin;
#[cfg(target_os = "linux")]
use std::task::{Context, Poll};
use std::time::Duration;

#[cfg(target_os = "linux")]
use tokio::io::ReadBuf;
use tokio::io::{AsyncRead, AsyncWrite};

/// stdin.
pub type Input = Pin<Box<dyn AsyncRead + Send>>;
/// stdout.
pub type Output = Pin<Box<dyn AsyncWrite + Send>>;

/// Both of them.
pub struct Streams {
    /// stdin.
    pub input: Input,
    /// stdout.
    pub output: Output,
    /// How many of tokio's threads they take.
    pub threads: usize,
}

/// Opens both. Must be called within a tokio runtime.
pub fn open() -> Streams {
    let (input, output) = (input(), output());
    let threads = usize::from(input.is_none()) + usize::from(output.is_none());
    Streams {
        input: input.unwrap_or_else(|| Box::pin(tokio::io::stdin())),
        output: output.unwrap_or_else(|| Box::pin(tokio::io::stdout())),
        threads,
    }
}

/// stdin without a thread; `None` if it needs one.
#[cfg(target_os = "linux")]
fn input() -> Option<Input> {
    linux::Stream::stdin().ok().map(|stream| Box::pin(stream) as Input)
}

/// stdout without a thread; `None` if it needs one.
#[cfg(target_os = "linux")]
fn output() -> Option<Output> {
    linux::Stream::stdout().ok().map(|stream| Box::pin(stream) as Output)
}

#[cfg(not(target_os = "linux"))]
fn input() -> Option<Input> {
    None
}

#[cfg(not(target_os = "linux"))]
fn output() -> Option<Output> {
    None
}

/// Completes when the reader of stdout has closed it. It polls, so use it only at the end of a connection.
pub async fn output_closed() {
    const PAUSE: Duration = Duration::from_millis(50);
    while !is_output_closed() {
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(unix)]
fn is_output_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = std::io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Noticed when something is written.
#[cfg(not(unix))]
fn is_output_closed() -> bool {
    false
}

/// Whether stderr is the same pipe, socket or file as stdout. A log line in the middle of a message would corrupt it,
/// so in that case there must be no log.
#[cfg(unix)]
pub fn stderr_is_stdout() -> bool {
    use std::os::fd::{AsFd, BorrowedFd};

    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let inode = |fd: BorrowedFd<'_>| rustix::fs::fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
    match (inode(stdout.as_fd()), inode(stderr.as_fd())) {
        // On a terminal, a person wants to see both.
        (Ok(out), Ok(err)) => out == err && !rustix::termios::isatty(stdout.as_fd()),
        _ => false,
    }
}

/// Not checked where this does not occur.
#[cfg(not(unix))]
pub fn stderr_is_stdout() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::task::ready;

    use rustix::fs::{FileType, Mode, OFlags};
    use rustix::net::{RecvFlags, SendFlags};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::{AsyncRead, AsyncWrite, Context, Pin, Poll, ReadBuf};

    /// The size of a larger pipe: the reader wakes up once per MiB instead of once per 64 KiB.
    const PIPE_SIZE: usize = 1 << 20;

    /// A non-blocking pipe or socket.
    pub(super) struct Stream {
        fd: AsyncFd<OwnedFd>,
        is_socket: bool,
    }

    impl Stream {
        pub(super) fn stdin() -> io::Result<Self> {
            Self::open(io::stdin().as_fd(), 0, OFlags::RDONLY, Interest::READABLE)
        }

        pub(super) fn stdout() -> io::Result<Self> {
            let stream = Self::open(io::stdout().as_fd(), 1, OFlags::WRONLY, Interest::WRITABLE)?;
            if !stream.is_socket {
                // Up to twice as fast for large files. It can fail for an unprivileged user at the limit.
                let _ = rustix::pipe::fcntl_setpipe_size(&stream.fd, PIPE_SIZE);
            }
            Ok(stream)
        }

        fn open(standard: BorrowedFd<'_>, number: u8, flags: OFlags, interest: Interest) -> io::Result<Self> {
            let (fd, is_socket) = match FileType::from_raw_mode(rustix::fs::fstat(standard)?.st_mode) {
                FileType::Fifo => {
                    let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
                    (rustix::fs::open(format!("/proc/self/fd/{number}"), flags, Mode::empty())?, false)
                }
                FileType::Socket => (standard.try_clone_to_owned()?, true),
                _ => return Err(io::ErrorKind::Unsupported.into()),
            };
            #[expect(
                deprecated,
                reason = "its successor is unsafe, and asks only that the descriptor stay open, as an OwnedFd does"
            )]
            let fd = AsyncFd::with_interest(fd, interest)?;
            Ok(Self { fd, is_socket })
        }

        fn read(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
            if self.is_socket {
                rustix::net::recv(&self.fd, buffer, RecvFlags::DONTWAIT).map(|(count, _)| count)
            } else {
                rustix::io::read(&self.fd, buffer)
            }
        }

        fn write(&self, buffer: &[u8]) -> rustix::io::Result<usize> {
            if self.is_socket {
                rustix::net::send(&self.fd, buffer, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
            } else {
                rustix::io::write(&self.fd, buffer)
            }
        }
    }

    impl AsyncRead for Stream {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.fd.poll_read_ready(cx))?;
                let free = buffer.initialize_unfilled();
                match self.read(free) {
                    Ok(count) => {
                        // A short read has emptied the pipe; the next one would only report that.
                        if 0 < count && count < free.len() {
                            ready.clear_ready();
                        }
                        buffer.advance(count);
                        return Poll::Ready(Ok(()));
                    }
                    Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        }
    }

    impl AsyncWrite for Stream {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
            loop {
                let mut ready = ready!(self.fd.poll_write_ready(cx))?;
                match self.write(buffer) {
                    Ok(count) => return Poll::Ready(Ok(count)),
                    Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
