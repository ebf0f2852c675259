//! Reads and writes content piece by piece, checking for cancellation in between.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use super::WriteError;
use crate::root::open::PIECE;
use crate::root::sys;
use crate::runtime::cancel::Cancel;

/// How many bytes are copied between two checks.
const CHUNK: u64 = 1 << 20;
/// How many bytes are copied before they are flushed to the disk: on a slow disk, flushing everything at the end would
/// take very long.
const SYNCED: u64 = 16 << 20;

/// Writes all of `bytes`.
pub(super) fn write_all(file: &mut File, bytes: &[u8], cancel: &Cancel) -> Result<(), WriteError> {
    for piece in bytes.chunks(PIECE) {
        cancel.check()?;
        file.write_all(piece)?;
    }
    Ok(())
}

/// Reads the rest of a file, but no more than `most` bytes and one. `size` is a guess.
pub(super) fn read_to_end(file: &File, size: u64, most: u64, cancel: &Cancel) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::with_capacity(size.min(most) as usize);
    loop {
        cancel.check()?;
        let left = most + 1 - bytes.len() as u64;
        let read = file.take(left.min(PIECE as u64)).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// Copies what the file held when it was opened, without its holes. The system copies, without a buffer in this process
/// if it can, and without copying at all if the file system can share blocks.
pub(super) fn copy_content(
    mut from: &File,
    mut to: &File,
    size: u64,
    durable: bool,
    cancel: &Cancel,
) -> Result<u64, WriteError> {
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
    // Beyond its end, a file has neither data nor holes: a file that has become shorter must not be mistaken for its
    // former self.
    if from.metadata()?.len() < size { Err(WriteError::Raced) } else { Ok(size) }
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
        // It may become longer: the copy has what it held.
        assert_eq!(copied(5), Ok(5));
    }
}
