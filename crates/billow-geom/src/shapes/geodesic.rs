//! Regular subdivision of simplices, and the icosahedral sphere built on it.
//!
//! A simplex with ordered corners is cut into nᵈ equal-volume simplices by the lattice n ≥ x₁ ≥ … ≥ x_d ≥ 0
//! (Freudenthal's subdivision). Neighbours that order shared corners alike match along their common face, so
//! ordering corners by number makes a whole complex conform.

use super::{counts, fits, positive};
use crate::{GeomError, TriMesh};
use billow_num::Vec3;
use std::collections::HashMap;

/// A point of a subdivided complex: (corner, how often it counts), ascending by corner, padded with zeros.
pub(super) type Weights = [(u32, u32); 4];

/// The subdivision of a simplicial complex.
pub(super) struct Lattice<const N: usize> {
    /// Weights of each point; they add up to the subdivision number.
    pub(super) points: Vec<Weights>,
    /// Corner numbers of each small simplex; orientation as it comes.
    pub(super) simplices: Vec<[u32; N]>,
}

/// Cuts each simplex into `n^(N−1)`.
pub(super) fn subdivide<const N: usize>(simplices: &[[u32; N]], n: u32) -> Lattice<N> {
    let mut lattice = Lattice { points: Vec::new(), simplices: Vec::new() };
    let mut numbers: HashMap<Weights, u32> = HashMap::new();
    let paths = axis_orders::<N>();
    for corners in simplices {
        let mut sorted = *corners;
        sorted.sort_unstable();
        for_lattice_cells::<N>(n, |base| {
            for path in &paths {
                let Some(vertices) = lattice_path::<N>(base, path, n) else { continue };
                lattice.simplices.push(vertices.map(|x| {
                    let weights = weights(&sorted, &x, n);
                    *numbers.entry(weights).or_insert_with_key(|w| {
                        lattice.points.push(*w);
                        lattice.points.len() as u32 - 1
                    })
                }));
            }
        });
    }
    lattice
}

/// All orders of the first N − 1 axes.
fn axis_orders<const N: usize>() -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 1..N {
        orders = orders
            .iter()
            .flat_map(|o| (0..N - 1).filter(|k| !o.contains(k)).map(|k| [o.as_slice(), &[k]].concat()))
            .collect();
    }
    orders
}

/// Visits the lower corners of unit cells with n > x₁ ≥ … ≥ x_d ≥ 0; entry N − 1 stays unused.
fn for_lattice_cells<const N: usize>(n: u32, mut visit: impl FnMut([u32; N])) {
    let mut x = [0; N];
    loop {
        visit(x);
        // Count up, last axis fastest, keeping each coordinate at most its predecessor.
        let Some(k) = (0..N - 1).rev().find(|&k| x[k] < if k == 0 { n - 1 } else { x[k - 1] }) else {
            return;
        };
        x[k] += 1;
        x[k + 1..].fill(0);
    }
}

/// The corners met from `base` along the axes in the order of `path`, if all lie in the simplex.
fn lattice_path<const N: usize>(base: [u32; N], path: &[usize], n: u32) -> Option<[[u32; N]; N]> {
    let mut vertices = [base; N];
    for k in 1..N {
        vertices[k] = vertices[k - 1];
        vertices[k][path[k - 1]] += 1;
    }
    let inside = |x: &[u32; N]| x[0] <= n && (1..N - 1).all(|k| x[k] <= x[k - 1]);
    vertices.iter().all(inside).then_some(vertices)
}

fn weights<const N: usize>(corners: &[u32; N], x: &[u32; N], n: u32) -> Weights {
    let level = |k: usize| if k == 0 { n } else { x[k - 1] };
    let mut weights = [(0, 0); 4];
    let mut used = 0;
    for k in 0..N {
        let w = level(k) - if k + 1 < N { level(k + 1) } else { 0 };
        if w > 0 {
            weights[used] = (corners[k], w);
            used += 1;
        }
    }
    weights
}

/// The corners of a regular icosahedron on the unit sphere.
pub(super) fn icosahedron() -> ([Vec3; 12], [[u32; 3]; 20]) {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ]
    .map(|c| Vec3::from_array(c).normalize());
    let faces = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    (corners, faces)
}

/// A sphere of radius `radius` [m]: each edge of an icosahedron cut into `frequency` parts and pushed out.
///
/// Vertices: `10·frequency² + 2`; triangles: `20·frequency²`. All vertices lie on the sphere.
///
/// # Errors
/// When the radius is not positive or the frequency is zero or above 4096.
pub fn icosphere(radius: f64, frequency: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "icosphere";
    positive(OF, &[("radius", radius)])?;
    counts(OF, &[("frequency", frequency, 1)])?;
    fits(OF, 10 * u64::from(frequency) * u64::from(frequency) + 2)?;
    let (corners, faces) = icosahedron();
    let lattice = subdivide(&faces, frequency);
    let point = |w: &Weights| w.iter().map(|&(c, n)| f64::from(n) * corners[c as usize]).sum::<Vec3>();
    let positions: Vec<Vec3> = lattice.points.iter().map(|w| radius * point(w).normalize()).collect();
    let triangles = lattice
        .simplices
        .into_iter()
        .map(|[a, b, c]| {
            let [p, q, r] = [a, b, c].map(|v| positions[v as usize]);
            if p.dot(q.cross(r)) > 0.0 { [a, b, c] } else { [a, c, b] }
        })
        .collect();
    Ok(TriMesh { positions, triangles })
}
