//! A narrow-band level set continued to true distances far from the surface.
//!
//! Sparse grids know distances only near the surface; refinement and selection must know how far away everything
//! else is. Points where the surface crosses the fine grid are carried outward on a coarse lattice, each sample
//! keeping the nearest it has heard of (vector distance transform), so far distances are right to a fraction of a
//! coarse cell. Signs always come from the fine grid.

use billow_geom::{Aabb, TriMesh};
use billow_levelset::{Collider, Cursor, LevelSetError, MeshToSdf, Sample, SparseGrid, mesh_to_sparse};
use billow_num::{Vec3, par};

/// Coarse samples along the longest side of the solid.
const COARSE: f64 = 80.0;
/// Beyond this part of the band's half width the coarse distance takes over.
const TRUSTED: f64 = 0.98;

/// A sparse level set with distances everywhere.
#[derive(Clone, Debug)]
pub struct DistanceField {
    near: SparseGrid,
    bounds: Aabb,
    origin: Vec3,
    spacing: f64,
    dims: [usize; 3],
    /// Distance to the surface at each coarse sample [m].
    far: Vec<f32>,
}

impl DistanceField {
    /// Continues `near` beyond its band.
    pub fn new(near: SparseGrid) -> Self {
        let crossings = surface_crossings(&near);
        let bounds = Aabb::of_points(&crossings);
        let size = if crossings.is_empty() { 0.0 } else { bounds.size().max_element() };
        let spacing = (size / COARSE).max(2.0 * near.frame().spacing);
        let margin = 0.15 * size + 2.0 * spacing;
        let origin = bounds.min - margin;
        let dims =
            ((bounds.size() + 2.0 * margin) / spacing).to_array().map(|n| n.ceil().max(1.0) as usize + 1);
        let mut field = Self { near, bounds, origin, spacing, dims, far: Vec::new() };
        if !crossings.is_empty() {
            field.far = field.transform(&crossings);
        }
        field
    }

    /// The distance to a closed or leaky surface, with `resolution` samples along its longest side.
    ///
    /// # Errors
    /// See [`mesh_to_sparse`].
    pub fn of_mesh(surface: &TriMesh, resolution: f64) -> Result<Self, LevelSetError> {
        let longest = Aabb::of_points(&surface.positions).size().max_element();
        let mut settings = MeshToSdf::with_spacing(longest / resolution.max(4.0));
        settings.frame.half_width = 4.0;
        Ok(Self::new(mesh_to_sparse(surface, &settings)?.0))
    }

    /// The fine grid.
    pub fn near(&self) -> &SparseGrid {
        &self.near
    }

    fn at(&self, ijk: [usize; 3]) -> Vec3 {
        self.origin + self.spacing * Vec3::from_array(ijk.map(|v| v as f64))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.dims[0] * (j + self.dims[1] * k)
    }

    /// Distance of every coarse sample to the nearest crossing, by four raster scans.
    fn transform(&self, crossings: &[Vec3]) -> Vec<f32> {
        let n = self.dims.iter().product();
        let nowhere = Vec3::splat(f64::INFINITY);
        let mut nearest = vec![nowhere; n];
        for p in crossings {
            // The eight samples around a crossing hear of it first.
            let base = ((*p - self.origin) / self.spacing).to_array().map(|v| v.max(0.0) as usize);
            for corner in 0..8 {
                let ijk = std::array::from_fn(|a| (base[a] + (corner >> a & 1)).min(self.dims[a] - 1));
                let (slot, x) = (self.index(ijk), self.at(ijk));
                if p.distance_squared(x) < nearest[slot].distance_squared(x) {
                    nearest[slot] = *p;
                }
            }
        }
        for scan in 0..4 {
            self.scan(&mut nearest, scan % 2 == 1);
        }
        let distance = |i: usize| {
            let ijk = [i % self.dims[0], i / self.dims[0] % self.dims[1], i / (self.dims[0] * self.dims[1])];
            nearest[i].distance(self.at(ijk)) as f32
        };
        par::map(n, distance)
    }

    /// One raster scan: every sample asks the thirteen neighbours that come before it.
    fn scan(&self, nearest: &mut [Vec3], backward: bool) {
        let [nx, ny, nz] = self.dims.map(|d| d as isize);
        let count = nearest.len() as isize;
        for step in 0..count {
            let i = if backward { count - 1 - step } else { step };
            let ijk = [i % nx, i / nx % ny, i / (nx * ny)];
            let x = self.at(ijk.map(|v| v as usize));
            let mut best = nearest[i as usize];
            let mut best_d = best.distance_squared(x);
            for o in 0..13 {
                let sign = if backward { -1 } else { 1 };
                let d = [o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1].map(|v| v * sign);
                let at: [isize; 3] = std::array::from_fn(|a| ijk[a] + d[a]);
                if at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= nx || at[1] >= ny || at[2] >= nz {
                    continue;
                }
                let p = nearest[(at[0] + nx * (at[1] + ny * at[2])) as usize];
                let distance = p.distance_squared(x);
                if distance < best_d {
                    (best, best_d) = (p, distance);
                }
            }
            nearest[i as usize] = best;
        }
    }

