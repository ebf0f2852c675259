//! Moves a file, a directory with everything in it, or a link, whose target stays the same text. Nothing is ever
//! overwritten.
//!
//! Linux and macOS have a rename for that. If the file system does not support it, a file or link gets a second name
//! and loses the first, and a directory replaces an empty one that was created for it, which fails if something has
//! been put into that.

use std::io;

use super::error::{Side, SideError};
use super::path_locks::Claimed;
use super::place::Place;
use super::tree::Rules;
use super::{WritableRoot, WriteError};
use crate::root::resolve::LastLink;
use crate::root::stat::Kind;
use crate::root::{RelPath, RequestedPath, RootError, sys};
use crate::runtime::cancel::Cancel;

/// The result of a move: real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Where it was.
    pub from: RelPath,
    /// Where it is.
    pub to: RelPath,
}

impl WritableRoot {
    /// Moves `source` to `destination`, a name that does not exist.
    pub(crate) fn rename(
        &self,
        source: &RequestedPath,
        destination: &RequestedPath,
        parents: bool,
        cancel: &Cancel,
    ) -> Result<Moved, SideError> {
        let (at_source, at_destination) = (Side::Source.of(), Side::Destination.of());
        let from = self.target(source, LastLink::Itself, cancel).map_err(&at_source)?;
        let to = self.target(destination, LastLink::Itself, cancel).map_err(&at_destination)?;
        let claimed = [Claimed::Tree(&from.path), Claimed::Tree(&to.path)];
        let _guard = self.path_locks.take(&claimed, cancel).map_err(&at_source)?;
        let source = self.place(&from, false).map_err(&at_source)?;
        let stat = source.look().and_then(|stat| Ok(stat.ok_or(RootError::NotFound)?)).map_err(&at_source)?;
        from.must_fit(stat.kind).map_err(&at_source)?;
        let is_respelled = self.is_respelled(&from.path, &to.path, cancel).map_err(&at_source)?;
        if to.missing().is_empty() && !is_respelled {
            return Err(at_destination(WriteError::Exists));
        }
        if stat.kind == Kind::Directory && !is_respelled {
            must_not_be_inside(&to.path, &from.path).map_err(&at_destination)?;
            let rules = Rules { goes: true, destination: Some(&to.path), mounts: true };
            self.look_through(&from.path, rules, cancel).map_err(&at_source)?;
        } else {
            to.must_fit(stat.kind).map_err(&at_destination)?;
        }
        let destination = self.place(&to, parents).map_err(&at_destination)?;
        self.must_still_be(&source).map_err(&at_source)?;
        self.must_still_be(&destination).map_err(&at_destination)?;
        let moved = if is_respelled {
            source.dir.rename(source.name(), &destination.dir, destination.name()).map_err(WriteError::from)
        } else {
            move_new(&source, &destination, stat.kind)
        };
        moved.map_err(|error| match error {
            // The new name does not exist, so something is mounted at the old one.
            WriteError::InUse => at_source(error),
            error => at_destination(error),
        })?;
        self.must_have_arrived(&source, &destination, stat.kind).map_err(&at_destination)?;
        if stat.kind == Kind::Directory {
            self.must_hold_nothing_barred(&source, &destination, cancel).map_err(&at_source)?;
        }
        self.settle(&destination.dir).and_then(|()| self.settle(&source.dir)).map_err(&at_destination)?;
        Ok(Moved { from: from.path, to: to.path })
    }
}

impl WritableRoot {
    /// Whether both paths are one entry in another case, on a system that treats them as the same name.
    fn is_respelled(&self, from: &RelPath, to: &RelPath, cancel: &Cancel) -> Result<bool, WriteError> {
        let folded = |path: &RelPath| path.display().to_lowercase();
        if !cfg!(windows) || from == to || from.parent() != to.parent() || folded(from) != folded(to) {
            return Ok(false);
        }
        let mut has_both = false;
        let directory = self.root.open_real_directory(&to.parent())?;
        directory.each(cancel, |entry| has_both |= Some(entry.name) == to.file_name())?;
        Ok(!has_both)
    }

    /// Another program or server may have moved the destination's directory to where the name is denied or protected.
    /// In that case the move is undone.
    fn must_have_arrived(&self, source: &Place, destination: &Place, kind: Kind) -> Result<(), WriteError> {
        if self.must_still_be(destination).is_err() {
            move_new(destination, source, kind)?;
            return Err(WriteError::Raced);
        }
        Ok(())
    }

    /// Another program or server may have put something into a directory after that was examined, which is denied or
    /// protected at the new place. In that case the move is undone.
    fn must_hold_nothing_barred(&self, source: &Place, destination: &Place, cancel: &Cancel) -> Result<(), WriteError> {
        let rules = Rules { goes: true, destination: None, mounts: true };
        match self.look_through(&destination.path, rules, cancel) {
            Err(WriteError::HoldsDenied | WriteError::HoldsProtected(..)) => {
                move_new(destination, source, Kind::Directory)?;
                Err(WriteError::Raced)
            }
            _ => Ok(()),
        }
    }
}

fn move_new(source: &Place, destination: &Place, kind: Kind) -> Result<(), WriteError> {
    let (from, to) = ((&source.dir, source.name()), (&destination.dir, destination.name()));
    let moved = match sys::change::rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => move_by_steps(source, destination, kind),
        moved => moved,
    };
    moved.map_err(|error| match error.kind() {
        // Something has just appeared there, and it is kept.
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => WriteError::Exists,
        io::ErrorKind::Unsupported => WriteError::NoSafeMove,
        _ => error.into(),
    })
}

/// For file systems without a rename that never overwrites.
fn move_by_steps(source: &Place, destination: &Place, kind: Kind) -> io::Result<()> {
    if kind != Kind::Directory {
        return move_by_link(source, destination);
    }
    // Windows cannot rename a directory over another one.
    if cfg!(unix) {
        destination.dir.create_dir(destination.name())?;
    }
    let moved = source.dir.rename(source.name(), &destination.dir, destination.name());
    if moved.is_err() && cfg!(unix) {
        // Ours, if it is still empty.
        let _ = destination.dir.remove_dir(destination.name());
    }
    moved
}

fn move_by_link(source: &Place, destination: &Place) -> io::Result<()> {
    match source.dir.hard_link(source.name(), &destination.dir, destination.name()) {
        // The errors of file systems without hard links.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error),
        Ok(()) => source.dir.remove_file(source.name()),
    }
}

/// A directory cannot be inside itself.
pub(super) fn must_not_be_inside(path: &RelPath, directory: &RelPath) -> Result<(), WriteError> {
    let rest = path.as_bytes().strip_prefix(directory.as_bytes());
    let is_inside = directory.is_root() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    if is_inside { Err(WriteError::IntoItself) } else { Ok(()) }
}
