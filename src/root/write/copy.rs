//! A file is copied, or a directory with all that is in it, without its content leaving the server.
//!
//! A file appears at once, as in [`super::replace`], and nothing is overwritten unless that is asked for. The copy has
//! the mode of its source; a file that it overwrites keeps its own. In a tree, links are copied as links and say what
//! they said; FIFOs, sockets and devices are left out and counted. A tree that fails or is cancelled in the middle
//! stays as far as it came.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use cap_std::fs::Dir;

use super::error::{Side, SideError};
use super::place::Target;
use super::rename::must_not_be_inside;
use super::replace::Old;
use super::temporary::{Readers, Temporary, is_temporary, new_file};
use super::tree::{Rules, Tree, moved};
use super::{WritableRoot, WriteError};
use crate::cancel::Cancel;
use crate::root::open::File as ReadFile;
use crate::root::path::os_str;
use crate::root::resolve::LastLink;
use crate::root::stat::Kind;
use crate::root::sys::{self, Access};
use crate::root::{Asked, Blocking, RelPath, RootError};

/// Bytes copied before it is asked whether to stop.
const CHUNK: u64 = 1 << 20;
/// Bytes copied before they are put on the disk: the end would take very long otherwise on a slow one.
const SYNCED: u64 = 16 << 20;

/// How to copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    /// Whether missing directories on the way are made.
    pub parents: bool,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
}

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// From where: a real path.
    pub from: RelPath,
    /// To where: a real path.
    pub to: RelPath,
    /// Files, links and directories that were made.
    pub entries: usize,
    /// In files.
    pub bytes: u64,
    /// FIFOs, sockets and devices, which were left out.
    pub skipped: usize,
}

impl WritableRoot {
    /// Copies what `source` leads to. `report` is told how many entries of a tree are done.
    pub fn copy(
        &self,
        source: &Asked,
        destination: &Asked,
        options: CopyOptions,
        cancel: &Cancel,
        report: &dyn Fn(usize),
    ) -> Result<Copied, SideError> {
        let (at_source, at_destination) = (Side::Source.of(), Side::Destination.of());
        let (from, stat) = self.root.stat(source, Blocking::Allowed, cancel).map_err(Side::Source.of())?;
        let is_over = options.overwrite && stat.kind == Kind::File;
        let to = self.copy_target(destination, is_over, cancel).map_err(&at_destination)?;
        let _turn = self.turns.take(&[&to.path], cancel).map_err(&at_destination)?;
        match stat.kind {
            Kind::File => {
                to.must_name_a_file().map_err(&at_destination)?;
                let source = self.root.open_real_file(from, Blocking::Allowed).map_err(Side::Source.of())?;
                self.copy_file(source, &to, options, cancel).map_err(&at_destination)
            }
            Kind::Directory => {
                must_not_be_inside(&to.path, &from).map_err(&at_destination)?;
                let rules = Rules { goes: false, destination: Some(&to.path), mounts: true };
                let tree = self.look_through(&from, rules, cancel).map_err(&at_source)?;
                self.copy_tree(&tree, from, &to, options.parents, cancel, report).map_err(&at_destination)
            }
            other => Err(at_source(RootError::NotRegular(other).into())),
        }
    }

    /// Where a copy is to be: the name itself, or with `over` what a link of that name leads to. What has the name
    /// fails it, unless it may be replaced.
    fn copy_target(&self, destination: &Asked, over: bool, cancel: &Cancel) -> Result<Target, WriteError> {
        let target = self.target(destination, LastLink::Itself, cancel)?;
        match target.missing().is_empty() {
            false => Ok(target),
            true if over => self.target(destination, LastLink::Followed, cancel),
            true => Err(WriteError::Exists),
        }
    }

    fn copy_file(
        &self,
        source: ReadFile,
        to: &Target,
        options: CopyOptions,
        cancel: &Cancel,
    ) -> Result<Copied, WriteError> {
        if to.path == source.path {
            return Err(WriteError::SameFile);
        }
        let place = self.place(to, options.parents)?;
        let old = Old::open(&place, false)?;
        if old.is_some() && !options.overwrite {
            return Err(WriteError::Exists);
        }
        let new = Temporary::create(&place.dir, Readers::Owner)?;
        let bytes = copy_content(&source.handle, &new.file, source.stat.size, self.durable, cancel)?;
        match &old {
            Some(old) => sys::change::keep(&old.file, &new.file)?,
            None => sys::change::copy_mode(&source.handle, &new.file)?,
        }
        self.place_file(&place, new, old.as_ref(), false).map_err(|error| match error {
            WriteError::Raced => WriteError::Exists,
            error => error,
        })?;
        Ok(Copied { from: source.path, to: to.path.clone(), entries: 1, bytes, skipped: 0 })
    }

    fn copy_tree(
        &self,
        tree: &Tree,
        from: RelPath,
        to: &Target,
        parents: bool,
        cancel: &Cancel,
        report: &dyn Fn(usize),
    ) -> Result<Copied, WriteError> {
        let place = self.place(to, parents)?;
        make_private_directory(&place.dir, &place.path)?;
        let mut copied = Copied { from, to: to.path.clone(), entries: 1, bytes: 0, skipped: 0 };
        let mut parent: Option<(RelPath, Dir)> = None;
        for (path, kind) in &tree.entries {
            let new = moved(path, &copied.from, &copied.to);
            let done = cancel.check().map_err(WriteError::from);
            let done = done.and_then(|()| self.copy_entry(path, *kind, &new, &mut parent, &mut copied, cancel));
            done.map_err(|error| error.partly(&new, copied.entries))?;
            report(copied.entries);
        }
        // Last, as a copy of a write-protected directory could not be filled; and from within.
        let directories = tree.entries.iter().rev().filter(|(_, kind)| *kind == Kind::Directory).map(|(path, _)| path);
        for path in directories.chain([&copied.from]) {
            let new = moved(path, &copied.from, &copied.to);
            cancel.check().map_err(|error| WriteError::from(error).partly(&new, copied.entries))?;
            self.finish_directory(path, &new).map_err(|error| error.partly(&new, copied.entries))?;
        }
        self.settle(&place.dir)?;
        Ok(copied)
    }

