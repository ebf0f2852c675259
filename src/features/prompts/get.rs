//! `prompts/get`: a prompt with its arguments filled in, and the files that it embeds, read through the root.

use super::folder;
use super::list::unknown;
use super::parse::Template;
use super::render::{self, MOST_BYTES, Part, RenderError};
use super::{failure, folder_of};
use crate::call::{Block, Contents, Data, Failure, PromptMessages};
use crate::features::{resources, text};
use crate::root::RootError;
use crate::services::context::Context;

/// The messages of the prompt.
pub(crate) fn get(name: &str, arguments: &[(String, String)], context: &Context) -> Result<PromptMessages, Failure> {
    let template = find(name, "prompts/get", context)?;
    let parts = render::render(&template, arguments).map_err(|error| refused(&error))?;
    context.reserve(MOST_BYTES as u64)?;
    let mut room = MOST_BYTES;
    let mut content = Vec::with_capacity(parts.len());
    for part in parts {
        content.push(match part {
            Part::Text(text) => {
                room = room.checked_sub(text.len()).ok_or_else(|| refused(&RenderError::TooLong))?;
                Block::Text(text.into())
            }
            Part::File(path) => Block::Resource(embed(&path, &mut room, context)?),
        });
    }
    Ok(PromptMessages { description: template.description, content })
}

/// The prompt of this name, for `method`.
pub(crate) fn find(name: &str, method: &'static str, context: &Context) -> Result<Template, Failure> {
    let folder = folder_of(context, method)?;
    match folder::open(context.root(), folder, name, &context.cancel) {
        Ok(Ok(template)) => Ok(template),
        Ok(Err(why)) => Err(unknown(name, Some(&why.to_string()))),
        Err(RootError::Cancelled) => Err(Failure::Cancelled),
        Err(error) if error.is_passing() => Err(failure(&error)),
        // Including denied ones: nothing is revealed about files that are not listed.
        Err(_) => Err(unknown(name, None)),
    }
}

/// A file of the served directory as a whole, if there is room for it.
fn embed(path: &str, room: &mut usize, context: &Context) -> Result<Contents, Failure> {
    let root = context.root();
    let asked = root.locate(path).map_err(|error| unreadable(path, path.to_owned(), &error))?;
    let uri = root.uri(&asked.path);
    let read = root.open_file(&asked, &context.cancel).and_then(|file| {
        let bytes = text::head(&file, *room + 1, &context.cancel)?;
        Ok((file, bytes))
    });
    let (file, bytes) = read.map_err(|error| unreadable(path, uri, &error))?;
    let is_whole = bytes.len() as u64 >= file.stat.size;
    let data = Data::from_bytes(bytes, true);
    let length = match &data {
        Data::Text(text) => text.len(),
        Data::Blob(bytes) => bytes.len().div_ceil(3) * 4,
    };
    *room = room.checked_sub(length).filter(|_| is_whole).ok_or_else(|| refused(&RenderError::TooLong))?;
    let uri = root.uri(&file.path);
    Ok(Contents { uri, mime_type: resources::media_type(&file, &data), data, continues: None, version: None })
}

fn refused(error: &RenderError) -> Failure {
    Failure::InvalidParams(error.to_string())
}

/// The client can do nothing about what the author of the prompt wrote.
fn unreadable(path: &str, uri: String, error: &RootError) -> Failure {
    match error {
        RootError::Cancelled => Failure::Cancelled,
        error => Failure::Unreadable { uri, message: format!("The prompt embeds {path:?}: {error}.") },
    }
}
