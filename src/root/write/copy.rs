//! Copies a file, or a directory with everything in it, without the content leaving the server.
//!
//! A file appears in one step, as in [`super::replace`], and nothing is overwritten unless requested. The copy has the
//! mode of its source; a file that it overwrites keeps its own. In a tree, links are copied as links with the same
//! target; FIFOs, sockets and devices are left out and counted. If copying a tree fails or is cancelled, the part that
//! was copied stays.

use cap_std::fs::Dir;

use super::error::{Side, SideError};
use super::old::Old;
use super::path_locks::Claimed;
use super::pieces::copy_content;
use super::place::Target;
use super::rename::must_not_be_inside;
use super::replace::Expected;
use super::temporary::{Readers, Temporary, is_temporary, new_file};
use super::tree::{Rules, Tree, moved};
use super::{Caveats, WritableRoot, WriteError};
use crate::root::open::File as ReadFile;
use crate::root::path::os_str;
use crate::root::resolve::LastLink;
use crate::root::stat::Kind;
use crate::root::sys::{self, Access};
use crate::root::{RelPath, RequestedPath, RootError};
use crate::runtime::cancel::Cancel;

/// How to copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    /// Whether to create missing parent directories.
    pub parents: bool,
    /// Whether to replace an existing file.
    pub overwrite: bool,
}

/// The result of copying.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The source: a real path.
    pub from: RelPath,
    /// The destination: a real path.
    pub to: RelPath,
    /// How many files, links and directories were created.
    pub entries: usize,
    /// The bytes in files.
    pub bytes: u64,
    /// FIFOs, sockets and devices, which were left out.
    pub skipped: usize,
    /// For a file: what else the client should know.
    pub caveats: Caveats,
}

