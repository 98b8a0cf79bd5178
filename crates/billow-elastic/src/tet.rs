//! Linear tetrahedra: constant strain, co-rotational Hooke's law.
//!
//! With F the deformation gradient and R its rotation the energy density is
//! `μ |F − R|² + ½ λ tr(RᵀF − I)²`: linear elasticity in the frame that turns with the element, so turning costs nothing.
//! The tangent holds R fixed, which keeps it symmetric and positive semi-definite. An inverted element is pushed back, since R
//! stays a rotation.

use billow_num::par::Incidence;
use billow_num::{Mat3, NumError, Vec3, mat3, par};

/// An isotropic elastic material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetMaterial {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio, from 0 to below 0.5 [-].
    pub poisson: f64,
}

impl TetMaterial {
    /// Lamé's λ and μ [Pa].
    pub fn lame(&self) -> [f64; 2] {
        let Self { young, poisson } = *self;
        [young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson))]
    }
}

/// The rest shape of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetRest {
    /// Inverse of the matrix of rest edges from corner 0 [1/m].
    pub inverse: Mat3,
    /// Rest volume [m³].
    pub volume: f64,
}

impl TetRest {
    /// The rest shape with the given corners; `None` if it has no volume.
    pub fn new(x: [Vec3; 4]) -> Option<Self> {
        let edges = Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let volume = edges.determinant() / 6.0;
        (volume > 0.0).then(|| Self { inverse: edges.inverse(), volume })
    }

    /// Deformation gradient with corners at `x` [-].
    pub fn gradient(&self, x: [Vec3; 4]) -> Mat3 {
        Mat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * self.inverse
    }

    /// Gradients of the four shape functions in the rest shape [1/m].
    pub fn shape_gradients(&self) -> [Vec3; 4] {
        let rows = self.inverse.transpose();
        let [b, c, d] = [rows.x_axis, rows.y_axis, rows.z_axis];
        [-(b + c + d), b, c, d]
    }

    /// First Piola–Kirchhoff stress for the deformation gradient `f` with rotation `r` [Pa].
    fn stress(&self, f: Mat3, r: Mat3, [lambda, mu]: [f64; 2]) -> Mat3 {
        (f - r) * (2.0 * mu) + r * (lambda * (trace(r.transpose() * f) - 3.0))
    }

    /// Elastic forces on the four corners at `x` [N].
    pub fn forces(&self, x: [Vec3; 4], lame: [f64; 2]) -> [Vec3; 4] {
        let f = self.gradient(x);
        let p = self.stress(f, rotation(&f), lame);
        self.shape_gradients().map(|b| -self.volume * (p * b))
    }

    /// Elastic energy at `x` [J].
    pub fn energy(&self, x: [Vec3; 4], [lambda, mu]: [f64; 2]) -> f64 {
        let f = self.gradient(x);
        let r = rotation(&f);
        let d = f - r;
        let square: f64 = [d.x_axis, d.y_axis, d.z_axis].map(Vec3::length_squared).iter().sum();
        let volumetric = trace(r.transpose() * f) - 3.0;
        self.volume * (mu * square + 0.5 * lambda * volumetric * volumetric)
    }
}

/// The rotation nearest to `f`.
fn rotation(f: &Mat3) -> Mat3 {
    let svd = mat3::svd_rotations(f);
    svd.u * svd.v.transpose()
}

