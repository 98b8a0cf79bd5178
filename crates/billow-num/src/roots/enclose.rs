//! Certified enclosures of all real roots of a polynomial in an interval.
//!
//! Branch and prune on the Bernstein form: a piece whose coefficients certainly share one sign is dropped; a
//! monotone piece is contracted by the interval Newton step; anything else is halved. A piece is kept as it is
//! once it is short enough, or once all its coefficients could be zero, which is what a multiple root looks like
//! through rounding. Dropping needs a certificate and keeping does not, so no root is ever lost.

use super::Bernstein;
use crate::interval::Interval;

/// An interval that may hold roots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// Where the root is.
    pub span: Interval,
    /// Whether the span certainly holds exactly one root, a simple one; otherwise it may hold none or several.
    pub certain: bool,
}

/// Up to three enclosures in increasing order, pairwise disjoint. Together they hold every root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosures {
    items: [Enclosure; CAPACITY],
    len: usize,
}

const CAPACITY: usize = 3;
/// Pieces examined before those left are kept unexamined; ordinary cubics need fewer than 30.
const MAX_PIECES: usize = 400;
/// Length of `[0, 1]` below which halving stops.
const SHORTEST: f64 = 1.0 / (1u64 << 48) as f64;

impl Enclosures {
    fn new() -> Self {
        Self { items: [Enclosure { span: Interval::ZERO, certain: false }; CAPACITY], len: 0 }
    }

    /// Adds an enclosure right of all before; touching ones merge, and so do the closest two when full.
    fn push(&mut self, next: Enclosure) {
        if let Some(last) = self.items[..self.len].last_mut()
            && last.span.hi() >= next.span.lo()
        {
            *last = Enclosure { span: last.span.hull(next.span), certain: false };
            return;
        }
        if self.len == CAPACITY {
            let gap = |k: usize| self.items[k + 1].span.lo() - self.items[k].span.hi();
            let last_gap = next.span.lo() - self.items[CAPACITY - 1].span.hi();
            let k = if gap(0) <= gap(1) { 0 } else { 1 };
            if last_gap <= gap(k) {
                let last = &mut self.items[CAPACITY - 1];
                *last = Enclosure { span: last.span.hull(next.span), certain: false };
                return;
            }
            self.items[k] =
                Enclosure { span: self.items[k].span.hull(self.items[k + 1].span), certain: false };
            self.items.copy_within(k + 2.., k + 1);
            self.len -= 1;
        }
        self.items[self.len] = next;
        self.len += 1;
    }
}

impl std::ops::Deref for Enclosures {
    type Target = [Enclosure];
    fn deref(&self) -> &[Enclosure] {
        &self.items[..self.len]
    }
}

/// Encloses the real roots of `c[0] + c[1] t + c[2] t² + c[3] t³` in `range`.
pub fn enclose_cubic(c: [f64; 4], range: Interval) -> Enclosures {
    enclose_roots(&c.map(Interval::point), range)
}

/// Encloses the real roots of `c[0] + c[1] t + c[2] t²` in `range`.
pub fn enclose_quadratic(c: [f64; 3], range: Interval) -> Enclosures {
    enclose_roots(&c.map(Interval::point), range)
}

/// Encloses the real roots in the finite `range` of every polynomial `c[0] + c[1] t + …` with coefficients in
/// the given intervals. With thin coefficients, spans of simple roots come out a few rounding units wide.
pub fn enclose_roots<const N: usize>(c: &[Interval; N], range: Interval) -> Enclosures {
    let whole = Piece { start: 0.0, length: 1.0, form: Bernstein::from_power(c, range) };
    let found = search(&whole);
    let mut roots = Enclosures::new();
    for e in found.iter() {
        roots.push(Enclosure { span: place(e.span, range), certain: e.certain });
    }
    roots
}

/// The part `[start, start + length]` of `[0, 1]`; both numbers are exact binary fractions.
#[derive(Clone, Copy)]
struct Piece<const N: usize> {
    start: f64,
    length: f64,
    form: Bernstein<N>,
}

impl<const N: usize> Piece<N> {
    fn span(&self) -> Interval {
        Interval::new(self.start, self.start + self.length)
    }

