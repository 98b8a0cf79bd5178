//! Rolling and spinning friction of a contact ([Gue06] 2.9).
//!
//! A contact bears over a small area, so it passes on an angular impulse besides `r × j`. Like friction it is as large
//! as it takes to stop the motion it opposes, rolling about an axis in the tangent plane or spinning about the
//! normal, up to the normal impulse times a lever arm: the coefficient times the radius of curvature. Two
//! bodies roll on each other as one with the sum of their curvatures would on a plane; what bends
//! differently in two directions has an arm for each, and an ellipse of them in between.
//!
//! While the contact sticks, linear and angular impulses are found together, from the inverse spatial inertia (2.8).

use crate::bend::Patch;
use crate::contact::{Contact, Motion};
use crate::model::Model;
use billow_num::{Mat3, Pose, Vec2, Vec3};

/// Largest radius of curvature that counts, in radii of the body: over its width such a surface bends away from a plane by
/// a sixteenth of it. What is flatter rests on several places, whose forces resist tipping and spinning by themselves; it
/// rolls over its edge, if at all.
const FLAT: f64 = 8.0;
/// Part of the stiffness that keeps a solve from failing where an arm is nothing.
const LEAST: f64 = 1e-12;
/// Sine of the angle to which smooth surfaces are followed to where they touch: a vertex normal is not farther from its
/// triangles than half of what a crease turns by, 26°.
const STEEP: f64 = 0.5;

/// How two surfaces roll on each other where they touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rolling {
    /// Unit axes in the tangent plane about which the two roll.
    axes: [Vec3; 2],
    /// Way of the contact along both surfaces per angle rolled about each axis [m].
    radii: [f64; 2],
    /// Radius of a ball with the same mean curvature [m].
    mean: f64,
    /// Where smooth surfaces touch.
    touch: Touch,
}

/// Where the smooth surfaces that two meshes stand for touch, seen from a contact of the meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    /// Way there [m].
    pub(crate) way: Vec3,
    /// How much closer the surfaces are there [m].
    pub(crate) closer: f64,
    /// Unit normal there.
    pub(crate) normal: Vec3,
}

impl Rolling {
    /// How the two bodies of a contact roll, whose rotations in the world are given.
    pub(crate) fn new(model: &Model, contact: &Contact, rotations: [Mat3; 2]) -> Self {
        let n = contact.normal;
        let ids = [contact.a, contact.b].map(|i| i as usize);
        let patch = |k: usize, outward: Vec3| {
            let (shape, r) = (model.geometry(ids[k]), rotations[k]);
            shape.patch(contact.anchors[k], r.transpose() * outward).rotated(r)
        };
        let size = |i: usize| if model.is_dynamic(i) { model.geometry(i).radius } else { f64::INFINITY };
        Self::of([patch(0, -n), patch(1, n)], n, FLAT * size(ids[0]).min(size(ids[1])))
    }

    /// Principal axes of the sum of two bends across `n`, with radii up to `flat` [m].
    fn of([a, b]: [Patch; 2], n: Vec3, flat: f64) -> Self {
        let s = a.bend + b.bend;
        let t = n.any_orthonormal_vector();
        let u = n.cross(t);
        let [tt, tu, uu] = [t.dot(s * t), t.dot(s * u), u.dot(s * u)];
        let [mean, half] = [0.5 * (tt + uu), 0.5 * (tt - uu)];
        let angle = 0.5 * tu.atan2(half);
        let along = t * angle.cos() + u * angle.sin();
        let apart = half.hypot(tu);
        // It rolls along a direction about the axis across it.
        let axes = [n.cross(along), along];
        let directions = [along, axes[0]];
        let curved = |d: Vec3| [a, b].iter().any(|p| d.dot(p.bend * d).abs() * flat > 1.0);
        // Flat enough to hold itself, or a bowl that a ball just fits into.
        let widest = |d: Vec3| if curved(d) { flat } else { 0.0 };
        let radius = |kappa: f64, d: Vec3| if kappa * flat > 1.0 { 1.0 / kappa } else { widest(d) };
        let radii = [radius(mean + apart, directions[0]), radius(mean - apart, directions[1])];
        let mean = if radii == [0.0; 2] { 0.0 } else { 1.0 / mean.max(1.0 / flat) };
        Self { axes, radii, mean, touch: Touch::new([a, b], n, directions, radii) }
    }
}

impl Touch {
    /// Follows two surfaces along principal directions to where their normals are opposite. What is steep is left as it is.
    fn new([a, b]: [Patch; 2], n: Vec3, directions: [Vec3; 2], radii: [f64; 2]) -> Self {
        let mut touch = Self { way: Vec3::ZERO, closer: 0.0, normal: n };
        for (along, radius) in directions.into_iter().zip(radii) {
            let sine = along.dot(a.normal + b.normal);
            if sine.abs() < STEEP && radius > 0.0 {
                let way = along * (-radius * sine);
                touch.way += way;
                touch.closer += 0.5 * radius * sine * sine;
                touch.normal += along * along.dot(b.normal + b.bend * way);
            }
        }
        touch.normal = touch.normal.normalize_or(n);
        touch
    }
}

