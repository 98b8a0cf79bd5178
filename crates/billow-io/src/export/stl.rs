//! STL out: binary, single precision, world coordinates, all triangles of the objects in one solid.

use super::surface::{Elements, Surface};
use crate::frame::Object;
use billow_num::Vec3;

/// The objects as a binary STL file. Only triangles and the surfaces of tetrahedra are written.
pub fn write(objects: &[&Object]) -> Vec<u8> {
    let mut out = vec![0; 84];
    let label = b"Billow, world coordinates in metres";
    out[..label.len()].copy_from_slice(label);
    let mut count = 0u32;
    for object in objects {
        let Some(surface) = Surface::of(&object.shape) else { continue };
        let Elements::Triangles(triangles) = &surface.elements else { continue };
        let positions = surface.world_positions(object);
        for corners in triangles.iter().map(|t| t.map(|v| positions[v as usize])) {
            triangle(&mut out, corners);
        }
        count += triangles.len() as u32;
    }
    out[80..84].copy_from_slice(&count.to_le_bytes());
    out
}

fn triangle(out: &mut Vec<u8>, [a, b, c]: [Vec3; 3]) {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    for p in [normal, a, b, c] {
        p.as_vec3().to_array().iter().for_each(|x| out.extend(x.to_le_bytes()));
    }
    out.extend([0; 2]);
}
