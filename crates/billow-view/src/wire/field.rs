//! A field on the wire: one attribute of every object that has it, as 16-bit codes between its extremes.
//!
//! Vectors are shown by their length, values of elements as the mean at their vertices. Code 65535 marks a value
//! that is not finite.

use super::bytes::{Bytes, half_words};
use super::derived::{self, Others};
use super::geometry::Skins;
use billow_io::{Attribute, Domain, Frame, Object, Shape, Values};

/// "BVA1".
const MAGIC: u32 = u32::from_le_bytes(*b"BVA1");
const HEADER: usize = 16;
const RECORD: usize = 24;
/// Largest code of a finite value.
const TOP: f32 = 65534.0;

/// Encodes field `name` of a frame; objects without it have no column.
pub(crate) fn field(name: &str, frame: &Frame, others: Others<'_>, skins: &Skins) -> Vec<u8> {
    let columns: Vec<Option<Vec<f32>>> =
        frame.objects.iter().map(|o| values(name, frame, o, others, skins)).collect();
    let mut offset = HEADER + RECORD * columns.len();
    let mut out = Bytes::with_capacity(offset);
    out.u32(MAGIC).u32(frame.index).u32(columns.len() as u32).u32(0);
    for column in &columns {
        let n = column.as_ref().map_or(0, Vec::len);
        let [low, high] = range(column.iter().flatten().copied()).unwrap_or([0.0; 2]);
        out.u32(u32::from(column.is_some())).u32(n as u32).f32(low).f32(high);
        out.u32(offset as u32).u32(0);
        offset += (2 * n).next_multiple_of(8);
    }
    for column in columns.iter().flatten() {
        let [low, high] = range(column.iter().copied()).unwrap_or([0.0; 2]);
        let codes: Vec<u16> = column.iter().map(|v| code(*v, low, high)).collect();
        out.raw(&half_words(&codes)).align();
    }
    out.0
}

fn code(value: f32, low: f32, high: f32) -> u16 {
    if !value.is_finite() {
        u16::MAX
    } else if high > low {
        // In double precision the difference of the extremes cannot overflow.
        let (value, low, high) = (f64::from(value), f64::from(low), f64::from(high));
        ((value - low) / (high - low) * f64::from(TOP)).round() as u16
    } else {
        0
    }
}

/// Smallest and largest finite value.
pub(crate) fn range(values: impl Iterator<Item = f32>) -> Option<[f32; 2]> {
    values.filter(|v| v.is_finite()).fold(None, |found, v| {
        let [a, b] = found.unwrap_or([v, v]);
        Some([v.min(a), v.max(b)])
    })
}

/// The attribute as scalars, in the order it is stored.
pub(crate) fn scalars(attribute: &Attribute) -> Vec<f32> {
    match &attribute.values {
        Values::Scalar(v) => v.to_vec(),
        Values::Vector(v) => v.iter().map(|[x, y, z]| x.hypot(*y).hypot(*z)).collect(),
        Values::Integer(v) => v.iter().map(|i| *i as f32).collect(),
    }
}

/// Values of field `name` at the vertices sent for `object`.
fn values(name: &str, frame: &Frame, object: &Object, others: Others<'_>, skins: &Skins) -> Option<Vec<f32>> {
    if matches!(object.shape, Shape::Grid(_)) {
        return None;
    }
    let n = object.shape.vertex_count();
    let at_vertices = match object.attributes.iter().find(|a| a.name == name) {
        Some(attribute) => {
            let stored = scalars(attribute);
            match attribute.domain {
                Domain::Vertex => stored,
                Domain::Element => to_vertices(&stored, &object.shape),
                Domain::Object => vec![stored.first().copied().unwrap_or(f32::NAN); n],
            }
        }
        None => {
            derived::available(object).find(|d| *d == name)?;
            derived::values(name, frame, object, others)?
        }
    };
    (at_vertices.len() == n).then(|| derived::sent(at_vertices, &object.shape, skins))
}

/// Mean over the elements at each vertex.
fn to_vertices(stored: &[f32], shape: &Shape) -> Vec<f32> {
    let mut sums = vec![[0.0f64; 2]; shape.vertex_count()];
    let mut add = |corners: &[u32], value: f32| {
        for v in corners {
            sums[*v as usize][0] += f64::from(value);
            sums[*v as usize][1] += 1.0;
        }
    };
    match shape {
        Shape::Triangles { triangles, .. } => triangles.iter().zip(stored).for_each(|(c, v)| add(c, *v)),
        Shape::Tets { tets, .. } => tets.iter().zip(stored).for_each(|(c, v)| add(c, *v)),
        Shape::Lines { segments, .. } => segments.iter().zip(stored).for_each(|(c, v)| add(c, *v)),
        Shape::Points { .. } | Shape::Grid(_) => {}
    }
    sums.iter().map(|[sum, n]| if *n > 0.0 { (sum / n) as f32 } else { f32::NAN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::{Pose, Vec3};
    use std::sync::Arc;

    fn frame(attributes: Vec<Attribute>) -> Frame {
        let shape = Shape::Triangles {
            positions: Arc::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE]),
            triangles: Arc::new(vec![[0, 1, 2], [1, 3, 2]]),
        };
        let object = Object { name: "a".into(), pose: Pose::IDENTITY, shape, attributes };
        Frame { index: 7, objects: vec![object], ..Frame::default() }
    }

    fn attribute(name: &str, domain: Domain, values: Values) -> Attribute {
        Attribute { name: name.into(), domain, values }
    }

    fn decoded(bytes: &[u8]) -> Vec<f32> {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (n, at) = (u32_at(20) as usize, u32_at(32) as usize);
        let [low, high] = [24, 28].map(|at| f32::from_bits(u32_at(at)));
        let codes = bytes[at..at + 2 * n].chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        codes
            .map(|c| if c == u16::MAX { f32::NAN } else { low + (high - low) * f32::from(c) / TOP })
            .collect()
    }

    #[test]
    fn extremes_are_exact_and_vectors_are_lengths() {
        let strain = attribute("strain", Domain::Vertex, Values::Scalar(Arc::new(vec![-1.0, 0.0, 3.0, 1.0])));
        let velocity = vec![[3.0, 4.0, 0.0], [0.0; 3], [0.0, 0.0, -2.0], [f32::NAN, 0.0, 0.0]];
        let velocity = attribute("velocity", Domain::Vertex, Values::Vector(Arc::new(velocity)));
        let frame = frame(vec![strain, velocity]);
        let get = |name: &str| field(name, &frame, Others::default(), &Skins::default());
        let strain = decoded(&get("strain"));
        assert!(strain.iter().zip([-1.0, 0.0, 3.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-4), "{strain:?}");
        let speed = decoded(&get("velocity"));
        assert_eq!(speed[..2], [5.0, 0.0]);
        assert!(speed[3].is_nan(), "what is not finite is marked");
        assert_eq!(get("nothing")[16..20], [0; 4], "no object has a column");
    }

    #[test]
    fn element_and_object_values_reach_the_vertices() {
        let quality = attribute("quality", Domain::Element, Values::Scalar(Arc::new(vec![1.0, 3.0])));
        let body = attribute("body", Domain::Object, Values::Integer(Arc::new(vec![4])));
        let frame = frame(vec![quality, body]);
        let get = |name: &str| decoded(&field(name, &frame, Others::default(), &Skins::default()));
        assert!(get("quality").iter().zip([1.0, 2.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-4));
        assert_eq!(get("body"), [4.0; 4]);
    }
}
