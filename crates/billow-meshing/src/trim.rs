//! Surface meshes with a border: the part of a surface inside a second level set ([Bri03] 5.7, figure 5.9).
//!
//! Triangles whose middle is inside the trimming level set are kept, loose ends are dropped until the border is a manifold, and
//! the border is moved along the surface onto the trim curve while triangles keep their shapes: the mesher's theme, one
//! dimension down. Edges are swapped where that makes the worse of two triangles better. Every vertex stays on the surface.

use crate::MeshingError;
use billow_geom::TriMesh;
use billow_geom::mesh::Topology;
use billow_levelset::Collider;
use billow_num::Vec3;

/// How a surface is trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trim {
    /// Sweeps over the vertices near the border in each round; 10 by default.
    pub sweeps: u32,
    /// Rings of vertices behind the border that move along; 3 by default.
    pub rings: u32,
    /// Rounds of sweeps, each followed by swaps of edges; 4 by default.
    pub rounds: u32,
}

impl Default for Trim {
    fn default() -> Self {
        Self { sweeps: 10, rings: 3, rounds: 4 }
    }
}

/// The part of `surface`, which lies on the zero set of `solid`, where `trimmer` is negative.
///
/// # Errors
/// If nothing is left.
pub fn trim(
    surface: &TriMesh,
    solid: &dyn Collider,
    trimmer: &dyn Collider,
    config: &Trim,
) -> Result<TriMesh, MeshingError> {
    let phi: Vec<f64> = surface.positions.iter().map(|x| trimmer.phi(*x, 0.0)).collect();
    if let Some(n) = phi.iter().position(|p| !p.is_finite()) {
        return Err(MeshingError::NotFinite { at: surface.positions[n].to_array() });
    }
    let mut mesh = keep(surface, &phi)?;
    for round in 0..config.rounds {
        let topology = mesh.topology().map_err(|e| MeshingError::Topology { problem: e.to_string() })?;
        let depth = rings(&mesh, &topology, config.rings);
        for _ in 0..config.sweeps {
            // Gently at first, then all the way.
            let part = if round == 0 { 1.0 / 3.0 } else { 1.0 };
            for n in 0..mesh.positions.len() {
                if depth[n] <= config.rings {
                    mesh.positions[n] = moved(&mesh, &topology, n, depth[n] == 0, part, [solid, trimmer]);
                }
            }
        }
        if round + 1 < config.rounds {
            swap_edges(&mut mesh, &topology, |n| depth[n as usize] <= config.rings, solid);
        }
    }
    Ok(mesh)
}

/// Swaps each edge between triangles near the border whose worse one gets better by that, as long as no triangle is
/// used twice.
fn swap_edges(mesh: &mut TriMesh, topology: &Topology, near: impl Fn(u32) -> bool, solid: &dyn Collider) {
    let mut touched = vec![false; mesh.triangles.len()];
    for edge in 0..topology.edges().len() as u32 {
        let [a, b] = topology.edges()[edge as usize];
        let &[s, t] = topology.edge_triangles(edge) else { continue };
        if touched[s as usize] || touched[t as usize] || !near(a) || !near(b) {
            continue;
        }
        // Turned so that the first triangle has the edge from a to b, the second from b to a.
        let apex = |t: u32| mesh.triangles[t as usize].into_iter().find(|n| *n != a && *n != b);
        let (Some(c), Some(d)) = (apex(s), apex(t)) else { continue };
        let follows = |t: u32| {
            let corners = mesh.triangles[t as usize];
            (0..3).any(|k| corners[k] == a && corners[(k + 1) % 3] == b)
        };
        let (c, d) = if follows(s) { (c, d) } else { (d, c) };
        // A border vertex keeps two triangles at least, and no edge is made twice.
        let spare = |n: u32| topology.vertex_triangles(n).len() > 3;
        if topology.edge_between(c, d).is_some() || !spare(a) || !spare(b) {
            continue;
        }
        let x = |n: u32| mesh.positions[n as usize];
        let normal = solid.normal(0.5 * (x(a) + x(b)), 0.0);
        let worse = |pair: [[u32; 3]; 2]| {
            pair.map(|t| triangle_quality(t.map(x), normal)).into_iter().fold(f64::INFINITY, f64::min)
        };
        let (now, swapped) = ([[a, b, c], [b, a, d]], [[a, d, c], [b, c, d]]);
        if worse(swapped) > 1.05 * worse(now).max(0.0) {
            (touched[s as usize], touched[t as usize]) = (true, true);
            // The neighbours' topology is stale for the rest of this pass.
            for n in [a, b, c, d] {
                topology.vertex_triangles(n).iter().for_each(|t| touched[*t as usize] = true);
            }
            [mesh.triangles[s as usize], mesh.triangles[t as usize]] = swapped;
        }
    }
}

