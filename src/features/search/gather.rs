//! Puts the results of the workers together in the order of the walk.
//!
//! A batch that is early waits for those before it. What waits is limited: once the matches found, including those that
//! wait, exceed what the answer can hold, no more files are taken, because none of their matches could be shown. In
//! memory are therefore at most the bytes of an answer and one more batch per worker, each of at most two answers.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::collect::{Found, Room};
use super::file::Searched;
use super::workers::Job;
use crate::features::format::Unreadable;
use crate::runtime::cancel::PATIENCE;

/// How many batches may wait, including those without matches, which take some 200 bytes each.
const MOST_WAITING: usize = 10_000;

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The lines to show.
    pub(crate) text: String,
    pub(crate) matches: u64,
    pub(crate) files_with_matches: u64,
    pub(crate) searched: Counts,
    /// How many files were selected, whether or not the search got to them.
    pub(crate) chosen: u64,
    /// How many files did not match the glob.
    pub(crate) passed_over: u64,
    /// Directories that could not be read.
    pub(crate) unreadable_directories: Unreadable,
    /// There are entries that the walk did not reach.
    pub(crate) is_incomplete: bool,
    /// Where the result was cut.
    pub(crate) cut: Cut,
}

/// What was searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) binary: u64,
    pub(crate) unreadable: u64,
    pub(crate) too_long: u64,
}

/// Which limits were exceeded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    /// Matches in one file.
    pub(crate) per_file: bool,
    /// Matches in all, which ended the search.
    pub(crate) matches: bool,
    /// Bytes in the answer, which ended the search or cut its only match.
    pub(crate) bytes: bool,
}

impl Cut {
    /// Whether the search ended before it had searched all files.
    pub(crate) fn is_end(self) -> bool {
        self.matches || self.bytes
    }
}

/// The results of some consecutive files.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Each file with a match, and the counts since the previous one, including it.
    found: Vec<(Counts, Found)>,
    /// The counts after the last of them.
    rest: Counts,
    matches: u64,
    bytes: usize,
}

impl Batch {
    /// Adds the result of a file.
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

    /// Whether an answer cannot hold it, so that nothing after it could be shown.
    pub(super) fn is_full(&self, job: &Job<'_>) -> bool {
        does_not_fit(self.matches, self.bytes, job)
    }
}

/// Whether an answer cannot hold this much. Each line is counted with its newline; the last newline is not shown.
fn does_not_fit(matches: u64, bytes: usize, job: &Job<'_>) -> bool {
    matches > job.limit || bytes > job.max_bytes.saturating_add(1)
}

/// Where batches are brought together.
pub(super) struct Gather<'j> {
    job: &'j Job<'j>,
    state: Mutex<State>,
    /// Notified when a batch arrives that others waited for.
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

    /// How much of one file is useful.
    pub(super) fn room(&self) -> Room {
        let Job { per_file, limit, max_bytes, files_only, .. } = *self.job;
        let matches = if files_only { 1 } else { per_file.unwrap_or(limit).min(limit) };
        Room { matches, bytes: max_bytes.saturating_add(1), path_only: files_only }
    }

    /// Takes a batch. Returns `true` if no more are needed.
    pub(super) fn take(&self, index: usize, batch: Batch) -> bool {
        let mut state = self.wait_for_room(index);
        state.take(index, batch, self.job);
        self.moved.notify_all();
        let (matches, bytes) =
            (state.report.matches + state.waiting_matches, state.report.text.len() + state.waiting_bytes);
        state.report.cut.is_end() || does_not_fit(matches, bytes, self.job)
    }

    /// Waits while too many batches are waiting, unless this is the one that they wait for.
    fn wait_for_room(&self, index: usize) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.waiting.len() >= MOST_WAITING && state.next != index && !self.job.cancel.is_requested() {
            state = self.moved.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// The complete result.
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

    /// Adds one match as a whole; the first one as far as it fits.
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
