//! Red-green refinement after random sequences: conforming, allowed classes only, exactly BCC, bounded aspect.

use billow_geom::Aabb;
use billow_meshing::{LeafMesh, RedGreen};
use billow_num::Vec3;
use billow_num::rng::Stream;
use std::collections::{HashMap, HashSet};

const BOX: Aabb = Aabb { min: Vec3::ZERO, max: Vec3::splat(2.0) };

fn forest(depth: u32) -> RedGreen {
    RedGreen::new(BOX, 1.0, depth, |_| 0.0).expect("the box is fine")
}

fn random_leaf(forest: &RedGreen, draw: u64) -> u32 {
    let leaves: Vec<u32> = (0..forest.red_count() as u32).filter(|r| forest.is_leaf(*r)).collect();
    leaves[(draw % leaves.len() as u64) as usize]
}

/// Longest edge over shortest altitude, by its definition.
fn aspect(x: [Vec3; 4]) -> f64 {
    let [a, b, c, d] = x;
    let volume6 = (b - a).cross(c - a).dot(d - a);
    let edges = [a - b, a - c, a - d, b - c, b - d, c - d].map(Vec3::length);
    let areas2 = [(b - a).cross(c - a), (b - a).cross(d - a), (c - a).cross(d - a), (c - b).cross(d - b)];
    let area2 = areas2.map(Vec3::length).into_iter().fold(0.0, f64::max);
    edges.into_iter().fold(0.0, f64::max) * area2 / volume6
}

fn assert_sound(forest: &RedGreen) -> LeafMesh {
    let mesh = forest.leaf_mesh();
    let at = |n: u32| forest.position(n);
    // Conforming: a face has one or two tetrahedra, on opposite sides, and no node lies on the middle of an edge.
    let mut faces: HashMap<[u32; 3], Vec<u32>> = HashMap::new();
    let mut edges: HashSet<[u32; 2]> = HashSet::new();
    let mut volume = 0.0;
    let mut families: HashMap<u32, Vec<[u32; 4]>> = HashMap::new();
    for (t, tet) in mesh.tets.iter().enumerate() {
        for k in 0..4 {
            let mut face: Vec<u32> = (0..4).filter(|c| *c != k).map(|c| tet[c]).collect();
            face.sort_unstable();
            faces.entry([face[0], face[1], face[2]]).or_default().push(tet[k]);
            for l in 0..k {
                edges.insert([tet[k].min(tet[l]), tet[k].max(tet[l])]);
            }
        }
        let x = tet.map(at);
        let v = (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]) / 6.0;
        assert!(v > 0.0);
        volume += v;
        let red = mesh.red[t];
        families.entry(red).or_default().push(*tet);
        if forest.is_green(red) {
            assert!(aspect(x) <= 3.6, "green aspect {}", aspect(x));
        } else {
            assert!((aspect(x) - 2f64.sqrt()).abs() < 1e-12, "red aspect {}", aspect(x));
        }
    }
    for (face, tops) in &faces {
        assert!(tops.len() <= 2, "face {face:?} has {} tetrahedra", tops.len());
        if let [p, q] = tops[..] {
            let [a, b, c] = face.map(at);
            let side = |n: u32| (b - a).cross(c - a).dot(at(n) - a);
            assert!(side(p) * side(q) < 0.0);
        }
    }
    for [a, b] in &edges {
        assert_eq!(forest.midpoint(*a, *b), None, "the edge {a}-{b} has a hanging node");
    }
    // The leaves fill exactly what the coarse lattice filled.
    let coarse = forest_volume(forest);
    assert!((volume - coarse).abs() < 1e-9 * coarse);
    // Red children and their parents are congruent to the lattice: edges of two lengths, 2 and √3 times the half cell.
    for r in 0..forest.red_count() as u32 {
        let x = forest.corners(r).map(at);
        let long = forest.edge_length(forest.level(r));
        let short = long * 0.75f64.sqrt();
        let lengths = [[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]].map(|[i, j]| (x[i] - x[j]).length());
        assert!(lengths[..2].iter().all(|l| (l - long).abs() < 1e-12 * long));
        assert!(lengths[2..].iter().all(|l| (l - short).abs() < 1e-12 * long));
    }
    // Only three green classes: 2, 4 or 4 children.
    for (red, family) in families {
        let count = if forest.is_green(red) {
            family.len()
        } else {
            assert_eq!(family.len(), 1);
            4
        };
        assert!(count == 2 || count == 4);
    }
    mesh
}

