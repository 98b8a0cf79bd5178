//! Strain and strain-rate limiting by impulses ([Bri03] 1.3, [BFA02] 4).
//!
//! A spring whose predicted length at the end of the step is out of bounds gets an impulse along its present direction
//! that brings the prediction exactly to the bound. Along the spring, equal and opposite: linear and angular momentum
//! are conserved. Extension and compression have bounds of their own; 0 % compression makes cloth buckle.

use crate::config::Sweep;
use crate::model::{Limit, Model};
use billow_num::{Vec3, par};

/// Which quantity a pass limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The strain predicted at the end of the step.
    Strain,
    /// The change of strain during the step.
    Rate,
}

/// A rule that every changed node must still obey, such as staying out of solid objects.
pub(crate) type Clamp<'a> = &'a dyn Fn(usize, &mut Vec3);

/// Applies up to `sweeps` sweeps over all springs, alternately in both directions; stops early when nothing is out of
/// bounds. Returns whether any velocity changed.
pub(crate) fn limit(
    model: &Model,
    (quantity, clamp): (Quantity, Clamp<'_>),
    (form, sweeps): (Sweep, u32),
    (x, dt): (&[Vec3], f64),
    v: &mut [Vec3],
) -> bool {
    let mut any = false;
    for sweep in 0..sweeps {
        let changed = match form {
            Sweep::GaussSeidel => gauss_seidel(model, (quantity, clamp), sweep % 2 == 1, (x, dt), v),
            Sweep::Jacobi => jacobi(model, (quantity, clamp), (x, dt), v),
        };
        any |= changed;
        if !changed {
            break;
        }
    }
    any
}

/// Predicted strain beyond the bounds that is not worth an impulse: a small part of what is visible.
const TOLERANCE: f64 = 1e-4;

fn gauss_seidel(
    model: &Model,
    (quantity, clamp): (Quantity, Clamp<'_>),
    backwards: bool,
    (x, dt): (&[Vec3], f64),
    v: &mut [Vec3],
) -> bool {
    let n = model.springs.len();
    let mut changed = false;
    for k in 0..n {
        let e = if backwards { n - 1 - k } else { k };
        if let Some(impulse) = correction(model, quantity, e, x, dt, v) {
            push(model, e, impulse, clamp, v);
            changed = true;
        }
    }
    changed
}

fn jacobi(
    model: &Model,
    (quantity, clamp): (Quantity, Clamp<'_>),
    (x, dt): (&[Vec3], f64),
    v: &mut [Vec3],
) -> bool {
    // Half of each wanted impulse: neighbours want the same node to move too.
    const RELAXATION: f64 = 0.5;
    let impulses = {
        let v = &*v;
        par::map(model.springs.len(), |e| correction(model, quantity, e, x, dt, v))
    };
    let mut changed = false;
    for (e, impulse) in impulses.into_iter().enumerate() {
        if let Some(impulse) = impulse {
            push(model, e, impulse * RELAXATION, clamp, v);
            changed = true;
        }
    }
    changed
}

/// Applies an impulse to the second end of a spring and the opposite to the first.
fn push(model: &Model, e: usize, impulse: Vec3, clamp: Clamp<'_>, v: &mut [Vec3]) {
    let [a, b] = model.springs.ends()[e].map(|i| i as usize);
    v[a] -= impulse * model.inverse_masses[a];
    clamp(a, &mut v[a]);
    v[b] += impulse * model.inverse_masses[b];
    clamp(b, &mut v[b]);
}

/// The impulse on the second end of spring `e` (the first gets the opposite) [N·s]; `None` within bounds.
fn correction(model: &Model, quantity: Quantity, e: usize, x: &[Vec3], dt: f64, v: &[Vec3]) -> Option<Vec3> {
    let [a, b] = model.springs.ends()[e].map(|i| i as usize);
    let compliance = model.inverse_masses[a] + model.inverse_masses[b];
    if compliance == 0.0 {
        return None;
    }
    let (d, dv, rest) = (x[b] - x[a], v[b] - v[a], model.springs.rest_lengths()[e]);
    let length2 = d.length_squared();
    if length2 == 0.0 {
        return None;
    }
    let limit = model.limits[e];
    let wanted = match quantity {
        Quantity::Strain => strain_correction(d, d + dv * dt, rest, &limit)?,
        Quantity::Rate => rate_correction(d, dv * dt, rest, &limit)?,
    };
    Some(d * (wanted / (length2.sqrt() * dt * compliance)))
}

/// How much longer the spring must become, along its present direction, for its predicted length to be in bounds [m].
fn strain_correction(d: Vec3, predicted: Vec3, rest: f64, limit: &Limit) -> Option<f64> {
    let (shortest, longest) = (rest * (1.0 - limit.compression), rest * (1.0 + limit.extension));
    let length2 = predicted.length_squared();
    let slack = TOLERANCE * rest;
    let bound = if length2 > (longest + slack).powi(2) {
        longest
    } else if length2 < (shortest - slack).max(0.0).powi(2) {
        shortest
    } else {
        return None;
    };
    // |predicted + s d̂| = bound, the root of smaller size; the nearest approach if the bound cannot be reached.
    let along = predicted.dot(d) / d.length();
    let room = along * along - length2 + bound * bound;
    let root = room.max(0.0).sqrt();
    Some(if along >= 0.0 { root - along } else { -root - along })
}

/// How much longer the spring must become for its length to change by no more than the limit in this step [m].
fn rate_correction(d: Vec3, change: Vec3, rest: f64, limit: &Limit) -> Option<f64> {
    let along = change.dot(d) / d.length();
    let most = limit.rate * rest;
    if along > most * (1.0 + TOLERANCE) {
        Some(most - along)
    } else if along < -most * (1.0 + TOLERANCE) {
        Some(-most - along)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { extension: 0.1, compression: 0.0, rate: 0.1 };

    #[test]
    fn the_predicted_length_lands_exactly_on_the_bound() {
        let d = Vec3::new(0.6, 0.8, 0.0);
        for predicted in [Vec3::new(1.0, 1.0, 0.3), Vec3::new(0.3, 0.3, 0.1), Vec3::new(0.9, 0.2, -0.7)] {
            let s = strain_correction(d, predicted, 1.0, &LIMIT).unwrap();
            let length = (predicted + d * s).length();
            let bound = if predicted.length() > 1.0 { 1.1 } else { 1.0 };
            assert!((length - bound).abs() < 1e-14, "{predicted}: {length}");
        }
        assert!(strain_correction(d, d * 1.05, 1.0, &LIMIT).is_none());
    }

    #[test]
    fn the_change_of_length_lands_exactly_on_the_bound() {
        let d = Vec3::new(0.0, 2.0, 0.0);
        let s = rate_correction(d, Vec3::new(5.0, -0.7, 1.0), 2.0, &LIMIT).unwrap();
        assert!((s - 0.5).abs() < 1e-15);
        assert!(rate_correction(d, Vec3::new(5.0, 0.19, 1.0), 2.0, &LIMIT).is_none());
    }

    #[test]
    fn both_forms_keep_linear_and_angular_momentum() {
        let material = crate::Material::default();
        let mesh = billow_geom::shapes::cloth_grid(1.0, 1.0, 8, 8).unwrap();
        let garment = crate::Garment {
            name: "cloth".into(),
            start: None,
            velocity: Vec3::ZERO,
            material,
            curved: false,
            equal_masses: false,
            layout: crate::Layout::Edges,
            pins: Vec::new(),
            mesh,
        };
        let model = Model::new(crate::Setup { garments: vec![garment], ..Default::default() }).unwrap();
        let x: Vec<Vec3> = model
            .rest
            .iter()
            .map(|x| *x * 1.3 + Vec3::new(3.0, 0.1 * (9.0 * x.x).sin(), x.y * x.x))
            .collect();
        let start: Vec<Vec3> =
            x.iter().map(|x| Vec3::new((7.0 * x.y).sin(), x.z, (5.0 * x.x).cos())).collect();
        let momenta = |v: &[Vec3]| {
            let terms = x.iter().zip(v).zip(&model.masses);
            terms.fold((Vec3::ZERO, Vec3::ZERO), |(p, l), ((x, v), m)| (p + *v * *m, l + x.cross(*v * *m)))
        };
        for form in [Sweep::GaussSeidel, Sweep::Jacobi] {
            for quantity in [Quantity::Strain, Quantity::Rate] {
                let mut v = start.clone();
                assert!(limit(&model, (quantity, &|_, _| {}), (form, 5), (&x, 0.05), &mut v));
                let (before, after) = (momenta(&start), momenta(&v));
                assert!(v.iter().zip(&start).any(|(a, b)| a.distance(*b) > 0.1), "it does change velocities");
                assert!(before.0.distance(after.0) < 1e-13 && before.1.distance(after.1) < 1e-13, "{form:?}");
            }
        }
    }
}
