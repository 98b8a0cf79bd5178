//! The exact audit against clipping in rational arithmetic, and on known configurations.

use crate::random::Random;
use billow_geom::audit::{Contact, Element, Soup, audit, classify};
use billow_geom::{TriMesh, shapes};
use billow_num::{Vec3, par};
use num_bigint::BigInt;

type Point = [Fraction; 3];

/// An exact fraction with positive denominator.
#[derive(Clone, Debug)]
struct Fraction(BigInt, BigInt);

impl Fraction {
    fn new(n: i64) -> Self {
        Self(n.into(), 1.into())
    }
    fn sub(&self, b: &Self) -> Self {
        Self(&self.0 * &b.1 - &b.0 * &self.1, &self.1 * &b.1)
    }
    fn add(&self, b: &Self) -> Self {
        Self(&self.0 * &b.1 + &b.0 * &self.1, &self.1 * &b.1)
    }
    fn mul(&self, b: &Self) -> Self {
        Self(&self.0 * &b.0, &self.1 * &b.1)
    }
    fn div(&self, b: &Self) -> Self {
        let (n, d) = (&self.0 * &b.1, &self.1 * &b.0);
        if d < 0.into() { Self(-n, -d) } else { Self(n, d) }
    }
    fn sign(&self) -> i32 {
        i32::from(self.0 > 0.into()) - i32::from(self.0 < 0.into())
    }
}

fn sub(a: &Point, b: &Point) -> Point {
    std::array::from_fn(|c| a[c].sub(&b[c]))
}

fn dot(a: &Point, b: &Point) -> Fraction {
    a[0].mul(&b[0]).add(&a[1].mul(&b[1])).add(&a[2].mul(&b[2]))
}

fn cross(a: &Point, b: &Point) -> Point {
    std::array::from_fn(|c| {
        let (i, j) = ((c + 1) % 3, (c + 2) % 3);
        a[i].mul(&b[j]).sub(&a[j].mul(&b[i]))
    })
}

fn is_zero(a: &Point) -> bool {
    a.iter().all(|c| c.sign() == 0)
}

/// The part of a convex point list on the closed side `n·(x − o) ≥ 0`.
fn clip(polygon: &[Point], o: &Point, n: &Point) -> Vec<Point> {
    let h: Vec<Fraction> = polygon.iter().map(|p| dot(n, &sub(p, o))).collect();
    let mut kept = Vec::new();
    for i in 0..polygon.len() {
        let j = (i + 1) % polygon.len();
        if h[i].sign() >= 0 {
            kept.push(polygon[i].clone());
        }
        if h[i].sign() * h[j].sign() < 0 {
            let s = h[i].div(&h[i].sub(&h[j]));
            kept.push(std::array::from_fn(|c| polygon[i][c].add(&s.mul(&polygon[j][c].sub(&polygon[i][c])))));
        }
    }
    kept
}

/// Whether `p`, in the plane of the triangle, lies strictly inside it.
fn strictly_inside(p: &Point, t: &[Point; 3], n: &Point) -> bool {
    (0..3).all(|i| {
        let e = sub(&t[(i + 1) % 3], &t[i]);
        dot(&cross(&e, &sub(p, &t[i])), n).sign() > 0
    })
}

