//! A seated figure: balls and capsules that flow into each other, as one closed surface of even triangles.

use billow_geom::mesh::Topology;
use billow_geom::{GeomError, TriMesh};
use billow_num::{Vec3, par};
use std::f64::consts::TAU;

/// Ends and radii of the limbs of the right half and of the middle, for a figure of height 1 that looks along x.
const LIMBS: &[([f64; 3], [f64; 3], f64)] = &[
    // Belly, chest, neck, head, knot of hair.
    ([0.07, 0.0, 0.29], [0.05, 0.0, 0.33], 0.175),
    ([0.0, 0.0, 0.46], [0.0, 0.0, 0.52], 0.14),
    ([0.0, 0.0, 0.6], [0.0, 0.0, 0.74], 0.06),
    ([0.02, 0.0, 0.79], [0.01, 0.0, 0.83], 0.105),
    ([0.0, 0.0, 0.93], [0.0, 0.0, 0.955], 0.045),
    // Seat, thigh, shin.
    ([-0.06, 0.0, 0.12], [-0.04, 0.12, 0.12], 0.12),
    ([-0.02, 0.13, 0.12], [0.16, 0.34, 0.095], 0.095),
    ([0.16, 0.34, 0.09], [0.27, 0.02, 0.08], 0.08),
    // Shoulder, upper arm, forearm, ear.
    ([0.0, 0.0, 0.55], [0.0, 0.15, 0.56], 0.085),
    ([0.0, 0.17, 0.54], [0.05, 0.2, 0.36], 0.062),
    ([0.05, 0.2, 0.36], [0.24, 0.05, 0.27], 0.055),
    ([0.0, 0.105, 0.77], [0.0, 0.11, 0.82], 0.028),
];

/// Distance over which neighbouring limbs flow into each other.
const BLEND: f64 = 0.06;
/// Height at which the seat is cut level, of a figure of height 1.
const BASE: f64 = 0.03;
/// Place of the axis from which all of the surface can be seen at its height.
const AXIS: f64 = 0.05;

/// The figure, standing on z = 0 at the given height.
struct Figure {
    height: f64,
}

impl Figure {
    /// Signed distance to the surface, nearly [m].
    fn phi(&self, x: Vec3) -> f64 {
        let p = x / self.height;
        // Symmetric: both halves are the one with positive y.
        let p = Vec3::new(p.x, p.y.abs(), p.z);
        let limb = |(a, b, radius): &([f64; 3], [f64; 3], f64)| {
            let (a, b) = (Vec3::from(*a), Vec3::from(*b));
            let s = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            p.distance(a.lerp(b, s)) - radius
        };
        // A soft minimum, equal to the minimum away from where two limbs meet.
        let soft = LIMBS.iter().map(limb).fold(f64::INFINITY, |a, b| {
            let h = ((BLEND - (a - b).abs()) / BLEND).max(0.0);
            a.min(b) - 0.25 * h * h * BLEND
        });
        // The seat is cut level.
        soft.max(BASE - p.z) * self.height
    }

    /// The point of the surface near `x`.
    fn projected(&self, mut x: Vec3) -> Vec3 {
        let h = 1e-5 * self.height;
        for _ in 0..4 {
            let slope = |axis: Vec3| (self.phi(x + axis * h) - self.phi(x - axis * h)) / (2.0 * h);
            let g = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
            x -= g * (self.phi(x) / g.length_squared().max(0.1));
        }
        x
    }

    /// Distance from the axis to the outermost point of the surface at height `z` in direction `angle` [m].
    fn radius(&self, z: f64, angle: f64) -> f64 {
        let (s, c) = angle.sin_cos();
        let at = |r: f64| self.phi(Vec3::new(AXIS * self.height + r * c, r * s, z));
        const STEPS: u32 = 60;
        let (reach, mut outside) = (0.6 * self.height, 0.6 * self.height);
        for k in (0..STEPS).rev() {
            let inside = reach * f64::from(k) / f64::from(STEPS);
            if at(inside) < 0.0 {
                return bisect(inside, outside, at);
            }
            outside = inside;
        }
        0.0
    }

    /// Mean radius at height `z` [m].
    fn girth(&self, z: f64) -> f64 {
        const RAYS: u32 = 24;
        (0..RAYS).map(|k| self.radius(z, TAU * f64::from(k) / f64::from(RAYS))).sum::<f64>() / f64::from(RAYS)
    }
}

/// The place between `inside` and `outside` at which `phi` changes sign.
fn bisect(mut inside: f64, mut outside: f64, phi: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..40 {
        let middle = 0.5 * (inside + outside);
        *(if phi(middle) < 0.0 { &mut inside } else { &mut outside }) = middle;
    }
    inside
}

/// The surface of the figure, standing on z = 0, with edges of about `edge` [m].
pub(super) fn figurine(height: f64, edge: f64) -> Result<TriMesh, GeomError> {
    let figure = Figure { height };
    let mut mesh = TriMesh::default();
    // Circles from the middle of the seat outward and then up, about an edge apart, with nodes about an edge apart.
    let mut last = add_ring(&mut mesh, 1, 0, |_| Vec3::new(AXIS * height, 0.0, BASE * height));
    for (k, (z, part)) in circles(&figure, edge).into_iter().enumerate() {
        let girth = part * figure.girth(z);
        let n = ((1.1 * TAU * girth / edge).round() as u32).max(6);
        let ring = add_ring(&mut mesh, n, k as u32 + 1, |angle| {
            let r = part * figure.radius(z, angle);
            Vec3::new(AXIS * height + r * angle.cos(), r * angle.sin(), z)
        });
        join(&mut mesh, &last, &ring);
        last = ring;
    }
    let top = (0..=200).map(|k| height * (0.9 + f64::from(k) * 6e-4));
    let top = top.take_while(|z| figure.phi(Vec3::new(0.0, 0.0, *z)) < 0.0).last().unwrap_or(height);
    let apex = add_ring(&mut mesh, 1, 0, |_| Vec3::new(0.0, 0.0, top));
    join(&mut mesh, &last, &apex);
    relax(&figure, &mut mesh)?;
    mesh.positions.iter_mut().for_each(|p| p.z -= BASE * height);
    Ok(mesh)
}

