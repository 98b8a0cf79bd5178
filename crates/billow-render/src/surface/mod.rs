//! How light leaves a surface: materials, their patterns and their scattering functions.

mod albedo;
mod bsdf;
mod fresnel;
mod ggx;
mod material;
mod pattern;

pub(crate) use bsdf::{Bsdf, Scatter};
pub(crate) use material::{Material, Medium};
pub(crate) use pattern::Texture;
