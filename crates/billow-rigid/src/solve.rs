//! Contact by impulses that are remembered: sweeps over accumulated impulses, then a shock that is remembered too.
//!
//! Each contact keeps the impulse `j` given so far and changes it so that its own relative velocity becomes what
//! is wanted, sticking inside the friction cone and sliding on it ([Gue06] 2.7). What a contact needed in the last
//! step is its first guess. The last sweep goes up the contact graph with everything below infinitely heavy
//! ([Gue06] 2.8.2); what it finds is remembered as well, so the weight that shock propagation withholds from
//! the bodies below reaches them one step later, and a stack of n bodies is exact after n steps whatever the masses.

use crate::contact::{Contact, Motion};
use crate::graph::Levels;
use crate::lasting::unmoved;
use crate::model::Model;
use crate::roll::{Resistance, Spatial, Touch};
use billow_num::{Mat3, Pose, Vec3};
use std::cmp::Ordering;

/// A contact ready to be solved. What every visit needs comes first, side by side: sweeps wait for memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Impulse on the first body so far [N·s].
    pub(crate) j: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) ra: Vec3,
    pub(crate) rb: Vec3,
    /// Relative normal velocity that just closes the gap [m/s].
    pub(crate) wanted: f64,
    friction: f64,
    /// Rolling and spinning friction, where there is any.
    resistance: Option<Box<Resistance>>,
    /// K·normal.
    kn: Vec3,
    /// Inverse of K at the contact.
    inverse: Mat3,
    /// The same with the lower body held.
    held: (Mat3, Vec3),
    /// Whether the bodies met faster than forces alone explain: such impulses do not repeat.
    pub(crate) impact: bool,
}

impl Row {
    /// A row for a contact between bodies at two poses; closes the gap within `dt`.
    pub(crate) fn new(
        model: &Model,
        contact: &Contact,
        poses: [&Pose; 2],
        motions: &[Motion],
        dt: f64,
    ) -> Self {
        let [a, b] = [contact.a as usize, contact.b as usize];
        let shapes = [a, b].map(|i| model.geometry(i));
        let resistance = Resistance::new(model, contact, poses).map(Box::new);
        let found = (contact.arms, contact.normal, contact.gap(poses[0], poses[1]));
        let ([ra, rb], normal, gap) = resistance.as_ref().map_or(found, |r| smooth(r.touch(), found));
        let most = PASSING * dt * (motions[a].at(ra) - motions[b].at(rb)).length();
        let left = unmoved(shapes);
        let k = motions[a].compliance(ra) + motions[b].compliance(rb);
        let [sa, sb] = [&model.bodies[a].surface, &model.bodies[b].surface];
        Self {
            a: contact.a,
            b: contact.b,
            normal,
            ra,
            rb,
            inverse: k.inverse(),
            kn: k * normal,
            held: (Mat3::ZERO, Vec3::ZERO),
            wanted: wanted(gap, left, most) / dt,
            friction: sa.friction.max(sb.friction),
            resistance,
            impact: false,
            j: Vec3::ZERO,
        }
    }

    /// Prepares for sweeps in which the lower body is held.
    pub(crate) fn hold(&mut self, levels: &Levels, motions: &[Motion]) {
        let [a, b] = [self.a as usize, self.b as usize];
        let k = match levels.of[a].cmp(&levels.of[b]) {
            Ordering::Less if levels.supported[a] => motions[b].compliance(self.rb),
            Ordering::Greater if levels.supported[b] => motions[a].compliance(self.ra),
            _ => return,
        };
        self.held = (k.inverse(), k * self.normal);
    }

    /// Relative velocity of the two bodies at the contact [m/s].
    pub(crate) fn relative(&self, a: &Motion, b: &Motion) -> Vec3 {
        a.at(self.ra) - b.at(self.rb)
    }

    /// Takes over an impulse remembered from the last step, kept inside the cone, and applies it.
    pub(crate) fn warm(&mut self, j: Vec3, a: &mut Motion, b: &mut Motion) {
        let jn = j.dot(self.normal).max(0.0);
        let t = j - j.dot(self.normal) * self.normal;
        let most = self.friction * jn;
        self.j = self.normal * jn + if t.length() > most { t * (most / t.length()) } else { t };
        a.push(self.ra, self.j);
        b.push(self.rb, -self.j);
    }

