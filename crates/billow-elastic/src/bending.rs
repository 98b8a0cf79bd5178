//! Bending elements: two triangles that share an edge ([Bri03] 1.4).
//!
//! All forces lie along the bending mode `u`, the one motion of the four nodes that changes the dihedral angle and
//! nothing else. With the signs of the document `u = −∂θ/∂x` (it prints `dθ/dt = Σ u·v`), so its elastic force
//! `+k sin(θ/2) u` restores. Elastic and damping forces therefore conserve linear and angular momentum and leave
//! in-plane deformation alone. Rest angles model pleats, sculpted folds and stiff shells.

use billow_geom::mesh::Topology;
use billow_num::par::LaterIncidence;
use billow_num::{NumError, Vec3, par};

/// Bending elements of a model: fixed during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Bending {
    /// Nodes 1–4 of [Bri03] figure 1.2: the two opposite corners, then the ends of the shared edge.
    nodes: Vec<[u32; 4]>,
    /// `sin(θ₀/2)`.
    rest_sine: Vec<f64>,
    /// `k^e |E|²/(|N₁| + |N₂|)` in the rest pose [N·m].
    stiffness: Vec<f64>,
    /// `k^d |E|` in the rest pose [N·m·s].
    damping: Vec<f64>,
    incidence: LaterIncidence,
}

/// Material of bending elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendingMaterial {
    /// Elastic stiffness `k^e` [N·m].
    pub stiffness: f64,
    /// Damping `k^d` [N·s].
    pub damping: f64,
}

/// Bending elements linearised about a configuration: scratch, rewritten by [`Bending::linearise`].
#[derive(Clone, Debug, Default)]
pub struct BendingTangent {
    hinges: Vec<Hinge>,
}

/// A bending element linearised.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge {
    /// The bending mode [1/m].
    pub mode: [Vec3; 4],
    /// Elastic force along the mode [N·m].
    pub moment: f64,
    /// Its derivative with respect to the angle, never negative [N·m].
    pub rigidity: f64,
}

/// The bending mode and `(sin, cos)` of half the angle between the normals; `None` for a collapsed triangle.
#[inline(always)]
pub fn bending_mode([x1, x2, x3, x4]: [Vec3; 4]) -> Option<([Vec3; 4], f64, f64)> {
    let edge = x4 - x3;
    let (n1, n2) = ((x1 - x3).cross(x1 - x4), (x2 - x4).cross(x2 - x3));
    let (length2, n1_2, n2_2) = (edge.length_squared(), n1.length_squared(), n2.length_squared());
    let areas2 = n1_2 * n2_2;
    let all = areas2 * length2;
    if all.is_nan() || all <= 0.0 {
        return None;
    }
    // One division for all: each inverse is the others times this.
    let inverse = all.recip();
    let (length, areas) = (length2.sqrt(), areas2.sqrt());
    let beside = length * length2 * inverse;
    let (u1, u2) = (n1 * (beside * n2_2), n2 * (beside * n1_2));
    // Barycentric coordinates of the opposite corners along the edge.
    let along = edge * (areas2 * inverse);
    let (a1, a2) = ((x1 - x4).dot(along), (x2 - x4).dot(along));
    let mode = [u1, u2, u1 * a1 + u2 * a2, -(u1 * (a1 + 1.0) + u2 * (a2 + 1.0))];
    let cosine = (n1.dot(n2) * (areas * length2 * inverse)).clamp(-1.0, 1.0);
    // Both normals are across the edge, so what turns one into the other is along it.
    let sine = n1.cross(n2).dot(edge) * (areas * length * inverse);
    // The larger of the two from the half-angle formula, which does not cancel there, the smaller from the product.
    let larger = ((1.0 + cosine.abs()) / 2.0).sqrt();
    let smaller = sine.abs() / (2.0 * larger);
    let (half_sine, half_cosine) = if cosine > 0.0 { (smaller, larger) } else { (larger, smaller) };
    Some((mode, if sine < 0.0 { -half_sine } else { half_sine }, half_cosine))
}

impl Bending {
    /// One element per interior edge of a surface; `rest_angles` follow `rest`'s pose if `curved`, else they are zero.
    ///
    /// # Errors
    /// If the surface has more vertices than `rest`.
    pub fn from_surface(
        topology: &Topology,
        rest: &[Vec3],
        material: BendingMaterial,
        curved: bool,
    ) -> Result<Self, NumError> {
        let (mut nodes, mut rest_sine, mut stiffness, mut damping) = (vec![], vec![], vec![], vec![]);
        for element in (0..topology.edge_count() as u32).filter_map(|edge| element_at(topology, edge)) {
            let x = element.map(|i| rest[i as usize]);
            let Some((_, half_sine, _)) = bending_mode(x) else { continue };
            let edge2 = (x[3] - x[2]).length_squared();
            let areas = (x[0] - x[2]).cross(x[0] - x[3]).length() + (x[1] - x[3]).cross(x[1] - x[2]).length();
            nodes.push(element);
            rest_sine.push(if curved { half_sine } else { 0.0 });
            stiffness.push(material.stiffness * edge2 / areas);
            damping.push(material.damping * edge2.sqrt());
        }
        let incidence = LaterIncidence::new(rest.len(), &nodes)?;
        Ok(Self { nodes, rest_sine, stiffness, damping, incidence })
    }

