//! After the input has ended: how long unanswered requests may still take.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How long finished output may stay unread when no work is left: a person may be reading it in a pager, page by page.
const STALL: Duration = Duration::from_mins(5);

/// A search that started when the input ended returns what it has found when its own time is over; this is its time to
/// do so.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// The input has ended, and some requests are unanswered.
#[derive(Debug)]
pub(super) struct Drain {
    /// When the remaining work is given up.
    deadline: Instant,
    /// When the client last took some of the output.
    pub(super) last_write: Instant,
}

impl Drain {
    /// Starts now; work may continue for as long as a search may take.
    pub(super) fn within(search_time: Duration) -> Self {
        let now = Instant::now();
        Self { deadline: now + search_time + LAST_MOMENT, last_write: now }
    }

    /// Whether it is time to give up the remaining work.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Waits until work has to be given up or, if none is left, until the client has left its output unread for too
    /// long.
    pub(super) async fn deadline(drain: Option<&Self>, at_work: bool) {
        match drain {
            Some(drain) if !at_work => sleep_until(drain.last_write + STALL).await,
            Some(drain) if !drain.is_over() => sleep_until(drain.deadline).await,
            // Only blocked work is left, which the I/O timeout ends.
            _ => pending().await,
        }
    }
}
