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
pub(crate) struct Ending {
    /// When work is given up.
    deadline: Instant,
    /// When the client last took some of our output.
    pub(crate) last_write: Instant,
}

impl Ending {
    /// From now on; work may go on as long as a search may take.
    pub(crate) fn within(search_time: Duration) -> Self {
        let now = Instant::now();
        Self { deadline: now + search_time + LAST_MOMENT, last_write: now }
    }

    /// Whether work is to be given up.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Waits until work is to be given up, or, where there is none, until the client has left what is ready unread for
    /// too long.
    pub(crate) async fn patience(ending: Option<&Self>, at_work: bool) {
        match ending {
            Some(ending) if !at_work => sleep_until(ending.last_write + STALL).await,
            Some(ending) if !ending.is_over() => sleep_until(ending.deadline).await,
            // Only what is blocked is left, which ends by the I/O timeout.
            _ => pending().await,
        }
    }
}
