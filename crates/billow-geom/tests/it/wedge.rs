//! Sight lines: nothing is seen through a surface, nothing clear of it is hidden.

use crate::random::Random;
use crate::shapes::meets;
use billow_geom::wedge::{Visibility, WedgeTree, Wedges};
use billow_geom::{TriMesh, shapes};
use billow_num::{Affine3, Quat, Vec3};

const FAR: [f64; 2] = [0.0, 1e4];

fn all(n: usize) -> impl Fn(&mut dyn FnMut(u32)) {
    move |visit| (0..n as u32).for_each(visit)
}

fn sight(wedges: &Wedges, from: Vec3, to: Vec3) -> Visibility {
    wedges.sight(from, to, all(wedges.len())).visibility
}

fn crosses(mesh: &TriMesh, from: Vec3, to: Vec3) -> bool {
    (0..mesh.triangles.len()).any(|t| meets([from, to], mesh.corners(t)))
}

/// A wavy sheet over −1…1 and its height, moved by `offset`.
fn wavy(n: u32, offset: Vec3) -> TriMesh {
    let mut mesh = shapes::cloth_grid(2.0, 2.0, n, n).unwrap();
    for p in &mut mesh.positions {
        p.z = 0.1 * (5.0 * p.x).sin() * (4.0 * p.y).cos();
    }
    mesh.translated(offset)
}

/// Distance from `p` to a triangle by dense sampling of the triangle; an upper bound within `1/n` of its
/// size.
fn sampled_distance(p: Vec3, [a, b, c]: [Vec3; 3], n: u32) -> f64 {
    let mut least = f64::INFINITY;
    for i in 0..=n {
        for j in 0..=n - i {
            let q = a + (b - a) * (f64::from(i) / f64::from(n)) + (c - a) * (f64::from(j) / f64::from(n));
            least = least.min(p.distance(q));
        }
    }
    least
}

#[test]
fn a_wedge_holds_everything_within_half_the_thickness() {
    let mut random = Random::new(20);
    for round in 0..300 {
        let offset = Vec3::splat(FAR[round % 2]);
        let [a, b, mut c] = [(); 3].map(|()| offset + random.vec(-1.0, 1.0));
        // Slivers, collinear triangles, and triangles that are points.
        match round % 5 {
            1 => c = a.lerp(b, random.range(0.0, 1.0)) + 1e-9 * random.direction(),
            2 => c = a.lerp(b, 0.5),
            3 => c = a,
            _ => {}
        }
        let b = if round % 15 == 3 { a } else { b };
        let mesh = TriMesh { positions: vec![a, b, c], triangles: vec![[0, 1, 2]] };
        let thickness = 1e-3;
        let wedges = Wedges::new(&mesh, thickness).unwrap();
        for _ in 0..50 {
            let (u, v) = (random.range(0.0, 1.0), random.range(0.0, 1.0));
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let p = a + u * (b - a) + v * (c - a);
            let near = p + random.range(0.0, 0.499) * thickness * random.direction();
            assert_eq!(wedges.containing(near, all(1)), Some(0), "round {round}");
            // Far outside along the normal it is not.
            let away = p + 10.0 * (thickness + a.distance(b) + a.distance(c)) * random.direction();
            assert_eq!(wedges.containing(away, all(1)), None, "round {round}");
        }
    }
}

#[test]
fn normal_extent_is_half_the_thickness() {
    let mesh = TriMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y], triangles: vec![[0, 1, 2]] };
    let wedges = Wedges::new(&mesh, 0.1).unwrap();
    let inside = |p: Vec3| wedges.containing(p, all(1)).is_some();
    let middle = Vec3::new(0.3, 0.3, 0.0);
    assert!(inside(middle + 0.0499 * Vec3::Z) && !inside(middle + 0.0501 * Vec3::Z));
    assert!(inside(Vec3::new(0.3, -0.0499, 0.0)) && !inside(Vec3::new(0.3, -0.0501, 0.0)));
    let slant = Vec3::new(1.0, 1.0, 0.0).normalize();
    let edge = Vec3::new(0.5, 0.5, 0.0);
    assert!(inside(edge + 0.0499 * slant) && !inside(edge + 0.0501 * slant));
}

