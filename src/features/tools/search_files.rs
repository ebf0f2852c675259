//! `search_files`: files and directories by their names.

use super::arguments::{Kind, Parameter, directory, optional};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{Unreadable, counted, notes, shown};
use crate::features::search::glob::{NameGlob, hint};
use crate::root::{Exclude, Hidden, Kind as EntryKind, Listing, RelPath, Root, RootError, Walk, WalkOptions};
use crate::runtime::cancel::Cancel;
use crate::services::context::Context;

/// Results when nothing is said.
const DEFAULT_LIMIT: u64 = 1_000;

pub(super) const TOOL: Tool = Tool {
    name: "search_files",
    title: "Search files by name",
    description: "Find files and directories by their names with a glob (for what is in files use search_text). A \
        pattern without \"/\" matches at any depth: *.py, users.go; with \"/\" it is relative to path: src/**/*.rs. \
        Capitals count only if the pattern has one. Gives paths relative to the served directory, the shallowest \
        first. Leaves out what .gitignore hides unless includeIgnored is true, and version control's own directories.",
    parameters: &[
        Parameter {
            name: "pattern",
            kind: Kind::Text,
            required: true,
            description: "A glob: *, ?, **, [abc], {a,b}. Not a regular expression.",
        },
        directory(),
        optional(
            "excludePatterns",
            Kind::Texts { least: 0, most: 100 },
            "Patterns of entries to leave out, in gitignore syntax, such as \"node_modules\"; at most 100.",
        ),
        optional(
            "kind",
            Kind::Choice(&["file", "directory", "any"]),
            "What to find: \"file\", \"directory\" or \"any\". Default \"any\".",
        ),
        optional("includeIgnored", Kind::Flag, "Also find what .gitignore hides. Default false."),
        optional("limit", Kind::Count, "At most this many results. Default 1,000."),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let glob = NameGlob::new(root, arguments.text("pattern")).map_err(ToolError::Message)?;
    let start = root.locate(asked).and_then(|path| root.stat(&path, &context.cancel));
    let (start, stat) = start.map_err(|error| ToolError::at(asked, error))?;
    if stat.kind != EntryKind::Directory {
        return Err(ToolError::at(asked, RootError::NotDirectory));
    }
    let _permit = context.search_permit()?;
    let cancel = context.search_cancel();
    root.open_real_directory(&start).map_err(|error| ToolError::at(asked, error))?;
    let mut walk = root.walk(&start, options(arguments)?, &cancel);
    let mut search = Search {
        kind: arguments.text("kind"),
        limit: arguments.count("limit").unwrap_or(DEFAULT_LIMIT),
        max_bytes: context.limits().output_bytes,
        text: String::new(),
        found: 0,
        seen: 0,
        unreadable: Unreadable::default(),
        is_incomplete: false,
        is_cut: false,
    };
    for visit in walk.by_ref() {
        context.report(search.seen + 1, || format!("searching {}", shown(root, &visit.path)));
        match &visit.listing {
            Ok((_, listing)) => search.look(root, &glob, &start, &visit.path, listing, &cancel),
            Err(_) => search.unreadable.push(visit.path),
        }
        if search.is_cut {
            break;
        }
    }
    let timed_out = context.check_search(&cancel)?.then(|| context.limits().search_time.as_secs());
    let note = search.note(root, arguments.text("pattern"), timed_out, &walk);
    let text = if search.found == 0 { "No matches found".to_owned() } else { search.text };
    Ok(std::iter::once(text).chain(note).map(|text| Block::Text(text.into())).collect())
}

/// A search, and what it found so far.
struct Search<'a> {
    kind: &'a str,
    limit: u64,
    max_bytes: usize,
    text: String,
    found: u64,
    seen: u64,
    unreadable: Unreadable,
    /// A directory has more entries than are read.
    is_incomplete: bool,
    is_cut: bool,
}

impl Search<'_> {
    /// Adds what matches in one directory, until there is no room.
    fn look(
        &mut self,
        root: &Root,
        glob: &NameGlob,
        start: &RelPath,
        dir: &RelPath,
        listing: &Listing,
        cancel: &Cancel,
    ) {
        self.is_incomplete |= listing.cut;
        for entry in listing.iter() {
            self.seen += 1;
            if self.seen.is_multiple_of(1_024) && cancel.checkpoint() {
                return; // and so does the walk
            }
            if !self.wants(entry.kind) || !glob.might_match(entry.name) {
                continue;
            }
            let path = dir.join(entry.name);
            if !glob.matches(&path, start, entry.kind) {
                continue;
            }
            if !dir.can_lead_to(entry.name) {
                // Of a directory, the walk will say so.
                if entry.kind != EntryKind::Directory {
                    self.unreadable.push(path);
                }
                continue;
            }
            let line = shown(root, &path);
            self.is_cut = self.found == self.limit || self.text.len() + line.len() + 1 > self.max_bytes;
            if self.is_cut {
                return;
            }
            if self.found > 0 {
                self.text.push('\n');
            }
            self.text.push_str(&line);
            self.found += 1;
        }
    }

    fn wants(&self, kind: EntryKind) -> bool {
        match self.kind {
            "file" => kind == EntryKind::File,
            "directory" => kind == EntryKind::Directory,
            _ => true,
        }
    }

    /// Says what is missing; `None` when nothing is.
    fn note(&self, root: &Root, pattern: &str, timed_out: Option<u64>, walk: &Walk<'_>) -> Option<String> {
        let mut said = Vec::new();
        if self.is_cut {
            let first = counted(self.found, "result", "results");
            said.push(format!("the first {first}; narrow \"pattern\" or \"path\", or raise \"limit\" for more"));
        }
        if let Some(seconds) = timed_out {
            said.push(format!("stopped after {seconds} seconds; narrow \"path\""));
        }
        if self.found == 0 {
            said.extend(hint(pattern).map(str::to_owned));
            said.push(format!("{} searched", counted(self.seen, "entry", "entries")));
            if walk.ignored > 0 {
                let ignored = counted(walk.ignored as u64, "entry", "entries");
                said.push(format!("{ignored} hidden by ignore files left out; includeIgnored searches them"));
            }
        }
        if self.is_incomplete || walk.cut {
            said.push("there are too many entries to search them all; narrow \"path\"".to_owned());
        }
        said.extend(self.unreadable.note(root));
        said.extend(notes(root, &walk.notes));
        (!said.is_empty()).then(|| format!("[{}]", said.join("; ")))
    }
}

/// What the walk leaves out.
pub(super) fn options(arguments: &Arguments<'_>) -> Result<WalkOptions, ToolError> {
    Ok(WalkOptions {
        hidden: if arguments.flag("includeIgnored") { Hidden::IgnoredShown } else { Hidden::Skipped },
        max_depth: usize::MAX,
        exclude: Exclude::new(arguments.texts("excludePatterns")).map_err(ToolError::Message)?,
    })
}
