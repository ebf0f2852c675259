//! What the tools that change something have in common.

use super::Problem;
use super::arguments::{Kind, Parameter, optional};
use crate::call::Block;
use crate::context::Context;
use crate::features::names::{counted, shown};
use crate::root::WritableRoot;
use crate::root::write::Written;

/// The parameter `createParents`.
pub(super) const fn create_parents() -> Parameter {
    optional("createParents", Kind::Flag, "Make missing directories on the way. Default false.")
}

/// The parameter `ifMatch`.
pub(super) const fn if_match() -> Parameter {
    let description = "Only if the file is still at this version, which get_file_info and every write give. Default: \
        whatever it is.";
    optional("ifMatch", Kind::Text, description)
}

/// The served directory, to be changed. A tool that changes something is not run without it.
pub(super) fn writable(context: &Context) -> Result<&WritableRoot, Problem> {
    context
        .writable()
        .ok_or_else(|| Problem::message("This server is read-only; it must be started with --allow-write."))
}

/// The official server's words for what was written, and a note of what it is now.
pub(super) fn wrote(context: &Context, words: &str, written: &Written) -> Vec<Block> {
    let text = format!("{words} {}", shown(context.root(), &written.path));
    vec![Block::Text(text.into()), Block::Text(note(written).into())]
}

/// What a file is after it was written.
pub(super) fn note(written: &Written) -> String {
    let created = if written.created { "created; " } else { "" };
    format!("[{created}{}; version {}]", counted(written.size, "byte", "bytes"), written.version)
}
