//! The end of a connection: how long what was asked for may still take.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How long what is ready may be left unread when all work is done: a person may be reading it in a pager, page by page.
const STALL: Duration = Duration::from_mins(5);

/// A search that begins with the end of the input gives what it has found when its own time is over: it gets this long to
/// say so.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// The input has ended; what it asked for is still to be answered.
#[derive(Debug)]
pub(super) struct Drain {
    /// When work is given up.
    deadline: Instant,
    /// When the client last took some of our output.
    pub(super) last_write: Instant,
}

impl Drain {
    /// From now on; work may go on as long as a search may take.
    pub(super) fn within(search_time: Duration) -> Self {
        let now = Instant::now();
        Self { deadline: now + search_time + LAST_MOMENT, last_write: now }
    }

    /// Whether work is to be given up.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Waits until work is to be given up, or, where there is none, until the client has left what is ready unread for
    /// too long.
    pub(super) async fn deadline(drain: Option<&Self>, at_work: bool) {
        match drain {
            Some(drain) if !at_work => sleep_until(drain.last_write + STALL).await,
            Some(drain) if !drain.is_over() => sleep_until(drain.deadline).await,
            // Only what is blocked is left, which ends by the I/O timeout.
            _ => pending().await,
        }
    }
}
