//! Hash grid and sweep-and-prune against all pairs, standing still and in motion.

use crate::random::Random;
use billow_geom::Aabb;
use billow_geom::hash_grid::HashGrid;
use billow_geom::sweep_prune::{SweepPrune, sweep_pairs};
use billow_num::{Vec3, par};

fn brute_force(boxes: &[Aabb]) -> Vec<[u32; 2]> {
    let n = boxes.len();
    (0..n)
        .flat_map(|a| (a + 1..n).map(move |b| [a, b]))
        .filter(|[a, b]| boxes[*a].overlaps(&boxes[*b]))
        .map(|p| p.map(|x| x as u32))
        .collect()
}

fn cube(centre: Vec3, half: f64) -> Aabb {
    Aabb { min: centre - half, max: centre + half }
}

/// Boxes of one kind of difficulty each.
fn scene(kind: usize, n: usize, random: &mut Random) -> Vec<Aabb> {
    (0..n)
        .map(|i| match kind {
            // Even sizes; sizes over six decades; nested; on a lattice where neighbours exactly touch; flat
            // and thin.
            0 => cube(random.vec(-5.0, 5.0), random.range(0.1, 0.4)),
            1 => cube(random.vec(-5.0, 5.0), 10f64.powf(random.range(-5.0, 1.0))),
            2 => cube(Vec3::splat(random.range(-0.01, 0.01)), 0.1 * i as f64),
            3 => cube(Vec3::new((i % 7) as f64, (i / 7 % 7) as f64, (i / 49) as f64), 0.5),
            4 => {
                Aabb { min: Vec3::new(-5.0, 0.1 * i as f64, -5.0), max: Vec3::new(5.0, 0.1 * i as f64, 5.0) }
            }
            5 => {
                let p = random.vec(-3.0, 3.0).round();
                Aabb { min: p, max: p }
            }
            // Empty, infinite and far-away boxes among ordinary ones.
            _ => match i % 9 {
                0 => Aabb::EMPTY,
                1 => Aabb {
                    min: Vec3::NEG_INFINITY,
                    max: Vec3::new(f64::INFINITY, f64::INFINITY, random.range(-5.0, 5.0)),
                },
                2 => cube(random.vec(-1e300, 1e300), 1.0),
                3 => cube(random.vec(-5.0, 5.0), 1e200),
                _ => cube(random.vec(-5.0, 5.0), 0.5),
            },
        })
        .collect()
}

fn grid_of(cell: f64, boxes: &[Aabb]) -> HashGrid {
    let mut grid = HashGrid::new(cell).unwrap();
    boxes.iter().enumerate().for_each(|(b, bounds)| grid.set(b as u32, bounds).unwrap());
    grid
}

fn grid_pairs(grid: &mut HashGrid) -> Vec<[u32; 2]> {
    let mut pairs = vec![[9, 9]];
    grid.pairs(&mut pairs);
    pairs
}

#[test]
fn both_equal_all_pairs_on_every_kind_of_scene() {
    let mut random = Random::new(30);
    for kind in 0..7 {
        for n in [0, 1, 2, 40, 343] {
            let boxes = scene(kind, n, &mut random);
            let expected = brute_force(&boxes);
            for cell in [1e-3, HashGrid::suggested_cell(&boxes), 1e3] {
                assert_eq!(
                    grid_pairs(&mut grid_of(cell, &boxes)),
                    expected,
                    "kind {kind}, n {n}, cell {cell}"
                );
            }
            assert_eq!(sweep_pairs(&boxes), expected, "kind {kind}, n {n}");
            let mut sweep = SweepPrune::default();
            sweep.update(&boxes).unwrap();
            assert!(sweep.pairs().eq(expected.iter().copied()));
        }
    }
}

#[test]
fn both_follow_moving_appearing_and_vanishing_boxes() {
    let mut random = Random::new(31);
    for kind in 0..7 {
        let mut boxes = scene(kind, 150, &mut random);
        let mut grid = grid_of(0.5, &boxes);
        let mut sweep = SweepPrune::default();
        sweep.update(&boxes).unwrap();
        for step in 0..40 {
            // Small steps on a coarse lattice of numbers, so that touching keeps happening; now and then a
            // jump.
            for b in 0..boxes.len() {
                let jump = if random.below(100) == 0 { 8.0 } else { 0.25 };
                let by = (random.vec(-jump, jump) * 8.0).round() / 8.0;
                boxes[b] = Aabb { min: boxes[b].min + by, max: boxes[b].max + by };
                if random.below(200) == 0 {
                    boxes[b] = Aabb::EMPTY;
                } else if boxes[b].is_empty() && random.below(4) == 0 {
                    boxes[b] = cube(random.vec(-4.0, 4.0).round(), 0.5);
                }
                grid.set(b as u32, &boxes[b]).unwrap();
            }
            let expected = brute_force(&boxes);
            assert_eq!(grid_pairs(&mut grid), expected, "grid, kind {kind}, step {step}");
            sweep.update(&boxes).unwrap();
            assert!(sweep.pairs().eq(expected.iter().copied()), "sweep, kind {kind}, step {step}");
        }
    }
}

