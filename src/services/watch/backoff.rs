//! How often a client is told that the list has changed: at once, and then with growing pauses while it keeps changing.
//!
//! Claude Code fetches every page again each time, so a build that creates files for ten minutes must not cause
//! hundreds of messages. A pause grows if a change had to wait for it, and starts over after a quiet minute.

use std::time::{Duration, Instant};

/// After this long without a change, pauses start over.
const QUIET: Duration = Duration::from_mins(1);

/// When the next message may be sent.
#[derive(Debug)]
pub(super) struct Backoff {
    shortest: Duration,
    longest: Duration,
    pause: Duration,
    earliest: Option<Instant>,
    last_change: Option<Instant>,
    /// The first change since the last message.
    waiting: Option<Instant>,
}

impl Backoff {
    /// Pauses start at `shortest`, and double up to `longest`.
    pub(super) fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest, pause: shortest, earliest: None, last_change: None, waiting: None }
    }

    /// Something may have changed.
    pub(super) fn changed(&mut self, now: Instant) {
        if self.last_change.is_some_and(|last| now.saturating_duration_since(last) >= QUIET) {
            self.pause = self.shortest;
            self.earliest = None;
        }
        self.last_change = Some(now);
        self.waiting.get_or_insert(now);
    }

    /// Nothing had changed after all.
    pub(super) fn unchanged(&mut self) {
        self.waiting = None;
    }

    /// A message was sent.
    pub(super) fn told(&mut self, now: Instant) {
        let began = self.waiting.take().unwrap_or(now);
        if self.earliest.is_some_and(|earliest| began < earliest) {
            self.pause = (self.pause * 2).min(self.longest);
        }
        self.earliest = Some(now + self.pause);
    }

    /// When the next message may be sent; `None` means at once.
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    /// When messages are sent, in seconds, if there are changes at these seconds.
    fn told(backoff: &mut Backoff, start: Instant, changes: impl Iterator<Item = u64>) -> Vec<u64> {
        let changes: Vec<u64> = changes.collect();
        let (mut told, mut news) = (Vec::new(), false);
        for second in changes[0]..=changes[changes.len() - 1] + 60 {
            let now = start + seconds(second);
            if changes.contains(&second) {
                backoff.changed(now);
                news = true;
            }
            if news && backoff.earliest().is_none_or(|earliest| earliest <= now) {
                backoff.told(now);
                told.push(second);
                news = false;
            }
        }
        told
    }

    fn backoff() -> (Backoff, Instant) {
        (Backoff::new(seconds(2), seconds(60)), Instant::now())
    }

    #[test]
    fn pauses_double_up_to_the_longest_while_changes_go_on() {
        let (mut backoff, start) = backoff();
        assert_eq!(told(&mut backoff, start, 0..240), [0, 2, 6, 14, 30, 62, 122, 182, 242]);
    }

    #[test]
    fn a_change_now_and_then_is_told_at_once() {
        let (mut backoff, start) = backoff();
        assert_eq!(told(&mut backoff, start, (0..60).step_by(5)), (0..60).step_by(5).collect::<Vec<_>>());
    }

    #[test]
    fn a_burst_is_told_at_its_beginning_and_after_a_pause() {
        let (mut backoff, start) = backoff();
        assert_eq!(told(&mut backoff, start, 0..2), [0, 2]);
    }

    #[test]
    fn after_a_quiet_minute_the_first_change_is_told_at_once_and_the_pauses_are_short_again() {
        let (mut backoff, start) = backoff();
        told(&mut backoff, start, 0..183);
        assert_eq!(told(&mut backoff, start, 250..254), [250, 252, 256]);
    }

    #[test]
    fn less_than_a_minute_without_changes_is_not_quiet() {
        let (mut backoff, start) = backoff();
        told(&mut backoff, start, 0..182); // the last change at 181, told at 182
        assert_eq!(told(&mut backoff, start, 240..242), [242]);
    }
}
