//! What is wrong with a mesh, element by element, and how to repair it.
//!
//! Reports accept any input: indices out of range and positions that are not numbers are findings, not
//! failures. Collinearity and inversion are decided by exact arithmetic, duplicate vertices by exact equality
//! of positions. Connectivity is judged on the triangles whose indices make sense. A closed component should
//! face outward at even nesting depth and inward at odd depth, so cavities are not mistaken for inside-out
//! bodies.

use super::csr::Groups;
use super::facing::Facing;
use super::{Topology, TriMesh, VertexKind};
use crate::predicates::projection_axis;
use billow_num::{Vec3, par};

/// Aspect (longest edge over the height upon it) from which a triangle counts as a sliver; an equilateral one
/// has 1.15.
pub const SLIVER_ASPECT: f64 = 1e3;

/// A triangle much longer than high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sliver {
    /// The triangle.
    pub triangle: u32,
    /// Longest edge over the height upon it [-].
    pub aspect: f64,
}

/// Everything found in a triangle mesh. Each list ascends; an empty list means no such problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Triangles that name vertices that do not exist.
    pub out_of_range: Vec<u32>,
    /// Vertices whose position is not finite.
    pub non_finite: Vec<u32>,
    /// Triangles that name one vertex twice.
    pub repeated_index: Vec<u32>,
    /// Triangles of three distinct vertices that lie exactly on a line.
    pub zero_area: Vec<u32>,
    /// Triangles with aspect of at least [`SLIVER_ASPECT`].
    pub slivers: Vec<Sliver>,
    /// Vertices at exactly the position of an earlier one, which follows: `[later, earliest]`.
    pub duplicate_vertices: Vec<[u32; 2]>,
    /// Triangles on the same three vertices as an earlier one, which follows: `[later, earliest]`.
    pub duplicate_triangles: Vec<[u32; 2]>,
    /// Vertices that no triangle uses.
    pub unused_vertices: Vec<u32>,
    /// Edges of more than two triangles, by their end vertices.
    pub non_manifold_edges: Vec<[u32; 2]>,
    /// Vertices whose triangles do not form one fan.
    pub non_manifold_vertices: Vec<u32>,
    /// Edges whose two triangles disagree about outside, by their end vertices.
    pub inconsistent_edges: Vec<[u32; 2]>,
    /// Edges of one triangle only, by their end vertices.
    pub boundary_edges: Vec<[u32; 2]>,
    /// Closed components that face the wrong way, each named by its lowest triangle.
    pub inside_out: Vec<u32>,
    /// Number of components connected through edges.
    pub components: usize,
}

