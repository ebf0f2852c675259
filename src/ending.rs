//! The end of a connection: how long what was asked for may still take.

use std::time::Duration;

use tokio::time::Instant;

/// How long work may go on after the input has ended.
const GRACE: Duration = Duration::from_secs(1);

/// How long what is ready may then be left unread: somebody may be reading it in a pager, page by page.
const STALL: Duration = Duration::from_mins(5);

/// The input has ended; what it asked for is still to be answered.
#[derive(Debug)]
pub(crate) struct Ending {
    began: Instant,
    /// When the client last took some of our output.
    pub(crate) last_write: Instant,
}

impl Ending {
    pub(crate) fn now() -> Self {
        Self { began: Instant::now(), last_write: Instant::now() }
    }

    /// Waits as long as work may still go on, or the client may leave what is ready unread.
    pub(crate) async fn patience(ending: Option<&Self>, at_work: bool) {
        if let Some(Self { began, last_write }) = ending {
            tokio::time::sleep_until(if at_work { *began + GRACE } else { *last_write + STALL }).await;
        }
    }
}
