//! `read_media_file`: an image or audio file for the model to see or hear; any other file as an embedded resource.

use super::arguments::parameters::file;
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::{Block, Contents, Data};
use crate::features::content::{self, MediaKind};
use crate::features::format::{grouped, shown};
use crate::features::text;
use crate::services::context::Context;

/// The maximum width and height of a picture in pixels. Claude's API rejects a larger one, and from then on every
/// request of that conversation.
const MOST_PIXELS: u32 = 8_000;

pub(super) const TOOL: Tool = Tool {
    name: "read_media_file",
    title: "Read media file",
    description: "Read an image (PNG, JPEG, GIF, WebP) or audio file (WAV, MP3, Ogg, FLAC, M4A, AAC) so that you can \
        see or hear it. The content decides the type, not the name. Any other file is returned as an embedded \
        resource. Refuses files over 3,750,000 bytes (by default) and images over 8,000 pixels a side. Use \
        read_text_file for text.",
    parameters: &[file()],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let file = root.locate(asked).and_then(|path| root.open_file(&path, &context.cancel));
    let file = file.map_err(|error| ToolError::at(asked, error))?;
    let (size, limit) = (file.stat.size, context.limits().blob_bytes as u64);
    if size > limit {
        let (path, size, limit) = (shown(root, &file.path), grouped(size), grouped(limit));
        return Err(ToolError::Message(format!(
            "{path}: {size} bytes; the limit is {limit} (--max-blob-bytes). Make a smaller copy."
        )));
    }
    context.reserve(size)?;
    let data = text::head(&file, limit as usize, &context.cancel).map_err(|error| ToolError::at(asked, error))?;
    let uri = root.uri(&file.path);
    let block = match content::media_kind(&data) {
        Some((MediaKind::Image, _)) if let Some((width, height)) = too_many_pixels(&data) => {
            let (path, most) = (shown(root, &file.path), grouped(MOST_PIXELS.into()));
            let (width, height) = (grouped(width.into()), grouped(height.into()));
            return Err(ToolError::Message(format!(
                "{path}: a picture of {width} x {height} pixels, and models refuse more than {most} a side. Make a \
                 smaller copy."
            )));
        }
        Some((MediaKind::Image, mime_type)) => Block::Image { mime_type: mime_type.to_owned(), data },
        Some((MediaKind::Audio, mime_type)) => Block::Audio { uri, mime_type: mime_type.to_owned(), data },
        None => {
            let is_text = crate::text::is_text(&data);
            let most = context.limits().output_bytes;
            if is_text && data.len() > most {
                let (path, size, most) = (shown(root, &file.path), grouped(size), grouped(most as u64));
                return Err(ToolError::Message(format!(
                    "{path}: text, {size} bytes, more than the {most} that fit. Use read_text_file, which gives parts."
                )));
            }
            let name = file.path.file_name().unwrap_or_default();
            let mime_type = content::media_type(name, &data, is_text).to_owned();
            Block::Resource(Contents {
                uri,
                mime_type,
                data: Data::from_bytes(data, is_text),
                continues: None,
                version: None,
            })
        }
    };
    Ok(vec![block])
}

fn too_many_pixels(picture: &[u8]) -> Option<(u32, u32)> {
    content::pixels(picture).filter(|(width, height)| *width.max(height) > MOST_PIXELS)
}
