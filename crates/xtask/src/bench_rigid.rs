//! `cargo xtask bench rigid`: rings on poles and bones in a funnel, time and overlap in one table, ours beside Rapier.
//!
//! Both engines run the same bodies for the same time, sleeping off, and both are judged by the same meter on exact
//! meshes. Rapier gets its best form: sixteen exact convex pieces per ring and five approximate hulls per bone, made by
//! hand, at 96 Hz with four solver iterations, and takes the larger of two coefficients of friction, as Billow does. Bones
//! run once more with the hulls that its own decomposition makes of them, which is what a user gets who makes none by hand.
//! Time is that of the steps alone, per frame of 1/24 s.

use billow::num::stages::Stages;
use billow::num::{Pose, Vec3};
use billow::rigid::experiments::{RING, bones, rings, rings_from};
use billow::rigid::meter::{Circle, Meter, linked};
use billow::rigid::{Config, Model, State, Workspace, step};
use std::time::Instant;

const HZ: usize = 96;
const FRAME: usize = HZ / 24;

/// What one engine did.
struct Outcome {
    name: String,
    frames: Vec<f64>,
    /// Processor time per frame, all threads together; NaN where the system does not tell.
    processor: f64,
    overlaps: Vec<f64>,
    linked: usize,
    /// Counts and times of stages, if known.
    details: String,
}

impl Outcome {
    fn print(&self, title: &str) {
        let mean = |x: &[f64]| x.iter().fold(0.0, |sum, v| sum + v) / x.len().max(1) as f64;
        let most = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<42} {:>9.4} {:>9.4} {:>9.4} {:>12.3} {:>12.3} {:>8} {:>7}",
            format!("{title}: {}", self.name),
            mean(&self.frames),
            most(&self.frames),
            self.processor,
            1e3 * most(&self.overlaps),
            1e3 * mean(&self.overlaps),
            self.overlaps.len(),
            self.linked
        );
        if !self.details.is_empty() {
            println!("{}", self.details);
        }
    }
}

/// Runs the benchmark: `[rings|bones COUNT SECONDS]…`; without arguments the whole table.
pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    const ALL: [&str; 15] = [
        "rings", "500", "5", "rings", "1000", "5", "rings", "1000", "1.25", "rings", "10000", "1.25",
        "bones", "500", "5",
    ];
    let args = if args.is_empty() { &ALL } else { args };
    println!(
        "{HZ} Hz, {} threads, sleeping off, overlaps at the end of every frame",
        billow::num::par::threads()
    );
    println!(
        "{:<42} {:>9} {:>9} {:>9} {:>12} {:>12} {:>8} {:>7}",
        "", "s/frame", "worst", "cpu s", "overlap mm", "mean mm", "pairs", "linked"
    );
    for row in args.chunks(3) {
        let [scene, count, seconds] = row else {
            return Err("a row is `rings` or `bones`, a count and seconds".into());
        };
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
        run_row(scene, number(count)? as usize, number(seconds)?)?;
    }
    Ok(())
}

/// One scene in both engines.
fn run_row(scene: &str, count: usize, seconds: f64) -> Result<(), String> {
    let model = match scene {
        "rings" => rings(count),
        "bones" => bones(count),
        other => return Err(format!("`{other}` is no scene of this benchmark; use rings or bones")),
    };
    let model = model.map_err(|e| e.to_string())?;
    let meter = Meter::new(&model);
    let frames = (24.0 * seconds).round() as usize;
    let from = (scene == "rings").then(|| rings_from(count));
    let title = format!("{scene} {count}, {seconds} s");
    ours(&model, &meter, (frames, from))?.print(&title);
    let ways: &[Pieces] =
        if from.is_some() { &[Pieces::ByHand] } else { &[Pieces::ByHand, Pieces::Decomposed] };
    for pieces in ways {
        match rapier(&model, &meter, (frames, from), *pieces) {
            Some(outcome) => outcome.print(&title),
            None => println!("rapier: not built in (use --features rapier)"),
        }
    }
    Ok(())
}

/// How bodies that are not convex are cut into convex pieces for Rapier.
#[derive(Clone, Copy, PartialEq)]
enum Pieces {
    ByHand,
    /// By Rapier itself.
    Decomposed,
}