/// Heights of the circles and the part of the radius that they have: first on the seat, then up the figure.
fn circles(figure: &Figure, edge: f64) -> Vec<(f64, f64)> {
    let low = BASE * figure.height;
    let seat = (figure.girth(low + 1e-6) / edge).round().max(1.0) as u32;
    let mut circles: Vec<(f64, f64)> =
        (1..=seat).map(|k| (low + 1e-6, f64::from(k) / f64::from(seat))).collect();
    // Up the mean profile, by its length.
    const SAMPLES: u32 = 200;
    let z = |k: u32| low + 1e-6 + (0.995 * figure.height - low) * f64::from(k) / f64::from(SAMPLES);
    let (mut along, mut before) = (0.0, (figure.girth(z(0)), z(0)));
    for k in 1..SAMPLES {
        let here = (figure.girth(z(k)), z(k));
        if here.0 < 0.6 * edge {
            break;
        }
        along += (here.0 - before.0).hypot(here.1 - before.1);
        before = here;
        if along >= edge {
            along -= edge;
            circles.push((here.1, 1.0));
        }
    }
    circles
}

/// Moves nodes to the middle of their neighbours, on the surface, until triangles are even. The edge of the seat stays.
fn relax(figure: &Figure, mesh: &mut TriMesh) -> Result<(), GeomError> {
    const ROUNDS: u32 = 30;
    let topology = Topology::new(mesh.positions.len(), &mesh.triangles)?;
    let seat = BASE * figure.height + 1e-5;
    for _ in 0..ROUNDS {
        let x = &mesh.positions;
        mesh.positions = par::map(x.len(), |i| {
            let ring = topology.vertex_vertices(i as u32);
            let mean = ring.iter().map(|j| x[*j as usize]).sum::<Vec3>() / ring.len() as f64;
            let flat = x[i].z < seat;
            let rim = flat && ring.iter().any(|j| x[*j as usize].z >= seat);
            match (flat, rim) {
                (_, true) => x[i],
                (true, _) => Vec3::new(mean.x, mean.y, x[i].z),
                _ => figure.projected(x[i].lerp(mean, 0.5)),
            }
        });
    }
    Ok(())
}

/// Adds `n` nodes round the axis, every other ring turned by half a step; returns their numbers and turn.
fn add_ring(mesh: &mut TriMesh, n: u32, k: u32, place: impl Fn(f64) -> Vec3) -> Ring {
    let (first, shift) = (mesh.positions.len() as u32, if k % 2 == 1 { 0.5 } else { 0.0 });
    mesh.positions.extend((0..n).map(|i| place(TAU * (f64::from(i) + shift) / f64::from(n))));
    Ring { first, n, shift }
}

/// A closed row of nodes, or a single one.
struct Ring {
    first: u32,
    n: u32,
    shift: f64,
}

impl Ring {
    fn node(&self, i: u32) -> u32 {
        self.first + i % self.n
    }

    fn turns(&self, i: u32) -> f64 {
        (f64::from(i) + self.shift) / f64::from(self.n)
    }
}

/// Fills the band between two rings, outside to the right when going round: of the two possible next triangles always
/// that whose new node comes first.
fn join(mesh: &mut TriMesh, below: &Ring, above: &Ring) {
    let (mut i, mut j) = (0, 0);
    let count = |ring: &Ring| if ring.n == 1 { 0 } else { ring.n };
    let (a, b) = (count(below), count(above));
    while i < a || j < b {
        let (p, q) = (below.node(i), above.node(j));
        if j == b || (i < a && below.turns(i + 1) <= above.turns(j + 1)) {
            i += 1;
            mesh.triangles.push([p, below.node(i), q]);
        } else {
            j += 1;
            mesh.triangles.push([p, above.node(j), q]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::audit::audit;
    use billow_geom::mesh::MeshReport;

    #[test]
    fn the_figure_is_one_closed_surface_of_even_triangles() {
        for detail in [20, 31, 44] {
            let mesh = figurine(0.6, 0.6 / f64::from(detail)).unwrap();
            let report = MeshReport::new(&mesh);
            assert!(report.is_solid(), "{detail}: {report}");
        }
        let mesh = figurine(0.8, 0.02).unwrap();
        assert!(audit(&mesh.positions, &mesh.triangles).is_clean());
        let topology = Topology::new(mesh.positions.len(), &mesh.triangles).unwrap();
        assert!(topology.is_manifold() && topology.is_closed());
        let size = mesh.bounds().size();
        assert!((0.7..0.85).contains(&size.z) && size.y > 0.5, "{size}");
        let area = mesh.area() / mesh.triangles.len() as f64;
        assert!((0.5..2.0).contains(&(area / (0.5 * 0.02 * 0.02))), "{area}");
    }
}
