//! How small tetrahedra must be, and the refined lattice that follows ([Bri03] 5.3).
//!
//! A tetrahedron that may meet the surface is refined while it is longer than the surface size, while the curvature
//! Σ|κ| times its edge is too large, or while φ interpolated from its corners is too wrong inside it. Features and a user's
//! function ask for sizes anywhere. Everything else stays as coarse as the grading lets it.

use crate::{MeshingError, RedGreen};
use billow_geom::Aabb;
use billow_levelset::{Collider, curvature_of_derivatives};
use billow_num::{Mat3, Vec3, par};

/// Levels below the finest asked for that repairs may use.
pub const SPARE_LEVELS: u32 = 3;

/// A place that wants small tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    /// Where [m].
    pub at: Vec3,
    /// Longest edge there [m].
    pub size: f64,
    /// How much longer edges may be per metre of distance [-].
    pub growth: f64,
}

/// A user's longest edge at a point [m]; infinite where it does not matter.
pub type SizeFunction<'a> = &'a (dyn Fn(Vec3) -> f64 + Sync);

/// Sizes of tetrahedra. Edges are the long lattice edges; short ones are 0.866 of them.
#[derive(Clone, Copy)]
pub struct Sizing<'a> {
    /// Edges of the unrefined lattice, the longest in the mesh [m].
    pub coarse: f64,
    /// Refinements allowed; the smallest edges are `coarse / 2^levels` (0 to 15).
    pub levels: u32,
    /// Longest edge at the surface [m].
    pub surface: f64,
    /// Largest edge times Σ|κ| at the surface; infinite turns the criterion off [-]. Lower refines more.
    pub curvature: f64,
    /// Largest error of φ interpolated inside a tetrahedron at the surface, per edge; infinite turns the criterion off
    /// [-]. Lower refines more.
    pub interpolation: f64,
    /// Step of finite differences of φ: at least the spacing of its samples [m].
    pub difference: f64,
    /// Places that want small tetrahedra.
    pub features: &'a [Feature],
    /// Longest edge by a function of position.
    pub function: Option<SizeFunction<'a>>,
    /// Red tetrahedra allowed, refined ones included.
    pub limit: usize,
}

impl Sizing<'_> {
    /// Uniform tetrahedra with edges of `size` [m] at the surface, `levels` coarser inside.
    pub fn uniform(size: f64, levels: u32) -> Self {
        Self {
            coarse: size * f64::from(1u32 << levels.min(15)),
            levels,
            surface: size,
            curvature: f64::INFINITY,
            interpolation: f64::INFINITY,
            difference: 0.5 * size,
            features: &[],
            function: None,
            limit: 50_000_000,
        }
    }

    /// Edges from `finest` [m], where the surface is most curved, up by factors of two `levels` times; flat parts of
    /// the surface get edges of at most `surface` [m].
    pub fn adaptive(finest: f64, surface: f64, levels: u32) -> Self {
        Self { surface, curvature: 1.2, interpolation: 0.08, ..Self::uniform(finest, levels) }
    }

    fn check(&self) -> Result<(), MeshingError> {
        let positive = |name, value: f64| {
            let setting = MeshingError::Setting { name, value, allowed: "a positive number" };
            if value > 0.0 { Ok(()) } else { Err(setting) }
        };
        positive("coarse", self.coarse)?;
        positive("surface", self.surface)?;
        positive("curvature", self.curvature)?;
        positive("interpolation", self.interpolation)?;
        positive("difference", self.difference)?;
        if self.levels > 15 {
            let value = f64::from(self.levels);
            return Err(MeshingError::Setting { name: "levels", value, allowed: "at most 15" });
        }
        Ok(())
    }

    /// Whether a lattice tetrahedron with long edges of `edge` [m] is too large.
    fn too_large(&self, solid: &dyn Collider, x: [Vec3; 4], edge: f64) -> bool {
        let centre = 0.25 * (x[0] + x[1] + x[2] + x[3]);
        if self.features.iter().any(|f| edge > f.size + f.growth * f.at.distance(centre)) {
            return true;
        }
        if self.function.is_some_and(|size| edge > size(centre)) {
            return true;
        }
        let phi = solid.phi(centre, 0.0);
        // Corners lie √5/4 of the edge from the centre.
        if phi.abs() > 0.56 * edge {
            return false;
        }
        if edge > self.surface {
            return true;
        }
        self.interpolates_badly(solid, x, edge) || self.curves_too_much(solid, centre, phi, edge)
    }

    /// Compares φ with its linear interpolant at the middles of edges and faces and at the centre.
    fn interpolates_badly(&self, solid: &dyn Collider, x: [Vec3; 4], edge: f64) -> bool {
        if self.interpolation.is_infinite() {
            return false;
        }
        let corner = x.map(|x| solid.phi(x, 0.0));
        let wrong = |weights: [f64; 4]| {
            let at: Vec3 = (0..4).map(|k| weights[k] * x[k]).sum();
            let linear: f64 = (0..4).map(|k| weights[k] * corner[k]).sum();
            let phi = solid.phi(at, 0.0);
            // What happens far from the surface does not matter.
            phi.abs().min(linear.abs()) < 0.25 * edge && (phi - linear).abs() > self.interpolation * edge
        };
        const T: f64 = 1.0 / 3.0;
        const H: f64 = 0.5;
        let samples = [
            [0.25; 4],
            [H, H, 0.0, 0.0],
            [0.0, 0.0, H, H],
            [H, 0.0, H, 0.0],
            [H, 0.0, 0.0, H],
            [0.0, H, H, 0.0],
            [0.0, H, 0.0, H],
            [0.0, T, T, T],
            [T, 0.0, T, T],
            [T, T, 0.0, T],
            [T, T, T, 0.0],
        ];
        samples.into_iter().any(wrong)
    }

    /// Whether the surface next to a tetrahedron is curved more than its edges can follow.
    fn curves_too_much(&self, solid: &dyn Collider, centre: Vec3, phi: f64, edge: f64) -> bool {
        if self.curvature.is_infinite() {
            return false;
        }
        let at = centre - phi * solid.normal(centre, 0.0);
        total_curvature(solid, at, self.difference.max(0.25 * edge)) * edge > self.curvature
    }
}

