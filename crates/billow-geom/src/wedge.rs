//! Sight lines past thickened triangles ([Gue06] 6.2.1, figure 6.3; clipping of 6.3.2).
//!
//! The wedge of a triangle holds every point within ε/2 of it: the triangle grown by ε/2 along its normal,
//! across its edges and along the axes. It is an intersection of half-spaces n·x ≤ max over the corners of
//! n·x + ε/2, so it encloses the triangle with that margin whatever rounding did to the directions n, slivers
//! and degenerate triangles included. Distances are measured from a corner of the triangle: an offset of the
//! whole scene costs no digits.
//!
//! A sight line that meets a wedge is blocked. Since ε exceeds the rounding of a ray cast, a line that
//! crosses the surface, through a shared edge or vertex or in the plane of a triangle, always meets a wedge:
//! nothing leaks.

use crate::bvh::Bvh;
use crate::mesh::check_indices;
use crate::proximity::point_triangle;
use crate::{Aabb, GeomError, TriMesh};
use billow_num::{Vec3, par};

/// What a reference point can tell about a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The sight line meets no wedge.
    Visible,
    /// The target lies in a wedge: its side cannot be told.
    Inside,
    /// The sight line meets a wedge that does not hold the target, or the reference point lies in one itself.
    Occluded,
}

/// Where a sight line first meets the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WedgeHit {
    /// The triangle whose wedge is met first.
    pub triangle: u32,
    /// Fraction of the way from the reference point at which the wedge is entered [-].
    pub fraction: f64,
    /// Weights of the triangle's corners at its point closest to the entry; they add up to one [-].
    /// The surface velocity there is Σ wᵢ vᵢ.
    pub weights: [f64; 3],
}

/// The answer to a sight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// How the target appears from the reference point.
    pub visibility: Visibility,
    /// The first wedge met, if any.
    pub hit: Option<WedgeHit>,
}

/// A path cut short where it meets the doubled wedges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClippedPath {
    /// End of the part that stays clear of the surface [m].
    pub end: Vec3,
    /// The wedge that stopped the path, if any.
    pub hit: Option<WedgeHit>,
}

/// The wedges of all triangles of a surface at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Wedges {
    wedges: Vec<Wedge>,
    half: f64,
}

impl Wedges {
    /// Wedges of thickness `thickness` (ε) [m] around the triangles of `mesh`.
    ///
    /// # Errors
    /// When the thickness is below [`Self::least_thickness`] of the mesh, a position is not finite, or a
    /// triangle names a missing vertex.
    pub fn new(mesh: &TriMesh, thickness: f64) -> Result<Self, GeomError> {
        check_indices("triangle", mesh.positions.len(), &mesh.triangles)?;
        if let Some(v) = mesh.positions.iter().position(|p| !p.is_finite()) {
            let problem =
                format!("vertex {v} is at {}: repair the motion that put it there", mesh.positions[v]);
            return Err(GeomError::Mesh { operation: "wedges", problem });
        }
        let least = Self::least_thickness(&mesh.bounds());
        if !(thickness >= least && thickness.is_finite()) {
            return Err(GeomError::Parameter {
                of: "wedges",
                name: "thickness",
                value: thickness,
                allowed: format!("at least {least:e} [m] at this distance from the origin"),
            });
        }
        let wedges = par::map(mesh.triangles.len(), |t| Wedge::new(mesh.corners(t)));
        Ok(Self { wedges, half: 0.5 * thickness })
    }

    /// The smallest thickness that encloses the rounding of positions in a scene of the given extent [m]:
    /// 4096 units in the last place of its largest coordinate.
    pub fn least_thickness(scene: &Aabb) -> f64 {
        let largest = scene.min.abs().max(scene.max.abs()).max_element();
        if scene.is_empty() { 0.0 } else { 4096.0 * f64::EPSILON * largest }
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.wedges.len()
    }

