//! Free motion: where velocities take a body, and what gravity does to them ([Gue06] 2.5).
//!
//! The angular momentum is what is kept, so free tumbling conserves it to the last bit; the orientation follows
//! the angular velocity at the middle of the step.

use crate::contact::Motion;
use crate::detect::BODIES;
use crate::model::{Drive, Inertia, Model};
use crate::state::State;
use billow_num::{Mat3, Pose, Quat, Vec3, par};

/// Pose after moving for `dt` with velocity `v` and, for bodies with inertia, constant angular momentum
/// corresponding to the angular velocity `w` at the present pose.
pub(crate) fn advanced(pose: &Pose, inertia: &Inertia, v: Vec3, w: Vec3, dt: f64) -> Pose {
    let mut middle = w;
    if inertia.inverse_mass > 0.0 && inertia.moments.max_element() > inertia.moments.min_element() {
        let l = inertia.times(pose, w);
        for _ in 0..2 {
            let half = turned(pose, middle * (0.5 * dt));
            middle = inertia.divided(&half, l);
        }
    }
    Pose { position: pose.position + v * dt, ..turned(pose, middle * dt) }
}

/// A pose rotated about its own origin by a rotation vector.
pub(crate) fn turned(pose: &Pose, by: Vec3) -> Pose {
    if by == Vec3::ZERO {
        return *pose;
    }
    Pose { position: pose.position, rotation: (Quat::from_scaled_axis(by) * pose.rotation).normalize() }
}

/// Velocities of all bodies; scripted ones have the mean velocity of their next `dt`, dynamic ones that are not `live`
/// have none.
pub(crate) fn velocities(model: &Model, state: &State, live: &[bool], dt: f64, out: &mut Vec<Motion>) {
    let of = |i: usize| {
        let (b, inertia) = (&state.bodies[i], &model.inertias[i]);
        match &model.bodies[i].drive {
            Drive::Dynamic if !live[i] => immovable(Vec3::ZERO, Vec3::ZERO),
            Drive::Dynamic => Motion {
                v: b.velocity,
                w: inertia.divided(&b.pose, b.angular_momentum),
                inverse_mass: inertia.inverse_mass,
                inverse_inertia: inertia.inverse_at(&b.pose),
            },
            Drive::Static => immovable(Vec3::ZERO, Vec3::ZERO),
            Drive::Scripted(_) => {
                let next = scripted(model, i, state.time + dt).unwrap_or(b.pose);
                let turn = next.rotation * b.pose.rotation.conjugate();
                let turn = if turn.w < 0.0 { -turn } else { turn };
                immovable((next.position - b.pose.position) / dt, turn.to_scaled_axis() / dt)
            }
        }
    };
    out.resize(state.bodies.len(), immovable(Vec3::ZERO, Vec3::ZERO));
    par::chunks_mut(out, BODIES, |first, some| {
        some.iter_mut().enumerate().for_each(|(k, m)| *m = of(first + k));
    });
}

/// Pose of a scripted body at a time; None for others.
pub(crate) fn scripted(model: &Model, body: usize, t: f64) -> Option<Pose> {
    match &model.bodies[body].drive {
        Drive::Scripted(motion) => Some(model.geometry(body).frame.then(&motion.pose(t))),
        _ => None,
    }
}

fn immovable(v: Vec3, w: Vec3) -> Motion {
    Motion { v, w, inverse_mass: 0.0, inverse_inertia: Mat3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_tumbling_keeps_its_energy_to_second_order() {
        let moments = Vec3::new(1.0, 2.0, 3.0);
        let inertia = Inertia { mass: 1.0, moments, inverse_mass: 1.0, inverse_moments: moments.recip() };
        let l = Vec3::new(0.3, 2.0, 0.1);
        let drift = |dt: f64| {
            let mut pose = Pose::IDENTITY;
            let energy = |pose: &Pose| 0.5 * l.dot(inertia.divided(pose, l));
            let start = energy(&pose);
            for _ in 0..(10.0 / dt) as usize {
                pose = advanced(&pose, &inertia, Vec3::ZERO, inertia.divided(&pose, l), dt);
            }
            (energy(&pose) - start).abs() / start
        };
        let (coarse, fine) = (drift(0.02), drift(0.01));
        assert!(fine < 1e-5 && coarse > 2.5 * fine, "{coarse} {fine}");
    }
}