    fn halves(&self) -> (Self, Self) {
        let (left, right) = self.form.halves();
        let length = 0.5 * self.length;
        (
            Self { start: self.start, length, form: left },
            Self { start: self.start + length, length, form: right },
        )
    }
}

/// Finds all enclosures in `[0, 1]`.
fn search<const N: usize>(whole: &Piece<N>) -> Enclosures {
    let mut found = Enclosures::new();
    let mut budget = MAX_PIECES;
    examine(whole, &mut found, &mut budget);
    certify(&whole.form, &mut found);
    found
}

/// Drops, contracts, keeps or halves a piece; left halves first, so that enclosures come out in order. Halving
/// ends at [`SHORTEST`], 48 levels down.
fn examine<const N: usize>(piece: &Piece<N>, found: &mut Enclosures, budget: &mut usize) {
    if piece.form.sign() != 0 {
        return;
    }
    *budget = budget.saturating_sub(1);
    let slope = piece.form.slope();
    if slope.sign() != 0 {
        if let Some(e) = contract(piece, slope) {
            found.push(e);
        }
    } else if piece.form.is_lost() || piece.length <= SHORTEST || *budget == 0 {
        found.push(Enclosure { span: piece.span(), certain: false });
    } else {
        let (left, right) = piece.halves();
        examine(&left, found, budget);
        examine(&right, found, budget);
    }
}

/// Shrinks a monotone piece around its only possible root by interval Newton steps; `None` if it has none.
fn contract<const N: usize>(piece: &Piece<N>, slope: Interval) -> Option<Enclosure> {
    let form = &piece.form;
    let mut x = Interval::UNIT;
    // Expanding about an uncertified root makes the first step almost the last.
    let mut centre = approximate_root(form);
    let mut slope = slope;
    for _ in 0..64 {
        let newton = Interval::point(centre) - form.at(centre) / slope;
        let next = x.intersection(newton)?;
        let (before, after) = (x.width(), next.width());
        x = next;
        if after > 0.5 * before {
            break;
        }
        centre = x.mid();
        slope = slope_on(form, x);
    }
    let span = x * piece.length + piece.start;
    let inside = span.intersection(piece.span())?;
    // A certain change of sign over the piece proves the one root a monotone piece can have.
    let certain = form.0[0].sign() * form.0[N - 1].sign() == -1;
    Some(Enclosure { span: inside, certain })
}

/// A point of `[0, 1]` near the root of a monotone piece, by Newton's method in plain arithmetic.
fn approximate_root<const N: usize>(form: &Bernstein<N>) -> f64 {
    let b = form.0.map(|b| b.mid());
    let mut x = (b[0] / (b[0] - b[N - 1])).clamp(0.0, 1.0);
    for _ in 0..8 {
        // The last step of de Casteljau gives the value and, from the two points before, the slope.
        let mut c = b;
        for round in 1..N - 1 {
            for k in 0..N - round {
                c[k] += (c[k + 1] - c[k]) * x;
            }
        }
        let rise = c[1] - c[0];
        let step = (c[0] + rise * x) / (rise * (N - 1) as f64);
        let next = (x - step).clamp(0.0, 1.0);
        if (next - x).abs() <= f64::EPSILON {
            x = next;
            break;
        }
        x = next;
    }
    // Bad numbers fall back to the middle; the certificate does not depend on the choice.
    if x.is_nan() { 0.5 } else { x }
}

/// Encloses the derivative over the part `x` of `[0, 1]`.
fn slope_on<const N: usize>(form: &Bernstein<N>, x: Interval) -> Interval {
    let whole = form.slope();
    // Derivative in Bernstein form, evaluated over x by de Casteljau with interval weights.
    let mut d = form.0;
    for k in 0..N - 1 {
        d[k] = (form.0[k + 1] - form.0[k]) * (N - 1) as f64;
    }
    let rest = Interval::ONE - x;
    for round in 1..N - 1 {
        for k in 0..N - 1 - round {
            d[k] = d[k] * rest + d[k + 1] * x;
        }
    }
    d[0].intersection(whole).unwrap_or(whole)
}

