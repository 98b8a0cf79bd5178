//! What the mesh readers return, and the polygons they collect on the way.

use super::source::{Position, Source};
use super::triangulate::triangulate;
use crate::error::Result;
use billow_geom::mesh::TriMesh;
use billow_num::Vec3;
use std::collections::HashMap;
use std::ops::Range;

/// A triangle mesh read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedMesh {
    /// All triangles of the file.
    pub mesh: TriMesh,
    /// Named parts of the file in order, each a range of triangles. They cover all triangles.
    pub parts: Vec<Part>,
    /// Things a user may want to know: what was skipped and why.
    pub warnings: Vec<String>,
}

/// A named range of triangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of the object or group; empty if the file gives none.
    pub name: String,
    /// Its triangles.
    pub triangles: Range<usize>,
}

impl ImportedMesh {
    /// The parts as meshes of their own, parts of the same name merged, without unused vertices.
    pub fn split(&self) -> Vec<(String, TriMesh)> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut meshes: Vec<(String, TriMesh)> = Vec::new();
        let mut ranges: Vec<Vec<Range<usize>>> = Vec::new();
        for part in &self.parts {
            let number = *numbers.entry(&part.name).or_insert(meshes.len());
            if number == meshes.len() {
                meshes.push((part.name.clone(), TriMesh::default()));
                ranges.push(Vec::new());
            }
            ranges[number].push(part.triangles.clone());
        }
        // Where each vertex went, and for which part: stamps spare a reset between parts.
        let mut place = vec![(usize::MAX, 0); self.mesh.positions.len()];
        for (number, ((_, mesh), ranges)) in meshes.iter_mut().zip(ranges).enumerate() {
            for triangle in ranges.into_iter().flat_map(|range| &self.mesh.triangles[range]) {
                mesh.triangles.push(triangle.map(|v| {
                    let slot = &mut place[v as usize];
                    if slot.0 != number {
                        *slot = (number, mesh.positions.len() as u32);
                        mesh.positions.push(self.mesh.positions[v as usize]);
                    }
                    slot.1
                }));
            }
        }
        meshes
    }
}

/// Polygons as they come from a file, triangulated when all vertices are known.
#[derive(Default)]
pub(crate) struct Polygons {
    corners: Vec<u32>,
    /// End of each polygon in `corners`.
    ends: Vec<usize>,
    /// Where parts start: name and first polygon.
    parts: Vec<(String, usize)>,
}

impl Polygons {
    /// Adds a corner to the polygon being built.
    pub(crate) fn corner(&mut self, vertex: u32) {
        self.corners.push(vertex);
    }

    /// Number of corners of the polygon being built.
    pub(crate) fn open_corners(&self) -> usize {
        self.corners.len() - self.ends.last().copied().unwrap_or(0)
    }

    /// The highest vertex number used.
    pub(crate) fn highest(&self) -> Option<u32> {
        self.corners.iter().copied().max()
    }

    /// Completes a polygon.
    pub(crate) fn close(&mut self) {
        self.ends.push(self.corners.len());
    }

    /// Polygons from here on belong to a part of this name.
    pub(crate) fn begin_part(&mut self, name: String) {
        if self.parts.last().is_some_and(|(_, first)| *first == self.ends.len()) {
            self.parts.pop();
        }
        self.parts.push((name, self.ends.len()));
    }

    /// Triangulates everything. Corners must be valid vertex numbers.
    pub(crate) fn finish(self, source: Source<'_>, positions: Vec<Vec3>) -> Result<ImportedMesh> {
        let Self { corners, ends, mut parts } = self;
        if ends.is_empty() {
            return Err(source.error(
                Position::File,
                "a mesh with faces",
                format!("{} vertices and no face", positions.len()),
            ));
        }
        if parts.first().is_none_or(|(_, first)| *first > 0) {
            parts.insert(0, (String::new(), 0));
        }
        let mut imported = ImportedMesh::default();
        let mut triangles = Vec::with_capacity(corners.len() / 3);
        let (mut begin, mut degenerate) = (0, 0);
        let mut parts = parts.into_iter().peekable();
        for (k, end) in ends.iter().enumerate() {
            while let Some((name, _)) = parts.next_if(|(_, first)| *first == k) {
                start_part(&mut imported.parts, name, triangles.len());
            }
            let before = triangles.len();
            triangulate(&positions, &corners[begin..*end], &mut triangles).map_err(|_| {
                source.error(
                    Position::File,
                    "polygons that do not cross themselves",
                    format!("face {} with {} corners that could not be triangulated", k + 1, end - begin),
                )
            })?;
            degenerate += drop_degenerate(&mut triangles, before);
            begin = *end;
        }
        if let Some(part) = imported.parts.last_mut() {
            part.triangles.end = triangles.len();
        }
        imported.parts.retain(|part| !part.triangles.is_empty());
        if degenerate > 0 {
            imported.warnings.push(format!("dropped {degenerate} triangles that name a vertex twice"));
        }
        imported.mesh = TriMesh { positions, triangles };
        Ok(imported)
    }
}

fn start_part(parts: &mut Vec<Part>, name: String, first: usize) {
    if let Some(part) = parts.last_mut() {
        part.triangles.end = first;
    }
    parts.push(Part { name, triangles: first..first });
}

/// Removes triangles after `first` that have a vertex twice; returns how many.
fn drop_degenerate(triangles: &mut Vec<[u32; 3]>, first: usize) -> usize {
    let mut kept = first;
    for k in first..triangles.len() {
        let [a, b, c] = triangles[k];
        if a != b && b != c && c != a {
            triangles[kept] = triangles[k];
            kept += 1;
        }
    }
    let dropped = triangles.len() - kept;
    triangles.truncate(kept);
    dropped
}