    /// Whether there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.wedges.is_empty()
    }

    /// Thickness ε of the wedges [m].
    pub fn thickness(&self) -> f64 {
        2.0 * self.half
    }

    /// The box around the wedge of triangle `t`; hierarchies that answer [`Self::sight`] are built over
    /// these.
    pub fn bounds(&self, t: usize) -> Aabb {
        self.wedges[t].bounds.inflated(self.half)
    }

    /// The box around the doubled wedge of triangle `t`; hierarchies that answer [`Self::clip`] are built
    /// over these.
    pub fn doubled_bounds(&self, t: usize) -> Aabb {
        self.wedges[t].bounds.inflated(2.0 * self.half)
    }

    /// How `to` appears from `from`, looking past the wedges of the candidates.
    ///
    /// `candidates` calls its argument with the number of every triangle whose [`Self::bounds`] meets the
    /// segment; more triangles, any order and repetitions do no harm. A reference point inside a wedge sees
    /// nothing.
    pub fn sight(&self, from: Vec3, to: Vec3, candidates: impl Fn(&mut dyn FnMut(u32))) -> Sight {
        let mut first: Option<(f64, u32)> = None;
        let mut inside = false;
        candidates(&mut |t| {
            let wedge = &self.wedges[t as usize];
            if let Some(s) = wedge.entry(from, to, self.half) {
                first = earlier(first, (s, t));
                inside |= wedge.depth(to) <= self.half;
            }
        });
        let visibility = match first {
            None => Visibility::Visible,
            Some(_) if inside => Visibility::Inside,
            Some(_) => Visibility::Occluded,
        };
        Sight { visibility, hit: first.map(|(s, t)| self.hit(from, to, s, t)) }
    }

    /// The path from `from` to `to`, cut where it enters a doubled wedge ([Gue06] 6.3.2).
    ///
    /// The end is visible from `from` and outside every wedge. A path that starts within 1½ ε of the surface
    /// may move away or along; moving closer it is cut halfway between its start and the wedges. A path that
    /// starts inside a wedge stays put. `candidates` calls its argument with every triangle whose
    /// [`Self::doubled_bounds`] meets the segment.
    pub fn clip(&self, from: Vec3, to: Vec3, candidates: impl Fn(&mut dyn FnMut(u32))) -> ClippedPath {
        // The half-thickness to stop at: ε, or less where the path starts close to the surface.
        let mut nearest = 3.0 * self.half;
        candidates(&mut |t| nearest = nearest.min(self.wedges[t as usize].depth(from)));
        let level = 0.5 * (self.half + nearest);

        let mut first: Option<(f64, u32)> = None;
        candidates(&mut |t| {
            let wedge = &self.wedges[t as usize];
            if let Some(s) = wedge.entry(from, to, level.max(self.half)) {
                first = earlier(first, (s, t));
            }
        });
        let Some((s, t)) = first else { return ClippedPath { end: to, hit: None } };
        // Close to a wedge rounding may carry the end into it; then the path stays where it is.
        let end = from.lerp(to, s);
        let s = if self.containing(end, candidates).is_some() { 0.0 } else { s };
        ClippedPath { end: if s == 0.0 { from } else { end }, hit: Some(self.hit(from, to, s, t)) }
    }

    /// The lowest triangle whose wedge holds `point`.
    ///
    /// `candidates` calls its argument with every triangle whose [`Self::bounds`] holds the point.
    pub fn containing(&self, point: Vec3, candidates: impl Fn(&mut dyn FnMut(u32))) -> Option<u32> {
        let mut lowest = None;
        candidates(&mut |t| {
            if self.wedges[t as usize].depth(point) <= self.half {
                lowest = Some(lowest.map_or(t, |l: u32| l.min(t)));
            }
        });
        lowest
    }

    fn hit(&self, from: Vec3, to: Vec3, fraction: f64, triangle: u32) -> WedgeHit {
        let weights = point_triangle(from.lerp(to, fraction), self.wedges[triangle as usize].corners).weights;
        WedgeHit { triangle, fraction, weights }
    }
}

/// A surface of wedges with a box hierarchy, for many sight lines past many triangles ([Gue06] 6.2.3).
#[derive(Clone, Debug)]
pub struct WedgeTree {
    wedges: Wedges,
    tree: Bvh<1>,
}

impl WedgeTree {
    /// Builds wedges of thickness `thickness` (ε) [m] around the triangles of `mesh` and a hierarchy over
    /// them.
    ///
    /// # Errors
    /// See [`Wedges::new`].
    pub fn new(mesh: &TriMesh, thickness: f64) -> Result<Self, GeomError> {
        let wedges = Wedges::new(mesh, thickness)?;
        let centres: Vec<Vec3> = wedges.wedges.iter().map(|w| w.bounds.centre()).collect();
        let mut tree = Self { wedges, tree: Bvh::from_centres(&centres) };
        tree.refit(mesh);
        Ok(tree)
    }

    /// Follows the mesh to new positions, keeping thickness, triangles and the shape of the hierarchy.
    ///
    /// # Errors
    /// When the number of triangles has changed, or as for [`Wedges::new`]; the surface then stays as it was.
    pub fn follow(&mut self, mesh: &TriMesh) -> Result<(), GeomError> {
        let (have, now) = (self.wedges.len(), mesh.triangles.len());
        if have != now {
            let problem = format!("the mesh had {have} triangles and now has {now}: build a new tree");
            return Err(GeomError::Mesh { operation: "wedge tree", problem });
        }
        self.wedges = Wedges::new(mesh, self.wedges.thickness())?;
        self.refit(mesh);
        Ok(())
    }

    fn refit(&mut self, mesh: &TriMesh) {
        let wedges = &self.wedges;
        self.tree.refit(mesh.local_origin(), |t| ([wedges.doubled_bounds(t)], 0.0));
    }

    /// The wedges themselves.
    pub fn wedges(&self) -> &Wedges {
        &self.wedges
    }

