//! Judging a cached run: exact crossings, finite numbers, inverted elements, whole files, and the scene's own checks.
//!
//! Every stored frame is read back and examined on its own; verdicts come in the order of the frames, whatever the
//! number of threads.

use crate::Scene;
use crate::driver::{Auditor, Event, Progress, RunError, stored_scene, with_threads};
use crate::elements::Elements;
use crate::expr::Expr;
use crate::rigid::{Found, Referee, RigidPlan};
use billow_io::cache::{Reader, Status};
use billow_io::{Frame, Shape, Values};
use billow_num::{Pose, Vec3, par};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Something that must be true of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name in the scene file.
    pub name: String,
    /// Judge only runs that have this frame.
    pub needs_frame: u32,
    /// First and last frame that are judged.
    pub frames: [u32; 2],
    /// What is judged.
    pub criterion: Criterion,
}

/// What a [`Check`] judges.
#[derive(Clone, Debug, PartialEq)]
pub enum Criterion {
    /// A statistic stays what it was in the first frame.
    Constant {
        /// Statistic.
        statistic: String,
        /// Change allowed, relative to the first value [-].
        relative: f64,
        /// Change allowed on top, in the statistic's unit.
        absolute: f64,
    },
    /// A statistic stays within limits.
    Range {
        /// Statistic.
        statistic: String,
        /// Smallest value allowed.
        min: f64,
        /// Largest value allowed.
        max: f64,
    },
    /// The centre of a body follows a path.
    Path {
        /// Body.
        body: String,
        /// Where it should be at time t [m].
        position: [Expr; 3],
        /// Largest distance allowed [m].
        tolerance: f64,
    },
    /// The elements of a body are well shaped and its boundary is sound.
    Elements {
        /// Body.
        body: String,
        /// Fewest elements allowed.
        at_least: u32,
        /// Largest ratio of longest edge to shortest altitude allowed [-].
        max_aspect: f64,
        /// Smallest and largest angle allowed [°].
        angles: [f64; 2],
    },
    /// A direction of a body turns over so many times.
    Flips {
        /// Body.
        body: String,
        /// Unit direction in the body.
        axis: Vec3,
        /// Fixed unit direction.
        along: Vec3,
        /// Fewest flips allowed.
        at_least: u32,
        /// Most flips allowed.
        at_most: u32,
    },
    /// Rigid bodies do not overlap, and rings stay linked or unlinked as they begin.
    Penetration {
        /// Largest depth allowed [m]; 1 % of the thickness of the thinnest rigid body if not given.
        max: Option<f64>,
        /// Largest mean depth of overlapping pairs allowed [m].
        mean: f64,
    },
}

/// The verdict on one cached frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameCheck {
    /// Frame number.
    pub frame: u32,
    /// Everything wrong with it, in words; empty if all is well.
    pub problems: Vec<String>,
    /// Crossing pairs of elements.
    pub crossings: u64,
    /// Values that are not finite.
    pub non_finite: u64,
    /// Tetrahedra turned inside out.
    pub inverted: u64,
}

/// The verdict of one of the scene's own checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneCheck {
    /// Name of the check in the scene file.
    pub name: String,
    /// `Some(true)` passed, `Some(false)` failed, `None` not applicable to this run (too short).
    pub passed: Option<bool>,
    /// What was measured and what was allowed.
    pub message: String,
}

/// The verdict on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// Frames found on disk.
    pub frames: u32,
    /// Frames the run is meant to have, the initial one included.
    pub expected_frames: u32,
    /// Problems of the run as a whole: missing frames, broken index.
    pub problems: Vec<String>,
    /// Frames with something wrong.
    pub bad_frames: Vec<FrameCheck>,
    /// Crossing pairs over all frames.
    pub crossings: u64,
    /// Overlaps of rigid bodies; `None` if the scene has none.
    pub overlaps: Option<Overlaps>,
    /// The strain of each piece of cloth.
    pub cloth: Vec<ClothStrain>,
    /// The scene's own checks.
    pub checks: Vec<SceneCheck>,
}

