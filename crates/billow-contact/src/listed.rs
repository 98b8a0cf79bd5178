//! Parts of the list of near pairs, and what is known of each pair.
//!
//! A pair whose distance was once known is not looked at again until its triangles have travelled far enough to meet, nor
//! are two edges that are nearest where one of them ends until they may be nearest elsewhere. What all nodes have in
//! common does not count as travelled: it brings no two of them nearer.

use crate::corner::Corner;
use crate::four::FOUR;
use crate::name::Name;
use crate::pair::{Kind, Pair};
use crate::search::Search;
use crate::way::Fit;
use crate::{above, crossed};
use billow_num::{Vec3, par};

/// Pairs that follow one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// None of its names is before this one.
    first: Name,
    names: Vec<Name>,
    known: Vec<Known>,
}

/// What is known of a pair; nothing if it is zero.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its elements do not touch before their triangles have travelled so far together [m].
    apart: f32,
    /// Nor are they a contact before they have travelled so far [m].
    idle: f32,
}

/// A pair that may be a contact, and what is known of it, see [`crossed::Tested`]; infinite if nothing is.
pub(crate) struct Hint {
    pub(crate) pair: Pair,
    pub(crate) end: f32,
    pub(crate) lack: f32,
    pub(crate) missed: bool,
}

/// What was found out about a pair.
pub(crate) struct Looked {
    /// How far apart it is at the start of the step, zero if that is not known [m].
    pub(crate) distance: f64,
    /// Whether it is a contact.
    pub(crate) touches: bool,
}

impl Looked {
    pub(crate) const NOTHING: Self = Self { distance: 0.0, touches: false };
}

/// Trajectories, as the list looks at them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    pub(crate) corners: Vec<Corner>,
    /// How far each triangle will have travelled at the end of the step [m].
    ahead: Vec<f32>,
    /// Scratch: squares of how far each node goes in the step [m²].
    ways: Vec<f64>,
}

/// More than what rounding to single precision and sums take away or add.
const ROUNDING: f64 = 1e-6;

/// No less than a positive number.
pub(crate) fn rounded_up(x: f64) -> f32 {
    (x * (1.0 + ROUNDING)) as f32
}

/// No more than a positive number.
fn rounded_down(x: f64) -> f32 {
    (x * (1.0 - ROUNDING)) as f32
}

/// What most nodes have in common on their way from one place to another: the medians of a sample [m].
pub(crate) fn common(from: &[Vec3], to: &[Vec3]) -> Vec3 {
    const SAMPLE: usize = 1024;
    let every = from.len().div_ceil(SAMPLE).max(1);
    let ways: Vec<Vec3> = from.iter().zip(to).step_by(every).map(|(x0, x1)| *x1 - *x0).collect();
    let median = |coordinate: fn(&Vec3) -> f64| {
        let mut values: Vec<f64> = ways.iter().map(coordinate).filter(|x| x.is_finite()).collect();
        let middle = values.len() / 2;
        if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
    };
    Vec3::new(median(|x| x.x), median(|x| x.y), median(|x| x.z))
}

impl Trail {
    /// Takes trajectories, relative to `origin`.
    pub(crate) fn follow(&mut self, origin: Vec3, fit: Fit<'_>) {
        self.corners.resize(fit.path.x0.len(), Corner::ANYWHERE);
        par::fill(&mut self.corners, |i| Corner::of(fit.way(i), origin));
    }

    /// Takes those of some nodes.
    pub(crate) fn follow_some(&mut self, search: &Search, fit: Fit<'_>, nodes: &[u32]) {
        for i in nodes.iter().map(|i| *i as usize) {
            self.corners[i] = Corner::of(fit.way(i), search.origin());
        }
    }

    /// Finds how far triangles will have come that have `travelled` so far.
    pub(crate) fn look_ahead(&mut self, search: &Search, fit: Fit<'_>, travelled: &[f32]) {
        let (facets, path) = (search.facets(), fit.path);
        self.ahead.resize(facets.len(), 0.0);
        let all = common(path.x0, path.x1);
        self.ways.resize(path.x0.len(), 0.0);
        par::fill(&mut self.ways, |i| (path.x1[i] - path.x0[i] - all).length_squared());
        let ways = &self.ways;
        par::fill(&mut self.ahead, |k| {
            rounded_up(f64::from(travelled[k]) + facets[k].farthest(|i| ways[i]).sqrt())
        });
    }

    /// How far the triangles of a pair will have travelled together.
    #[inline(always)]
    fn ahead(&self, name: Name) -> f32 {
        let [a, b] = name.facets();
        self.ahead[a as usize] + self.ahead[b as usize]
    }
}

impl Part {
    pub(crate) fn first(&self) -> Name {
        self.first
    }

    pub(crate) fn names(&self) -> &[Name] {
        &self.names
    }

    /// Takes other pairs, of which nothing is known.
    pub(crate) fn take(&mut self, names: &[Name]) {
        self.first = names.first().copied().unwrap_or(Name::FIRST);
        self.names.clear();
        self.names.extend_from_slice(names);
        self.known.clear();
        self.known.resize(names.len(), Known::default());
    }

