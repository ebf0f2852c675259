//! `search_files`: finds files and directories by name.

use super::arguments::Kind;
use super::arguments::parameters::{
    directory, exclude_patterns, include_ignored, limit_of_results, offset, optional, sort_by, text,
};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{Unreadable, counted, grouped, hidden, not_entered, notes, shown};
use crate::features::search::compile;
use crate::features::search::pattern::{Pattern, Purpose};
use crate::features::search::results::{Order, Page, Results};
use crate::root::{Directory, Hidden, Kind as EntryKind, Listing, RelPath, Root, RootError, Walk, WalkOptions};
use crate::runtime::cancel::Cancel;
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// The default number of results.
const DEFAULT_LIMIT: u64 = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: "search_files",
    title: "Search files by name",
    description: "Find files and directories by name with a glob. To search file contents, use search_text. A pattern \
        without \"/\" matches at any depth: *.py, users.go. A pattern with \"/\" is relative to path: src/**/*.rs. \
        Ignores case unless the pattern has an upper-case letter. Returns paths relative to the served directory, \
        shallowest first. Leaves out files hidden by .gitignore unless includeIgnored is true, and version control \
        directories.",
    parameters: &[
        text("pattern", "A glob: *, ?, **, [abc], {a,b}. Not a regular expression."),
        directory(),
        exclude_patterns(", such as \"node_modules\""),
        optional(
            "kind",
            Kind::Choice(&["file", "directory", "any"]),
            "Find \"file\", \"directory\" or \"any\". A link is neither a file nor a directory. Default \"any\".",
        ),
        sort_by(
            &["path", "modified"],
            "Sort by \"path\" (shallowest first) or \"modified\" (newest first). Default \"path\".",
        ),
        include_ignored("Also find", ""),
        offset("result"),
        limit_of_results("results", "1,000."),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let _permit = context.permit(Work::Search)?;
    let cancel = context.search_cancel();
    let pattern = compile::pattern(context, arguments.text("pattern"), Purpose::Entries)?;
    let located = root.locate(asked).and_then(|path| {
        let found = root.stat(&path, &context.cancel)?;
        Ok((path, found))
    });
    let (path, (real, stat)) = located.map_err(|error| ToolError::at(asked, error))?;
    if stat.kind != EntryKind::Directory {
        return Err(ToolError::at(asked, RootError::NotDirectory));
    }
    let start = root.path_through_links(&path, &real, &context.cancel).unwrap_or_else(|| real.clone());
    let mut walk = root.walk(&real, options(arguments, context)?, &cancel).shown_from(start.clone());
    walk = walk.entering(|link| pattern.names(link, &start));
    walk.begin().map_err(|error| ToolError::at(asked, error))?;
    let order = match arguments.text("sortBy") {
        "modified" => Order::Modified,
        _ if pattern.may_be_a_name() => Order::WrittenFirst,
        _ => Order::Walked,
    };
    let page = Page::new(
        arguments.count("offset").unwrap_or(1) - 1,
        arguments.count("limit").unwrap_or(DEFAULT_LIMIT),
        context.limits().output_bytes,
    );
    let mut search = Search {
        root,
        pattern: &pattern,
        start: &start,
        kind: arguments.text("kind"),
        found: Results::new(page, order),
        seen: 0,
        unreadable: Unreadable::default(),
        is_incomplete: false,
    };
    for visit in walk.by_ref() {
        context.report(search.seen + 1, || format!("searching {}", shown(root, visit.path.shown())));
        match &visit.listing {
            Ok((dir, listing)) => search.look(visit.path.shown(), dir, listing, &cancel),
            Err(_) => search.unreadable.push(visit.path.shown().clone()),
        }
        if search.found.is_complete() {
            break;
        }
    }
    let timed_out = context.check_search(&cancel)?.then(|| context.limits().search_time.as_secs());
    search.found.finish();
    let note = search.note(timed_out, &walk);
    if let (Some(wrong), true) = (pattern.wrong(), search.found.page().has_no_match()) {
        return Err(ToolError::Message(wrong_pattern(wrong, note.as_deref())));
    }
    let text = search.found.into_text();
    Ok(std::iter::once(text).chain(note).map(|text| Block::Text(text.into())).collect())
}