/// The largest strain of a piece of cloth at the ends of frames.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClothStrain {
    /// Name of the piece.
    pub name: String,
    /// Largest strain of any spring [-].
    pub largest: f64,
    /// Frame in which it was found.
    pub frame: u32,
    /// What its fabric allows [-].
    pub limit: f64,
}

impl ClothStrain {
    /// How far it is beyond its limit [-].
    pub fn beyond(&self) -> f64 {
        (self.largest - self.limit).max(0.0)
    }
}

/// Overlaps of rigid bodies over a run, measured on exact meshes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overlaps {
    /// Largest depth [m].
    pub largest: f64,
    /// Frame in which it was found.
    pub frame: u32,
    /// The two bodies.
    pub bodies: [String; 2],
    /// Mean depth of all overlapping pairs of all frames [m].
    pub mean: f64,
    /// Overlapping pairs over all frames.
    pub pairs: u64,
    /// Pairs of rings that became linked, or linked ones that came apart, over all frames.
    pub relinked: u64,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
            && self.bad_frames.is_empty()
            && self.checks.iter().all(|c| c.passed != Some(false))
    }
}

/// Judges every cached frame of the run in `dir`, then the scene's own checks.
pub fn check_run(dir: &Path, threads: usize, progress: &dyn Progress) -> Result<CheckReport, RunError> {
    let reader = Reader::open(dir)?;
    let mut problems = Vec::new();
    let scene = match stored_scene(&reader) {
        Ok(scene) => Some(scene),
        Err(error) => {
            problems.push(format!("the run's copy of its scene cannot be used: {error}"));
            None
        }
    };
    let expected = expected_frames(&reader, scene.as_ref());
    problems.extend(missing(&reader, &expected));
    let may_cross = scene.as_ref().map_or(Vec::new(), |s| s.output().may_cross.clone());
    let frames = reader.frames();
    progress.event(&Event::Started { first: 0, last: frames.len() as u32 });
    let done = AtomicU32::new(0);
    let plan = scene.as_ref().and_then(Scene::rigid_plan);
    let rules = Rules {
        may_cross: &may_cross,
        left_out: &scene.as_ref().map_or(Vec::new(), Scene::measured_names),
        referee: plan.map(Referee::new),
        may_begin_crossed: scene.as_ref().is_some_and(begins_crossed),
    };
    let judged = with_threads(threads, || {
        par::map(frames.len(), |i| {
            let judged = judge(&reader, frames[i], &rules);
            let frame = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.event(&Event::SubStep { frame, fraction: 1.0, time: 0.0 });
            judged
        })
    });
    let crossings = judged.iter().map(|(check, _)| check.crossings).sum();
    let facts: Vec<Facts> = judged.iter().filter_map(|(_, facts)| facts.clone()).collect();
    let overlaps = plan.map(|plan| overlaps(plan, &facts, facts.first()));
    let evidence = Evidence { facts: &facts, overlaps: overlaps.as_ref() };
    let cloth = scene.as_ref().map_or(Vec::new(), |s| strains(s, &facts));
    let mut checks = scene.as_ref().map_or(Vec::new(), |s| own_checks(s, &evidence));
    checks.extend(scene.iter().flat_map(|s| strain_checks(s, &cloth)));
    if scene.as_ref().is_some_and(begins_crossed) {
        checks.push(parting(
            &judged.iter().map(|(check, _)| (check.frame, check.crossings)).collect::<Vec<_>>(),
        ));
    }
    Ok(CheckReport {
        frames: frames.len() as u32,
        expected_frames: expected.len() as u32,
        problems,
        bad_frames: judged.into_iter().map(|j| j.0).filter(|c| !c.problems.is_empty()).collect(),
        crossings,
        overlaps,
        cloth,
        checks,
    })
}

