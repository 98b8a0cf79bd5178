//! Unions, intersections, differences and offsets of colliders.
//!
//! The minimum (maximum) of distances has the right zero set and sign everywhere and is the exact distance outside
//! a union (inside an intersection); elsewhere it underestimates. Normal and velocity come from the member
//! that decides φ.

use crate::collider::{Collider, EVERYWHERE, Sample};
use billow_geom::Aabb;
use billow_num::Vec3;
use std::sync::Arc;

/// Everything inside any member; nothing if there are none.
#[derive(Clone)]
pub struct Union(pub Vec<Arc<dyn Collider>>);

/// Everything inside all members; all of space if there are none.
#[derive(Clone)]
pub struct Intersection(pub Vec<Arc<dyn Collider>>);

/// The member with the least `sign · φ`.
fn decisive(members: &[Arc<dyn Collider>], sign: f64, x: Vec3, t: f64) -> Option<(f64, &dyn Collider)> {
    let mut best: Option<(f64, &dyn Collider)> = None;
    for member in members {
        let phi = member.phi(x, t);
        if best.is_none_or(|(b, _)| sign * phi < sign * b) {
            best = Some((phi, &**member));
        }
    }
    best
}

macro_rules! decided_by_one {
    ($shape:ty, $sign:expr, $bounds:expr, $merge:expr) => {
        impl Collider for $shape {
            fn phi(&self, x: Vec3, t: f64) -> f64 {
                decisive(&self.0, $sign, x, t).map_or(f64::INFINITY.copysign($sign), |(phi, _)| phi)
            }

            fn normal(&self, x: Vec3, t: f64) -> Vec3 {
                decisive(&self.0, $sign, x, t).map_or(Vec3::Z, |(_, c)| c.normal(x, t))
            }

            fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
                decisive(&self.0, $sign, x, t).map_or(Vec3::ZERO, |(_, c)| c.velocity(x, t))
            }

            fn sample(&self, x: Vec3, t: f64) -> Sample {
                match decisive(&self.0, $sign, x, t) {
                    Some((_, c)) => c.sample(x, t),
                    None => {
                        Sample { phi: f64::INFINITY.copysign($sign), normal: Vec3::Z, velocity: Vec3::ZERO }
                    }
                }
            }

            fn bounds(&self, t: f64) -> Aabb {
                self.0.iter().map(|c| c.bounds(t)).fold($bounds, $merge)
            }
        }
    };
}

decided_by_one!(Union, 1.0, Aabb::EMPTY, Aabb::union);
decided_by_one!(Intersection, -1.0, EVERYWHERE, |a: Aabb, b: Aabb| Aabb {
    min: a.min.max(b.min),
    max: a.max.min(b.max)
});

/// Everything outside a solid.
#[derive(Clone, Debug)]
pub struct Complement<C>(pub C);

impl<C: Collider> Collider for Complement<C> {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        -self.0.phi(x, t)
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        -self.0.normal(x, t)
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        self.0.velocity(x, t)
    }

    fn bounds(&self, _: f64) -> Aabb {
        EVERYWHERE
    }
}

/// What is inside the first solid and outside the second.
pub fn difference(a: Arc<dyn Collider>, b: Arc<dyn Collider>) -> Intersection {
    Intersection(vec![a, Arc::new(Complement(b))])
}

/// A solid grown by a distance (shrunk if negative).
#[derive(Clone, Debug)]
pub struct Offset<C> {
    /// The solid.
    pub body: C,
    /// How far the surface moves outward [m].
    pub distance: f64,
}

impl<C: Collider> Collider for Offset<C> {
    fn phi(&self, x: Vec3, t: f64) -> f64 {
        self.body.phi(x, t) - self.distance
    }

    fn normal(&self, x: Vec3, t: f64) -> Vec3 {
        self.body.normal(x, t)
    }

    fn velocity(&self, x: Vec3, t: f64) -> Vec3 {
        self.body.velocity(x, t)
    }

    fn bounds(&self, t: f64) -> Aabb {
        self.body.bounds(t).inflated(self.distance)
    }
}
