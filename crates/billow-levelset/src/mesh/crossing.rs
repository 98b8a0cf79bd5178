//! Where lattice lines cross triangles.
//!
//! Lines are parallel to an axis through the samples. Whether one meets a triangle is decided in projection by
//! exact orientation tests, evaluated the same way for both triangles of an edge; a line through an edge or vertex
//! counts as shifted by an infinitesimal amount. So on a closed mesh every line is crossed inward and outward
//! alternately, without gaps or double hits. For leaky meshes triangles are thickened instead ([Gue06] 2.3.1).

use super::distance::TILE;
use super::input::SampledMesh;
use billow_num::Vec3;
use robust::{Coord, orient2d};

/// One crossing of a lattice line inside a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// Line: the two other coordinates within the tile, the lower axis fastest.
    pub(super) row: u16,
    /// First sample behind the crossing.
    pub(super) sample: u8,
    /// +1 where the line enters the solid in the positive direction, −1 where it leaves.
    pub(super) sign: i8,
    /// Position along the line from the tile's first sample [samples].
    pub(super) position: f32,
}

/// How far a line may miss a triangle and still hit it [samples]; zero for the exact test.
#[derive(Clone, Copy)]
pub(super) struct Thickness(pub(super) f64);

/// Appends the crossings of the tile's lines along `axis` with triangle `t`.
pub(super) fn cross_triangle(
    mesh: &SampledMesh,
    t: u32,
    axis: usize,
    first: [i32; 3],
    thick: Thickness,
    out: &mut Vec<Event>,
) {
    let (ua, va) = [(1, 2), (0, 2), (0, 1)][axis];
    let ids = mesh.triangles[t as usize];
    let p = ids.map(|i| mesh.positions[i as usize]);
    let base = first.map(f64::from);
    let last = (TILE - 1) as f64;
    let lo = p[0].min(p[1]).min(p[2]) - thick.0;
    let hi = p[0].max(p[1]).max(p[2]) + thick.0;
    // The line's piece that belongs to this tile ends at its last sample and begins behind the tile before.
    if hi[axis] < base[axis] - 1.0 || lo[axis] > base[axis] + last {
        return;
    }
    let u0 = lo[ua].ceil().max(base[ua]);
    let u1 = hi[ua].floor().min(base[ua] + last);
    let v0 = lo[va].ceil().max(base[va]);
    let v1 = hi[va].floor().min(base[va] + last);
    if !(u0 <= u1 && v0 <= v1) {
        return;
    }
    let flat = Projected::new(ids, p, ua, va);
    let n = (p[1] - p[0]).cross(p[2] - p[0])[axis];
    let mut v = v0;
    while v <= v1 {
        let mut u = u0;
        while u <= u1 {
            if let Some((weights, positive)) = flat.weights_at(u, v, thick) {
                // Seen along +axis, a triangle facing −axis is an entrance. The exact test knows the facing even
                // where the normal is lost in rounding; the y axis sees (x, z) mirrored.
                let facing = if thick.0 > 0.0 { n > 0.0 } else { positive != (axis == 1) };
                let position = mean(weights, p, axis) - base[axis];
                let sample = position.ceil();
                if (0.0..=last).contains(&sample) {
                    out.push(Event {
                        row: ((u - base[ua]) as usize + TILE * (v - base[va]) as usize) as u16,
                        sample: sample as u8,
                        sign: if facing { -1 } else { 1 },
                        position: position as f32,
                    });
                }
            }
            u += 1.0;
        }
        v += 1.0;
    }
}

/// Weighted mean of the corners' coordinates along `axis`, never outside their range.
fn mean(weights: [f64; 3], p: [Vec3; 3], axis: usize) -> f64 {
    let c = p.map(|p| p[axis]);
    let w = weights.map(f64::abs);
    let sum = w[0] + w[1] + w[2];
    let (lo, hi) = (c[0].min(c[1]).min(c[2]), c[0].max(c[1]).max(c[2]));
    let m = (w[0] * c[0] + w[1] * c[1] + w[2] * c[2]) / sum;
    if m.is_nan() { 0.5 * (lo + hi) } else { m.clamp(lo, hi) }
}

