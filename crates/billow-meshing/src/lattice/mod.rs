//! The body-centred cubic lattice and its red-green refinement ([Bri03] 5.2, 5.3).
//!
//! Nodes have integer coordinates. At level `l` the lattice has cubic cells of edge `2 s` with `s = 2^(depth + 1 − l)`:
//! its nodes are the points whose coordinates are all even or all odd multiples of `s`, its long edges have length `2 s`
//! along an axis and its short ones join `p` and `p + (±s, ±s, ±s)`. A tetrahedron is known by its centre, whose
//! smallest power of two also tells its level. So the neighbours of an edge are computed, not stored.

mod forest;
mod green;
mod keys;

pub use forest::{LeafMesh, RedGreen};

use keys::Place;

/// The half cell edge `s` of a level.
fn half_edge(depth: u32, level: u32) -> i32 {
    1 << (depth + 1 - level)
}

/// The centre of a tetrahedron with the given corners.
fn centre(corners: [Place; 4]) -> Place {
    std::array::from_fn(|a| corners.iter().map(|c| c[a]).sum::<i32>() / 4)
}

/// The point halfway between two nodes.
fn midpoint(a: Place, b: Place) -> Place {
    std::array::from_fn(|k| (a[k] + b[k]) / 2)
}

/// Calls `f` with the centre of each lattice tetrahedron around the edge from `a` to `b`: four around a long edge, six
/// around a short one. `s` is the half cell edge of the level.
fn around_edge(a: Place, b: Place, s: i32, mut f: impl FnMut(Place)) {
    let (m, d): (Place, Place) = (midpoint(a, b), std::array::from_fn(|k| b[k] - a[k]));
    let moved = |mut p: Place, axis: usize, by: i32| {
        p[axis] += by;
        p
    };
    if let Some(axis) = (0..3).find(|k| d[*k].abs() == 2 * s) {
        for other in [(axis + 1) % 3, (axis + 2) % 3] {
            f(moved(m, other, s / 2));
            f(moved(m, other, -s / 2));
        }
    } else {
        // {a, a + 2s σᵢ eᵢ, b, b − 2s σⱼ eⱼ} for i ≠ j, with σ the signs of b − a.
        for i in 0..3 {
            for j in [(i + 1) % 3, (i + 2) % 3] {
                f(moved(moved(m, i, d[i] / 2), j, -d[j] / 2));
            }
        }
    }
}