#[test]
fn nothing_is_seen_through_a_closed_surface() {
    let mut random = Random::new(21);
    for far in FAR {
        let offset = Vec3::new(far, -far, 0.5 * far);
        let turn = Affine3::from_rotation_translation(Quat::from_axis_angle(random.direction(), 1.0), offset);
        let mesh = shapes::torus(1.0, 0.4, 18, 11).unwrap().transformed(&turn);
        let topology = mesh.topology().unwrap();
        let thickness = 1e-6;
        let wedges = Wedges::new(&mesh, thickness).unwrap();
        let interior = || turn.transform_point3(Vec3::X);
        let blocked = |from: Vec3, to: Vec3, what: &str| {
            let (there, back) = (sight(&wedges, from, to), sight(&wedges, to, from));
            assert_ne!(there, Visibility::Visible, "{what} at {far}: {from} sees {to}");
            assert_ne!(back, Visibility::Visible, "{what} at {far}: {to} sees {from}");
        };
        // From inside to random outside points, and exactly through vertices and edges.
        for _ in 0..300 {
            let outside = offset + 3.0 * random.direction();
            blocked(interior(), outside, "random");
        }
        for _ in 0..400 {
            let v = mesh.positions[random.below(mesh.positions.len())];
            blocked(interior(), interior() + 4.0 * (v - interior()), "vertex");
            let [a, b] =
                topology.edges()[random.below(topology.edge_count())].map(|v| mesh.positions[v as usize]);
            let on_edge = a.lerp(b, random.range(0.0, 1.0));
            blocked(interior(), interior() + 4.0 * (on_edge - interior()), "edge");
            // Short hops straight through an edge or vertex, just clear of the wedges.
            let hop = 4.0 * thickness * random.direction();
            for p in [v, on_edge] {
                if crosses(&mesh, p - hop, p + hop) {
                    blocked(p - hop, p + hop, "hop");
                }
            }
            // In the plane of a triangle, right across it.
            let t = random.below(mesh.triangles.len());
            let [p, q, r] = mesh.corners(t);
            let (from, to) = (p + 1.5 * (p - q.lerp(r, 0.3)), q.lerp(r, 0.3) + 1.5 * (q.lerp(r, 0.3) - p));
            blocked(from, to, "in plane");
            blocked(p + (p - q), q + (q - p), "along an edge");
        }
    }
}

#[test]
fn exact_crossings_are_never_visible_and_clear_lines_always_are() {
    let mut random = Random::new(22);
    let mut counts = [0usize; 4];
    for far in FAR {
        let offset = Vec3::splat(far);
        let mesh = wavy(13, offset);
        let thickness = 1e-5;
        let wedges = Wedges::new(&mesh, thickness).unwrap();
        for round in 0..4000 {
            let spread = if round % 2 == 0 { 1.2 } else { 0.9 };
            let mut point = || {
                let p = random.vec(-spread, spread);
                offset + Vec3::new(p.x, p.y, 0.15 * p.z)
            };
            let (from, to) = (point(), point());
            let seen = sight(&wedges, from, to);
            let outside = |p: Vec3| wedges.containing(p, all(wedges.len())).is_none();
            if crosses(&mesh, from, to) {
                assert_ne!(seen, Visibility::Visible, "{from} {to}");
                counts[0] += 1;
            } else if outside(from) && outside(to) && seen != Visibility::Visible {
                // Only a line that passes close to the surface may be blocked without crossing it.
                let hit = wedges.sight(from, to, all(wedges.len())).hit.unwrap();
                let at = from.lerp(to, hit.fraction);
                let d = sampled_distance(at, mesh.corners(hit.triangle as usize), 100);
                assert!(d < 0.01, "blocked {d} m away from the surface");
                assert!(wedges.containing(at, all(wedges.len())).is_some() || d < 0.01);
                counts[1] += 1;
            } else {
                counts[2] += 1;
            }
            counts[3] += usize::from(seen == sight(&wedges, to, from));
        }
    }
    // All cases occurred: crossing, grazing, clear; and sight is mutual for points outside the wedges.
    assert!(counts[0] > 1000 && counts[2] > 1000, "{counts:?}");
    assert!(counts[3] >= 7990, "{counts:?}");
}

#[test]
fn points_on_opposite_sides_of_a_wavy_sheet_never_meet() {
    let mut random = Random::new(23);
    for far in FAR {
        let offset = Vec3::new(-far, far, far);
        let mesh = wavy(17, offset);
        let thickness = 8.0 * Wedges::least_thickness(&mesh.bounds()).max(1e-12);
        let wedges = Wedges::new(&mesh, thickness).unwrap();
        let mut tried = 0;
        while tried < 1500 {
            // Two points above and below random points of the sheet, as close as the wedge allows.
            let mut beside = |side: f64| {
                let [a, b, c] = mesh.corners(random.below(mesh.triangles.len()));
                let (u, v) = (random.range(0.0, 0.5), random.range(0.0, 0.5));
                let n = (b - a).cross(c - a).normalize();
                a + u * (b - a) + v * (c - a) + side * random.range(0.51, 3.0) * thickness * n
            };
            let (above, below, above_too) = (beside(1.0), beside(-1.0), beside(1.0));
            let outside = |p: Vec3| wedges.containing(p, all(wedges.len())).is_none();
            if !(outside(above) && outside(below) && outside(above_too)) {
                continue;
            }
            tried += 1;
            assert_eq!(sight(&wedges, above, below), Visibility::Occluded, "{above} sees {below}");
            if crosses(&mesh, above, above_too) {
                assert_eq!(sight(&wedges, above, above_too), Visibility::Occluded);
            }
        }
    }
}