impl MeshReport {
    /// Examines a mesh.
    pub fn new(mesh: &TriMesh) -> Self {
        let n = mesh.positions.len();
        let in_range = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < n);
        let distinct = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let good: Vec<u32> = numbers(&mesh.triangles, |t| in_range(t) && distinct(t));
        let mut report = Self {
            vertices: n,
            triangles: mesh.triangles.len(),
            out_of_range: numbers(&mesh.triangles, |t| !in_range(t)),
            non_finite: numbers(&mesh.positions, |p| !p.is_finite()),
            repeated_index: numbers(&mesh.triangles, |t| in_range(t) && !distinct(t)),
            duplicate_vertices: duplicate_vertices(&mesh.positions),
            ..Self::default()
        };
        report.judge_shapes(mesh, &good);
        report.judge_connectivity(mesh, &good);
        report
    }

    /// Whether every edge has exactly two triangles.
    pub fn is_closed(&self) -> bool {
        self.has_valid_indices() && self.boundary_edges.is_empty() && self.non_manifold_edges.is_empty()
    }

    /// Whether the triangles at every vertex form one fan; boundaries are allowed.
    pub fn is_manifold(&self) -> bool {
        self.has_valid_indices()
            && self.non_manifold_edges.is_empty()
            && self.non_manifold_vertices.is_empty()
    }

    /// Whether neighbours agree on which side is outside.
    pub fn is_oriented(&self) -> bool {
        self.has_valid_indices() && self.inconsistent_edges.is_empty() && self.non_manifold_edges.is_empty()
    }

    /// Whether the mesh is closed, manifold and faces outward: it bounds a solid.
    pub fn is_solid(&self) -> bool {
        self.is_closed() && self.is_manifold() && self.is_oriented() && self.inside_out.is_empty()
    }

    /// Whether indices and positions can be computed with at all.
    pub fn has_valid_indices(&self) -> bool {
        self.out_of_range.is_empty() && self.repeated_index.is_empty() && self.non_finite.is_empty()
    }

    /// Whether nothing is wrong; an open boundary is no fault.
    pub fn is_clean(&self) -> bool {
        self.problems().is_empty()
    }

    /// Finds degenerate triangles and slivers among those with good indices.
    fn judge_shapes(&mut self, mesh: &TriMesh, good: &[u32]) {
        let finite = |t: u32| mesh.corners(t as usize).iter().all(|p| p.is_finite());
        let found = par::gather(good.len(), par::CHUNK, |range, out| {
            for &triangle in good[range].iter().filter(|&&t| finite(t)) {
                let aspect = aspect(mesh.corners(triangle as usize));
                if aspect >= SLIVER_ASPECT {
                    out.push(Sliver { triangle, aspect });
                }
            }
        });
        let (flat, slivers): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|s| is_collinear(mesh.corners(s.triangle as usize)));
        self.zero_area = flat.iter().map(|s| s.triangle).collect();
        self.slivers = slivers;
        self.duplicate_triangles = duplicates(mesh.positions.len(), good.len(), |i| {
            let mut t = mesh.triangles[good[i] as usize];
            t.sort_unstable();
            (t[0], u64::from(t[1]) << 32 | u64::from(t[2]))
        })
        .into_iter()
        .map(|p| p.map(|i| good[i as usize]))
        .collect();
        self.duplicate_triangles.sort_unstable();
    }

    /// Judges edges, fans and orientation of the triangles with good indices.
    fn judge_connectivity(&mut self, mesh: &TriMesh, good: &[u32]) {
        let triangles: Vec<[u32; 3]> = good.iter().map(|&t| mesh.triangles[t as usize]).collect();
        let Ok(topology) = Topology::new(mesh.positions.len(), &triangles) else { return };
        let ends = |edges: Vec<u32>| edges.iter().map(|&e| topology.edges()[e as usize]).collect();
        self.unused_vertices = numbers(topology.vertex_kinds(), |k| *k == VertexKind::Unused);
        self.non_manifold_edges = ends(topology.non_manifold_edges());
        self.non_manifold_vertices = topology.non_manifold_vertices();
        self.inconsistent_edges = ends(topology.inconsistent_edges());
        self.boundary_edges = ends(topology.boundary_edges());
        let components = topology.components();
        self.components = components.count();
        if self.non_finite.is_empty() {
            let part = TriMesh { positions: mesh.positions.clone(), triangles };
            let facing = Facing::new(&part, &topology, &components);
            self.inside_out = (0..components.count() as u32)
                .filter(|&c| facing.is_wrong(c))
                .map(|c| good[components.triangles(c)[0] as usize])
                .collect();
        }
    }

    /// One row per kind of problem found: how many, what, which (first few), and what to do.
    fn problems(&self) -> Vec<Problem> {
        let slivers: Vec<String> =
            self.slivers.iter().map(|s| format!("{} (aspect {:.3e})", s.triangle, s.aspect)).collect();
        let rows = [
            Problem::of(
                "triangles name missing vertices",
                &self.out_of_range,
                "correct the indices or let `repair::repair` drop the triangles",
            ),
            Problem::of(
                "vertices are not finite",
                &self.non_finite,
                "correct the positions; nothing can be computed from them",
            ),
            Problem::of(
                "triangles name a vertex twice",
                &self.repeated_index,
                "remove them (`repair::remove_degenerate`)",
            ),
            Problem::of(
                "triangles have no area",
                &self.zero_area,
                "remove them (`repair::remove_degenerate`) or weld (`repair::weld`)",
            ),
            Problem::of(
                "triangles are slivers",
                &slivers,
                "remesh; continuous collision tests lose accuracy here",
            ),
            Problem::of_pairs(
                "vertices repeat an earlier position",
                &self.duplicate_vertices,
                " repeats ",
                "weld them (`repair::weld`)",
            ),
            Problem::of_pairs(
                "triangles repeat an earlier one",
                &self.duplicate_triangles,
                " repeats ",
                "remove them (`repair::remove_duplicates`)",
            ),
            Problem::of(
                "vertices are unused",
                &self.unused_vertices,
                "remove them (`repair::remove_unused`)",
            ),
            Problem::of_pairs(
                "edges have more than two triangles",
                &self.non_manifold_edges,
                "–",
                "split the mesh there or remove the extra triangles",
            ),
            Problem::of(
                "vertices join separate fans",
                &self.non_manifold_vertices,
                "duplicate the vertex, one copy per fan (`repair::split_fans`)",
            ),
            Problem::of_pairs(
                "edges have inconsistent orientation",
                &self.inconsistent_edges,
                "–",
                "orient the mesh (`repair::orient`)",
            ),
            Problem::of(
                "closed components are inside out (lowest triangle given)",
                &self.inside_out,
                "orient the mesh (`repair::orient`)",
            ),
        ];
        rows.into_iter().filter(|p| p.count > 0).collect()
    }
}

