//! The one question every solid answers: how far is the surface, which way is out, how fast does it move?
//!
//! [Bri03] 2.1 needs φ, the normal N = ∇φ and the velocity of a collision object at a point; analytic shapes,
//! grids, octrees, booleans and moving versions of all of them answer through [`Collider`].
//! φ is negative inside.

use billow_geom::Aabb;
use billow_num::Vec3;
use std::sync::Arc;

/// What a [`Collider`] says about one point at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Signed distance to the surface, negative inside [m].
    pub phi: f64,
    /// Unit outward normal of the level surface through the point [-].
    pub normal: Vec3,
    /// Velocity of the material at the point, extended off the object [m/s].
    pub velocity: Vec3,
}

/// A [`Collider`] as it is at one time: what was a function of time is computed already.
pub type Still<'a> = Box<dyn Fn(Vec3) -> Sample + Send + Sync + 'a>;

/// A solid known through its signed distance.
///
/// Near the surface φ is the distance to the accuracy of the representation. Far away its sign is right and its
/// magnitude a lower bound of the distance (booleans and grids that store only a band underestimate; full lattices,
/// continued beyond their samples, may overestimate there), so steps of |φ| never pass through the surface.
pub trait Collider: Send + Sync {
    /// Signed distance at `x` [m] and time `t` [s], negative inside.
    fn phi(&self, x: Vec3, t: f64) -> f64;

    /// Unit outward normal of the level surface through `x`. Where φ has no gradient (the centre of a sphere, or
    /// beyond the band of a sparse grid) it is an arbitrary unit vector, never NaN.
    fn normal(&self, x: Vec3, t: f64) -> Vec3;

    /// Velocity of the solid at `x`, extended off it [m/s].
    fn velocity(&self, _x: Vec3, _t: f64) -> Vec3 {
        Vec3::ZERO
    }

    /// All three answers at once.
    fn sample(&self, x: Vec3, t: f64) -> Sample {
        Sample { phi: self.phi(x, t), normal: self.normal(x, t), velocity: self.velocity(x, t) }
    }

    /// The same answers for many points at one time, without finding out for each of them where the solid then is.
    fn at_time(&self, t: f64) -> Still<'_> {
        Box::new(move |x| self.sample(x, t))
    }

    /// A box around everything inside at time `t`; infinite for half-spaces and complements.
    fn bounds(&self, t: f64) -> Aabb;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<C: Collider + ?Sized> Collider for $pointer {
            fn phi(&self, x: Vec3, t: f64) -> f64 { (**self).phi(x, t) }
            fn normal(&self, x: Vec3, t: f64) -> Vec3 { (**self).normal(x, t) }
            fn velocity(&self, x: Vec3, t: f64) -> Vec3 { (**self).velocity(x, t) }
            fn sample(&self, x: Vec3, t: f64) -> Sample { (**self).sample(x, t) }
            fn at_time(&self, t: f64) -> Still<'_> { (**self).at_time(t) }
            fn bounds(&self, t: f64) -> Aabb { (**self).bounds(t) }
        }
    )*};
}
forward!(&C, Box<C>, Arc<C>);

/// The whole of space as a box.
pub(crate) const EVERYWHERE: Aabb = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };

/// `v` scaled to length one, or the z axis if it has no direction.
pub(crate) fn unit_or_z(v: Vec3) -> Vec3 {
    v.try_normalize().unwrap_or(Vec3::Z)
}