#[test]
fn very_long_lines_do_not_leak_through_a_tiny_body() {
    let mut random = Random::new(27);
    let mesh = shapes::icosphere(1e-3, 3).unwrap();
    let tree = WedgeTree::new(&mesh, Wedges::least_thickness(&mesh.bounds())).unwrap();
    let mut crossed = 0;
    for _ in 0..3000 {
        let from = 10f64.powf(random.range(0.0, 7.0)) * random.direction();
        let v = mesh.positions[random.below(mesh.positions.len())];
        let to = from + random.range(1.0, 3.0) * (v - from);
        if crosses(&mesh, from, to) {
            assert_ne!(sight(tree.wedges(), from, to), Visibility::Visible, "{from} → {to}");
            assert_ne!(tree.sight(from, to).visibility, Visibility::Visible, "tree, {from} → {to}");
            crossed += 1;
        }
    }
    assert!(crossed > 300, "{crossed}");
}

#[test]
fn lines_clear_of_a_ball_are_visible() {
    let mut random = Random::new(24);
    let mesh = shapes::icosphere(1.0, 6).unwrap();
    let wedges = Wedges::new(&mesh, 1e-4).unwrap();
    let mut seen = 0;
    for _ in 0..2000 {
        let (a, b) =
            (random.range(1.001, 3.0) * random.direction(), random.range(1.001, 3.0) * random.direction());
        let s = (a.dot(a - b) / a.distance_squared(b)).clamp(0.0, 1.0);
        if a.lerp(b, s).length() > 1.0005 {
            assert_eq!(sight(&wedges, a, b), Visibility::Visible);
            seen += 1;
        } else if a.lerp(b, s).length() < 0.97 {
            assert_eq!(sight(&wedges, a, b), Visibility::Occluded);
        }
    }
    assert!(seen > 300);
}

#[test]
fn three_regions_about_one_sheet() {
    let mesh = shapes::plane(2.0, 2.0, 2, 2).unwrap();
    let wedges = Wedges::new(&mesh, 0.02).unwrap();
    let eye = Vec3::new(0.1, 0.2, 1.0);
    assert_eq!(sight(&wedges, eye, Vec3::new(0.3, 0.1, 0.011)), Visibility::Visible);
    assert_eq!(sight(&wedges, eye, Vec3::new(0.3, 0.1, 0.009)), Visibility::Inside);
    assert_eq!(sight(&wedges, eye, Vec3::new(0.3, 0.1, -0.009)), Visibility::Inside);
    assert_eq!(sight(&wedges, eye, Vec3::new(0.3, 0.1, -0.011)), Visibility::Occluded);
    assert_eq!(sight(&wedges, eye, Vec3::new(3.0, 0.1, -0.011)), Visibility::Visible, "past the rim");
    // A reference point in a wedge sees nothing.
    assert_eq!(sight(&wedges, Vec3::new(0.3, 0.1, 0.0), eye), Visibility::Occluded);
    // The first hit is where the line enters, with weights that give the point below the entry.
    let hit = wedges.sight(eye, Vec3::new(0.1, 0.2, -1.0), all(8)).hit.unwrap();
    assert!((hit.fraction - 0.495).abs() < 1e-12);
    let at: Vec3 = mesh.corners(hit.triangle as usize).iter().zip(hit.weights).map(|(p, w)| *p * w).sum();
    assert!(
        at.distance(Vec3::new(0.1, 0.2, 0.0)) < 1e-12
            && (hit.weights.iter().sum::<f64>() - 1.0).abs() < 1e-15
    );
}