/// Keeps the triangles whose centre is inside, then drops whatever makes the border touch itself.
fn keep(surface: &TriMesh, phi: &[f64]) -> Result<TriMesh, MeshingError> {
    let inside = |t: &[u32; 3]| t.iter().map(|n| phi[*n as usize]).sum::<f64>() < 0.0;
    let mut kept: Vec<u32> =
        (0..surface.triangles.len() as u32).filter(|t| inside(&surface.triangles[*t as usize])).collect();
    // Each pass drops a triangle at least.
    loop {
        let part = surface.extract(&kept);
        if kept.is_empty() {
            let deepest = phi.iter().copied().fold(f64::INFINITY, f64::min);
            return Err(MeshingError::Empty { finest: 0.0, deepest });
        }
        let topology = part.mesh.topology().map_err(|e| MeshingError::Topology { problem: e.to_string() })?;
        let loose = loose_triangles(&part.mesh, &topology);
        if loose.iter().all(|l| !l) {
            return Ok(part.mesh);
        }
        kept = kept.iter().zip(&loose).filter(|(_, loose)| !**loose).map(|(t, _)| *t).collect();
    }
}

/// Triangles with two border edges or more, and those at vertices where the border touches itself.
fn loose_triangles(mesh: &TriMesh, topology: &Topology) -> Vec<bool> {
    let mut border_edges = vec![0; mesh.triangles.len()];
    for edge in topology.boundary_edges() {
        topology.edge_triangles(edge).iter().for_each(|t| border_edges[*t as usize] += 1);
    }
    let mut loose: Vec<bool> = border_edges.iter().map(|n| *n >= 2).collect();
    for vertex in topology.non_manifold_vertices() {
        topology.vertex_triangles(vertex).iter().for_each(|t| loose[*t as usize] = true);
    }
    loose
}

/// Steps from the border to each vertex, up to one more than `most`.
fn rings(mesh: &TriMesh, topology: &Topology, most: u32) -> Vec<u32> {
    let mut depth = vec![most + 1; mesh.positions.len()];
    for edge in topology.boundary_edges() {
        topology.edges()[edge as usize].iter().for_each(|n| depth[*n as usize] = 0);
    }
    for ring in 0..most {
        for n in 0..depth.len() {
            if depth[n] == ring {
                for m in topology.vertex_vertices(n as u32) {
                    depth[*m as usize] = depth[*m as usize].min(ring + 1);
                }
            }
        }
    }
    depth
}

/// Triangles may get worse down to this ratio of shortest altitude to longest edge [-].
const FLOOR: f64 = 0.25;

