//! `directory_tree`: everything below a directory, as the official server's JSON.
//!
//! The tree is collected level by level until the answer is full, so the deepest part is cut off and the outline is
//! always complete. Directories that were not entered have no `children`.

use std::collections::VecDeque;
use std::ops::Range;

use super::arguments::Kind;
use super::arguments::parameters::{directory, exclude_patterns, include_ignored, optional};
use super::{Arguments, Inline, READ_ONLY, Tool, ToolError};
use crate::call::Block;
use crate::features::format::{counted, hidden, notes, shown, shown_entry};
use crate::features::search::compile;
use crate::root::{Hidden, Kind as EntryKind, Root, RootError, Visit, Walk, WalkOptions};
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// The default depth.
const DEFAULT_DEPTH: u64 = 10;

pub(super) const TOOL: Tool = Tool {
    name: "directory_tree",
    title: "Directory tree",
    description: "Show a directory tree as JSON: name, type (file, directory, link, other) and the children of each \
        directory. Leaves out files hidden by .gitignore and version control directories unless includeIgnored is \
        true. If the tree does not fit (40,000 bytes by default), the deepest levels are cut and a note says so; \
        directories without \"children\" were not entered. Use search_files to find particular files.",
    parameters: &[
        directory(),
        optional("maxDepth", Kind::Count, "Show at most this many levels. Default 10."),
        exclude_patterns(", such as \"node_modules\" or \"*.log\""),
        include_ignored("Also show", ", and .git"),
    ],
    annotations: READ_ONLY,
    inline: Inline::Never,
    run,
};

fn run(arguments: &Arguments<'_>, context: &Context) -> Result<Vec<Block>, ToolError> {
    let (asked, root) = (arguments.text("path"), context.root());
    let _permit = context.permit(Work::Walk)?;
    let start = root.locate(asked).and_then(|path| root.stat(&path, &context.cancel));
    let (start, stat) = start.map_err(|error| ToolError::at(asked, error))?;
    if stat.kind != EntryKind::Directory {
        return Err(ToolError::at(asked, RootError::NotDirectory));
    }
    let depth = arguments.count("maxDepth").unwrap_or(DEFAULT_DEPTH);
    let options = WalkOptions {
        hidden: if arguments.flag("includeIgnored") { Hidden::Shown } else { Hidden::Skipped },
        max_depth: usize::try_from(depth - 1).unwrap_or(usize::MAX),
        exclude: compile::exclude(context, arguments.texts("excludePatterns"))?,
    };
    let mut walk = root.walk(&start, options, &context.cancel);
    let mut tree = Tree::new(context.limits().output_bytes);
    for visit in walk.by_ref() {
        if let (Err(error), true) = (&visit.listing, tree.nodes.is_empty()) {
            return Err(ToolError::at(asked, error.clone()));
        }
        context.report(tree.nodes.len() as u64, || format!("reading {}", shown(root, &visit.path.real)));
        if !tree.add(context, &visit) {
            break;
        }
    }
    context.cancel.check()?;
    let note = tree.note(root, &walk);
    let mut text = String::with_capacity(tree.bytes);
    tree.render(tree.top.clone(), 0, &mut text);
    Ok(std::iter::once(text).chain(note).map(|text| Block::Text(text.into())).collect())
}

/// The tree so far. The children of a directory are adjacent.
struct Tree {
    nodes: Vec<Node>,
    top: Range<usize>,
    /// The directories that the walk will visit, in its order.
    waiting: VecDeque<usize>,
    /// The size of the nodes as text.
    bytes: usize,
    max: usize,
    is_cut: bool,
}

struct Node {
    /// As a JSON string.
    name: String,
    kind: EntryKind,
    depth: usize,
    children: Children,
}

enum Children {
    NotEntered,
    Unreadable(String),
    Nodes(Range<usize>),
}

impl Tree {
    fn new(max: usize) -> Self {
        Self { nodes: Vec::new(), top: 0..0, waiting: VecDeque::new(), bytes: 2, max, is_cut: false }
    }

