//! A cache bounded by the bytes it holds; what was not used for longest goes first.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, at most `capacity` bytes of them.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    capacity: usize,
    held: usize,
    clock: u64,
    entries: HashMap<K, Entry<V>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Lru<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, held: 0, clock: 0, entries: HashMap::new() }
    }

    /// The value under `key`, which thereby becomes the most recently used.
    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Puts a value of `bytes` bytes; one larger than the whole cache is not kept.
    pub(crate) fn put(&mut self, key: K, value: V, bytes: usize) {
        if bytes > self.capacity {
            return;
        }
        self.clock += 1;
        let entry = Entry { value, bytes, used: self.clock };
        self.held += bytes;
        if let Some(old) = self.entries.insert(key, entry) {
            self.held -= old.bytes;
        }
        while self.held > self.capacity {
            let oldest = self.entries.iter().min_by_key(|(_, e)| e.used).map(|(k, _)| k.clone());
            let Some(gone) = oldest.and_then(|k| self.entries.remove(&k)) else { break };
            self.held -= gone.bytes;
        }
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Lru::new(10);
        cache.put("a", 1, 4);
        cache.put("b", 2, 4);
        assert_eq!(cache.get(&"a"), Some(1));
        cache.put("c", 3, 4);
        assert_eq!((cache.get(&"a"), cache.get(&"b"), cache.get(&"c")), (Some(1), None, Some(3)));
        cache.put("a", 5, 6);
        assert_eq!((cache.held, cache.get(&"a")), (10, Some(5)));
        cache.put("huge", 9, 11);
        assert_eq!((cache.get(&"huge"), cache.held), (None, 10));
        cache.clear();
        assert_eq!((cache.get(&"a"), cache.held), (None, 0));
    }
}
