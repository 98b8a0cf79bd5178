//! A T-handle: a round bar with a round stem, the body that tumbles about its middle axis.
//!
//! The bar is a tube of quads along x. A square patch of them on its underside is taken out; its border moves
//! onto the curve where stem and bar meet and the stem hangs from it. All vertices lie on the exact surface,
//! which is one closed manifold.

use super::{counts, fits, positive, require};
use crate::{GeomError, TriMesh};
use billow_num::Vec3;
use std::f64::consts::{FRAC_PI_4, TAU};

/// A T-handle: the bar along x, the stem along −z, their axes crossing at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tee {
    /// Length of the bar [m], above twice the stem radius; default 1.
    pub bar_length: f64,
    /// Radius of the bar [m]; default 0.1.
    pub bar_radius: f64,
    /// Length of the stem from the axis of the bar to its end [m], above the bar radius; default 0.5.
    pub stem_length: f64,
    /// Radius of the stem [m], below that of the bar; default 0.08.
    pub stem_radius: f64,
    /// Quads on half a side of the patch where the stem begins, at least 1; default 3.
    pub detail: u32,
}

impl Default for Tee {
    fn default() -> Self {
        Self { bar_length: 1.0, bar_radius: 0.1, stem_length: 0.5, stem_radius: 0.08, detail: 3 }
    }
}

impl Tee {
    /// The T-handle, closed. With m = `detail`: vertices `60m² + 12m + 2`; triangles `120m² + 24m`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let mut mesh = TriMesh::default();
        let bar = Bar { tee: *self, numbers: self.number_bar(&mut mesh) };
        bar.add_side(&mut mesh);
        bar.add_caps(&mut mesh);
        bar.add_stem(&mut mesh);
        Ok(mesh)
    }

    /// Quads along the bar.
    fn columns(&self) -> u32 {
        6 * self.detail
    }

    /// Quads around the bar, and around the stem.
    fn around(&self) -> u32 {
        8 * self.detail
    }

    /// First column of the patch.
    fn patch(&self) -> u32 {
        2 * self.detail
    }

    /// Position of vertex (i, k) of the bar before the patch is opened: column `i`, angle `k`.
    fn bar_point(&self, i: u32, k: u32) -> Vec3 {
        let m = f64::from(self.detail);
        let (half, r) = (0.5 * self.bar_length, self.stem_radius);
        let offset = f64::from(i) - 3.0 * m;
        let x = if offset.abs() <= m {
            r * offset / m
        } else {
            offset.signum() * (r + (half - r) * (offset.abs() - m) / (2.0 * m))
        };
        // Angle from −z towards +y; the patch spans ±half_angle.
        let half_angle = (r / self.bar_radius).asin();
        let phi = if k <= 2 * self.detail {
            half_angle * (f64::from(k) / m - 1.0)
        } else {
            half_angle + (TAU - 2.0 * half_angle) * (f64::from(k) - 2.0 * m) / (6.0 * m)
        };
        Vec3::new(x, self.bar_radius * phi.sin(), -self.bar_radius * phi.cos())
    }

    /// Angle about z of vertex `l` of the border of the patch.
    fn border_angle(&self, l: u32) -> f64 {
        TAU * f64::from(l) / f64::from(self.around()) - FRAC_PI_4
    }

    /// Vertex (i, k) of the bar that is vertex `l` of the border of the patch, counter-clockwise about z.
    fn border_vertex(&self, l: u32) -> (u32, u32) {
        let side = 2 * self.detail;
        let t = l % side;
        let (a, k) = match l / side {
            0 => (side, t),
            1 => (side - t, side),
            2 => (0, side - t),
            _ => (t, 0),
        };
        (self.patch() + a, k)
    }

    /// Adds the vertices of the bar, leaving out those inside the patch; returns their numbers by column and
    /// angle.
    fn number_bar(&self, mesh: &mut TriMesh) -> Vec<u32> {
        let mut numbers = Vec::new();
        for i in 0..=self.columns() {
            for k in 0..self.around() {
                let a = i.wrapping_sub(self.patch());
                let inside = a > 0 && a < 2 * self.detail && k > 0 && k < 2 * self.detail;
                numbers.push(if inside { u32::MAX } else { mesh.positions.len() as u32 });
                if !inside {
                    mesh.positions.push(self.bar_point(i, k));
                }
            }
        }
        for l in 0..self.around() {
            let (i, k) = self.border_vertex(l);
            let (sin, cos) = self.border_angle(l).sin_cos();
            let (x, y) = (self.stem_radius * cos, self.stem_radius * sin);
            let z = -(self.bar_radius * self.bar_radius - y * y).sqrt();
            mesh.positions[numbers[(i * self.around() + k) as usize] as usize] = Vec3::new(x, y, z);
        }
        numbers
    }

    fn check(&self) -> Result<(), GeomError> {
        const OF: &str = "Tee";
        let (b, r) = (self.bar_radius, self.stem_radius);
        positive(
            OF,
            &[("bar_length", self.bar_length), ("bar_radius", b), ("stem_length", self.stem_length)],
        )?;
        positive(OF, &[("stem_radius", r)])?;
        counts(OF, &[("detail", self.detail, 1)])?;
        fits(OF, 60 * u64::from(self.detail).pow(2))?;
        require(r < b, OF, "stem_radius", r, format!("below the bar radius {b}"))?;
        require(self.bar_length > 2.0 * r, OF, "bar_length", self.bar_length, format!("above {}", 2.0 * r))?;
        require(
            self.stem_length > b,
            OF,
            "stem_length",
            self.stem_length,
            format!("above the bar radius {b}"),
        )
    }
}

