//! The answers of a batch, collected until all are there (JSON-RPC 2.0, section 6).

use std::collections::HashMap;

use crate::jsonrpc::body::Body;
use crate::runtime::memory::Reservation;

/// Identifies one batch of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BatchKey(u64);

/// The incomplete batches.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    open: HashMap<BatchKey, Batch>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Batch {
    /// How many answers are missing, plus one while the items are being read.
    owed: usize,
    /// The array so far; absent until there is an answer, because a batch of notifications gets none.
    array: Option<Body>,
    held: Vec<Reservation>,
}

impl Batch {
    /// Approximate memory, in bytes.
    fn bytes(&self) -> usize {
        let array = self.array.as_ref().map_or(0, Body::memory);
        size_of::<Self>() + array + self.held.capacity() * size_of::<Reservation>()
    }
}

impl Batches {
    /// The memory of all answers that wait for others of their batch.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Opens a batch. Once its items have been read, it must be settled once without an answer.
    pub(crate) fn open(&mut self) -> BatchKey {
        let key = BatchKey(self.next);
        self.next += 1;
        let batch = Batch { owed: 1, array: None, held: Vec::new() };
        self.bytes += batch.bytes();
        self.open.insert(key, batch);
        key
    }

    /// Whether answers of the batch are missing.
    pub(crate) fn is_open(&self, key: BatchKey) -> bool {
        self.open.contains_key(&key)
    }

    /// Records that one more answer is missing.
    pub(crate) fn owe(&mut self, key: BatchKey) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.owed += 1;
        }
    }

    /// Takes an answer, or `None` if none is due any more. Returns the complete array after the last one.
    pub(crate) fn settle(
        &mut self,
        key: BatchKey,
        answer: Option<Body>,
        mut held: Vec<Reservation>,
    ) -> Option<(Body, Vec<Reservation>)> {
        let batch = self.open.get_mut(&key)?;
        self.bytes -= batch.bytes();
        if let Some(answer) = answer {
            let array = batch.array.get_or_insert_with(|| {
                let mut array = Body::new();
                array.open('[');
                array
            });
            array.append(answer);
            batch.held.append(&mut held);
        }
        batch.owed -= 1;
        if batch.owed > 0 {
            self.bytes += batch.bytes();
            return None;
        }
        let Batch { array, held, .. } = self.open.remove(&key)?;
        let mut array = array?;
        array.close(']');
        Some((array, held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Body {
        let mut body = Body::new();
        body.string(text);
        body
    }

    #[test]
    fn what_an_open_batch_holds_is_counted_until_it_is_complete() {
        let mut batches = Batches::default();
        let [first, second] = [batches.open(), batches.open()];
        for _ in 0..50 {
            batches.owe(first);
        }
        for _ in 0..49 {
            assert!(batches.settle(first, Some(answer(&"x".repeat(1_000))), Vec::new()).is_none());
        }
        assert!((49_000..200_000).contains(&batches.bytes()), "{} bytes", batches.bytes());
        assert!(batches.settle(first, None, Vec::new()).is_none(), "it is owed one more");
        let (array, _) = batches.settle(first, Some(answer("last")), Vec::new()).expect("the last answer");
        assert!(array.len() > 49_000);
        assert!(batches.settle(second, None, Vec::new()).is_none(), "an empty batch gets no answer");
        assert_eq!(batches.bytes(), 0);
    }
}
