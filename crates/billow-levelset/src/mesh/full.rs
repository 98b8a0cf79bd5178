//! Meshes to dense grids and octrees.

use super::pipeline::{MeshToSdf, mesh_to_sparse};
use super::report::MeshReport;
use crate::LevelSetError;
use crate::collider::Collider;
use crate::dense::ScalarGrid;
use crate::eikonal::March;
use crate::lattice::Lattice;
use crate::octree::{Octree, Refinement};
use crate::sparse::{Cursor, SparseGrid};
use billow_geom::bvh::Bvh;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, TriMesh};
use billow_num::{Vec3, par};

/// Half width of the band with exact distances [samples].
const BAND: f64 = 3.0;

/// The signed distance to a mesh on a full lattice ([Gue06] 2.3.1): exact within three samples of the surface,
/// marched beyond.
pub fn mesh_to_dense(
    mesh: &TriMesh,
    lattice: Lattice,
    march: &March,
) -> Result<(ScalarGrid, MeshReport), LevelSetError> {
    lattice.check_memory(8, crate::DEFAULT_MEMORY_LIMIT)?;
    let mut settings = MeshToSdf::with_spacing(lattice.spacing);
    settings.frame.origin = lattice.origin;
    settings.frame.half_width = BAND;
    let (band, report) = mesh_to_sparse(mesh, &settings)?;
    let (mut grid, known) = band.to_dense(lattice)?;
    march.run(&mut grid, &known)?;
    Ok((grid, report))
}

impl SparseGrid {
    /// Values on a full lattice with the same spacing whose samples coincide, and which of them lie in the band. Others
    /// are ± the half width.
    pub fn to_dense(&self, lattice: Lattice) -> Result<(ScalarGrid, Vec<bool>), LevelSetError> {
        lattice.check_memory(9, crate::DEFAULT_MEMORY_LIMIT)?;
        let offset = self.frame().to_samples(lattice.origin);
        let whole = offset.round();
        if lattice.spacing != self.frame().spacing || offset.distance(whole) > 1e-6 {
            let problem = "the lattice's samples do not coincide with the sparse grid's".into();
            return Err(LevelSetError::Mismatch { operation: "sparse to dense", problem });
        }
        let first = whole.to_array().map(|v| v as i32);
        let [nx, ny, _] = lattice.dims;
        let mut values = vec![0.0; lattice.len()];
        par::chunks_mut(&mut values, nx, |at, row| {
            let (j, k) = ((at / nx % ny) as i32, (at / nx / ny) as i32);
            let mut cursor = Cursor::new(self);
            for (i, v) in row.iter_mut().enumerate() {
                *v = f64::from(cursor.at([first[0] + i as i32, first[1] + j, first[2] + k]));
            }
        });
        let limit = f64::from(self.frame().background()) * (1.0 - 1e-6);
        let known = values.iter().map(|v| v.abs() < limit).collect();
        Ok((ScalarGrid { lattice, values }, known))
    }
}

/// The signed distance to a mesh on an octree with cells of edge `finest` [m] at the surface, over the mesh's
/// bounding box grown by `margin` [m]. Distances are exact at all vertices that do not hang.
pub fn mesh_to_octree(
    mesh: &TriMesh,
    refinement: &Refinement,
    margin: f64,
) -> Result<(Octree, MeshReport), LevelSetError> {
    let (signs, report) = mesh_to_sparse(mesh, &MeshToSdf::with_spacing(refinement.finest))?;
    let distance = MeshDistance::new(mesh);
    let domain = Aabb::of_points(mesh.triangles.iter().flatten().map(|&v| &mesh.positions[v as usize]));
    let phi = |x: Vec3| distance.at(x).copysign(signs.phi(x, 0.0));
    Ok((Octree::of_function(domain.inflated(margin), refinement, &phi)?, report))
}

/// Unsigned distance to a mesh anywhere.
struct MeshDistance<'a> {
    mesh: &'a TriMesh,
    tree: Bvh<1>,
}

impl<'a> MeshDistance<'a> {
    fn new(mesh: &'a TriMesh) -> Self {
        let boxes: Vec<Aabb> = par::map(mesh.triangles.len(), |t| Aabb::of_points(&mesh.corners(t)));
        let centres: Vec<Vec3> = boxes.iter().map(Aabb::centre).collect();
        let mut tree = Bvh::from_centres(&centres);
        tree.refit(centres.first().copied().unwrap_or_default(), |t| ([boxes[t]], 0.0));
        Self { mesh, tree }
    }

    fn at(&self, x: Vec3) -> f64 {
        let distance = |t: u32| point_triangle(x, self.mesh.corners(t as usize)).distance;
        self.tree.closest(x, f64::INFINITY, distance).map_or(f64::INFINITY, |(_, d)| d)
    }
}
