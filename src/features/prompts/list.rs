//! `prompts/list`: in pages, sorted by name. A cursor contains the last name returned, so it is valid in any process,
//! and continues at the right place when prompts appear or disappear.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use super::folder::{self, Found, MOST_PROMPTS};
use super::{failure, folder_of};
use crate::call::{Failure, Prompt, PromptPage};
use crate::features::format::shown;
use crate::limits::LONGEST_URI;
use crate::object;
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// The limit of text in a page, in bytes: a page with very long descriptions ends early.
const MOST_BYTES: usize = 1 << 20;

/// The first page if there is no cursor, else the page of the cursor.
pub(crate) fn list(cursor: Option<&str>, context: &Context) -> Result<PromptPage, Failure> {
    let folder = folder_of(context, "prompts/list")?;
    let last = match cursor {
        Some(text) => {
            let invalid = || Failure::InvalidParams("Invalid cursor; start again without one.".to_owned());
            Some(read_cursor(text).ok_or_else(invalid)?)
        }
        None => None,
    };
    let permit = context.permit(Work::Walk)?;
    let found = folder::find(context.root(), folder, &context.cancel).map_err(|error| failure(&error))?;
    drop(permit);
    say(&found, context);
    let fingerprint = cursor.is_none().then(|| found.fingerprint());
    let start = last.map_or(0, |last| found.prompts.partition_point(|prompt| prompt.name <= last));
    let rest = &found.prompts[start..];
    let end = page_end(rest, context.limits().page);
    context.reserve(rest[..end].iter().map(bytes).sum::<usize>() as u64)?;
    let next_cursor = (end < rest.len()).then(|| write_cursor(&rest[end - 1].name));
    Ok(PromptPage { prompts: rest[..end].to_vec(), next_cursor, fingerprint })
}

/// The number of prompts on a page, at least one.
fn page_end(rest: &[Prompt], most: usize) -> usize {
    let mut sum = 0;
    let fitting = rest.iter().take_while(|prompt| {
        sum += bytes(prompt);
        sum <= MOST_BYTES
    });
    fitting.count().clamp(1, most).min(rest.len())
}

fn bytes(prompt: &Prompt) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let arguments = prompt.arguments.iter().map(|argument| argument.name.len() + length(&argument.description) + 64);
    prompt.name.len() + length(&prompt.title) + length(&prompt.description) + arguments.sum::<usize>() + 64
}

/// Logs what is missing from the list.
fn say(found: &Found, context: &Context) {
    for (path, why) in &found.bad {
        tracing::warn!("prompts/list: {} is left out: {why}", shown(context.root(), path));
    }
    if found.is_cut {
        tracing::warn!("prompts/list is cut to {MOST_PROMPTS} files");
    }
}

/// The name and its length, which reveals a cursor that was cut off.
fn write_cursor(name: &str) -> String {
    format!("prompts.{}.{}", name.len(), percent_encode(name.as_bytes(), NON_ALPHANUMERIC))
}

/// Parses the output of [`write_cursor`]; `None` for anything else.
fn read_cursor(text: &str) -> Option<String> {
    if text.len() > LONGEST_URI {
        return None;
    }
    let (_, encoded) = text.strip_prefix("prompts.")?.split_once('.')?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?.into_owned();
    (!name.is_empty() && write_cursor(&name) == text).then_some(name)
}

/// The failure for an unknown prompt.
pub(super) fn unknown(name: &str, why: Option<&str>) -> Failure {
    let name = object::shortened(name);
    Failure::InvalidParams(match why {
        Some(why) => format!("Unknown prompt: {name}. Its file is no prompt: {why}."),
        None => format!("Unknown prompt: {name}. See prompts/list."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_can_be_read_and_nothing_else_is_one() {
        let text = write_cursor("a b/é");
        assert_eq!(text, "prompts.6.a%20b%2F%C3%A9");
        assert_eq!(read_cursor(&text).as_deref(), Some("a b/é"));
        for bad in ["", "prompts", "prompts.0.", "prompts.6.a%20b%2F", "prompts.1.%61", "prompts.1.%FF", "0feed.1.a"] {
            assert_eq!(read_cursor(bad), None, "{bad}");
        }
    }
}
