//! Box hierarchies against brute force.

use crate::random::Random;
use billow_geom::bvh::{Adjacency, Bvh, Marks, PairTasks};
use billow_geom::mesh::Topology;
use billow_geom::proximity::point_triangle;
use billow_geom::{Aabb, shapes};
use billow_num::{Vec3, par};

/// Boxes of every primitive at `E` instants.
type Boxes<const E: usize> = Vec<[Aabb; E]>;

fn random_boxes<const E: usize>(n: usize, seed: u64) -> Boxes<E> {
    let mut random = Random::new(seed);
    let mut boxes = Vec::new();
    for _ in 0..n {
        let size = 10f64.powf(random.range(-4.0, -0.7));
        let centre = random.vec(-1.0, 1.0);
        boxes.push(std::array::from_fn(|_| {
            let (p, q) = (centre + random.vec(-size, size), centre + random.vec(-size, size));
            Aabb::of_points(&[p, q])
        }));
    }
    boxes
}

fn tree<const E: usize>(boxes: &Boxes<E>, thickness: f64) -> Bvh<E> {
    let centres: Vec<Vec3> = boxes.iter().map(|b| b[0].centre()).collect();
    let mut tree = Bvh::from_centres(&centres);
    tree.refit(Vec3::ZERO, |i| (boxes[i], thickness));
    tree
}

/// Whether an axis keeps the grown boxes apart in the same order at all instants.
fn apart<const E: usize>(a: &[Aabb; E], b: &[Aabb; E], gap: f64) -> bool {
    (0..3).any(|c| {
        (0..E).all(|e| a[e].max[c] + gap < b[e].min[c]) || (0..E).all(|e| b[e].max[c] + gap < a[e].min[c])
    })
}

/// Found pairs must contain all that overlap, and nothing that is apart by more than single precision shows.
fn check_pairs<const E: usize>(found: &[[u32; 2]], a: &Boxes<E>, b: &Boxes<E>, gap: f64, own: bool) {
    let mut found: Vec<[u32; 2]> =
        found.iter().map(|&[i, j]| if own { [i.min(j), i.max(j)] } else { [i, j] }).collect();
    found.sort_unstable();
    let count = found.len();
    found.dedup();
    assert_eq!(found.len(), count, "a pair was reported twice");
    for i in 0..a.len() {
        for j in if own { i + 1 } else { 0 }..b.len() {
            let has = found.binary_search(&[i as u32, j as u32]).is_ok();
            if has {
                assert!(!apart(&a[i], &b[j], gap + 3e-6), "{i} {j} are apart");
            } else {
                assert!(apart(&a[i], &b[j], gap), "{i} {j} overlap");
            }
        }
    }
}

#[test]
fn self_query_equals_brute_force_on_random_boxes() {
    for n in [0, 1, 2, 3, 4, 5, 16, 17, 100, 700] {
        let boxes = random_boxes::<1>(n, 11 + n as u64);
        check_pairs(&tree(&boxes, 0.0).collect_self_pairs(), &boxes, &boxes, 0.0, true);
        let boxes = random_boxes::<2>(n, 23 + n as u64);
        check_pairs(&tree(&boxes, 0.01).collect_self_pairs(), &boxes, &boxes, 0.02, true);
        let mut serial = Vec::new();
        tree(&boxes, 0.01).self_pairs(|i, j| serial.push([i, j]));
        check_pairs(&serial, &boxes, &boxes, 0.02, true);
    }
}