    fn copy_entry(
        &self,
        path: &RelPath,
        kind: Kind,
        new: &RelPath,
        parent: &mut Option<(RelPath, Dir)>,
        copied: &mut Copied,
        cancel: &Cancel,
    ) -> Result<(), WriteError> {
        let dir = self.parent_of(new, parent)?;
        match kind {
            Kind::File if path.file_name().is_some_and(is_temporary) => return Ok(()),
            Kind::File => {
                let source = self.root.open_real_file(path.clone(), Blocking::Allowed)?;
                copied.bytes += self.copy_new(&source, dir, new, cancel)?;
            }
            Kind::Directory => make_private_directory(dir, new)?,
            #[cfg(unix)]
            Kind::Link => {
                let target = self.root.dir.read_link_contents(path.as_path())?;
                dir.symlink_contents(target, name_of(new))?;
            }
            _ => {
                copied.skipped += 1;
                return Ok(());
            }
        }
        copied.entries += 1;
        Ok(())
    }

    /// A file of a tree: nobody knows of that yet, so it is written in place, and removed if that fails.
    fn copy_new(&self, source: &ReadFile, dir: &Dir, new: &RelPath, cancel: &Cancel) -> Result<u64, WriteError> {
        let file = dir.open_with(name_of(new), &new_file(Readers::Owner))?.into_std();
        let copied = copy_content(&source.handle, &file, source.stat.size, self.durable, cancel).and_then(|bytes| {
            sys::change::copy_mode(&source.handle, &file)?;
            if self.durable {
                file.sync_all()?;
            }
            Ok(bytes)
        });
        if copied.is_err() {
            let _ = dir.remove_file(name_of(new));
        }
        copied
    }

    /// Gives a directory that was filled the mode of its source.
    fn finish_directory(&self, path: &RelPath, new: &RelPath) -> Result<(), WriteError> {
        let open = |path| sys::open(&self.root.dir, path, Access::Directory, self.root.can());
        let ((source, _), (directory, _)) = (open(path)?, open(new)?);
        sys::change::copy_mode(&source, &directory)?;
        if self.durable && cfg!(unix) {
            directory.sync_all()?;
        }
        Ok(())
    }

    /// The directory that an entry is in: the one before it was in the same, mostly.
    pub(super) fn parent_of<'p>(
        &self,
        path: &RelPath,
        last: &'p mut Option<(RelPath, Dir)>,
    ) -> Result<&'p Dir, WriteError> {
        let parent = path.parent();
        let kept = last.take().filter(|(path, _)| *path == parent);
        let current = match kept {
            Some(kept) => kept,
            None => (parent.clone(), self.open(&parent)?),
        };
        Ok(&last.insert(current).1)
    }
}

/// Copies at most what the file held when it was opened, and no holes; the system does it, without a copy in this
/// process where it can, and without a copy at all where the file system can share blocks.
fn copy_content(mut from: &File, mut to: &File, size: u64, durable: bool, cancel: &Cancel) -> Result<u64, WriteError> {
    let (mut at, mut synced) = (0, 0);
    while at < size {
        cancel.check()?;
        if durable && at - synced >= SYNCED {
            to.sync_data()?;
            synced = at;
        }
        let Some((start, end)) = sys::change::data(from, at, size)? else {
            // The rest is a hole.
            to.set_len(size)?;
            break;
        };
        from.seek(SeekFrom::Start(start))?;
        to.seek(SeekFrom::Start(start))?;
        match io::copy(&mut from.take(CHUNK.min(end - start)), &mut to)? {
            0 => return Err(WriteError::Raced),
            some => at = start + some,
        }
    }
    // Past its end a file has neither data nor holes: what has become shorter must not be taken for what it was.
    if from.metadata()?.len() < size { Err(WriteError::Raced) } else { Ok(size) }
}

/// Its owner's only, until it is complete.
fn make_private_directory(dir: &Dir, path: &RelPath) -> Result<(), WriteError> {
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use cap_std::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = &mut builder;
    Ok(dir.create_dir_with(name_of(path), &builder)?)
}

fn name_of(path: &RelPath) -> &std::ffi::OsStr {
    os_str(path.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_has_become_shorter_is_not_padded() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| {
            let path = directory.path().join(name);
            File::options().read(true).write(true).create(true).truncate(true).open(path).expect("a file")
        };
        let (source, copy) = (file("source"), file("copy"));
        source.set_len(10).expect("ten bytes");
        let copied = |size| copy_content(&source, &copy, size, true, &Cancel::default());
        assert_eq!(copied(10), Ok(10));
        assert_eq!(copied(11), Err(WriteError::Raced), "it had eleven when it was opened");
        assert_eq!(copied(1 << 20), Err(WriteError::Raced));
        // It may become longer: what it held is there.
        assert_eq!(copied(5), Ok(5));
    }
}
