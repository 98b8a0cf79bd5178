//! The tetrahedra around each node, as the node sees them, and how good they are.
//!
//! While a node moves, the triangles opposite it stay. [`Star`] keeps what does not change, so judging a trial
//! position costs three cross products per tetrahedron; and since only the worst one counts, judging stops at the first that is
//! no better than what is already had.

use billow_geom::mesh::TET_FACES;
use billow_num::Vec3;
use billow_num::par::Incidence;

/// The limits at which each measure equals one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Squared inverse of the largest aspect ratio.
    aspect: f64,
    /// One minus the cosine of the smallest dihedral angle.
    smallest: f64,
    /// One plus the cosine of the largest dihedral angle.
    largest: f64,
}

impl Limits {
    /// Limits for aspect ratios [-] and dihedral angles [°].
    pub(crate) fn new(max_aspect: f64, min_dihedral: f64, max_dihedral: f64) -> Self {
        Self {
            aspect: max_aspect.powi(-2),
            smallest: 1.0 - min_dihedral.to_radians().cos(),
            largest: 1.0 + max_dihedral.to_radians().cos(),
        }
    }
}

/// For each node, the outward triangles opposite it.
#[derive(Clone, Debug)]
pub(crate) struct Stars {
    starts: Vec<u32>,
    opposite: Vec<[u32; 3]>,
}

impl Stars {
    pub(crate) fn new(tets: &[[u32; 4]], incidence: &Incidence) -> Self {
        let mut starts = Vec::with_capacity(incidence.nodes() + 1);
        let mut opposite = Vec::with_capacity(4 * tets.len());
        for n in 0..incidence.nodes() {
            starts.push(opposite.len() as u32);
            opposite.extend(
                incidence.of(n).iter().map(|&(t, k)| TET_FACES[k as usize].map(|c| tets[t as usize][c])),
            );
        }
        starts.push(opposite.len() as u32);
        Self { starts, opposite }
    }