    /// Trilinear distance from the coarse lattice, continued beyond it.
    fn far_distance(&self, x: Vec3) -> f64 {
        if self.far.is_empty() {
            return 0.0;
        }
        let last = Vec3::from_array(self.dims.map(|d| (d - 1) as f64));
        let u = ((x - self.origin) / self.spacing).clamp(Vec3::ZERO, last);
        let beyond = x.distance(self.origin + self.spacing * u);
        let cell: [usize; 3] = std::array::from_fn(|a| (u[a] as usize).min(self.dims[a].saturating_sub(2)));
        let f = u - Vec3::from_array(cell.map(|c| c as f64));
        let mut sum = 0.0;
        for n in 0..8usize {
            let ijk = std::array::from_fn(|a| (cell[a] + (n >> a & 1)).min(self.dims[a] - 1));
            let weight = |a: usize| if n >> a & 1 == 1 { f[a] } else { 1.0 - f[a] };
            sum += weight(0) * weight(1) * weight(2) * f64::from(self.far[self.index(ijk)]);
        }
        sum + beyond
    }
}

/// Points where the surface crosses edges of the fine grid.
fn surface_crossings(grid: &SparseGrid) -> Vec<Vec3> {
    let edge = grid.edge();
    par::gather(grid.blocks().len(), 16, |range, out| {
        let mut cursor = Cursor::new(grid);
        for b in range {
            let first = grid.blocks()[b].map(|c| c * edge as i32);
            let values = grid.block(b);
            for (n, &v) in values.iter().enumerate() {
                if v.abs() > grid.frame().spacing as f32 * 1.01 {
                    continue;
                }
                let o = [n % edge, n / edge % edge, n / (edge * edge)].map(|c| c as i32);
                let ijk: [i32; 3] = std::array::from_fn(|a| first[a] + o[a]);
                for a in 0..3 {
                    let mut next = ijk;
                    next[a] += 1;
                    let w = cursor.at(next);
                    if (v < 0.0) != (w < 0.0) {
                        let s = f64::from(v) / (f64::from(v) - f64::from(w));
                        let (p, q) = (grid.frame().position(ijk), grid.frame().position(next));
                        out.push(p.lerp(q, s));
                    }
                }
            }
        }
    })
}

impl Collider for DistanceField {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        let near = self.near.phi(x, t);
        let limit = f64::from(self.near.frame().background());
        if near.abs() < TRUSTED * limit { near } else { self.far_distance(x).max(limit).copysign(near) }
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.sample(x, t).normal
    }

    fn sample(&self, x: Vec3, t: f64) -> Sample {
        let near = self.near.sample(x, t);
        if near.phi.abs() < TRUSTED * f64::from(self.near.frame().background()) {
            return near;
        }
        let h = 0.5 * self.spacing;
        let slope = |axis: Vec3| self.phi(x + h * axis, t) - self.phi(x - h * axis, t);
        let gradient = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
        Sample { phi: self.phi(x, t), normal: gradient.try_normalize().unwrap_or(Vec3::Z), ..near }
    }

    fn bounds(&self, _: f64) -> Aabb {
        self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::{Ball, Frame, Layout};

    #[test]
    fn far_distances_are_right_to_a_fraction_of_a_coarse_cell() {
        let ball = Ball::new(Vec3::new(0.1, 0.2, 0.3), 0.5).unwrap();
        let frame = Frame { origin: Vec3::ZERO, spacing: 0.01, half_width: 3.0 };
        let grid = SparseGrid::of_collider(frame, Layout::default(), &ball, 0.0).unwrap();
        let field = DistanceField::new(grid);
        // The lattice reaches 0.15 of the diameter beyond the ball.
        let ball_corner = Vec3::new(-0.5, -0.4, -0.3);
        let mut worst: f64 = 0.0;
        for i in 0..2000 {
            let mut d = billow_num::rng::Stream::new(1, 2).at(i);
            let x = Vec3::new(d.uniform(), d.uniform(), d.uniform()) * 1.2 + ball_corner;
            let (truth, found) = (ball.phi(x, 0.0), field.phi(x, 0.0));
            assert!(truth * found > 0.0 || truth.abs() < 1e-4);
            worst = worst.max((truth - found).abs());
        }
        assert!(worst < 0.35 * field.spacing, "{worst} against cells of {}", field.spacing);
    }
}
