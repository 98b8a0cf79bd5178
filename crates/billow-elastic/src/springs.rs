//! Damped springs between pairs of nodes ([Bri03] 1.2).
//!
//! The force is `k (l − l₀)/l₀` along the spring, so stiffness is a force per unit of strain and the strain is what
//! limits speak of. [`edge_stiffness`] scales it so that the speed of sound, and with it the look of the
//! cloth, does not depend on the mesh.

use billow_num::par::LaterIncidence;
use billow_num::{NumError, Vec3, par};

/// Springs of a model: fixed during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Springs {
    ends: Vec<[u32; 2]>,
    rest: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    incidence: LaterIncidence,
}

/// One spring, as a builder describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// The two nodes.
    pub ends: [u32; 2],
    /// Length without force [m].
    pub rest_length: f64,
    /// Force per unit of strain [N].
    pub stiffness: f64,
    /// Force per unit of strain rate [N·s].
    pub damping: f64,
}

/// Springs linearised about a configuration: scratch, rewritten by [`Springs::linearise`].
#[derive(Clone, Debug, Default)]
pub struct SpringTangent {
    lines: Vec<Line>,
}

/// A spring linearised.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Unit vector from the first end to the second.
    direction: Vec3,
    /// Tension, negative in compression [N].
    tension: f64,
    /// Derivative of tension with respect to length [N/m].
    axial: f64,
    /// Resistance to sideways motion of a spring under tension, never negative [N/m].
    lateral: f64,
    /// Derivative of tension with respect to the rate of length [N·s/m].
    damping: f64,
}

impl Line {
    /// Stiffness along the spring and sideways in a mix of elasticity and damping [N/m].
    fn mixed(&self, [stiffness_factor, damping_factor]: [f64; 2]) -> (f64, f64) {
        (stiffness_factor * self.axial + damping_factor * self.damping, stiffness_factor * self.lateral)
    }
}

/// Stiffness [N] of an edge spring for a two-dimensional modulus [N/m]: proportional to the area of the triangles at
/// the edge over its length ([Bri03] 1.2).
pub fn edge_stiffness(modulus: f64, incident_area: f64, rest_length: f64) -> f64 {
    modulus * incident_area / rest_length
}

impl Springs {
    /// Collects `springs` over `nodes` nodes.
    ///
    /// # Errors
    /// If a spring names a node that does not exist.
    pub fn new(nodes: usize, springs: &[Spring]) -> Result<Self, NumError> {
        let ends: Vec<[u32; 2]> = springs.iter().map(|s| s.ends).collect();
        Ok(Self {
            incidence: LaterIncidence::new(nodes, &ends)?,
            rest: springs.iter().map(|s| s.rest_length).collect(),
            stiffness: springs.iter().map(|s| s.stiffness).collect(),
            damping: springs.iter().map(|s| s.damping).collect(),
            ends,
        })
    }

    /// Number of springs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The two nodes of each spring.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// Rest length of each spring [m].
    pub fn rest_lengths(&self) -> &[f64] {
        &self.rest
    }

    /// Stiffness of each spring [N].
    pub fn stiffness(&self) -> &[f64] {
        &self.stiffness
    }

    /// Damping of each spring [N·s].
    pub fn damping(&self) -> &[f64] {
        &self.damping
    }

