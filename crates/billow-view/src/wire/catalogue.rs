//! What the objects of a frame are called and which fields they carry: the part that hardly ever changes.

use super::bytes::hash;
use super::derived;
use billow_io::{Domain, Frame, Object, Shape, Values};
use serde_json::{Value, json};

/// The catalogue of a frame as JSON text, and its hash.
pub(crate) fn catalogue(frame: &Frame) -> (Vec<u8>, [u8; 16]) {
    let objects: Vec<Value> = frame.objects.iter().map(entry).collect();
    let text = json!({ "objects": objects }).to_string().into_bytes();
    let hash = hash(&text);
    (text, hash)
}

fn entry(object: &Object) -> Value {
    let source = match &object.shape {
        Shape::Triangles { .. } => "triangles",
        Shape::Tets { .. } => "tets",
        Shape::Points { .. } => "points",
        Shape::Lines { .. } => "lines",
        Shape::Grid(_) => "grid",
    };
    let mut fields: Vec<Value> = object
        .attributes
        .iter()
        .filter(|_| !matches!(object.shape, Shape::Grid(_)))
        .map(|a| {
            let domain = match a.domain {
                Domain::Vertex => "vertex",
                Domain::Element => "element",
                Domain::Object => "object",
            };
            let values = match a.values {
                Values::Scalar(_) => "scalar",
                Values::Vector(_) => "vector",
                Values::Integer(_) => "integer",
            };
            json!({ "name": a.name, "domain": domain, "values": values })
        })
        .collect();
    fields.extend(
        derived::available(object)
            .map(|name| json!({ "name": name, "domain": "vertex", "values": "derived" })),
    );
    json!({ "name": object.name, "shape": source, "elements": object.shape.element_count(), "fields": fields })
}