#[test]
fn pairs_with_a_mark_are_those_of_all_pairs_that_have_one() {
    let (mut marks, mut tasks) = (Marks::default(), PairTasks::default());
    for (n, every) in [(0, 1), (1, 1), (5, 2), (700, 1), (700, 40), (300, 1000), (700, 7)] {
        let tree = tree(&random_boxes::<2>(n, 31 + n as u64), 0.01);
        let marked = |i: u32| i % every == every / 2;
        tree.mark((0..n as u32).filter(|i| marked(*i)), &mut marks);
        tree.split_marked(&marks, &mut tasks);
        let mut found = Vec::new();
        for task in tasks.tasks() {
            tree.run_marked(&marks, &tasks, *task, |i, j| found.push([i.min(j), i.max(j)]));
        }
        let all = tree.collect_self_pairs().into_iter().map(|[i, j]| [i.min(j), i.max(j)]);
        let mut expected: Vec<[u32; 2]> = all.filter(|[i, j]| marked(*i) || marked(*j)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{n} {every}");
    }
}

#[test]
fn the_order_of_a_tree_has_every_primitive_once() {
    for n in [0, 1, 4, 5, 333] {
        let mut order: Vec<u32> = tree(&random_boxes::<1>(n, 3), 0.0).order().collect();
        order.sort_unstable();
        assert_eq!(order, (0..n as u32).collect::<Vec<_>>());
    }
}

#[test]
fn tree_tree_query_equals_brute_force_for_unequal_depths_and_origins() {
    for (n, m) in [(0, 5), (1, 1), (3, 300), (300, 2), (500, 40), (64, 1000)] {
        let (a, b) = (random_boxes::<2>(n, 5), random_boxes::<2>(m, 6));
        let (tree_a, mut tree_b) = (tree(&a, 0.0), tree(&b, 0.005));
        check_pairs(&tree_a.collect_pairs(&tree_b), &a, &b, 0.005, false);
        let mut serial = Vec::new();
        tree_a.pairs(&tree_b, |i, j| serial.push([i, j]));
        check_pairs(&serial, &a, &b, 0.005, false);
        tree_b.refit(Vec3::new(0.7, -3.0, 0.1), |i| (b[i], 0.005));
        check_pairs(&tree_a.collect_pairs(&tree_b), &a, &b, 0.005, false);
    }
}

/// A sheet folded into a zigzag whose layers nearly touch, and the same a moment later.
fn folded_sheet(n: u32) -> (Vec<Vec3>, Vec<Vec3>, Topology) {
    let sheet = shapes::plane(1.0, 1.0, n, n).unwrap();
    let topology = Topology::new(sheet.positions.len(), &sheet.triangles).unwrap();
    let fold = |p: Vec3| {
        let s = (p.x + 0.5) * 8.0;
        let (layer, along) = (s.floor(), s.fract());
        let x = if layer as i64 % 2 == 0 { along } else { 1.0 - along };
        Vec3::new(0.125 * x, p.y, 0.002 * s)
    };
    let start: Vec<Vec3> = sheet.positions.iter().map(|&p| fold(p)).collect();
    let end =
        start.iter().map(|&p: &Vec3| p + Vec3::new(0.3, 0.01 * (9.0 * p.x).sin(), -0.4 * p.z)).collect();
    (start, end, topology)
}

fn triangle_boxes(start: &[Vec3], end: &[Vec3], topology: &Topology) -> Boxes<2> {
    let around = |x: &[Vec3], t: &[u32; 3]| Aabb::of_points(&t.map(|i| x[i as usize]));
    topology.triangles().iter().map(|t| [around(start, t), around(end, t)]).collect()
}

fn adjacency_tree(topology: &Topology) -> Bvh<2> {
    let across = |t: usize| {
        topology.triangle_edges()[t]
            .iter()
            .flat_map(|&e| topology.edge_triangles(e).iter().copied())
            .collect::<Vec<_>>()
    };
    let n = topology.triangle_count();
    let adjacency = Adjacency::new(n, across);
    for t in 0..n {
        let mut expected: Vec<u32> = adjacency.of(t).to_vec();
        expected.sort_unstable();
        assert_eq!(Adjacency::of_triangles(topology.triangles()).of(t), expected);
        if t > 20 {
            break;
        }
    }
    Bvh::from_adjacency(&vec![Vec3::ZERO; n], &adjacency)
}

#[test]
fn tree_from_mesh_adjacency_equals_brute_force_on_a_moving_folded_sheet() {
    let (start, end, topology) = folded_sheet(22);
    let boxes = triangle_boxes(&start, &end, &topology);
    let mut tree = adjacency_tree(&topology);
    tree.refit(Vec3::ZERO, |i| (boxes[i], 0.0005));
    let pairs = tree.collect_self_pairs();
    check_pairs(&pairs, &boxes, &boxes, 0.001, true);
    // Layers of the same fold stay in order, so far fewer pairs remain than with swept boxes.
    let swept: Boxes<1> = boxes.iter().map(|b| [b[0].union(b[1])]).collect();
    let swept_pairs = self::tree(&swept, 0.0005).collect_self_pairs();
    check_pairs(&swept_pairs, &swept, &swept, 0.001, true);
    assert!(2 * pairs.len() < swept_pairs.len(), "{} of {}", pairs.len(), swept_pairs.len());
}

#[test]
fn pairing_ends_on_meshes_in_many_parts() {
    for n in [0, 1, 2, 7, 1000] {
        let boxes = random_boxes::<1>(n, 3);
        let centres: Vec<Vec3> = boxes.iter().map(|b| b[0].centre()).collect();
        let mut tree = Bvh::<1>::from_adjacency(&centres, &Adjacency::new(n, |_| []));
        tree.refit(Vec3::ZERO, |i| (boxes[i], 0.0));
        check_pairs(&tree.collect_self_pairs(), &boxes, &boxes, 0.0, true);
        // A star: one primitive adjacent to all others.
        let star = |i: usize| if i == 0 { (1..n as u32).collect() } else { vec![0] };
        let mut tree = Bvh::<1>::from_adjacency(&centres, &Adjacency::new(n, star));
        tree.refit(Vec3::ZERO, |i| (boxes[i], 0.0));
        check_pairs(&tree.collect_self_pairs(), &boxes, &boxes, 0.0, true);
    }
}

#[test]
fn partial_refit_equals_full_refit() {
    let (start, end, topology) = folded_sheet(25);
    let before = triangle_boxes(&start, &start, &topology);
    let after = triangle_boxes(&start, &end, &topology);
    let mut random = Random::new(8);
    let moved: Vec<bool> = (0..before.len()).map(|_| random.below(20) == 0).collect();
    let mixed: Boxes<2> = (0..before.len()).map(|i| if moved[i] { after[i] } else { before[i] }).collect();
    let origin = Vec3::new(0.06, 0.0, 0.01);
    let mut partial = adjacency_tree(&topology);
    partial.refit(origin, |i| (before[i], 0.001));
    let stale = partial.collect_self_pairs();
    let touched = (0..moved.len() as u32).filter(|&i| moved[i as usize]);
    partial.refit_some(touched, |i| (after[i], 0.001));
    let mut full = adjacency_tree(&topology);
    full.refit(origin, |i| (mixed[i], 0.001));
    assert_eq!(partial.collect_self_pairs(), full.collect_self_pairs());
    assert_ne!(partial.collect_self_pairs(), stale);
    partial.refit_some([1_000_000], |_| unreachable!("there is no such primitive"));
}

#[test]
fn order_of_pairs_does_not_depend_on_threads() {
    let boxes = random_boxes::<2>(6000, 77);
    let pairs = |threads| par::with_threads(threads, || tree(&boxes, 0.001).collect_self_pairs());
    let one = pairs(1);
    assert_eq!(one, pairs(2));
    assert_eq!(one, pairs(7));
    assert!(one.len() > 500);
}

#[test]
fn not_a_number_meets_everything_and_nothing_hangs() {
    let mut boxes = random_boxes::<1>(50, 4);
    boxes[7] = [Aabb { min: Vec3::NAN, max: Vec3::NAN }];
    boxes[9] = [Aabb::EMPTY];
    boxes[11] = [Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY }];
    let tree = tree(&boxes, 0.0);
    let pairs = tree.collect_self_pairs();
    let partners = |k: u32| pairs.iter().filter(|p| p.contains(&k)).count();
    assert_eq!((partners(7), partners(9), partners(11)), (48, 0, 48));
    let mut seen = 0;
    tree.overlapping(&[Aabb { min: Vec3::NAN, max: Vec3::NAN }], |_| seen += 1);
    assert_eq!(seen, 49);
    assert_eq!(tree.closest(Vec3::NAN, f64::INFINITY, |_| f64::NAN), None);
    assert_eq!(tree.ray(Vec3::NAN, Vec3::NAN, f64::INFINITY, |_| Some(f64::NAN)), None);
}

