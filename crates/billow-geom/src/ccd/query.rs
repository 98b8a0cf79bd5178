//! The moving point–triangle and edge–edge queries.
//!
//! Most pairs are cleared by the first tests: a coordinate axis, the normal at mid-step, the closest direction
//! at mid-step. The rest is covered from `t = 0` on by planes that turn from the closest direction at one time
//! to that at the next, with the step length adapted to what can be proven: it loses only the square of the
//! step to the rotation, so grazing passes take a few steps and a true contact is approached to
//! [`SHORTEST_STEP`].

use super::certificate::{Certificate, Differences};
use super::direction::{Hull, PointTriangle, TwoEdges};
use super::{Hit, Vec3};
use crate::proximity;

/// The march stops when it would have to advance by less than this fraction of the step.
const SHORTEST_STEP: f64 = 1.0 / (1u64 << 50) as f64;

/// The march stops after this many tries; it bounds the cost of pairs that slide along each other in contact.
const MOST_TRIES: usize = 256;

/// Whether a moving point may touch (or come as close as `separation` [m] to) a moving triangle.
///
/// `x0` and `x1` hold point, triangle corners a, b, c at the start and the end of the step [m]. `None` is a
/// proof that they stay farther apart during the whole step; touching counts as a hit.
pub fn vertex_face(x0: &[Vec3; 4], x1: &[Vec3; 4], separation: f64) -> Option<Hit> {
    vertex_face_certified(x0, x1, separation, |_| {})
}

/// Whether two moving edges may touch or come as close as `separation` [m].
///
/// `x0` and `x1` hold the end points of the first and of the second edge at the start and the end of the step
/// [m]. `None` is a proof that they stay farther apart during the whole step; touching counts as a hit.
pub fn edge_edge(x0: &[Vec3; 4], x1: &[Vec3; 4], separation: f64) -> Option<Hit> {
    edge_edge_certified(x0, x1, separation, |_| {})
}

/// [`vertex_face`] that also hands out the certificates, in order of time, each starting where the last ended.
pub fn vertex_face_certified(
    x0: &[Vec3; 4],
    x1: &[Vec3; 4],
    separation: f64,
    certificates: impl FnMut(Certificate),
) -> Option<Hit> {
    if !finite(x0, x1, separation) {
        return Some(UNDECIDED);
    }
    moving_vertex_face(*x0, *x1, separation, certificates)
}

/// [`edge_edge`] that also hands out the certificates, in order of time, each starting where the last ended.
pub fn edge_edge_certified(
    x0: &[Vec3; 4],
    x1: &[Vec3; 4],
    separation: f64,
    certificates: impl FnMut(Certificate),
) -> Option<Hit> {
    if !finite(x0, x1, separation) {
        return Some(UNDECIDED);
    }
    moving_edge_edge(*x0, *x1, separation, certificates)
}

fn finite(x0: &[Vec3; 4], x1: &[Vec3; 4], separation: f64) -> bool {
    separation.is_finite() && x0.iter().chain(x1).all(|x| x.is_finite())
}

/// The answer to a question that is not finite.
const UNDECIDED: Hit = Hit { toi: 0.0, normal: Vec3::ZERO, weights: [0.0; 4] };

/// [`vertex_face_certified`] of finite input.
#[inline(always)]
pub(super) fn moving_vertex_face(
    x0: [Vec3; 4],
    x1: [Vec3; 4],
    separation: f64,
    certificates: impl FnMut(Certificate),
) -> Option<Hit> {
    let differences = PointTriangle::differences;
    let d = Differences::new(differences(x0), differences(x1), separation);
    let contact = first_contact::<PointTriangle>(&d, certificates)?;
    let [a, b, c, _] = d.at(contact.toi).map(|d| -d);
    let q = proximity::point_triangle(Vec3::ZERO, [a, b, c]);
    let [a, b, c] = q.weights;
    Some(contact.hit(q.normal, [1.0, -a, -b, -c]))
}

/// [`edge_edge_certified`] of finite input.
#[inline(always)]
pub(super) fn moving_edge_edge(
    x0: [Vec3; 4],
    x1: [Vec3; 4],
    separation: f64,
    certificates: impl FnMut(Certificate),
) -> Option<Hit> {
    let differences = TwoEdges::differences;
    let d = Differences::new(differences(x0), differences(x1), separation);
    let contact = first_contact::<TwoEdges>(&d, certificates)?;
    let [d00, d01, d10, _] = d.at(contact.toi);
    let q = proximity::edge_edge([d00, d10], [Vec3::ZERO, d00 - d01]);
    Some(contact.hit(q.normal, [1.0 - q.a, q.a, q.b - 1.0, -q.b]))
}

