//! Many files, searched on all processors, with an answer that does not depend on how many there are.
//!
//! Workers take small batches of files from one walk, in its order, and give back what they found. It is put together
//! in that order too: a batch that is early waits. As soon as enough was found, be it in batches that wait, no more
//! files are taken, as none of them could be shown; so what waits is bounded.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file::{FileSearcher, Found, Hit, Line, Searched};
use super::glob::NameGlob;
use super::query::Query;
use crate::features::format::{Unreadable, shown};
use crate::root::{Kind, Listing, RelPath, Root, Walk};
use crate::runtime::cancel::Cancel;

/// Files taken at once.
const BATCH: usize = 32;

/// What a search is to find.
pub(crate) struct Job<'a> {
    pub(crate) root: &'a Root,
    pub(crate) query: &'a Query,
    /// So many at work at once.
    pub(crate) threads: usize,
    /// Only files that this matches.
    pub(crate) glob: Option<&'a NameGlob>,
    /// What globs are relative to.
    pub(crate) start: &'a RelPath,
    /// Matches in all, and in one file.
    pub(crate) limit: u64,
    pub(crate) per_file: u64,
    /// Show the paths alone.
    pub(crate) files_only: bool,
    /// Bytes of text.
    pub(crate) max_bytes: usize,
    pub(crate) cancel: &'a Cancel,
    /// Hears how many files were searched, and where the search is.
    pub(crate) report: &'a (dyn Fn(u64, &RelPath) + Sync),
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The lines, ready to be shown.
    pub(crate) text: String,
    pub(crate) matches: u64,
    pub(crate) files_with_matches: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) binary: u64,
    pub(crate) unreadable: u64,
    pub(crate) too_long: u64,
    /// Directories that cannot be read.
    pub(crate) unreadable_directories: Unreadable,
    /// There are entries that the walk did not come to.
    pub(crate) is_incomplete: bool,
    /// There was more than the limits let through.
    pub(crate) is_cut: bool,
}

/// Searches the files of a walk.
pub(crate) fn search_tree(job: &Job<'_>, walk: &mut Walk<'_>) -> Report {
    let source =
        Mutex::new(Source { walk, current: None, next: 0, unreadable: Unreadable::default(), is_incomplete: false });
    let sink = Mutex::new(Sink::default());
    std::thread::scope(|scope| {
        for _ in 1..job.threads {
            // Where the system has no more threads, those that are there do it.
            if std::thread::Builder::new().spawn_scoped(scope, || work(job, &source, &sink)).is_err() {
                break;
            }
        }
        work(job, &source, &sink);
    });
    let mut report = sink.into_inner().unwrap_or_else(PoisonError::into_inner).report;
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.is_incomplete = source.is_incomplete || source.walk.cut;
    report.unreadable_directories = source.unreadable;
    report
}

/// Searches one file.
pub(crate) fn search_file(job: &Job<'_>, path: RelPath) -> Report {
    let searched = FileSearcher::new(job.query, job.per_file.min(job.limit)).search(job.root, path.clone(), job.cancel);
    let mut sink = Sink::default();
    sink.take(0, vec![(path, searched)], job);
    sink.report
}

fn work(job: &Job<'_>, source: &Mutex<Source<'_, '_>>, sink: &Mutex<Sink>) {
    let mut searcher = FileSearcher::new(job.query, job.per_file.min(job.limit));
    loop {
        let Some((index, paths)) = lock(source).batch(job) else { return };
        let mut searched = Vec::with_capacity(paths.len());
        for path in paths {
            if job.cancel.checkpoint() {
                break;
            }
            let found = searcher.search(job.root, path.clone(), job.cancel);
            searched.push((path, found));
        }
        if lock(sink).take(index, searched, job) {
            return;
        }
    }
}

/// The files of a walk, batch by batch.
struct Source<'w, 'r> {
    walk: &'w mut Walk<'r>,
    current: Option<(RelPath, Listing, usize)>,
    next: usize,
    unreadable: Unreadable,
    is_incomplete: bool,
}