    /// The elements of several surfaces as one set over `nodes` nodes; each surface's first node is given.
    ///
    /// # Errors
    /// If an element names a node that does not exist.
    pub fn join<'a>(
        nodes: usize,
        parts: impl IntoIterator<Item = (&'a Self, u32)>,
    ) -> Result<Self, NumError> {
        let (mut elements, mut rest_sine, mut stiffness, mut damping) = (vec![], vec![], vec![], vec![]);
        for (part, first) in parts {
            elements.extend(part.nodes.iter().map(|e| e.map(|i| i + first)));
            rest_sine.extend_from_slice(&part.rest_sine);
            stiffness.extend_from_slice(&part.stiffness);
            damping.extend_from_slice(&part.damping);
        }
        let incidence = LaterIncidence::new(nodes, &elements)?;
        Ok(Self { nodes: elements, rest_sine, stiffness, damping, incidence })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The two opposite corners, then the ends of the shared edge, of each element.
    pub fn nodes(&self) -> &[[u32; 4]] {
        &self.nodes
    }

    /// Moment per rate of angle of each element [N·m·s].
    pub fn damping(&self) -> &[f64] {
        &self.damping
    }

    /// Whether element `e` exerts anything at all.
    pub fn acts(&self, e: usize) -> bool {
        self.stiffness[e] > 0.0 || self.damping[e] > 0.0
    }

    /// Elastic energy [J]: the potential of the force law, zero at the rest angle.
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        par::sum(self.len(), |e| {
            let Some((_, s, c)) = bending_mode(self.nodes[e].map(|i| x[i as usize])) else { return 0.0 };
            let (s0, theta, theta0) = (self.rest_sine[e], 2.0 * s.atan2(c), 2.0 * self.rest_sine[e].asin());
            let potential = |angle: f64| -2.0 * (0.5 * angle).cos() - s0 * angle;
            self.stiffness[e] * (potential(theta) - potential(theta0))
        })
    }

    /// The largest stable time step of explicit damping near the pose `x` with the given node masses [s].
    pub fn damping_limit(&self, x: &[Vec3], masses: &[f64]) -> f64 {
        // The operator is Σ c uᵀu; its rows are bounded by c |u_i| Σ_j |u_j|.
        let mut rows = vec![0.0; masses.len()];
        for (e, nodes) in self.nodes.iter().enumerate() {
            let Some((mode, ..)) = bending_mode(nodes.map(|i| x[i as usize])) else { continue };
            let total: f64 = mode.iter().map(|u| u.length()).sum();
            for k in 0..4 {
                rows[nodes[k] as usize] += self.damping[e] * mode[k].length() * total;
            }
        }
        let rate = rows.iter().zip(masses).map(|(r, m)| r / m).fold(0.0, f64::max);
        if rate > 0.0 { 2.0 / rate } else { f64::INFINITY }
    }

    /// Modes and moments at `x`; collapsed elements exert nothing.
    pub fn linearise(&self, x: &[Vec3], tangent: &mut BendingTangent) {
        tangent.hinges.resize(self.len(), Hinge::default());
        par::fill(&mut tangent.hinges, |e| self.hinge(e, x));
    }

    /// Element `e` linearised at `x`; a collapsed one exerts nothing.
    #[inline(always)]
    pub fn hinge(&self, e: usize, x: &[Vec3]) -> Hinge {
        match bending_mode(self.nodes[e].map(|i| x[i as usize])) {
            Some((mode, half_sine, half_cosine)) => Hinge {
                mode,
                moment: self.stiffness[e] * (half_sine - self.rest_sine[e]),
                rigidity: 0.5 * self.stiffness[e] * half_cosine,
            },
            None => Hinge::default(),
        }
    }

    /// Adds the elastic forces of the last [`Bending::linearise`] to `f` [N].
    pub fn add_elastic(&self, tangent: &BendingTangent, f: &mut [Vec3]) {
        self.incidence
            .of(&self.nodes)
            .gather_with(f, |e, corner| tangent.hinges[e].mode[corner] * tangent.hinges[e].moment);
    }