    /// Triangles opposite node `n`.
    #[inline]
    pub(crate) fn of(&self, n: usize) -> &[[u32; 3]] {
        &self.opposite[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// One tetrahedron of a star: what does not depend on the moving node.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    a: Vec3,
    b: Vec3,
    c: Vec3,
    /// Outward normal of the opposite triangle, of length twice its area.
    normal: Vec3,
    size2: f64,
    inverse_size: f64,
    longest2: f64,
}

/// The star of one node: scratch.
#[derive(Clone, Debug)]
pub(crate) struct Star {
    tets: Vec<Fixed>,
    limits: Limits,
}

/// The square of how good a tetrahedron is: 1 at the limits, negative when inverted.
#[inline]
fn judge(f: &Fixed, p: Vec3, limits: &Limits) -> f64 {
    let (u, v, w) = (f.a - p, f.b - p, f.c - p);
    let volume6 = f.normal.dot(u);
    let longest2 = f.longest2.max(u.length_squared()).max(v.length_squared()).max(w.length_squared());
    if volume6 <= 0.0 {
        return volume6 / (longest2 * longest2.sqrt());
    }
    // Inward normals opposite a, b and c.
    let (na, nb, nc) = (v.cross(w), w.cross(u), u.cross(v));
    let (a2, b2, c2) = (na.length_squared(), nb.length_squared(), nc.length_squared());
    let widest2 = f.size2.max(a2).max(b2).max(c2);
    let aspect = volume6 * volume6 / (widest2 * longest2 * limits.aspect);
    let (ia, ib, ic) = (a2.sqrt().recip(), b2.sqrt().recip(), c2.sqrt().recip());
    let cosines = [
        f.normal.dot(na) * ia * f.inverse_size,
        f.normal.dot(nb) * ib * f.inverse_size,
        f.normal.dot(nc) * ic * f.inverse_size,
        -na.dot(nb) * ia * ib,
        -nb.dot(nc) * ib * ic,
        -nc.dot(na) * ic * ia,
    ];
    let (mut least, mut most) = (cosines[0], cosines[0]);
    for c in &cosines[1..] {
        least = least.min(*c);
        most = most.max(*c);
    }
    aspect.min((1.0 - most) / limits.smallest).min((1.0 + least) / limits.largest)
}

impl Star {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { tets: Vec::with_capacity(64), limits }
    }

    /// Loads the star of a node.
    pub(crate) fn load(&mut self, opposite: &[[u32; 3]], x: &[Vec3]) {
        self.tets.clear();
        self.tets.extend(opposite.iter().map(|t| {
            let [a, b, c] = t.map(|n| x[n as usize]);
            let normal = (b - a).cross(c - a);
            let size2 = normal.length_squared();
            let longest2 =
                (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
            Fixed { a, b, c, normal, size2, inverse_size: size2.sqrt().recip(), longest2 }
        }));
    }

    /// How good the worst tetrahedron is with the node at `p`. Brings the worst to the front.
    pub(crate) fn worst(&mut self, p: Vec3) -> f64 {
        let (mut worst, mut at) = (f64::INFINITY, 0);
        for (k, f) in self.tets.iter().enumerate() {
            let q = judge(f, p, &self.limits);
            if q < worst {
                (worst, at) = (q, k);
            }
        }
        if !self.tets.is_empty() {
            self.tets.swap(0, at);
        }
        worst
    }

    /// The worst with the node at `p` if it exceeds `floor`.
    #[inline]
    pub(crate) fn exceeds(&mut self, p: Vec3, floor: f64) -> Option<f64> {
        let mut worst = f64::INFINITY;
        for k in 0..self.tets.len() {
            let q = judge(&self.tets[k], p, &self.limits);
            if q <= floor || q.is_nan() {
                // Whoever refused is asked first next time, one place at a time to keep the worst near the front.
                self.tets.swap(k, k / 2);
                return None;
            }
            worst = worst.min(q);
        }
        Some(worst)
    }

    /// Sum of the aspect ratios with the node at `p`; infinite if one is inverted.
    pub(crate) fn sum_of_aspects(&self, p: Vec3) -> f64 {
        let mut sum = 0.0;
        for f in &self.tets {
            let (u, v, w) = (f.a - p, f.b - p, f.c - p);
            let volume6 = f.normal.dot(u);
            if volume6 <= 0.0 || volume6.is_nan() {
                return f64::INFINITY;
            }
            let longest2 = f.longest2.max(u.length_squared()).max(v.length_squared()).max(w.length_squared());
            let (a2, b2, c2) =
                (v.cross(w).length_squared(), w.cross(u).length_squared(), u.cross(v).length_squared());
            sum += (longest2 * f.size2.max(a2).max(b2).max(c2)).sqrt() / volume6;
        }
        sum
    }

    /// Mean of the neighbours' distances: the size of the star.
    pub(crate) fn radius(&self, p: Vec3) -> f64 {
        let sum: f64 = self.tets.iter().map(|f| f.a.distance(p) + f.b.distance(p) + f.c.distance(p)).sum();
        sum / (3.0 * self.tets.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use billow_num::rng::Stream;

    #[test]
    fn the_measure_agrees_with_the_plain_definition() {
        let limits = Limits::new(4.5, 22.0, 135.0);
        let tets = [[0, 1, 2, 3]];
        let incidence = Incidence::new(4, &tets).unwrap();
        let stars = Stars::new(&tets, &incidence);
        let mut star = Star::new(limits);
        let (mut upright, mut inverted) = (0, 0);
        for i in 0..500 {
            let mut d = Stream::new(3, 3).at(i);
            let x: Vec<Vec3> = (0..4).map(|_| d.in_ball()).collect();
            let shape = Shape::new([x[0], x[1], x[2], x[3]]);
            let [most, least] = [f64::max, f64::min].map(|f| shape.cosines.into_iter().reduce(f).unwrap());
            let truth = (4.5 / shape.aspect).powi(2).min((1.0 - most) / (1.0 - 22f64.to_radians().cos()));
            let truth = truth.min((1.0 + least) / (1.0 + 135f64.to_radians().cos()));
            for n in 0..4 {
                star.load(stars.of(n), &x);
                let q = star.worst(x[n]);
                if shape.volume6 > 0.0 {
                    assert!(
                        (q - truth).abs() < 1e-9 * truth.abs().max(1.0),
                        "corner {n}: {q} against {truth}"
                    );
                    upright += 1;
                } else {
                    assert!(q <= 0.0);
                    inverted += 1;
                }
            }
        }
        assert!(upright > 500 && inverted > 500);
    }
}
