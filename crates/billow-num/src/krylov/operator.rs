//! Linear operators, and preconditioners that act on each node alone.

use crate::par::{self, Partials};
use crate::sparse::{Block, BlockCsr, Csr, Sparse};
use crate::vector::{self, Entry};
use crate::{Mat3, Vec3, mat3};

/// A symmetric linear map that conjugate gradients can apply.
pub trait LinearOperator<T: Entry>: Sync {
    /// Number of unknowns.
    fn size(&self) -> usize;

    /// `y = A x`.
    fn apply(&self, x: &[T], y: &mut [T]);

    /// `y = A x`, returning `x · y`; override where one pass can do both.
    fn apply_dot(&self, x: &[T], y: &mut [T], partials: &mut Partials) -> f64 {
        self.apply(x, y);
        vector::dot(x, y, partials)
    }
}

impl<B: Block> LinearOperator<B::Entry> for Sparse<B> {
    fn size(&self) -> usize {
        self.pattern().rows()
    }

    fn apply(&self, x: &[B::Entry], y: &mut [B::Entry]) {
        self.multiply(x, y);
    }

    fn apply_dot(&self, x: &[B::Entry], y: &mut [B::Entry], partials: &mut Partials) -> f64 {
        self.multiply_dot(x, y, partials)
    }
}

/// An operator given by a function `f(x, y)` that writes `A x` to `y`.
pub struct MatrixFree<F> {
    size: usize,
    f: F,
}

impl<F> MatrixFree<F> {
    /// The operator on `size` unknowns that `f` applies.
    pub fn new(size: usize, f: F) -> Self {
        Self { size, f }
    }
}

impl<T: Entry, F: Fn(&[T], &mut [T]) + Sync> LinearOperator<T> for MatrixFree<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, x: &[T], y: &mut [T]) {
        (self.f)(x, y);
    }
}

/// A symmetric positive definite approximation of the inverse of an operator.
pub trait Preconditioner<T: Entry>: Sync {
    /// `z = M⁻¹ r`.
    fn apply(&self, r: &[T], z: &mut [T]);
}

/// No preconditioning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl<T: Entry> Preconditioner<T> for Identity {
    fn apply(&self, r: &[T], z: &mut [T]) {
        z.copy_from_slice(r);
    }
}

/// Division by the diagonal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jacobi {
    inverse: Vec<f64>,
}

impl Jacobi {
    /// The preconditioner from the diagonal of `a`; zero entries act as one, negative ones by their size.
    pub fn new(a: &Csr) -> Self {
        let mut jacobi = Self::default();
        jacobi.refill(a);
        jacobi
    }

    /// Takes the diagonal of `a` anew; allocates only if `a` has grown.
    pub fn refill(&mut self, a: &Csr) {
        self.inverse.resize(a.pattern().rows(), 0.0);
        par::fill(&mut self.inverse, |i| safe_inverse(a.diagonal(i)));
    }
}

impl Preconditioner<f64> for Jacobi {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        par::fill(z, |i| self.inverse[i] * r[i]);
    }
}

/// Multiplication by the inverse of each diagonal 3×3 block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockJacobi {
    inverse: Vec<Mat3>,
}

/// Diagonal blocks worse conditioned than this are replaced by their own diagonal.
const WORST_BLOCK: f64 = 1e-13;

impl BlockJacobi {
    /// The preconditioner from the diagonal blocks of `a`; blocks that are not safely positive definite fall
    /// back to their own diagonal.
    pub fn new(a: &BlockCsr) -> Self {
        let mut jacobi = Self::default();
        jacobi.refill(a);
        jacobi
    }

    /// Takes the diagonal blocks of `a` anew; allocates only if `a` has grown.
    pub fn refill(&mut self, a: &BlockCsr) {
        self.inverse.resize(a.pattern().rows(), Mat3::ZERO);
        par::fill(&mut self.inverse, |i| inverse_block(&a.diagonal(i)));
    }
}

impl Preconditioner<Vec3> for BlockJacobi {
    fn apply(&self, r: &[Vec3], z: &mut [Vec3]) {
        par::fill(z, |i| self.inverse[i] * r[i]);
    }
}

fn inverse_block(block: &Mat3) -> Mat3 {
    let d = Vec3::new(block.x_axis.x, block.y_axis.y, block.z_axis.z);
    let inverse = mat3::is_spd(block).then(|| mat3::inverse(block, WORST_BLOCK).ok()).flatten();
    inverse.map_or_else(
        || Mat3::from_diagonal(Vec3::new(safe_inverse(d.x), safe_inverse(d.y), safe_inverse(d.z))),
        |m| (m + m.transpose()) * 0.5,
    )
}

fn safe_inverse(diagonal: f64) -> f64 {
    let inverse = 1.0 / diagonal.abs();
    if inverse.is_finite() && inverse > 0.0 { inverse } else { 1.0 }
}
