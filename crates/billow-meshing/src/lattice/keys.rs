//! Places of the lattice as integers, and a table from places to numbers.
//!
//! Three coordinates of 21 bits make one key. The table probes linearly from a multiplicative hash: no random seed, no
//! iteration, so nothing depends on the order of its slots.

/// A point of the lattice in units of half the finest spacing.
pub(crate) type Place = [i32; 3];

/// Bits per coordinate in a key.
const BITS: u32 = 21;
/// Coordinates lie below this.
pub(crate) const COORDINATE_LIMIT: i32 = 1 << BITS;
/// No number.
pub(crate) const NONE: u32 = u32::MAX;

const EMPTY: u64 = u64::MAX;

/// The key of a place. Coordinates just below zero wrap to the far end, where nothing is stored.
#[inline]
pub(crate) fn key(p: Place) -> u64 {
    let part = |v: i32| (v as u32 & (COORDINATE_LIMIT as u32 - 1)) as u64;
    part(p[0]) | part(p[1]) << BITS | part(p[2]) << (2 * BITS)
}

/// A map from keys to 32-bit numbers that only grows.
#[derive(Clone, Debug)]
pub(crate) struct KeyMap {
    slots: Vec<(u64, u32)>,
    shift: u32,
    len: usize,
}

impl Default for KeyMap {
    fn default() -> Self {
        Self { slots: vec![(EMPTY, NONE); 64], shift: 58, len: 0 }
    }
}

impl KeyMap {
    /// The number stored for `key`, or [`NONE`].
    #[inline]
    pub(crate) fn get(&self, key: u64) -> u32 {
        self.slots[self.slot(key)].1
    }

    /// Stores `value` for `key`, which must not be there yet.
    pub(crate) fn insert(&mut self, key: u64, value: u32) {
        if 2 * (self.len + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(key);
        debug_assert_eq!(self.slots[slot].0, EMPTY, "a key is stored once");
        self.slots[slot] = (key, value);
        self.len += 1;
    }

    /// The slot of `key`, or the free one where it belongs.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        // Two rounds: neighbouring lattice points differ in a few high bits only.
        let mixed = (key ^ (key >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mask = self.slots.len() - 1;
        let mut slot = (mixed >> self.shift) as usize;
        while self.slots[slot].0 != key && self.slots[slot].0 != EMPTY {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![(EMPTY, NONE); 2 * old.len()];
        self.shift -= 1;
        for (key, value) in old {
            if key != EMPTY {
                let slot = self.slot(key);
                self.slots[slot] = (key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_and_the_table_finds_what_it_was_given() {
        let mut map = KeyMap::default();
        let places: Vec<Place> = (0..30_000).map(|i| [i % 31 * 8, i / 31 % 37 * 4, i / (31 * 37)]).collect();
        for (i, p) in places.iter().enumerate() {
            assert_eq!(map.get(key(*p)), NONE);
            map.insert(key(*p), i as u32);
        }
        assert!(places.iter().enumerate().all(|(i, p)| map.get(key(*p)) == i as u32));
        assert_eq!(map.get(key([-1, 0, 0])), NONE);
        assert_ne!(key([-1, 0, 0]), key([0, -1, 0]));
    }
}