/// Where a vertex goes: border vertices towards the trim curve and the middle of their border neighbours, others towards
/// the middle of all neighbours; back onto the surface; and only if no triangle gets worse than it may.
fn moved(
    mesh: &TriMesh,
    topology: &Topology,
    n: usize,
    border: bool,
    part: f64,
    [solid, trimmer]: [&dyn Collider; 2],
) -> Vec3 {
    let start = mesh.positions[n];
    let neighbours = topology.vertex_vertices(n as u32);
    let beside = |m: &&u32| {
        !border || topology.edge_between(n as u32, **m).is_some_and(|e| topology.edge_triangles(e).len() == 1)
    };
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for m in neighbours.iter().filter(beside) {
        sum += mesh.positions[*m as usize];
        count += 1.0;
    }
    let middle = if count > 0.0 { sum / count } else { start };
    let normal = solid.normal(start, 0.0);
    let tangent = |v: Vec3| v - v.dot(normal) * normal;
    let mut by = 0.3 * tangent(middle - start);
    if border {
        // Along the trimming gradient within the surface, as a Newton step; the smoothing runs along the curve.
        let gradient = tangent(trimmer.normal(start, 0.0));
        let g2 = gradient.length_squared();
        if g2 > 0.01 {
            by -= by.dot(gradient) / g2 * gradient;
            by -= part * trimmer.phi(start, 0.0) / g2 * gradient;
        }
    }
    let shape = |p: Vec3| {
        let one = |t: &u32| {
            let corners = mesh.triangles[*t as usize]
                .map(|m| if m as usize == n { p } else { mesh.positions[m as usize] });
            triangle_quality(corners, normal)
        };
        topology.vertex_triangles(n as u32).iter().map(one).fold(f64::INFINITY, f64::min)
    };
    let floor = shape(start).min(FLOOR);
    for _ in 0..4 {
        let mut p = start + by;
        for _ in 0..3 {
            let sample = solid.sample(p, 0.0);
            p -= sample.phi * sample.normal;
        }
        if shape(p) >= floor {
            return p;
        }
        by *= 0.5;
    }
    start
}

/// Shortest altitude over longest edge, negative when turned over [-].
fn triangle_quality([a, b, c]: [Vec3; 3], normal: Vec3) -> f64 {
    let area2 = (b - a).cross(c - a);
    let longest2 = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    area2.length() / longest2 * area2.dot(normal).signum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::{Ball, HalfSpace};

    #[test]
    fn a_trimmed_ball_keeps_to_the_ball_and_ends_on_the_plane() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let surface = billow_geom::shapes::icosphere(1.0, 16).unwrap();
        let plane = HalfSpace::new(Vec3::Z * 0.13, Vec3::new(0.2, 0.1, 1.0).normalize()).unwrap();
        let cap = trim(&surface, &ball, &plane, &Trim::default()).unwrap();
        let topology = cap.topology().unwrap();
        assert!(topology.is_manifold() && topology.boundary_loops().len() == 1);
        assert!(cap.positions.iter().all(|x| ball.phi(*x, 0.0).abs() < 1e-9));
        for edge in topology.boundary_edges() {
            for n in topology.edges()[edge as usize] {
                let gap = plane.phi(cap.positions[n as usize], 0.0);
                assert!(gap.abs() < 2e-3, "{gap}");
            }
        }
        // Nothing is folded, and no triangle is a needle.
        for t in 0..cap.triangles.len() {
            let [a, b, c] = cap.corners(t);
            assert!(triangle_quality([a, b, c], (a + b + c).normalize()) > 0.25);
        }
        // The zone of a sphere below a plane at height h has area 2π (1 + h).
        let height = plane.phi(Vec3::ZERO, 0.0).abs();
        let truth = std::f64::consts::TAU * (1.0 + height);
        assert!((cap.area() / truth - 1.0).abs() < 0.01, "{} against {truth}", cap.area());
    }

    #[test]
    fn trimming_everything_away_is_refused() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let surface = billow_geom::shapes::icosphere(1.0, 4).unwrap();
        let far = Ball::new(Vec3::X * 9.0, 1.0).unwrap();
        assert!(matches!(trim(&surface, &ball, &far, &Trim::default()), Err(MeshingError::Empty { .. })));
    }
}