fn trace(m: Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Tetrahedra of a model: fixed during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TetElements {
    tets: Vec<[u32; 4]>,
    rest: Vec<TetRest>,
    lame: [f64; 2],
    incidence: Incidence,
}

/// Rotations and stresses at a configuration: scratch, rewritten by [`TetElements::linearise`].
#[derive(Clone, Debug, Default)]
pub struct TetTangent {
    /// Rotation of each element and stress times shape gradients: minus the forces.
    elements: Vec<(Mat3, [Vec3; 4])>,
}

impl TetElements {
    /// Elements over the nodes at `rest` [m].
    ///
    /// # Errors
    /// If a tetrahedron names a node that does not exist or has no rest volume.
    pub fn new(rest: &[Vec3], tets: &[[u32; 4]], material: TetMaterial) -> Result<Self, NumError> {
        let incidence = Incidence::new(rest.len(), tets)?;
        let mut shapes = Vec::with_capacity(tets.len());
        for tet in tets {
            match TetRest::new(tet.map(|n| rest[n as usize])) {
                Some(shape) => shapes.push(shape),
                None => return Err(NumError::Singular { rcond: 0.0, limit: 0.0 }),
            }
        }
        Ok(Self { tets: tets.to_vec(), rest: shapes, lame: material.lame(), incidence })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.tets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tets.is_empty()
    }

    /// Rest shapes.
    pub fn rest(&self) -> &[TetRest] {
        &self.rest
    }

    fn corners(&self, t: usize, x: &[Vec3]) -> [Vec3; 4] {
        self.tets[t].map(|n| x[n as usize])
    }

    /// Elastic energy [J].
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        par::sum(self.len(), |t| self.rest[t].energy(self.corners(t, x), self.lame))
    }

    /// Rotations and forces at `x`.
    pub fn linearise(&self, x: &[Vec3], tangent: &mut TetTangent) {
        tangent.elements.resize(self.len(), Default::default());
        par::fill(&mut tangent.elements, |t| {
            let f = self.rest[t].gradient(self.corners(t, x));
            let r = rotation(&f);
            let p = self.rest[t].stress(f, r, self.lame);
            (r, self.rest[t].shape_gradients().map(|b| -self.rest[t].volume * (p * b)))
        });
    }

    /// Adds the elastic forces of the last [`TetElements::linearise`] to `f` [N].
    pub fn add_elastic(&self, tangent: &TetTangent, f: &mut [Vec3]) {
        self.incidence.gather_with(f, |t, corner| tangent.elements[t].1[corner]);
    }

    /// Adds `factor · ∂f/∂x v` to `y`, rotations held fixed. `product` is scratch.
    pub fn add_product(
        &self,
        tangent: &TetTangent,
        factor: f64,
        v: &[Vec3],
        y: &mut [Vec3],
        product: &mut Vec<Mat3>,
    ) {
        let [lambda, mu] = self.lame;
        product.resize(self.len(), Mat3::ZERO);
        par::fill(product, |t| {
            let (df, r) = (self.rest[t].gradient(self.corners(t, v)), tangent.elements[t].0);
            (df * (2.0 * mu) + r * (lambda * trace(r.transpose() * df))) * (-factor * self.rest[t].volume)
        });
        self.incidence.gather_with(y, |t, corner| product[t] * self.rest[t].shape_gradients()[corner]);
    }

    /// Adds the diagonal of the negated [`TetElements::add_product`] operator, for preconditioning.
    pub fn add_diagonal(&self, tangent: &TetTangent, factor: f64, diagonal: &mut [Vec3]) {
        let [lambda, mu] = self.lame;
        self.incidence.gather_with(diagonal, |t, corner| {
            let b = self.rest[t].shape_gradients()[corner];
            let turned = tangent.elements[t].0 * b;
            factor
                * self.rest[t].volume
                * (Vec3::splat(2.0 * mu * b.length_squared()) + lambda * turned * turned)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::Stream;

    const MATERIAL: TetMaterial = TetMaterial { young: 3.0, poisson: 0.3 };

    fn ball() -> (Vec<Vec3>, TetElements) {
        let mesh = billow_geom::shapes::tet_ball(1.0, 2).unwrap();
        let elements = TetElements::new(&mesh.positions, &mesh.tets, MATERIAL).unwrap();
        (mesh.positions, elements)
    }

    fn shaken(rest: &[Vec3], amount: f64, seed: u64) -> Vec<Vec3> {
        (0..rest.len()).map(|n| rest[n] + amount * Stream::new(seed, 0).at(n as u64).in_ball()).collect()
    }

    fn forces(elements: &TetElements, x: &[Vec3]) -> Vec<Vec3> {
        let (mut tangent, mut f) = (TetTangent::default(), vec![Vec3::ZERO; x.len()]);
        elements.linearise(x, &mut tangent);
        elements.add_elastic(&tangent, &mut f);
        f
    }

    #[test]
    fn forces_are_minus_the_energy_gradient_and_keep_momentum() {
        let (rest, elements) = ball();
        let x = shaken(&rest, 0.15, 1);
        let f = forces(&elements, &x);
        let h = 1e-6;
        for node in [0, 5, 11] {
            for axis in 0..3 {
                let energy = |s: f64| {
                    let mut moved = x.clone();
                    moved[node][axis] += s * h;
                    elements.energy(&moved)
                };
                let slope = (energy(1.0) - energy(-1.0)) / (2.0 * h);
                assert!((f[node][axis] + slope).abs() < 1e-7, "{} against {}", f[node][axis], -slope);
            }
        }
        let torque: Vec3 = f.iter().zip(&x).map(|(f, x)| x.cross(*f)).sum();
        assert!(f.iter().sum::<Vec3>().length() < 1e-12 && torque.length() < 1e-12);
    }

    #[test]
    fn turning_costs_nothing_and_a_stretch_gives_hookes_stress() {
        let (rest, elements) = ball();
        let turn = Mat3::from_rotation_y(1.1) * Mat3::from_rotation_x(0.4);
        let turned: Vec<Vec3> = rest.iter().map(|x| turn * *x + Vec3::ONE).collect();
        assert!(elements.energy(&turned) < 1e-20);
        // Uniaxial strain ε: energy density ½ (λ + 2μ) ε².
        let stretched: Vec<Vec3> = rest.iter().map(|x| *x * Vec3::new(1.01, 1.0, 1.0)).collect();
        let volume: f64 = elements.rest().iter().map(|r| r.volume).sum();
        let [lambda, mu] = MATERIAL.lame();
        let truth = volume * 0.5 * (lambda + 2.0 * mu) * 1e-4;
        assert!((elements.energy(&stretched) / truth - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_tangent_is_the_derivative_at_rest_and_never_indefinite() {
        let (rest, elements) = ball();
        let v = shaken(&vec![Vec3::ZERO; rest.len()], 1.0, 3);
        let moved = |s: f64| -> Vec<Vec3> { rest.iter().zip(&v).map(|(x, v)| *x + s * *v).collect() };
        let h = 1e-6;
        let (up, down) = (forces(&elements, &moved(h)), forces(&elements, &moved(-h)));
        let mut tangent = TetTangent::default();
        let product = |x: &[Vec3], tangent: &mut TetTangent| {
            elements.linearise(x, tangent);
            let mut y = vec![Vec3::ZERO; x.len()];
            elements.add_product(tangent, 1.0, &v, &mut y, &mut Vec::new());
            y
        };
        // At rest the rotation's derivative cancels only in the symmetric part; compare with the linear theory there.
        let y = product(&rest, &mut tangent);
        let work: f64 = y.iter().zip(&v).map(|(y, v)| y.dot(*v)).sum();
        let truth: f64 = (0..v.len()).map(|n| (up[n] - down[n]).dot(v[n]) / (2.0 * h)).sum();
        assert!(work <= truth + 1e-6 && work < 0.0, "{work} against {truth}");
        let y = product(&shaken(&rest, 0.5, 4), &mut tangent);
        assert!(y.iter().zip(&v).map(|(y, v)| y.dot(*v)).sum::<f64>() < 0.0);
        let mut diagonal = vec![Vec3::ZERO; rest.len()];
        elements.add_diagonal(&tangent, 1.0, &mut diagonal);
        let mut unit = vec![Vec3::ZERO; rest.len()];
        unit[3] = Vec3::Y;
        let mut y = vec![Vec3::ZERO; rest.len()];
        elements.add_product(&tangent, 1.0, &unit, &mut y, &mut Vec::new());
        assert!((y[3].y + diagonal[3].y).abs() < 1e-12);
    }

    #[test]
    fn an_inverted_element_is_pushed_back() {
        let x = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let rest = TetRest::new(x).unwrap();
        let inverted = [x[0], x[1], x[2], -0.3 * Vec3::Z];
        assert!(rest.forces(inverted, MATERIAL.lame())[3].z > 0.0);
        assert!(TetRest::new([x[0], x[2], x[1], x[3]]).is_none());
    }
}
