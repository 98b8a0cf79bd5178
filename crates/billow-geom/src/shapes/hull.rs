//! A boat hull with a pointed bow and a flat transom, as an open shell or with thick walls.
//!
//! With ξ = 2x/length in −1…1 the section at ξ is half an ellipse of half-breadth ½·beam·w(ξ) and depth
//! depth·d(ξ); w and d fall off from midships, w to zero at the bow. The hull shrinks into itself when x, y
//! and z are scaled down about the middle of the deck, which gives the inner wall of the thick hull.

use super::{counts, fits, positive, require};
use crate::{GeomError, TriMesh};
use billow_num::Vec3;
use std::f64::consts::FRAC_PI_2;

/// A boat hull, bow towards +x, deck in the plane z = 0, keel below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoatHull {
    /// Length over all [m]; default 2.
    pub length: f64,
    /// Greatest breadth [m]; default 0.8.
    pub beam: f64,
    /// Greatest depth below the deck [m]; default 0.4.
    pub depth: f64,
    /// Thickness of the walls of the thick hull at keel, sides, bow and transom [m]; default 0.04.
    pub thickness: f64,
    /// Sections from transom to bow, at least 2; default 24.
    pub stations: u32,
    /// Bands from keel to deck on each side, at least 1; default 8.
    pub bands: u32,
}

impl Default for BoatHull {
    fn default() -> Self {
        Self { length: 2.0, beam: 0.8, depth: 0.4, thickness: 0.04, stations: 24, bands: 8 }
    }
}

impl BoatHull {
    /// The outer surface alone, open at the deck. With n stations and m bands: vertices `n(2m+1) + m + 1`;
    /// triangles `4nm + 2m − 1`.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn shell(&self) -> Result<TriMesh, GeomError> {
        self.check()?;
        let mut mesh = TriMesh::default();
        for i in 0..=self.stations {
            let first = if i == self.stations { 0 } else { -self.m() };
            mesh.positions.extend((first..=self.m()).map(|j| self.point(i, j)));
        }
        for i in 0..self.stations {
            for j in -self.m()..self.m() {
                let [a, b] = [self.vertex(i, j), self.vertex(i, j + 1)];
                let [d, c] = [self.vertex(i + 1, j), self.vertex(i + 1, j + 1)];
                // Diagonals mirror each other about the keel and run from deck to keel on the way to the bow,
                // so that the two sides share none where their points coincide.
                mesh.triangles.extend(if j >= 0 { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] });
            }
        }
        let p = |j: i32| self.vertex(0, j);
        mesh.triangles.push([p(0), p(-1), p(1)]);
        for k in 1..self.m() {
            mesh.triangles.extend([[p(k), p(-k), p(-k - 1)], [p(k), p(-k - 1), p(k + 1)]]);
        }
        Ok(mesh)
    }

    /// The hull with walls, closed. Vertices: twice those of the shell; triangles: twice those of the shell
    /// and `4n + 2` of the rim.
    ///
    /// # Errors
    /// When a parameter is outside the range stated at its field.
    pub fn mesh(&self) -> Result<TriMesh, GeomError> {
        let mut mesh = self.shell()?;
        let mut inner = mesh.clone();
        let shrink = self.inner_scale();
        inner.positions.iter_mut().for_each(|p| *p *= shrink);
        inner.flip();
        let outer_vertices = mesh.positions.len() as u32;
        mesh.append(&inner);
        // The rim along the deck: forward on one side, back on the other, then along the transom.
        let m = self.m();
        let forward = (0..=self.stations).map(|i| self.vertex(i, m));
        let back = (0..self.stations).rev().map(|i| self.vertex(i, -m));
        let deck: Vec<u32> = forward.chain(back).collect();
        for k in 0..deck.len() {
            let (o1, o2) = (deck[k], deck[(k + 1) % deck.len()]);
            let (q1, q2) = (o1 + outer_vertices, o2 + outer_vertices);
            mesh.triangles.extend([[q1, q2, o2], [q1, o2, o1]]);
        }
        Ok(mesh)
    }

    /// Factors by which the inner wall is smaller than the outer one along x, y and z.
    pub fn inner_scale(&self) -> Vec3 {
        let t = self.thickness;
        Vec3::ONE - t / Vec3::new(0.5 * self.length, 0.5 * self.beam, self.depth)
    }

    /// Relative half-breadth w and depth d at ξ in −1 (transom) … 1 (bow).
    pub fn lines(xi: f64) -> (f64, f64) {
        let sq = xi * xi;
        if xi > 0.0 { (1.0 - sq, 1.0 - 0.5 * sq) } else { (1.0 - 0.3 * sq, 1.0 - 0.2 * sq) }
    }

    fn m(&self) -> i32 {
        self.bands as i32
    }

    fn point(&self, i: u32, j: i32) -> Vec3 {
        let xi = 2.0 * f64::from(i) / f64::from(self.stations) - 1.0;
        let (w, d) = Self::lines(xi);
        let angle = FRAC_PI_2 * f64::from(j) / f64::from(self.m());
        let up = if j.abs() == self.m() { 0.0 } else { angle.cos() };
        Vec3::new(0.5 * self.length * xi, 0.5 * self.beam * w * angle.sin(), -self.depth * d * up)
    }

    /// Number of point `j` of station `i`; at the bow both sides share their points.
    fn vertex(&self, i: u32, j: i32) -> u32 {
        let first = i * (2 * self.bands + 1);
        if i == self.stations { first + j.unsigned_abs() } else { first + (j + self.m()) as u32 }
    }

    fn check(&self) -> Result<(), GeomError> {
        const OF: &str = "BoatHull";
        positive(OF, &[("length", self.length), ("beam", self.beam), ("depth", self.depth)])?;
        positive(OF, &[("thickness", self.thickness)])?;
        counts(OF, &[("stations", self.stations, 2), ("bands", self.bands, 1)])?;
        fits(OF, 4 * u64::from(self.stations) * (u64::from(self.bands) + 1))?;
        let most = (0.25 * self.length).min(0.25 * self.beam).min(0.5 * self.depth);
        let t = self.thickness;
        require(
            t < most,
            OF,
            "thickness",
            t,
            format!("below {most}: half the depth and a quarter of length and beam"),
        )
    }
}
