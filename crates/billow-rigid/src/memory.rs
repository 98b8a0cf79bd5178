//! What is remembered of pairs of bodies from look to look.
//!
//! There is room for all pairs whose enlarged boxes overlap, so that what a look asks for is nearly always there already, and
//! keys lie apart from what is known: finding a few pairs among many reads little. Of all this only the places that last
//! are part of the state; the rest may be lost between steps.

use crate::candidates::Candidates;
use crate::detect::Found;
use crate::geometry::Geometry;
use crate::lasting::{Lasting, allowed};
use crate::model::Model;
use crate::near::Known;
use crate::odometer::Odometer;
use crate::state::{Met, Place, State};
use billow_num::{Pose, par};
use std::sync::Arc;

/// Pairs per parallel piece of work.
const PIECE: usize = 32;
/// The same where there is little to do.
const LIGHT: usize = 1024;

/// What is remembered of pairs. Results are the same if it is lost between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// The pairs, ascending.
    keys: Vec<[u32; 2]>,
    /// What is known of each.
    known: Vec<Known>,
    odometer: Odometer,
    /// What is looked for.
    pub(crate) look: Look,
}

/// What places are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// Where bodies may meet within the step.
    #[default]
    Ahead,
    /// Where bodies meet at the end of the step, however fast they came there ([Gue06] 2.6).
    There,
    /// Where the solved velocities lead bodies into each other.
    Late,
    /// Where bodies overlap too much when they have moved; places must be fresh.
    After,
}

/// Overlap of the distances kept that solved velocities may lead to, as a part of the margin [-].
pub(crate) const LATE: f64 = 0.25;

impl Look {
    /// Distance [m] from which places of two shapes that meet within `margin` do not count.
    pub(crate) fn sought(self, shapes: [&Geometry; 2], margin: f64) -> f64 {
        let skin = shapes[0].skin + shapes[1].skin;
        let deep = match self {
            Self::Ahead | Self::There => margin,
            Self::Late => skin,
            Self::After => skin - allowed(shapes),
        };
        // Bounds of distances hold outside.
        deep.max(0.0)
    }
}

/// Pairs that one thread looks at, what is known of them and others, and what it found.
pub(crate) struct Piece<'a> {
    pub(crate) pairs: &'a [[u32; 2]],
    pub(crate) keys: &'a [[u32; 2]],
    pub(crate) known: &'a mut [Known],
    pub(crate) found: Vec<Found>,
}

impl Memory {
    /// Begins a step: keeps what is known of `all` pairs and takes the places of those in `pairs` from the state. Both ascend.
    pub(crate) fn begin(&mut self, model: &Model, state: &State, (all, pairs): (&[[u32; 2]], &[[u32; 2]])) {
        self.look = Look::Ahead;
        self.keep(all);
        let mut starts: Vec<usize> = state.met.iter().map(|m| m.places as usize).collect();
        par::exclusive_sum(&mut starts);
        let Self { keys, known, .. } = self;
        par::chunks_mut(known, LIGHT, |first, known| {
            let keys = &keys[first..first + known.len()];
            let (mut at, mut met) = (0, 0);
            let pairs = &pairs[pairs.partition_point(|p| *p < keys[0])..];
            let from = state.met.partition_point(|m| [m.a, m.b] < keys[0]);
            for (pair, known) in keys.iter().zip(known) {
                at += pairs[at..].iter().take_while(|p| *p < pair).count();
                met += state.met[from + met..].iter().take_while(|m| [m.a, m.b] < *pair).count();
                let there = pairs.get(at) == Some(pair);
                let kept = state.met.get(from + met).filter(|m| there && [m.a, m.b] == *pair);
                let kept = kept.map(|m| {
                    let start = starts[from + met];
                    (m.between, state.places.get(start..start + m.places as usize).unwrap_or_default())
                });
                take_places(known, kept, pair.map(|i| model.geometry(i as usize)));
            }
        });
    }

    /// Ends a step: hands the places to the state.
    pub(crate) fn end(&self, state: &mut State) {
        let lasting = |k: usize| self.known[k].lasting.as_ref();
        state.met = par::gather(self.keys.len(), LIGHT, |range, out| {
            out.extend(range.filter_map(|k| {
                let ([a, b], lasting) = (self.keys[k], lasting(k)?);
                Some(Met { a, b, between: lasting.between(), places: lasting.places().len() as u32 })
            }));
        });
        state.places = par::gather(self.keys.len(), LIGHT, |range, out| {
            range.filter_map(lasting).for_each(|l| out.extend_from_slice(l.places()));
        });
    }

    /// Candidates of a pair, if any are known.
    pub(crate) fn near(&self, pair: [u32; 2]) -> Option<Arc<Candidates>> {
        let at = self.keys.binary_search(&pair).ok()?;
        self.known[at].near.clone()
    }

