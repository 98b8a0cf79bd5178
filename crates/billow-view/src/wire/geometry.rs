//! One object's arrays as they are sent: vertices, indices, and where their codes lie.

use super::bytes::{half_words, hash, words};
use super::vertices::{Lattice, encode_normal, normals, usable};
use super::volume;
use billow_geom::mesh::{TET_FACES, TetTopology};
use billow_io::{Object, Shape};
use billow_num::Vec3;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the page draws an object as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Triangles = 0,
    Points = 1,
    Lines = 2,
    Grid = 3,
}

/// An array with the hash of its content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) hash: [u8; 16],
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    fn new(bytes: Vec<u8>) -> Self {
        Self { hash: hash(&bytes), bytes }
    }
}

/// An object ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Geometry {
    pub(crate) kind: Kind,
    /// Vertices or points sent, or nodes of the grid.
    pub(crate) vertices: u32,
    /// Triangles or segments sent.
    pub(crate) elements: u32,
    /// Vertices or values that are not finite.
    pub(crate) non_finite: u32,
    /// Where the vertex codes lie; for a grid, where its nodes lie.
    pub(crate) lattice: Lattice,
    /// Nodes of a grid along x, y, z.
    pub(crate) dims: [u32; 3],
    /// Smallest and largest value of a grid.
    pub(crate) range: [f32; 2],
    /// What a grid's samples were multiplied by [-].
    pub(crate) scale: f32,
    pub(crate) vertex_array: Array,
    pub(crate) index_array: Array,
}

/// The skin of a tetrahedral mesh: what is sent in its place.
#[derive(Debug)]
pub(crate) struct Skin {
    /// Vertices of the mesh that lie on the skin, ascending.
    pub(crate) vertices: Vec<u32>,
    /// Triangles over those vertices.
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// Skins already found, by the array they were found for.
#[derive(Debug, Default)]
pub(crate) struct Skins(Mutex<HashMap<usize, KnownSkin>>);

/// A mesh's array, kept so that its address stays its own, and its skin.
type KnownSkin = (Arc<Vec<[u32; 4]>>, Arc<Skin>);

/// Meshes whose skins are remembered.
const REMEMBERED: usize = 256;

impl Skins {
    /// The skin of `tets` over `vertices` vertices.
    pub(crate) fn of(&self, vertices: usize, tets: &Arc<Vec<[u32; 4]>>) -> Arc<Skin> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::as_ptr(tets) as usize;
        if let Some((_, skin)) = known.get(&key) {
            return Arc::clone(skin);
        }
        let skin = Arc::new(Skin::of(vertices, tets));
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, (Arc::clone(tets), Arc::clone(&skin)));
        skin
    }

    /// Forgets all skins.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Skin {
    fn of(vertices: usize, tets: &[[u32; 4]]) -> Self {
        // A degenerate mesh has no connectivity; then every face is shown.
        let faces: Vec<[u32; 3]> = match TetTopology::new(vertices, tets) {
            Ok(topology) => {
                let boundary = topology.boundary_faces();
                boundary.iter().map(|f| topology.faces()[*f as usize]).collect()
            }
            Err(_) => tets.iter().flat_map(|t| TET_FACES.map(|f| f.map(|c| t[c]))).collect(),
        };
        let mut used: Vec<u32> = faces.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        let number = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
        let triangles = faces.iter().map(|f| f.map(number)).collect();
        Self { vertices: used, triangles }
    }
}

/// Encodes an object.
pub(crate) fn geometry(object: &Object, skins: &Skins) -> Geometry {
    match &object.shape {
        Shape::Triangles { positions, triangles } => mesh(positions, triangles),
        Shape::Tets { positions, tets } => {
            let skin = skins.of(positions.len(), tets);
            let positions: Vec<Vec3> = skin.vertices.iter().map(|v| positions[*v as usize]).collect();
            mesh(&positions, &skin.triangles)
        }
        Shape::Points { positions } => plain(Kind::Points, positions, &[]),
        Shape::Lines { positions, segments } => plain(Kind::Lines, positions, segments),
        Shape::Grid(grid) => {
            let volume = volume::encode(grid);
            Geometry {
                kind: Kind::Grid,
                vertices: volume.dims.iter().product(),
                elements: 0,
                non_finite: volume.non_finite,
                lattice: Lattice { origin: volume.origin, step: Vec3::splat(volume.spacing) },
                dims: volume.dims,
                range: volume.range,
                scale: volume.scale,
                vertex_array: Array::new(volume.bytes),
                index_array: Array::new(Vec::new()),
            }
        }
    }
}

