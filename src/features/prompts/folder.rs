//! The files in the prompts folder: which exist, and which name means which file.
//!
//! Whoever started the server named the folder, so `.gitignore` hides nothing in it; denied names, links and version
//! control's own directories are left out. An invalid file never hides the others.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::parse::{self, MOST_FILE_BYTES, Template};
use super::{Format, ParseError};
use crate::call::{Fingerprint, Prompt};
use crate::features::text;
use crate::hostile::is_hostile;
use crate::root::{Exclude, File, Hidden, Kind, RelPath, RequestedPath, Root, RootError, WalkOptions};
use crate::runtime::cancel::Cancel;
use crate::services::watch::Look;

/// The maximum number of prompts in the list, over all pages.
pub(super) const MOST_PROMPTS: usize = 1_000;
/// The maximum number of directories in which changes are detected.
const MOST_DIRECTORIES: usize = 10_000;
/// The longest name of a prompt, in bytes.
const LONGEST_NAME: usize = 1_024;

/// The prompts that exist.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Sorted by name.
    pub(super) prompts: Vec<Prompt>,
    /// Files that are not valid prompts, and why.
    pub(super) bad: Vec<(RelPath, String)>,
    /// There are more files than are read.
    pub(super) is_cut: bool,
    directories: Vec<RelPath>,
    is_sure: bool,
    is_remote: bool,
}

impl Found {
    /// Equal for another list only if that shows the same.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut hasher = DefaultHasher::new();
        self.prompts.hash(&mut hasher);
        Fingerprint(hasher.finish())
    }
}

/// The format of the files in `folder`.
pub(super) fn format(root: &Root, folder: &RelPath) -> Format {
    Format::of_folder(&root.path().join(folder.display().as_ref()))
}

/// Reads all prompts below `folder`.
pub(super) fn find(root: &Root, folder: &RelPath, cancel: &Cancel) -> Result<Found, RootError> {
    // The directories above the folder reveal when it is replaced.
    let parent = folder.parent();
    let above = std::iter::once(RelPath::root()).chain(parent.and_above()).filter(|above| above != folder);
    let mut found = Found { directories: above.collect(), is_sure: true, ..Found::default() };
    let format = format(root, folder);
    let options =
        WalkOptions { hidden: Hidden::IgnoredShown, max_depth: usize::MAX, exclude: Exclude::nothing().into() };
    for visit in root.walk(folder, options, cancel) {
        let directory = visit.path.real;
        match visit.listing {
            Ok((handle, listing)) => {
                found.is_remote |= handle.is_remote;
                let suffix = format.suffix().as_bytes();
                let is_prompt = |name: &[u8]| name.len() > suffix.len() && name.ends_with(suffix);
                for entry in listing.iter().filter(|entry| entry.kind == Kind::File && is_prompt(entry.name)) {
                    found.add(root, folder, directory.join(entry.name), format, cancel)?;
                }
            }
            Err(error) => found.pass_over(directory.clone(), &error),
        }
        if found.directories.len() < MOST_DIRECTORIES {
            found.directories.push(directory);
        }
        if found.is_cut {
            break;
        }
    }
    cancel.check()?;
    found.prompts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

impl Found {
    fn add(
        &mut self,
        root: &Root,
        folder: &RelPath,
        path: RelPath,
        format: Format,
        cancel: &Cancel,
    ) -> Result<(), RootError> {
        cancel.check()?;
        if self.prompts.len() + self.bad.len() >= MOST_PROMPTS {
            self.is_cut = true;
            return Ok(());
        }
        let below = path.below(folder);
        let name = std::str::from_utf8(&below[..below.len() - format.suffix().len()]).ok().filter(|name| is_name(name));
        let Some(name) = name.map(str::to_owned) else {
            let why =
                format!("its name must be text in UTF-8 without invisible characters, at most {LONGEST_NAME} bytes");
            self.bad.push((path, why));
            return Ok(());
        };
        match root.open_real_file(path.clone()).and_then(|file| read(&file, format, cancel)) {
            Ok(Ok(Template { title, description, arguments, .. })) => {
                self.prompts.push(Prompt { name, title, description, arguments });
            }
            Ok(Err(why)) => self.bad.push((path, why.to_string())),
            Err(error) => self.pass_over(path, &error),
        }
        Ok(())
    }

    fn pass_over(&mut self, path: RelPath, error: &RootError) {
        self.is_sure &= !error.is_passing();
        self.bad.push((path, error.to_string()));
    }
}

/// A look for changes.
pub(crate) fn look(root: &Root, folder: &RelPath, cancel: &Cancel) -> Result<Look, RootError> {
    let found = find(root, folder, cancel)?;
    let (is_sure, is_remote) = (found.is_sure, found.is_remote);
    Ok(Look { list: found.fingerprint(), directories: found.directories, is_sure, is_remote })
}

/// The number of prompts, and the files that are not valid prompts, with the reasons.
pub(crate) fn check(
    root: &Root,
    folder: &RelPath,
    cancel: &Cancel,
) -> Result<(usize, Vec<(RelPath, String)>), RootError> {
    find(root, folder, cancel).map(|found| (found.prompts.len(), found.bad))
}

/// The prompt of this name. The inner error says why its file is not valid.
pub(super) fn open(
    root: &Root,
    folder: &RelPath,
    name: &str,
    cancel: &Cancel,
) -> Result<Result<Template, ParseError>, RootError> {
    if !is_name(name) || RelPath::from_bytes(name.as_bytes()).as_bytes() != name.as_bytes() {
        return Err(RootError::NotFound);
    }
    let format = format(root, folder);
    let path = folder.join(format!("{name}{}", format.suffix()).as_bytes());
    if path.has_parent_refs() {
        return Err(RootError::NotFound);
    }
    let file = root.open_file(&RequestedPath { path: path.clone(), directory: false }, cancel)?;
    // Reached through a link or by another spelling: the list does not contain this name.
    if file.path != path {
        return Err(RootError::NotFound);
    }
    read(&file, format, cancel)
}

fn read(file: &File, format: Format, cancel: &Cancel) -> Result<Result<Template, ParseError>, RootError> {
    let bytes = text::head(file, MOST_FILE_BYTES + 1, cancel)?;
    Ok(parse::parse(&bytes, format))
}

fn is_name(name: &str) -> bool {
    let is_other_file = |c: char| cfg!(windows) && matches!(c, ':' | '\\');
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(|c: char| is_hostile(c) || is_other_file(c))
}
