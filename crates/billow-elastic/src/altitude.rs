//! Altitude springs: each triangle's shortest altitude resists in-plane collapse ([Gue06] 3.2.1).
//!
//! A triangle has three altitudes; only the spring of the currently shortest one acts. Its force runs along the
//! altitude, on the corner and, by barycentric weights, on the two ends of the opposite edge, so momentum is kept.

use billow_num::par::Incidence;
use billow_num::{NumError, Vec3, par};

/// Altitude springs of a model: fixed during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct AltitudeSprings {
    triangles: Vec<[u32; 3]>,
    /// Rest length of the altitude from each corner [m].
    rest: Vec<[f64; 3]>,
    /// Force per unit of strain [N].
    stiffness: Vec<f64>,
    /// Force per unit of strain rate [N·s].
    damping: Vec<f64>,
    incidence: Incidence,
}

/// The active altitude of each triangle: scratch, rewritten by [`AltitudeSprings::linearise`].
#[derive(Clone, Debug, Default)]
pub struct AltitudeTangent {
    active: Vec<Altitude>,
}

/// The shortest altitude of a triangle, as a motion of its three nodes that lengthens it.
#[derive(Clone, Copy, Debug, Default)]
struct Altitude {
    /// Gradient of the altitude's length with respect to the corners, weights held [-].
    mode: [Vec3; 3],
    /// Elastic force along the mode [N].
    force: f64,
    /// Its derivative with respect to length, never negative [N/m].
    axial: f64,
    /// Derivative of the force with respect to the rate of length [N·s/m].
    damping: f64,
}

impl Altitude {
    fn mixed(&self, [stiffness_factor, damping_factor]: [f64; 2]) -> f64 {
        stiffness_factor * self.axial + damping_factor * self.damping
    }
}

/// Length of the altitude from corner `k`; zero for a collapsed triangle.
fn altitude_length(x: [Vec3; 3], k: usize) -> f64 {
    let (p, a, b) = (x[k], x[(k + 1) % 3], x[(k + 2) % 3]);
    let base = (b - a).length();
    if base > 0.0 { (p - a).cross(p - b).length() / base } else { 0.0 }
}

