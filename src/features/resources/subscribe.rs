//! `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`: what a client hears of.
//!
//! A URI is read as `resources/read` reads it, and refused with the same words. A stream is not refused for one of its
//! URIs: what cannot be followed is left out of what it is told that it hears of.

use super::read::split_range;
use super::{LONGEST_URI, failure};
use crate::call::{Failure, Interests, Listening, Subject, Subscription};
use crate::context::Context;
use crate::features::watch::ListWatched;
use crate::root::{Asked, Blocking, Facts, RootError, Trail};

/// Subscribes to one resource, which must be there.
pub fn subscribe(uri: &str, context: &Context) -> Result<Subscription, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/subscribe"));
    }
    let (subject, trail) = find(uri, context)?;
    if trail.facts == Facts::Absent {
        // Where this may not block, it may be there under another form of its name.
        let error = if context.may_block { RootError::NotFound } else { RootError::WouldBlock };
        return Err(failure(uri, error));
    }
    let followed = context.watch().follow(trail).map_err(|why| Failure::Internal(why.to_string()))?;
    Ok(Subscription { subject, followed })
}

/// Ends a subscription; one that never was, too.
pub fn unsubscribe(uri: &str, context: &Context) -> Result<Subject, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/unsubscribe"));
    }
    read(uri, context).map(|(subject, _)| subject)
}

/// Begins a stream. It hears of what may come to be as well, where the directory is there.
pub fn listen(interests: &Interests, context: &Context) -> Result<Listening, Failure> {
    let watch = context.watch();
    let mut subscriptions: Vec<Subscription> = Vec::new();
    let wanted = interests.uris.iter().filter(|_| !watch.is_off());
    for uri in wanted {
        context.cancel.check()?;
        match find(uri, context) {
            Ok((subject, _)) if subscriptions.iter().any(|other| other.subject == subject) => {}
            Ok((subject, trail)) => match watch.follow(trail) {
                Ok(followed) => subscriptions.push(Subscription { subject, followed }),
                Err(why) => {
                    tracing::warn!("subscriptions/listen: {} resources are followed. {why}", subscriptions.len());
                    break;
                }
            },
            Err(Failure::Cancelled) => return Err(Failure::Cancelled),
            Err(why) => tracing::info!("subscriptions/listen: one resource is left out: {why:?}"),
        }
    }
    let list = (interests.list && !watch.is_off()).then(|| watch.watch_list());
    let list = list.filter(ListWatched::is_watched);
    Ok(Listening { list, subscriptions })
}

fn find(uri: &str, context: &Context) -> Result<(Subject, Trail), Failure> {
    let blocking = if context.may_block { Blocking::Allowed } else { Blocking::Refused };
    let (subject, asked) = read(uri, context)?;
    let trail = context.root().trail(&asked, blocking).map_err(|error| failure(uri, error))?;
    Ok((subject, trail))
}

fn read(uri: &str, context: &Context) -> Result<(Subject, Asked), Failure> {
    let root = context.root();
    let (reference, _) = split_range(uri)?;
    let asked = root.locate_uri(reference).map_err(|error| failure(uri, error))?;
    let is_short = uri.len() <= LONGEST_URI; // a longer one says the same with more words, and is not kept as it is
    let range = uri[reference.len()..].to_owned();
    let uri = if is_short { root.absolute_uri(reference, &asked.path) + &range } else { root.uri(&asked.path) };
    let range = if is_short { range } else { String::new() };
    Ok((Subject { uri, path: asked.path.clone(), range }, asked))
}

fn switched_off(method: &'static str) -> Failure {
    Failure::SwitchedOff { method, option: "--watch off" }
}
