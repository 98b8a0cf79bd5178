//! Impact zones: nodes that keep colliding move together as one rigid or affine body ([Bri03] 2.9, [BFA02] 7.5).
//!
//! Zones only grow during a step: each collision merges the zones of its four nodes. The motion of a zone is the
//! projection of its nodes' momenta onto rigid or affine motions, which conserves linear and angular momentum, never
//! adds kinetic energy and cannot make the zone collide with itself. A zone with scripted nodes follows them.

use billow_num::mat3::eigen_symmetric;
use billow_num::{Mat3, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// How the nodes of an impact zone move together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneMotion {
    /// A rigid motion over the whole step: lengths and angles stay exactly ([BFA02] 7.5). The default.
    #[default]
    RigidExact,
    /// The rigid velocity field `v + ω × r` along straight lines: momentum is conserved to rounding, lengths grow by
    /// the square of the step's rotation ([Bri03] 2.9).
    RigidVelocity,
    /// The nearest affine velocity field, which keeps more of the motion; rigid where that would turn the zone inside
    /// out ([Bri03] 2.9).
    Affine,
}

/// Weight of a scripted node relative to all free nodes of its zone: large enough to dictate the motion, small
/// enough to leave half of the digits to the fit.
const SCRIPTED_WEIGHT: f64 = 1e8;

/// Directions in which a zone's second moments are below this fraction of the largest have no rotation or stretch.
const FLAT: f64 = 1e-12;

/// A partition of the nodes into zones; a zone of one node is a free node.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    /// Parent in the merge forest; roots are their own.
    parent: Vec<u32>,
    /// Members of each root's zone; empty for free nodes.
    members: Vec<Vec<u32>>,
    /// Every node that was ever touched, to reset only those.
    touched: Vec<u32>,
}

impl Zones {
    /// Makes every one of `n` nodes free.
    pub fn reset(&mut self, n: usize) {
        if self.parent.len() == n {
            for &node in &self.touched {
                self.parent[node as usize] = node;
                self.members[node as usize].clear();
            }
        } else {
            self.parent = (0..n as u32).collect();
            self.members = vec![Vec::new(); n];
        }
        self.touched.clear();
    }

    /// Merges the zones of the given nodes; returns the root, and whether anything changed.
    pub fn merge(&mut self, nodes: [u32; 4]) -> (u32, bool) {
        let mut root = self.root(nodes[0]);
        let mut changed = false;
        for &node in &nodes[1..] {
            let other = self.root(node);
            if other != root {
                root = self.join(root, other);
                changed = true;
            }
        }
        (root, changed)
    }

    /// The members of the zone with the given root, ascending; empty for a free node.
    pub fn members(&self, root: u32) -> &[u32] {
        &self.members[root as usize]
    }

    /// Sizes of all zones with more than one node, in order of their roots.
    pub fn sizes(&self) -> Vec<usize> {
        let mut roots: Vec<u32> =
            self.touched.iter().copied().filter(|&n| self.parent[n as usize] == n).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.iter().map(|&r| self.members[r as usize].len()).filter(|&n| n > 1).collect()
    }

    /// The root of a node's zone.
    pub fn root(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let grandparent = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    /// Joins two different zones; the smaller root survives so that the result does not depend on history.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (root, other) = (a.min(b), a.max(b));
        self.parent[other as usize] = root;
        let mut moved = std::mem::take(&mut self.members[other as usize]);
        if moved.is_empty() {
            moved.push(other);
            self.touched.push(other);
        }
        let members = &mut self.members[root as usize];
        if members.is_empty() {
            members.push(root);
            self.touched.push(root);
        }
        members.append(&mut moved);
        members.sort_unstable();
        root
    }
}

/// Masses, positions at the start of the step and its length: what a zone's motion is computed from.
#[derive(Clone, Copy, Debug)]
pub struct ZoneInput<'a> {
    /// Inverse mass per node, zero for scripted nodes [1/kg].
    pub inverse_masses: &'a [f64],
    /// Positions at the start of the step [m].
    pub x: &'a [Vec3],
    /// Length of the step [s].
    pub dt: f64,
}

/// Replaces the mid-step velocities of the zone's free nodes by those of one common motion.
pub fn move_together(members: &[u32], input: ZoneInput<'_>, motion: ZoneMotion, v: &mut [Vec3]) {
    let ZoneInput { inverse_masses, x, dt } = input;
    let fit = Fit::new(members, inverse_masses, x, v);
    let linear = match motion {
        ZoneMotion::Affine => fit.affine().filter(|a| stays_upright(*a * dt)).unwrap_or_else(|| fit.rigid()),
        ZoneMotion::RigidExact | ZoneMotion::RigidVelocity => fit.rigid(),
    };
    let rotation = (motion == ZoneMotion::RigidExact).then(|| Quat::from_scaled_axis(axial(&linear) * dt));
    for &i in members {
        if inverse_masses[i as usize] == 0.0 {
            continue;
        }
        let r = x[i as usize] - fit.centre;
        v[i as usize] = fit.velocity
            + match rotation {
                Some(q) => (q * r - r) / dt,
                None => linear * r,
            };
    }
}