    /// How `to` appears from `from`; see [`Wedges::sight`].
    pub fn sight(&self, from: Vec3, to: Vec3) -> Sight {
        let half = self.wedges.half;
        let entry = |t: u32| self.wedges.wedges[t as usize].entry(from, to, half);
        let first = self.tree.ray(from, to - from, 1.0, entry);
        let visibility = match first {
            None => Visibility::Visible,
            Some(_) if self.containing(to).is_some() => Visibility::Inside,
            Some(_) => Visibility::Occluded,
        };
        Sight { visibility, hit: first.map(|h| self.wedges.hit(from, to, h.t, h.primitive)) }
    }

    /// The path from `from` to `to`, cut where it enters a doubled wedge; see [`Wedges::clip`].
    pub fn clip(&self, from: Vec3, to: Vec3) -> ClippedPath {
        let reach = [Aabb::of_points(&[from, to])];
        self.wedges.clip(from, to, |visit| self.tree.overlapping(&reach, visit))
    }

    /// The lowest triangle whose wedge holds `point`.
    pub fn containing(&self, point: Vec3) -> Option<u32> {
        let reach = [Aabb { min: point, max: point }];
        self.wedges.containing(point, |visit| self.tree.overlapping(&reach, visit))
    }
}

/// The earlier of two entries; at equal fractions the lower triangle.
fn earlier(a: Option<(f64, u32)>, b: (f64, u32)) -> Option<(f64, u32)> {
    match a {
        Some(a) if (a.0, a.1) <= (b.0, b.1) => Some(a),
        _ => Some(b),
    }
}

/// A triangle as an intersection of half-spaces, not yet thickened.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wedge {
    corners: [Vec3; 3],
    /// Unit directions: ± the normal and one outward across each edge.
    directions: [Vec3; 5],
    /// Largest value of direction · (corner − first corner), for each direction.
    support: [f64; 5],
    bounds: Aabb,
}

impl Wedge {
    fn new(corners: [Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        let edges = [b - a, c - b, a - c];
        let longest = edges
            .into_iter()
            .fold(Vec3::ZERO, |l, e| if e.length_squared() > l.length_squared() { e } else { l });
        let normal = edges[0]
            .cross(edges[1])
            .try_normalize()
            .unwrap_or_else(|| longest.try_normalize().map_or(Vec3::Z, |l| l.any_orthonormal_vector()));
        // A side without length borrows the direction of the longest: any direction bounds the triangle.
        let across = edges.map(|e| e.cross(normal).try_normalize().unwrap_or(normal));
        let directions = [normal, -normal, across[0], across[1], across[2]];
        let support =
            directions.map(|n| corners.iter().map(|&p| n.dot(p - a)).fold(f64::NEG_INFINITY, f64::max));
        Self { corners, directions, support, bounds: Aabb::of_points(&corners) }
    }

    /// The half-thickness of the smallest wedge that holds `p`, zero or negative on the triangle.
    fn depth(&self, p: Vec3) -> f64 {
        let beyond_box = (self.bounds.min - p).max(p - self.bounds.max).max_element();
        let r = p - self.corners[0];
        (0..5).fold(beyond_box, |d, k| d.max(self.directions[k].dot(r) - self.support[k]))
    }

    /// Fraction at which the segment enters the wedge of half-thickness `half`, zero if it starts inside.
    ///
    /// On lines so long that their rounding exceeds the thickness the wedge grows to enclose it.
    fn entry(&self, from: Vec3, to: Vec3, half: f64) -> Option<f64> {
        let (r0, r1) = (from - self.corners[0], to - self.corners[0]);
        // Each product below is off by at most 3 units in the last place of the sum of these lengths, each
        // quotient of two of them by a few more.
        let half = half.max(16.0 * f64::EPSILON * (r0.abs().element_sum() + r1.abs().element_sum()));
        let mut span = Span { enter: 0.0, leave: 1.0 };
        for axis in 0..3 {
            let (lo, hi) = (self.bounds.min[axis], self.bounds.max[axis]);
            span.cut(from[axis] - hi - half, to[axis] - hi - half)?;
            span.cut(lo - from[axis] - half, lo - to[axis] - half)?;
        }
        for (n, support) in self.directions.iter().zip(self.support) {
            span.cut(n.dot(r0) - support - half, n.dot(r1) - support - half)?;
        }
        Some(span.enter)
    }
}

/// The part of a segment left by the half-spaces seen so far.
struct Span {
    enter: f64,
    leave: f64,
}

impl Span {
    /// Keeps the part where the linear function with end values `s0` and `s1` is not positive.
    fn cut(&mut self, s0: f64, s1: f64) -> Option<()> {
        if s0 > 0.0 {
            if s1 > 0.0 {
                return None;
            }
            self.enter = self.enter.max(s0 / (s0 - s1));
        } else if s1 > 0.0 {
            self.leave = self.leave.min(s0 / (s0 - s1));
        }
        (self.enter <= self.leave).then_some(())
    }
}
