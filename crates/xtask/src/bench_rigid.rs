//! `cargo xtask bench rigid`: rings on poles, time and overlap in one table, ours beside Rapier.
//!
//! Both engines run the same bodies for the same time, sleeping off, and both are judged by the same meter on exact
//! meshes. Rapier gets its best form: sixteen exact convex pieces per ring, made by hand, at 96 Hz with four
//! solver iterations. Time is that of the steps alone, per frame of 1/24 s.

use billow::num::Pose;
use billow::rigid::experiments::rings;
use billow::rigid::meter::Meter;
use billow::rigid::{Config, Model, State, Workspace, step};
use std::time::Instant;

const HZ: usize = 96;
const FRAME: usize = HZ / 24;

/// What one engine did.
struct Outcome {
    name: String,
    frames: Vec<f64>,
    overlaps: Vec<f64>,
}

impl Outcome {
    fn print(&self) {
        let mean = |x: &[f64]| x.iter().fold(0.0, |sum, v| sum + v) / x.len().max(1) as f64;
        let most = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<28} {:>9.4} {:>9.4} {:>12.3} {:>12.3} {:>8}",
            self.name,
            mean(&self.frames),
            most(&self.frames),
            1e3 * most(&self.overlaps),
            1e3 * mean(&self.overlaps),
            self.overlaps.len()
        );
    }
}

/// Runs the benchmark: `[RINGS [SECONDS]]`.
pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    let number = |k: usize, default: f64| {
        args.get(k).map_or(Ok(default), |text| text.parse().map_err(|_| format!("`{text}` is not a number")))
    };
    let (count, seconds) = (number(0, 1000.0)? as usize, number(1, 5.0)?);
    let model = rings(count).map_err(|e| e.to_string())?;
    let meter = Meter::new(&model);
    let frames = (24.0 * seconds).round() as usize;
    println!("{count} rings, {seconds} s, {HZ} Hz, {} threads, sleeping off", billow::num::par::threads());
    println!(
        "{:<28} {:>9} {:>9} {:>12} {:>12} {:>8}",
        "", "s/frame", "worst", "overlap mm", "mean mm", "pairs"
    );
    ours(&model, &meter, frames)?.print();
    match rapier(&model, &meter, frames) {
        Some(outcome) => outcome.print(),
        None => println!("rapier: not built in (use --features rapier)"),
    }
    Ok(())
}

fn ours(model: &Model, meter: &Meter, frames: usize) -> Result<Outcome, String> {
    let (mut state, mut work) = (model.start(), Workspace::default());
    let config = Config::default();
    let mut failure = None;
    let mut outcome = drive("billow", frames, |state_out| {
        let start = Instant::now();
        if let Err(e) = step(model, &mut state, &mut work, &config, 1.0 / HZ as f64) {
            failure = Some(e.to_string());
        }
        let spent = start.elapsed().as_secs_f64();
        if let Some(out) = state_out {
            out.extend(meter.measure(model, &state).pairs.iter().map(|p| p.1));
        }
        spent
    });
    outcome.name = "billow, raw triangles".into();
    failure.map_or(Ok(outcome), Err)
}

/// Steps through all frames; every frame's last step is measured.
fn drive(name: &str, frames: usize, mut step: impl FnMut(Option<&mut Vec<f64>>) -> f64) -> Outcome {
    let mut outcome = Outcome { name: name.into(), frames: Vec::new(), overlaps: Vec::new() };
    for _ in 0..frames {
        let mut spent = 0.0;
        for k in 0..FRAME {
            spent += step((k + 1 == FRAME).then_some(&mut outcome.overlaps));
        }
        outcome.frames.push(spent);
    }
    outcome
}

/// The state with bodies placed as another engine has them.
#[cfg_attr(not(feature = "rapier"), allow(dead_code))]
fn placed(model: &Model, placements: &[Pose]) -> State {
    let mut state = model.start();
    for (i, placement) in placements.iter().enumerate() {
        state.bodies[i].pose = model.geometry(i).frame().then(placement);
    }
    state
}

#[cfg(not(feature = "rapier"))]
fn rapier(_: &Model, _: &Meter, _: usize) -> Option<Outcome> {
    None
}