/// A search, and its results so far.
struct Search<'a> {
    root: &'a Root,
    pattern: &'a Pattern,
    /// Where it started, as shown.
    start: &'a RelPath,
    kind: &'a str,
    found: Results,
    seen: u64,
    unreadable: Unreadable,
    /// A directory has more entries than are read.
    is_incomplete: bool,
}

impl Search<'_> {
    /// Adds the matches in one directory until there is no more room.
    fn look(&mut self, dir: &RelPath, handle: &Directory<'_>, listing: &Listing, cancel: &Cancel) {
        self.is_incomplete |= listing.cut;
        for entry in listing.iter() {
            self.seen += 1;
            // Hostile patterns take long for each name.
            if self.seen.is_multiple_of(64) && cancel.checkpoint() {
                return; // and so does the walk
            }
            if !self.wants(entry.kind) || !self.pattern.might_match(entry.name) {
                continue;
            }
            let path = dir.join(entry.name);
            if !self.pattern.matches(&path, self.start, entry.kind) {
                continue;
            }
            if !dir.can_lead_to(entry.name) {
                // For a directory, the walk will report it.
                if entry.kind != EntryKind::Directory {
                    self.unreadable.push(path);
                }
                continue;
            }
            let modified = || handle.stat(entry.name).ok().and_then(|stat| stat.modified);
            let is_written = self.pattern.is_written(&path, self.start);
            self.found.add(|| shown(self.root, &path), self.seen, is_written, modified);
            if self.found.is_complete() {
                return;
            }
        }
    }

    fn wants(&self, kind: EntryKind) -> bool {
        match self.kind {
            "file" => kind == EntryKind::File,
            "directory" => kind == EntryKind::Directory,
            _ => true,
        }
    }

    /// Says what is missing; `None` if nothing is.
    fn note(&self, timed_out: Option<u64>, walk: &Walk<'_>) -> Option<String> {
        let mut said = Vec::new();
        said.extend(self.found.page().note());
        if let Some(compared) = self.found.compared() {
            let compared = grouped(compared as u64);
            said.push(format!(
                "only the first {compared} matches were compared by time; narrow \"pattern\" or \"path\""
            ));
        }
        if let Some(seconds) = timed_out {
            said.push(format!("stopped after {seconds} seconds; narrow \"path\""));
        }
        let has_no_match = self.found.page().has_no_match();
        if has_no_match {
            said.push(format!("{} searched", counted(self.seen, "entry", "entries")));
        }
        said.extend(hidden(walk.ignored));
        said.extend(not_entered(walk.not_entered()));
        if has_no_match {
            said.extend(self.pattern.hints(self.start).into_iter().map(str::to_owned));
        }
        if self.is_incomplete || walk.cut {
            said.push("too many entries to search them all; narrow \"path\"".to_owned());
        }
        said.extend(self.unreadable.note(self.root));
        said.extend(notes(self.root, &walk.notes));
        (!said.is_empty()).then(|| format!("[{}]", said.join("; ")))
    }
}

/// The error for an invalid pattern that matches nothing literally, with what was searched.
pub(super) fn wrong_pattern(wrong: &str, note: Option<&str>) -> String {
    format!("No name is written like the pattern {}, and it is not a glob. {wrong}", note.unwrap_or_default())
}

/// What the walk leaves out.
pub(super) fn options(arguments: &Arguments<'_>, context: &Context) -> Result<WalkOptions, ToolError> {
    Ok(WalkOptions {
        hidden: if arguments.flag("includeIgnored") { Hidden::IgnoredShown } else { Hidden::Skipped },
        max_depth: usize::MAX,
        exclude: compile::exclude(context, arguments.texts("excludePatterns"))?,
    })
}
