//! `completion/complete`: completes a path that is being typed, one directory level at a time
//! (<https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion>).
//!
//! A value is the whole `path` of the template, not only the missing part, and a directory ends in `/`. It is the text
//! of a URI. Some clients append it to the beginning of the template as it is; others expand the template (RFC 6570),
//! which encodes what is left to encode and keeps escapes. So values are raw, except for what only an escape can
//! express: `%`, `?`, `#`, bytes that are not UTF-8, and characters that could affect the menu that shows them.
//!
//! Names that begin with the typed text come first, then those that do so in another case, then those that contain it;
//! each group is sorted by the bytes of the names, directories among files. While nothing is typed, dot files come
//! last. Ignored files can be read, so they are offered; the directories of version control only once their name has
//! been started.
//!
//! A path that cannot be listed because it is outside, denied, missing or not a directory has no completions: the
//! answer is the same whether or not it exists.

use std::collections::BTreeMap;

use memchr::memmem::Finder;
use percent_encoding::percent_encode_byte;

use super::search::glob::cased;
use super::{prompts, resources};
use crate::call::{Completion, Failure};
use crate::hostile::is_hostile;
use crate::limits::LONGEST_URI;
use crate::object;
use crate::root::{Entry, Kind, RelPath, RequestedPath, Root, RootError};
use crate::runtime::permits::Work;
use crate::services::context::Context;

/// The variables of the template. Only the first can be completed; the others are numbers.
const VARIABLES: [&str; 4] = ["path", "offset", "limit", "column"];

/// The arguments of prompts that are paths.
const PATHS: [&str; 2] = ["path", "file"];

/// The maximum number of values in one answer, set by the protocol.
const MOST: usize = 100;

/// The number of matches kept while a directory is read. More than are returned, because links among them may be
/// dangling.
const KEPT: usize = 1_000;

/// The longest name as written: it has at most 255 bytes, each of which may be written as three, and a `/`.
const LONGEST_NAME: usize = 766;

/// Completes a variable of `template`.
pub(super) fn complete(template: &str, argument: &str, value: &str, context: &Context) -> Result<Completion, Failure> {
    check(template, argument, context.root())?;
    if argument != VARIABLES[0] {
        return Ok(Completion::default());
    }
    path(value, Writing::Uri, context)
}

/// What a path can become.
fn path(value: &str, writing: Writing, context: &Context) -> Result<Completion, Failure> {
    if value.len() > LONGEST_URI {
        return Ok(Completion::default());
    }
    let permit = context.permit(Work::Walk)?;
    let found = Typed::read(value, writing, context.root()).and_then(|typed| Matches::find(typed, context));
    drop(permit);
    match found {
        Ok(matches) => matches.completion(context),
        Err(RootError::Cancelled) => Err(Failure::Cancelled),
        Err(error) => {
            tracing::debug!("completion/complete: nothing: {error}");
            Ok(Completion::default())
        }
    }
}

/// Completes an argument of a prompt: one called `path` or `file` is a path below the served directory. It is not part of
/// a URI, so nothing in it is encoded, and what would need that is not offered.
pub(super) fn complete_prompt(
    prompt: &str,
    argument: &str,
    value: &str,
    context: &Context,
) -> Result<Completion, Failure> {
    if context.prompts().is_none() {
        let message = "There are no prompts here; \"ref\" can be a ref/resource.";
        return Err(Failure::InvalidParams(message.to_owned()));
    }
    let template = prompts::find(prompt, "completion/complete", context)?;
    if !template.arguments.iter().any(|known| known.name == argument) {
        let known: Vec<&str> = template.arguments.iter().map(|known| known.name.as_str()).collect();
        let (argument, known) = (object::shortened(argument), known.join(", "));
        return Err(Failure::InvalidParams(format!("Unknown argument {argument:?}; the prompt has {known}.")));
    }
    if !PATHS.contains(&argument) {
        return Ok(Completion::default());
    }
    path(value, Writing::Plain, context)
}

/// Both must be known: the template, or a URI whose text is inside the directory, and one of the variables.
fn check(template: &str, argument: &str, root: &Root) -> Result<(), Failure> {
    let is_inside = |asked: RequestedPath| !asked.path.has_parent_refs();
    let is_uri = || !template.contains('{') && root.locate_uri(template).is_ok_and(is_inside);
    if !resources::templates(root).iter().any(|known| known.uri_template == template) && !is_uri() {
        let template = object::shortened(template);
        let message = format!("Unknown template in \"ref\": {template}. See resources/templates/list.");
        return Err(Failure::InvalidParams(message));
    }
    if !VARIABLES.contains(&argument) {
        let (argument, known) = (object::shortened(argument), VARIABLES.join(", "));
        return Err(Failure::InvalidParams(format!("Unknown argument {argument:?}; the template has {known}.")));
    }
    Ok(())
}

/// How a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// As part of a URI.
    Uri,
    /// As it is.
    Plain,
}

/// A partially typed path.
struct Typed {
    writing: Writing,
    /// What every value begins with: the text up to the last `/`.
    before: String,
    /// The directory that this names.
    directory: RequestedPath,
    /// The typed part of a name.
    name: Name,
}

