//! A frame on the wire: a header, one fixed record per object, and the arrays the page cannot have yet.
//!
//! Arrays that the page keeps are named by their hash only: those of posed objects, and those that are the same as
//! in the run's first frame. All others travel in the message, so that a frame of a deforming mesh is one request.

use super::bytes::Bytes;
use super::catalogue::catalogue;
use super::geometry::{Array, Geometry};
use billow_io::{Frame, Object};
use billow_num::Pose;
use std::collections::HashMap;
use std::sync::Arc;

/// "BVF1".
const MAGIC: u32 = u32::from_le_bytes(*b"BVF1");
const HEADER: usize = 40;
const RECORD: usize = 176;

/// Hashes of the arrays of a run's first frame, by object name.
#[derive(Debug, Default)]
pub(crate) struct Anchor(HashMap<String, [[u8; 16]; 2]>);

impl Anchor {
    /// The anchor of a run whose first frame is this one.
    pub(crate) fn of(frame: &Frame, geometry: &[Arc<Geometry>]) -> Self {
        let hashes = |g: &Geometry| [g.vertex_array.hash, g.index_array.hash];
        Self(frame.objects.iter().zip(geometry).map(|(o, g)| (o.name.clone(), hashes(g))).collect())
    }

    /// Whether vertices and indices of the object are sent by name.
    fn by_name(&self, object: &Object, geometry: &Geometry) -> [bool; 2] {
        let first = self.0.get(&object.name);
        let same = |k: usize, array: &Array| first.is_some_and(|hashes| hashes[k] == array.hash);
        let vertices = object.pose != Pose::IDENTITY || same(0, &geometry.vertex_array);
        [vertices, vertices || same(1, &geometry.index_array)]
    }
}

/// Encodes a frame whose objects have been encoded to `geometry`.
pub(crate) fn frame(frame: &Frame, geometry: &[Arc<Geometry>], anchor: &Anchor) -> Vec<u8> {
    let inline: Vec<[bool; 2]> =
        frame.objects.iter().zip(geometry).map(|(o, g)| anchor.by_name(o, g).map(|named| !named)).collect();
    let mut offset = HEADER + RECORD * frame.objects.len();
    let mut out = Bytes::with_capacity(offset);
    let (_, catalogue_hash) = catalogue(frame);
    out.u32(MAGIC).u32(frame.index).f64(frame.time).raw(&catalogue_hash);
    out.u32(frame.objects.len() as u32).u32(0);
    for ((object, geometry), inline) in frame.objects.iter().zip(geometry).zip(&inline) {
        record(&mut out, object, geometry);
        for (array, inline) in [&geometry.vertex_array, &geometry.index_array].into_iter().zip(inline) {
            // Offset 0, which is never that of an array, says that the array is named only.
            out.raw(&array.hash).u32(if *inline { offset as u32 } else { 0 }).u32(array.bytes.len() as u32);
            offset += if *inline { array.bytes.len().next_multiple_of(8) } else { 0 };
        }
    }
    for (geometry, inline) in geometry.iter().zip(&inline) {
        for (array, inline) in [&geometry.vertex_array, &geometry.index_array].into_iter().zip(inline) {
            if *inline {
                out.raw(&array.bytes).align();
            }
        }
    }
    debug_assert_eq!(out.0.len(), offset);
    out.0
}

/// The part of a record before its arrays: 128 bytes.
fn record(out: &mut Bytes, object: &Object, geometry: &Geometry) {
    let Geometry { kind, vertices, elements, non_finite, lattice, dims, range, scale, .. } = geometry;
    out.u32(*kind as u32).u32(*vertices).u32(*elements).u32(*non_finite);
    for v in [object.pose.position, lattice.origin, lattice.step] {
        out.f64(v.x).f64(v.y).f64(v.z);
    }
    let q = object.pose.rotation;
    [q.x, q.y, q.z, q.w].iter().for_each(|c| _ = out.f32(*c as f32));
    dims.iter().for_each(|n| _ = out.u32(*n));
    out.f32(range[0]).f32(range[1]).f32(*scale);
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Skins, geometry};
    use super::*;
    use billow_io::Shape;
    use billow_num::{Quat, Vec3};

    fn sheet(shift: f64, pose: Pose, name: &str) -> Object {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|x| x + Vec3::splat(shift) * x.x).to_vec();
        let shape = Shape::Triangles { positions: Arc::new(positions), triangles: Arc::new(vec![[0, 1, 2]]) };
        Object { name: name.into(), pose, shape, attributes: Vec::new() }
    }

    fn encode(objects: Vec<Object>, first: Option<&Frame>) -> (Frame, Vec<u8>) {
        let encoded = |f: &Frame| -> Vec<_> {
            f.objects.iter().map(|o| Arc::new(geometry(o, &Skins::default()))).collect()
        };
        let this = Frame { index: 3, time: 0.5, objects, ..Frame::default() };
        let anchor = first.map(|f| Anchor::of(f, &encoded(f))).unwrap_or_default();
        let bytes = frame(&this, &encoded(&this), &anchor);
        (this, bytes)
    }

    fn offsets(bytes: &[u8], object: usize) -> [u32; 2] {
        [128 + 16, 128 + 24 + 16].map(|at| {
            let at = HEADER + RECORD * object + at;
            u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
        })
    }

    #[test]
    fn moving_vertices_travel_and_fixed_indices_are_named() {
        let (first, _) = encode(vec![sheet(0.0, Pose::IDENTITY, "cloth")], None);
        let (_, still) = encode(vec![sheet(0.0, Pose::IDENTITY, "cloth")], Some(&first));
        assert_eq!((offsets(&still, 0), still.len()), ([0, 0], HEADER + RECORD));
        let (_, moved) = encode(vec![sheet(0.5, Pose::IDENTITY, "cloth")], Some(&first));
        assert_eq!((offsets(&moved, 0), moved.len()), ([216, 0], HEADER + RECORD + 40));
    }

    #[test]
    fn a_posed_object_never_resends_its_mesh() {
        let pose = Pose { position: Vec3::Z, rotation: Quat::from_rotation_x(1.0) };
        let (_, bytes) = encode(vec![sheet(0.0, pose, "block")], None);
        assert_eq!((offsets(&bytes, 0), bytes.len()), ([0, 0], HEADER + RECORD));
    }

    #[test]
    fn an_object_that_appears_later_brings_everything() {
        let (first, _) = encode(vec![sheet(0.0, Pose::IDENTITY, "cloth")], None);
        let (_, bytes) = encode(
            vec![sheet(0.0, Pose::IDENTITY, "cloth"), sheet(0.1, Pose::IDENTITY, "late")],
            Some(&first),
        );
        let start = (HEADER + 2 * RECORD) as u32;
        assert_eq!(offsets(&bytes, 1), [start, start + 40]);
        assert_eq!(bytes.len(), start as usize + 40 + 8);
        assert_eq!(&bytes[..4], b"BVF1");
    }
}