/// Σ|κ| of the level surface through `x` by central differences of step `h` [1/m].
pub fn total_curvature(solid: &dyn Collider, x: Vec3, h: f64) -> f64 {
    let f = |i: f64, j: f64, k: f64| solid.phi(x + h * Vec3::new(i, j, k), 0.0);
    let middle = f(0.0, 0.0, 0.0);
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let (mut g, mut diagonal) = (Vec3::ZERO, Vec3::ZERO);
    for a in 0..3 {
        let (hi, lo) = (f(axes[a].x, axes[a].y, axes[a].z), f(-axes[a].x, -axes[a].y, -axes[a].z));
        g[a] = (hi - lo) / (2.0 * h);
        diagonal[a] = (hi - 2.0 * middle + lo) / (h * h);
    }
    let cross = |a: Vec3, b: Vec3| {
        let at = |s: f64, t: f64| {
            let d = s * a + t * b;
            f(d.x, d.y, d.z)
        };
        (at(1.0, 1.0) + at(-1.0, -1.0) - at(1.0, -1.0) - at(-1.0, 1.0)) / (4.0 * h * h)
    };
    let (xy, xz, yz) = (cross(Vec3::X, Vec3::Y), cross(Vec3::X, Vec3::Z), cross(Vec3::Y, Vec3::Z));
    let hessian = Mat3::from_cols(
        Vec3::new(diagonal.x, xy, xz),
        Vec3::new(xy, diagonal.y, yz),
        Vec3::new(xz, yz, diagonal.z),
    );
    curvature_of_derivatives(g, hessian).total()
}