/// Rolling and spinning friction of a contact, and what they have given so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resistance {
    rolling: Rolling,
    /// Lever arms about the axes of rolling and about the normal [m].
    arms: [f64; 3],
    /// Angular impulses on the first body so far over their arms [N·s]; at most the normal impulse.
    roll: Vec2,
    spin: f64,
}

/// How linear and angular impulses at a contact change the relative velocities there: the blocks of K of (2.8), but for
/// the first, which is known by its inverse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spatial {
    inverse: Mat3,
    /// Relative angular velocity per linear impulse.
    turning: Mat3,
    angular: Mat3,
}

impl Spatial {
    /// Of two bodies at a contact; `inverse` is that of the sum of their K.
    pub(crate) fn new([a, b]: [&Motion; 2], arms: [Vec3; 2], inverse: Mat3) -> Self {
        let turning = |m: &Motion, r: Vec3| {
            m.inverse_inertia * Mat3::from_cols(r.cross(Vec3::X), r.cross(Vec3::Y), r.cross(Vec3::Z))
        };
        let angular = a.inverse_inertia + b.inverse_inertia;
        Self { inverse, turning: turning(a, arms[0]) + turning(b, arms[1]), angular }
    }

    /// Linear impulse that keeps the relative velocity at the contact what it is, per angular impulse.
    fn answer(&self) -> Mat3 {
        self.inverse * self.turning.transpose() * -1.0
    }

    /// Change of the relative angular velocity per angular impulse, while the contact sticks or by itself.
    fn compliance(&self, sticks: bool) -> Mat3 {
        if sticks { self.angular + self.turning * self.answer() } else { self.angular }
    }
}

/// Impulses on the first body of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Impulse {
    pub(crate) linear: Vec3,
    pub(crate) angular: Vec3,
}

impl Resistance {
    /// Of a contact that rolls so; `None` where both coefficients are zero.
    pub(crate) fn new(model: &Model, contact: &Contact, poses: [&Pose; 2]) -> Option<Self> {
        let [a, b] = [contact.a, contact.b].map(|i| &model.bodies[i as usize].surface);
        let [roll, spin] = [a.rolling.max(b.rolling), a.spinning.max(b.spinning)];
        if roll == 0.0 && spin == 0.0 {
            return None;
        }
        let rolling = Rolling::new(model, contact, poses.map(Pose::matrix));
        let arms = [roll * rolling.radii[0], roll * rolling.radii[1], spin * rolling.mean];
        Some(Self { rolling, arms, roll: Vec2::ZERO, spin: 0.0 })
    }

    /// Where the surfaces touch.
    pub(crate) fn touch(&self) -> &Touch {
        &self.rolling.touch
    }

    /// Changes the angular impulse so that neither rolls or spins, as far as the impulse `j` of the contact allows: the
    /// change, with the linear impulse that goes with it while `j` stays inside the cone of `friction`.
    pub(crate) fn change(
        &mut self,
        (w, n): (Vec3, Vec3),
        (j, friction): (Vec3, f64),
        spatial: &Spatial,
    ) -> Impulse {
        let inside = |j: Vec3| {
            let jn = j.dot(n);
            jn > 0.0 && (j - n * jn).length() < friction * jn
        };
        let before = *self;
        let coupled = inside(j).then(|| {
            let angular = self.turn((w, n), j.dot(n), &spatial.compliance(true));
            Impulse { linear: spatial.answer() * angular, angular }
        });
        if let Some(impulse) = coupled.filter(|i| inside(j + i.linear)) {
            return impulse;
        }
        *self = before;
        let angular = self.turn((w, n), j.dot(n).max(0.0), &spatial.compliance(false));
        Impulse { linear: Vec3::ZERO, angular }
    }

    /// The change of the angular impulse that takes the relative angular velocity `w` away, within the arms times `most`.
    fn turn(&mut self, (mut w, n): (Vec3, Vec3), most: f64, compliance: &Mat3) -> Vec3 {
        let [e, f] = [self.rolling.axes[0] * self.arms[0], self.rolling.axes[1] * self.arms[1]];
        let roll = {
            let [ce, cf] = [*compliance * e, *compliance * f];
            rolled(self.roll, Vec2::new(e.dot(w), f.dot(w)), [e.dot(ce), e.dot(cf), f.dot(cf)], most)
        };
        let rolls = e * (roll.x - self.roll.x) + f * (roll.y - self.roll.y);
        self.roll = roll;
        w += *compliance * rolls;
        let axis = n * self.arms[2];
        let stiffness = axis.dot(*compliance * axis);
        let stop = if stiffness > 0.0 { axis.dot(w) / stiffness } else { 0.0 };
        let spin = (self.spin - stop).clamp(-most, most);
        let spins = axis * (spin - self.spin);
        self.spin = spin;
        rolls + spins
    }
}

