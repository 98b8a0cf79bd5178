//! Fields worked out from positions for runs whose solvers did not store them.
//!
//! *Speed* is the way since the frame before over the time between [m/s]. *Stretch* at a vertex is the mean over its
//! edges of the length over the length in the run's first frame, less one [-].

use super::geometry::Skins;
use billow_io::{Frame, Object, Shape};
use billow_num::Vec3;

/// Speed from the frame before.
pub(crate) const SPEED: &str = "speed";
/// Stretch since the first frame.
pub(crate) const STRETCH: &str = "stretch";

/// Frames to compare with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others<'a> {
    /// The run's first frame.
    pub(crate) first: Option<&'a Frame>,
    /// The frame before.
    pub(crate) before: Option<&'a Frame>,
}

/// Whether a field of this name may be worked out rather than stored.
pub(crate) fn is_derived(name: &str) -> bool {
    name == SPEED || name == STRETCH
}

/// Derived fields of an object: those it does not store under their own or a better name.
pub(crate) fn available(object: &Object) -> impl Iterator<Item = &'static str> {
    let stored = |names: &[&str]| object.attributes.iter().any(|a| names.contains(&a.name.as_str()));
    let grid = matches!(object.shape, Shape::Grid(_));
    let points = matches!(object.shape, Shape::Points { .. });
    let speed = !grid && !stored(&[SPEED, "velocity"]);
    let stretch = !grid && !points && !stored(&[STRETCH, "strain"]);
    [(SPEED, speed), (STRETCH, stretch)].into_iter().filter(|(_, yes)| *yes).map(|(name, _)| name)
}

/// A derived field of an object, one value per vertex; nothing if there is nothing to compare with.
pub(crate) fn values(name: &str, frame: &Frame, object: &Object, others: Others<'_>) -> Option<Vec<f32>> {
    let same = |other: Option<&'_ Frame>| -> Option<(f64, Object)> {
        let other = other?;
        let twin = other.objects.iter().find(|o| o.name == object.name)?;
        let alike = twin.shape.vertex_count() == object.shape.vertex_count();
        alike.then(|| (frame.time - other.time, twin.clone()))
    };
    match name {
        SPEED => {
            let Some((dt, twin)) = same(others.before) else {
                return Some(vec![0.0; object.shape.vertex_count()]);
            };
            let pairs = object.shape.positions().iter().zip(twin.shape.positions());
            let speed = |(x, y): (&Vec3, &Vec3)| object.pose.point(*x).distance(twin.pose.point(*y)) / dt;
            Some(pairs.map(|pair| if dt > 0.0 { speed(pair) as f32 } else { 0.0 }).collect())
        }
        STRETCH => {
            let (_, twin) = same(others.first)?;
            Some(stretch(object.shape.positions(), twin.shape.positions(), &object.shape))
        }
        _ => None,
    }
}

/// Mean relative change of length of the edges at each vertex. An edge counts once per element that has it.
fn stretch(now: &[Vec3], then: &[Vec3], shape: &Shape) -> Vec<f32> {
    let mut sums = vec![[0.0f64; 2]; now.len()];
    let mut edge = |a: u32, b: u32| {
        let (a, b) = (a as usize, b as usize);
        let rest = then[a].distance(then[b]);
        if rest > 0.0 {
            let change = now[a].distance(now[b]) / rest - 1.0;
            for v in [a, b] {
                sums[v][0] += change;
                sums[v][1] += 1.0;
            }
        }
    };
    match shape {
        Shape::Triangles { triangles, .. } => {
            triangles
                .iter()
                .for_each(|[a, b, c]| [(a, b), (b, c), (c, a)].iter().for_each(|(a, b)| edge(**a, **b)));
        }
        Shape::Tets { tets, .. } => {
            let pairs = |t: &[u32; 4]| billow_geom::mesh::TET_EDGES.map(|[a, b]| (t[a], t[b]));
            tets.iter().flat_map(pairs).for_each(|(a, b)| edge(a, b));
        }
        Shape::Lines { segments, .. } => segments.iter().for_each(|[a, b]| edge(*a, *b)),
        Shape::Points { .. } | Shape::Grid(_) => {}
    }
    sums.iter().map(|[sum, n]| if *n > 0.0 { (sum / n) as f32 } else { 0.0 }).collect()
}

/// Keeps the values of the vertices that are sent: the skin's for a tetrahedral mesh, all others as they are.
pub(crate) fn sent(values: Vec<f32>, shape: &Shape, skins: &Skins) -> Vec<f32> {
    match shape {
        Shape::Tets { positions, tets } => {
            let skin = skins.of(positions.len(), tets);
            skin.vertices.iter().map(|v| values[*v as usize]).collect()
        }
        _ => values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::{Pose, Quat};
    use std::sync::Arc;

    fn frame(time: f64, scale: f64, pose: Pose) -> Frame {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|x| x * scale).to_vec();
        let shape = Shape::Triangles { positions: Arc::new(positions), triangles: Arc::new(vec![[0, 1, 2]]) };
        let object = Object { name: "a".into(), pose, shape, attributes: Vec::new() };
        Frame { time, objects: vec![object], ..Frame::default() }
    }

    #[test]
    fn a_sheet_grown_by_a_tenth_is_stretched_by_a_tenth() {
        let (first, now) = (frame(0.0, 1.0, Pose::IDENTITY), frame(1.0, 1.1, Pose::IDENTITY));
        let others = Others { first: Some(&first), before: None };
        let found = values(STRETCH, &now, &now.objects[0], others).unwrap();
        assert!(found.iter().all(|s| (s - 0.1).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn the_speed_of_a_posed_object_counts_its_pose() {
        let turned = Pose { position: Vec3::ZERO, rotation: Quat::from_rotation_z(std::f64::consts::PI) };
        let (before, now) = (frame(1.0, 1.0, Pose::IDENTITY), frame(1.5, 1.0, turned));
        let others = Others { first: None, before: Some(&before) };
        assert_eq!(values(SPEED, &now, &now.objects[0], others).unwrap(), [0.0, 4.0, 4.0]);
        let alone = values(SPEED, &now, &now.objects[0], Others::default()).unwrap();
        assert_eq!(alone, [0.0; 3], "the first frame has nothing to compare with");
    }
}