#[test]
fn box_query_equals_brute_force() {
    let boxes = random_boxes::<1>(800, 31);
    let tree = tree(&boxes, 0.0);
    let queries = random_boxes::<1>(200, 32);
    for q in &queries {
        let mut found = Vec::new();
        tree.overlapping(q, |i| found.push(i));
        let pairs: Vec<[u32; 2]> = found.iter().map(|&i| [0, i]).collect();
        check_pairs(&pairs, &vec![*q], &boxes, 0.0, false);
    }
}

fn ray_triangle(start: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f64> {
    let n = (b - a).cross(c - a);
    let t = n.dot(a - start) / n.dot(direction);
    let p = start + t * direction;
    let inside = |u: Vec3, v: Vec3| (v - u).cross(p - u).dot(n) >= 0.0;
    (t >= 0.0 && inside(a, b) && inside(b, c) && inside(c, a)).then_some(t)
}

#[test]
fn rays_and_closest_points_equal_brute_force() {
    let mesh = shapes::icosphere(1.0, 8).unwrap();
    let corners: Vec<[Vec3; 3]> =
        mesh.triangles.iter().map(|t| t.map(|i| mesh.positions[i as usize])).collect();
    let boxes: Boxes<1> = corners.iter().map(|c| [Aabb::of_points(c)]).collect();
    let tree = tree(&boxes, 0.0);
    let mut random = Random::new(9);
    let (mut met, mut tested) = (0, 0);
    for k in 0..500 {
        let (p, d) = (random.vec(-2.0, 2.0), random.direction());
        // Axis-parallel rays put zeros in the slab test.
        let d = if k % 5 == 0 { Vec3::AXES[k % 3] } else { d };
        let t_max = if k % 2 == 0 { f64::INFINITY } else { 0.7 };
        let brute = corners.iter().filter_map(|c| ray_triangle(p, d, *c)).fold(f64::INFINITY, f64::min);
        let found = tree.ray(p, d, t_max, |i| ray_triangle(p, d, corners[i as usize]));
        assert_eq!(found.map(|h| h.t), (brute <= t_max && brute.is_finite()).then_some(brute));
        met += usize::from(found.is_some());
        let distance = |i: usize| point_triangle(p, corners[i]).distance;
        let brute = (0..corners.len()).map(distance).fold(f64::INFINITY, f64::min);
        let found = tree.closest(p, f64::INFINITY, |i| {
            tested += 1;
            distance(i as usize)
        });
        assert_eq!(found.map(|f| f.1), Some(brute));
        assert_eq!(tree.closest(p, brute, |i| distance(i as usize)), None);
        assert_eq!(tree.closest(p, brute * 1.01, |i| distance(i as usize)).map(|f| f.1), Some(brute));
    }
    assert!(met > 50 && met < 450);
    assert!(tested < 500 * corners.len() / 20, "{tested} triangles tested");
}

#[test]
fn adjacency_of_a_mesh() {
    // Two triangles across the edge 1–2, a wire 3–4–5 and a loose point 6.
    let triangles = [[0, 1, 2], [2, 1, 3]];
    let edges = [[0, 1], [1, 2], [0, 2], [1, 3], [2, 3], [3, 4], [4, 5]];
    let points = Adjacency::of_points(7, &edges);
    assert_eq!((points.of(1), points.of(6)), (&[0, 2, 3][..], &[][..]));
    let across = Adjacency::of_edges(&edges, &triangles);
    assert_eq!((across.of(1), across.of(0), across.of(5)), (&[0, 2, 3, 4][..], &[1, 2][..], &[6][..]));
    assert_eq!(Adjacency::of_triangles(&triangles).of(0), [1]);
    assert!(Adjacency::of_triangles(&[]).is_empty());
}