/// The lattice over `solid`, refined as `sizing` asks, with [`SPARE_LEVELS`] for repairs.
///
/// # Errors
/// If a size makes no sense or the mesh would grow beyond its limit.
pub fn background(solid: &dyn Collider, sizing: &Sizing<'_>) -> Result<RedGreen, MeshingError> {
    sizing.check()?;
    let domain: Aabb = solid.bounds(0.0);
    // Even the empty corners of the box are looked at once, twelve tetrahedra a cell.
    let cells = domain.size().to_array().map(|n| (n / sizing.coarse).max(0.0) + 1.0);
    let most = cells.iter().product::<f64>();
    if most > sizing.limit as f64 {
        return Err(MeshingError::TooMany { tets: (12.0 * most) as usize, limit: sizing.limit });
    }
    let mut forest =
        RedGreen::new(domain, sizing.coarse, sizing.levels + SPARE_LEVELS, |x| solid.phi(x, 0.0))?;
    // Each tetrahedron is judged once, when it is new.
    let mut judged = 0;
    while judged < forest.red_count() {
        let first = judged;
        judged = forest.red_count();
        let large = par::gather(judged - first, 256, |range, out: &mut Vec<u32>| {
            for r in range.map(|k| (first + k) as u32) {
                let level = forest.level(r);
                if level < sizing.levels && forest.is_leaf(r) {
                    let x = forest.corners(r).map(|n| forest.position(n));
                    if sizing.too_large(solid, x, forest.edge_length(level)) {
                        out.push(r);
                    }
                }
            }
        });
        for part in large.chunks(4096) {
            forest.refine(part.iter().copied());
            if forest.red_count() > sizing.limit {
                return Err(MeshingError::TooMany { tets: forest.red_count(), limit: sizing.limit });
            }
        }
    }
    Ok(forest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::{Ball, Torus};

    #[test]
    fn curvature_of_a_ball_and_of_a_saddle() {
        let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
        assert!((total_curvature(&ball, Vec3::X * 0.5, 0.01) - 4.0).abs() < 0.01);
        // On the inner ring of a torus the principal curvatures have opposite signs: their sum of sizes does not vanish.
        let ring = Torus::new(Vec3::ZERO, Vec3::Z, 1.0, 0.25).unwrap();
        let inner = total_curvature(&ring, Vec3::X * 0.75, 0.005);
        assert!((inner - (4.0 + 1.0 / 0.75)).abs() < 0.01, "{inner}");
    }

    #[test]
    fn the_surface_is_fine_and_the_rest_coarse() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let forest = background(&ball, &Sizing::uniform(0.1, 3)).unwrap();
        for r in (0..forest.red_count() as u32).filter(|r| forest.is_leaf(*r)) {
            let x = forest.corners(r).map(|n| forest.position(n));
            let signs = x.map(|x| ball.phi(x, 0.0) < 0.0);
            let crosses = signs.iter().any(|s| *s) && signs.iter().any(|s| !*s);
            assert!(!crosses || forest.level(r) == 3);
        }
        assert!((0..forest.red_count() as u32).any(|r| forest.is_leaf(r) && forest.level(r) == 0));
    }

    #[test]
    fn features_and_functions_ask_for_small_tetrahedra() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let feature = [Feature { at: Vec3::ZERO, size: 0.1, growth: 0.2 }];
        let sizing = Sizing { surface: 1.0, features: &feature, ..Sizing::uniform(0.1, 3) };
        let level_at = |forest: &RedGreen, p: Vec3| {
            let near = |r: &u32| {
                forest.is_leaf(*r) && forest.corners(*r).iter().any(|n| forest.position(*n).distance(p) < 0.3)
            };
            (0..forest.red_count() as u32).filter(near).map(|r| forest.level(r)).max()
        };
        let forest = background(&ball, &sizing).unwrap();
        assert_eq!(level_at(&forest, Vec3::ZERO), Some(3));
        assert!(level_at(&forest, Vec3::X).unwrap() < 3);
        let left = |x: Vec3| if x.x < 0.0 { 0.1 } else { 1.0 };
        let sizing = Sizing { surface: 1.0, function: Some(&left), ..Sizing::uniform(0.1, 3) };
        let forest = background(&ball, &sizing).unwrap();
        assert_eq!(level_at(&forest, -Vec3::X * 0.7), Some(3));
        assert!(level_at(&forest, Vec3::X * 0.7).unwrap() < 3);
    }

    #[test]
    fn runaway_refinement_is_refused() {
        let ball = Ball::new(Vec3::ZERO, 1.0).unwrap();
        let sizing = Sizing { limit: 1000, ..Sizing::uniform(0.02, 3) };
        assert!(matches!(background(&ball, &sizing), Err(MeshingError::TooMany { .. })));
        // A lattice that is too fine to begin with is refused before it is made.
        let hopeless = background(&ball, &Sizing::uniform(1e-7, 0));
        assert!(matches!(hopeless, Err(MeshingError::TooMany { .. })));
        assert!(background(&ball, &Sizing { surface: f64::NAN, ..Sizing::uniform(0.1, 3) }).is_err());
    }
}