/// What two triangles share beyond common vertices, from their intersection as an exact polygon. `b` has area.
fn reference(a: &[Point; 3], b: &[Point; 3], common: &[Point]) -> Option<Contact> {
    let normal = |t: &[Point; 3]| cross(&sub(&t[1], &t[0]), &sub(&t[2], &t[0]));
    let (n_a, n_b) = (normal(a), normal(b));
    let minus = |v: &Point| -> Point { std::array::from_fn(|c| Fraction::new(0).sub(&v[c])) };
    let mut polygon = clip(a, &b[0], &n_b);
    polygon = clip(&polygon, &b[0], &minus(&n_b));
    for i in 0..3 {
        polygon = clip(&polygon, &b[i], &cross(&n_b, &sub(&b[(i + 1) % 3], &b[i])));
    }
    // Nothing but the common vertex, or the common edge?
    let in_common = |p: &Point| match common {
        [v] => is_zero(&sub(p, v)),
        [v, w] => is_zero(&cross(&sub(p, v), &sub(w, v))),
        _ => false,
    };
    if polygon.iter().all(in_common) {
        return None;
    }
    // The mean of the corners is interior to both triangles if any point is.
    let count = Fraction::new(polygon.len() as i64);
    let zero = || Fraction::new(0);
    let sum = polygon.iter().fold([zero(), zero(), zero()], |s, p| std::array::from_fn(|c| s[c].add(&p[c])));
    let mean: Point = std::array::from_fn(|c| sum[c].div(&count));
    if is_zero(&n_a) {
        return Some(Contact::Touching);
    }
    let interior = strictly_inside(&mean, a, &n_a) && strictly_inside(&mean, b, &n_b);
    let coplanar = is_zero(&cross(&n_a, &n_b));
    Some(match (interior, coplanar) {
        (true, true) => Contact::Coplanar,
        (true, false) => Contact::Crossing,
        _ => Contact::Touching,
    })
}

/// Triangles on a small integer lattice, full of coplanar, touching and degenerate pairs.
fn lattice_soup(size: u64, triangles: usize, seed: u64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut random = Random::new(seed);
    let positions: Vec<Vec3> = (0..3 * triangles)
        .map(|_| Vec3::from_array(std::array::from_fn(|_| random.below(size as usize) as f64)))
        .collect();
    let mut corner = || random.below(positions.len()) as u32;
    let triangles = (0..triangles)
        .map(|_| {
            loop {
                let t = [corner(), corner(), corner()];
                if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                    break t;
                }
            }
        })
        .collect();
    (positions, triangles)
}

#[test]
fn all_pairs_of_lattice_soups_match_exact_clipping() {
    let mut seen = [[0; 4]; 3];
    for seed in 0..120 {
        let (x, triangles) = lattice_soup([2, 3, 4, 9][seed as usize % 4], 16, seed);
        let exact = |t: &[u32; 3]| -> [Point; 3] {
            t.map(|i| x[i as usize].to_array().map(|c| Fraction::new(c as i64)))
        };
        let found = audit(&x, &triangles);
        for i in 0..triangles.len() {
            for j in i + 1..triangles.len() {
                let (a, b) = (&triangles[i], &triangles[j]);
                let thin = |k: usize| found.degenerate.contains(&(k as u32));
                let contact = found.findings.iter().find(|f| f.triangles == [i as u32, j as u32]);
                let contact = contact.map(|f| f.contact);
                assert_eq!(contact, classify(&x, a, b));
                assert_eq!(contact, classify(&x, b, a), "order matters for {a:?} {b:?}");
                if thin(i) && thin(j) {
                    continue;
                }
                let shared: Vec<u32> = a.iter().copied().filter(|k| b.contains(k)).collect();
                let common: Vec<Point> =
                    exact(&[shared.first(), shared.get(1), None].map(|k| *k.unwrap_or(&0)))
                        [..shared.len().min(2)]
                        .to_vec();
                let (p, q) = if thin(j) { (b, a) } else { (a, b) };
                let expected = reference(&exact(p), &exact(q), &common);
                if thin(i) || thin(j) {
                    assert_eq!(contact.is_some(), expected.is_some(), "seed {seed}: {a:?} {b:?}");
                } else {
                    assert_eq!(contact, expected, "seed {seed}: {a:?} {b:?} in {x:?}");
                    seen[shared.len().min(2)][contact.map_or(3, |c| c as usize)] += 1;
                }
            }
        }
    }
    // Every class must really have been there; triangles across an edge neither cross nor touch.
    assert!(seen[0].iter().all(|&n| n > 50) && seen[1].iter().all(|&n| n > 20), "{seen:?}");
    assert!(seen[2][1] > 0 && seen[2][3] > 20, "{seen:?}");
}