/// Mass-weighted moments of a zone's nodes.
struct Fit {
    centre: Vec3,
    velocity: Vec3,
    /// `Σ m r rᵀ`.
    second: Mat3,
    /// `Σ m u rᵀ` with `u` the velocity relative to the mean.
    mixed: Mat3,
}

impl Fit {
    fn new(members: &[u32], inverse_masses: &[f64], x: &[Vec3], v: &[Vec3]) -> Self {
        let free: f64 = members.iter().map(|&i| finite_mass(inverse_masses[i as usize])).sum();
        let scripted = SCRIPTED_WEIGHT * if free > 0.0 { free } else { 1.0 };
        let mass = |i: u32| {
            let w = inverse_masses[i as usize];
            if w == 0.0 { scripted } else { 1.0 / w }
        };
        let total: f64 = members.iter().map(|&i| mass(i)).sum();
        let mean =
            |field: &[Vec3]| members.iter().map(|&i| field[i as usize] * mass(i)).sum::<Vec3>() / total;
        let (centre, velocity) = (mean(x), mean(v));
        let (mut second, mut mixed) = (Mat3::ZERO, Mat3::ZERO);
        for &i in members {
            let (m, r, u) = (mass(i), x[i as usize] - centre, v[i as usize] - velocity);
            second += outer(r * m, r);
            mixed += outer(u * m, r);
        }
        Self { centre, velocity, second, mixed }
    }

    /// `[ω]ₓ` with `ω = I⁻¹ L`; no rotation about axes without inertia.
    fn rigid(&self) -> Mat3 {
        let inertia = Mat3::from_diagonal(Vec3::splat(trace(&self.second))) - self.second;
        // L = Σ m r × u is the axial vector of Σ m (u rᵀ − r uᵀ).
        let momentum = axial(&(self.mixed - self.mixed.transpose()));
        cross_matrix(pseudo_inverse(&inertia) * momentum)
    }

    /// `A` of the affine field `v + A r`; `None` if the zone is flat, where it would not be determined.
    fn affine(&self) -> Option<Mat3> {
        let eigen = eigen_symmetric(&self.second);
        let (low, high) = (eigen.values.min_element(), eigen.values.max_element());
        (low > FLAT * high).then(|| self.mixed * pseudo_inverse(&self.second))
    }
}

/// Whether `I + t a` keeps a positive determinant for all `t` in `[0, 1]`: by the norm, a sufficient condition.
fn stays_upright(a: Mat3) -> bool {
    let norm2: f64 = [a.x_axis, a.y_axis, a.z_axis].iter().map(|c| c.length_squared()).sum();
    norm2 < 0.25
}

fn finite_mass(inverse: f64) -> f64 {
    if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn trace(m: &Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

fn cross_matrix(w: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, w.z, -w.y), Vec3::new(-w.z, 0.0, w.x), Vec3::new(w.y, -w.x, 0.0))
}

/// The vector `w` with `[w]ₓ` the antisymmetric part of `m`.
fn axial(m: &Mat3) -> Vec3 {
    0.5 * Vec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x)
}

