//! Grids on the wire: half-precision samples, thinned out to what every browser's 3D textures hold.

use super::bytes::half_words;
use billow_io::{Grid, half};
use billow_num::Vec3;

/// Nodes along an axis that every WebGL2 implementation supports.
const MOST_PER_AXIS: u32 = 256;

/// A grid ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Volume {
    /// Nodes along x, y, z.
    pub(crate) dims: [u32; 3],
    /// Position of node (0, 0, 0) [m].
    pub(crate) origin: Vec3,
    /// Distance between nodes [m].
    pub(crate) spacing: f64,
    /// Smallest and largest finite value of the full grid.
    pub(crate) range: [f32; 2],
    /// Values that are not finite in the full grid.
    pub(crate) non_finite: u32,
    /// Half-precision values times [`Volume::scale`], x fastest.
    pub(crate) bytes: Vec<u8>,
    /// What the samples were multiplied by to stay within half precision [-].
    pub(crate) scale: f32,
}

/// Thins out a grid and rounds it. Densities are averaged over the nodes dropped; signed distances, which have
/// values on both sides of zero, keep the values of the nodes that stay, so that the surface stays where it is.
pub(crate) fn encode(grid: &Grid) -> Volume {
    let finite = || grid.values.iter().copied().filter(|v| v.is_finite());
    let range = finite().fold([f32::INFINITY, f32::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)]);
    let range = if range[0] > range[1] { [0.0; 2] } else { range };
    let stride =
        grid.dims.iter().map(|n| n.saturating_sub(1).div_ceil(MOST_PER_AXIS - 1)).max().unwrap_or(1).max(1);
    let dims = grid.dims.map(|n| if n == 0 { 0 } else { (n - 1) / stride + 1 });
    let reach = if range[0] < 0.0 { 1 } else { stride };
    let largest = range[0].abs().max(range[1].abs());
    let scale =
        if largest > half::LARGEST || (largest > 0.0 && largest < 1e-2) { 1.0 / largest } else { 1.0 };

    let mut halves = Vec::with_capacity(dims.iter().map(|n| *n as usize).product());
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                halves.push(half::from_f32(scale * mean(grid, [i, j, k].map(|c| c * stride), reach)));
            }
        }
    }
    Volume {
        dims,
        origin: grid.origin,
        spacing: grid.spacing * f64::from(stride),
        range,
        non_finite: (grid.values.len() - finite().count()) as u32,
        bytes: half_words(&halves),
        scale,
    }
}

/// Mean of the finite values in the block of `reach`³ nodes that starts at `from`.
fn mean(grid: &Grid, from: [u32; 3], reach: u32) -> f32 {
    let [nx, ny, nz] = grid.dims;
    let (mut sum, mut count) = (0.0, 0.0);
    for k in from[2]..(from[2] + reach).min(nz) {
        for j in from[1]..(from[1] + reach).min(ny) {
            for i in from[0]..(from[0] + reach).min(nx) {
                let node = i as usize + nx as usize * (j as usize + ny as usize * k as usize);
                let value = grid.values.get(node).copied().filter(|v| v.is_finite());
                if let Some(value) = value {
                    (sum, count) = (sum + value, count + 1.0);
                }
            }
        }
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn grid(dims: [u32; 3], f: impl Fn(u32, u32, u32) -> f32) -> Grid {
        let mut values = Vec::new();
        for k in 0..dims[2] {
            for j in 0..dims[1] {
                (0..dims[0]).for_each(|i| values.push(f(i, j, k)));
            }
        }
        Grid { origin: Vec3::ZERO, spacing: 0.1, dims, values: Arc::new(values) }
    }

    fn samples(volume: &Volume) -> Vec<f64> {
        volume
            .bytes
            .chunks_exact(2)
            .map(|b| f64::from(half::to_f32(u16::from_le_bytes([b[0], b[1]]))))
            .collect()
    }

    #[test]
    fn small_grids_are_sent_node_by_node() {
        let volume = encode(&grid([2, 3, 4], |i, j, k| (i + 10 * j + 100 * k) as f32));
        assert_eq!((volume.dims, volume.range, volume.scale), ([2, 3, 4], [0.0, 321.0], 1.0));
        assert_eq!(samples(&volume)[1 + 2 * (2 + 3 * 3)], 321.0);
    }

    #[test]
    fn large_grids_are_thinned_out() {
        let fog = encode(&grid([600, 3, 2], |i, _, _| if i % 3 == 0 { 3.0 } else { 0.0 }));
        assert_eq!((fog.dims, fog.spacing), ([200, 1, 1], 0.1 * 3.0));
        assert!(samples(&fog).iter().all(|v| (v - 1.0).abs() < 1e-3), "densities are averaged");
        let distance = encode(&grid([600, 3, 2], |i, _, _| i as f32 - 300.0));
        assert_eq!(samples(&distance)[100], 0.0, "the surface stays at its node");
    }

    #[test]
    fn values_beyond_half_precision_are_scaled() {
        let volume = encode(&grid([2, 1, 1], |i, _, _| if i == 0 { f32::NAN } else { 1e6 }));
        assert_eq!((volume.non_finite, volume.range), (1, [1e6, 1e6]));
        assert_eq!(samples(&volume), [0.0, 1.0]);
        assert_eq!(encode(&grid([0, 0, 0], |_, _, _| 0.0)).dims, [0, 0, 0]);
    }
}
