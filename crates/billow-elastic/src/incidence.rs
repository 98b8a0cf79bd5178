//! From elements to their nodes and back, for scatter without races.
//!
//! Element forces are computed element by element and then *gathered* node by node in a fixed order, so that sums
//! have the same bits for any number of threads.

use billow_num::{Vec3, par};

/// For each node, the corners of the elements it belongs to, in increasing element order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incidence {
    offsets: Vec<u32>,
    /// `element · K + corner`.
    corners: Vec<u32>,
}

impl Incidence {
    /// Builds the table for `elements` over `nodes` nodes.
    pub fn new<const K: usize>(nodes: usize, elements: &[[u32; K]]) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        for &node in elements.iter().flatten() {
            offsets[node as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut corners = vec![0u32; K * elements.len()];
        for (k, &node) in elements.iter().flatten().enumerate() {
            let slot = &mut next[node as usize];
            corners[*slot as usize] = k as u32;
            *slot += 1;
        }
        Self { offsets, corners }
    }

    /// The corners (`element · K + corner`) that node `i` occupies.
    pub fn corners(&self, i: usize) -> &[u32] {
        &self.corners[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// `out[i] += Σ f(corner)` over the corners of each node.
    pub fn gather(&self, out: &mut [Vec3], f: impl Fn(usize) -> Vec3 + Sync) {
        par::chunks_mut(out, par::CHUNK, |first, chunk| {
            for (k, slot) in chunk.iter_mut().enumerate() {
                *slot += self.corners(first + k).iter().fold(Vec3::ZERO, |sum, &c| sum + f(c as usize));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_equals_scattering() {
        let elements = [[0u32, 2, 3], [3, 1, 0], [2, 2, 1]];
        let value = |corner: usize| Vec3::new(corner as f64, 1.0, 0.0);
        let mut scattered = vec![Vec3::ZERO; 5];
        for (k, &node) in elements.iter().flatten().enumerate() {
            scattered[node as usize] += value(k);
        }
        let mut gathered = vec![Vec3::ZERO; 5];
        Incidence::new(5, &elements).gather(&mut gathered, value);
        assert_eq!(gathered, scattered);
    }
}
