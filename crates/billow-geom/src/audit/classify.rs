//! Exact classification of two triangles, by the number of vertices they share.
//!
//! Pairs that floating point can tell apart with an error bound never reach the exact predicates.

use super::{Contact, Shape, shape, thin};
use crate::predicates::{orient2d, orient3d, projection_axis};
use billow_num::Vec3;

/// How two triangles of a soup meet beyond their common vertices; `None` if they do not, or if one of them is
/// not finite.
pub fn classify(positions: &[Vec3], a: &[u32; 3], b: &[u32; 3]) -> Option<Contact> {
    let shapes = [shape(positions, a), shape(positions, b)];
    if shapes.contains(&Shape::Invalid) {
        return None;
    }
    match shapes.map(|s| s == Shape::Thin) {
        [false, false] => proper(positions, a, b),
        which => thin::contact(positions, [a, b], which),
    }
}

/// Classification of two triangles with area.
pub(super) fn proper(x: &[Vec3], a: &[u32; 3], b: &[u32; 3]) -> Option<Contact> {
    let at = |t: [u32; 3]| t.map(|i| x[i as usize]);
    let shared = |t: &[u32; 3], with: &[u32; 3]| t.map(|i| with.contains(&i));
    let (in_a, in_b) = (shared(a, b), shared(b, a));
    match in_a.iter().filter(|&&s| s).count() {
        0 => disjoint(at(*a), at(*b)),
        1 => {
            let first = |s: [bool; 3]| s.iter().position(|&s| s).unwrap_or(0);
            let turned = |t: &[u32; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            sharing_vertex(at(turned(a, first(in_a))), at(turned(b, first(in_b))))
        }
        2 => {
            let lone = |t: &[u32; 3], s: [bool; 3]| {
                let k = s.iter().position(|&s| !s).unwrap_or(0);
                [t[(k + 1) % 3], t[(k + 2) % 3], t[k]]
            };
            let ([p, q, r], [_, _, s]) = (lone(a, in_a), lone(b, in_b));
            let [p, q, r, s] = [p, q, r, s].map(|i| x[i as usize]);
            folded_flat(p, q, r, s).then_some(Contact::Coplanar)
        }
        _ => Some(Contact::Coplanar),
    }
}

/// Triangles `p q r` and `p q s` across a common edge meet again only if they are folded flat.
fn folded_flat(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> bool {
    if opens_wide(q - p, r - p, s - p) {
        return false;
    }
    if orient3d(p, q, r, s) != 0 {
        return false;
    }
    let Some(k) = projection_axis(p, q, r) else { return false };
    orient2d(p, q, r, k) == orient2d(p, q, s, k)
}

/// Whether the parts of `r` and `s` perpendicular to `e` certainly make an angle above a right one.
fn opens_wide(e: Vec3, r: Vec3, s: Vec3) -> bool {
    let (e2, rs, re, se) = (e.dot(e), r.dot(s), r.dot(e), s.dot(e));
    // Each factor is a product of differences with fewer than 8u of error relative to the lengths.
    let scale = e2 * (r.length_squared() + s.length_squared());
    rs * e2 - re * se < -QUICK * scale
}

/// Relative error bound of the floating-point rejections below: 64u, several times what their few operations
/// can lose.
const QUICK: f64 = 32.0 * f64::EPSILON;

/// Whether a plane through `p` certainly separates the cones of the two triangles there.
fn cones_apart(p: Vec3, [b, c]: [Vec3; 2], [d, e]: [Vec3; 2]) -> bool {
    let (b, c, d, e) = (b - p, c - p, d - p, e - p);
    let (u, v) = (b + c, d + e);
    // Normal to the bisecting plane of the two middle directions, scaled instead of normalised.
    let m = u * v.length() - v * u.length();
    let margin = |x: Vec3| QUICK * (m.abs().dot(x.abs()));
    m.dot(b) > margin(b) && m.dot(c) > margin(c) && m.dot(d) < -margin(d) && m.dot(e) < -margin(e)
}

/// Whether one of the directions that separate triangles certainly separates these: between their middles,
/// their normals, and the normals of their edges in their planes.
fn certainly_apart(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let o = a[0];
    let (a, b) = (a.map(|p| p - o), b.map(|p| p - o));
    let size = a.iter().chain(&b).fold(Vec3::ZERO, |s, p| s + p.abs());
    let apart = |m: Vec3| {
        let (a, b) = (a.map(|p| m.dot(p)), b.map(|p| m.dot(p)));
        let least = |v: [f64; 3]| v[0].min(v[1]).min(v[2]);
        let most = |v: [f64; 3]| v[0].max(v[1]).max(v[2]);
        (least(a) - most(b)).max(least(b) - most(a)) > QUICK * m.abs().dot(size)
    };
    let normal = |t: &[Vec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]);
    let n = [normal(&a), normal(&b)];
    apart(n[0])
        || apart((a[1] + a[2]) - (b[0] + b[1] + b[2]))
        || apart(n[1])
        || (0..3).any(|i| apart((a[(i + 1) % 3] - a[i]).cross(n[0])))
        || (0..3).any(|i| apart((b[(i + 1) % 3] - b[i]).cross(n[1])))
}

/// Triangles `p b c` and `p d e` with one common vertex.
fn sharing_vertex([p, b, c]: [Vec3; 3], [_, d, e]: [Vec3; 3]) -> Option<Contact> {
    if cones_apart(p, [b, c], [d, e]) {
        return None;
    }
    let (s_d, s_e) = (orient3d(p, b, c, d), orient3d(p, b, c, e));
    if s_d * s_e > 0 {
        return None;
    }
    if s_d == 0 && s_e == 0 {
        return coplanar_sharing_vertex(p, [b, c], [d, e]);
    }
    if s_d * s_e < 0 {
        // The segment d e passes through the plane; is it inside the cone of p b c?
        let (u, v) = (orient3d(d, e, p, b) * -s_d, orient3d(d, e, c, p) * -s_d);
        return match (u.min(v), u.max(v)) {
            (1, _) => Some(Contact::Crossing),
            (0, 1) => Some(Contact::Touching),
            _ => None,
        };
    }
    // One edge from p lies in the plane.
    let in_plane = if s_d == 0 { d } else { e };
    let k = projection_axis(p, b, c)?;
    in_cone(p, b, c, in_plane, k).then_some(Contact::Touching)
}

/// Whether `q`, in the plane of `p b c`, lies in the closed cone of the triangle at `p`.
pub(super) fn in_cone(p: Vec3, b: Vec3, c: Vec3, q: Vec3, k: usize) -> bool {
    let s = orient2d(p, b, c, k);
    let (u, v) = (orient2d(p, b, q, k) * s, orient2d(p, q, c, k) * s);
    // Both zero only at p itself, or never for a cone with an opening below half a turn.
    u >= 0 && v >= 0 && u + v > 0
}

fn coplanar_sharing_vertex(p: Vec3, [b, c]: [Vec3; 2], [d, e]: [Vec3; 2]) -> Option<Contact> {
    let k = projection_axis(p, b, c)?;
    if separation_2d([p, b, c], [p, d, e], k) == Separation::None {
        return Some(Contact::Coplanar);
    }
    let along = |u: Vec3, v: Vec3| orient2d(p, u, v, k) == 0 && same_ray(p, u, v);
    [(b, d), (b, e), (c, d), (c, e)].iter().any(|&(u, v)| along(u, v)).then_some(Contact::Touching)
}

/// Whether collinear `u` and `v` lie on the same side of `p`.
pub(super) fn same_ray(p: Vec3, u: Vec3, v: Vec3) -> bool {
    let sign = |a: f64, b: f64| i8::from(a > b) - i8::from(a < b);
    (0..3).any(|c| sign(u[c], p[c]) * sign(v[c], p[c]) > 0)
}

/// Triangles without common vertex (Guigue and Devillers' interval test, made strict and weak).
fn disjoint(a: [Vec3; 3], b: [Vec3; 3]) -> Option<Contact> {
    if certainly_apart(a, b) {
        return None;
    }
    let side_b = b.map(|p| orient3d(a[0], a[1], a[2], p));
    if same_strict_side(side_b) {
        return None;
    }
    let side_a = a.map(|p| orient3d(b[0], b[1], b[2], p));
    if same_strict_side(side_a) {
        return None;
    }
    if side_a == [0; 3] {
        return match separation_2d(a, b, projection_axis(a[0], a[1], a[2])?) {
            Separation::Strict => None,
            Separation::Weak => Some(Contact::Touching),
            Separation::None => Some(Contact::Coplanar),
        };
    }
    // The plane of each triangle meets the other in an interval of the planes' common line. Turn both so that the
    // first corner is alone on its side, and flip so that it is above the other's plane.
    let (mut a, alone_a) = lone_corner_first(a, side_a);
    let (mut b, alone_b) = lone_corner_first(b, side_b);
    if alone_a < 0 {
        b.swap(1, 2);
    }
    if alone_b < 0 {
        a.swap(1, 2);
    }
    let u = orient3d(a[0], a[1], b[0], b[1]);
    let v = orient3d(a[0], a[2], b[2], b[0]);
    let straddles = |s: [i8; 3]| s.contains(&1) && s.contains(&-1);
    match (u.min(v), u.max(v)) {
        (_, 1) => None,
        (_, -1) if straddles(side_a) && straddles(side_b) => Some(Contact::Crossing),
        _ => Some(Contact::Touching),
    }
}

fn same_strict_side(s: [i8; 3]) -> bool {
    s[0] != 0 && s[0] == s[1] && s[1] == s[2]
}

/// Rotates the corners so that the first is strictly on one side and the others are not on that side; returns
/// also which side. Not all signs may be zero or strictly equal.
fn lone_corner_first(t: [Vec3; 3], s: [i8; 3]) -> ([Vec3; 3], i8) {
    for side in [1, -1] {
        if s.iter().filter(|&&x| x == side).count() == 1 {
            let k = s.iter().position(|&x| x == side).unwrap_or(0);
            return ([t[k], t[(k + 1) % 3], t[(k + 2) % 3]], side);
        }
    }
    // Two on one side and one in the plane: the one in the plane is alone on the other side.
    let k = s.iter().position(|&x| x == 0).unwrap_or(0);
    ([t[k], t[(k + 1) % 3], t[(k + 2) % 3]], -s[(k + 1) % 3])
}

/// How well a line can separate two coplanar triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separation {
    None,
    Weak,
    Strict,
}

fn separation_2d(a: [Vec3; 3], b: [Vec3; 3], k: usize) -> Separation {
    let mut best = Separation::None;
    for (t, other) in [(a, b), (b, a)] {
        let turn = orient2d(t[0], t[1], t[2], k);
        for i in 0..3 {
            let outside = other.map(|p| -turn * orient2d(t[i], t[(i + 1) % 3], p, k));
            match outside.iter().min() {
                Some(1) => return Separation::Strict,
                Some(0) => best = Separation::Weak,
                _ => {}
            }
        }
    }
    best
}
