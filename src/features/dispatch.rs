//! From a call to the feature that serves it.

use std::time::Duration;

use crate::call::{Call, Failure, Outcome};
use crate::features::{completion, prompts, resources, tools};
use crate::root::{RequestedPath, Root};
use crate::services::context::Context;

/// Serves a call. May wait for a disk, unless [`inline`] selected the call.
pub fn dispatch(call: &Call, context: &Context) -> Result<Outcome, Failure> {
    match call {
        Call::ListTools => Ok(Outcome::Tools(tools::definitions(context.writable().is_some()))),
        Call::CallTool { name, arguments } => tools::call(name, arguments.as_deref(), context).map(Outcome::Tool),
        Call::ListResources { cursor } => resources::list(cursor.as_deref(), context).map(Outcome::Resources),
        Call::ReadResource { uri } => resources::read(uri, context).map(Outcome::Contents),
        Call::Subscribe { uri } => resources::subscribe(uri, context).map(Outcome::Subscribe),
        Call::Unsubscribe { uri } => resources::unsubscribe(uri, context).map(Outcome::Unsubscribe),
        Call::Listen(interests) => resources::listen(interests, context).map(Outcome::Listen),
        Call::ListResourceTemplates => Ok(Outcome::ResourceTemplates(resources::templates(context.root()))),
        Call::ListPrompts { cursor } => prompts::list(cursor.as_deref(), context).map(Outcome::Prompts),
        Call::GetPrompt { name, arguments } => prompts::get(name, arguments, context).map(Outcome::Prompt),
        Call::CompletePrompt { prompt, argument, value } => {
            completion::complete_prompt(prompt, argument, value, context).map(Outcome::Completion)
        }
        Call::Complete { template, argument, value } => {
            completion::complete(template, argument, value, context).map(Outcome::Completion)
        }
    }
}

/// The answer to a call whose work is stuck: it has shown no progress for `after`.
pub(crate) fn timed_out(call: &Call, after: Duration) -> Result<Outcome, Failure> {
    let message = format!("The file system did not respond within {} s (--io-timeout).", after.as_secs());
    match call {
        Call::CallTool { name, .. } => Ok(Outcome::Tool(tools::timed_out(name, &message))),
        Call::ReadResource { uri } | Call::Subscribe { uri } => {
            Err(Failure::Unreadable { uri: uri.clone(), message: message + " Try again later." })
        }
        _ => Err(Failure::Internal(message)),
    }
}

/// The answer to a call for which the system has no thread. Nothing was done.
pub(crate) fn no_thread(call: &Call) -> Result<Outcome, Failure> {
    let message = "There is no thread for this request, so nothing was done: the system has no thread (raise ulimit -u, or the \
                   container's limit of processes), or all are blocked in a file system that does not answer. Try \
                   again later.";
    match call {
        Call::CallTool { .. } => Ok(Outcome::Tool(tools::not_begun(message))),
        Call::ReadResource { uri } | Call::Subscribe { uri } => {
            Err(Failure::Unreadable { uri: uri.clone(), message: message.to_owned() })
        }
        _ => Err(Failure::Internal(message.to_owned())),
    }
}

/// Whether a call is served on the event loop's own thread: a hop to another thread costs more than a small read.
#[derive(Debug, PartialEq, Eq)]
pub enum Inline {
    /// It needs no disk.
    Always,
    /// It reads this file, and is served inline if that is small and in the page cache.
    SmallFile(RequestedPath),
    /// It may wait for a disk or take long.
    Never,
}

/// Decided from the call alone. Whether a file is small and cached is up to the root ([`Root::read_cached`]).
pub(crate) fn inline(call: &Call, root: &Root) -> Inline {
    let file = match call {
        Call::ListTools | Call::ListResourceTemplates | Call::Unsubscribe { .. } => return Inline::Always,
        Call::ReadResource { uri } => resources::path_of(uri, root),
        Call::CallTool { name, arguments } => match (tools::inline(name), arguments) {
            (tools::Inline::Always, _) => return Inline::Always,
            (tools::Inline::SmallFile, Some(arguments)) => tools::path_of(arguments, root),
            _ => None,
        },
        Call::Subscribe { .. }
        | Call::ListResources { .. }
        | Call::Listen(_)
        | Call::ListPrompts { .. }
        | Call::GetPrompt { .. }
        | Call::Complete { .. }
        | Call::CompletePrompt { .. } => None,
    };
    file.map_or(Inline::Never, Inline::SmallFile)
}