/// The rolling impulse that takes the velocity `w` away, or as much as `most` of it against the rolling; both per arm. The
/// symmetric matrix [[ee, ef], [ef, ff]] is how much the one changes the other.
fn rolled(j: Vec2, w: Vec2, [ee, ef, ff]: [f64; 3], most: f64) -> Vec2 {
    let scale = ee + ff;
    if scale <= 0.0 {
        return Vec2::ZERO;
    }
    let [ee, ff] = [ee, ff].map(|k| k + LEAST * scale);
    let stop = j - Vec2::new(ff * w.x - ef * w.y, ee * w.y - ef * w.x) / (ee * ff - ef * ef);
    if stop.length_squared() <= most * most {
        return stop;
    }
    // Against where it goes on rolling, which a step of this length cannot reverse.
    (j - w / scale).normalize_or_zero() * most
}

impl Impulse {
    /// Applies it to both bodies of a contact.
    pub(crate) fn apply(&self, [a, b]: [&mut Motion; 2], arms: [Vec3; 2]) {
        a.push(arms[0], self.linear);
        a.w += a.inverse_inertia * self.angular;
        b.push(arms[1], -self.linear);
        b.w -= b.inverse_inertia * self.angular;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::{Draws, Stream};

    fn body(draw: &mut Draws) -> Motion {
        let moments = Vec3::new(draw.range(1.0, 9.0), draw.range(1.0, 9.0), draw.range(1.0, 9.0));
        Motion {
            v: draw.unit_vector(),
            w: draw.unit_vector() * 2.0,
            inverse_mass: draw.range(0.2, 2.0),
            inverse_inertia: Mat3::from_diagonal(moments),
        }
    }

    /// A contact of two balls, one of them in a bowl if its radius is negative.
    fn balls(radii: [f64; 2], arms: [f64; 2], n: Vec3) -> Resistance {
        let patch = |radius: f64, outward: Vec3| Patch::of_ball(radius, outward);
        let rolling = Rolling::of([patch(radii[0], -n), patch(radii[1], n)], n, 8.0);
        let arms = [arms[0] * rolling.radii[0], arms[0] * rolling.radii[1], arms[1] * rolling.mean];
        Resistance { rolling, arms, roll: Vec2::ZERO, spin: 0.0 }
    }

    #[test]
    fn two_balls_roll_as_one_with_the_sum_of_their_curvatures() {
        for (radii, expected) in [([0.3, 0.6], 0.2), ([0.1, f64::INFINITY], 0.1), ([0.1, -0.2], 0.2)] {
            let rolling = balls(radii, [1.0; 2], Vec3::Z).rolling;
            for radius in rolling.radii.into_iter().chain([rolling.mean]) {
                assert!((radius - expected).abs() < 1e-12, "{radii:?}: {rolling:?}");
            }
        }
        // A ball in a bowl of its own size; a plane on a plane.
        assert_eq!(balls([0.1, -0.1], [1.0; 2], Vec3::Z).rolling.radii, [8.0; 2]);
        assert_eq!(balls([f64::INFINITY; 2], [1.0; 2], Vec3::Z).arms, [0.0; 3]);
    }

    #[test]
    fn impulses_of_a_contact_that_sticks_solve_both_equations_together() {
        for i in 0..500 {
            let mut draw = Stream::new(41, 4).at(i);
            let (a, b, n) = (body(&mut draw), body(&mut draw), draw.unit_vector());
            let arms = [draw.unit_vector() * 0.3, draw.unit_vector() * 0.4];
            let inverse = (a.compliance(arms[0]) + b.compliance(arms[1])).inverse();
            let spatial = Spatial::new([&a, &b], arms, inverse);
            let u = a.at(arms[0]) - b.at(arms[1]);
            let visited = |strength: f64| {
                let mut resistance = balls([0.3, 0.5], [strength; 2], n);
                let (mut a, mut b, mut given) = (a, b, Vec3::ZERO);
                for _ in 0..40 {
                    let change = resistance.change((a.w - b.w, n), (n * 50.0, 0.9), &spatial);
                    change.apply([&mut a, &mut b], arms);
                    given += change.angular;
                }
                // The place of contact keeps its velocity.
                assert!((a.at(arms[0]) - b.at(arms[1])).distance(u) < 1e-9, "{i}");
                (a.w - b.w, given)
            };
            // Strong friction stops all turning, weak friction gives what it may, against the turning that is left.
            let turning = visited(100.0).0.length();
            assert!(turning < 1e-6, "{i}: {turning}");
            let (turning, given) = visited(1e-3);
            let across = |x: Vec3| x - n * x.dot(n);
            let most = 1e-3 * 50.0 / (1.0 / 0.3 + 1.0 / 0.5);
            let against = across(turning).normalize() * -most;
            assert!(across(given).distance(against) < 1e-6 * most, "{i}: {given} {against}");
            assert!(given.dot(n).abs() < most * (1.0 + 1e-12), "{i}: {given}");
        }
    }
}
