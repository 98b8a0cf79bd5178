//! Copies of a body: where each one stands, how it is turned, which colour it has.

use super::fixed_rotation;
use crate::read::log::{Log, Span};
use crate::tables::rigid::{ArrayTable, Orientation};
use billow_num::rng::{Draws, Stream};
use billow_num::{Quat, Vec3};
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Most copies of one body.
const MOST_COPIES: usize = 100_000;
/// Tries to place a scattered copy before giving up.
const TRIES: u64 = 2000;

/// One copy of a body, relative to the body as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Copy {
    /// Displacement [m].
    pub(super) shift: Vec3,
    /// Turn, after the body's own rotation.
    pub(super) turn: Quat,
    /// Colour instead of the material's.
    pub(super) colour: Option<Vec3>,
}

impl Copy {
    /// The body itself.
    pub(super) const ITSELF: Self = Self { shift: Vec3::ZERO, turn: Quat::IDENTITY, colour: None };
}

/// All copies that a table asks for; `extent` is the distance of the mesh's farthest point from its origin [m].
pub(super) fn copies(
    table: &ArrayTable,
    (span, extent, up): (Span, f64, Vec3),
    parameters: &[(String, f64)],
    log: &mut Log,
) -> Option<Vec<Copy>> {
    let (places, colours) = match table {
        ArrayTable::Grid { count, spacing, stagger, most, jitter, orientation, seed, colours } => {
            let total = count.iter().map(|n| *n as usize).product::<usize>();
            let total = total.min(most.map_or(usize::MAX, |m| m as usize));
            within(total, span, log)?;
            let stream = Stream::new(u64::from(seed.value), 0);
            let place = |k: usize| {
                let mut draw = stream.at(k as u64);
                let cell = cell_of(k, count.value, stagger.value);
                let shake = jitter.value
                    * Vec3::new(draw.range(-1.0, 1.0), draw.range(-1.0, 1.0), draw.range(-1.0, 1.0));
                (cell * spacing.value + shake, turned(orientation.value, up, &mut draw))
            };
            ((0..total).map(place).collect(), colours)
        }
        ArrayTable::Circle { count, radius, start, sweep, colours } => {
            within(count.value as usize, span, log)?;
            (circle(count.value, radius.value, [start.value, sweep.value]), colours)
        }
        ArrayTable::Scatter { count, size, apart, orientation, seed, colours } => {
            within(count.value as usize, span, log)?;
            let apart = apart.unwrap_or(2.0 * extent);
            let stream = Stream::new(u64::from(seed.value), 0);
            let Some(points) = scatter(count.value as usize, size.value, apart, &stream) else {
                let message = format!(
                    "{} copies that keep {apart:.4} m apart do not fit into a box of {} m",
                    count.value, size.value
                );
                log.error(span, message).help("use a larger `size`, a smaller `apart` or fewer copies");
                return None;
            };
            let turns = Stream::new(u64::from(seed.value), 1);
            let place = |(k, x)| (x, turned(orientation.value, up, &mut turns.at(k as u64)));
            (points.into_iter().enumerate().map(place).collect(), colours)
        }
        ArrayTable::List { positions, rotations, colours } => {
            within(positions.len(), span, log)?;
            if rotations.given && rotations.len() != positions.len() {
                let counts = (rotations.len(), positions.len());
                log.error(
                    rotations.span,
                    format!("`rotations` has {} values, but `positions` has {}", counts.0, counts.1),
                );
                return None;
            }
            let turns: Option<Vec<Quat>> =
                rotations.iter().map(|r| fixed_rotation(&r.value, r.span, parameters, log)).collect();
            let turns = turns?;
            let place = |(k, x): (usize, &Vec3)| (*x, turns.get(k).copied().unwrap_or(Quat::IDENTITY));
            (positions.iter().enumerate().map(place).collect::<Vec<_>>(), colours)
        }
    };
    let colour = |k: usize| (!colours.is_empty()).then(|| colours[k % colours.len()]);
    let copy = |(k, (shift, turn))| Copy { shift, turn, colour: colour(k) };
    Some(places.into_iter().enumerate().map(copy).collect())
}

fn within(count: usize, span: Span, log: &mut Log) -> Option<()> {
    if count <= MOST_COPIES {
        return Some(());
    }
    log.error(span, format!("an array may have {MOST_COPIES} copies, this one has {count}"));
    None
}

