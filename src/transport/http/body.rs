//! The body of a request: limited in size before it is kept, and in time.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::response::Refusal;

/// Bodies up to this many bytes, which are nearly all, are read without reserving memory.
const SMALL: usize = 64 << 10;

/// How many pieces of `SMALL` bytes all larger bodies together may take while they are read.
static PIECES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(1_024)));

/// How long a body may pause, and how long all of it may take.
const PAUSE: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_mins(1);

/// A body and the memory reserved for it.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    pieces: Vec<OwnedSemaphorePermit>,
}

/// Reads a body of at most `most` bytes.
pub(super) async fn read(body: impl Body<Data = Bytes> + Unpin, most: usize) -> Result<Received, Refusal> {
    let too_slow = || Refusal::new(StatusCode::REQUEST_TIMEOUT, "The request's body did not come in time.");
    timeout(WHOLE, read_frames(body, most)).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn read_frames(mut body: impl Body<Data = Bytes> + Unpin, most: usize) -> Result<Received, Refusal> {
    let too_large =
        || Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("The request's body is longer than {most} bytes."));
    let announced = body.size_hint().exact();
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    let small = announced.map_or(0, |length| (length as usize).min(SMALL));
    let mut received = Received { bytes: Vec::with_capacity(small), pieces: Vec::new() };
    loop {
        let Ok(next) = timeout(PAUSE, body.frame()).await else {
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "The request's body did not come in time."));
        };
        let Some(frame) = next else { return Ok(received) };
        let frame =
            frame.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "The request's body could not be read."))?;
        let Ok(data) = frame.into_data() else { continue };
        if received.bytes.len() + data.len() > most {
            return Err(too_large());
        }
        received.bytes.extend_from_slice(&data);
        while received.bytes.capacity() > SMALL * (1 + received.pieces.len()) {
            let piece = Arc::clone(&PIECES)
                .try_acquire_owned()
                .map_err(|_| Refusal::busy("The server is receiving as much as it has memory for; send this again."))?;
            received.pieces.push(piece);
        }
    }
}