    /// One visit: changes the impulse so that this contact is satisfied.
    /// Returns about how much the velocities changed [m/s].
    pub(crate) fn relax(&mut self, a: &mut Motion, b: &mut Motion) -> f64 {
        let u = self.relative(a, b);
        let next = self.next(u, &self.inverse, self.kn);
        let change = next - self.j;
        if change != Vec3::ZERO {
            self.j = next;
            a.push(self.ra, change);
            b.push(self.rb, -change);
        }
        let turned = self.resist(a, b);
        turned.max(change.abs().max_element() * self.kn.dot(self.normal))
    }

    /// One visit of the shock sweep: bodies that are `held` do not move, the impulse is remembered all the same.
    /// Returns about how much the velocities changed [m/s].
    pub(crate) fn shock(&mut self, a: &mut Motion, b: &mut Motion, held: [bool; 2]) -> f64 {
        let u = self.relative(a, b);
        if held == [true; 2] {
            return 0.0;
        }
        if held == [false; 2] {
            return self.relax(a, b);
        }
        let next = self.next(u, &self.held.0, self.held.1);
        let change = next - self.j;
        self.j = next;
        if held[0] {
            b.push(self.rb, -change);
        } else {
            a.push(self.ra, change);
        }
        change.abs().max_element() * self.held.1.dot(self.normal)
    }

    /// One visit of the forecast: keeps a resting contact from accelerating into itself. The motions are changes of
    /// velocity; friction stays what it was. Nothing is held: what bears feels at once what it bears, otherwise the
    /// weights of a heap would come and go from step to step. Returns about how much the motions changed [m/s].
    pub(crate) fn bear(&mut self, a: &mut Motion, b: &mut Motion) -> f64 {
        let n = self.normal;
        let missing = -self.relative(a, b).dot(n);
        let (k, jn) = (self.kn.dot(n), self.j.dot(n));
        let change = n * ((jn + missing / k).max(0.0) - jn);
        if change == Vec3::ZERO {
            return 0.0;
        }
        self.j += change;
        a.push(self.ra, change);
        b.push(self.rb, -change);
        change.abs().max_element() * k
    }

    /// The impulse that satisfies the contact: none, sticking, or sliding on the cone.
    fn next(&self, u: Vec3, inverse: &Mat3, kn: Vec3) -> Vec3 {
        let n = self.normal;
        let stick = self.j + *inverse * (n * self.wanted - u);
        let jn = stick.dot(n);
        let t = stick - n * jn;
        let (size, most) = (t.length_squared(), self.friction * jn);
        if most >= 0.0 && size <= most * most {
            return stick;
        }
        // n·(u + K(j' − j)) = wanted with j' = j'_n (n + μ t̂) and t̂ against the sliding velocity.
        let missing = self.wanted - u.dot(n) + kn.dot(self.j);
        if missing <= 0.0 {
            return Vec3::ZERO;
        }
        let d = self.j - u / kn.dot(n);
        let d = d - n * d.dot(n);
        let t = d.try_normalize().unwrap_or(t / size.sqrt().max(f64::MIN_POSITIVE));
        let along = n + t * self.friction;
        let (straight, slant) = (kn.dot(n), kn.dot(along));
        let (along, stiffness) = if slant > 1e-3 * straight { (along, slant) } else { (n, straight) };
        if stiffness > 0.0 { along * (missing / stiffness) } else { Vec3::ZERO }
    }

    /// Rolling and spinning friction, within what the contact bears ([Gue06] 2.9). What is held in a shock is left out:
    /// heaps of balls were shaken by it. Returns about how much the velocities changed [m/s].
    fn resist(&mut self, a: &mut Motion, b: &mut Motion) -> f64 {
        let Some(resistance) = &mut self.resistance else { return 0.0 };
        let (w, arms) = (a.w - b.w, [self.ra, self.rb]);
        let spatial = Spatial::new([a, b], arms, self.inverse);
        let change = resistance.change((w, self.normal), (self.j, self.friction), &spatial);
        if change.angular == Vec3::ZERO {
            return 0.0;
        }
        self.j += change.linear;
        change.apply([a, b], arms);
        (a.w - b.w - w).length() * self.ra.length().min(self.rb.length())
    }
}