/// Place of a copy in a grid, in units of the spacing: centred across, growing upward, x fastest.
fn cell_of(k: usize, count: [u32; 3], stagger: Vec3) -> Vec3 {
    let [nx, ny, _] = count.map(|n| n as usize);
    let (i, j, layer) = (k % nx, k / nx % ny, k / (nx * ny));
    let middle = |n: usize| 0.5 * (n as f64 - 1.0);
    let cell = Vec3::new(i as f64 - middle(nx), j as f64 - middle(ny), layer as f64);
    // Neighbouring layers are shifted to both sides, so that the whole stays centred.
    cell + stagger * if layer % 2 == 0 { -0.5 } else { 0.5 }
}

/// Places on a circle. A sweep of less than a whole turn has copies at both ends.
fn circle(count: u32, radius: f64, [start, sweep]: [f64; 2]) -> Vec<(Vec3, Quat)> {
    let parts = if sweep.abs() >= 360.0 { count } else { count.max(2) - 1 };
    let angle = |k: u32| (start + sweep * f64::from(k) / f64::from(parts)).to_radians();
    (0..count)
        .map(|k| {
            let turn = Quat::from_rotation_z(angle(k));
            (turn * (Vec3::X * radius), turn)
        })
        .collect()
}

/// Random points of a box about the origin that keep a distance, in the order in which they were found.
fn scatter(count: usize, size: Vec3, apart: f64, stream: &Stream) -> Option<Vec<Vec3>> {
    let mut points: Vec<Vec3> = Vec::with_capacity(count);
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let cell = |x: Vec3| if apart > 0.0 { (x / apart).floor().to_array().map(|c| c as i64) } else { [0; 3] };
    let mut tries = 0;
    while points.len() < count {
        if tries >= TRIES * count as u64 {
            return None;
        }
        let mut draw = stream.at(tries);
        tries += 1;
        let x = size * (Vec3::new(draw.uniform(), draw.uniform(), draw.uniform()) - 0.5);
        let home = cell(x);
        let near = (0..27).filter_map(|n: i64| {
            let key = [home[0] + n % 3 - 1, home[1] + n / 3 % 3 - 1, home[2] + n / 9 - 1];
            cells.get(&key)
        });
        if apart == 0.0 || near.flatten().all(|i| points[*i].distance(x) >= apart) {
            cells.entry(home).or_default().push(points.len());
            points.push(x);
        }
    }
    Some(points)
}

fn turned(orientation: Orientation, up: Vec3, draw: &mut Draws) -> Quat {
    match orientation {
        Orientation::Same => Quat::IDENTITY,
        Orientation::AboutUp => Quat::from_axis_angle(up, draw.range(0.0, TAU)),
        Orientation::Random => {
            let q = [0; 4].map(|_| draw.normal());
            Quat::from_array(q).normalize()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_centred_and_bricks_alternate() {
        let bond = Vec3::new(0.5, 0.0, 0.0);
        let xs: Vec<f64> = (0..6).map(|k| cell_of(k, [3, 1, 2], bond).x).collect();
        assert_eq!(xs, [-1.25, -0.25, 0.75, -0.75, 0.25, 1.25]);
        assert_eq!(cell_of(5, [3, 1, 2], bond).z, 1.0);
    }

    #[test]
    fn a_whole_circle_does_not_repeat_its_first_copy_and_an_arc_reaches_its_ends() {
        let (whole, arc) = (circle(4, 2.0, [0.0, 360.0]), circle(3, 1.0, [0.0, 180.0]));
        assert!(whole[1].0.distance(Vec3::Y * 2.0) < 1e-12 && whole[3].0.distance(-Vec3::Y * 2.0) < 1e-12);
        assert!(arc[2].0.distance(-Vec3::X) < 1e-12);
    }

    #[test]
    fn scattered_points_keep_apart_and_too_many_are_refused() {
        let stream = Stream::new(3, 0);
        let points = scatter(200, Vec3::splat(4.0), 0.4, &stream).unwrap();
        for (i, a) in points.iter().enumerate() {
            assert!(a.abs().max_element() <= 2.0 && points[..i].iter().all(|b| a.distance(*b) >= 0.4));
        }
        assert!(scatter(100, Vec3::ONE, 0.5, &stream).is_none());
    }
}
