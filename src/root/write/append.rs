//! Appending to a file, at the cost of the added bytes only. This is the one change that happens in place: if the
//! process is killed midway, part of the text may remain. A file with several names is refused, because all of them
//! would change.

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
    /// Appends to a file, or creates it. `fit` receives the first and last bytes of the existing file, and may return
    /// other bytes to append; nothing in this server changes the file in between. It is not called for a new file, nor
    /// for one that is writable but not readable. If another program is faster, it is called again.
    pub(crate) fn append<T: Default, E>(
        &self,
        asked: &RequestedPath,
        new: Replace<'_>,
        cancel: &Cancel,
        fit: impl Fn(&Ends) -> Result<(Option<Vec<u8>>, T), E>,
    ) -> Result<Updated<T>, UpdateError<E>> {
        UpdateError::flatten(Self::persist(|| self.append_once(asked, new, cancel, &fit)))
    }

    /// The inner error is from `fit`; in that case nothing was written.
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

    /// Returns the file that now has the name, and what was appended. Fails if another program has replaced the file
    /// meanwhile, so that the appended text has lost its name or is in a backup. In that case it is taken back there,
    /// and a retry appends to the file that has the name now. If an editor had loaded the appended text and saved it,
    /// that file already has it.
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

/// Whether the file at the place is readable and has these bytes at `at`.
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

/// Opens a file for appending, and for reading if possible. A file that is writable but not readable can be appended to
/// as well.
fn open_to_append(place: &Place) -> Result<(File, bool), WriteError> {
    match open_in(place, OpenOptions::new().read(true).append(true)) {
        Err(WriteError::Root(RootError::PermissionDenied)) => {
            Ok((open_in(place, OpenOptions::new().append(true))?, false))
        }
        file => Ok((file?, true)),
    }
}

/// Appends all of `content` to a file of `before` bytes, or takes back what was written: a retry must not append it
/// twice.
fn add(file: &mut File, before: u64, content: &[u8], cancel: &Cancel) -> Result<(), WriteError> {
    let mut written = 0;
    while written < content.len() {
        // Only counts as a step: a write that has begun is finished.
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

/// How many bytes are read at each end of the file.
const END: u64 = 64 << 10;

/// The first and last bytes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The size of the file when they were read.
    pub size: u64,
    /// The first bytes; all bytes if the file is short.
    pub head: Vec<u8>,
    /// The last bytes, without those in `head`.
    pub tail: Vec<u8>,
}

impl Ends {
    /// Reads them from a file of this size.
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

    /// Whether this is the whole file.
    pub(crate) fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.size
    }
}