/// The bar with its vertices numbered.
struct Bar {
    tee: Tee,
    numbers: Vec<u32>,
}

impl Bar {
    fn vertex(&self, i: u32, k: u32) -> u32 {
        let n = self.tee.around();
        self.numbers[(i * n + k % n) as usize]
    }

    fn add_side(&self, mesh: &mut TriMesh) {
        for i in 0..self.tee.columns() {
            for k in 0..self.tee.around() {
                let corners = [(i, k), (i, k + 1), (i + 1, k + 1), (i + 1, k)];
                let opened = (self.tee.patch()..self.tee.patch() + 2 * self.tee.detail).contains(&i)
                    && k < 2 * self.tee.detail;
                if !opened {
                    let [a, b, c, d] = corners.map(|(i, k)| self.vertex(i, k));
                    mesh.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
    }

    fn add_caps(&self, mesh: &mut TriMesh) {
        let last = self.tee.columns();
        for (i, x) in [(0, -0.5 * self.tee.bar_length), (last, 0.5 * self.tee.bar_length)] {
            let centre = mesh.positions.len() as u32;
            mesh.positions.push(Vec3::new(x, 0.0, 0.0));
            for k in 0..self.tee.around() {
                let (a, b) = (self.vertex(i, k), self.vertex(i, k + 1));
                mesh.triangles.push(if i == 0 { [centre, b, a] } else { [centre, a, b] });
            }
        }
    }

    fn add_stem(&self, mesh: &mut TriMesh) {
        let (n, bands) = (self.tee.around(), 2 * self.tee.detail);
        let mut above: Vec<u32> = (0..n)
            .map(|l| {
                let (i, k) = self.tee.border_vertex(l);
                self.vertex(i, k)
            })
            .collect();
        let top: Vec<Vec3> = above.iter().map(|&v| mesh.positions[v as usize]).collect();
        for s in 1..=bands {
            let first = mesh.positions.len() as u32;
            let fraction = f64::from(s) / f64::from(bands);
            mesh.positions
                .extend(top.iter().map(|p| p.lerp(Vec3::new(p.x, p.y, -self.tee.stem_length), fraction)));
            for j in 0..n {
                let next = (j + 1) % n;
                let (a, b, c, d) = (first + j, first + next, above[next as usize], above[j as usize]);
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
            above = (first..first + n).collect();
        }
        let centre = mesh.positions.len() as u32;
        mesh.positions.push(Vec3::new(0.0, 0.0, -self.tee.stem_length));
        mesh.triangles.extend((0..n as usize).map(|j| [centre, above[(j + 1) % n as usize], above[j]]));
    }
}
