//! `resources/list`: regular files, shallow paths first, because several clients show or read only the first page.

use std::sync::Arc;

use crate::call::{Annotations, Failure, Resource, ResourcePage};
use crate::features::content;
use crate::features::format::{counted, notes, shown, timestamp};
use crate::root::{Directory, Kind, RelPath, RootError, Stat};
use crate::runtime::permits::Work;
use crate::services::context::Context;
use crate::services::snapshot::{Cursor, Snapshot};

/// The limit of names and URIs in a page, in bytes: a page with very long ones ends early. Most pages are a tenth of
/// this.
const MOST_BYTES: usize = 2 << 20;

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
    range: std::ops::Range<usize>,
    context: &Context,
) -> Result<(Vec<Resource>, usize, usize), Failure> {
    let root = context.root();
    let (mut bytes, mut end) = (0, range.end);
    let mut resources = Vec::with_capacity(range.len());
    let mut open: Option<(&RelPath, Directory<'_>)> = None;
    for index in range {
        context.cancel.check()?;
        if bytes > MOST_BYTES {
            end = index;
            break;
        }
        let (path, name) = snapshot.file(index);
        if open.as_ref().is_none_or(|(opened, _)| *opened != path) {
            open = root.open_real_directory(path).ok().map(|directory| (path, directory));
        }
        let Some((_, directory)) = &open else { continue };
        if let Some(stat) = directory.stat(name).ok().filter(|stat| stat.kind == Kind::File) {
            let resource = resource(&path.join(name), &stat, context);
            bytes += resource.uri.len() + resource.name.len();
            resources.push(resource);
        }
    }
    Ok((resources, end, bytes))
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