/// A triangle projected along an axis, its edges directed from lower to higher vertex number.
struct Projected {
    /// Start and end of each edge (opposite to corner e), and whether the triangle runs along it.
    edges: [([f64; 2], [f64; 2], bool); 3],
    lengths: [f64; 3],
    /// Twice the signed area.
    area2: f64,
}

impl Projected {
    fn new(ids: [u32; 3], p: [Vec3; 3], ua: usize, va: usize) -> Self {
        let q = p.map(|p| [p[ua], p[va]]);
        let edges: [_; 3] = std::array::from_fn(|e| {
            let (i, j) = ((e + 1) % 3, (e + 2) % 3);
            if ids[i] < ids[j] { (q[i], q[j], true) } else { (q[j], q[i], false) }
        });
        let area2 = (q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]);
        let lengths = edges.map(|(a, b, _)| (b[0] - a[0]).hypot(b[1] - a[1]));
        Self { edges, lengths, area2 }
    }

    /// Barycentric weights of the point if the triangle covers it, and whether the projection is counter-clockwise.
    #[inline]
    fn weights_at(&self, u: f64, v: f64, thick: Thickness) -> Option<([f64; 3], bool)> {
        if thick.0 > 0.0 { self.thick_weights_at(u, v, thick.0) } else { self.exact_weights_at(u, v) }
    }

    #[inline]
    fn exact_weights_at(&self, u: f64, v: f64) -> Option<([f64; 3], bool)> {
        let mut weights = [0.0; 3];
        let mut positive = false;
        for (e, &(a, b, forward)) in self.edges.iter().enumerate() {
            let (value, left) = side(a, b, u, v)?;
            weights[e] = value;
            if e == 0 {
                positive = left == forward;
            } else if positive != (left == forward) {
                return None;
            }
        }
        Some((weights, positive))
    }

    fn thick_weights_at(&self, u: f64, v: f64, thick: f64) -> Option<([f64; 3], bool)> {
        // Seen edge on there is no telling where a line meets it; its neighbours will.
        if self.area2.abs() < 1e-12 {
            return None;
        }
        let mut weights = [0.0; 3];
        for (e, &(a, b, forward)) in self.edges.iter().enumerate() {
            let cross = (b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0]);
            let inward = if forward == (self.area2 > 0.0) { cross } else { -cross };
            if inward < -thick * self.lengths[e] {
                return None;
            }
            weights[e] = inward.max(0.0);
        }
        Some((weights, self.area2 > 0.0))
    }
}

/// Twice the area of (a, b, point) and whether the point, shifted by (ε, ε²), is to the left of the directed edge;
/// `None` for an edge that projects to a point.
#[inline]
fn side(a: [f64; 2], b: [f64; 2], u: f64, v: f64) -> Option<(f64, bool)> {
    let d = [b[0] - a[0], b[1] - a[1]];
    let (l, r) = (d[0] * (v - a[1]), d[1] * (u - a[0]));
    let value = l - r;
    // Rounding of the five operations cannot change the sign beyond this bound.
    if value.abs() > 4e-15 * (l.abs() + r.abs()) {
        return Some((value, value > 0.0));
    }
    let exact = orient2d(Coord { x: a[0], y: a[1] }, Coord { x: b[0], y: b[1] }, Coord { x: u, y: v });
    if exact != 0.0 {
        return Some((exact, exact > 0.0));
    }
    // Moving the point by (ε, ε²) changes the area by −d₁ε + d₀ε².
    if b[1] != a[1] {
        Some((0.0, b[1] < a[1]))
    } else if b[0] != a[0] {
        Some((0.0, b[0] > a[0]))
    } else {
        None
    }
}