/// Whether the scene lets cloth begin crossed.
fn begins_crossed(scene: &Scene) -> bool {
    scene.cloth_plan().is_some_and(|plan| plan.allow_crossings)
}

/// The verdict on cloth that began crossed, from the crossing pairs of each frame: they only become fewer.
fn parting(crossings: &[(u32, u64)]) -> SceneCheck {
    let (first, last) = (crossings.first().map_or(0, |c| c.1), crossings.last().map_or(0, |c| c.1));
    let rises = crossings.windows(2).find(|w| w[1].1 > w[0].1);
    let message = match (rises, crossings.iter().rev().find(|c| c.1 > 0)) {
        (Some(w), _) => format!("{} crossing pairs in frame {} after {}", w[1].1, w[1].0, w[0].1),
        (None, Some((frame, _))) if last == 0 => {
            format!("{first} crossing pairs at the start; they have parted after frame {frame}")
        }
        (None, _) => format!("{first} crossing pairs at the start, {last} at the end"),
    };
    SceneCheck { name: "initial crossings".into(), passed: Some(rises.is_none()), message }
}

/// The largest strain of each piece of cloth.
fn strains(scene: &Scene, facts: &[Facts]) -> Vec<ClothStrain> {
    let found = scene.cloths().iter().map(|piece| {
        let values =
            facts.iter().filter_map(|f| Some((f.index, *f.stats.get(&format!("{}.strain", piece.name))?)));
        let (frame, largest) = values.fold((0, 0.0), |best, now| if now.1 > best.1 { now } else { best });
        ClothStrain { name: piece.name.clone(), largest, frame, limit: piece.material.extension_limit }
    });
    found.collect()
}

/// Strain beyond the limit that is no fault where the scene says nothing: where fabric is wedged, collisions have the
/// last word [-].
const STRAIN_TOLERANCE: f64 = 0.02;

/// Verdicts on the strain of cloth that the scene has no check for.
fn strain_checks(scene: &Scene, found: &[ClothStrain]) -> Vec<SceneCheck> {
    let asked = |statistic: &str| {
        let same =
            |c: &Check| matches!(&c.criterion, Criterion::Range { statistic: s, .. } if s == statistic);
        scene.checks().iter().any(same)
    };
    let judged = found.iter().filter(|s| !asked(&format!("{}.strain", s.name))).map(|s| SceneCheck {
        name: format!("strain of {}", s.name),
        passed: Some(s.beyond() <= STRAIN_TOLERANCE),
        message: format!("at most {:.4}; allowed {:.4} and {STRAIN_TOLERANCE} more", s.largest, s.limit),
    });
    judged.collect()
}

/// The verdicts of the scene's checks; rigid bodies are judged even if the scene does not ask for it.
fn own_checks(scene: &Scene, evidence: &Evidence<'_>) -> Vec<SceneCheck> {
    let mut all: Vec<SceneCheck> = scene.checks().iter().map(|c| c.judge(scene, evidence)).collect();
    let asked = |c: &Check| matches!(c.criterion, Criterion::Penetration { .. });
    if scene.rigid_plan().is_some() && !scene.checks().iter().any(asked) {
        let criterion = Criterion::Penetration { max: None, mean: f64::INFINITY };
        all.push(
            Check { name: "penetration".into(), needs_frame: 0, frames: [0, u32::MAX], criterion }
                .judge(scene, evidence),
        );
    }
    all
}

/// Sums up what the referee found.
fn overlaps(plan: &RigidPlan, facts: &[Facts], first: Option<&Facts>) -> Overlaps {
    let mut sum = Overlaps::default();
    let mut total = 0.0;
    let begin = first.and_then(|f| f.found.as_ref()).map_or(Vec::new(), |f| f.linked.clone());
    for (index, found) in facts.iter().filter_map(|f| Some((f.index, f.found.as_ref()?))) {
        for (pair, depth) in &found.pairs {
            total += depth;
            sum.pairs += 1;
            if *depth > sum.largest {
                (sum.largest, sum.frame) = (*depth, index);
                sum.bodies = pair.map(|k| plan.members[k as usize].name.clone());
            }
        }
        let (now, then): (BTreeSet<_>, BTreeSet<_>) = (found.linked.iter().collect(), begin.iter().collect());
        sum.relinked += now.symmetric_difference(&then).count() as u64;
    }
    sum.mean = total / sum.pairs.max(1) as f64;
    sum
}