    /// Adds `(stiffness_factor · ∂f/∂x + damping_factor · ∂f/∂v) v` to `y`, the first in the Gauss-Newton form
    /// `−(dM/dθ) u uᵀ`, which is negative semi-definite. `product` is scratch.
    pub fn add_product(
        &self,
        BendingTangent { hinges }: &BendingTangent,
        factors: [f64; 2],
        v: &[Vec3],
        y: &mut [Vec3],
        product: &mut Vec<f64>,
    ) {
        product.resize(self.len(), 0.0);
        par::fill(product, |e| {
            let mode = &hinges[e].mode;
            let rate: f64 = (0..4).map(|k| mode[k].dot(v[self.nodes[e][k] as usize])).sum();
            -self.mixed(&hinges[e], e, factors) * rate
        });
        self.incidence.of(&self.nodes).gather_with(y, |e, corner| hinges[e].mode[corner] * product[e]);
    }

    /// Adds the diagonal of the negated [`Bending::add_product`] operator, for preconditioning.
    pub fn add_diagonal(&self, tangent: &BendingTangent, factors: [f64; 2], diagonal: &mut [Vec3]) {
        self.incidence.of(&self.nodes).gather_with(diagonal, |e, corner| {
            let u = tangent.hinges[e].mode[corner];
            u * u * self.mixed(&tangent.hinges[e], e, factors)
        });
    }

    /// Stiffness along the mode in a mix of elasticity and damping [N·m].
    fn mixed(&self, hinge: &Hinge, e: usize, [stiffness_factor, damping_factor]: [f64; 2]) -> f64 {
        stiffness_factor * hinge.rigidity + damping_factor * self.damping[e]
    }
}