fn pseudo_inverse(m: &Mat3) -> Mat3 {
    let eigen = eigen_symmetric(m);
    let floor = FLAT * eigen.values.max_element();
    let invert = |value: f64| if value > floor { 1.0 / value } else { 0.0 };
    eigen.with_values(Vec3::new(invert(eigen.values.x), invert(eigen.values.y), invert(eigen.values.z)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    fn cloud(n: usize, seed: u64) -> (Vec<Vec3>, Vec<Vec3>, Vec<f64>) {
        let mut rng = Stream::new(seed, 0).at(0);
        let mut vector = || Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5;
        let x: Vec<Vec3> = (0..n).map(|_| vector()).collect();
        let v: Vec<Vec3> = (0..n).map(|_| vector() * 3.0).collect();
        let w = (0..n).map(|_| 1.0 / (1.0 + vector().x)).collect();
        (x, v, w)
    }

    fn momenta(x: &[Vec3], v: &[Vec3], w: &[f64]) -> (Vec3, Vec3, f64) {
        let sum = |f: &dyn Fn(usize) -> Vec3| (0..x.len()).map(f).sum::<Vec3>();
        let energy = (0..x.len()).map(|i| 0.5 * v[i].length_squared() / w[i]).sum();
        (sum(&|i| v[i] / w[i]), sum(&|i| x[i].cross(v[i]) / w[i]), energy)
    }

    #[test]
    fn zone_motions_conserve_momentum_and_lose_energy() {
        for motion in [ZoneMotion::RigidVelocity, ZoneMotion::Affine, ZoneMotion::RigidExact] {
            for (n, seed) in [(4, 1), (17, 2), (300, 3)] {
                let (x, before, w) = cloud(n, seed);
                let members: Vec<u32> = (0..n as u32).collect();
                let mut v = before.clone();
                let dt = 1e-5;
                move_together(&members, ZoneInput { inverse_masses: &w, x: &x, dt }, motion, &mut v);
                let (p0, l0, e0) = momenta(&x, &before, &w);
                let (p1, l1, e1) = momenta(&x, &v, &w);
                // The exact rotation's mean velocity differs from ω × r by the rotation angle.
                let slack = if motion == ZoneMotion::RigidExact { 1e-3 } else { 1e-12 };
                assert!(
                    p0.distance(p1) < 1e-10 && l0.distance(l1) < slack * (1.0 + l0.length()),
                    "{motion:?} {n}: {p0} {p1}, {l0} {l1}"
                );
                assert!(e1 <= e0 * (1.0 + 1e-4) && e1 > 0.0, "{motion:?} {e0} {e1}");
            }
        }
    }

    #[test]
    fn an_exact_rigid_motion_keeps_every_distance_over_a_large_step() {
        let (x, mut v, w) = cloud(20, 7);
        let dt = 0.3;
        let members: Vec<u32> = (0..20).collect();
        move_together(&members, ZoneInput { inverse_masses: &w, x: &x, dt }, ZoneMotion::RigidExact, &mut v);
        let moved: Vec<Vec3> = x.iter().zip(&v).map(|(x, v)| *x + *v * dt).collect();
        for i in 0..20 {
            for j in 0..i {
                assert!((moved[i].distance(moved[j]) - x[i].distance(x[j])).abs() < 1e-14);
            }
        }
        assert!(x.iter().zip(&moved).any(|(a, b)| a.distance(*b) > 0.05), "it does move");
    }

    #[test]
    fn an_affine_field_is_kept_as_it_is() {
        let (x, _, w) = cloud(30, 9);
        let a =
            Mat3::from_cols(Vec3::new(0.1, 0.3, 0.0), Vec3::new(-0.2, 0.05, 0.4), Vec3::new(0.0, 0.1, -0.3));
        let before: Vec<Vec3> = x.iter().map(|x| a * *x + Vec3::Y).collect();
        let mut v = before.clone();
        let members: Vec<u32> = (0..30).collect();
        move_together(
            &members,
            ZoneInput { inverse_masses: &w, x: &x, dt: 0.01 },
            ZoneMotion::Affine,
            &mut v,
        );
        assert!(v.iter().zip(&before).all(|(a, b)| a.distance(*b) < 1e-12));
    }

    #[test]
    fn scripted_nodes_dictate_the_motion_and_single_lines_stay_finite() {
        let (x, mut v, mut w) = cloud(10, 11);
        let spin = Vec3::new(0.4, -1.0, 2.0);
        for i in 0..4 {
            w[i] = 0.0;
            v[i] = Vec3::X + spin.cross(x[i]);
        }
        let members: Vec<u32> = (0..10).collect();
        let input = ZoneInput { inverse_masses: &w, x: &x, dt: 0.01 };
        move_together(&members, input, ZoneMotion::RigidVelocity, &mut v);
        assert!((4..10).all(|i| v[i].distance(Vec3::X + spin.cross(x[i])) < 1e-6));
        // Nodes on one line: the rotation about it is undetermined and must not become infinite.
        let line: Vec<Vec3> = (0..4).map(|i| Vec3::X * f64::from(i)).collect();
        let mut v = vec![Vec3::Y, Vec3::Z, -Vec3::Y, Vec3::X];
        let input = ZoneInput { inverse_masses: &[1.0; 4], x: &line, dt: 0.01 };
        move_together(&[0, 1, 2, 3], input, ZoneMotion::RigidExact, &mut v);
        assert!(v.iter().all(|v| v.is_finite() && v.length() < 3.0));
    }

    #[test]
    fn zones_merge_transitively_and_reset() {
        let mut zones = Zones::default();
        zones.reset(12);
        assert_eq!(zones.merge([5, 3, 3, 5]), (3, true));
        assert!(zones.merge([8, 9, 10, 11]).1);
        assert_eq!(zones.merge([5, 3, 3, 3]), (3, false));
        let (root, changed) = zones.merge([9, 5, 9, 5]);
        assert!(changed);
        assert_eq!(zones.members(root), [3, 5, 8, 9, 10, 11]);
        assert_eq!(zones.sizes(), [6]);
        zones.reset(12);
        assert!(zones.sizes().is_empty() && (0..12).all(|n| zones.root(n) == n));
    }
}