impl Typed {
    /// The text is read as the continuation of the template's beginning, as it will be in a URI. An absolute path or
    /// URI, which would be meaningless there, is made relative.
    fn read(value: &str, writing: Writing, root: &Root) -> Result<Self, RootError> {
        let value = Root::with_slashes(value);
        let (before, name) = value.split_at(value.rfind('/').map_or(0, |at| at + 1));
        if writing == Writing::Plain {
            let directory = root.locate(if before.is_empty() { "." } else { before })?;
            return Ok(Self { writing, before: before.to_owned(), directory, name: Name::new(name.into()) });
        }
        let name = Name::new(percent_encoding::percent_decode_str(name).collect());
        let is_uri = before.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
        if !is_uri && !Root::is_absolute(before) {
            let directory = root.locate_uri(&(resources::base(root) + before))?;
            let before = before.replace('?', "%3F").replace('#', "%23");
            return Ok(Self { writing, before, directory, name });
        }
        let directory = root.locate_uri(before)?;
        let slash = if directory.path.is_root() { "" } else { "/" };
        Ok(Self { writing, before: written(directory.path.as_bytes()) + slash, directory, name })
    }
}

/// The typed part of a name, as it is and without case.
struct Name {
    exact: Vec<u8>,
    folded: Finder<'static>,
}

/// How well a name matches, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Begins,
    BeginsInAnotherCase,
    Holds,
}

impl Name {
    fn new(exact: Vec<u8>) -> Self {
        let folded = Finder::new(&folded(&exact)).into_owned();
        Self { exact, folded }
    }

    fn rank(&self, entry: Entry<'_>) -> Option<Rank> {
        let begins = entry.name.starts_with(&self.exact);
        let nothing_typed = self.exact.is_empty();
        if entry.is_version_control() && (nothing_typed || !begins) {
            return None;
        }
        if begins {
            // As in a shell, an empty text does not match dot files.
            let is_dot_file = entry.name.starts_with(b".");
            return Some(if nothing_typed && is_dot_file { Rank::Holds } else { Rank::Begins });
        }
        let at = self.folded.find(folded(entry.name).as_bytes())?;
        Some(if at == 0 { Rank::BeginsInAnotherCase } else { Rank::Holds })
    }
}

/// Without case, in one Unicode form.
fn folded(name: &[u8]) -> String {
    cased(&String::from_utf8_lossy(name), true).into_owned()
}

/// The matching entries of a directory.
struct Matches {
    writing: Writing,
    before: String,
    /// The real path of the directory.
    directory: RelPath,
    best: BTreeMap<(Rank, Vec<u8>), Kind>,
    total: usize,
    cut: bool,
}

impl Matches {
    fn find(Typed { writing, before, directory, name }: Typed, context: &Context) -> Result<Self, RootError> {
        let directory = context.root().open_directory(&directory, &context.cancel)?;
        let path = directory.path.clone();
        let mut matches = Self { writing, before, directory: path, best: BTreeMap::new(), total: 0, cut: false };
        matches.cut = directory.each(&context.cancel, |entry| {
            let can_be_read = matches!(entry.kind, Kind::File | Kind::Directory | Kind::Link);
            let can_be_read = can_be_read && directory.path.can_lead_to(entry.name) && writing.can_say(entry.name);
            if let Some(rank) = name.rank(entry).filter(|_| can_be_read) {
                matches.add(rank, entry);
            }
        })?;
        Ok(matches)
    }

    /// Counts a match, and keeps it if it is among the best.
    fn add(&mut self, rank: Rank, entry: Entry<'_>) {
        self.total += 1;
        if self.best.len() == KEPT {
            let worst = self.best.last_key_value().map(|((rank, name), _)| (*rank, name.as_slice()));
            if worst < Some((rank, entry.name)) {
                return;
            }
            self.best.pop_last();
        }
        self.best.insert((rank, entry.name.to_vec()), entry.kind);
    }

    /// The best matches. Dangling links, and links that lead outside or to denied files, are left out.
    fn completion(self, context: &Context) -> Result<Completion, Failure> {
        context.reserve((MOST * (self.before.len() + LONGEST_NAME)) as u64)?;
        let (mut values, mut total) = (Vec::new(), self.total);
        for ((_, name), kind) in self.best {
            if values.len() == MOST {
                break;
            }
            context.cancel.check()?;
            let end = match leads_to(&self.directory, &name, kind, context) {
                Some(Kind::Directory) => "/",
                Some(Kind::File) => "",
                _ => {
                    total -= 1;
                    continue;
                }
            };
            values.push(format!("{}{}{end}", self.before, self.writing.write(&name)));
        }
        let has_more = self.cut || total > values.len();
        Ok(Completion { values, total, has_more })
    }
}

/// The kind of an entry once links are followed; `None` if they cannot be.
fn leads_to(directory: &RelPath, name: &[u8], kind: Kind, context: &Context) -> Option<Kind> {
    if kind != Kind::Link {
        return Some(kind);
    }
    let asked = RequestedPath { path: directory.join(name), directory: false };
    context.root().stat(&asked, &context.cancel).ok().map(|(_, stat)| stat.kind)
}

impl Writing {
    fn can_say(self, name: &[u8]) -> bool {
        self == Self::Uri || std::str::from_utf8(name).is_ok_and(|name| !name.contains(is_hostile))
    }

    fn write(self, name: &[u8]) -> String {
        match self {
            Self::Uri => written(name),
            Self::Plain => String::from_utf8_lossy(name).into_owned(),
        }
    }
}

/// The bytes of a path as written in a URI.
fn written(path: &[u8]) -> String {
    let mut value = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if matches!(character, '%' | '?' | '#') || is_hostile(character) {
                value.extend(character.encode_utf8(&mut [0; 4]).bytes().map(percent_encode_byte));
            } else {
                value.push(character);
            }
        }
        value.extend(chunk.invalid().iter().copied().map(percent_encode_byte));
    }
    value
}