impl WritableRoot {
    /// Copies what `source` leads to. `report` receives the number of entries that are done.
    pub fn copy(
        &self,
        source: &RequestedPath,
        destination: &RequestedPath,
        options: CopyOptions,
        cancel: &Cancel,
        report: &dyn Fn(usize),
    ) -> Result<Copied, SideError> {
        let (at_source, at_destination) = (Side::Source.of(), Side::Destination.of());
        let (from, stat) = self.root.stat(source, cancel).map_err(Side::Source.of())?;
        let is_over = options.overwrite && stat.kind == Kind::File;
        let to = self.copy_target(destination, is_over, cancel).map_err(|error| match error {
            WriteError::Exists if stat.kind == Kind::File => {
                at_destination(self.not_overwritten(&from, destination, cancel))
            }
            error => at_destination(error),
        })?;
        let _guard = self.path_locks.take(&[Claimed::Tree(&to.path)], cancel).map_err(&at_destination)?;
        match stat.kind {
            Kind::File => {
                to.must_name_a_file().map_err(&at_destination)?;
                let source = self.root.open_real_file(from).map_err(Side::Source.of())?;
                self.copy_file(&source, &to, options, cancel).map_err(&at_destination)
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

    /// Where the copy goes: the name itself or, with `over`, the target of a link of that name. Fails if the name is
    /// taken, unless that may be replaced.
    fn copy_target(&self, destination: &RequestedPath, over: bool, cancel: &Cancel) -> Result<Target, WriteError> {
        let target = self.target(destination, LastLink::Itself, cancel)?;
        match target.missing().is_empty() {
            false => Ok(target),
            true if over => self.target(destination, LastLink::Followed, cancel),
            true => Err(WriteError::Exists),
        }
    }

    /// A file may be replaced if requested, but not by itself; a directory or special file never.
    fn not_overwritten(&self, from: &RelPath, destination: &RequestedPath, cancel: &Cancel) -> WriteError {
        match self.root.stat(destination, cancel) {
            Ok((path, _)) if path == *from => WriteError::SameFile,
            Ok((_, stat)) if stat.kind == Kind::File => WriteError::NotOverwritten,
            _ => WriteError::Exists,
        }
    }

    fn copy_file(
        &self,
        source: &ReadFile,
        to: &Target,
        options: CopyOptions,
        cancel: &Cancel,
    ) -> Result<Copied, WriteError> {
        if to.path == source.path {
            return Err(WriteError::SameFile);
        }
        let place = self.place(to, options.parents)?;
        let old = Old::open(&place, false, cancel)?;
        if old.is_some() && !options.overwrite {
            return Err(WriteError::NotOverwritten);
        }
        let copied = |bytes, caveats| Copied {
            from: source.path.clone(),
            to: to.path.clone(),
            entries: 1,
            bytes,
            skipped: 0,
            caveats,
        };
        if let Some(old) = old.as_ref().filter(|old| old.is_mount) {
            let (mut content, size) = (&source.handle, source.stat.size);
            let written = self.overwrite(&place, old, Expected::Anything, &mut content, size, cancel)?;
            return Ok(copied(size, written.caveats));
        }
        let new = Temporary::create(&place.dir, Readers::Owner, &self.cleaned)?;
        let bytes = copy_content(&source.handle, &new.file, source.stat.size, self.durable, cancel)?;
        match &old {
            Some(old) => sys::change::keep(&old.file, &new.file)?,
            None if sys::REPLACES_OPEN_FILES => sys::change::copy_mode(&source.handle, &new.file)?,
            None => {}
        }
        let is_new = old.is_none();
        // On Windows a read-only file cannot lose its temporary name.
        let later = (is_new && !sys::REPLACES_OPEN_FILES).then(|| new.file.try_clone()).transpose()?;
        let placed = self.place_file(&place, new, old, Expected::Anything);
        let written = placed.map_err(|error| match error {
            WriteError::Raced if is_new => WriteError::NotOverwritten,
            error => error,
        })?;
        if let Some(copy) = later {
            sys::change::copy_mode(&source.handle, &copy)?;
        }
        Ok(copied(bytes, written.caveats))
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
        let mut copied = Copied { from, to: to.path.clone(), entries: 1, ..Copied::default() };
        for (path, kind) in &tree.entries {
            let new = moved(path, &copied.from, &copied.to);
            let done = cancel.check().map_err(WriteError::from);
            let done = done.and_then(|()| self.copy_entry(path, *kind, &new, &mut copied, cancel));
            done.map_err(|error| error.partly(&new, copied.entries))?;
            report(copied.entries);
        }
        // Last, because a copy of a write-protected directory could not be filled; and innermost first.
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
        copied: &mut Copied,
        cancel: &Cancel,
    ) -> Result<(), WriteError> {
        // Opened again for each entry, so that a directory that is moved out of the root meanwhile is not followed.
        let dir = self.open(&new.parent())?;
        match kind {
            Kind::File if path.file_name().is_some_and(is_temporary) => return Ok(()),
            Kind::File => {
                let source = self.root.open_real_file(path.clone())?;
                copied.bytes += self.copy_new(&source, &dir, new, cancel)?;
            }
            Kind::Directory => make_private_directory(&dir, new)?,
            #[cfg(unix)]
            Kind::Link => {
                let target = self.open(&path.parent())?.read_link_contents(name_of(path))?;
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

    /// A file in a tree that is not visible yet, so it is written in place, and removed if that fails.
    fn copy_new(&self, source: &ReadFile, dir: &Dir, new: &RelPath, cancel: &Cancel) -> Result<u64, WriteError> {
        let file = dir.open_with(name_of(new), &new_file(Readers::Owner))?.into_std();
        let copied = copy_content(&source.handle, &file, source.stat.size, self.durable, cancel).and_then(|bytes| {
            sys::change::copy_mode(&source.handle, &file)?;
            if self.durable {
                file.sync_all()?;
            }
            self.must_be_at(&new.parent(), dir)?;
            Ok(bytes)
        });
        if copied.is_err() {
            let _ = dir.remove_file(name_of(new));
        }
        copied
    }

    /// Gives a directory the mode of its source, once it is filled.
    fn finish_directory(&self, path: &RelPath, new: &RelPath) -> Result<(), WriteError> {
        let open = |path| sys::open(&self.root.dir, path, Access::Directory, self.root.can());
        let ((source, _), (directory, _)) = (open(path)?, open(new)?);
        sys::change::copy_mode(&source, &directory)?;
        if self.durable && cfg!(unix) {
            directory.sync_all()?;
        }
        Ok(())
    }
}

/// Accessible to its owner only, until it is complete.
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
