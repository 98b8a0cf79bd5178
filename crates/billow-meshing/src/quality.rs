//! Shapes of tetrahedra: aspect ratio, dihedral angles, edge ratio ([Bri03] 5.6, table 5.2).
//!
//! The aspect ratio is the longest edge over the shortest altitude: √(3/2) for a regular tetrahedron, √2 in the lattice.

use billow_geom::TetMesh;
use billow_num::{Vec3, par};

/// Bars of the histograms.
pub const BARS: usize = 36;

/// The shape of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Longest edge over shortest altitude; infinite or negative if flat or inverted [-].
    pub aspect: f64,
    /// Six times the volume [m³].
    pub volume6: f64,
    /// Cosines of the six dihedral angles, by the pairs of faces (0,1), (0,2), (0,3), (1,2), (1,3), (2,3) [-].
    pub cosines: [f64; 6],
    /// Longest edge [m].
    pub longest: f64,
    /// Shortest edge [m].
    pub shortest: f64,
}

impl Shape {
    /// The shape of the tetrahedron with corners `x`.
    pub fn new([a, b, c, d]: [Vec3; 4]) -> Self {
        let (ab, ac, ad, bc, bd) = (b - a, c - a, d - a, c - b, d - b);
        // Outward normals opposite each corner, of length twice the face area.
        let normals = [bc.cross(bd), ad.cross(ac), ab.cross(ad), ac.cross(ab)];
        let volume6 = ab.cross(ac).dot(ad);
        let lengths2 = [ab, ac, ad, bc, bd, d - c].map(Vec3::length_squared);
        let longest = lengths2.into_iter().fold(0.0, f64::max).sqrt();
        let shortest = lengths2.into_iter().fold(f64::INFINITY, f64::min).sqrt();
        let sizes = normals.map(Vec3::length);
        let widest = sizes.into_iter().fold(0.0, f64::max);
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let cosines = pairs.map(|[i, j]| -normals[i].dot(normals[j]) / (sizes[i] * sizes[j]));
        Self { aspect: longest * widest / volume6, volume6, cosines, longest, shortest }
    }
}

/// Shapes of all tetrahedra of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// Number of tetrahedra.
    pub tets: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Largest aspect ratio [-].
    pub max_aspect: f64,
    /// Mean aspect ratio [-].
    pub mean_aspect: f64,
    /// Smallest dihedral angle [°].
    pub min_dihedral: f64,
    /// Largest dihedral angle [°].
    pub max_dihedral: f64,
    /// Longest edge over shortest edge in the mesh [-].
    pub edge_ratio: f64,
    /// Shortest edge [m].
    pub shortest_edge: f64,
    /// Longest edge [m].
    pub longest_edge: f64,
    /// Volume [m³].
    pub volume: f64,
    /// Dihedral angles in steps of 5°.
    pub dihedrals: Vec<u64>,
    /// Aspect ratios in steps of ¼ from 1 up; the last bar has all beyond.
    pub aspects: Vec<u64>,
}

impl Quality {
    /// Measures `mesh`.
    pub fn new(mesh: &TetMesh) -> Self {
        let measure = |range: std::ops::Range<usize>| {
            let mut part = Partial::default();
            range.for_each(|t| part.add(&Shape::new(mesh.corners(t))));
            part
        };
        let all = par::reduce(mesh.tets.len(), 4096, measure, Partial::merged).unwrap_or_default();
        let degrees = |cosine: f64| cosine.clamp(-1.0, 1.0).acos().to_degrees();
        let n = mesh.tets.len();
        Self {
            tets: n,
            nodes: mesh.positions.len(),
            inverted: all.inverted,
            max_aspect: all.max_aspect,
            mean_aspect: all.sum_aspect / (n as f64).max(1.0),
            min_dihedral: degrees(all.max_cosine),
            max_dihedral: degrees(all.min_cosine),
            edge_ratio: all.longest / all.shortest,
            shortest_edge: all.shortest,
            longest_edge: all.longest,
            volume: all.volume6 / 6.0,
            dihedrals: all.dihedrals.to_vec(),
            aspects: all.aspects.to_vec(),
        }
    }
}

#[derive(Clone)]
struct Partial {
    inverted: usize,
    max_aspect: f64,
    sum_aspect: f64,
    min_cosine: f64,
    max_cosine: f64,
    shortest: f64,
    longest: f64,
    volume6: f64,
    dihedrals: [u64; BARS],
    aspects: [u64; BARS],
}

impl Default for Partial {
    fn default() -> Self {
        Self {
            inverted: 0,
            max_aspect: 0.0,
            sum_aspect: 0.0,
            min_cosine: 1.0,
            max_cosine: -1.0,
            shortest: f64::INFINITY,
            longest: 0.0,
            volume6: 0.0,
            dihedrals: [0; BARS],
            aspects: [0; BARS],
        }
    }
}

impl Partial {
    fn add(&mut self, shape: &Shape) {
        let good = shape.volume6 > 0.0;
        self.inverted += usize::from(!good);
        let aspect = if good { shape.aspect } else { f64::INFINITY };
        self.max_aspect = self.max_aspect.max(aspect);
        self.sum_aspect += aspect;
        self.volume6 += shape.volume6;
        self.longest = self.longest.max(shape.longest);
        self.shortest = self.shortest.min(shape.shortest);
        self.aspects[(((aspect - 1.0) * 4.0).max(0.0) as usize).min(BARS - 1)] += 1;
        for c in shape.cosines {
            self.min_cosine = self.min_cosine.min(c);
            self.max_cosine = self.max_cosine.max(c);
            let degrees = c.clamp(-1.0, 1.0).acos().to_degrees();
            self.dihedrals[((degrees / 5.0) as usize).min(BARS - 1)] += 1;
        }
    }

    fn merged(mut self, other: Self) -> Self {
        self.inverted += other.inverted;
        self.max_aspect = self.max_aspect.max(other.max_aspect);
        self.sum_aspect += other.sum_aspect;
        self.volume6 += other.volume6;
        self.longest = self.longest.max(other.longest);
        self.shortest = self.shortest.min(other.shortest);
        self.min_cosine = self.min_cosine.min(other.min_cosine);
        self.max_cosine = self.max_cosine.max(other.max_cosine);
        (0..BARS).for_each(|k| self.dihedrals[k] += other.dihedrals[k]);
        (0..BARS).for_each(|k| self.aspects[k] += other.aspects[k]);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_and_lattice_tetrahedra_have_their_known_shapes() {
        let regular =
            [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]].map(Vec3::from);
        let shape = Shape::new(regular);
        assert!((shape.aspect - 1.5f64.sqrt()).abs() < 1e-12);
        assert!(shape.cosines.iter().all(|c| (c - 1.0 / 3.0).abs() < 1e-12));
        let lattice = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0]].map(Vec3::from);
        let shape = Shape::new(lattice);
        assert!((shape.aspect - 2f64.sqrt()).abs() < 1e-12 && shape.volume6 > 0.0);
        let mut angles = shape.cosines.map(|c| c.acos().to_degrees().round());
        angles.sort_unstable_by(f64::total_cmp);
        assert_eq!(angles, [60.0, 60.0, 60.0, 60.0, 90.0, 90.0]);
    }

    #[test]
    fn inverted_tetrahedra_are_counted() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mesh = TetMesh { positions, tets: vec![[0, 1, 2, 3], [0, 2, 1, 3]] };
        let quality = Quality::new(&mesh);
        assert_eq!((quality.tets, quality.inverted), (2, 1));
        assert_eq!(quality.max_aspect, f64::INFINITY);
    }
}