/// Nodes 1–4 of the element at an interior edge; `None` at boundaries and non-manifold edges.
fn element_at(topology: &Topology, edge: u32) -> Option<[u32; 4]> {
    let [first, second] = topology.edge_pair(edge)?;
    let [a, b] = topology.edges()[edge as usize];
    // Triangle 1 must run along the edge from node 3 to node 4, so that N₁ and N₂ are the triangles' own normals.
    let (x3, x4) = if topology.runs_forward(first, edge) { (a, b) } else { (b, a) };
    Some([topology.opposite_vertex(first, edge)?, topology.opposite_vertex(second, edge)?, x3, x4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::TriMesh;

    const KITE: [Vec3; 4] = [
        Vec3::new(0.4, -0.7, 0.1),
        Vec3::new(0.55, 0.8, 0.35),
        Vec3::new(0.0, 0.05, 0.0),
        Vec3::new(1.1, 0.0, -0.2),
    ];

    fn angle(x: [Vec3; 4]) -> f64 {
        let (_, s, c) = bending_mode(x).unwrap();
        2.0 * s.atan2(c)
    }

    #[test]
    fn the_mode_is_minus_the_gradient_of_the_angle() {
        let (mode, ..) = bending_mode(KITE).unwrap();
        let h = 1e-6;
        for node in 0..4 {
            for axis in 0..3 {
                let at = |s: f64| {
                    let mut x = KITE;
                    x[node][axis] += s * h;
                    angle(x)
                };
                let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
                assert!(
                    (mode[node][axis] + slope).abs() < 1e-8,
                    "node {node} axis {axis}: {} {slope}",
                    mode[node][axis]
                );
            }
        }
    }

    #[test]
    fn the_mode_has_no_linear_or_angular_momentum() {
        let (mode, ..) = bending_mode(KITE).unwrap();
        let force: Vec3 = mode.iter().sum();
        let torque: Vec3 = mode.iter().zip(KITE).map(|(u, x)| x.cross(*u)).sum();
        assert!(force.length() < 1e-14 && torque.length() < 1e-14, "{force} {torque}");
    }

    #[test]
    fn half_angles_are_right_from_flat_to_folded_both_ways() {
        for degrees in [-179.9f64, -120.0, -1e-6, 0.0, 1e-9, 0.1, 45.0, 90.0, 135.0, 179.9] {
            let t = degrees.to_radians();
            // Node 2 rotates about the x axis; a fold towards +z has normals turning by θ.
            let x = [Vec3::NEG_Y, Vec3::new(0.0, t.cos(), t.sin()), Vec3::ZERO, Vec3::X];
            let folded = angle([x[0], x[1], x[3], x[2]]);
            assert!((folded.abs() - t.abs()).abs() <= 1e-15 + 4e-15 * t.abs(), "{degrees}: {folded} {t}");
            assert!(
                t == 0.0
                    || folded.signum()
                        != angle([x[0], Vec3::new(0.0, t.cos(), -t.sin()), x[3], x[2]]).signum()
            );
        }
    }

    fn sheet(n: usize, wrap: f64) -> (TriMesh, Topology) {
        // A unit square, rolled onto a cylinder of curvature `wrap`.
        let at = |i: usize, j: usize| {
            let (s, t) = (i as f64 / n as f64, j as f64 / n as f64);
            if wrap == 0.0 {
                Vec3::new(s, t, 0.0)
            } else {
                Vec3::new((s * wrap).sin() / wrap, t, (s * wrap).cos() / wrap)
            }
        };
        let mut mesh = TriMesh::default();
        for j in 0..=n {
            mesh.positions.extend((0..=n).map(|i| at(i, j)));
        }
        let id = |i: usize, j: usize| (j * (n + 1) + i) as u32;
        for j in 0..n {
            for i in 0..n {
                let [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
                mesh.triangles.extend(if (i + j) % 2 == 0 {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                });
            }
        }
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        (mesh, topology)
    }

    #[test]
    fn forces_are_minus_the_energy_gradient_about_curved_rest_poses() {
        let (rest, topology) = sheet(3, 1.0);
        let material = BendingMaterial { stiffness: 0.7, damping: 0.0 };
        let bending = Bending::from_surface(&topology, &rest.positions, material, true).unwrap();
        let wobble = |x: &Vec3| {
            *x + Vec3::new((9.0 * x.y).sin(), (7.0 * x.x).cos(), (5.0 * x.y + 3.0 * x.x).sin()) * 0.05
        };
        let x: Vec<Vec3> = rest.positions.iter().map(wobble).collect();
        assert!(bending.energy(&rest.positions).abs() < 1e-15 && bending.energy(&x) > 1e-4);
        let mut tangent = BendingTangent::default();
        bending.linearise(&x, &mut tangent);
        let mut f = vec![Vec3::ZERO; x.len()];
        bending.add_elastic(&tangent, &mut f);
        let h = 1e-6;
        for node in 0..x.len() {
            let at = |s: f64| {
                let mut moved = x.clone();
                moved[node].z += s * h;
                bending.energy(&moved)
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
            assert!((f[node].z + slope).abs() < 1e-7, "node {node}: {} {}", f[node].z, -slope);
        }
    }

    #[test]
    fn energy_on_a_cylinder_converges_under_refinement() {
        // Every edge sum approaches a multiple of ∫ κ² dA = wrap² for the unit square: ratio of refinements → 1.
        let energy = |n: usize| {
            let (flat, topology) = sheet(n, 0.0);
            let bending = Bending::from_surface(
                &topology,
                &flat.positions,
                BendingMaterial { stiffness: 1.0, damping: 0.0 },
                false,
            )
            .unwrap();
            bending.energy(&sheet(n, 1.5).0.positions)
        };
        let [e8, e16, e32, e64] = [8, 16, 32, 64].map(energy);
        assert!(
            (e64 - e32).abs() < 0.6 * (e32 - e16).abs() && (e32 - e16).abs() < 0.6 * (e16 - e8).abs(),
            "{e8} {e16} {e32} {e64}"
        );
        assert!((e64 / e32 - 1.0).abs() < 0.05);
    }

    #[test]
    fn damping_slows_folding_and_conserves_momentum() {
        let (rest, topology) = sheet(4, 0.6);
        let material = BendingMaterial { stiffness: 0.0, damping: 0.2 };
        let bending = Bending::from_surface(&topology, &rest.positions, material, false).unwrap();
        let mut tangent = BendingTangent::default();
        bending.linearise(&rest.positions, &mut tangent);
        let v: Vec<Vec3> = rest.positions.iter().map(|x| Vec3::new(x.y, x.x * x.y, x.x * x.x)).collect();
        let mut f = vec![Vec3::ZERO; v.len()];
        bending.add_product(&tangent, [0.0, 1.0], &v, &mut f, &mut Vec::new());
        let power: f64 = f.iter().zip(&v).map(|(f, v)| f.dot(*v)).sum();
        let (force, torque) =
            (f.iter().sum::<Vec3>(), f.iter().zip(&rest.positions).map(|(f, x)| x.cross(*f)).sum::<Vec3>());
        assert!(
            power < -1e-3 && force.length() < 1e-13 && torque.length() < 1e-13,
            "{power} {force} {torque}"
        );
        let spin: Vec<Vec3> =
            rest.positions.iter().map(|x| Vec3::new(0.3, -1.0, 0.8).cross(*x) + Vec3::X).collect();
        let mut still = vec![Vec3::ZERO; v.len()];
        bending.add_product(&tangent, [0.0, 1.0], &spin, &mut still, &mut Vec::new());
        assert!(still.iter().all(|f| f.length() < 1e-12), "rigid motion is not damped");
    }
}
