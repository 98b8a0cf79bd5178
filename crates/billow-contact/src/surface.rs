//! What the pipeline needs to know of the meshes: connectivity, masses, thickness, friction.
//!
//! All meshes of a scene, cloth and objects alike, are one soup of vertices, edges and triangles with a body number
//! per vertex. Scripted vertices have infinite mass: impulses do not move them.

use billow_geom::GeomError;
use billow_geom::mesh::Topology;
use billow_num::Vec3;

/// A mesh to be added to the soup.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// Any typical positions, for example at rest: they shape the search trees and nothing else [m].
    pub rest: &'a [Vec3],
    /// Triangles over those vertices.
    pub triangles: &'a [[u32; 3]],
    /// Inverse mass per vertex, zero for scripted vertices [1/kg].
    pub inverse_masses: &'a [f64],
    /// Thickness: surfaces keep half of each side's apart [m].
    pub thickness: f64,
    /// Coulomb coefficient; a pair uses the geometric mean [-].
    pub friction: f64,
    /// Whether the body moves by itself. Pairs without any such body are never looked at.
    pub dynamic: bool,
}

/// Properties of a body in the soup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyProperties {
    /// First vertex in the soup.
    pub first_vertex: u32,
    /// Thickness [m].
    pub thickness: f64,
    /// Coulomb coefficient [-].
    pub friction: f64,
    /// Whether the body moves by itself.
    pub dynamic: bool,
}

/// The soup: fixed during a run.
#[derive(Clone, Debug)]
pub struct Surface {
    topology: Topology,
    rest: Vec<Vec3>,
    inverse_masses: Vec<f64>,
    body_of: Vec<u32>,
    bodies: Vec<BodyProperties>,
    exempt: Exempt,
}

/// Pairs of elements that are not looked at, ascending: whether they are two edges or a point and a triangle, and their
/// nodes.
pub(crate) type Exempt = Vec<(bool, [u32; 4])>;

impl Surface {
    /// Joins the bodies' meshes; vertex and triangle numbers follow one another in the order given.
    pub fn new(bodies: &[Body<'_>]) -> Result<Self, GeomError> {
        let mut triangles = Vec::new();
        let mut rest = Vec::new();
        let mut inverse_masses = Vec::new();
        let mut body_of = Vec::new();
        let mut properties = Vec::new();
        for (number, body) in bodies.iter().enumerate() {
            let first = body_of.len() as u32;
            triangles.extend(body.triangles.iter().map(|t| t.map(|i| i + first)));
            inverse_masses.extend_from_slice(body.inverse_masses);
            rest.extend_from_slice(body.rest);
            body_of.resize(rest.len(), number as u32);
            properties.push(BodyProperties {
                first_vertex: first,
                thickness: body.thickness,
                friction: body.friction,
                dynamic: body.dynamic,
            });
        }
        let topology = Topology::new(body_of.len(), &triangles)?;
        Ok(Self { topology, rest, inverse_masses, body_of, bodies: properties, exempt: Vec::new() })
    }

    /// Connectivity of the whole soup.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Typical positions [m].
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.body_of.len()
    }

    /// Inverse mass per vertex [1/kg].
    pub fn inverse_masses(&self) -> &[f64] {
        &self.inverse_masses
    }

    /// The body a vertex belongs to.
    pub fn body_of(&self, vertex: u32) -> u32 {
        self.body_of[vertex as usize]
    }

    /// Properties of the bodies.
    pub fn bodies(&self) -> &[BodyProperties] {
        &self.bodies
    }

    /// Properties of a vertex's body.
    #[inline(always)]
    fn properties(&self, vertex: u32) -> &BodyProperties {
        // There is nothing to look up if there is only one.
        if let [only] = &self.bodies[..] { only } else { &self.bodies[self.body_of(vertex) as usize] }
    }

    /// Thickness at a vertex [m].
    #[inline(always)]
    pub fn thickness(&self, vertex: u32) -> f64 {
        self.properties(vertex).thickness
    }

    /// Leaves the given pairs of triangles alone from now on, instead of those named before: they may cross. All their
    /// points, edges and faces are exempt from contacts and collisions with each other.
    pub fn exempt(&mut self, pairs: &[[u32; 2]]) {
        let mut exempt = Vec::with_capacity(15 * pairs.len());
        let (triangles, edges) = (self.topology.triangles(), self.topology.edges());
        for [s, t] in pairs {
            for (one, other) in [(*s, *t), (*t, *s)] {
                let [a, b, c] = triangles[other as usize];
                exempt.extend(triangles[one as usize].map(|p| (false, [p, a, b, c])));
            }
            for e in self.topology.triangle_edges()[*s as usize] {
                for f in self.topology.triangle_edges()[*t as usize] {
                    let ([a, b], [c, d]) = (edges[e.min(f) as usize], edges[e.max(f) as usize]);
                    exempt.push((true, [a, b, c, d]));
                }
            }
        }
        exempt.sort_unstable();
        exempt.dedup();
        self.exempt = exempt;
    }

    /// Pairs of elements that are exempt.
    pub(crate) fn exempt_pairs(&self) -> &Exempt {
        &self.exempt
    }

    /// Whether a pair of elements is exempt, given whether it is two edges, and its nodes in the order of the search.
    pub(crate) fn is_exempt(&self, edges: bool, nodes: &[u32; 4]) -> bool {
        !self.exempt.is_empty() && self.exempt.binary_search(&(edges, *nodes)).is_ok()
    }

    /// Whether a pair of elements, given one vertex of each, can have a response at all.
    pub fn interacts(&self, a: u32, b: u32) -> bool {
        self.bodies[self.body_of(a) as usize].dynamic || self.bodies[self.body_of(b) as usize].dynamic
    }

    /// Distance two elements keep, given one vertex of each [m].
    #[inline(always)]
    pub fn gap(&self, a: u32, b: u32) -> f64 {
        0.5 * (self.thickness(a) + self.thickness(b))
    }

    /// Coulomb coefficient between two bodies, given one vertex of each [-].
    pub fn friction(&self, a: u32, b: u32) -> f64 {
        let mu = |v: u32| self.properties(v).friction;
        if self.bodies.len() == 1 || self.body_of(a) == self.body_of(b) {
            mu(a)
        } else {
            (mu(a) * mu(b)).sqrt()
        }
    }
}

#[cfg(test)]
impl Surface {
    /// One free body without friction, for tests.
    #[allow(clippy::unwrap_used, reason = "test support")]
    pub(crate) fn of_one(rest: &[Vec3], triangles: &[[u32; 3]], thickness: f64) -> Self {
        let inverse_masses = &*vec![1.0; rest.len()];
        Self::new(&[Body { rest, triangles, inverse_masses, thickness, friction: 0.0, dynamic: true }])
            .unwrap()
    }
}
