//! Which way the closed components of a mesh face, and which way they should.

use super::{Components, Topology, TriMesh};
use crate::Aabb;
use billow_num::{Vec3, par};
use std::f64::consts::PI;

/// Which way the closed, oriented components of a mesh face.
pub(super) struct Facing {
    /// Signed volume of each component, zero if it is open or not oriented [m³].
    volumes: Vec<f64>,
    /// How many other components enclose each one.
    depths: Vec<u32>,
}

impl Facing {
    pub(super) fn new(mesh: &TriMesh, topology: &Topology, components: &Components) -> Self {
        let count = components.count();
        let mut bounds_solid = vec![true; count];
        for e in 0..topology.edge_count() as u32 {
            let fine = topology
                .edge_pair(e)
                .is_some_and(|[a, b]| topology.runs_forward(a, e) != topology.runs_forward(b, e));
            if !fine {
                topology
                    .edge_triangles(e)
                    .iter()
                    .for_each(|&t| bounds_solid[components.of_triangle()[t as usize] as usize] = false);
            }
        }
        let origin = mesh.local_origin();
        let volume = |c: usize| -> f64 {
            let six = |t: &u32| {
                let [a, b, c] = mesh.corners(*t as usize).map(|p| p - origin);
                a.dot(b.cross(c))
            };
            components.triangles(c as u32).iter().map(six).sum::<f64>() / 6.0
        };
        let volumes: Vec<f64> = (0..count).map(|c| if bounds_solid[c] { volume(c) } else { 0.0 }).collect();
        let boxes: Vec<Aabb> = (0..count as u32)
            .map(|c| {
                components
                    .triangles(c)
                    .iter()
                    .fold(Aabb::EMPTY, |b, &t| b.union(Aabb::of_points(&mesh.corners(t as usize))))
            })
            .collect();
        let encloses = |outer: usize, inner: usize| {
            let p = mesh.corners(components.triangles(inner as u32)[0] as usize)[0];
            outer != inner
                && volumes[outer] != 0.0
                && boxes[outer].contains(p)
                && winding(mesh, components.triangles(outer as u32), p).abs() > 0.5
        };
        let depths = par::map(count, |c| {
            if volumes[c] == 0.0 { 0 } else { (0..count).filter(|&o| encloses(o, c)).count() as u32 }
        });
        Self { volumes, depths }
    }

    /// Whether a closed component faces in where it should face out, or the other way round.
    pub(super) fn is_wrong(&self, c: u32) -> bool {
        let volume = self.volumes[c as usize];
        if self.depths[c as usize].is_multiple_of(2) { volume < 0.0 } else { volume > 0.0 }
    }
}

/// How often the triangles wind around `p`: the solid angle they span there over 4π.
fn winding(mesh: &TriMesh, triangles: &[u32], p: Vec3) -> f64 {
    let angle = |t: &u32| {
        let [a, b, c] = mesh.corners(*t as usize).map(|q| q - p);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        a.dot(b.cross(c)).atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
    };
    triangles.iter().map(angle).sum::<f64>() / (2.0 * PI)
}
