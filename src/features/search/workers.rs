//! Searches many files on all processors, with a result that does not depend on their number.
//!
//! Workers take small batches of files from one walk, in its order, and pass what they found to the
//! [`gather`](super::gather) module, which puts it together in the same order.
//!
//! A worker is a thread of its own. What it frees, glibc keeps for the next thread that starts, so there are no more
//! such heaps than concurrent workers: as many as one search may have, and one more for each other search.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file::FileSearcher;
use super::gather::{Batch, Gather, Report};
use super::pattern::Pattern;
use super::query::Query;
use crate::features::format::Unreadable;
use crate::root::{Kind, Listing, RelPath, Root, Walk, WalkedPath};
use crate::runtime::cancel::Cancel;
use crate::runtime::memory::Reservation;
use crate::runtime::permits::Permits;
use crate::runtime::serial_executor::SerialExecutor;

/// How many files are taken at once; on a remote file system fewer, as each takes long and all threads should have some.
const BATCH: usize = 32;
const REMOTE_BATCH: usize = 4;

/// What to search for, and what the search may use.
pub(crate) struct Job<'a> {
    pub(crate) root: &'a Root,
    pub(crate) query: &'a Query,
    /// How many threads may work at once, including those of other searches, except for the first of each.
    pub(crate) threads: usize,
    pub(crate) permits: &'a Permits,
    /// Searches files that take much memory.
    pub(crate) serial_executor: &'a SerialExecutor,
    /// Search only files that this matches.
    pub(crate) glob: Option<&'a Pattern>,
    /// The directory that globs are relative to.
    pub(crate) start: &'a RelPath,
    /// The limits of matches in all, and in one file.
    pub(crate) limit: u64,
    pub(crate) per_file: Option<u64>,
    /// Show only the paths.
    pub(crate) files_only: bool,
    /// The limit of the text, in bytes.
    pub(crate) max_bytes: usize,
    pub(crate) cancel: &'a Cancel,
    /// Called with the number of files searched, and the current path.
    pub(crate) report: &'a (dyn Fn(u64, &RelPath) + Sync),
}

/// Searches the files of a walk.
pub(crate) fn search_tree(job: &Job<'_>, walk: &mut Walk<'_>) -> Report {
    let source = Mutex::new(Source {
        walk,
        current: None,
        next: 0,
        chosen: 0,
        passed_over: 0,
        unreadable: Unreadable::default(),
        is_incomplete: false,
    });
    let gather = Gather::new(job);
    let work = || work(job, &source, &gather);
    std::thread::scope(|scope| {
        let start = |helper: Option<Reservation>| {
            let thread = std::thread::Builder::new();
            let run = move || {
                work();
                drop(helper);
            };
            thread.spawn_scoped(scope, run).is_ok()
        };
        let is_started = start(None);
        for _ in 1..job.threads {
            let Some(helper) = job.permits.helper(job.cancel) else { break };
            if !start(Some(helper)) {
                break;
            }
        }
        // If the system has no more threads, the existing ones do the work.
        if !is_started {
            work();
        }
    });
    let mut report = gather.finish();
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.is_incomplete = source.is_incomplete || source.walk.cut;
    report.chosen = source.chosen;
    report.passed_over = source.passed_over;
    report.unreadable_directories = source.unreadable;
    report
}

/// Searches one file.
pub(crate) fn search_file(job: &Job<'_>, path: &WalkedPath) -> Report {
    let gather = Gather::new(job);
    let mut batch = Batch::default();
    let searched = FileSearcher::new(job.query, job.serial_executor).search(job.root, path, gather.room(), job.cancel);
    if let Some(searched) = searched {
        batch.push(searched);
    }
    gather.take(0, batch);
    Report { chosen: 1, ..gather.finish() }
}

fn work(job: &Job<'_>, source: &Mutex<Source<'_, '_>>, gather: &Gather<'_>) {
    let mut searcher = FileSearcher::new(job.query, job.serial_executor);
    loop {
        let Some((index, paths)) = lock(source).batch(job) else { return };
        let mut batch = Batch::default();
        for path in paths {
            if job.cancel.checkpoint() || batch.is_full(job) {
                break;
            }
            let Some(searched) = searcher.search(job.root, &path, gather.room(), job.cancel) else { break };
            batch.push(searched);
        }
        if gather.take(index, batch) {
            return;
        }
    }
}

/// The files of a walk, in batches.
struct Source<'w, 'r> {
    walk: &'w mut Walk<'r>,
    current: Option<(WalkedPath, Listing, usize)>,
    next: usize,
    chosen: u64,
    passed_over: u64,
    unreadable: Unreadable,
    is_incomplete: bool,
}

impl Source<'_, '_> {
    /// The next batch and its number; `None` at the end.
    fn batch(&mut self, job: &Job<'_>) -> Option<(usize, Vec<WalkedPath>)> {
        let most = if job.root.remote_file_system().is_some() { REMOTE_BATCH } else { BATCH };
        let mut paths = Vec::with_capacity(most);
        while paths.len() < most {
            if job.cancel.checkpoint() {
                return None;
            }
            let Some((dir, listing, at)) = &mut self.current else {
                if !self.enter() {
                    break;
                }
                continue;
            };
            let Some(entry) = listing.get(*at) else {
                self.current = None;
                continue;
            };
            *at += 1;
            if entry.kind != Kind::File {
                continue;
            }
            let path = dir.join(entry.name);
            if job.glob.is_none_or(|glob| glob.matches(path.shown(), job.start, entry.kind)) {
                self.chosen += 1;
                paths.push(path);
            } else {
                self.passed_over += 1;
            }
        }
        let index = self.next;
        self.next += 1;
        let last = paths.last()?;
        (job.report)(self.chosen, last.shown());
        Some((index, paths))
    }

    fn enter(&mut self) -> bool {
        let Some(visit) = self.walk.next() else { return false };
        match visit.listing {
            Ok((_, listing)) => {
                self.is_incomplete |= listing.cut;
                self.current = Some((visit.path, listing, 0));
            }
            Err(_) => self.unreadable.push(visit.path.shown().clone()),
        }
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