/// The frames a finished run has.
fn expected_frames(reader: &Reader, scene: Option<&Scene>) -> Vec<u32> {
    let manifest = reader.manifest();
    let every = scene.map_or(1, |s| s.output().every);
    (manifest.first_frame..=manifest.last_frame)
        .filter(|k| k.is_multiple_of(every) || *k == manifest.last_frame)
        .collect()
}

/// What is missing from the run.
fn missing(reader: &Reader, expected: &[u32]) -> Vec<String> {
    let absent: Vec<u32> =
        expected.iter().copied().filter(|k| reader.frames().binary_search(k).is_err()).collect();
    let (Some(first), Some(last)) = (absent.first(), absent.last()) else { return Vec::new() };
    let which = if first == last {
        format!("frame {first}")
    } else {
        format!("{} frames from {first} to {last}", absent.len())
    };
    let why = match reader.status() {
        Status::Finished => "although the run says it is finished".to_owned(),
        Status::Running => "because the run is still being computed".to_owned(),
        Status::Interrupted => "because the run was interrupted; resume it".to_owned(),
        Status::Failed => match &reader.manifest().message {
            Some(message) => format!("because the run failed: {message}"),
            None => "because the run failed".to_owned(),
        },
    };
    vec![format!("{which} missing {why}")]
}

/// What the scene's checks need to know of a frame.
#[derive(Clone, Debug)]
struct Facts {
    index: u32,
    time: f64,
    poses: BTreeMap<String, Pose>,
    stats: BTreeMap<String, f64>,
    found: Option<Found>,
}

/// Everything known about a run.
struct Evidence<'a> {
    facts: &'a [Facts],
    overlaps: Option<&'a Overlaps>,
}

/// What frames are judged by.
struct Rules<'a> {
    may_cross: &'a [[String; 2]],
    left_out: &'a [String],
    referee: Option<Referee<'a>>,
    /// Whether crossings are judged over all frames instead of one by one.
    may_begin_crossed: bool,
}

/// Judges one frame.
fn judge(reader: &Reader, index: u32, rules: &Rules<'_>) -> (FrameCheck, Option<Facts>) {
    let mut check =
        FrameCheck { frame: index, problems: Vec::new(), crossings: 0, non_finite: 0, inverted: 0 };
    let frame = match reader.read(index) {
        Ok(frame) => frame,
        Err(error) => {
            check.problems.push(error.to_string());
            return (check, None);
        }
    };
    count_non_finite(&frame, &mut check);
    count_inverted(&frame, &mut check);
    let audit = Auditor::new(rules.may_cross).leave_out(rules.left_out).audit(&frame);
    check.crossings = audit.pairs;
    if let Some(first) = audit.first.as_ref().filter(|_| !rules.may_begin_crossed) {
        check.problems.push(format!("{} crossing pairs, first {first}", audit.pairs));
    }
    // What is not finite cannot be measured, and has been reported.
    let finite = check.non_finite == 0;
    let found = rules.referee.as_ref().filter(|_| finite).and_then(|r| r.measure(&frame));
    let poses = frame.objects.iter().map(|o| (o.name.clone(), o.pose)).collect();
    (check, Some(Facts { index, time: frame.time, poses, stats: frame.stats, found }))
}

