//! Compiles patterns and queries on one thread, one at a time, so that the memory for it is taken only once. Equal ones
//! that are in use are shared.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::runtime::cancel::Cancel;
use crate::runtime::serial_executor::SerialExecutor;

/// The thread, and what is in use of each kind.
#[derive(Default)]
pub struct Compiler {
    serial_executor: SerialExecutor,
    kinds: Mutex<HashMap<TypeId, Box<dyn Any + Send + Sync>>>,
}

impl Compiler {
    /// The result of `make` for `key`, or that of another call in progress for an equal key. `None` if compiling
    /// failed.
    pub(crate) fn compile<K, V>(
        &self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, String> + Send + 'static,
    ) -> Option<Result<Arc<V>, String>>
    where
        K: PartialEq + Send + 'static,
        V: Send + Sync + 'static,
    {
        let shared = self.shared::<K, V>();
        let work = move || shared.find(&key).map_or_else(|| make(&key).map(|made| shared.keep(key, made)), Ok);
        // Brief and without disk access. Abandoning it would let several run at once.
        self.serial_executor.run_anyway(&Cancel::default(), work)
    }

    fn shared<K: Send + 'static, V: Send + Sync + 'static>(&self) -> Arc<Shared<K, V>> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kinds.entry(TypeId::of::<(K, V)>()).or_insert_with(|| Box::new(Arc::<Shared<K, V>>::default()));
        // It always has this type; if not, nothing would be shared.
        kind.downcast_ref().map_or_else(Arc::default, Arc::clone)
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiler")
    }
}

/// What is in use, to be shared. There are at most as many as calls with a permit.
struct Shared<K, V>(Mutex<Vec<(K, Weak<V>)>>);

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V> Shared<K, V> {
    fn find(&self, key: &K) -> Option<Arc<V>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|(known, _)| known == key).and_then(|(_, made)| made.upgrade())
    }

    fn keep(&self, key: K, made: V) -> Arc<V> {
        let made = Arc::new(made);
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|(_, made)| made.strong_count() > 0);
        entries.push((key, Arc::downgrade(&made)));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_is_shared_and_what_is_not_is_forgotten() {
        let shared = Shared::<u8, String>::default();
        let kept = shared.keep(1, "one".to_owned());
        assert!(shared.find(&1).is_some_and(|found| Arc::ptr_eq(&found, &kept)));
        assert!(shared.find(&2).is_none());
        drop(kept);
        assert!(shared.find(&1).is_none());
        let _two = shared.keep(2, "two".to_owned());
        assert_eq!(shared.0.lock().expect("no panic").len(), 1);
    }

    #[test]
    fn equal_keys_of_two_kinds_are_told_apart() {
        let compiler = Compiler::default();
        let length = compiler.compile("abc".to_owned(), |text: &String| Ok(text.len())).expect("a thread");
        let upper = compiler.compile("abc".to_owned(), |text: &String| Ok(text.to_uppercase())).expect("a thread");
        assert_eq!((*length.expect("a length"), upper.expect("a text").as_str()), (3, "ABC"));
    }
}
