//! Tetrahedral boxes and balls.

use super::geodesic::{Weights, icosahedron, subdivide};
use super::{counts, fits, positive};
use crate::{GeomError, TetMesh};
use billow_num::Vec3;

/// A box of edge lengths `size` [m] cut into `cells` cubes along x, y and z, each into six tetrahedra around
/// its main diagonal.
///
/// Vertices: `(nx+1)(ny+1)(nz+1)`, x fastest; tetrahedra: `6·nx·ny·nz`.
///
/// # Errors
/// When a length is not positive or there is no cell along an axis.
pub fn tet_box(size: Vec3, cells: [u32; 3]) -> Result<TetMesh, GeomError> {
    const OF: &str = "tet_box";
    positive(OF, &[("size.x", size.x), ("size.y", size.y), ("size.z", size.z)])?;
    let [nx, ny, nz] = cells;
    counts(OF, &[("cells.x", nx, 1), ("cells.y", ny, 1), ("cells.z", nz, 1)])?;
    fits(OF, cells.iter().map(|&n| u64::from(n) + 1).product())?;
    let at = |n: u32, i: u32| f64::from(i) / f64::from(n) - 0.5;
    let mut mesh = TetMesh::default();
    for k in 0..=nz {
        for j in 0..=ny {
            mesh.positions.extend((0..=nx).map(|i| size * Vec3::new(at(nx, i), at(ny, j), at(nz, k))));
        }
    }
    // From the low to the high corner, along the axes in each of their six orders.
    let step = [1, nx + 1, (nx + 1) * (ny + 1)];
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    for (k, j, i) in (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (k, j, i)))) {
        let a = i * step[0] + j * step[1] + k * step[2];
        for (n, [x, y, _]) in orders.into_iter().enumerate() {
            let (b, c, d) = (a + step[x], a + step[x] + step[y], a + step.iter().sum::<u32>());
            mesh.tets.push(if n < 3 { [a, b, c, d] } else { [a, c, b, d] });
        }
    }
    Ok(mesh)
}

/// A ball of radius `radius` [m]: the twenty tetrahedra between an icosahedron and its centre, each cut into
/// `layers`³, with the points of layer k moved to the sphere of radius k/layers.
///
/// Vertices: `1 + 5n(n+1)(2n+1)/3 + 2n`; tetrahedra: `20·n³`, for n = `layers`.
///
/// # Errors
/// When the radius is not positive, or `layers` is zero or above 400.
pub fn tet_ball(radius: f64, layers: u32) -> Result<TetMesh, GeomError> {
    const OF: &str = "tet_ball";
    positive(OF, &[("radius", radius)])?;
    counts(OF, &[("layers", layers, 1)])?;
    fits(OF, 4 * u64::from(layers).pow(3))?;
    let (corners, faces) = icosahedron();
    const CENTRE: u32 = 12;
    let simplices = faces.map(|[a, b, c]| [a, b, c, CENTRE]);
    let lattice = subdivide(&simplices, layers);
    let point = |weights: &Weights| {
        let outer = weights.iter().filter(|&&(c, w)| c != CENTRE && w > 0);
        let layer: u32 = outer.clone().map(|&(_, w)| w).sum();
        let direction: Vec3 = outer.map(|&(c, w)| f64::from(w) * corners[c as usize]).sum();
        radius * f64::from(layer) / f64::from(layers) * direction.normalize_or_zero()
    };
    let positions: Vec<Vec3> = lattice.points.iter().map(point).collect();
    let tets = lattice
        .simplices
        .into_iter()
        .map(|[a, b, c, d]| {
            let [p, q, r, s] = [a, b, c, d].map(|v| positions[v as usize]);
            if (q - p).cross(r - p).dot(s - p) > 0.0 { [a, b, c, d] } else { [a, b, d, c] }
        })
        .collect();
    Ok(TetMesh { positions, tets })
}
