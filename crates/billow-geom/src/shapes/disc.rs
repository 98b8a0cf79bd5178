//! A round sheet of even triangles.

use super::{counts, fits, positive, require};
use crate::{GeomError, TriMesh};
use billow_num::Vec3;
use std::f64::consts::TAU;

/// A disc of radius `radius` in the plane z = 0, facing +z, with a hole of radius `hole` (none if 0) [m].
///
/// `rings` bands of equal width run from the hole to the rim; every circle carries as many nodes as fit at that
/// distance, so that all triangles are about the same size. The number of nodes grows like `rings²`.
///
/// # Errors
/// When the radius is not positive, the hole is not smaller than it, or there is no ring.
pub fn disc(radius: f64, hole: f64, rings: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "disc";
    positive(OF, &[("radius", radius)])?;
    require(hole >= 0.0 && hole < radius, OF, "hole", hole, "at least 0 and below the radius [m]")?;
    counts(OF, &[("rings", rings, 1)])?;
    let width = (radius - hole) / f64::from(rings);
    let nodes = |r: f64| ((TAU * r / width).round() as u32).max(6);
    let all: u64 = (0..=rings).map(|k| u64::from(nodes(hole + width * f64::from(k)))).sum();
    fits(OF, all)?;
    let mut mesh = TriMesh::default();
    let mut inner = circle(&mut mesh, hole, if hole == 0.0 { 1 } else { nodes(hole) }, 0);
    for k in 1..=rings {
        let r = hole + width * f64::from(k);
        let outer = circle(&mut mesh, r, nodes(r), k);
        join(&mut mesh, inner.clone(), outer.clone());
        inner = outer;
    }
    Ok(mesh)
}

/// Adds `n` nodes on a circle, every other circle turned by half a step; returns their numbers.
fn circle(mesh: &mut TriMesh, r: f64, n: u32, k: u32) -> std::ops::Range<u32> {
    let first = mesh.positions.len() as u32;
    let shift = if k % 2 == 1 { 0.5 } else { 0.0 };
    mesh.positions.extend((0..n).map(|i| {
        let (s, c) = (TAU * (f64::from(i) + shift) / f64::from(n)).sin_cos();
        Vec3::new(r * c, r * s, 0.0)
    }));
    first..first + n
}

/// Fills the band between two circles with triangles: of the two possible next ones, always that whose new node comes
/// first.
fn join(mesh: &mut TriMesh, inner: std::ops::Range<u32>, outer: std::ops::Range<u32>) {
    let (a, b) = (inner.len() as u32, outer.len() as u32);
    if a == 1 {
        mesh.triangles.extend((0..b).map(|i| [inner.start, outer.start + i, outer.start + (i + 1) % b]));
        return;
    }
    let angle = |p: Vec3| p.y.atan2(p.x).rem_euclid(TAU);
    // Angles that go on increasing past a full turn.
    let at = |ring: &std::ops::Range<u32>, i: u32, n: u32| {
        angle(mesh.positions[(ring.start + i % n) as usize]) + TAU * f64::from(i / n)
    };
    let mut band = Vec::with_capacity((a + b) as usize);
    let (mut i, mut j) = (0, 0);
    while i < a || j < b {
        let (p, q) = (inner.start + i % a, outer.start + j % b);
        if j == b || (i < a && at(&inner, i + 1, a) <= at(&outer, j + 1, b)) {
            band.push([p, q, inner.start + (i + 1) % a]);
            i += 1;
        } else {
            band.push([p, q, outer.start + (j + 1) % b]);
            j += 1;
        }
    }
    mesh.triangles.extend(band);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{MeshReport, Topology};
    use std::f64::consts::PI;

    #[test]
    fn discs_are_flat_even_and_face_up() {
        for (radius, hole, rings) in [(1.0, 0.0, 1), (1.0, 0.0, 12), (0.9, 0.12, 30), (2.0, 1.5, 3)] {
            let mesh = disc(radius, hole, rings).unwrap();
            let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
            let report = MeshReport::new(&mesh);
            assert!(topology.is_manifold() && topology.is_oriented() && report.zero_area.is_empty());
            assert_eq!(topology.euler_characteristic(), if hole == 0.0 { 1 } else { 0 });
            let normal = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                (b - a).cross(c - a)
            };
            assert!(mesh.triangles.iter().all(|t| normal(t).z > 0.0));
            let exact = PI * (radius * radius - hole * hole);
            assert!(mesh.area() <= exact && mesh.area() > 0.8 * exact, "{} of {exact}", mesh.area());
            if rings > 5 {
                let areas = mesh.triangles.iter().map(|t| normal(t).z);
                let (low, high) = areas.fold((f64::MAX, 0.0f64), |(l, h), a| (l.min(a), h.max(a)));
                assert!(high / low < 4.0, "{low} … {high}");
            }
        }
        assert!(disc(1.0, 1.0, 4).is_err() && disc(0.0, 0.0, 4).is_err() && disc(1.0, 0.0, 0).is_err());
    }
}