/// Where the proof ended: the last proven time and the plane there (zero if there is none).
struct Contact {
    toi: f64,
    normal: Vec3,
}

impl Contact {
    fn hit(self, closest: Vec3, weights: [f64; 4]) -> Hit {
        let normal = if self.normal == Vec3::ZERO { closest } else { self.normal };
        Hit { toi: self.toi, normal, weights }
    }
}

/// Tries one fixed plane for the whole step, then a chain of them.
#[inline(always)]
fn first_contact<H: Hull>(d: &Differences, mut certificates: impl FnMut(Certificate)) -> Option<Contact> {
    if let Some(n) = d.clear_axis().or_else(|| simple_direction::<H>(d)) {
        certificates(Certificate { start: 0.0, end: 1.0, normal_start: n, normal_end: n });
        return None;
    }
    closest_then_march::<H>(d, certificates)
}

/// The normal or the direction between the middles at mid-step, if it clears the whole step.
#[inline(always)]
fn simple_direction<H: Hull>(d: &Differences) -> Option<Vec3> {
    let middle = d.middle();
    let face = H::face(&middle);
    if d.clear_along(face) {
        return Some(face);
    }
    let mean = H::mean(&middle);
    d.clear_along(mean).then_some(mean)
}

/// The direction between the closest points at mid-step, then the march.
#[inline(never)]
fn closest_then_march<H: Hull>(
    d: &Differences,
    mut certificates: impl FnMut(Certificate),
) -> Option<Contact> {
    let n = H::direction(&d.at(0.5));
    if d.clear_along(n) {
        certificates(Certificate { start: 0.0, end: 1.0, normal_start: n, normal_end: n });
        return None;
    }
    march::<H>(d, certificates)
}

/// Covers the step by planes from its start on; `None` if they reach its end.
fn march<H: Hull>(d: &Differences, mut certificates: impl FnMut(Certificate)) -> Option<Contact> {
    let mut s = 0.0;
    let mut n = H::direction(&d.at(0.0));
    if d.room(0.0, n) <= 0.0 {
        return Some(Contact { toi: 0.0, normal: n });
    }
    let mut step = 1.0f64;
    for _ in 0..MOST_TRIES {
        let e = (s + step).min(1.0);
        let n_e = H::direction(&d.at(e));
        let turning = Certificate { start: s, end: e, normal_start: n, normal_end: n_e };
        if d.proves(&turning) {
            certificates(turning);
            (s, n) = (e, n_e);
            if s >= 1.0 {
                return None;
            }
            step *= 2.0;
            continue;
        }
        // A plane that does not turn: the one at hand is best for a head-on approach, the one at the closest
        // point of a passage clears all of that passage.
        let passing = s + (e - s) * closest_passage(d, (s, n), (e, n_e));
        let at_passing = H::direction(&d.at(passing));
        let fixed = [n, at_passing].map(|n| (d.reach(n), n));
        let reach = |((lo, hi), _): &((f64, f64), Vec3)| if *lo < s { *hi } else { s };
        let best = if reach(&fixed[1]) > reach(&fixed[0]) { fixed[1] } else { fixed[0] };
        let hi = reach(&best);
        if hi - s >= SHORTEST_STEP.max(0.125 * step) {
            certificates(Certificate { start: s, end: hi, normal_start: best.1, normal_end: best.1 });
            s = hi;
            if s >= 1.0 {
                return None;
            }
            let next = H::direction(&d.at(s));
            if d.room(s, next) <= 0.0 {
                // Nothing separates them any more; the plane that did last is the best normal.
                return Some(Contact { toi: s, normal: best.1 });
            }
            n = next;
        }
        // Aim just short of the contact or passage.
        step = (0.9 * (passing - s)).clamp(0.0625 * step, 0.5 * step);
        if step < SHORTEST_STEP {
            break;
        }
    }
    Some(Contact { toi: s, normal: n })
}

/// Where between two times, as a fraction, the closest vector is shortest if it changes linearly.
fn closest_passage(d: &Differences, s: (f64, Vec3), e: (f64, Vec3)) -> f64 {
    let vector = |(t, n): (f64, Vec3)| d.support(t, n).max(0.0) * n;
    let (r_s, r_e) = (vector(s), vector(e));
    let v = r_e - r_s;
    let tau = -r_s.dot(v) / v.length_squared();
    if tau > 0.0 { tau.min(1.0) } else { 0.5 }
}
