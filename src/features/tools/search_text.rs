//! `search_text`: searches the content of files for text or a regular expression.

use super::arguments::Kind;
use super::arguments::parameters::{
    RESULTS, directory_or_file, exclude_patterns, flag, include_ignored, limit_of_results, optional, text,
};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError, search_files};
use crate::call::Block;
use crate::features::format::{self, counted, shown, size};
use crate::features::search::compile;
use crate::features::search::gather::Report;
use crate::features::search::pattern::{Pattern, Purpose};
use crate::features::search::query::{Options, Query};
use crate::features::search::workers::{self, Job};
use crate::root::{Kind as EntryKind, RelPath, Root, RootError, WalkedPath};
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// The default number of matches.
const DEFAULT_LIMIT: u64 = 200;
/// Lines of context around a match.
const LINES: Kind = Kind::Number { least: 0, most: 100 };

pub(super) const TOOL: Tool = Tool {
    name: "search_text",
    title: "Search text in files",
    description: "Search file contents for text, or for a regular expression with regex true (like grep). To find \
        files by name, use search_files. Returns \"path:line: text\" for each match; long lines are cut around the \
        match. Ignores case unless the query has an upper-case letter or caseSensitive is true. Searches all files \
        below path, or one file. Leaves out binary files, files hidden by .gitignore unless includeIgnored is true, \
        and version control directories. Also searches UTF-16 and legacy encodings. A note says what was searched \
        and what was cut.",
    parameters: &[
        text("query", "The text to find; a regular expression if regex is true."),
        directory_or_file("The directory or file to search"),
        flag("regex", "Treat query as a regular expression (Rust syntax, without look-around)."),
        optional("caseSensitive", Kind::Flag, "Match case. Default: only if query has an upper-case letter."),
        optional(
            "glob",
            Kind::Text,
            "Search only files that match this glob, such as *.rs or src/**. Separate several with commas; ! excludes. A directory name includes everything below it.",
        ),
        exclude_patterns(""),
        optional("contextLines", LINES, "Show this many lines before and after each match, at most 100. Default 0."),
        limit_of_results("matches", "200."),
        optional("maxPerFile", RESULTS, "Return at most this many matches per file. Default: only limit applies."),
        flag("filesOnly", "Return only the paths of matching files."),
        include_ignored("Also search", ""),
        flag("multiline", "Allow a match to cross line ends."),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let _permit = context.permit(Work::Search)?;
    let cancel = context.search_cancel();
    let query = query(arguments, context)?;
    let glob = match arguments.text("glob") {
        "" => None,
        glob => Some(compile::pattern(context, glob, Purpose::Files)?),
    };
    let glob = glob.as_deref();
    let located = root.locate(asked).and_then(|path| {
        let found = root.stat(&path, &context.cancel)?;
        Ok((path, found))
    });
    let (path, (real, stat)) = located.map_err(|error| ToolError::at(asked, error))?;
    let start = root.path_through_links(&path, &real, &context.cancel).unwrap_or_else(|| real.clone());
    let limit = arguments.count("limit").unwrap_or(DEFAULT_LIMIT);
    let files_only = arguments.flag("filesOnly");
    let report = |files: u64, path: &_| context.report(files, || format!("searching {}", shown(root, path)));
    let job = Job {
        root,
        query: &query,
        threads: context.limits().search_threads,
        permits: &context.services().permits,
        serial_executor: &context.services().search_executor,
        glob,
        start: &start,
        limit,
        per_file: arguments.count("maxPerFile"),
        files_only,
        max_bytes: context.limits().output_bytes,
        cancel: &cancel,
        report: &report,
    };
    let mut notes = Vec::new();
    let found = match stat.kind {
        EntryKind::Directory => {
            let options = search_files::options(arguments, context)?;
            let mut walk = root.walk(&real, options, &cancel).shown_from(start.clone());
            walk = walk.entering(|link| glob.is_some_and(|glob| glob.names(link, &start)));
            walk.begin().map_err(|error| ToolError::at(asked, error))?;
            let found = workers::search_tree(&job, &mut walk);
            notes.extend(format::hidden(walk.ignored));
            notes.extend(format::not_entered(walk.not_entered()));
            notes.extend(format::notes(root, &walk.notes));
            found
        }
        EntryKind::File => workers::search_file(&job, &WalkedPath { real, shown: None }),
        kind => return Err(ToolError::at(asked, RootError::NotRegular(kind))),
    };
    let timed_out = context.check_search(&cancel)?.then(|| context.limits().search_time.as_secs());
    let hints = glob.map_or_else(Vec::new, |glob| unmatched(glob, &start, &found));
    let note = note(root, &found, stat.kind == EntryKind::Directory, timed_out, hints, notes);
    if let (Some(wrong), 0) = (glob.and_then(Pattern::wrong), found.chosen) {
        return Err(ToolError::Message(search_files::wrong_pattern(wrong, Some(&note))));
    }
    let text = if found.matches == 0 { "No matches found".to_owned() } else { found.text };
    Ok([text, note].map(|text| Block::Text(text.into())).into())
}

fn query(arguments: &Arguments<'_>, context: &Context) -> Result<Query, ToolError> {
    let text = arguments.text("query");
    if text.is_empty() {
        return Err(ToolError::message("\"query\" is empty; pass the text to find."));
    }
    let options = Options {
        regex: arguments.flag("regex"),
        case_sensitive: arguments.given_flag("caseSensitive"),
        multiline: arguments.flag("multiline"),
    };
    let lines = if arguments.flag("filesOnly") { 0 } else { arguments.count("contextLines").unwrap_or(0) };
    Ok(Query { compiled: compile::query(context, text, options)?, context: lines as usize })
}

/// Says that the glob matched no file, and possible reasons.
fn unmatched(glob: &Pattern, start: &RelPath, found: &Report) -> Vec<String> {
    if found.chosen > 0 || found.passed_over == 0 {
        return Vec::new();
    }
    let files = counted(found.passed_over, "file", "files");
    let hints = glob.hints(start).into_iter().map(str::to_owned);
    std::iter::once(format!("\"glob\" matches none of {files}")).chain(hints).collect()
}

/// Says how much was searched, and what is missing.
fn note(
    root: &Root,
    found: &Report,
    is_tree: bool,
    timed_out: Option<u64>,
    hints: Vec<String>,
    notes: Vec<String>,
) -> String {
    let mut said = Vec::new();
    if found.matches > 0 {
        let (matches, files) =
            (counted(found.matches, "match", "matches"), counted(found.files_with_matches, "file", "files"));
        said.push(format!("{matches} in {files}"));
    }
    said.extend(cut(found, is_tree).map(str::to_owned));
    if let Some(seconds) = timed_out {
        said.push(format!("stopped after {seconds} seconds; narrow \"path\" or \"glob\""));
    }
    said.push(format!("{} ({}) searched", counted(found.searched.files, "file", "files"), size(found.searched.bytes)));
    said.extend(hints);
    if found.searched.binary > 0 {
        said.push(format!("{} skipped", counted(found.searched.binary, "binary file", "binary files")));
    }
    if found.searched.unreadable > 0 {
        said.push(format!("{} could not be read", counted(found.searched.unreadable, "file", "files")));
    }
    if found.searched.too_long > 0 {
        let files = counted(found.searched.too_long, "file", "files");
        said.push(format!("{files} not searched: too long for multiline, or with a line over 16 MiB"));
    }
    if !found.cut.is_end() {
        // Once enough was found, how far the walk has got is a matter of chance.
        if found.is_incomplete {
            said.push("too many entries to search them all; narrow \"path\"".to_owned());
        }
        said.extend(found.unreadable_directories.note(root));
        said.extend(notes);
    }
    format!("[{}]", said.join("; "))
}

/// Says how to get what was cut off, in a way that helps: a larger limit does not if the answer is full.
fn cut(found: &Report, is_tree: bool) -> Option<&'static str> {
    let cut = found.cut;
    match (cut.bytes, cut.matches, cut.per_file) {
        (true, ..) if is_tree => {
            Some("more matches do not fit: narrow \"path\" or \"glob\", or set \"maxPerFile\" or \"filesOnly\"")
        }
        (true, ..) => {
            Some("more matches do not fit: narrow \"query\", or continue after the last line with read_text_file")
        }
        (_, true, _) if is_tree => Some("more matches exist: narrow \"path\" or \"glob\", or raise \"limit\""),
        (_, true, _) => Some("more matches exist: narrow \"query\" or raise \"limit\""),
        (.., true) => Some("some files have more matches: raise \"maxPerFile\""),
        _ => None,
    }
}