fn forest_volume(forest: &RedGreen) -> f64 {
    let roots = (0..forest.red_count() as u32).filter(|r| forest.level(*r) == 0).count();
    // A BCC tetrahedron has one twelfth of its cell.
    roots as f64 * forest.edge_length(0).powi(3) / 12.0
}

#[test]
fn random_refinement_keeps_every_invariant() {
    for seed in 0..6 {
        let mut forest = forest(5);
        let stream = Stream::new(seed, 1);
        for step in 0..60 {
            let mut draws = stream.at(step);
            // Follow a point downward half of the time, so that deep levels are reached.
            let leaf = random_leaf(&forest, draws.below(u64::MAX));
            forest.refine([leaf]);
            for _ in 0..step % 5 {
                let mut child = leaf;
                while let Some(children) = forest.children(child) {
                    child = children[draws.below(8) as usize];
                }
                forest.refine([child]);
            }
            if step % 20 == 19 {
                assert_sound(&forest);
            }
        }
        let deepest = (0..forest.red_count() as u32).map(|r| forest.level(r)).max();
        assert_eq!(deepest, Some(5), "seed {seed}");
    }
}

#[test]
fn bisecting_edges_keeps_every_invariant_and_splits_the_edge() {
    let mut forest = forest(4);
    let stream = Stream::new(9, 9);
    for step in 0..80 {
        let mesh = forest.leaf_mesh();
        let mut draws = stream.at(step);
        let t = draws.below(mesh.tets.len() as u64) as usize;
        let (a, b) = (mesh.tets[t][0], mesh.tets[t][1 + draws.below(3) as usize]);
        if forest.bisect(mesh.red[t], a, b) {
            let after = forest.leaf_mesh();
            assert!(!after.tets.iter().any(|t| t.contains(&a) && t.contains(&b)), "the edge is still there");
        }
    }
    assert_sound(&forest);
}

#[test]
fn refining_everything_gives_the_finer_lattice_exactly() {
    let mut forest = forest(2);
    let roots = forest.red_count() as u32;
    forest.refine(0..roots);
    let mesh = assert_sound(&forest);
    assert_eq!(mesh.tets.len(), 8 * roots as usize);
    // Every interior node of a BCC mesh has 14 neighbours and 24 tetrahedra.
    let mut count: HashMap<u32, usize> = HashMap::new();
    mesh.tets.iter().flatten().for_each(|n| *count.entry(*n).or_default() += 1);
    assert_eq!(count.values().max(), Some(&24));
}

#[test]
fn green_families_are_reopened_when_more_detail_is_wanted() {
    let mut forest = forest(4);
    forest.refine([random_leaf(&forest, 0)]);
    let mesh = forest.leaf_mesh();
    let green = mesh.red.iter().copied().find(|r| forest.is_green(*r)).unwrap();
    forest.refine([green]);
    assert_eq!(forest.children(green).map(|c| c.len()), Some(8));
    assert_sound(&forest);
}

#[test]
fn tetrahedra_surely_outside_are_discarded_and_no_others() {
    let centre = Vec3::ONE;
    let phi = |x: Vec3| (x - centre).length() - 0.4;
    let kept = RedGreen::new(BOX, 0.25, 1, phi).unwrap();
    let all = RedGreen::new(BOX, 0.25, 1, |_| 0.0).unwrap();
    assert!(kept.red_count() < all.red_count());
    // Nothing of the ball is lost.
    let volume = |f: &RedGreen, inside: bool| {
        let hit = |r: &u32| !inside || f.corners(*r).iter().any(|n| phi(f.position(*n)) < 0.0);
        (0..f.red_count() as u32).filter(hit).count()
    };
    assert_eq!(volume(&kept, true), volume(&all, true));
}

#[test]
fn impossible_lattices_are_refused() {
    assert!(RedGreen::new(BOX, 0.0, 1, |_| 0.0).is_err());
    assert!(RedGreen::new(BOX, f64::NAN, 1, |_| 0.0).is_err());
    assert!(RedGreen::new(BOX, 1e-9, 1, |_| 0.0).is_err());
    assert!(RedGreen::new(BOX, 1.0, 40, |_| 0.0).is_err());
    let endless = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
    assert!(RedGreen::new(endless, 1.0, 3, |_| 0.0).is_err());
}