    /// Adds the entries of a directory. Returns `false` if the answer is full.
    fn add(&mut self, context: &Context, visit: &Visit<'_>) -> bool {
        let parent = self.waiting.pop_front();
        let depth = parent.map_or(0, |index| self.nodes[index].depth + 1);
        let children = match &visit.listing {
            Ok((dir, listing)) => {
                let first = self.nodes.len();
                for entry in listing.iter() {
                    let name = json_escape_simd::escape(&shown_entry(context.root(), &dir.path, entry.name));
                    // Braces, keys, a type, and the indentation of four lines, or of six with children.
                    let is_directory = entry.kind == EntryKind::Directory;
                    self.bytes += name.len() + if is_directory { 24 * depth + 74 } else { 16 * depth + 46 };
                    self.is_cut = self.bytes > self.max;
                    if self.is_cut {
                        break;
                    }
                    if entry.kind == EntryKind::Directory {
                        self.waiting.push_back(self.nodes.len());
                    }
                    self.nodes.push(Node { name, kind: entry.kind, depth, children: Children::NotEntered });
                }
                self.is_cut |= listing.cut;
                Children::Nodes(first..self.nodes.len())
            }
            Err(error) => {
                // Without the reason itself, its line is no longer than the two lines that were counted for children.
                let why = error.to_string();
                self.bytes += why.len();
                self.is_cut = self.bytes > self.max;
                if self.is_cut { Children::NotEntered } else { Children::Unreadable(why) }
            }
        };
        match (parent, children) {
            (Some(index), children) => self.nodes[index].children = children,
            (None, Children::Nodes(range)) => self.top = range,
            (None, _) => {}
        }
        !self.is_cut
    }

    fn note(&self, root: &Root, walk: &Walk<'_>) -> Option<String> {
        let not_entered = self
            .nodes
            .iter()
            .filter(|node| node.kind == EntryKind::Directory && matches!(node.children, Children::NotEntered));
        let mut said = Vec::new();
        let is_cut = self.is_cut || walk.cut;
        if is_cut {
            let entries = counted(self.nodes.len() as u64, "entry", "entries");
            said.push(format!("cut after {entries}: no more would fit"));
        }
        match not_entered.count() {
            0 => {}
            count => said.push(format!(
                "{} not entered (no \"children\"): ask for one by \"path\"{}",
                counted(count as u64, "directory", "directories"),
                if is_cut { "" } else { ", or raise \"maxDepth\"" }
            )),
        }
        said.extend(hidden(walk.ignored));
        said.extend(notes(root, &walk.notes));
        (!said.is_empty()).then(|| format!("[{}]", said.join("; ")))
    }

    /// Formats nodes as `JSON.stringify(…, null, 2)` does.
    fn render(&self, nodes: Range<usize>, indent: usize, out: &mut String) {
        if nodes.is_empty() {
            return out.push_str("[]");
        }
        out.push('[');
        for (index, node) in self.nodes[nodes].iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            line(out, indent + 2, "{");
            line(out, indent + 4, "\"name\": ");
            out.push_str(&node.name);
            out.push(',');
            line(out, indent + 4, "\"type\": \"");
            out.push_str(match node.kind {
                EntryKind::File => "file\"",
                EntryKind::Directory => "directory\"",
                EntryKind::Link => "link\"",
                _ => "other\"",
            });
            match &node.children {
                Children::NotEntered => {}
                Children::Unreadable(why) => {
                    out.push(',');
                    line(out, indent + 4, "\"error\": ");
                    out.push_str(&json_escape_simd::escape(why));
                }
                Children::Nodes(children) => {
                    out.push(',');
                    line(out, indent + 4, "\"children\": ");
                    self.render(children.clone(), indent + 4, out);
                }
            }
            line(out, indent + 2, "}");
        }
        line(out, indent, "]");
    }
}

fn line(out: &mut String, indent: usize, text: &str) {
    const SPACES: &str = "                                                                ";
    out.push('\n');
    let mut left = indent;
    while left > 0 {
        let part = left.min(SPACES.len());
        out.push_str(&SPACES[..part]);
        left -= part;
    }
    out.push_str(text);
}