/// How far a contact shall open in a step, given its gap, if overlaps up to `left` are not pushed apart and it may open by `most`
/// [m].
fn wanted(gap: f64, left: f64, most: f64) -> f64 {
    if gap >= 0.0 { -gap } else { (RELIEF * (-gap).min(left)).min(most) }
}

/// Part of the overlap that is not pushed apart by which a contact opens in a step.
const RELIEF: f64 = 0.2;
/// Part of the way past each other in a step by which a contact opens, at most. Not all contacts of a heap can open at once: one that
/// is at rest stays so, and one that creeps comes to rest.
const PASSING: f64 = 0.1;

/// Arms, normal and gap [m] of a contact of meshes where the smooth surfaces touch that they stand for. A vertex is a
/// contact because it will touch when the step is over; while bodies roll it is ahead of where they touch now. Borne there
/// they would be slowed down, as by a coefficient of rolling friction of the way of a step over the radius.
fn smooth(touch: &Touch, (arms, _, gap): ([Vec3; 2], Vec3, f64)) -> ([Vec3; 2], Vec3, f64) {
    let gap = if gap > 0.0 { (gap - touch.closer).max(0.0) } else { gap };
    (arms.map(|r| r + touch.way), touch.normal, gap)
}

/// The two bodies of a row, to be changed.
pub(crate) fn both(motions: &mut [Motion], a: u32, b: u32) -> [&mut Motion; 2] {
    let [a, b] = [a as usize, b as usize];
    motions.get_disjoint_mut([a, b]).expect("a contact joins two different bodies")
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::rng::{Draws, Stream};

    /// Two bodies and a contact between them, all drawn.
    fn drawn(draw: &mut Draws) -> (Row, Motion, Motion) {
        let vector = |draw: &mut Draws, size: f64| draw.unit_vector() * draw.range(0.0, size);
        let body = |draw: &mut Draws| Motion {
            v: vector(draw, 1.0),
            w: vector(draw, 2.0),
            inverse_mass: draw.range(0.2, 2.0),
            inverse_inertia: Mat3::from_diagonal(Vec3::ONE * draw.range(1.0, 9.0)),
        };
        let (a, b) = (body(draw), body(draw));
        let [ra, rb] = [vector(draw, 0.5), vector(draw, 0.5)];
        let (k, normal) = (a.compliance(ra) + b.compliance(rb), draw.unit_vector());
        let friction = draw.range(0.0, 1.0);
        let jn = draw.range(-0.5, 1.0).max(0.0);
        let side = normal.any_orthonormal_vector() * (friction * jn * draw.range(-1.0, 1.0));
        let row = Row {
            a: 0,
            b: 1,
            j: normal * jn + side,
            normal,
            ra,
            rb,
            wanted: -draw.range(0.0, 0.2),
            friction,
            resistance: None,
            kn: k * normal,
            inverse: k.inverse(),
            held: (Mat3::ZERO, Vec3::ZERO),
            impact: false,
        };
        (row, a, b)
    }

    /// What a visit leaves out where nothing changes, done all the same, with lengths instead of their squares.
    fn relaxed_in_full(row: &Row, a: &Motion, b: &Motion) -> (Vec3, Motion, Motion) {
        let (n, u) = (row.normal, row.relative(a, b));
        let stick = row.j + row.inverse * (n * row.wanted - u);
        let (jn, t) = (stick.dot(n), stick - n * stick.dot(n));
        let next = if jn >= 0.0 && t.length() <= row.friction * jn {
            stick
        } else {
            let missing = (row.wanted - u.dot(n) + row.kn.dot(row.j)).max(0.0);
            let d = row.j - u / row.kn.dot(n);
            let along = n + (d - n * d.dot(n)).normalize() * row.friction;
            let steep = row.kn.dot(along) <= 1e-3 * row.kn.dot(n);
            let along = if steep { n } else { along };
            along * (missing / row.kn.dot(along))
        };
        let (mut a, mut b) = (*a, *b);
        a.push(row.ra, next - row.j);
        b.push(row.rb, row.j - next);
        (next, a, b)
    }

    #[test]
    fn visits_that_leave_out_what_changes_nothing_give_what_full_ones_give() {
        let mut seen = [0; 3];
        for i in 0..4000 {
            let (row, a, b) = drawn(&mut Stream::new(31, 4).at(i));
            let (next, full_a, full_b) = relaxed_in_full(&row, &a, &b);
            let (mut quick, mut quick_a, mut quick_b) = (row.clone(), a, b);
            let changed = quick.relax(&mut quick_a, &mut quick_b);
            assert!(quick.j.distance(next) < 1e-12, "{i}: {} {next}", quick.j);
            for (q, f) in [(&quick_a, &full_a), (&quick_b, &full_b)] {
                assert!(q.v.distance(f.v) + q.w.distance(f.w) < 1e-12, "{i}");
            }
            // An open contact that gave nothing leaves every bit as it is.
            let open = row.j == Vec3::ZERO && quick.j == Vec3::ZERO;
            assert!(!open || (changed, quick_a, quick_b) == (0.0, a, b), "{i}");
            let slides = quick.j != Vec3::ZERO && (row.relative(&quick_a, &quick_b)).length() > 0.3;
            seen[if open { 0 } else { 1 + usize::from(slides) }] += 1;
        }
        assert!(seen.iter().all(|count| *count > 300), "open, sticking, sliding: {seen:?}");
    }

    #[test]
    fn what_bears_nothing_and_moves_apart_is_left_alone() {
        let mut left = 0;
        for i in 0..1000 {
            let (mut row, mut a, mut b) = drawn(&mut Stream::new(32, 4).at(i));
            let (jn, apart) = (row.j.dot(row.normal), row.relative(&a, &b).dot(row.normal));
            let before = (row.j, a, b);
            let changed = row.bear(&mut a, &mut b);
            if row.j.dot(row.normal) > 1e-9 {
                // It does not accelerate into itself, nor is it pulled.
                assert!(row.relative(&a, &b).dot(row.normal).abs() < 1e-9, "{i}");
            } else if jn == 0.0 {
                assert!(apart >= 0.0 && changed == 0.0 && (row.j, a, b) == before, "{i}");
                left += 1;
            }
        }
        assert!(left > 100, "{left}");
    }

    #[test]
    fn overlaps_open_while_bodies_pass_each_other_and_stay_where_they_rest() {
        let (left, fast) = (1e-4, 1.0);
        assert_eq!(wanted(3e-4, left, fast), -3e-4);
        assert!(
            (wanted(-5e-5, left, fast) - 1e-5).abs() < 1e-18 && wanted(-1e-3, left, fast) == RELIEF * left
        );
        assert_eq!([wanted(-5e-5, left, 3e-6), wanted(-5e-5, left, 0.0)], [3e-6, 0.0]);
        // A row of bodies at rest asks for nothing, one of bodies that slide for a part of that.
        let ring = billow_geom::shapes::torus(0.3, 0.1, 16, 10).unwrap();
        let mut b = crate::experiments::Builder::default();
        let shape = b.mesh(&ring).unwrap();
        (0..2).for_each(|_| {
            b.body("ring", shape, Vec3::ZERO);
        });
        let model = b.model().unwrap();
        let asked = |speed: f64| {
            let motion =
                |v: Vec3| Motion { v, w: Vec3::ZERO, inverse_mass: 1.0, inverse_inertia: Mat3::ZERO };
            let skin = 2.0 * model.geometry(0).skin;
            let (anchors, arms) = ([Vec3::Z * 0.9 * skin, Vec3::ZERO], [Vec3::ZERO; 2]);
            let contact = Contact { a: 0, b: 1, anchors, arms, normal: Vec3::Z, skin };
            let motions = [motion(Vec3::X * speed), motion(Vec3::ZERO)];
            Row::new(&model, &contact, [&Pose::IDENTITY; 2], &motions, 0.01).wanted
        };
        assert_eq!(asked(0.0), 0.0);
        assert!((asked(1e-4) - PASSING * 1e-4).abs() < 1e-12 && asked(1.0) < PASSING, "{}", asked(1.0));
    }
}