    /// Elastic energy [J].
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        par::sum(self.len(), |e| {
            let [a, b] = self.ends[e];
            let stretch = (x[b as usize] - x[a as usize]).length() - self.rest[e];
            0.5 * self.stiffness[e] * stretch * stretch / self.rest[e]
        })
    }

    /// Directions, tensions and stiffnesses at `x`.
    pub fn linearise(&self, x: &[Vec3], tangent: &mut SpringTangent) {
        tangent.lines.resize(self.len(), Line::default());
        par::fill(&mut tangent.lines, |e| {
            let [a, b] = self.ends[e];
            let d = x[b as usize] - x[a as usize];
            let (l, rest) = (d.length(), self.rest[e]);
            if l == 0.0 {
                return Line::default();
            }
            let tension = self.stiffness[e] * (l - rest) / rest;
            Line {
                direction: d / l,
                tension,
                axial: self.stiffness[e] / rest,
                lateral: (tension / l).max(0.0),
                damping: self.damping[e] / rest,
            }
        });
    }

    /// Adds the elastic forces of the last [`Springs::linearise`] to `f` [N].
    pub fn add_elastic(&self, tangent: &SpringTangent, f: &mut [Vec3]) {
        self.incidence.of(&self.ends).gather_with(f, |e, corner| {
            let line = &tangent.lines[e];
            line.direction * if corner == 0 { line.tension } else { -line.tension }
        });
    }

    /// Adds `(stiffness_factor · ∂f/∂x + damping_factor · ∂f/∂v) v` to `y`, the first without the part that pushes
    /// compressed springs sideways, so that the operator is negative semi-definite.
    pub fn add_product(&self, tangent: &SpringTangent, factors: [f64; 2], v: &[Vec3], y: &mut [Vec3]) {
        // Each spring is evaluated at both ends: cheaper than storing and reading back a result per spring.
        self.incidence.of(&self.ends).gather_with(y, |e, corner| {
            let (line, ends) = (&tangent.lines[e], self.ends[e]);
            let dv = v[ends[1 - corner] as usize] - v[ends[corner] as usize];
            let (along, sideways) = line.mixed(factors);
            line.direction * ((along - sideways) * line.direction.dot(dv)) + dv * sideways
        });
    }

    /// Adds the diagonal of the negated [`Springs::add_product`] operator, for preconditioning.
    pub fn add_diagonal(&self, tangent: &SpringTangent, factors: [f64; 2], diagonal: &mut [Vec3]) {
        self.incidence.of(&self.ends).gather_with(diagonal, |e, _| {
            let line = &tangent.lines[e];
            let (along, sideways) = line.mixed(factors);
            line.direction * line.direction * (along - sideways) + Vec3::splat(sideways)
        });
    }

    /// The largest stable time step of an explicit update of undamped springs, with the given node masses [s]:
    /// `2/ω` with `ω² ≤ max_i 2 Σ k/(l₀ m_i)` by Gershgorin's theorem.
    pub fn explicit_limit(&self, masses: &[f64]) -> f64 {
        let omega2 = self.largest_row(masses, &self.stiffness);
        if omega2 > 0.0 { 2.0 / omega2.sqrt() } else { f64::INFINITY }
    }

    /// The largest stable time step of explicit damping with the given node masses [s].
    pub fn damping_limit(&self, masses: &[f64]) -> f64 {
        let rate = self.largest_row(masses, &self.damping);
        if rate > 0.0 { 2.0 / rate } else { f64::INFINITY }
    }

    fn largest_row(&self, masses: &[f64], coefficient: &[f64]) -> f64 {
        let incidence = self.incidence.of(&self.ends);
        par::max(masses.len(), |i| {
            let row = incidence.of(i).iter().map(|&(e, _)| coefficient[e as usize] / self.rest[e as usize]);
            2.0 * row.sum::<f64>() / masses[i]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(stiffness: f64, damping: f64) -> Springs {
        Springs::new(2, &[Spring { ends: [0, 1], rest_length: 0.5, stiffness, damping }])
            .expect("both nodes exist")
    }

    #[test]
    fn force_is_minus_the_energy_gradient() {
        let springs = pair(7.0, 0.0);
        let x = [Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.6, -0.4, 0.2)];
        let mut tangent = SpringTangent::default();
        springs.linearise(&x, &mut tangent);
        let mut f = [Vec3::ZERO; 2];
        springs.add_elastic(&tangent, &mut f);
        let h = 1e-6;
        for node in 0..2 {
            for axis in 0..3 {
                let energy = |s: f64| {
                    let mut moved = x;
                    moved[node][axis] += s * h;
                    springs.energy(&moved)
                };
                let slope = (energy(1.0) - energy(-1.0)) / (2.0 * h);
                assert!((f[node][axis] + slope).abs() < 1e-8, "{} against {}", f[node][axis], -slope);
            }
        }
        assert!((f[0] + f[1]).length() < 1e-15);
    }

    #[test]
    fn product_is_the_derivative_of_the_force_for_a_stretched_spring() {
        let springs = pair(7.0, 0.3);
        let x = [Vec3::new(0.1, 0.2, -0.3), Vec3::new(0.6, -0.4, 0.2)];
        let v = [Vec3::new(0.3, -0.2, 0.5), Vec3::new(-0.4, 0.1, 0.9)];
        let force = |s: f64| {
            let moved = [x[0] + s * v[0], x[1] + s * v[1]];
            let mut tangent = SpringTangent::default();
            springs.linearise(&moved, &mut tangent);
            let mut f = [Vec3::ZERO; 2];
            springs.add_elastic(&tangent, &mut f);
            f
        };
        let h = 1e-6;
        let mut tangent = SpringTangent::default();
        springs.linearise(&x, &mut tangent);
        let mut y = [Vec3::ZERO; 2];
        springs.add_product(&tangent, [1.0, 0.0], &v, &mut y);
        for i in 0..2 {
            let slope = (force(h)[i] - force(-h)[i]) / (2.0 * h);
            assert!(y[i].distance(slope) < 1e-7, "{} against {slope}", y[i]);
        }
    }

    #[test]
    fn damping_opposes_only_the_rate_of_length() {
        let springs = pair(0.0, 0.3);
        let x = [Vec3::ZERO, Vec3::X];
        let mut tangent = SpringTangent::default();
        springs.linearise(&x, &mut tangent);
        let mut f = [Vec3::ZERO; 2];
        springs.add_product(&tangent, [0.0, 1.0], &[Vec3::ZERO, Vec3::new(2.0, 5.0, -1.0)], &mut f);
        assert!(
            f[1].distance(Vec3::new(-0.3 / 0.5 * 2.0, 0.0, 0.0)) < 1e-15 && (f[0] + f[1]).length() < 1e-15
        );
    }

    #[test]
    fn explicit_limit_is_that_of_the_oscillator() {
        // Two equal masses: ω² = 2 k / (l₀ m), and Gershgorin's bound is attained.
        let springs = pair(8.0, 0.0);
        assert!(
            (springs.explicit_limit(&[2.0, 2.0]) - 2.0 / (2.0f64 * 8.0 / (0.5 * 2.0)).sqrt()).abs() < 1e-14
        );
    }
}
