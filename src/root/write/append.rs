//! More at the end of a file, at the cost of what is added. It is the one change that happens in place: a process that
//! is killed in the middle may leave a part of it, and a file with several names is refused, as all would change.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use cap_std::fs::OpenOptions;

use super::lock::open_locked;
use super::old::{must_match, open_in};
use super::place::Place;
use super::replace::Expected;
use super::{Replace, UpdateError, Updated, WritableRoot, WriteError, Written};
use crate::root::error::regular;
use crate::root::open::PIECE;
use crate::root::stat::Stat;
use crate::root::{RequestedPath, RootError, sys};
use crate::runtime::cancel::Cancel;

impl WritableRoot {
    /// Adds to the end of a file, or creates it. `fit` is shown the ends of the file that is added to, and may give other
    /// bytes for the content; nothing in this server comes between. It is not asked about a new file, nor about one that
    /// may be written and not be read. Where another program was faster, it is asked again.
    pub(crate) fn append<T: Default, E>(
        &self,
        asked: &RequestedPath,
        new: Replace<'_>,
        cancel: &Cancel,
        fit: impl Fn(&Ends) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Updated<T>, UpdateError<E>> {
        UpdateError::flatten(Self::persist(|| self.append_once(asked, new, cancel, &fit)))
    }

    /// The inner error is the one of `fit`, and nothing was written then.
    fn append_once<T: Default, E>(
        &self,
        asked: &RequestedPath,
        new: Replace<'_>,
        cancel: &Cancel,
        fit: impl Fn(&Ends) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Result<Updated<T>, E>, WriteError> {
        let (place, _guard) = self.place_of(asked, new, cancel)?;
        let mut may_read = true;
        let opened = open_locked(&place, cancel, |_| match place.look()? {
            None => Ok(None),
            Some(stat) => {
                regular(stat.kind)?;
                let file;
                (file, may_read) = open_to_append(&place)?;
                Ok(Some(file))
            }
        })?;
        let Some((mut file, stat)) = opened else {
            must_match(None, new.if_match)?;
            let written = self.put(&place, None, Expected::Anything, new.content, cancel)?;
            return Ok(Ok(Updated { value: T::default(), written }));
        };
        if stat.names() > 1 {
            return Err(WriteError::HardLinked(stat.names()));
        }
        if cfg!(windows) && stat.is_read_only() {
            // The attribute keeps programs from writing, and not all file systems from adding.
            return Err(WriteError::Protected);
        }
        must_match(Some(&stat), new.if_match)?;
        let ends = may_read.then(|| Ends::read(&file, stat.size)).transpose()?;
        let (other, value) = match ends.as_ref().map_or_else(|| Ok((None, T::default())), &fit) {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let content = other.as_deref().unwrap_or(new.content);
        self.must_still_be(&place)?;
        sys::change::clear_set_id(&file)?;
        add(&mut file, stat.size, content, cancel)?;
        let now = self.reached(&place, &file, stat.size, content)?;
        if self.durable {
            file.sync_all().map_err(WriteError::unconfirmed)?;
        }
        Ok(Ok(Updated { value, written: Written::of(place.path, &now, false) }))
    }

    /// The file that has the name now, and what was added. Fails where another program has replaced the file meanwhile, so
    /// that what was added has no name any more, or the one of a backup. It is taken back there; trying again adds it to
    /// the file that has the name. An editor may have loaded what was added and saved it: that file has it already.
    fn reached(&self, place: &Place, file: &File, before: u64, content: &[u8]) -> Result<Stat, WriteError> {
        let now = Stat::of(file)?;
        let there = place.look()?;
        let has_name = there.as_ref().is_some_and(|there| there.is_same_file(&now));
        if has_name && self.must_still_be(place).is_ok() {
            return Ok(now);
        }
        if let Some(there) = there.filter(|_| !has_name && contains(place, before, content)) {
            return Ok(there);
        }
        if now.names() > 0 && now.size == before + content.len() as u64 {
            file.set_len(before)?;
        }
        Err(WriteError::Raced)
    }
}

/// Whether the file at the place can be read and has these bytes there.
fn contains(place: &Place, at: u64, content: &[u8]) -> bool {
    let read = || -> Option<bool> {
        let mut file = open_in(place, OpenOptions::new().read(true)).ok()?;
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut buffer = vec![0; content.len().min(PIECE)];
        for piece in content.chunks(PIECE) {
            file.read_exact(&mut buffer[..piece.len()]).ok()?;
            if buffer[..piece.len()] != *piece {
                return Some(false);
            }
        }
        Some(true)
    };
    !content.is_empty() && read() == Some(true)
}

/// Opens a file to add to it, and to read it where that is allowed: what may be written and not be read takes more, too.
fn open_to_append(place: &Place) -> Result<(File, bool), WriteError> {
    match open_in(place, OpenOptions::new().read(true).append(true)) {
        Err(WriteError::Root(RootError::PermissionDenied)) => {
            Ok((open_in(place, OpenOptions::new().append(true))?, false))
        }
        file => Ok((file?, true)),
    }
}

/// Adds all of `content` to a file that was `before` bytes long, or takes back what got there: trying again must not
/// add it twice.
fn add(file: &mut File, before: u64, content: &[u8], cancel: &Cancel) -> Result<(), WriteError> {
    let mut written = 0;
    while written < content.len() {
        // A step, and no more: what was begun is done.
        let _ = cancel.checkpoint();
        let end = content.len().min(written + PIECE);
        let error = match file.write(&content[written..end]) {
            Ok(0) => io::ErrorKind::WriteZero.into(),
            Ok(count) => {
                written += count;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        let is_ours = |length: u64| length == before + written as u64;
        let taken_back =
            written == 0 || (file.metadata().is_ok_and(|now| is_ours(now.len())) && file.set_len(before).is_ok());
        let error = WriteError::from(error);
        return Err(if taken_back { error } else { WriteError::PartlyAppended { written, error: Box::new(error) } });
    }
    Ok(())
}

/// Bytes that are read at each end of a file that is added to.
const END: u64 = 64 << 10;

/// A file's first and last bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The file's size when they were read.
    pub size: u64,
    /// The first bytes; all of them where the file is short.
    pub head: Vec<u8>,
    /// The last bytes, where they are not in `head`.
    pub tail: Vec<u8>,
}

impl Ends {
    /// Reads them, of a file of this size.
    pub(super) fn read(file: &File, size: u64) -> io::Result<Self> {
        let from = |start, most| {
            let mut bytes = Vec::with_capacity(most as usize);
            let mut file = file;
            file.seek(SeekFrom::Start(start))?;
            file.take(most).read_to_end(&mut bytes).map(|_| bytes)
        };
        if size <= 2 * END {
            return Ok(Self { size, head: from(0, size)?, tail: Vec::new() });
        }
        Ok(Self { size, head: from(0, END)?, tail: from(size - END, END)? })
    }

    /// Whether this is all of the file.
    pub(crate) fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.size
    }
}
