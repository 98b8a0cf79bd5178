//! What is known of all frames at once: statistics over time, bounds, and extremes of fields.
//!
//! Filled frame by frame in the background, so that plots, framing and legends need not wait for the frames
//! themselves.

use crate::wire::{scalars, usable};
use billow_io::{Frame, Object, Shape};
use billow_num::Vec3;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Rows sent at once.
const ROWS_AT_ONCE: usize = 4096;
/// Directions in which the outermost point is kept.
const DIRECTIONS: usize = 48;
/// Points of an object that are looked at in all directions; larger objects are sampled evenly.
const SAMPLES: usize = 8192;
/// Share of a fog's largest density below which it is too thin to be seen [-].
const THIN: f32 = 0.02;

/// Statistics, bounds and extremes of the frames looked at so far.
#[derive(Debug, Default)]
pub(crate) struct Index {
    rows: Vec<Row>,
    bounds: Option<[Vec3; 2]>,
    /// For each direction, how far the outermost point lies and the point.
    hull: Vec<(f64, Vec3)>,
    fields: BTreeMap<String, [f32; 2]>,
}

#[derive(Debug)]
struct Row {
    index: u32,
    time: f64,
    stats: BTreeMap<String, f64>,
    error: Option<String>,
}

impl Index {
    /// Number of frames looked at.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Takes note of a frame.
    pub(crate) fn add(&mut self, frame: &Frame) {
        let stats = frame.stats.clone();
        self.rows.push(Row { index: frame.index, time: frame.time, stats, error: None });
        let backdrop = backdrop_size(frame);
        for object in &frame.objects {
            self.extend(object, backdrop);
            for attribute in &object.attributes {
                let finite = scalars(attribute).into_iter().filter(|v| v.is_finite());
                for v in finite {
                    let [a, b] = self.fields.entry(attribute.name.clone()).or_insert([v, v]);
                    (*a, *b) = (a.min(v), b.max(v));
                }
            }
        }
    }

    /// Grows bounds and hull to hold what can be seen of an object; flat sheets from the size `backdrop` on are a stage
    /// for the others, and stay out of the hull by which the camera is placed.
    fn extend(&mut self, object: &Object, backdrop: f64) {
        let points = seen(object);
        let Some([low, high]) = spanned(points.iter().copied()) else { return };
        // The object's own box, turned, is a box that holds the object: close enough for bounds.
        let corner = |k: usize| {
            let pick = |bit: usize, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
            object.pose.point(Vec3::new(
                pick(0, low.x, high.x),
                pick(1, low.y, high.y),
                pick(2, low.z, high.z),
            ))
        };
        if let Some([low, high]) = spanned((0..8).map(corner)) {
            let [a, b] = self.bounds.unwrap_or([low, high]);
            self.bounds = Some([a.min(low), b.max(high)]);
        }
        if is_flat([low, high]) && (high - low).length() > backdrop {
            return;
        }
        if self.hull.is_empty() {
            self.hull = vec![(f64::NEG_INFINITY, Vec3::ZERO); DIRECTIONS];
        }
        let directions: Vec<Vec3> = (0..DIRECTIONS).map(direction).collect();
        let stride = points.len().div_ceil(SAMPLES).max(1);
        for x in points.iter().step_by(stride).filter(|x| usable(**x)).map(|x| object.pose.point(*x)) {
            for (farthest, direction) in self.hull.iter_mut().zip(&directions) {
                let reach = direction.dot(x);
                if reach > farthest.0 {
                    *farthest = (reach, x);
                }
            }
        }
    }

    /// Takes note that a frame cannot be read.
    pub(crate) fn add_damaged(&mut self, index: u32, error: String) {
        self.rows.push(Row { index, time: f64::NAN, stats: BTreeMap::new(), error: Some(error) });
    }

