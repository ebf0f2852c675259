//! What the workers of a search found, put together in the order of the walk.
//!
//! A batch that is early waits for those before it. What waits is bounded: as soon as what was found, be it in batches
//! that wait, is more than the answer can hold, no more files are taken, as none of them could be shown. So there are at
//! most an answer's bytes and, of each worker, one batch more, which holds two answers' at most.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::collect::{Found, Room};
use super::file::Searched;
use super::workers::Job;
use crate::features::format::Unreadable;
use crate::runtime::cancel::PATIENCE;

/// Batches that wait, also those in which nothing was found: each is some 200 bytes.
const MOST_WAITING: usize = 10_000;

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The lines, ready to be shown.
    pub(crate) text: String,
    pub(crate) matches: u64,
    pub(crate) files_with_matches: u64,
    pub(crate) searched: Counts,
    /// Files that were to be searched, whether the search came to them or not.
    pub(crate) chosen: u64,
    /// Files that the glob does not match.
    pub(crate) passed_over: u64,
    /// Directories that cannot be read.
    pub(crate) unreadable_directories: Unreadable,
    /// There are entries that the walk did not come to.
    pub(crate) is_incomplete: bool,
    /// Where it was cut.
    pub(crate) cut: Cut,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) binary: u64,
    pub(crate) unreadable: u64,
    pub(crate) too_long: u64,
}

/// What there was more of than was let through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    /// Matches in one file.
    pub(crate) per_file: bool,
    /// Matches in all; then the search ended.
    pub(crate) matches: bool,
    /// Bytes in the answer; then the search ended, or showed a part of its only match.
    pub(crate) bytes: bool,
}

impl Cut {
    /// Whether the search ended before it came to all files.
    pub(crate) fn is_end(self) -> bool {
        self.matches || self.bytes
    }
}

/// What was found in some files that come one after the other.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Each file with a match, and what was looked at since the one before, it included.
    found: Vec<(Counts, Found)>,
    /// What was looked at after that.
    rest: Counts,
    matches: u64,
    bytes: usize,
}

impl Batch {
    /// Adds what came of a file.
    pub(super) fn push(&mut self, searched: Searched) {
        let counts = &mut self.rest;
        match searched {
            Searched::Text(size, found) => {
                counts.files += 1;
                counts.bytes += size;
                if found.matches() > 0 {
                    self.matches += found.matches();
                    self.bytes += found.bytes();
                    self.found.push((std::mem::take(counts), found));
                }
            }
            Searched::Binary => counts.binary += 1,
            Searched::Unreadable => counts.unreadable += 1,
            Searched::TooLong => counts.too_long += 1,
        }
    }

    /// Whether an answer cannot hold it, so that what comes after it could not be shown.
    pub(super) fn is_full(&self, job: &Job<'_>) -> bool {
        does_not_fit(self.matches, self.bytes, job)
    }
}

/// Whether an answer cannot hold so much. Each line is counted with its end, and the last one's is not shown.
fn does_not_fit(matches: u64, bytes: usize, job: &Job<'_>) -> bool {
    matches > job.limit || bytes > job.max_bytes.saturating_add(1)
}

/// Where batches are brought together.
pub(super) struct Gather<'j> {
    job: &'j Job<'j>,
    state: Mutex<State>,
    /// A batch came for which others waited.
    moved: Condvar,
}

#[derive(Default)]
struct State {
    next: usize,
    waiting: BTreeMap<usize, Batch>,
    waiting_matches: u64,
    waiting_bytes: usize,
    report: Report,
}

impl<'j> Gather<'j> {
    pub(super) fn new(job: &'j Job<'j>) -> Self {
        Self { job, state: Mutex::default(), moved: Condvar::new() }
    }

    /// How much of one file is of use.
    pub(super) fn room(&self) -> Room {
        let Job { per_file, limit, max_bytes, files_only, .. } = *self.job;
        let matches = if files_only { 1 } else { per_file.unwrap_or(limit).min(limit) };
        Room { matches, bytes: max_bytes.saturating_add(1), path_only: files_only }
    }

    /// Takes a batch; `true` when no more are needed.
    pub(super) fn take(&self, index: usize, batch: Batch) -> bool {
        let mut state = self.wait_for_room(index);
        state.take(index, batch, self.job);
        self.moved.notify_all();
        let (matches, bytes) =
            (state.report.matches + state.waiting_matches, state.report.text.len() + state.waiting_bytes);
        state.report.cut.is_end() || does_not_fit(matches, bytes, self.job)
    }

    /// Waits while there are too many batches that wait, unless this is the one that they wait for.
    fn wait_for_room(&self, index: usize) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.waiting.len() >= MOST_WAITING && state.next != index && !self.job.cancel.is_requested() {
            state = self.moved.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// All of it.
    pub(super) fn finish(self) -> Report {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).report
    }
}

impl State {
    fn take(&mut self, index: usize, batch: Batch, job: &Job<'_>) {
        self.waiting_matches += batch.matches;
        self.waiting_bytes += batch.bytes;
        self.waiting.insert(index, batch);
        while let Some(batch) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.waiting_matches -= batch.matches;
            self.waiting_bytes -= batch.bytes;
            self.report.add_batch(&batch, job);
        }
    }
}

impl Report {
    fn add_batch(&mut self, batch: &Batch, job: &Job<'_>) {
        for (counts, found) in &batch.found {
            if self.cut.is_end() {
                return;
            }
            self.searched.add(*counts);
            self.add_file(found, job);
        }
        if !self.cut.is_end() {
            self.searched.add(batch.rest);
        }
    }

    fn add_file(&mut self, found: &Found, job: &Job<'_>) {
        let matches = self.matches;
        for (index, (gap, text)) in found.hits().enumerate() {
            let gap = gap || (index == 0 && job.query.has_context());
            if !self.add_hit(gap, text, job) {
                break;
            }
        }
        self.files_with_matches += u64::from(self.matches > matches);
        if found.has_more && !job.files_only && !self.cut.is_end() {
            let is_limit = job.per_file.is_none_or(|most| most >= job.limit);
            *(if is_limit { &mut self.cut.matches } else { &mut self.cut.per_file }) = true;
        }
    }

    /// Adds one match, whole; the first one as far as it fits.
    fn add_hit(&mut self, gap: bool, text: &str, job: &Job<'_>) -> bool {
        let (most, separator) = (job.max_bytes, if gap { "\n--\n" } else { "\n" });
        if self.matches >= job.limit {
            self.cut.matches = true;
            return false;
        }
        if self.text.is_empty() {
            self.cut.bytes = text.len() > most;
            self.text.push_str(&text[..text.floor_char_boundary(most)]);
        } else if self.text.len() + separator.len() + text.len() > most {
            self.cut.bytes = true;
            return false;
        } else {
            self.text.push_str(separator);
            self.text.push_str(text);
        }
        self.matches += 1;
        true
    }
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.files += more.files;
        self.bytes += more.bytes;
        self.binary += more.binary;
        self.unreadable += more.unreadable;
        self.too_long += more.too_long;
    }
}
