//! OBJ out: objects as `o`, world coordinates with all digits, triangles, segments (`l`) and points (`p`).

use super::surface::{Elements, Surface};
use crate::frame::Object;
use std::fmt::Write;

/// Appends objects as OBJ text. `written` is the number of vertices that stand in `out` already; returns the new
/// one. Grids are left out.
pub fn write(out: &mut String, objects: &[&Object], mut written: usize) -> usize {
    for object in objects {
        let Some(surface) = Surface::of(&object.shape) else { continue };
        let name: String = object.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        line(out, format_args!("o {}", name.trim()));
        let positions = surface.world_positions(object);
        for p in &positions {
            line(out, format_args!("v {} {} {}", p.x, p.y, p.z));
        }
        let index = |v: u32| v as usize + 1 + written;
        match &surface.elements {
            Elements::Triangles(triangles) => {
                for [a, b, c] in triangles.iter().map(|t| t.map(index)) {
                    line(out, format_args!("f {a} {b} {c}"));
                }
            }
            Elements::Segments(segments) => {
                for [a, b] in segments.iter().map(|s| s.map(index)) {
                    line(out, format_args!("l {a} {b}"));
                }
            }
            Elements::Points => {
                (0..positions.len()).for_each(|v| line(out, format_args!("p {}", index(v as u32))))
            }
        }
        written += positions.len();
    }
    written
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}
