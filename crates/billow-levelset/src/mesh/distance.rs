//! Exact distances of the samples of a tile to nearby triangles.
//!
//! Along a row of samples everything is a polynomial in x: with q = p − o and edge direction d, the foot is at
//! s = clamp(q·d/|d|²) and the squared distance |q|² − s(2 q·d − s|d|²); over the face it is the squared plane
//! distance. The loop has no branches and compiles to vector code. In `f64` the cancellation costs nothing that an
//! `f32` could show.

use billow_num::Vec3;

/// Samples along a tile's edge.
pub(super) const TILE: usize = 32;
/// Samples in a tile.
pub(super) const TILE_VOLUME: usize = TILE * TILE * TILE;

/// A triangle in the coordinates of a tile.
struct Face {
    origin: [Vec3; 3],
    edge: [Vec3; 3],
    length2: [f64; 3],
    inverse2: [f64; 3],
    /// In the triangle's plane, at right angles to each edge, pointing inward.
    inward: [Vec3; 3],
    normal: Vec3,
}

impl Face {
    fn new(corners: [Vec3; 3]) -> Self {
        let edge: [Vec3; 3] = std::array::from_fn(|e| corners[(e + 1) % 3] - corners[e]);
        let length2 = edge.map(|e| e.length_squared());
        // A sliver whose plane is lost in rounding has distances to its edges only.
        let n = edge[0].cross(edge[1]);
        let normal = if n.length_squared() > 1e-24 * length2[0] * length2[1] {
            n.normalize_or_zero()
        } else {
            Vec3::ZERO
        };
        Self {
            origin: corners,
            edge,
            length2,
            inverse2: length2.map(|l| if l > 0.0 { 1.0 / l } else { 0.0 }),
            inward: edge.map(|e| normal.cross(e)),
            normal,
        }
    }

    /// The samples of the row at (y, z) that lie within `reach` of the triangle's plane, cut to `lo..=hi`.
    fn near_plane(&self, y: f64, z: f64, reach: f64, lo: f64, hi: f64) -> (f64, f64) {
        let n = self.normal;
        let c = n.dot(Vec3::new(0.0, y, z) - self.origin[0]);
        // Below this slope the row runs along the plane: all of it or nothing.
        if n.x.abs() < 1e-9 {
            return if c.abs() <= reach + 1e-3 { (lo, hi) } else { (1.0, 0.0) };
        }
        let (a, b) = ((-reach - c) / n.x, (reach - c) / n.x);
        (lo.max(a.min(b).ceil()), hi.min(a.max(b).floor()))
    }
}

/// Lowers `squared` (one value per sample, x fastest) to the squared distance to a triangle wherever that is at
/// most `reach` away. Corners are relative to the tile's first sample, in units of samples.
pub(super) fn lower_to_triangle(squared: &mut [f32], corners: [Vec3; 3], reach: f64) {
    let face = Face::new(corners);
    let last = (TILE - 1) as f64;
    let lo = corners[0].min(corners[1]).min(corners[2]) - reach;
    let hi = corners[0].max(corners[1]).max(corners[2]) + reach;
    let lo = lo.ceil().max(Vec3::ZERO);
    let hi = hi.floor().min(Vec3::splat(last));
    if lo.cmpgt(hi).any() {
        return;
    }
    for z in lo.z as usize..=hi.z as usize {
        for y in lo.y as usize..=hi.y as usize {
            let (first, last) = face.near_plane(y as f64, z as f64, reach, lo.x, hi.x);
            if first <= last {
                let row = TILE * (y + TILE * z);
                let (i, j) = (first as usize, last as usize);
                lower_row(&mut squared[row + i..=row + j], &face, Vec3::new(first, y as f64, z as f64));
            }
        }
    }
}

/// Lowers consecutive samples along x, the first at `p`.
fn lower_row(squared: &mut [f32], face: &Face, p: Vec3) {
    let q: [Vec3; 3] = std::array::from_fn(|e| p - face.origin[e]);
    let along: [f64; 3] = std::array::from_fn(|e| q[e].dot(face.edge[e]));
    let side: [f64; 3] = std::array::from_fn(|e| q[e].dot(face.inward[e]));
    let off_row: [f64; 3] = std::array::from_fn(|e| q[e].y * q[e].y + q[e].z * q[e].z);
    let height = q[0].dot(face.normal);
    for (i, out) in squared.iter_mut().enumerate() {
        let x = i as i32 as f64;
        let mut best = f64::INFINITY;
        let mut inside = true;
        for e in 0..3 {
            let qx = q[e].x + x;
            let dot = along[e] + x * face.edge[e].x;
            let s = dot * face.inverse2[e];
            let s = if s > 0.0 { s } else { 0.0 };
            let s = if s < 1.0 { s } else { 1.0 };
            let d = off_row[e] + qx * qx - s * (2.0 * dot - s * face.length2[e]);
            best = if d < best { d } else { best };
            inside &= side[e] + x * face.inward[e].x > 0.0;
        }
        let plane = height + x * face.normal.x;
        let d = if inside { plane * plane } else { best };
        // On an edge the difference may cancel to less than nothing, whose root is no number.
        let d = if d > 0.0 { d as f32 } else { 0.0 };
        *out = if d < *out { d } else { *out };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Vec3;

    /// Distance by dense sampling of the triangle.
    fn sampled(p: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
        let mut best = f64::INFINITY;
        for i in 0..=200 {
            for j in 0..=200 - i {
                let (u, v) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                best = best.min(p.distance(a + (b - a) * u + (c - a) * v));
            }
        }
        best
    }

    #[test]
    fn rows_hold_the_distance_to_the_triangle() {
        let v = Vec3::new;
        for corners in [
            [v(10.2, 11.7, 12.1), v(15.9, 10.3, 13.3), v(12.2, 16.8, 15.0)],
            [v(10.0, 10.0, 10.0), v(14.0, 10.0, 10.0), v(10.0, 14.0, 10.0)],
            [v(10.0, 10.0, 10.0), v(14.0, 10.0, 10.0), v(18.0, 10.0, 10.0)], // a sliver: a segment
            [v(-9.5, 20.0, 8.0), v(45.0, 22.0, 9.0), v(10.0, 60.0, 11.0)],
        ] {
            let mut squared = vec![16.0f32; TILE_VOLUME];
            lower_to_triangle(&mut squared, corners, 4.0);
            for (i, &d2) in squared.iter().enumerate().step_by(7) {
                let p = v((i % TILE) as f64, (i / TILE % TILE) as f64, (i / TILE / TILE) as f64);
                let size = (corners[1] - corners[0]).length().max((corners[2] - corners[0]).length());
                let want = sampled(p, corners);
                let got = f64::from(d2.sqrt());
                if want < 4.0 {
                    assert!(got <= want + 1e-5 && got > want - 0.01 * size, "{p}: {got} {want}");
                } else {
                    assert!(got >= 4.0 - 0.01 * size, "{p}: {got} {want}");
                }
            }
        }
    }
}
