//! `search_text`: the lines of files in which a text is.

use super::arguments::{Kind, Parameter, optional};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError, search_files};
use crate::call::Block;
use crate::features::format::{self, counted, shown, size};
use crate::features::search::glob::NameGlob;
use crate::features::search::query::{Options, Query};
use crate::features::search::workers::{self, Job, Report};
use crate::root::{Kind as EntryKind, Root, RootError};
use crate::services::context::Context;

/// Matches when nothing is said.
const DEFAULT_LIMIT: u64 = 200;
/// Lines around a match, at most.
const MOST_CONTEXT: u64 = 100;

pub(super) const TOOL: Tool = Tool {
    name: "search_text",
    title: "Search text in files",
    description: "Find a text, or with regex true a regular expression, in the contents of files (grep). Gives \
        \"path:line: text\" for each match; long lines are cut around it. Capitals count only if the query has one, \
        unless caseSensitive says otherwise. Searches all files below path, or one file; leaves out binary files, \
        what .gitignore hides unless includeIgnored is true, and version control's own directories. UTF-16 and older \
        encodings are searched too. The note says how much was searched and what was cut.",
    parameters: &[
        Parameter {
            name: "query",
            kind: Kind::Text,
            required: true,
            description: "The text to find, literally unless regex is true.",
        },
        optional(
            "path",
            Kind::Text,
            "The directory or file to search: relative to the served directory, absolute inside it, or a file:// URI. Default: the served directory.",
        ),
        optional(
            "regex",
            Kind::Flag,
            "The query is a regular expression (Rust syntax, no look-around). Default false.",
        ),
        optional("caseSensitive", Kind::Flag, "true or false. Default: only if the query has a capital."),
        optional("glob", Kind::Text, "Search only files whose names match this glob, such as *.rs or src/**."),
        optional(
            "excludePatterns",
            Kind::Texts { least: 0, most: 100 },
            "Patterns of entries to leave out, in gitignore syntax; at most 100.",
        ),
        optional("contextLines", Kind::Amount, "Lines to show before and after each match, at most 100. Default 0."),
        optional("limit", Kind::Count, "At most this many matches. Default 200."),
        optional("maxPerFile", Kind::Count, "At most this many matches of one file. Default: no limit but \"limit\"."),
        optional("filesOnly", Kind::Flag, "Give only the paths of the files. Default false."),
        optional("includeIgnored", Kind::Flag, "Also search what .gitignore hides. Default false."),
        optional("multiline", Kind::Flag, "A match may go over line ends. Default false."),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let query = query(arguments)?;
    let glob = match arguments.text("glob") {
        "" => None,
        glob => Some(NameGlob::new(root, glob).map_err(ToolError::Message)?),
    };
    let located = root.locate(asked).and_then(|path| root.stat(&path, &context.cancel));
    let (start, stat) = located.map_err(|error| ToolError::at(asked, error))?;
    let _permit = context.search_permit()?;
    let cancel = context.search_cancel();
    let limit = arguments.count("limit").unwrap_or(DEFAULT_LIMIT);
    let files_only = arguments.flag("filesOnly");
    let report = |files: u64, path: &_| context.report(files, || format!("searching {}", shown(root, path)));
    let job = Job {
        root,
        query: &query,
        threads: context.limits().search_threads,
        glob: glob.as_ref(),
        start: &start,
        limit,
        per_file: if files_only { 1 } else { arguments.count("maxPerFile").unwrap_or(limit) },
        files_only,
        max_bytes: context.limits().output_bytes,
        cancel: &cancel,
        report: &report,
    };
    let mut notes = Vec::new();
    let found = match stat.kind {
        EntryKind::Directory => {
            root.open_real_directory(&start).map_err(|error| ToolError::at(asked, error))?;
            let mut walk = root.walk(&start, search_files::options(arguments)?, &cancel);
            let found = workers::search_tree(&job, &mut walk);
            notes = format::notes(root, &walk.notes);
            found
        }
        EntryKind::File => workers::search_file(&job, start.clone()),
        kind => return Err(ToolError::at(asked, RootError::NotRegular(kind))),
    };
    let timed_out = context.check_search(&cancel)?.then(|| context.limits().search_time.as_secs());
    let note = note(root, &found, timed_out, notes);
    let text = if found.matches == 0 { "No matches found".to_owned() } else { found.text };
    Ok([text, note].map(|text| Block::Text(text.into())).into())
}

fn query(arguments: &Arguments<'_>) -> Result<Query, ToolError> {
    let text = arguments.text("query");
    if text.is_empty() {
        return Err(ToolError::message("\"query\" is empty; give the text to find."));
    }
    let context = arguments.count("contextLines").unwrap_or(0);
    if context > MOST_CONTEXT {
        return Err(ToolError::message("\"contextLines\" must be at most 100."));
    }
    let options = Options {
        regex: arguments.flag("regex"),
        case_sensitive: arguments.given_flag("caseSensitive"),
        multiline: arguments.flag("multiline"),
        context: if arguments.flag("filesOnly") { 0 } else { context as usize },
    };
    Query::new(text, options).map_err(ToolError::Message)
}

/// Says how much was searched, and what is missing.
fn note(root: &Root, found: &Report, timed_out: Option<u64>, notes: Vec<String>) -> String {
    let mut said = Vec::new();
    if found.matches > 0 {
        let (matches, files) =
            (counted(found.matches, "match", "matches"), counted(found.files_with_matches, "file", "files"));
        said.push(format!("{matches} in {files}"));
    }
    if found.is_cut {
        said.push("there are more: narrow \"path\" or \"glob\", or raise \"limit\" or \"maxPerFile\"".to_owned());
    }
    if let Some(seconds) = timed_out {
        said.push(format!("stopped after {seconds} seconds; narrow \"path\" or \"glob\""));
    }
    said.push(format!("{} ({}) searched", counted(found.files, "file", "files"), size(found.bytes)));
    if found.binary > 0 {
        said.push(format!("{} skipped", counted(found.binary, "binary file", "binary files")));
    }
    if found.unreadable > 0 {
        said.push(format!("{} could not be read", counted(found.unreadable, "file", "files")));
    }
    if found.too_long > 0 {
        let files = counted(found.too_long, "file", "files");
        said.push(format!("{files} not searched: too long for multiline, or with a line over 16 MiB"));
    }
    if !found.is_cut {
        // Where enough was found, how far the walk was ahead is chance.
        if found.is_incomplete {
            said.push("there are too many entries to search them all; narrow \"path\"".to_owned());
        }
        said.extend(found.unreadable_directories.note(root));
        said.extend(notes);
    }
    format!("[{}]", said.join("; "))
}