fn count_non_finite(frame: &Frame, check: &mut FrameCheck) {
    for object in &frame.objects {
        let values = match &object.shape {
            Shape::Grid(grid) => grid.values.iter().filter(|x| !x.is_finite()).count(),
            shape => shape.positions().iter().filter(|p| !p.is_finite()).count(),
        };
        let attributes: usize = object.attributes.iter().map(|a| non_finite(&a.values)).sum();
        let pose = usize::from(!(object.pose.position.is_finite() && object.pose.rotation.is_finite()));
        let count = values + attributes + pose;
        if count > 0 {
            check.non_finite += count as u64;
            check.problems.push(format!("`{}` has {count} values that are not finite", object.name));
        }
    }
    for (name, x) in frame.stats.iter().filter(|(_, x)| !x.is_finite()) {
        check.non_finite += 1;
        check.problems.push(format!("statistic `{name}` is {x}"));
    }
}

fn non_finite(values: &Values) -> usize {
    match values {
        Values::Scalar(v) => v.iter().filter(|x| !x.is_finite()).count(),
        Values::Vector(v) => v.iter().flatten().filter(|x| !x.is_finite()).count(),
        Values::Integer(_) => 0,
    }
}

fn count_inverted(frame: &Frame, check: &mut FrameCheck) {
    for object in &frame.objects {
        let Shape::Tets { positions, tets } = &object.shape else { continue };
        let at = |i: u32| positions.get(i as usize).copied().unwrap_or(Vec3::NAN);
        let inverted = |t: &[u32; 4]| {
            let [a, b, c, d] = t.map(at);
            (b - a).cross(c - a).dot(d - a) <= 0.0
        };
        let count = tets.iter().filter(|t| inverted(t)).count();
        if count > 0 {
            check.inverted += count as u64;
            check.problems.push(format!("`{}` has {count} tetrahedra turned inside out", object.name));
        }
    }
}

impl Check {
    /// The verdict on a run whose frames are known by `facts`.
    fn judge(&self, scene: &Scene, evidence: &Evidence<'_>) -> SceneCheck {
        let last = evidence.facts.last().map_or(0, |f| f.index);
        let [from, to] = self.frames;
        let facts: Vec<Facts> =
            evidence.facts.iter().filter(|f| (from..=to).contains(&f.index)).cloned().collect();
        let overlaps = scene.rigid_plan().map(|plan| overlaps(plan, &facts, evidence.facts.first()));
        let evidence = &Evidence { facts: &facts, overlaps: overlaps.as_ref() };
        let (passed, message) = if facts.is_empty() || last < self.needs_frame {
            (None, format!("needs frame {}, the run ends at {last}", self.needs_frame))
        } else {
            let (passed, message) = self.criterion.judge(scene, evidence);
            (Some(passed), message)
        };
        SceneCheck { name: self.name.clone(), passed, message }
    }
}

