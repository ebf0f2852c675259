//! `get_file_info`: facts about a file or directory.

use std::fmt::Write as _;

use super::arguments::parameters::file_or_directory;
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::content;
use crate::features::format::{shown, timestamp};
use crate::features::text::{self, SAMPLE};
use crate::root::write::Version;
use crate::root::{Kind, RelPath, RootError, Stat};
use crate::services::context::Context;

pub(super) const TOOL: Tool = Tool {
    name: "get_file_info",
    title: "Get file info",
    description: "Show metadata of a file or directory, one \"key: value\" per line: size in bytes, created, modified \
        and accessed (UTC), isDirectory, isFile, permissions. For a file also its version (for ifMatch), media type, \
        encoding and line endings; for a link, its target inside the served directory.",
    parameters: &[file_or_directory("path")],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let at = |error| ToolError::at(asked, error);
    let path = root.locate(asked).map_err(at)?;
    let (real, stat) = root.stat(&path, &context.cancel).map_err(at)?;
    let mut lines = facts(&stat);
    if stat.kind == Kind::File {
        let _ = writeln!(lines, "version: {}", Version::of(&stat));
    }
    if root.is_link(&path, &context.cancel) {
        let _ = writeln!(lines, "link: to {}, {}", stat.kind, shown(root, &real));
    }
    match stat.kind {
        Kind::File => lines += &contents(&real, context).map_err(at)?,
        Kind::Directory => lines += "mimeType: inode/directory\n",
        other => {
            let _ = writeln!(lines, "kind: {other}, cannot be read");
        }
    }
    lines.pop();
    Ok(vec![Block::Text(lines.into())])
}

fn facts(stat: &Stat) -> String {
    let mut lines = format!("size: {}\n", stat.size);
    for (key, time) in [("created", stat.created), ("modified", stat.modified), ("accessed", stat.accessed)] {
        let time = time.and_then(timestamp).unwrap_or_else(|| "unknown".to_owned());
        let _ = writeln!(lines, "{key}: {time}");
    }
    let _ = writeln!(lines, "isDirectory: {}", stat.kind == Kind::Directory);
    let _ = writeln!(lines, "isFile: {}", stat.kind == Kind::File);
    let _ = writeln!(lines, "permissions: {:03o}", stat.mode);
    lines
}

/// What the first bytes of a file reveal. A file that cannot be read keeps its other facts.
fn contents(real: &RelPath, context: &Context) -> Result<String, RootError> {
    let file = match context.root().open_real_file(real.clone()) {
        Ok(file) => file,
        Err(error @ RootError::PermissionDenied) => return Ok(format!("contents: {error}\n")),
        Err(error) => return Err(error),
    };
    let sample = text::head(&file, SAMPLE, &context.cancel)?;
    let name = real.file_name().unwrap_or_default();
    let is_whole = sample.len() as u64 >= file.stat.size;
    let Some(encoding) = text::detect(&sample, is_whole) else {
        return Ok(format!("mimeType: {}\nencoding: binary\n", content::media_type(name, &sample, false)));
    };
    let decoded = encoding.decode_sample(&sample);
    let mime_type = content::media_type(name, &sample, true);
    let of = if is_whole { "" } else { " (of the first 64 KiB)" };
    let line_ending = text::line_ending(&decoded);
    Ok(format!("mimeType: {mime_type}\nencoding: {}\nlineEnding: {line_ending}{of}\n", encoding.name()))
}