    /// What is known, with the rows after the first `after`; at most [`ROWS_AT_ONCE`] of them.
    pub(crate) fn json(&self, after: usize) -> Value {
        let end = after.saturating_add(ROWS_AT_ONCE).min(self.rows.len());
        let rows: Vec<Value> = self.rows.get(after..end).unwrap_or_default().iter().map(Row::json).collect();
        json!({
            "rows": rows,
            "known": self.rows.len(),
            "bounds": self.bounds.map(|[a, b]| [a.to_array(), b.to_array()]),
            "hull": self.hull.iter().filter(|(d, _)| d.is_finite()).map(|(_, x)| x.to_array()).collect::<Vec<_>>(),
            "fields": self.fields,
        })
    }
}

impl Row {
    fn json(&self) -> Value {
        match &self.error {
            Some(error) => json!({ "frame": self.index, "error": error }),
            None => json!({ "frame": self.index, "time": self.time, "stats": self.stats }),
        }
    }
}

/// Flat sheets this many times larger than everything else together are what the others stand on.
const BACKDROP: f64 = 2.0;

/// The size from which on a flat sheet is a backdrop [m]; infinite if there is nothing before it.
fn backdrop_size(frame: &Frame) -> f64 {
    let placed = |object: &Object| {
        let [low, high] = spanned(seen(object).iter().copied())?;
        (!is_flat([low, high])).then(|| {
            let (middle, radius) = (object.pose.point(0.5 * (low + high)), 0.5 * (high - low).length());
            [middle - radius, middle + radius]
        })
    };
    let others = spanned(frame.objects.iter().filter_map(placed).flatten());
    others.map_or(f64::INFINITY, |[low, high]| BACKDROP * (high - low).length())
}

/// Whether a box has no height to speak of.
fn is_flat([low, high]: [Vec3; 2]) -> bool {
    let size = high - low;
    size.min_element() < 1e-3 * size.max_element()
}

/// Direction `k` of [`DIRECTIONS`], spread evenly over the sphere along a spiral.
fn direction(k: usize) -> Vec3 {
    const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
    let z = 1.0 - (2.0 * k as f64 + 1.0) / DIRECTIONS as f64;
    let (sin, cos) = (GOLDEN_ANGLE * k as f64).sin_cos();
    let r = (1.0 - z * z).sqrt();
    Vec3::new(r * cos, r * sin, z)
}

/// Points of an object that can be seen, in its own coordinates: of a grid, the nodes inside or in the fog.
fn seen(object: &Object) -> Cow<'_, [Vec3]> {
    let Shape::Grid(grid) = &object.shape else { return Cow::Borrowed(object.shape.positions()) };
    let finite = || grid.values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite().fold((0.0f32, 0.0f32), |(a, b), v| (a.min(v), b.max(v)));
    let shown = |v: f32| if low < 0.0 { v <= 0.0 } else { v > THIN * high };
    let [nx, ny, _] = grid.dims.map(|n| (n as usize).max(1));
    let nodes = grid.values.iter().enumerate().filter(|(_, v)| shown(**v));
    nodes
        .map(|(k, _)| {
            let at = Vec3::new((k % nx) as f64, (k / nx % ny) as f64, (k / nx / ny) as f64);
            grid.origin + grid.spacing * at
        })
        .collect()
}