/// One kind of problem, for display.
pub(super) struct Problem {
    pub(super) count: usize,
    pub(super) what: &'static str,
    pub(super) which: String,
    pub(super) remedy: &'static str,
}

impl Problem {
    /// How many elements are named in full.
    const SHOWN: usize = 5;

    pub(super) fn of<T: ToString>(what: &'static str, list: &[T], remedy: &'static str) -> Self {
        let mut which = list.iter().take(Self::SHOWN).map(T::to_string).collect::<Vec<_>>().join(", ");
        if list.len() > Self::SHOWN {
            which.push_str(", …");
        }
        Self { count: list.len(), what, which, remedy }
    }

    pub(super) fn of_pairs(
        what: &'static str,
        list: &[[u32; 2]],
        between: &str,
        remedy: &'static str,
    ) -> Self {
        let shown: Vec<String> = list.iter().map(|[a, b]| format!("{a}{between}{b}")).collect();
        Self::of(what, &shown, remedy)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "  {} {}: {}; {}", self.count, self.what, self.which, self.remedy)
    }
}

impl std::fmt::Display for MeshReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} vertices, {} triangles, {} components",
            self.vertices, self.triangles, self.components
        )?;
        let open = self.boundary_edges.len();
        if open > 0 {
            write!(f, "; open, {open} boundary edges")?;
        } else if self.is_solid() {
            write!(f, "; closed solid")?;
        }
        let problems = self.problems();
        if problems.is_empty() {
            return write!(f, "; no problems");
        }
        problems.iter().try_for_each(|p| write!(f, "\n{p}"))
    }
}

/// Longest edge over the height upon it; infinite without area.
pub(super) fn aspect([a, b, c]: [Vec3; 3]) -> f64 {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    let double_area = (b - a).cross(c - a).length();
    if double_area > 0.0 { longest / double_area } else { f64::INFINITY }
}

/// Whether three points lie exactly on a line.
pub(super) fn is_collinear([a, b, c]: [Vec3; 3]) -> bool {
    projection_axis(a, b, c).is_none()
}

/// Positions in `list` of the items that satisfy `wanted`.
pub(super) fn numbers<T>(list: &[T], wanted: impl Fn(&T) -> bool) -> Vec<u32> {
    (0..list.len() as u32).filter(|&i| wanted(&list[i as usize])).collect()
}

/// `[later, earliest]` for items whose key occurred before.
fn duplicates<R: Ord + Copy + Default + Send + Sync>(
    buckets: usize,
    count: usize,
    key: impl Fn(usize) -> (u32, R),
) -> Vec<[u32; 2]> {
    let groups = Groups::new(buckets, count, key);
    groups.members.rows().flat_map(|row| row[1..].iter().map(move |&i| [i, row[0]])).collect()
}

/// `[later, earliest]` for vertices at exactly the same finite position.
pub(super) fn duplicate_vertices(positions: &[Vec3]) -> Vec<[u32; 2]> {
    // Adding zero makes −0 and +0 alike; then equal positions have equal bits.
    let bits = |v: u32| (positions[v as usize] + 0.0).to_array().map(f64::to_bits);
    let mut order = numbers(positions, |p| p.is_finite());
    order.sort_unstable_by_key(|&v| (bits(v), v));
    let mut found = Vec::new();
    for group in order.chunk_by(|&a, &b| bits(a) == bits(b)) {
        found.extend(group[1..].iter().map(|&v| [v, group[0]]));
    }
    found.sort_unstable();
    found
}