#[cfg(feature = "rapier")]
fn rapier(model: &Model, meter: &Meter, frames: usize) -> Option<Outcome> {
    use billow::num::{Pose, Quat, Vec3};
    use rapier3d::prelude::*;
    let float = |x: Vec3| Vector::new(x.x as f32, x.y as f32, x.z as f32);
    let mut world = PhysicsWorld::new();
    world.gravity = float(model.gravity());
    world.integration_parameters.dt = 1.0 / HZ as f32;
    world.integration_parameters.num_solver_iterations = 4;
    let mut shapes: Vec<Option<SharedShape>> = Vec::new();
    let mut handles = Vec::new();
    for (i, body) in model.bodies().iter().enumerate() {
        if shapes.len() <= body.geometry {
            shapes.resize(body.geometry + 1, None);
        }
        let shape = match &shapes[body.geometry] {
            Some(shape) => shape.clone(),
            None => {
                let points: Vec<Vector> =
                    model.geometry(i).mesh().positions.iter().map(|x| float(*x)).collect();
                let made = if model.geometry(i).is_convex() {
                    SharedShape::convex_hull(&points)?
                } else {
                    let pieces = ring_pieces(&model.geometry(i).mesh().positions);
                    let hull = |piece: &Vec<Vec3>| {
                        let points: Vec<Vector> = piece.iter().map(|x| float(*x)).collect();
                        SharedShape::convex_hull(&points).map(|hull| (rapier3d::math::Pose::IDENTITY, hull))
                    };
                    SharedShape::compound(pieces.iter().map(hull).collect::<Option<_>>()?)
                };
                shapes[body.geometry] = Some(made.clone());
                made
            }
        };
        let pose = model.start().bodies[i].pose;
        let q = pose.rotation;
        let rotation = Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32).normalize();
        let pose = rapier3d::math::Pose::from_parts(float(pose.position), rotation);
        let builder = if model.is_dynamic(i) {
            RigidBodyBuilder::dynamic().can_sleep(false)
        } else {
            RigidBodyBuilder::fixed()
        };
        let density = if model.is_dynamic(i) { 1000.0 } else { 0.0 };
        let collider = ColliderBuilder::new(shape)
            .density(density)
            .friction(body.surface.friction as f32)
            .restitution(body.surface.restitution as f32);
        handles.push(world.insert(builder.pose(pose), collider).0);
    }
    let mut outcome = drive("rapier", frames, |out| {
        let start = Instant::now();
        world.step();
        let spent = start.elapsed().as_secs_f64();
        if let Some(out) = out {
            let placements: Vec<Pose> = handles
                .iter()
                .enumerate()
                .map(|(i, handle)| {
                    let p = world.bodies[*handle].position();
                    let (t, r) = (p.translation, p.rotation);
                    let rotation =
                        Quat::from_xyzw(r.x.into(), r.y.into(), r.z.into(), r.w.into()).normalize();
                    let pose = Pose { position: Vec3::new(t.x.into(), t.y.into(), t.z.into()), rotation };
                    model.geometry(i).frame().inverse().then(&pose)
                })
                .collect();
            out.extend(meter.measure(model, &placed(model, &placements)).pairs.iter().map(|p| p.1));
        }
        spent
    });
    outcome.name = "rapier 0.36, 16 pieces".into();
    Some(outcome)
}

/// The convex pieces of a ring about z: its vertices, angle by angle, in neighbouring pairs.
#[cfg(feature = "rapier")]
fn ring_pieces(positions: &[billow::num::Vec3]) -> Vec<Vec<billow::num::Vec3>> {
    const SEGMENTS: usize = 16;
    let slot = |x: &billow::num::Vec3| {
        let turn = x.y.atan2(x.x) / std::f64::consts::TAU * SEGMENTS as f64;
        (turn.round() as isize).rem_euclid(SEGMENTS as isize) as usize
    };
    let mut slices = vec![Vec::new(); SEGMENTS];
    positions.iter().for_each(|x| slices[slot(x)].push(*x));
    (0..SEGMENTS).map(|k| [slices[k].as_slice(), &slices[(k + 1) % SEGMENTS]].concat()).collect()
}