/// Pairs of rings that are linked; `from` is the number of the first.
fn links(model: &Model, state: &State, from: Option<usize>) -> usize {
    let Some(from) = from else { return 0 };
    let circle = |i: usize| {
        let pose = model.placement(state, i);
        Circle { centre: pose.position, normal: pose.vector(Vec3::Z), radius: RING.0 }
    };
    let circles: Vec<Circle> = (from..model.len()).map(circle).collect();
    let near = |a: &Circle, b: &Circle| a.centre.distance_squared(b.centre) < 4.0 * RING.0 * RING.0;
    let of =
        |i: usize| circles[..i].iter().filter(|b| near(&circles[i], b) && linked(&circles[i], b)).count();
    (0..circles.len()).map(of).sum()
}

fn ours(model: &Model, meter: &Meter, (frames, from): (usize, Option<usize>)) -> Result<Outcome, String> {
    let (mut state, mut work) = (model.start(), Workspace::default());
    let config = Config::default();
    let mut failure = None;
    let (mut stages, mut counts) = (Stages::default(), [0u64; 4]);
    let mut outcome = drive("billow", frames, |state_out| {
        let start = Clock::now();
        match step(model, &mut state, &mut work, &config, 1.0 / HZ as f64) {
            Ok(report) => {
                stages.absorb(&report.stages);
                let new = [report.substeps, report.contacts, report.late_contacts, report.levels];
                counts.iter_mut().zip(new).for_each(|(sum, n)| *sum += n);
            }
            Err(e) => failure = Some(e.to_string()),
        }
        let spent = start.spent();
        if let Some(out) = state_out {
            out.extend(meter.measure(model, &state).pairs.iter().map(|p| p.1));
        }
        spent
    });
    outcome.name = "billow, raw triangles".into();
    outcome.linked = links(model, &state, from);
    let steps = (frames * FRAME) as f64;
    let [parts, contacts, late, levels] = counts.map(|n| n as f64 / steps);
    let times: Vec<String> = (stages.times().iter())
        .map(|(name, t)| format!("{name} {:.1}", 1e3 * t.elapsed.as_secs_f64() / frames as f64))
        .collect();
    outcome.details = format!(
        "    per step: {parts:.2} parts, {contacts:.0} contacts, {late:.0} late, {levels:.0} levels; ms per frame: {}",
        times.join(", ")
    );
    failure.map_or(Ok(outcome), Err)
}

/// Time of day and processor time when something begins.
struct Clock(Instant, f64);

impl Clock {
    fn now() -> Self {
        Self(Instant::now(), processor_time())
    }

    /// Seconds and processor seconds since then.
    fn spent(&self) -> [f64; 2] {
        [self.0.elapsed().as_secs_f64(), processor_time() - self.1]
    }
}

/// Processor time of all threads so far [s], as Linux tells it; NaN elsewhere.
fn processor_time() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return f64::NAN };
    let of = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    1e-9 * threads.flatten().filter_map(of).fold(0.0, |sum, t| sum + t)
}

