//! What an object looks like from outside: points with triangles or segments, and where they came from.

use crate::frame::{Domain, Object, Shape, Values};
use std::borrow::Cow;
use std::collections::HashMap;

/// Drawable form of an object. Vertices and elements may be a selection of the object's own.
pub(crate) struct Surface<'a> {
    /// The object's vertex for each vertex; `None` if they are the same.
    pub(crate) vertices: Option<Vec<u32>>,
    /// What connects them.
    pub(crate) elements: Elements<'a>,
    /// The object's element for each element; `None` if they are the same.
    pub(crate) sources: Option<Vec<u32>>,
}

/// What connects vertices.
pub(crate) enum Elements<'a> {
    /// Nothing: loose points.
    Points,
    /// Triangles.
    Triangles(Cow<'a, [[u32; 3]]>),
    /// Segments.
    Segments(&'a [[u32; 2]]),
}

impl<'a> Surface<'a> {
    /// The drawable form; `None` for a grid.
    pub(crate) fn of(shape: &'a Shape) -> Option<Self> {
        let whole = |elements| Some(Self { vertices: None, elements, sources: None });
        match shape {
            Shape::Triangles { triangles, .. } => whole(Elements::Triangles(Cow::Borrowed(triangles))),
            Shape::Points { .. } => whole(Elements::Points),
            Shape::Lines { segments, .. } => whole(Elements::Segments(segments)),
            Shape::Tets { tets, .. } => Some(boundary(tets)),
            Shape::Grid(_) => None,
        }
    }

    /// The surface of tetrahedra.
    pub(crate) fn of_tets(tets: &[[u32; 4]]) -> Surface<'static> {
        boundary(tets)
    }

    /// Picks the surface's share of a per-vertex array.
    pub(crate) fn at_vertices<'b, T: Copy>(&self, all: &'b [T]) -> Cow<'b, [T]> {
        pick(all, self.vertices.as_deref())
    }

    /// Picks the surface's share of an attribute.
    pub(crate) fn values(&self, domain: Domain, values: &Values) -> Values {
        let chosen = match domain {
            Domain::Vertex => self.vertices.as_deref(),
            Domain::Element => self.sources.as_deref(),
            Domain::Object => None,
        };
        if chosen.is_none() {
            return values.clone();
        }
        match values {
            Values::Scalar(all) => Values::Scalar(pick(all, chosen).into_owned().into()),
            Values::Vector(all) => Values::Vector(pick(all, chosen).into_owned().into()),
            Values::Integer(all) => Values::Integer(pick(all, chosen).into_owned().into()),
        }
    }

    /// World positions of the surface's vertices.
    pub(crate) fn world_positions(&self, object: &Object) -> Vec<billow_num::Vec3> {
        let pose = object.pose;
        self.at_vertices(object.shape.positions()).iter().map(|x| pose.point(*x)).collect()
    }
}

fn pick<'a, T: Copy>(all: &'a [T], chosen: Option<&[u32]>) -> Cow<'a, [T]> {
    match chosen {
        None => Cow::Borrowed(all),
        Some(chosen) => chosen.iter().map(|k| all[*k as usize]).collect(),
    }
}

/// Faces that belong to one tetrahedron only, turned outward, in the order of the tetrahedra.
fn boundary(tets: &[[u32; 4]]) -> Surface<'static> {
    let faces = |[a, b, c, d]: [u32; 4]| [[a, c, b], [a, b, d], [b, c, d], [a, d, c]];
    let key = |face: [u32; 3]| {
        let mut key = face;
        key.sort_unstable();
        key
    };
    let mut uses: HashMap<[u32; 3], u32> = HashMap::new();
    for face in tets.iter().copied().flat_map(faces) {
        *uses.entry(key(face)).or_default() += 1;
    }
    let (mut vertices, mut triangles, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    let mut place: HashMap<u32, u32> = HashMap::new();
    for (k, tet) in tets.iter().enumerate() {
        for face in faces(*tet).into_iter().filter(|face| uses[&key(*face)] == 1) {
            triangles.push(face.map(|v| {
                *place.entry(v).or_insert_with(|| {
                    vertices.push(v);
                    vertices.len() as u32 - 1
                })
            }));
            sources.push(k as u32);
        }
    }
    Surface {
        vertices: Some(vertices),
        elements: Elements::Triangles(Cow::Owned(triangles)),
        sources: Some(sources),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_of_two_tetrahedra_is_six_outward_faces() {
        use billow_num::Vec3;
        let p = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE, Vec3::splat(9.0)];
        // Vertex 5 is not used.
        let surface = boundary(&[[0, 1, 2, 3], [1, 2, 3, 4]]);
        let Elements::Triangles(triangles) = &surface.elements else { panic!("triangles") };
        assert_eq!((triangles.len(), surface.vertices.as_ref().unwrap().len()), (6, 5));
        assert_eq!(surface.sources.as_deref(), Some(&[0, 0, 0, 1, 1, 1][..]));
        let q = surface.at_vertices(&p);
        let volume: f64 = triangles
            .iter()
            .map(|t| q[t[0] as usize].dot(q[t[1] as usize].cross(q[t[2] as usize])) / 6.0)
            .sum();
        let expected = 1.0 / 6.0 + (p[2] - p[1]).cross(p[3] - p[1]).dot(p[4] - p[1]) / 6.0;
        assert!((volume - expected).abs() < 1e-15, "{volume}");
    }
}
