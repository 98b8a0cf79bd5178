//! PLY out: binary little-endian, world coordinates, attributes as properties.
//!
//! `vertex` has x, y, z and the per-vertex attributes; `face` or `edge` has the per-element ones. A scalar or
//! integer attribute becomes a property of its name, a vector attribute three with `_x`, `_y`, `_z`. Attributes of
//! the whole object become comments. Several objects in one file share the attributes that all of them have, and
//! `object` tells their vertices apart.

use super::names::Names;
use super::surface::{Elements, Surface};
use crate::frame::{Domain, Object, Values};
use billow_num::{Pose, Vec3};
use std::fmt::Write;

/// Width of coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits: exactly the positions of the frame, moved by the object's pose.
    #[default]
    Double,
}

/// The objects as a PLY file. Grids are left out.
pub fn write(objects: &[&Object], precision: Precision) -> Vec<u8> {
    let drawn: Vec<(&Object, Surface<'_>)> =
        objects.iter().filter_map(|object| Some((*object, Surface::of(&object.shape)?))).collect();
    let columns = common_attributes(&drawn);
    let mut header =
        String::from("ply\nformat binary_little_endian 1.0\ncomment Billow, world coordinates in metres\n");
    comments(&mut header, &drawn);
    let (mut vertices, mut faces, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n_vertices, mut n_faces, mut n_edges) = (0u32, 0u32, 0u32);
    for (number, (object, surface)) in drawn.iter().enumerate() {
        let positions = surface.world_positions(object);
        let values = |domain| -> Vec<Values> {
            let of = columns.iter().filter(|column| column.domain == domain);
            of.map(|column| surface.values(domain, &object.attributes[find(object, column)].values)).collect()
        };
        let (per_vertex, per_element) = (values(Domain::Vertex), values(Domain::Element));
        for (v, p) in positions.iter().enumerate() {
            put_position(&mut vertices, *p, precision);
            put_values(&mut vertices, &per_vertex, v, object.pose);
            if drawn.len() > 1 {
                vertices.extend((number as i32).to_le_bytes());
            }
        }
        match &surface.elements {
            Elements::Triangles(triangles) => {
                for (k, t) in triangles.iter().enumerate() {
                    faces.push(3);
                    t.iter().for_each(|v| faces.extend((v + n_vertices).to_le_bytes()));
                    put_values(&mut faces, &per_element, k, object.pose);
                }
                n_faces += triangles.len() as u32;
            }
            Elements::Segments(segments) => {
                for (k, s) in segments.iter().enumerate() {
                    s.iter().for_each(|v| edges.extend((v + n_vertices).to_le_bytes()));
                    put_values(&mut edges, &per_element, k, object.pose);
                }
                n_edges += segments.len() as u32;
            }
            Elements::Points => {}
        }
        n_vertices += positions.len() as u32;
    }
    let real = if precision == Precision::Single { "float" } else { "double" };
    line(&mut header, format_args!("element vertex {n_vertices}"));
    for axis in ["x", "y", "z"] {
        line(&mut header, format_args!("property {real} {axis}"));
    }
    properties(&mut header, &columns, Domain::Vertex);
    if drawn.len() > 1 {
        header.push_str("property int object\n");
    }
    line(&mut header, format_args!("element face {n_faces}\nproperty list uchar uint vertex_indices"));
    properties(&mut header, &columns, Domain::Element);
    if n_edges > 0 {
        line(
            &mut header,
            format_args!("element edge {n_edges}\nproperty uint vertex1\nproperty uint vertex2"),
        );
        properties(&mut header, &columns, Domain::Element);
    }
    header.push_str("end_header\n");
    [header.into_bytes(), vertices, faces, edges].concat()
}

/// An attribute that becomes properties.
struct Column {
    name: String,
    property: String,
    domain: Domain,
    kind: std::mem::Discriminant<Values>,
    vector: bool,
    integer: bool,
}

/// The per-vertex and per-element attributes that all objects have with the same type.
fn common_attributes(drawn: &[(&Object, Surface<'_>)]) -> Vec<Column> {
    let Some(((first, _), others)) = drawn.split_first() else { return Vec::new() };
    let mut columns = Vec::new();
    for domain in [Domain::Vertex, Domain::Element] {
        let mut names = Names::identifiers();
        ["x", "y", "z", "object", "vertex_indices", "vertex1", "vertex2"]
            .iter()
            .for_each(|name| names.reserve(name));
        for attribute in first.attributes.iter().filter(|attribute| attribute.domain == domain) {
            let vector = matches!(attribute.values, Values::Vector(_));
            let column = Column {
                name: attribute.name.clone(),
                property: names.get_with(&attribute.name, suffixes(vector)).to_owned(),
                domain,
                kind: std::mem::discriminant(&attribute.values),
                vector,
                integer: matches!(attribute.values, Values::Integer(_)),
            };
            if others.iter().all(|(object, _)| position(object, &column).is_some()) {
                columns.push(column);
            }
        }
    }
    columns
}

fn suffixes(vector: bool) -> &'static [&'static str] {
    if vector { &["_x", "_y", "_z"] } else { &[""] }
}

fn position(object: &Object, column: &Column) -> Option<usize> {
    object.attributes.iter().position(|attribute| {
        attribute.name == column.name
            && attribute.domain == column.domain
            && std::mem::discriminant(&attribute.values) == column.kind
    })
}

fn find(object: &Object, column: &Column) -> usize {
    position(object, column).expect("common attributes are those that every object has")
}

fn comments(header: &mut String, drawn: &[(&Object, Surface<'_>)]) {
    let clean = |text: &str| text.replace(char::is_control, " ");
    for (number, (object, _)) in drawn.iter().enumerate() {
        line(header, format_args!("comment object {number} {}", clean(&object.name)));
        for attribute in object.attributes.iter().filter(|attribute| attribute.domain == Domain::Object) {
            let value = match &attribute.values {
                Values::Scalar(values) => format!("{:?}", values[0]),
                Values::Vector(values) => values[0].map(|x| x.to_string()).join(" "),
                Values::Integer(values) => values[0].to_string(),
            };
            line(header, format_args!("comment attribute {number} {} {value}", clean(&attribute.name)));
        }
    }
}

fn properties(header: &mut String, columns: &[Column], domain: Domain) {
    for column in columns.iter().filter(|column| column.domain == domain) {
        let kind = if column.integer { "int" } else { "float" };
        for suffix in suffixes(column.vector) {
            line(header, format_args!("property {kind} {}{suffix}", column.property));
        }
    }
}

fn put_position(out: &mut Vec<u8>, p: Vec3, precision: Precision) {
    match precision {
        Precision::Single => p.as_vec3().to_array().iter().for_each(|x| out.extend(x.to_le_bytes())),
        Precision::Double => p.to_array().iter().for_each(|x| out.extend(x.to_le_bytes())),
    }
}

fn put_values(out: &mut Vec<u8>, columns: &[Values], k: usize, pose: Pose) {
    for column in columns {
        match column {
            Values::Scalar(values) => out.extend(values[k].to_le_bytes()),
            Values::Integer(values) => out.extend(values[k].to_le_bytes()),
            Values::Vector(values) => {
                let world = pose.vector(Vec3::from_array(values[k].map(f64::from))).as_vec3();
                world.to_array().iter().for_each(|x| out.extend(x.to_le_bytes()));
            }
        }
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
