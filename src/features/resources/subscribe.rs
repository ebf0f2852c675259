//! `resources/subscribe`, `resources/unsubscribe` and `subscriptions/listen`: what a client hears of.
//!
//! A URI is read as `resources/read` reads it, and refused with the same words. A stream is not refused for one of its
//! URIs: what cannot be followed is left out of what it is told that it hears of.

use super::failure;
use super::read::split_range;
use crate::call::{Failure, Interests, Listening, Outcome, Subscription};
use crate::context::Context;
use crate::root::{Asked, Facts, RootError, Trail};

/// Subscribes to one resource, which must be there.
pub fn subscribe(uri: &str, context: &Context) -> Result<Subscription, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/subscribe"));
    }
    let (asked, trail) = trail(uri, context)?;
    if trail.facts == Facts::Absent {
        return Err(failure(uri, RootError::NotFound));
    }
    follow(uri, &asked, trail, context).ok_or_else(|| {
        let most = context.limits().watch.followed;
        Failure::Internal(format!("There are {most} subscriptions, and cannot be more; unsubscribe from others first."))
    })
}

/// Ends a subscription; one that never was, too.
pub fn unsubscribe(uri: &str, context: &Context) -> Result<Outcome, Failure> {
    if context.watch().is_off() {
        return Err(switched_off("resources/unsubscribe"));
    }
    let (reference, _) = split_range(uri)?;
    let asked = context.root().locate_uri(reference).map_err(|error| failure(uri, error))?;
    Ok(Outcome::Unsubscribed { uri: uri.to_owned(), path: asked.path })
}

/// Begins a stream. It hears of what may come to be as well, where the directory is there.
pub fn listen(interests: &Interests, context: &Context) -> Result<Listening, Failure> {
    let watch = context.watch();
    let mut subscriptions: Vec<Subscription> = Vec::new();
    let wanted = interests.uris.iter().filter(|_| !watch.is_off());
    for uri in wanted {
        context.cancel.check()?;
        match trail(uri, context) {
            Ok((asked, trail)) => match follow(uri, &asked, trail, context) {
                Some(same) if subscriptions.iter().any(|other| other.uri == same.uri) => {}
                Some(subscription) => subscriptions.push(subscription),
                None => {
                    tracing::warn!(
                        "subscriptions/listen: only {} resources are followed",
                        context.limits().watch.followed
                    );
                    break;
                }
            },
            Err(Failure::Cancelled) => return Err(Failure::Cancelled),
            Err(why) => tracing::info!("subscriptions/listen: one resource is left out: {why:?}"),
        }
    }
    let list = (interests.list && !watch.is_off()).then(|| watch.watch_list());
    Ok(Listening { list, subscriptions })
}

fn trail(uri: &str, context: &Context) -> Result<(Asked, Trail), Failure> {
    let (reference, _) = split_range(uri)?;
    let asked = context.root().locate_uri(reference).map_err(|error| failure(uri, error))?;
    let trail = context.root().trail(&asked).map_err(|error| failure(uri, error))?;
    Ok((asked, trail))
}

fn follow(uri: &str, asked: &Asked, trail: Trail, context: &Context) -> Option<Subscription> {
    let reference = split_range(uri).map_or(uri, |(reference, _)| reference);
    let uri = context.root().absolute_uri(reference, &asked.path) + &uri[reference.len()..];
    context.watch().follow(trail).map(|followed| Subscription { uri, followed })
}

fn switched_off(method: &'static str) -> Failure {
    Failure::SwitchedOff { method, option: "--watch off" }
}
