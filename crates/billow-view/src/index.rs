//! What is known of all frames at once: statistics over time, bounds, and extremes of fields.
//!
//! Filled frame by frame in the background, so that plots, framing and legends need not wait for the frames
//! themselves.

use crate::wire::{scalars, usable};
use billow_io::{Frame, Object, Shape};
use billow_num::Vec3;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Rows sent at once.
const ROWS_AT_ONCE: usize = 4096;

/// Statistics, bounds and extremes of the frames looked at so far.
#[derive(Debug, Default)]
pub(crate) struct Index {
    rows: Vec<Row>,
    bounds: Option<[Vec3; 2]>,
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
        for object in &frame.objects {
            if let Some([low, high]) = bounds(object) {
                let [a, b] = self.bounds.unwrap_or([low, high]);
                self.bounds = Some([a.min(low), b.max(high)]);
            }
            for attribute in &object.attributes {
                let finite = scalars(attribute).into_iter().filter(|v| v.is_finite());
                for v in finite {
                    let [a, b] = self.fields.entry(attribute.name.clone()).or_insert([v, v]);
                    (*a, *b) = (a.min(v), b.max(v));
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

/// A box around the object in the world, from the corners of its own box.
fn bounds(object: &Object) -> Option<[Vec3; 2]> {
    let own = match &object.shape {
        Shape::Grid(grid) => {
            let far = grid.dims.map(|n| f64::from(n.saturating_sub(1)) * grid.spacing);
            spanned([grid.origin, grid.origin + Vec3::from_array(far)].into_iter())
        }
        shape => spanned(shape.positions().iter().copied()),
    };
    let [a, b] = own?;
    let corner = |k: usize| {
        let pick = |bit: usize, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
        object.pose.point(Vec3::new(pick(0, a.x, b.x), pick(1, a.y, b.y), pick(2, a.z, b.z)))
    };
    spanned((0..8).map(corner))
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
}
