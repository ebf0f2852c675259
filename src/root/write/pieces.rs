//! Contents, a piece at a time: between two of them it is asked whether to go on.

use std::fs::File;
use std::io::{Read as _, Write as _};

use super::WriteError;
use crate::cancel::Cancel;
use crate::root::open::PIECE;

/// Writes all of `bytes`.
pub(super) fn write_all(file: &mut File, bytes: &[u8], cancel: &Cancel) -> Result<(), WriteError> {
    for piece in bytes.chunks(PIECE) {
        cancel.check()?;
        file.write_all(piece)?;
    }
    Ok(())
}

/// Reads what is left of a file, but no more than `most` and one byte. `size` is a guess.
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
