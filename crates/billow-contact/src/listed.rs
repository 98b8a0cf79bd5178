//! Parts of the list of near pairs, and what is known of each pair.
//!
//! A pair whose distance was once known is not looked at again until its triangles have travelled far enough to meet, nor
//! are two edges that are nearest where one of them ends until they may be nearest elsewhere. What all nodes have in
//! common does not count as travelled: it brings no two of them nearer.

use crate::corner::Corner;
use crate::crossed::{self, FOUR, Tested};
use crate::name::Name;
use crate::pair::{Kind, Pair};
use crate::search::Search;
use crate::way::Fit;
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

/// A pair that may be a contact, and what is known of it, see [`Tested`]; infinite if nothing is.
pub(crate) struct Hint {
    pub(crate) pair: Pair,
    pub(crate) end: f32,
    pub(crate) lack: f32,
}

/// Trajectories, as the list looks at them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    pub(crate) corners: Vec<Corner>,
    /// How far each triangle will have travelled at the end of the step [m].
    ahead: Vec<f32>,
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
    /// Takes trajectories.
    pub(crate) fn follow(&mut self, search: &Search, fit: Fit<'_>) {
        let origin = search.origin();
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
        par::fill(&mut self.ahead, |k| {
            let ahead = facets[k].farthest(|i| (path.x1[i] - path.x0[i] - all).length_squared()).sqrt();
            rounded_up(f64::from(travelled[k]) + ahead)
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
        let (names, known) = (std::mem::take(&mut self.names), std::mem::take(&mut self.known));
        self.names.reserve(names.len() + added.len());
        self.known.reserve(names.len() + added.len());
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
        mut look: impl FnMut(Hint) -> f64,
    ) {
        let Self { names, known, .. } = self;
        let mut judge = |known: &mut [Known], k: usize, pair: Pair, seen: Seen| {
            let Seen { apart, end, idle, lack } = seen;
            let reach = fit.reach * pair.gap(fit.surface);
            let distance = if apart { 0.0 } else { look(Hint { pair, end, lack }) };
            let distance = distance.max(reach - f64::from(lack));
            let idle = f64::from(idle).max(distance - reach);
            let [a, b] = names[k].facets();
            let now = f64::from(travelled[a as usize]) + f64::from(travelled[b as usize]);
            known[k].apart = known[k].apart.max(rounded_down(now + distance));
            known[k].idle = known[k].idle.max(rounded_down(now + idle));
        };
        let mut edges = Edges::default();
        for (k, name) in names.iter().enumerate() {
            if known[k].idle > trail.ahead(*name) {
                continue;
            }
            let pair = search.pair(*name);
            match pair.kind {
                Kind::VertexFace => judge(known, k, pair, Seen::NOTHING),
                Kind::EdgeEdge => edges.push(pair, k),
            }
            if edges.count == FOUR {
                edges.see(&trail.corners, |k, pair, seen| judge(known, k, pair, seen));
            }
        }
        edges.see(&trail.corners, |k, pair, seen| judge(known, k, pair, seen));
    }

    /// See [`crate::near::Near::trajectories`].
    pub(crate) fn trajectories(
        &self,
        search: &Search,
        (fit, trail): (Fit<'_>, &Trail),
        wanted: &impl Fn(&Pair) -> bool,
        mut look: impl FnMut(Pair),
    ) {
        let (mut edges, widest) = (Edges::default(), fit.widest());
        let mut judge = |_, pair: Pair, seen: Seen| {
            if !seen.apart {
                look(pair);
            }
        };
        for (k, name) in self.names.iter().enumerate() {
            let (apart, ahead) = (f64::from(self.known[k].apart), f64::from(trail.ahead(*name)));
            // All but a few are known to stay apart, whatever their reach.
            if apart > ahead + widest {
                continue;
            }
            let pair = search.pair(*name);
            if apart > ahead + fit.reach * pair.gap(fit.surface) || !wanted(&pair) {
                continue;
            }
            match pair.kind {
                Kind::VertexFace => judge(k, pair, Seen::NOTHING),
                Kind::EdgeEdge => edges.push(pair, k),
            }
            if edges.count == FOUR {
                edges.see(&trail.corners, &mut judge);
            }
        }
        edges.see(&trail.corners, judge);
    }
}

/// What [`Tested`] says of one pair.
#[derive(Clone, Copy, Debug)]
struct Seen {
    apart: bool,
    end: f32,
    idle: f32,
    lack: f32,
}

impl Seen {
    const NOTHING: Self = Self { apart: false, end: f32::INFINITY, idle: 0.0, lack: f32::INFINITY };
}

/// Pairs of edges that wait to be tested together.
struct Edges {
    pairs: [Pair; FOUR],
    /// Where they are in the part.
    at: [usize; FOUR],
    count: usize,
}

impl Default for Edges {
    fn default() -> Self {
        Self { pairs: [Pair::NOBODY; FOUR], at: [0; FOUR], count: 0 }
    }
}

impl Edges {
    #[inline(always)]
    fn push(&mut self, pair: Pair, at: usize) {
        (self.pairs[self.count], self.at[self.count]) = (pair, at);
        self.count += 1;
    }

    /// Tells what is seen of each; none are left.
    #[inline(always)]
    fn see(&mut self, corners: &[Corner], mut tell: impl FnMut(usize, Pair, Seen)) {
        if self.count == 0 {
            return;
        }
        let Tested { apart, end, idle, lack } = crossed::test(corners, &self.pairs);
        for k in 0..std::mem::take(&mut self.count) {
            let apart = apart >> k & 1 == 1;
            tell(self.at[k], self.pairs[k], Seen { apart, end: end[k], idle: idle[k], lack: lack[k] });
        }
    }
}