#[test]
fn clipped_paths_end_visible_and_outside() {
    let mut random = Random::new(25);
    let (mut cut, mut free) = (0, 0);
    for far in FAR {
        let offset = Vec3::splat(far);
        let mesh = wavy(9, offset);
        let thickness = 1e-3;
        let wedges = Wedges::new(&mesh, thickness).unwrap();
        let n = wedges.len();
        for round in 0..3000 {
            let p = random.vec(-0.9, 0.9);
            let mut from = offset + Vec3::new(p.x, p.y, 0.3 * p.z);
            if round % 3 == 0 {
                // Start between a wedge and its double.
                let t = random.below(n);
                let [a, b, c] = mesh.corners(t);
                from = (a + b + c) / 3.0
                    + random.range(0.5001, 0.9999) * thickness * mesh.area_vector(t).normalize();
            }
            let to = from + random.range(0.0, 0.5) * random.direction();
            if wedges.containing(from, all(n)).is_some() {
                assert_eq!(wedges.clip(from, to, all(n)).end, from);
                continue;
            }
            let path = wedges.clip(from, to, all(n));
            assert_eq!(sight(&wedges, from, path.end), Visibility::Visible, "{from} → {to}");
            assert!(wedges.containing(path.end, all(n)).is_none());
            assert!(!crosses(&mesh, from, path.end));
            match path.hit {
                Some(hit) => {
                    assert!((0.0..=1.0).contains(&hit.fraction));
                    assert!(path.end.distance(from.lerp(to, hit.fraction)) < 1e-12 + 1e-15 * far);
                    cut += 1;
                }
                None => {
                    assert_eq!(path.end, to);
                    assert!(!crosses(&mesh, from, to));
                    free += 1;
                }
            }
        }
    }
    assert!(cut > 1000 && free > 1000, "{cut} {free}");
}

#[test]
fn motion_along_and_away_from_a_wall_is_not_clipped() {
    let mesh = shapes::plane(2.0, 2.0, 4, 4).unwrap();
    let wedges = Wedges::new(&mesh, 0.02).unwrap();
    let from = Vec3::new(0.11, 0.23, 0.013);
    for by in [Vec3::new(0.4, -0.3, 0.0), Vec3::new(0.1, 0.1, 0.5), Vec3::new(0.0, 0.0, 0.001)] {
        let path = wedges.clip(from, from + by, all(32));
        assert_eq!((path.end, path.hit), (from + by, None), "moving by {by}");
    }
    // From farther out a path straight down stops at the doubled wedge.
    let path = wedges.clip(Vec3::new(0.11, 0.23, 1.0), Vec3::new(0.11, 0.23, -1.0), all(32));
    assert!((path.end.z - 0.02).abs() < 1e-12);
    // And from between a wedge and its double halfway to the wedge.
    let path = wedges.clip(from, from - 0.5 * Vec3::Z, all(32));
    assert!((path.end.z - 0.0115).abs() < 1e-12, "{}", path.end);
}

#[test]
fn bad_surfaces_are_refused() {
    let mesh = shapes::plane(1.0, 1.0, 1, 1).unwrap().translated(Vec3::splat(1e4));
    let message = Wedges::new(&mesh, 1e-13).unwrap_err().to_string();
    assert!(message.contains("at least") && message.contains("thickness"), "{message}");
    assert!(Wedges::new(&mesh, f64::NAN).is_err());
    let mut broken = mesh.clone();
    broken.positions[2].y = f64::NAN;
    assert!(Wedges::new(&broken, 0.1).unwrap_err().to_string().contains("vertex 2"));
    broken = mesh;
    broken.triangles[1][0] = 77;
    assert!(Wedges::new(&broken, 0.1).is_err());
    assert!(Wedges::new(&TriMesh::default(), 0.1).unwrap().is_empty());
}

#[test]
fn the_hierarchy_answers_like_all_triangles() {
    let mut random = Random::new(26);
    for far in FAR {
        let offset = Vec3::splat(far);
        let mut mesh = wavy(15, offset);
        let mut tree = WedgeTree::new(&mesh, 1e-3).unwrap();
        for round in 0..3 {
            let n = tree.wedges().len();
            for _ in 0..1500 {
                let p = random.vec(-1.1, 1.1);
                let from = offset + Vec3::new(p.x, p.y, 0.2 * p.z);
                let to = from + random.range(0.0, 0.6) * random.direction();
                assert_eq!(tree.sight(from, to), tree.wedges().sight(from, to, all(n)));
                assert_eq!(tree.clip(from, to), tree.wedges().clip(from, to, all(n)));
                let near = mesh.positions[random.below(mesh.positions.len())] + 1e-3 * random.direction();
                assert_eq!(tree.containing(near), tree.wedges().containing(near, all(n)));
                assert_eq!(tree.sight(from, near), tree.wedges().sight(from, near, all(n)));
            }
            mesh.positions.iter_mut().for_each(|p| p.z += 0.05 * (p.x + f64::from(round)).sin());
            tree.follow(&mesh).unwrap();
        }
        mesh.triangles.pop();
        assert!(tree.follow(&mesh).unwrap_err().to_string().contains("391"));
    }
}
