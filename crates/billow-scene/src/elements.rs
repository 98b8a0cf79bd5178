//! Shapes of a body's elements, as the checks judge them: tetrahedra by the mesher's own measures, triangles by theirs.

use crate::scene::Body;
use billow_geom::TetMesh;
use billow_geom::mesh::Topology;
use billow_io::Shape;
use billow_meshing::{Quality, Soundness};

/// Shapes of the elements of a body.
pub(crate) struct Elements {
    /// How many there are.
    pub(crate) count: usize,
    /// Largest ratio of longest edge to shortest altitude [-].
    pub(crate) aspect: f64,
    /// Smallest and largest angle [°].
    pub(crate) angles: [f64; 2],
    /// What is wrong with the mesh as a whole, in words; empty if nothing.
    pub(crate) fault: String,
}

impl Elements {
    /// The elements of a body; none if it has neither triangles nor tetrahedra.
    pub(crate) fn of(body: &Body) -> Option<Self> {
        match &body.shape {
            Shape::Tets { positions, tets } => {
                let mesh = TetMesh { positions: positions.to_vec(), tets: tets.to_vec() };
                let (quality, soundness) = (Quality::new(&mesh), Soundness::new(&mesh));
                let fault =
                    if soundness.is_sound() { String::new() } else { format!("; {}", soundness.problem()) };
                let angles = [quality.min_dihedral, quality.max_dihedral];
                Some(Elements { count: quality.tets, aspect: quality.max_aspect, angles, fault })
            }
            Shape::Triangles { positions, triangles } => {
                let mut found = Elements {
                    count: triangles.len(),
                    aspect: 0.0,
                    angles: [180.0, 0.0],
                    fault: String::new(),
                };
                for t in triangles.iter() {
                    let x = t.map(|v| positions[v as usize]);
                    let mut longest: f64 = 0.0;
                    for k in 0..3 {
                        let (u, v) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
                        longest = longest.max(u.length());
                        let angle = u.angle_between(v).to_degrees();
                        found.angles = [found.angles[0].min(angle), found.angles[1].max(angle)];
                    }
                    let area2 = (x[1] - x[0]).cross(x[2] - x[0]).length();
                    found.aspect = found.aspect.max(longest * longest / area2);
                }
                match Topology::new(positions.len(), triangles) {
                    Ok(topology) if topology.is_manifold() => {}
                    Ok(_) => found.fault = "; not a manifold".into(),
                    Err(error) => found.fault = format!("; {error}"),
                }
                Some(found)
            }
            _ => None,
        }
    }
}
