//! The bytes of a file, of any size.
//!
//! This exists instead of `Vec` because of what an allocator does with large blocks: it keeps them for reuse. glibc
//! keeps them in several heaps, one for every few threads; after 64 concurrent reads of 3.75 MB each, of which at most
//! 64 MiB may be in memory, those heaps still held 60 MB. Large buffers are therefore mapped from the system directly
//! and unmapped when dropped.

use std::fmt;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// From this size on, the cost of a system call is small compared with filling the buffer.
const LARGE: usize = 256 << 10;

/// Bytes that own their memory.
#[derive(Default)]
pub struct Bytes {
    memory: Memory,
    length: usize,
}

enum Memory {
    Allocated(Vec<u8>),
    Mapped(MmapMut),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Allocated(Vec::new())
    }
}

impl Bytes {
    /// `length` zero bytes, to be filled.
    pub(crate) fn zeroed(length: usize) -> Self {
        let mapped = (length >= LARGE).then(|| MmapMut::map_anon(length).ok()).flatten();
        let memory = mapped.map_or_else(|| Memory::Allocated(vec![0; length]), Memory::Mapped);
        Self { memory, length }
    }

    /// Keeps only the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Removes the first `count` bytes.
    pub(crate) fn remove_front(&mut self, count: usize) {
        if count > 0 {
            self.copy_within(count.., 0);
            self.truncate(self.length - count);
        }
    }

    /// Appends `more`.
    pub(crate) fn extend_from_slice(&mut self, more: &[u8]) {
        let mut bytes = match std::mem::take(&mut self.memory) {
            Memory::Allocated(bytes) => bytes,
            Memory::Mapped(bytes) => bytes.to_vec(),
        };
        bytes.truncate(self.length);
        bytes.extend_from_slice(more);
        *self = bytes.into();
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.memory {
            Memory::Allocated(bytes) => &bytes[..self.length],
            Memory::Mapped(bytes) => &bytes[..self.length],
        }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Allocated(bytes) => &mut bytes[..self.length],
            Memory::Mapped(bytes) => &mut bytes[..self.length],
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), memory: Memory::Allocated(bytes) }
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_ones_are_the_same_to_look_at_and_to_change() {
        for length in [0, 5, LARGE - 1, LARGE, LARGE + 5] {
            let mut expected: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let mut bytes = Bytes::zeroed(length);
            assert!(bytes.len() == length && bytes.iter().all(|byte| *byte == 0));
            assert_eq!(matches!(bytes.memory, Memory::Mapped(_)), length >= LARGE, "{length}");
            bytes.copy_from_slice(&expected);
            assert_eq!(bytes, expected.clone().into(), "{length}");
            bytes.remove_front(length.min(3));
            expected.drain(..length.min(3));
            assert_eq!(bytes, expected.clone().into(), "{length}");
            bytes.truncate(LARGE - 10);
            expected.truncate(LARGE - 10);
            bytes.extend_from_slice(b"more");
            expected.extend_from_slice(b"more");
            assert_eq!(bytes, expected.into(), "{length}");
        }
    }
}
