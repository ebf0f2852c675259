//! `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`: which changes a client is notified of.
//!
//! URIs are parsed as in `resources/read`, with the same errors. A stream is not rejected because of one URI: the
//! acknowledgement leaves out those that cannot be followed.

use super::failure;
use super::read::split_range;
use crate::call::{Failure, Interests, ListKind, Listening, Subject, Subscription};
use crate::object;
use crate::root::{FileState, RequestedPath, RootError, WatchPath};
use crate::services::context::Context;

/// Subscribes to one resource, which must exist.
pub(crate) fn subscribe(uri: &str, context: &Context) -> Result<Subscription, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/subscribe"));
    }
    let (subject, path) = find(uri, context)?;
    if path.state == FileState::Absent {
        return Err(failure(uri, RootError::NotFound));
    }
    Ok(Subscription { subject, path })
}

/// Ends a subscription. It is not an error if there was none.
pub(crate) fn unsubscribe(uri: &str, context: &Context) -> Result<Subject, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/unsubscribe"));
    }
    read(uri, context).map(|(subject, _)| subject)
}

/// Opens a stream. It can follow files that do not exist yet, if their directory does.
pub(crate) fn listen(interests: &Interests, context: &Context) -> Result<Listening, Failure> {
    let watch = context.watch();
    let mut subscriptions: Vec<Subscription> = Vec::new();
    let wanted = interests.uris.iter().filter(|_| !watch.is_off());
    for uri in wanted {
        context.cancel.check()?;
        match find(uri, context) {
            Ok((subject, _)) if subscriptions.iter().any(|other| other.subject == subject) => {}
            Ok((subject, path)) => subscriptions.push(Subscription { subject, path }),
            Err(Failure::Cancelled) => return Err(Failure::Cancelled),
            Err(why) => {
                let why = object::shortened(&format!("{why:?}"));
                tracing::info!("subscriptions/listen: one resource is left out: {why}");
            }
        }
    }
    let is_there = |list: &ListKind| match list {
        ListKind::Resources => !watch.is_off(),
        ListKind::Prompts => !watch.is_off() && context.prompts().is_some(),
    };
    Ok(Listening { lists: interests.lists.iter().copied().filter(is_there).collect(), subscriptions })
}

fn find(uri: &str, context: &Context) -> Result<(Subject, WatchPath), Failure> {
    let (subject, asked) = read(uri, context)?;
    let path = context.root().watch_path(&asked, &context.cancel).map_err(|error| failure(uri, error))?;
    Ok((subject, path))
}

fn read(uri: &str, context: &Context) -> Result<(Subject, RequestedPath), Failure> {
    let root = context.root();
    let (reference, _) = split_range(uri)?;
    let asked = root.locate_uri(reference).map_err(|error| failure(uri, error))?;
    let range = uri[reference.len()..].to_owned();
    let uri = root.absolute_uri(reference, &asked.path) + &range;
    Ok((Subject { uri, path: asked.path.clone(), range }, asked))
}

fn switched_off(method: &'static str) -> Failure {
    Failure::SwitchedOff { method, runs: "with --watch off" }
}
