//! `resources/list`: regular files, shallow paths first, because several clients show or read only the first page.

use std::ops::Range;
use std::sync::Arc;

use crate::call::{Annotations, Failure, Resource, ResourcePage};
use crate::features::content;
use crate::features::format::{counted, notes, shown, timestamp};
use crate::root::{Kind, RelPath, RootError, Stat};
use crate::runtime::concurrent::{self, REMOTE_OPERATIONS};
use crate::runtime::permits::Work;
use crate::services::context::Context;
use crate::services::snapshot::{Cursor, Snapshot};

/// The limit of names and URIs in a page, in bytes: a page with very long ones ends early. Most pages are a tenth of
/// this.
const MOST_BYTES: usize = 2 << 20;

/// How many files of a directory are described by one thread.
const RUN: usize = 64;

/// The first page if there is no cursor, else the page of the cursor.
pub(crate) fn list(cursor: Option<&str>, context: &Context) -> Result<ResourcePage, Failure> {
    let permit = context.permit(Work::Walk)?;
    let (snapshot, start) = match cursor {
        None => (Arc::new(walk(context)?), 0),
        Some(text) => resume(text, context)?,
    };
    let end = snapshot.len().min(start.saturating_add(context.limits().page));
    let (resources, end, bytes) = describe(&snapshot, start..end, context)?;
    // Its size is known only now. A client that does not read waits here, and must not block the walks of others.
    drop(permit);
    context.reserve(bytes as u64)?;
    let next_cursor = (end < snapshot.len()).then(|| snapshot.cursor(end - 1));
    let truncated = snapshot.truncated.then_some(context.limits().list);
    let ignored = snapshot.ignored;
    let fingerprint = cursor.is_none().then(|| snapshot.fingerprint());
    if next_cursor.is_some() && cursor.is_none() {
        context.snapshots().keep(snapshot);
    }
    Ok(ResourcePage { resources, next_cursor, truncated, ignored, fingerprint })
}

/// The snapshot of a cursor, or a new one, and the cursor's position in it.
fn resume(text: &str, context: &Context) -> Result<(Arc<Snapshot>, usize), Failure> {
    let cursor = Cursor::read(text)
        .ok_or_else(|| Failure::InvalidParams("Invalid cursor; start again without one.".to_owned()))?;
    let snapshot = if let Some(snapshot) = context.snapshots().find(&cursor) {
        snapshot
    } else {
        let snapshot = Arc::new(walk(context)?);
        context.snapshots().keep(Arc::clone(&snapshot));
        snapshot
    };
    let start = snapshot.position_after(&cursor.path);
    Ok((snapshot, start))
}

/// Finds the files, and logs what is missing from the list.
fn walk(context: &Context) -> Result<Snapshot, Failure> {
    let (root, limit) = (context.root(), context.limits().list);
    let walked = Snapshot::take(root, limit, &context.cancel, |directory, found| {
        context.report(found as u64 + 1, || format!("listing {}", shown(root, directory)));
    });
    let (snapshot, walk_notes) = walked.map_err(|error| match error {
        RootError::Cancelled => Failure::Cancelled,
        error => Failure::Internal(format!("The served directory cannot be listed: {error}.")),
    })?;
    for note in notes(root, &walk_notes) {
        tracing::warn!("resources/list: {note}");
    }
    if snapshot.ignored > 0 {
        tracing::info!(
            "resources/list: {} hidden by ignore files",
            counted(snapshot.ignored as u64, "entry", "entries")
        );
    }
    if snapshot.truncated {
        tracing::warn!("resources/list is cut to {limit} entries (--list-limit)");
    }
    Ok(snapshot)
}

/// The entries of one page with sizes and times, which are read only for these; the end of the page, if it is too long;
/// and the bytes of its text. Files that have disappeared or been replaced by something else are left out.
fn describe(
    snapshot: &Snapshot,
    range: Range<usize>,
    context: &Context,
) -> Result<(Vec<Resource>, usize, usize), Failure> {
    let root = context.root();
    let threads = if root.remote_file_system().is_some() { REMOTE_OPERATIONS } else { 1 };
    let (mut bytes, mut end) = (0, range.start);
    let mut resources = Vec::with_capacity(range.len());
    while end < range.end && bytes <= MOST_BYTES {
        context.cancel.check()?;
        let runs = runs(snapshot, end..range.end, threads);
        let described = concurrent::map(runs.len(), threads, |at| describe_run(snapshot, runs[at].clone(), context));
        end = runs.last().map_or(range.end, |run| run.end);
        for resource in described.into_iter().flatten() {
            bytes += resource.uri.len() + resource.name.len();
            resources.push(resource);
        }
    }
    context.cancel.check()?;
    Ok((resources, end, bytes))
}

/// The first `most` parts of a range that are each of one directory, and of few files.
fn runs(snapshot: &Snapshot, range: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::with_capacity(most);
    let mut start = range.start;
    while start < range.end && runs.len() < most {
        let (directory, _) = snapshot.file(start);
        let is_other = |at: &usize| !std::ptr::eq(snapshot.file(*at).0, directory);
        let longest = range.end.min(start + RUN);
        let end = (start + 1..longest).find(is_other).unwrap_or(longest);
        runs.push(start..end);
        start = end;
    }
    runs
}

fn describe_run(snapshot: &Snapshot, run: Range<usize>, context: &Context) -> Vec<Resource> {
    let (path, _) = snapshot.file(run.start);
    let Ok(directory) = context.root().directory_to_stat(path) else { return Vec::new() };
    let files = run.map(|index| snapshot.file(index).1).take_while(|_| !context.cancel.checkpoint());
    let described = files.filter_map(|name| {
        let stat = directory.stat(name).ok().filter(|stat| stat.kind == Kind::File)?;
        Some(resource(&path.join(name), &stat, context))
    });
    described.collect()
}

fn resource(path: &RelPath, stat: &Stat, context: &Context) -> Resource {
    Resource {
        uri: context.root().uri(path),
        mime_type: Some(content::media_type_of_name(path.file_name().unwrap_or_default()))
            .filter(|mime_type| *mime_type != content::UNKNOWN),
        size: Some(stat.size),
        annotations: stat.modified.and_then(timestamp).map(|last_modified| Annotations { last_modified }),
        name: shown(context.root(), path),
    }
}