#[test]
fn thin_pairs_meet_where_their_points_do() {
    let x =
        [[0., 0., 0.], [2., 0., 0.], [1., 0., 0.], [1., -1., 0.], [1., 1., 0.], [1., 3., 0.], [5., 0., 0.]];
    let x: Vec<Vec3> = x.iter().map(|&p| Vec3::from_array(p)).collect();
    let contact = |a, b| classify(&x, &a, &b);
    assert_eq!(contact([0, 2, 1], [3, 4, 5]), Some(Contact::Touching));
    assert_eq!(contact([0, 2, 1], [4, 4, 5]), None);
    // Sharing a point only, lying on each other beyond it, and sharing the point they cross at.
    assert_eq!(contact([0, 2, 1], [1, 6, 6]), None);
    assert_eq!(contact([0, 2, 1], [0, 6, 6]), Some(Contact::Touching));
    assert_eq!(contact([0, 2, 1], [3, 2, 4]), None);
}

#[test]
fn folded_crossed_and_separate_sheets() {
    let sheet = shapes::plane(1.0, 1.0, 8, 8).unwrap();
    assert!(audit(&sheet.positions, &sheet.triangles).is_clean());
    // Folded over flat: layers lie on each other.
    let flat: Vec<Vec3> = sheet.positions.iter().map(|p| Vec3::new(p.x.abs(), p.y, p.z)).collect();
    let found = audit(&flat, &sheet.triangles);
    assert!(found.count(Contact::Coplanar) > 60 && found.count(Contact::Crossing) == 0);
    assert!(!found.is_intersection_free());
    // A turned copy passes through; moved away it does not.
    let turned = |dz: f64| TriMesh {
        positions: sheet.positions.iter().map(|p| Vec3::new(p.x + 0.013, 0.021, p.y + dz)).collect(),
        triangles: sheet.triangles.clone(),
    };
    let soup = Soup::new([&sheet, &turned(0.007)]);
    let found = soup.audit();
    assert!(found.count(Contact::Crossing) >= 8 && !found.is_intersection_free());
    let f = found.findings[0];
    assert_eq!(f.triangles.map(|t| soup.element(t).mesh), [0, 1]);
    assert_eq!(soup.element(128), Element { mesh: 1, triangle: 0 });
    assert!(Soup::new([&sheet, &turned(0.6)]).audit().is_clean());
    // One unit in the last place decides.
    let just = turned(0.5f64.next_up());
    let touch = turned(0.5);
    assert!(Soup::new([&sheet, &just]).audit().is_clean());
    let found = Soup::new([&sheet, &touch]).audit();
    assert!(found.is_intersection_free() && !found.is_clean());
}

#[test]
fn bad_triangles_are_listed_and_left_out() {
    let x = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::NAN, 2.0 * Vec3::X, Vec3::INFINITY];
    let t = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [2, 1, 9], [5, 2, 1], [0, 0, 0]];
    let found = audit(&x, &t);
    assert_eq!(found.invalid, [1, 3, 4]);
    assert_eq!(found.degenerate, [2, 5]);
    assert!(audit(&[], &[]).is_clean());
    let mut soup = Soup::new(&[TriMesh { positions: vec![Vec3::ZERO], triangles: vec![[0, 0, 3]] }]);
    soup.push(&x[..3], &t[..1]);
    assert_eq!((soup.audit().invalid, soup.element(1).mesh), (vec![0], 1));
}

#[test]
fn findings_do_not_depend_on_threads() {
    let (x, triangles) = lattice_soup(40, 1500, 5);
    let run = |threads| par::with_threads(threads, || audit(&x, &triangles));
    let one = run(1);
    assert!(one.findings.len() > 1000 && one.findings.is_sorted());
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}
