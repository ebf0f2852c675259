//! The answers of a batch, collected until the last one is there (JSON-RPC 2.0, section 6).

use std::collections::HashMap;

use crate::memory::Reservation;
use crate::wire::json::Body;

/// Names one batch of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchKey(u64);

/// The batches whose answers are not complete.
#[derive(Debug, Default)]
pub struct Batches {
    open: HashMap<BatchKey, Batch>,
    next: u64,
}

#[derive(Debug)]
struct Batch {
    /// Answers still owed; while its items are read, one more.
    owed: usize,
    /// The array so far; absent until there is an answer, as a batch of notifications gets none.
    array: Option<Body>,
    held: Vec<Reservation>,
}

impl Batches {
    /// Begins a batch. Once its items are read it must be settled once without an answer.
    pub fn open(&mut self) -> BatchKey {
        let key = BatchKey(self.next);
        self.next += 1;
        self.open.insert(key, Batch { owed: 1, array: None, held: Vec::new() });
        key
    }

    /// Notes that one more answer is owed.
    pub fn owe(&mut self, key: BatchKey) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.owed += 1;
        }
    }

    /// Takes an answer, or `None` where none is due any more; gives the whole array when it was the last one.
    pub fn settle(
        &mut self,
        key: BatchKey,
        answer: Option<Body>,
        mut held: Vec<Reservation>,
    ) -> Option<(Body, Vec<Reservation>)> {
        let batch = self.open.get_mut(&key)?;
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
            return None;
        }
        let Batch { array, held, .. } = self.open.remove(&key)?;
        let mut array = array?;
        array.close(']');
        Some((array, held))
    }
}
