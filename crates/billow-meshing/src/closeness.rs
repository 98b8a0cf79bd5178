//! How close two surfaces are: the two-sided Hausdorff distance, by samples ([Bri03] 5.6 asks for a close match).
//!
//! Vertices, edge middles and centres of one surface are measured against the triangles of the other and back.
//! Where it has many triangles only every so manieth is asked.

use billow_geom::bvh::Bvh;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, TriMesh};
use billow_num::{Vec3, par};

/// Distances between a mesh's boundary and the surface it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closeness {
    /// Largest distance from the boundary to the surface [m].
    pub out_to_in: f64,
    /// Largest distance from the surface to the boundary [m].
    pub in_to_out: f64,
    /// Where the surface is farthest from the boundary [m].
    pub worst_at: Vec3,
    /// Mean distance from the surface to the boundary [m].
    pub mean: f64,
    /// Diagonal of the surface's bounding box [m].
    pub diagonal: f64,
}

/// Triangles of a surface that are asked, at most.
const ASKED: usize = 60_000;

impl Closeness {
    /// Compares `boundary` with the reference `surface`.
    pub fn new(boundary: &TriMesh, surface: &TriMesh) -> Self {
        let (out_to_in, _, _) = farthest(boundary, surface);
        let (in_to_out, mean, worst_at) = farthest(surface, boundary);
        let used = surface.triangles.iter().flatten().map(|n| &surface.positions[*n as usize]);
        let diagonal = Aabb::of_points(used).size().length();
        Self { out_to_in, in_to_out, worst_at, mean, diagonal }
    }

    /// The larger of both distances over the diagonal [-].
    pub fn relative(&self) -> f64 {
        self.out_to_in.max(self.in_to_out) / self.diagonal
    }
}

/// Largest and mean distance from samples of `from` to `to`, and where it is largest.
fn farthest(from: &TriMesh, to: &TriMesh) -> (f64, f64, Vec3) {
    if from.triangles.is_empty() || to.triangles.is_empty() {
        return (f64::INFINITY, f64::INFINITY, Vec3::ZERO);
    }
    let boxes: Vec<Aabb> = par::map(to.triangles.len(), |t| Aabb::of_points(&to.corners(t)));
    let centres: Vec<Vec3> = boxes.iter().map(Aabb::centre).collect();
    let mut tree: Bvh<1> = Bvh::from_centres(&centres);
    tree.refit(centres[0], |t| ([boxes[t]], 0.0));
    let distance = |p: Vec3| {
        let to_triangle = |t: u32| point_triangle(p, to.corners(t as usize)).distance;
        tree.closest(p, f64::INFINITY, to_triangle).map_or(f64::INFINITY, |(_, d)| d)
    };
    let stride = from.triangles.len().div_ceil(ASKED);
    let count = from.triangles.len() / stride;
    // Three samples per triangle: a corner, the middle of an edge, the centre; corners turn by number.
    let samples = par::map(count, |k| {
        let [a, b, c] = from.corners(k * stride);
        let corner = [a, b, c][k % 3];
        [corner, 0.5 * (b + c), (a + b + c) / 3.0]
            .map(|p| (distance(p), p))
            .into_iter()
            .fold((0.0, 0.0, Vec3::ZERO), |(most, sum, at), (d, p)| {
                (f64::max(most, d), sum + d, if d > most { p } else { at })
            })
    });
    let sum: f64 = samples.iter().map(|s| s.1).sum();
    let worst = samples.iter().fold((0.0, Vec3::ZERO), |w, s| if s.0 > w.0 { (s.0, s.2) } else { w });
    (worst.0, sum / (3 * count.max(1)) as f64, worst.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes::icosphere;

    #[test]
    fn concentric_spheres_are_their_gap_apart() {
        let (inner, outer) = (icosphere(1.0, 24).unwrap(), icosphere(1.1, 24).unwrap());
        let found = Closeness::new(&inner, &outer);
        assert!((found.out_to_in - 0.1).abs() < 4e-3 && (found.in_to_out - 0.1).abs() < 4e-3, "{found:?}");
        assert!((found.diagonal - 2.2 * 3f64.sqrt()).abs() < 0.01);
    }

    #[test]
    fn a_missing_part_shows_in_one_direction_only() {
        let whole = icosphere(1.0, 12).unwrap();
        let mut both = whole.clone();
        both.append(&icosphere(0.2, 6).unwrap().translated(Vec3::X * 3.0));
        let found = Closeness::new(&whole, &both);
        assert!(found.out_to_in < 1e-12 && (found.in_to_out - 2.2).abs() < 0.05);
        assert!((found.worst_at.x - 3.0).abs() < 0.25);
    }
}