/// Steps through all frames; every frame's last step is measured. `step` returns seconds and processor seconds.
fn drive(name: &str, frames: usize, mut step: impl FnMut(Option<&mut Vec<f64>>) -> [f64; 2]) -> Outcome {
    let mut outcome = Outcome {
        name: name.into(),
        frames: Vec::new(),
        processor: 0.0,
        overlaps: Vec::new(),
        linked: 0,
        details: String::new(),
    };
    for _ in 0..frames {
        let mut spent = 0.0;
        for k in 0..FRAME {
            let [time, processor] = step((k + 1 == FRAME).then_some(&mut outcome.overlaps));
            spent += time;
            outcome.processor += processor / frames as f64;
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
fn rapier(_: &Model, _: &Meter, _: (usize, Option<usize>), _: Pieces) -> Option<Outcome> {
    None
}

#[cfg(feature = "rapier")]
fn rapier(
    model: &Model,
    meter: &Meter,
    (frames, from): (usize, Option<usize>),
    pieces: Pieces,
) -> Option<Outcome> {
    use billow::num::Vec3;
    use rapier3d::prelude::*;
    let float = |x: Vec3| Vector::new(x.x as f32, x.y as f32, x.z as f32);
    let mut world = PhysicsWorld::new();
    world.gravity = float(model.gravity());
    world.integration_parameters.dt = 1.0 / HZ as f32;
    world.integration_parameters.num_solver_iterations = 4;
    let mut shapes: Vec<Option<SharedShape>> = Vec::new();
    let (mut handles, mut hulls) = (Vec::new(), 0);
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
                } else if !model.is_dynamic(i) {
                    SharedShape::trimesh(points, model.geometry(i).mesh().triangles.clone()).ok()?
                } else if pieces == Pieces::Decomposed {
                    SharedShape::convex_decomposition(&points, &model.geometry(i).mesh().triangles)
                } else {
                    let positions = &model.geometry(i).mesh().positions;
                    let pieces = if from.is_some() { ring_pieces(positions) } else { bone_pieces(positions) };
                    let hull = |piece: &Vec<Vec3>| {
                        let points: Vec<Vector> = piece.iter().map(|x| float(*x)).collect();
                        SharedShape::convex_hull(&points).map(|hull| (rapier3d::math::Pose::IDENTITY, hull))
                    };
                    SharedShape::compound(pieces.iter().map(hull).collect::<Option<_>>()?)
                };
                hulls = made.as_compound().map_or(hulls, |c| c.shapes().len());
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
            .friction_combine_rule(CoefficientCombineRule::Max)
            .restitution(body.surface.restitution as f32);
        handles.push(world.insert(builder.pose(pose), collider).0);
    }
    let mut last = model.start();
    let mut outcome = drive("rapier", frames, |out| {
        let start = Clock::now();
        world.step();
        let spent = start.spent();
        if let Some(out) = out {
            last = placed(model, &placements(model, &world, &handles));
            out.extend(meter.measure(model, &last).pairs.iter().map(|p| p.1));
        }
        spent
    });
    let own = if pieces == Pieces::Decomposed { " of its own" } else { "" };
    outcome.name = format!("rapier 0.36, {hulls} hulls{own}");
    outcome.linked = links(model, &last, from);
    Some(outcome)
}

/// Where Rapier's bodies are.
#[cfg(feature = "rapier")]
fn placements(
    model: &Model,
    world: &rapier3d::prelude::PhysicsWorld,
    handles: &[rapier3d::prelude::RigidBodyHandle],
) -> Vec<Pose> {
    use billow::num::Quat;
    let place = |(i, handle): (usize, &rapier3d::prelude::RigidBodyHandle)| {
        let p = world.bodies[*handle].position();
        let (t, r) = (p.translation, p.rotation);
        let rotation = Quat::from_xyzw(r.x.into(), r.y.into(), r.z.into(), r.w.into()).normalize();
        let pose = Pose { position: Vec3::new(t.x.into(), t.y.into(), t.z.into()), rotation };
        model.geometry(i).frame().inverse().then(&pose)
    };
    handles.iter().enumerate().map(place).collect()
}

/// Approximate convex pieces of a bone: its shaft and, at each end, the two knobs.
#[cfg(feature = "rapier")]
fn bone_pieces(positions: &[Vec3]) -> Vec<Vec<Vec3>> {
    let bounds = billow::geom::Aabb::of_points(positions);
    let size = bounds.size().to_array();
    let mut axes = [0, 1, 2];
    axes.sort_by(|a, b| size[*b].total_cmp(&size[*a]));
    let [long, wide, _] = axes;
    let mut pieces = vec![Vec::new(); 5];
    for x in positions {
        let end = x[long] / (0.5 * size[long]);
        if end.abs() < 0.55 {
            pieces[4].push(*x);
        } else {
            for side in 0..2 {
                if (x[wide] > 0.0) == (side == 1) || x[wide].abs() < 0.1 * size[wide] {
                    pieces[2 * usize::from(end > 0.0) + side].push(*x);
                }
            }
        }
    }
    pieces
}

/// The convex pieces of a ring about z: its vertices, angle by angle, in neighbouring pairs.
#[cfg(feature = "rapier")]
fn ring_pieces(positions: &[Vec3]) -> Vec<Vec<Vec3>> {
    const SEGMENTS: usize = 16;
    let slot = |x: &Vec3| {
        let turn = x.y.atan2(x.x) / std::f64::consts::TAU * SEGMENTS as f64;
        (turn.round() as isize).rem_euclid(SEGMENTS as isize) as usize
    };
    let mut slices = vec![Vec::new(); SEGMENTS];
    positions.iter().for_each(|x| slices[slot(x)].push(*x));
    (0..SEGMENTS).map(|k| [slices[k].as_slice(), &slices[(k + 1) % SEGMENTS]].concat()).collect()
}