/// A triangle mesh: three words per vertex, the last one its normal.
fn mesh(positions: &[Vec3], triangles: &[[u32; 3]]) -> Geometry {
    let lattice = Lattice::spanning(positions.iter().copied());
    let normals = normals(positions, triangles);
    let mut codes = Vec::with_capacity(3 * positions.len());
    for (x, n) in positions.iter().zip(&normals) {
        codes.extend_from_slice(&lattice.encode(*x));
        codes.push(encode_normal(*n));
    }
    deforming(Kind::Triangles, positions, lattice, &codes, triangles)
}

/// Points or lines: two words per vertex.
fn plain(kind: Kind, positions: &[Vec3], segments: &[[u32; 2]]) -> Geometry {
    let lattice = Lattice::spanning(positions.iter().copied());
    let codes: Vec<u32> = positions.iter().flat_map(|x| lattice.encode(*x)).collect();
    deforming(kind, positions, lattice, &codes, segments)
}

fn deforming<const N: usize>(
    kind: Kind,
    positions: &[Vec3],
    lattice: Lattice,
    codes: &[u32],
    elements: &[[u32; N]],
) -> Geometry {
    Geometry {
        kind,
        vertices: positions.len() as u32,
        elements: elements.len() as u32,
        non_finite: positions.iter().filter(|x| !usable(**x)).count() as u32,
        lattice,
        dims: [0; 3],
        range: [0.0; 2],
        scale: 1.0,
        vertex_array: Array::new(words(codes)),
        index_array: Array::new(indices(positions.len(), elements.as_flattened())),
    }
}

/// Indices take 16 bits where they fit. 65535 is left out: it restarts strips.
fn indices(vertices: usize, flat: &[u32]) -> Vec<u8> {
    if vertices <= usize::from(u16::MAX) {
        half_words(&flat.iter().map(|v| *v as u16).collect::<Vec<_>>())
    } else {
        words(flat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::Pose;

    fn object(shape: Shape) -> Object {
        Object { name: "a".into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() }
    }

    #[test]
    fn a_tetrahedral_mesh_is_sent_as_its_skin() {
        // Four tetrahedra around the inner vertex 4: their skin is the outer tetrahedron.
        let p = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(0.2)];
        let tets = TET_FACES.map(|[a, b, c]| [4, a as u32, b as u32, c as u32]);
        let shape = Shape::Tets { positions: Arc::new(p.to_vec()), tets: Arc::new(tets.to_vec()) };
        let sent = geometry(&object(shape), &Skins::default());
        assert_eq!((sent.vertices, sent.elements, sent.kind), (4, 4, Kind::Triangles));
        assert_eq!((sent.vertex_array.bytes.len(), sent.index_array.bytes.len()), (4 * 12, 4 * 3 * 2));
    }

    #[test]
    fn degenerate_tetrahedra_are_shown_face_by_face() {
        let shape =
            Shape::Tets { positions: Arc::new(vec![Vec3::ZERO; 4]), tets: Arc::new(vec![[0, 1, 1, 2]]) };
        assert_eq!(geometry(&object(shape), &Skins::default()).elements, 4);
    }

    #[test]
    fn indices_widen_with_the_mesh() {
        assert_eq!(indices(65535, &[0, 65534]).len(), 4);
        assert_eq!(indices(65536, &[0, 65535]).len(), 8);
    }

    #[test]
    fn the_hash_tells_contents_apart() {
        let points = |x: f64| {
            object(Shape::Points {
                positions: Arc::new(vec![Vec3::ZERO, Vec3::new(x, 1.0, 1.0), Vec3::splat(3.0)]),
            })
        };
        let skins = Skins::default();
        let (a, b, c) =
            (geometry(&points(1.0), &skins), geometry(&points(1.0), &skins), geometry(&points(1.1), &skins));
        assert_eq!(a, b);
        assert_ne!(a.vertex_array.hash, c.vertex_array.hash);
    }
}