    /// Replaces the names that are `gone` by others, given in order.
    pub(crate) fn replace(&mut self, added: &[Name], gone: impl Fn(Name) -> bool) {
        // What is before all changes stays.
        let before =
            added.first().map_or(self.names.len(), |new| self.names.partition_point(|name| name < new));
        let kept = self.names[..before].iter().position(|name| gone(*name)).unwrap_or(before);
        if kept == self.names.len() && added.is_empty() {
            return;
        }
        let (names, known) = (self.names.split_off(kept), self.known.split_off(kept));
        self.names.reserve_exact(names.len() + added.len());
        self.known.reserve_exact(names.len() + added.len());
        let mut added = added.iter().copied().peekable();
        for (name, known) in names.into_iter().zip(known).filter(|(name, _)| !gone(*name)) {
            while let Some(new) = added.next_if(|new| *new < name) {
                self.push(new, Known::default());
            }
            self.push(name, known);
        }
        added.for_each(|new| self.push(new, Known::default()));
    }

    fn push(&mut self, name: Name, known: Known) {
        self.names.push(name);
        self.known.push(known);
    }

    /// See [`crate::near::Near::contacts`].
    pub(crate) fn contacts(
        &mut self,
        search: &Search,
        (fit, trail, travelled): (Fit<'_>, &Trail, &[f32]),
        mut look: impl FnMut(Hint) -> Looked,
    ) {
        let mut open = self.open(search, trail, |known| known.idle);
        see(&mut open, &trail.corners);
        for Open { at, pair, seen } in open {
            let Seen { apart, end, idle, lack, missed } = seen;
            let reach = fit.reach.of(pair.kind) * pair.gap(fit.surface);
            let looked = if apart { Looked::NOTHING } else { look(Hint { pair, end, lack, missed }) };
            let distance = looked.distance.max(reach - f64::from(lack));
            let idle = f64::from(idle).max(distance - pair.touching(fit.surface));
            let [a, b] = self.names[at as usize].facets();
            let now = f64::from(travelled[a as usize]) + f64::from(travelled[b as usize]);
            let known = &mut self.known[at as usize];
            known.apart = known.apart.max(rounded_down(now + distance));
            known.idle = if looked.touches { 0.0 } else { known.idle.max(rounded_down(now + idle)) };
        }
    }

    /// See [`crate::near::Near::trajectories`].
    pub(crate) fn trajectories(
        &self,
        search: &Search,
        (fit, trail): (Fit<'_>, &Trail),
        wanted: &impl Fn(&Pair) -> bool,
        mut look: impl FnMut(Pair),
    ) {
        // All but a few are known to stay apart, whatever their reach.
        let widest = rounded_up(fit.widest());
        let mut open = self.open(search, trail, |known| known.apart - widest);
        open.retain(|open| wanted(&open.pair));
        see(&mut open, &trail.corners);
        open.iter().filter(|open| !open.seen.apart).for_each(|open| look(open.pair));
    }

    /// The pairs that may travel farther than what is known of them lasts, points and faces first.
    fn open(&self, search: &Search, trail: &Trail, room: impl Fn(&Known) -> f32) -> Vec<Open> {
        // There are no branches, since nobody could foretell them.
        let (mut places, mut count) = (vec![0; self.names.len()], 0);
        for (at, (name, known)) in self.names.iter().zip(&self.known).enumerate() {
            places[count] = at as u32;
            // Not-a-number is far.
            let near = trail.ahead(*name) < room(known);
            count += usize::from(!near);
        }
        let open =
            |at: &u32| Open { at: *at, pair: search.pair(self.names[*at as usize]), seen: Seen::NOTHING };
        places[..count].iter().map(open).collect()
    }
}

/// A pair that must be looked at.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where it is in the part.
    at: u32,
    pair: Pair,
    seen: Seen,
}

/// What tests of four say of one pair.
#[derive(Clone, Copy, Debug)]
struct Seen {
    apart: bool,
    end: f32,
    idle: f32,
    lack: f32,
    missed: bool,
}

impl Seen {
    const NOTHING: Self =
        Self { apart: false, end: f32::INFINITY, idle: 0.0, lack: f32::INFINITY, missed: false };
}

/// Tests pairs, first points and faces, then edges. What is said of a pair never depends on others that are tested with it,
/// nor on what was known: contacts would depend on how old the list is.
fn see(open: &mut [Open], corners: &[Corner]) {
    let edges = open.partition_point(|open| open.pair.kind == Kind::VertexFace);
    let (faces, edges) = open.split_at_mut(edges);
    let told = |bits: u32, k: usize| bits >> k & 1 == 1;
    see_four(faces, |pairs| {
        let above::Tested { apart, lack, missed } = above::test(corners, pairs);
        move |k| Seen { apart: told(apart, k), lack: lack[k], missed: told(missed, k), ..Seen::NOTHING }
    });
    see_four(edges, |pairs| {
        let crossed::Tested { apart, end, idle, lack, missed } = crossed::test(corners, pairs);
        move |k| Seen {
            apart: told(apart, k),
            end: end[k],
            idle: idle[k],
            lack: lack[k],
            missed: told(missed, k),
        }
    });
}

/// Applies a test to four pairs at a time.
#[inline(always)]
fn see_four<S: Fn(usize) -> Seen>(open: &mut [Open], test: impl Fn(&[Pair; FOUR]) -> S) {
    for four in open.chunks_mut(FOUR) {
        let pair = |k: usize| four.get(k).unwrap_or(&four[0]).pair;
        let seen = test(&[pair(0), pair(1), pair(2), pair(3)]);
        four.iter_mut().enumerate().for_each(|(k, open)| open.seen = seen(k));
    }
}
