//! Rectangles for cloth and ground, and the cuboid.

use super::{counts, fits, positive};
use crate::{GeomError, TriMesh};
use billow_num::Vec3;

/// A rectangle of cloth in the plane z = 0, facing +z, with `nx` × `ny` nodes whose diagonals alternate
/// (herring-bone), so that the mesh has no preferred shear direction.
///
/// `width` is along x and `height` along y [m]. Node (i, j) has number `j·nx + i`. Vertices: `nx·ny`;
/// triangles: `2(nx−1)(ny−1)`.
///
/// # Errors
/// When a length is not positive or there are fewer than two nodes along a side.
pub fn cloth_grid(width: f64, height: f64, nx: u32, ny: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "cloth_grid";
    positive(OF, &[("width", width), ("height", height)])?;
    counts(OF, &[("nx", nx, 2), ("ny", ny, 2)])?;
    fits(OF, u64::from(nx) * u64::from(ny))?;
    Ok(rectangle(width, height, nx, ny, |i, j| (i + j) % 2 == 0))
}

/// A rectangle in the plane z = 0, facing +z, cut into `nx` × `ny` cells with parallel diagonals.
///
/// `width` is along x and `height` along y [m]. Vertices: `(nx+1)(ny+1)`; triangles: `2·nx·ny`.
///
/// # Errors
/// When a length is not positive or there is no cell along a side.
pub fn plane(width: f64, height: f64, nx: u32, ny: u32) -> Result<TriMesh, GeomError> {
    const OF: &str = "plane";
    positive(OF, &[("width", width), ("height", height)])?;
    counts(OF, &[("nx", nx, 1), ("ny", ny, 1)])?;
    fits(OF, (u64::from(nx) + 1) * (u64::from(ny) + 1))?;
    Ok(rectangle(width, height, nx + 1, ny + 1, |_, _| true))
}

/// A grid of `nx` × `ny` nodes; `rising(i, j)` picks the diagonal of cell (i, j).
fn rectangle(width: f64, height: f64, nx: u32, ny: u32, rising: impl Fn(u32, u32) -> bool) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..ny {
        for i in 0..nx {
            let (x, y) = (spread(width, i, nx - 1), spread(height, j, ny - 1));
            mesh.positions.push(Vec3::new(x, y, 0.0));
        }
    }
    for j in 0..ny - 1 {
        for i in 0..nx - 1 {
            let a = j * nx + i;
            let (b, c, d) = (a + 1, a + nx + 1, a + nx);
            mesh.triangles.extend(if rising(i, j) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    mesh
}

/// Point `i` of `n` equal parts of a length centred on zero; symmetric to the last bit.
fn spread(length: f64, i: u32, n: u32) -> f64 {
    length * (f64::from(2 * i) - f64::from(n)) / f64::from(2 * n)
}

/// A cuboid of edge lengths `size` [m], its faces cut into `segments` cells along x, y and z.
///
/// Vertices: `(nx+1)(ny+1)(nz+1) − (nx−1)(ny−1)(nz−1)`; triangles: `4(nx·ny + ny·nz + nz·nx)`.
///
/// # Errors
/// When a length is not positive or there is no segment along an axis.
pub fn cuboid(size: Vec3, segments: [u32; 3]) -> Result<TriMesh, GeomError> {
    const OF: &str = "cuboid";
    positive(OF, &[("size.x", size.x), ("size.y", size.y), ("size.z", size.z)])?;
    let [nx, ny, nz] = segments;
    counts(OF, &[("segments.x", nx, 1), ("segments.y", ny, 1), ("segments.z", nz, 1)])?;
    let [x, y, z] = segments.map(|n| u64::from(n) + 1);
    fits(OF, 2 * (x * y + y * z + z * x))?;

    let lattice = CuboidSurface { n: segments };
    let mut mesh = TriMesh::default();
    for k in 0..=nz {
        let full = k == 0 || k == nz;
        lattice.for_layer(full, |i, j| {
            mesh.positions.push(Vec3::new(
                spread(size.x, i, nx),
                spread(size.y, j, ny),
                spread(size.z, k, nz),
            ));
        });
    }
    // Each pair of opposite faces: axes (u, v, w) in cyclic order, the face at w = n facing +w.
    for w in 0..3 {
        let (u, v) = ((w + 1) % 3, (w + 2) % 3);
        for (at, outward) in [(segments[w], true), (0, false)] {
            for b in 0..segments[v] {
                for a in 0..segments[u] {
                    let corner = |da: u32, db: u32| {
                        let mut c = [0; 3];
                        (c[u], c[v], c[w]) = (a + da, b + db, at);
                        lattice.vertex(c)
                    };
                    let [p, q, r, s] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    mesh.triangles.extend(if outward {
                        [[p, q, r], [p, r, s]]
                    } else {
                        [[p, r, q], [p, s, r]]
                    });
                }
            }
        }
    }
    Ok(mesh)
}

/// Numbering of the lattice points on the surface of a cuboid, layer by layer upward.
struct CuboidSurface {
    n: [u32; 3],
}

impl CuboidSurface {
    /// Visits the points of a layer in the order of their numbers: a full layer row by row, else around the
    /// rim.
    fn for_layer(&self, full: bool, mut visit: impl FnMut(u32, u32)) {
        let [nx, ny, _] = self.n;
        if full {
            (0..=ny).for_each(|j| (0..=nx).for_each(|i| visit(i, j)));
        } else {
            (0..nx).for_each(|i| visit(i, 0));
            (0..ny).for_each(|j| visit(nx, j));
            (0..nx).for_each(|i| visit(nx - i, ny));
            (0..ny).for_each(|j| visit(0, ny - j));
        }
    }

    fn vertex(&self, [i, j, k]: [u32; 3]) -> u32 {
        let [nx, ny, nz] = self.n;
        let (layer, rim) = ((nx + 1) * (ny + 1), 2 * (nx + ny));
        let row_major = j * (nx + 1) + i;
        if k == 0 {
            row_major
        } else if k == nz {
            layer + (nz - 1) * rim + row_major
        } else {
            let around = if j == 0 && i < nx {
                i
            } else if i == nx && j < ny {
                nx + j
            } else if j == ny && i > 0 {
                nx + ny + (nx - i)
            } else {
                2 * nx + ny + (ny - j)
            };
            layer + (k - 1) * rim + around
        }
    }
}
