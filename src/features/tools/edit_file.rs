//! `edit_file`: replaces texts in a file.

use std::sync::Arc;

use super::arguments::Kind;
use super::arguments::parameters::{file, flag, if_match, required};
use super::tool_error::quoted;
use super::write_common::{facts, not_writable};
use super::{Arguments, DESTRUCTIVE, Inline, Tool, ToolError};
use crate::call::{Block, Failure};
use crate::features::edit::{self, Edit, EditError, Edited};
use crate::features::format::{counted, shown};
use crate::root::write::{UpdateError, Updated, Version};
use crate::root::{RequestedPath, WritableRoot};
use crate::runtime::cancel::Cancel;
use crate::runtime::permits::Work;
use crate::services::{Services, context::Context};

pub(super) const TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit text file",
    description: "Replace text in a file. Each oldText must occur exactly once, or at least once with replaceAll. \
        White space must match; the kind of line ending need not. Edits are applied in order, each to the result of \
        the ones before; either all are applied or none. Everything else stays as it is: line endings, byte order \
        mark, encoding. Returns a unified diff and the file's new version. Files up to 16 MiB. To create a file or \
        replace its whole content, use write_file.",
    parameters: &[
        file(),
        required("edits", Kind::Edits { most: 100 }, "The replacements: 1 to 100 objects with oldText and newText."),
        flag("replaceAll", "Replace every occurrence of each oldText."),
        flag("dryRun", "Return the diff without writing."),
        if_match(),
    ],
    annotations: DESTRUCTIVE,
    inline: Inline::Never,
    run,
};

/// A file of at least this many bytes is edited on the serial executor, because it is in memory several times.
const LARGE: u64 = 1 << 20;

const NO_THREAD: &str = "The system has no thread for an edit of this size, so nothing was done; try again later, or raise \
                         the server's limit of processes (ulimit -u, or the container's).";

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let _permit = context.permit(Work::Edit)?;
    let job = EditJob::read(arguments, context)?;
    let size = context.root().stat(&job.path, &context.cancel).map_or(0, |(_, stat)| stat.size);
    if size < LARGE {
        return job.run(context.services());
    }
    if !context.services().serial_executor.has_thread() {
        return Err(ToolError::message(NO_THREAD));
    }
    let services = Arc::clone(context.services());
    let done = context.services().serial_executor.run(&context.cancel, move || job.run(&services));
    context.cancel.check()?;
    done.unwrap_or_else(|| Err(ToolError::message("Internal error while editing; the server keeps running.")))
}

/// What to do, with everything it needs, so that any thread can do it.
struct EditJob {
    asked: String,
    path: RequestedPath,
    edits: Vec<Edit>,
    replace_all: bool,
    dry_run: bool,
    version: Option<Version>,
    cancel: Cancel,
}

impl EditJob {
    fn read(arguments: &Arguments<'_>, context: &Context) -> Result<Self, ToolError> {
        let asked = arguments.text("path").to_owned();
        Ok(Self {
            path: context.root().locate(&asked).map_err(|error| ToolError::at(&asked, error))?,
            asked,
            edits: arguments.edits("edits").to_vec(),
            replace_all: arguments.flag("replaceAll"),
            dry_run: arguments.flag("dryRun"),
            version: arguments.given_text("ifMatch").map(Version::new),
            cancel: context.cancel.clone(),
        })
    }

    fn run(&self, services: &Services) -> Result<Vec<Block>, ToolError> {
        let updated = self.update(services.writable.as_ref().ok_or_else(not_writable)?)?;
        let note = note(&updated, self.dry_run);
        let name = shown(&services.root, &updated.written.path);
        let diff = edit::diff(&name, &updated.value, services.limits.output_bytes.saturating_sub(note.len()));
        Ok([diff, note].map(|text| Block::Text(text.into())).into())
    }

    fn update(&self, root: &WritableRoot) -> Result<Updated<Edited>, ToolError> {
        let change = |file: &[u8]| {
            let mut edited = edit::apply(file, &self.edits, self.replace_all, &self.cancel)?;
            let bytes = std::mem::take(&mut edited.bytes);
            Ok(((edited.changed && !self.dry_run).then_some(bytes), edited))
        };
        let (version, most) = (self.version.as_ref(), edit::MOST as u64);
        root.update(&self.path, version, most, &self.cancel, change).map_err(|error| match error {
            UpdateError::Write(error) => ToolError::in_change(&self.asked, error),
            UpdateError::Change(EditError::Cancelled) => ToolError::Failure(Failure::Cancelled),
            UpdateError::Change(error) => ToolError::Message(format!("{}: {error}.", quoted(&self.asked))),
        })
    }
}

/// How much was replaced, and the facts about the file now.
fn note(updated: &Updated<Edited>, dry_run: bool) -> String {
    let Updated { value: edited, written } = updated;
    let places = counted(edited.replaced as u64, "place", "places");
    let mut said = vec![match (edited.changed, dry_run) {
        (false, _) => {
            "nothing changed: the new text equals the old one (line endings are kept; use write_file to change them)"
                .to_owned()
        }
        (true, true) => format!("dry run: {places} would be replaced; nothing was written"),
        (true, false) => format!("{places} replaced"),
    }];
    said.extend(edited.encoding.as_ref().map(|encoding| format!("encoding: {encoding}")));
    said.extend(facts(written));
    format!("[{}]", said.join("; "))
}