impl Criterion {
    fn judge(&self, scene: &Scene, evidence: &Evidence<'_>) -> (bool, String) {
        let facts = evidence.facts;
        match self {
            Self::Constant { statistic, relative, absolute } => {
                let values = series(facts, statistic);
                let Some((_, first)) = values.first().copied() else { return absent(statistic) };
                let allowed = relative * first.abs() + absolute;
                let (time, worst) = largest(values.iter().map(|(t, x)| (*t, (x - first).abs())));
                let message = format!(
                    "{statistic} changes by at most {worst:.3e} (t = {time:.4} s) from {first:.6e}; allowed {allowed:.3e}"
                );
                (worst <= allowed, message)
            }
            Self::Range { statistic, min, max } => {
                let values = series(facts, statistic);
                if values.is_empty() {
                    return absent(statistic);
                }
                let low = values.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
                let high = values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
                let finite = values.iter().all(|v| v.1.is_finite());
                let message =
                    format!("{statistic} lies in {low:.6e} … {high:.6e}; allowed {min:.6e} … {max:.6e}");
                (finite && low >= *min && high <= *max, message)
            }
            Self::Path { body, position, tolerance } => {
                let centre = scene.bodies().iter().find(|b| b.name == *body).and_then(|b| b.mass);
                let centre = centre.map_or(Vec3::ZERO, |m| m.centre);
                let distances = facts.iter().filter_map(|f| {
                    let expected = Vec3::from_array([0, 1, 2].map(|k| position[k].eval(f.time)));
                    f.poses.get(body).map(|pose| (f.time, pose.point(centre).distance(expected)))
                });
                let (time, worst) = largest(distances);
                let message = format!(
                    "`{body}` is at most {worst:.3e} m (t = {time:.4} s) from its path; allowed {tolerance:.3e} m"
                );
                (worst <= *tolerance, message)
            }
            Self::Elements { body, at_least, max_aspect, angles } => {
                let Some(found) = scene.bodies().iter().find(|b| b.name == *body).and_then(Elements::of)
                else {
                    return (false, format!("`{body}` has no elements"));
                };
                let Elements { count, aspect, angles: [low, high], fault } = found;
                let message = format!(
                    "`{body}` has {count} elements, aspect ratio at most {aspect:.3}, angles {low:.2}° … {high:.2}°{fault}; allowed at \
                     least {at_least}, {max_aspect}, {}° … {}°",
                    angles[0], angles[1]
                );
                let shaped = aspect <= *max_aspect && low >= angles[0] && high <= angles[1];
                (fault.is_empty() && count >= *at_least as usize && shaped, message)
            }
            Self::Flips { body, axis, along, at_least, at_most } => {
                let sides =
                    facts.iter().filter_map(|f| f.poses.get(body)).map(|p| p.vector(*axis).dot(*along));
                let sides: Vec<bool> = sides.filter(|s| s.abs() > 0.1).map(|s| s > 0.0).collect();
                let flips = sides.windows(2).filter(|w| w[0] != w[1]).count() as u32;
                let upper = if *at_most == u32::MAX { "any".to_owned() } else { at_most.to_string() };
                let message = format!("`{body}` turns over {flips} times; allowed {at_least} to {upper}");
                ((*at_least..=*at_most).contains(&flips), message)
            }
            Self::Penetration { max, mean } => {
                let Some((plan, found)) = scene.rigid_plan().zip(evidence.overlaps) else {
                    return (false, "the run has no rigid bodies".into());
                };
                let measured = facts.iter().all(|f| f.found.is_some());
                let max = max.unwrap_or(LEAST_ALLOWED * plan.thinnest);
                (
                    measured && found.largest <= max && found.mean <= *mean && found.relinked == 0,
                    found.told(max, *mean),
                )
            }
        }
    }
}

/// Overlap allowed where the scene says nothing, as a part of the thickness of the thinnest body [-].
const LEAST_ALLOWED: f64 = 0.01;

impl Overlaps {
    /// What was measured and what was allowed, in words.
    fn told(&self, max: f64, mean: f64) -> String {
        let Self { largest, frame, bodies: [a, b], pairs, relinked, .. } = self;
        let mut text = format!("rigid bodies overlap by at most {largest:.3e} m");
        if *pairs > 0 {
            text += &format!(
                " (`{a}` and `{b}`, frame {frame}), {pairs} pairs by {:.3e} m on average",
                self.mean
            );
        }
        text += &format!("; allowed {max:.3e} m");
        if mean.is_finite() {
            text += &format!(", on average {mean:.3e} m");
        }
        if *relinked > 0 {
            text += &format!(
                "; {relinked} times a pair of rings is linked or unlinked that was not at the start"
            );
        }
        text
    }
}

fn absent(statistic: &str) -> (bool, String) {
    (false, format!("the run has no statistic `{statistic}`"))
}

fn series(facts: &[Facts], statistic: &str) -> Vec<(f64, f64)> {
    facts.iter().filter_map(|f| f.stats.get(statistic).map(|x| (f.time, *x))).collect()
}

/// The largest value with its time; NaN counts as infinitely large.
fn largest(values: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let nan_last = values.map(|(t, x)| (t, if x.is_nan() { f64::INFINITY } else { x }));
    nan_last.fold((0.0, 0.0), |best, now| if now.1 > best.1 { now } else { best })
}