    /// Pieces of `pairs`, which ascend, each with what is known of them, and odometers that show where bodies are and are
    /// `predicted` to be.
    pub(crate) fn pieces<'a>(
        &'a mut self,
        (model, state): (&Model, &State),
        predicted: &[Pose],
        pairs: &'a [[u32; 2]],
    ) -> (&'a Odometer, Vec<Piece<'a>>) {
        self.admit(pairs);
        if !self.odometer.runs(predicted.len()) {
            self.known.iter_mut().for_each(|k| k.free = 0.0);
        }
        self.odometer.follow(model, state, predicted);
        let Self { keys, known, odometer, .. } = self;
        (odometer, cut((keys, known), pairs, PIECE))
    }

    /// Makes room for all of `pairs`, which ascend.
    fn admit(&mut self, pairs: &[[u32; 2]]) {
        if self.has(pairs) {
            return;
        }
        let mut all = Vec::with_capacity(self.keys.len() + pairs.len());
        let mut old = self.keys.iter().peekable();
        for pair in pairs {
            while let Some(kept) = old.next_if(|k| *k < pair) {
                all.push(*kept);
            }
            old.next_if_eq(&pair);
            all.push(*pair);
        }
        all.extend(old);
        self.keep(&all);
    }

    /// Whether there is room for all of `pairs`, which ascend.
    fn has(&self, pairs: &[[u32; 2]]) -> bool {
        let all = |range: std::ops::Range<usize>| {
            let mut keys = self.keys.as_slice();
            pairs[range].iter().all(|pair| {
                keys = &keys[seek(keys, *pair)..];
                keys.first() == Some(pair)
            })
        };
        par::reduce(pairs.len(), LIGHT, all, |a, b| a && b).unwrap_or(true)
    }

    /// Keeps what is known of `pairs`, which ascend, and forgets all others.
    fn keep(&mut self, pairs: &[[u32; 2]]) {
        if self.keys == pairs {
            return;
        }
        let mut next = vec![Known::default(); pairs.len()];
        let pieces = cut((&self.keys, &mut self.known), pairs, LIGHT);
        let mut moves: Vec<_> = next.chunks_mut(LIGHT).zip(pieces).collect();
        par::chunks_mut(&mut moves, 1, |_, moves| {
            for (next, piece) in moves {
                let mut at = 0;
                for (pair, next) in piece.pairs.iter().zip(next.iter_mut()) {
                    at += seek(&piece.keys[at..], *pair);
                    if piece.keys.get(at) == Some(pair) {
                        *next = std::mem::take(&mut piece.known[at]);
                    }
                }
            }
        });
        self.known = next;
        self.keys.clear();
        self.keys.extend_from_slice(pairs);
    }
}

/// Pieces of `pairs`, which ascend as the keys do, each with what is known of them and others.
fn cut<'a>(
    (mut keys, mut known): (&'a [[u32; 2]], &'a mut [Known]),
    pairs: &'a [[u32; 2]],
    size: usize,
) -> Vec<Piece<'a>> {
    let take = |pairs: &'a [[u32; 2]]| {
        let end = pairs.last().map_or(0, |last| keys.partition_point(|k| k <= last));
        let (these, others) = std::mem::take(&mut known).split_at_mut(end);
        let piece = Piece { pairs, keys: &keys[..end], known: these, found: Vec::new() };
        (keys, known) = (&keys[end..], others);
        piece
    };
    pairs.chunks(size).map(take).collect()
}

/// Takes over the places that were `kept` of two shapes.
fn take_places(known: &mut Known, kept: Option<(Pose, &[Place])>, shapes: [&Geometry; 2]) {
    let Some((between, places)) = kept else {
        known.lasting = None;
        return;
    };
    known.free = 0.0;
    let same = |l: &Lasting| l.between() == between && l.places() == places;
    if !known.lasting.as_ref().is_some_and(|l| same(l)) {
        known.lasting = Some(Box::new(Lasting::kept(shapes, between, places)));
    }
}

/// Where the first key is that is not before `pair`, sought from the start in strides that grow: a few pairs are found
/// among many without reading all of them.
pub(crate) fn seek(keys: &[[u32; 2]], pair: [u32; 2]) -> usize {
    let mut end = 1;
    while end < keys.len() && keys[end - 1] < pair {
        end *= 2;
    }
    let start = end / 2;
    start + keys[start..end.min(keys.len())].partition_point(|k| *k < pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sought_where_they_are() {
        for count in 0..20 {
            let keys: Vec<[u32; 2]> = (0..count).map(|i| [i / 3, 2 * (i % 3) + 1]).collect();
            for pair in (0..8).flat_map(|a| (0..8).map(move |b| [a, b])) {
                assert_eq!(seek(&keys, pair), keys.partition_point(|k| *k < pair));
            }
        }
    }

    #[test]
    fn what_is_known_stays_with_its_pair_when_others_come_and_go() {
        let mut memory = Memory::default();
        let pairs =
            |step: u32| -> Vec<[u32; 2]> { (0..60).filter(|i| i % step == 0).map(|i| [i / 9, i]).collect() };
        memory.admit(&pairs(3));
        memory.keys.iter().zip(&mut memory.known).for_each(|(k, known)| known.free = f64::from(k[1]));
        memory.admit(&pairs(4));
        assert!(memory.has(&pairs(12)) && memory.has(&pairs(3)) && !memory.has(&pairs(5)));
        assert!(memory.keys.is_sorted() && memory.keys.len() == 30);
        memory.keep(&pairs(2));
        assert_eq!(memory.keys, pairs(2));
        for (k, known) in memory.keys.iter().zip(&memory.known) {
            let free = if k[1] % 3 == 0 { f64::from(k[1]) } else { 0.0 };
            assert_eq!(known.free, free);
        }
    }
}
