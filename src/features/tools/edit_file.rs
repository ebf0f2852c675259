//! `edit_file`: texts in a file replaced by others.

use super::arguments::{Kind, Parameter, optional, path};
use super::changing::{if_match, writable};
use super::problem::quoted;
use super::{Arguments, DESTRUCTIVE, Problem, Tool};
use crate::call::{Block, Failure};
use crate::context::Context;
use crate::features::edit::{self, EditError, Edited};
use crate::features::names::{counted, shown};
use crate::root::WritableRoot;
use crate::root::write::{Updated, Version};

pub(super) const TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit text file",
    description: "Replace texts in a text file by others. Each oldText must be in the file exactly once, or with \
        replaceAll at least once; white space counts, the kind of line ending does not. Edits are made in order, each \
        on what the ones before have made, and all of them or none. All else in the file stays as it is: line \
        endings, byte order mark, encoding. Gives the changes as a unified diff, and the file's new version. Files \
        up to 16 MiB; for a new file or all new content use write_file.",
    parameters: &[
        path("The file: relative to the served directory, absolute inside it, or a file:// URI."),
        Parameter {
            name: "edits",
            kind: Kind::Edits { most: 100 },
            required: true,
            description: "What to replace: 1 to 100 objects with oldText and newText.",
        },
        optional("replaceAll", Kind::Flag, "Replace every oldText wherever it is, not just one. Default false."),
        optional("dryRun", Kind::Flag, "Only show the diff, and write nothing. Default false."),
        if_match(),
    ],
    annotations: DESTRUCTIVE,
    quick: false,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, Problem> {
    // The file is held several times over: not for 64 calls at once.
    let _turn = context.change_turn()?;
    let updated = update(arguments, context)?;
    let note = note(&updated, arguments.flag("dryRun"));
    let name = shown(context.root(), &updated.written.path);
    let diff = edit::diff(&name, &updated.value, context.limits().output_bytes.saturating_sub(note.len()));
    Ok([diff, note].map(|text| Block::Text(text.into())).into())
}

fn update(arguments: &Arguments<'_>, context: &Context) -> Result<Updated<Edited>, Problem> {
    let asked = arguments.text("path");
    let path = context.root().locate(asked).map_err(|error| Problem::at(asked, error))?;
    let (root, version) = (writable(context)?, arguments.given_text("ifMatch").map(Version::new));
    let (edits, all, dry_run) = (arguments.edits("edits"), arguments.flag("replaceAll"), arguments.flag("dryRun"));
    let change = |file: &[u8]| {
        let mut edited = edit::apply(file, edits, all, &context.cancel)?;
        let bytes = std::mem::take(&mut edited.bytes);
        Ok(((edited.changed && !dry_run).then_some(bytes), edited))
    };
    let updated =
        WritableRoot::persist(|| root.update(&path, version.as_ref(), edit::MOST as u64, &context.cancel, change));
    let not_edited = |error: EditError| match error {
        EditError::Cancelled => Problem::Failure(Failure::Cancelled),
        error => Problem::Message(format!("{}: {error}.", quoted(asked))),
    };
    updated.map_err(|error| Problem::in_change(asked, error))?.map_err(not_edited)
}

/// Says how much was replaced, and what the file is now.
fn note(updated: &Updated<Edited>, dry_run: bool) -> String {
    let Updated { value: edited, written } = updated;
    let places = counted(edited.replaced as u64, "place", "places");
    let mut said = vec![match (edited.changed, dry_run) {
        (false, _) => {
            "nothing changed: the new text is the old one; line endings are kept; write_file can change them".to_owned()
        }
        (true, true) => format!("dry run: {places} would be replaced, nothing was written"),
        (true, false) => format!("{places} replaced"),
    }];
    said.extend(edited.encoding.as_ref().map(|encoding| format!("encoding: {encoding}")));
    said.push(format!("{}; version {}", counted(written.size, "byte", "bytes"), written.version));
    format!("[{}]", said.join("; "))
}