fn spanned(points: impl Iterator<Item = Vec3>) -> Option<[Vec3; 2]> {
    points.filter(|x| usable(*x)).fold(None, |found, x| {
        let [low, high] = found.unwrap_or([x, x]);
        Some([low.min(x), high.max(x)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_io::Grid;
    use billow_num::{Pose, Quat};
    use std::sync::Arc;

    fn frame(index: u32, pose: Pose) -> Frame {
        let positions = Arc::new(vec![Vec3::ZERO, Vec3::new(2.0, 1.0, 1.0), Vec3::NAN]);
        let object =
            Object { name: "a".into(), pose, shape: Shape::Points { positions }, attributes: Vec::new() };
        let stats = BTreeMap::from([("seconds".to_string(), f64::from(index))]);
        Frame { index, time: f64::from(index) / 24.0, objects: vec![object], stats }
    }

    #[test]
    fn bounds_and_statistics_grow_with_every_frame() {
        let mut index = Index::default();
        index.add(&frame(0, Pose::IDENTITY));
        index.add(&frame(1, Pose { position: Vec3::new(0.0, 0.0, 4.0), rotation: Quat::IDENTITY }));
        index.add_damaged(2, "cut short".into());
        let all = index.json(0);
        assert_eq!(all["bounds"], json!([[0.0, 0.0, 0.0], [2.0, 1.0, 5.0]]));
        assert_eq!((&all["known"], all["rows"].as_array().unwrap().len()), (&json!(3), 3));
        assert_eq!(index.json(1)["rows"][0]["stats"]["seconds"], 1.0);
        assert_eq!(index.json(2)["rows"][0]["error"], "cut short");
        assert_eq!(index.json(usize::MAX)["rows"], json!([]));
    }

    #[test]
    fn a_large_floor_does_not_move_the_camera_away() {
        let points = |name: &str, corners: [Vec3; 2]| Object {
            name: name.into(),
            pose: billow_num::Pose::IDENTITY,
            shape: Shape::Points { positions: std::sync::Arc::new(corners.to_vec()) },
            attributes: Vec::new(),
        };
        let floor = points("floor", [Vec3::new(-8.0, -8.0, 0.0), Vec3::new(8.0, 8.0, 0.0)]);
        let ball = points("ball", [Vec3::new(-0.5, -0.5, 0.2), Vec3::new(0.5, 0.5, 1.2)]);
        let farthest = |objects: Vec<Object>| {
            let mut index = Index::default();
            index.add(&Frame { objects, ..Frame::default() });
            index.hull.iter().map(|(_, x)| x.length()).fold(0.0, f64::max)
        };
        assert!(farthest(vec![floor.clone(), ball]) < 2.0);
        assert!(farthest(vec![floor]) > 11.0, "alone it is what there is to see");
    }

    #[test]
    fn the_hull_holds_the_outermost_points_in_every_direction() {
        // Points inside a ball of radius 1 and one far out.
        let inside = (0..4000).map(|k| direction(k % DIRECTIONS) * f64::from(k as u32) / 4000.0);
        let far = Vec3::new(0.0, 0.0, 9.0);
        let positions = Arc::new(inside.chain([far]).collect());
        let shape = Shape::Points { positions };
        let object = Object { name: "a".into(), pose: Pose::IDENTITY, shape, attributes: Vec::new() };
        let mut index = Index::default();
        index.add(&Frame { objects: vec![object], ..Frame::default() });
        for (k, (reach, x)) in index.hull.iter().enumerate() {
            let most = (direction(k).z * 9.0).max(0.988);
            assert!(*reach >= most * 0.99 && *reach <= 9.0, "direction {k}: {reach} at {x}");
        }
    }

    #[test]
    fn only_the_visible_part_of_a_grid_counts() {
        let mut values = vec![0.0f32; 1000];
        values[555] = 1.0;
        let fog = Grid { origin: Vec3::ZERO, spacing: 0.5, dims: [10; 3], values: Arc::new(values.clone()) };
        let object = |grid| Object {
            name: "a".into(),
            pose: Pose::IDENTITY,
            shape: Shape::Grid(grid),
            attributes: Vec::new(),
        };
        assert_eq!(*seen(&object(fog)), [Vec3::splat(2.5)]);
        let distance = values.iter().map(|v| 0.5 - v).collect();
        let grid = Grid { origin: Vec3::ZERO, spacing: 0.5, dims: [10; 3], values: Arc::new(distance) };
        assert_eq!(*seen(&object(grid)), [Vec3::splat(2.5)]);
    }
}
