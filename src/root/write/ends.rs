//! What a file holds at its two ends: enough to add to it in its own encoding, at the same cost for any size.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

/// Bytes that are read at each end.
const MOST: u64 = 64 << 10;

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
        if size <= 2 * MOST {
            return Ok(Self { size, head: from(0, size)?, tail: Vec::new() });
        }
        Ok(Self { size, head: from(0, MOST)?, tail: from(size - MOST, MOST)? })
    }

    /// Whether this is all of the file.
    pub(crate) fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.size
    }
}