impl AltitudeSprings {
    /// Springs for every triangle; `stiffness` and `damping` are per triangle.
    ///
    /// # Errors
    /// If a triangle names a node that does not exist.
    pub fn new(
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        stiffness: Vec<f64>,
        damping: Vec<f64>,
    ) -> Result<Self, NumError> {
        let incidence = Incidence::new(rest.len(), triangles)?;
        let altitudes = |t: &[u32; 3]| {
            let x = t.map(|i| rest[i as usize]);
            [0, 1, 2].map(|k| altitude_length(x, k))
        };
        Ok(Self {
            incidence,
            rest: triangles.iter().map(altitudes).collect(),
            triangles: triangles.to_vec(),
            stiffness,
            damping,
        })
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Finds the shortest altitude of each triangle at `x` and its force.
    pub fn linearise(&self, x: &[Vec3], tangent: &mut AltitudeTangent) {
        tangent.active.resize(self.len(), Altitude::default());
        par::fill(&mut tangent.active, |t| self.shortest(t, x).unwrap_or_default());
    }

    /// Adds the elastic forces of the last [`AltitudeSprings::linearise`] to `f` [N].
    pub fn add_elastic(&self, tangent: &AltitudeTangent, f: &mut [Vec3]) {
        self.incidence.gather_with(f, |t, corner| tangent.active[t].mode[corner] * tangent.active[t].force);
    }

    /// Adds `(stiffness_factor · ∂f/∂x + damping_factor · ∂f/∂v) v` to `y` with the modes held fixed. `product` is scratch.
    pub fn add_product(
        &self,
        AltitudeTangent { active }: &AltitudeTangent,
        factors: [f64; 2],
        v: &[Vec3],
        y: &mut [Vec3],
        product: &mut Vec<f64>,
    ) {
        product.resize(self.len(), 0.0);
        par::fill(product, |t| {
            let rate: f64 = (0..3).map(|k| active[t].mode[k].dot(v[self.triangles[t][k] as usize])).sum();
            -active[t].mixed(factors) * rate
        });
        self.incidence.gather_with(y, |t, corner| active[t].mode[corner] * product[t]);
    }

    /// Adds the diagonal of the negated [`AltitudeSprings::add_product`] operator, for preconditioning.
    pub fn add_diagonal(&self, tangent: &AltitudeTangent, factors: [f64; 2], diagonal: &mut [Vec3]) {
        self.incidence.gather_with(diagonal, |t, corner| {
            let u = tangent.active[t].mode[corner];
            u * u * tangent.active[t].mixed(factors)
        });
    }

    fn shortest(&self, t: usize, x: &[Vec3]) -> Option<Altitude> {
        let corners = self.triangles[t].map(|i| x[i as usize]);
        // The shortest altitude stands on the longest edge.
        let base2 = |k: usize| corners[(k + 1) % 3].distance_squared(corners[(k + 2) % 3]);
        let k = (0..3).fold(0, |best, k| if base2(k) > base2(best) { k } else { best });
        let (p, a, b) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
        let edge = b - a;
        let along = (p - a).dot(edge) / edge.length_squared();
        let height = p - (a + edge * along);
        let length = height.length();
        if length.is_nan() || length <= 0.0 {
            return None;
        }
        let up = height / length;
        let mut mode = [Vec3::ZERO; 3];
        (mode[k], mode[(k + 1) % 3], mode[(k + 2) % 3]) = (up, -up * (1.0 - along), -up * along);
        let rest = self.rest[t][k];
        Some(Altitude {
            mode,
            force: -self.stiffness[t] * (length - rest) / rest,
            axial: self.stiffness[t] / rest,
            damping: self.damping[t] / rest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: [Vec3; 3] = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.4, 0.6, 0.2)];

    fn single(stiffness: f64, damping: f64) -> AltitudeSprings {
        AltitudeSprings::new(&REST, &[[0, 1, 2]], vec![stiffness], vec![damping]).expect("all nodes exist")
    }

    fn forces(x: &[Vec3; 3]) -> [Vec3; 3] {
        let springs = single(5.0, 0.0);
        let mut tangent = AltitudeTangent::default();
        springs.linearise(x, &mut tangent);
        let mut f = [Vec3::ZERO; 3];
        springs.add_elastic(&tangent, &mut f);
        f
    }

    #[test]
    fn rest_is_free_of_force_and_flattening_is_resisted() {
        assert!(forces(&REST).iter().all(|f| f.length() < 1e-14));
        let flattened = [REST[0], REST[1], REST[2] - Vec3::new(0.0, 0.3, 0.1)];
        assert!(forces(&flattened)[2].dot(Vec3::new(0.0, 0.3, 0.1)) > 0.0);
    }

    #[test]
    fn momentum_is_conserved_and_only_the_shortest_altitude_acts() {
        let x = [REST[0], REST[1] + Vec3::new(0.2, -0.1, 0.3), REST[2] * 0.7];
        let f = forces(&x);
        let (force, torque) =
            (f.iter().sum::<Vec3>(), f.iter().zip(x).map(|(f, x)| x.cross(*f)).sum::<Vec3>());
        assert!(force.length() < 1e-14 && torque.length() < 1e-14);
        assert!(
            f[2].cross((x[1] - x[0]).cross(x[2] - x[0]).cross(x[1] - x[0])).length() < 1e-12,
            "along the altitude on the longest edge"
        );
    }

    #[test]
    fn a_collapsed_triangle_is_left_alone() {
        assert!(forces(&[Vec3::ZERO, Vec3::X, Vec3::X * 0.5]).iter().all(|f| *f == Vec3::ZERO));
    }
}