impl Source<'_, '_> {
    /// The next batch and its number; `None` at the end.
    fn batch(&mut self, job: &Job<'_>) -> Option<(usize, Vec<RelPath>)> {
        let mut paths = Vec::with_capacity(BATCH);
        while paths.len() < BATCH {
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
            if job.glob.is_none_or(|glob| glob.matches(&path, job.start, entry.kind)) {
                paths.push(path);
            }
        }
        let index = self.next;
        self.next += 1;
        let last = paths.last()?;
        (job.report)((index * BATCH + paths.len()) as u64, last);
        Some((index, paths))
    }

    fn enter(&mut self) -> bool {
        let Some(visit) = self.walk.next() else { return false };
        match visit.listing {
            Ok((_, listing)) => {
                self.is_incomplete |= listing.cut;
                self.current = Some((visit.path, listing, 0));
            }
            Err(_) => self.unreadable.push(visit.path),
        }
        true
    }
}

/// What was found, put together in order.
#[derive(Default)]
struct Sink {
    next: usize,
    waiting: BTreeMap<usize, Vec<(RelPath, Searched)>>,
    waiting_matches: u64,
    report: Report,
    is_full: bool,
}

impl Sink {
    /// Takes a batch; `true` when no more are needed.
    fn take(&mut self, index: usize, batch: Vec<(RelPath, Searched)>, job: &Job<'_>) -> bool {
        self.waiting_matches += batch.iter().map(|(_, searched)| matches_in(searched)).sum::<u64>();
        self.waiting.insert(index, batch);
        while let Some(batch) = self.waiting.remove(&self.next) {
            self.next += 1;
            for (path, searched) in batch {
                self.waiting_matches -= matches_in(&searched);
                if !self.is_full {
                    self.add(&path, searched, job);
                }
            }
        }
        self.is_full || self.report.matches + self.waiting_matches > job.limit
    }

    fn add(&mut self, path: &RelPath, searched: Searched, job: &Job<'_>) {
        let report = &mut self.report;
        let (size, found) = match searched {
            Searched::Text(size, found) => (size, found),
            Searched::Binary => {
                report.binary += 1;
                return;
            }
            Searched::Unreadable => {
                report.unreadable += 1;
                return;
            }
            Searched::TooLong => {
                report.too_long += 1;
                return;
            }
        };
        report.files += 1;
        report.bytes += size;
        if !found.hits.is_empty() {
            self.is_full = !report.push(&shown(job.root, path), &found, job);
            report.is_cut |= self.is_full;
        }
    }
}

impl Report {
    /// Adds what was found in a file; `false` when it did not all fit.
    fn push(&mut self, path: &str, found: &Found, job: &Job<'_>) -> bool {
        self.is_cut |= found.is_cut && !job.files_only;
        let matches = self.matches;
        let fits = if job.files_only {
            self.push_hit(path.to_owned(), job)
        } else {
            found.hits.iter().enumerate().all(|(index, hit)| {
                let gap = hit.gap || (index == 0 && job.query.has_context());
                let separator = if gap && !self.text.is_empty() { "--\n" } else { "" };
                self.push_hit(format!("{separator}{}", shown_hit(path, hit)), job)
            })
        };
        self.files_with_matches += u64::from(self.matches > matches);
        fits
    }

    /// Adds one match, whole; the first one as far as it fits.
    fn push_hit(&mut self, mut text: String, job: &Job<'_>) -> bool {
        if self.matches >= job.limit {
            return false;
        }
        if self.text.is_empty() {
            text.truncate(text.floor_char_boundary(job.max_bytes));
        } else if self.text.len() + text.len() + 1 > job.max_bytes {
            return false;
        } else {
            self.text.push('\n');
        }
        self.text.push_str(&text);
        self.matches += 1;
        true
    }
}

fn shown_hit(path: &str, hit: &Hit) -> String {
    let lines = hit.lines.iter().map(|Line { number, is_match, text }| {
        if *is_match { format!("{path}:{number}: {text}") } else { format!("{path}-{number}- {text}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn matches_in(searched: &Searched) -> u64 {
    match searched {
        Searched::Text(_, found) => found.hits.len() as u64,
        _ => 0,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