#[test]
fn removal_and_box_queries() {
    let mut random = Random::new(32);
    let boxes = scene(1, 300, &mut random);
    let mut grid = grid_of(0.2, &boxes);
    for b in (0..300).step_by(3) {
        grid.remove(b);
    }
    grid.remove(12_345);
    let left: Vec<Aabb> =
        boxes.iter().enumerate().map(|(i, b)| if i % 3 == 0 { Aabb::EMPTY } else { *b }).collect();
    assert_eq!(grid_pairs(&mut grid), brute_force(&left));
    assert!(grid.bounds(3).is_none() && grid.bounds(4) == Some(&boxes[4]));
    for _ in 0..200 {
        let probe = cube(random.vec(-6.0, 6.0), 10f64.powf(random.range(-3.0, 8.0)));
        let mut found = Vec::new();
        grid.overlapping(&probe, |b| found.push(b));
        let expected: Vec<u32> = (0..300).filter(|&b| left[b as usize].overlaps(&probe)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn pairs_do_not_depend_on_threads_or_history() {
    let mut random = Random::new(33);
    let boxes = scene(1, 3000, &mut random);
    let one = par::with_threads(1, || grid_pairs(&mut grid_of(0.3, &boxes)));
    assert_eq!(one, par::with_threads(3, || grid_pairs(&mut grid_of(0.3, &boxes))));
    let mut wandered = grid_of(0.3, &scene(0, 3000, &mut random));
    boxes.iter().enumerate().rev().for_each(|(b, bounds)| wandered.set(b as u32, bounds).unwrap());
    assert_eq!(one, grid_pairs(&mut wandered));
}

/// A crowd at constant density: `n` boxes of mixed size in a volume proportional to `n`.
fn crowd(n: usize, random: &mut Random) -> Vec<Aabb> {
    let side = (n as f64).cbrt();
    let mut boxes: Vec<Aabb> =
        (0..n).map(|_| cube(random.vec(0.0, side), if random.below(50) == 0 { 1.0 } else { 0.3 })).collect();
    // A floor under all of them.
    boxes[0] = Aabb { min: Vec3::new(-9.0, -9.0, -9.0), max: Vec3::new(side + 9.0, side + 9.0, 0.0) };
    boxes
}

#[test]
fn grid_cost_grows_like_the_number_of_boxes() {
    let mut random = Random::new(34);
    let per_box: Vec<f64> = [2_000, 8_000, 32_000]
        .iter()
        .map(|&n| {
            let boxes = crowd(n, &mut random);
            let mut grid = grid_of(HashGrid::suggested_cell(&boxes), &boxes);
            let pairs = grid_pairs(&mut grid);
            assert_eq!(pairs, sweep_pairs(&boxes));
            grid.counts().tests as f64 / n as f64
        })
        .collect();
    assert!(per_box[2] < 1.25 * per_box[0] && per_box[2] < 60.0, "tests per box: {per_box:?}");
}

#[test]
fn a_grid_at_rest_moves_nothing() {
    let boxes = crowd(2_000, &mut Random::new(35));
    let mut grid = grid_of(HashGrid::suggested_cell(&boxes), &boxes);
    let before = grid.counts().moves;
    boxes.iter().enumerate().for_each(|(b, bounds)| grid.set(b as u32, bounds).unwrap());
    assert_eq!(grid.counts().moves, before);
}

#[test]
fn sweep_cost_follows_the_change() {
    // Stacked along a diagonal the projections are as sparse as the boxes: exchanges per box stay constant.
    let mut random = Random::new(36);
    let per_box: Vec<f64> = [1_000, 4_000, 16_000]
        .iter()
        .map(|&n| {
            let mut boxes: Vec<Aabb> =
                (0..n).map(|i| cube(Vec3::splat(i as f64) + random.vec(-0.5, 0.5), 0.6)).collect();
            let mut sweep = SweepPrune::default();
            sweep.update(&boxes).unwrap();
            let start = sweep.counts();
            sweep.update(&boxes).unwrap();
            assert_eq!(sweep.counts(), start, "boxes at rest cost no exchange and no test");
            for _ in 0..5 {
                for b in &mut boxes {
                    let by = random.vec(-0.1, 0.1);
                    *b = Aabb { min: b.min + by, max: b.max + by };
                }
                sweep.update(&boxes).unwrap();
                assert!(sweep.pairs().eq(sweep_pairs(&boxes)));
            }
            assert_eq!(sweep.counts().sweeps, 1, "only the first update sweeps from scratch");
            (sweep.counts().exchanges - start.exchanges) as f64 / (5 * n) as f64
        })
        .collect();
    assert!(per_box[2] < 1.1 * per_box[0] && per_box[2] < 10.0, "exchanges per box: {per_box:?}");
}

#[test]
fn a_scattered_scene_is_swept_anew() {
    let mut random = Random::new(37);
    let mut sweep = SweepPrune::default();
    for _ in 0..3 {
        let boxes = crowd(2_000, &mut random);
        sweep.update(&boxes).unwrap();
        assert!(sweep.pairs().eq(sweep_pairs(&boxes)));
    }
    assert_eq!(sweep.counts().sweeps, 3);
}

#[test]
fn boxes_that_are_not_numbers_are_refused() {
    let bad = Aabb { min: Vec3::new(0.0, f64::NAN, 0.0), max: Vec3::ONE };
    assert!(HashGrid::new(1.0).unwrap().set(3, &bad).unwrap_err().to_string().contains("body 3"));
    assert!(SweepPrune::default().update(&[bad]).unwrap_err().to_string().contains("body 0"));
    assert!(HashGrid::new(0.0).is_err() && HashGrid::new(f64::NAN).is_err());
}