/// Marks enclosures as certain where the function changes sign across a slightly wider span and its slope there
/// keeps one sign. The wider span holds no other enclosure, hence its one root lies in the enclosure.
fn certify<const N: usize>(form: &Bernstein<N>, found: &mut Enclosures) {
    for k in 0..found.len {
        let Enclosure { span, certain } = found.items[k];
        let room_left = if k == 0 { 0.0 } else { found.items[k - 1].span.hi().next_up() };
        let room_right = if k + 1 == found.len { 1.0 } else { found.items[k + 1].span.lo().next_down() };
        let margin = 2.0 * span.width() + SHORTEST;
        let (lo, hi) = ((span.lo() - margin).max(room_left), (span.hi() + margin).min(room_right));
        let changes = || form.at(lo).sign() * form.at(hi).sign() == -1;
        let monotone = || slope_on(form, Interval::new(lo, hi)).sign() != 0;
        found.items[k].certain = certain || (changes() && monotone());
    }
}

/// Maps a span of `[0, 1]` back to `range`.
fn place(s: Interval, range: Interval) -> Interval {
    if range == Interval::UNIT {
        return s;
    }
    let width = Interval::point(range.hi()) - Interval::point(range.lo());
    let t = s * width + range.lo();
    t.intersection(range).unwrap_or(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Draws, Stream};

    /// `Π (t − r_i)` times `lead`, exact: the roots are multiples of 2⁻¹⁰ of size below 4.
    fn cubic_with_roots(r: [i64; 3], lead: f64) -> [f64; 4] {
        let [a, b, c] = r;
        let unit = 1024.0f64;
        [
            -(a * b * c) as f64 / (unit * unit * unit) * lead,
            (a * b + b * c + c * a) as f64 / (unit * unit) * lead,
            -(a + b + c) as f64 / unit * lead,
            lead,
        ]
    }

    fn root(d: &mut Draws) -> i64 {
        d.below(4096) as i64 - 2048
    }

    fn held(found: &Enclosures, r: f64) -> bool {
        found.iter().any(|e| e.span.contains(r))
    }

    #[test]
    fn no_constructed_root_is_lost_whatever_its_multiplicity() {
        let range = Interval::new(-1.5, 1.5);
        for i in 0..100_000 {
            let mut d = Stream::new(71, 0).at(i);
            let (a, b) = (root(&mut d), root(&mut d));
            let near = a + d.below(5) as i64 - 2;
            let roots = [[a, b, root(&mut d)], [a, a, b], [a, a, a], [a, near, b], [a, near, near]]
                [d.below(5) as usize];
            let lead = [1.0, -1.0, 1024.0, 2.0f64.powi(-300)][d.below(4) as usize];
            let found = enclose_cubic(cubic_with_roots(roots, lead), range);
            let mut distinct: Vec<f64> = roots.iter().map(|r| *r as f64 / 1024.0).collect();
            distinct.sort_by(f64::total_cmp);
            let inside: Vec<f64> = distinct.iter().copied().filter(|r| range.contains(*r)).collect();
            assert!(inside.iter().all(|r| held(&found, *r)), "{roots:?} {found:?}");
            // Certain enclosures hold exactly one root, and a simple one.
            for e in found.iter().filter(|e| e.certain) {
                assert_eq!(
                    distinct.iter().filter(|r| e.span.contains(**r)).count(),
                    1,
                    "{roots:?} {found:?}"
                );
            }
            // Enclosures are in order, disjoint, inside the range, and no wider than the problem's conditioning.
            assert!(found.windows(2).all(|w| w[0].span.hi() < w[1].span.lo()));
            assert!(found.iter().all(|e| range.encloses(e.span)));
            distinct.dedup();
            let triple = distinct.len() == 1;
            let width = if triple { 1e-3 } else { 2e-4 };
            assert!(found.iter().all(|e| e.span.width() < width), "{roots:?} {found:?}");
            let gap = distinct.windows(2).map(|w| w[1] - w[0]).fold(1.0, f64::min);
            if distinct.len() == 3 && gap > 0.01 {
                assert!(found.iter().all(|e| e.span.width() < 1e-12 / (gap * gap)), "{roots:?} {found:?}");
            }
        }
    }

    #[test]
    fn well_separated_roots_are_certain_and_tight() {
        let found = enclose_cubic(cubic_with_roots([128, 512, 900], 1.0), Interval::UNIT);
        assert_eq!(found.len(), 3);
        for (e, r) in found.iter().zip([0.125, 0.5, 900.0 / 1024.0]) {
            assert!(e.certain && e.span.contains(r) && e.span.width() < 2e-14, "{e:?}");
        }
    }

    #[test]
    fn quadratics_and_lines_with_no_one_and_two_roots() {
        let unit = Interval::UNIT;
        assert!(enclose_quadratic([1.0, -1.0, 1.0], unit).is_empty());
        assert!(enclose_quadratic([0.25 + 1e-13, -1.0, 1.0], unit).is_empty());
        let double = enclose_quadratic([0.25, -1.0, 1.0], unit);
        assert!(
            double.len() == 1 && held(&double, 0.5) && !double[0].certain && double[0].span.width() < 1e-6
        );
        let two = enclose_quadratic([0.1875, -1.0, 1.0], unit);
        assert!(two.len() == 2 && held(&two, 0.25) && held(&two, 0.75) && two.iter().all(|e| e.certain));
        let line = enclose_roots(&[Interval::point(-1.0), Interval::point(3.0)], unit);
        assert!(line.len() == 1 && line[0].certain && line[0].span.contains(1.0 / 3.0));
        // Roots on the border belong to the range.
        assert!(held(&enclose_quadratic([0.0, 1.0, 0.0], unit), 0.0));
        assert!(held(&enclose_quadratic([-1.0, 1.0, 0.0], unit), 1.0));
        let flat = enclose_cubic([0.0; 4], unit);
        assert!(flat.len() == 1 && flat[0].span == unit && !flat[0].certain);
        assert!(enclose_cubic([1e-300, 0.0, 0.0, 0.0], unit).is_empty());
    }

    #[test]
    fn interval_coefficients_hold_the_roots_of_every_member() {
        for i in 0..20_000 {
            let mut d = Stream::new(72, 0).at(i);
            let roots = [root(&mut d), root(&mut d), root(&mut d)];
            let exact = cubic_with_roots(roots, 1.0);
            let radius = 10.0f64.powi(-(d.below(12) as i32));
            let blurred = exact.map(|c| {
                let shift = radius * d.range(-1.0, 1.0);
                Interval::around(c + shift, radius.max(shift.abs()))
            });
            let range = Interval::new(-2.0, 2.0);
            let found = enclose_roots(&blurred, range);
            for r in roots.map(|r| r as f64 / 1024.0).into_iter().filter(|r| range.contains(*r)) {
                assert!(held(&found, r), "{roots:?} {found:?}");
            }
        }
    }

    #[test]
    fn bad_numbers_keep_the_whole_range() {
        let found = enclose_cubic([f64::NAN, 1.0, 1.0, 1.0], Interval::UNIT);
        assert!(found.len() == 1 && found[0].span == Interval::UNIT && !found[0].certain);
        let huge = enclose_cubic([-f64::MAX, f64::MAX, f64::MAX, f64::MAX], Interval::UNIT);
        assert!(held(&huge, 0.543_689_012_692_076_4), "{huge:?}");
    }

    #[test]
    fn full_lists_merge_the_closest_and_lose_nothing() {
        let mut list = Enclosures::new();
        let spans = [(0.0, 0.1), (0.2, 0.21), (0.22, 0.3), (0.5, 0.6), (0.9, 1.0), (1.0, 1.1), (1.11, 1.2)];
        for (lo, hi) in spans {
            list.push(Enclosure { span: Interval::new(lo, hi), certain: true });
        }
        assert!(list.len() <= 3 && list.windows(2).all(|w| w[0].span.hi() < w[1].span.lo()));
        assert!(
            spans.iter().all(|(lo, hi)| list.iter().any(|e| e.span.contains(*lo) && e.span.contains(*hi)))
        );
    }
}
