//! Contact of triangles without area: they are the two segments that join their middle corner to the others.

use super::Contact;
use super::classify::{in_cone, same_ray};
use crate::predicates::{orient2d, orient3d, projection_axis};
use billow_num::Vec3;

/// How two triangles meet, at least one of which is thin.
pub(super) fn contact(x: &[Vec3], t: [&[u32; 3]; 2], thin: [bool; 2]) -> Option<Contact> {
    // Corners that coincide with a shared vertex of their own triangle are that vertex.
    let merged = |t: &[u32; 3], other: &[u32; 3]| {
        t.map(|i| *t.iter().find(|&&j| other.contains(&j) && x[j as usize] == x[i as usize]).unwrap_or(&i))
    };
    let (a, b) = (&merged(t[0], t[1]), &merged(t[1], t[0]));
    let contacts = match thin {
        [true, true] => segments(x, a)
            .map(|s| segments(x, b).iter().any(|r| segments_meet(x, s, *r)).then_some(Contact::Touching)),
        [true, _] => segments(x, a).map(|s| segment_triangle(x, s, b)),
        _ => segments(x, b).map(|s| segment_triangle(x, s, a)),
    };
    contacts.into_iter().flatten().min()
}

/// The two segments a thin triangle consists of.
fn segments(x: &[Vec3], t: &[u32; 3]) -> [[u32; 2]; 2] {
    // Sorted along their common line, the middle corner separates the other two.
    let mut sorted = *t;
    sorted.sort_by(|&i, &j| {
        let (p, q) = (x[i as usize], x[j as usize]);
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z)).then(i.cmp(&j))
    });
    let [a, m, b] = sorted;
    [[a, m], [m, b]]
}

fn segment_triangle(x: &[Vec3], [i, j]: [u32; 2], t: &[u32; 3]) -> Option<Contact> {
    let [u, v] = [i, j].map(|k| x[k as usize]);
    let at = |t: [u32; 3]| t.map(|k| x[k as usize]);
    match (t.contains(&i), t.contains(&j)) {
        (true, true) => None,
        (false, false) => free_segment_triangle(u, v, at(*t)),
        (shared_i, _) => {
            let (shared, free) = if shared_i { (i, v) } else { (j, u) };
            let k = t.iter().position(|&c| c == shared).unwrap_or(0);
            let [p, b, c] = at([t[k], t[(k + 1) % 3], t[(k + 2) % 3]]);
            if orient3d(p, b, c, free) != 0 || free == p {
                return None;
            }
            in_cone(p, b, c, free, projection_axis(p, b, c)?).then_some(Contact::Touching)
        }
    }
}

fn free_segment_triangle(u: Vec3, v: Vec3, t: [Vec3; 3]) -> Option<Contact> {
    let [a, b, c] = t;
    let (s_u, s_v) = (orient3d(a, b, c, u), orient3d(a, b, c, v));
    if s_u * s_v > 0 {
        return None;
    }
    if s_u * s_v < 0 {
        let s = [orient3d(u, v, a, b) * -s_u, orient3d(u, v, b, c) * -s_u, orient3d(u, v, c, a) * -s_u];
        return match s.iter().min() {
            Some(1) => Some(Contact::Crossing),
            Some(0) => Some(Contact::Touching),
            _ => None,
        };
    }
    // At least one end in the plane.
    let k = projection_axis(a, b, c)?;
    let turn = orient2d(a, b, c, k);
    let inside = |p: Vec3| (0..3).all(|i| turn * orient2d(t[i], t[(i + 1) % 3], p, k) >= 0);
    let end = (s_u == 0 && inside(u)) || (s_v == 0 && inside(v));
    let edge = s_u == 0 && s_v == 0 && (0..3).any(|i| meet_2d(u, v, t[i], t[(i + 1) % 3], k));
    (end || edge).then_some(Contact::Touching)
}

/// Whether two segments share a point beyond common end points.
fn segments_meet(x: &[Vec3], s: [u32; 2], r: [u32; 2]) -> bool {
    let at = |i: u32| x[i as usize];
    let (shared, free): (Vec<u32>, Vec<u32>) = s.iter().partition(|i| r.contains(i));
    match (shared.as_slice(), free.as_slice()) {
        ([p], [u]) => {
            let v = if r[0] == *p { r[1] } else { r[0] };
            let (p, u, v) = (at(*p), at(*u), at(v));
            (0..3).all(|k| orient2d(p, u, v, k) == 0) && same_ray(p, u, v)
        }
        ([], _) => {
            let [a, b, c, d] = [s[0], s[1], r[0], r[1]].map(at);
            // In a plane they meet if they do so seen along every axis.
            orient3d(a, b, c, d) == 0 && (0..3).all(|k| meet_2d(a, b, c, d, k))
        }
        _ => false,
    }
}

/// Whether the closed segments `a b` and `c d` share a point seen along axis `k`.
fn meet_2d(a: Vec3, b: Vec3, c: Vec3, d: Vec3, k: usize) -> bool {
    let o = [orient2d(a, b, c, k), orient2d(a, b, d, k), orient2d(c, d, a, k), orient2d(c, d, b, k)];
    if o[0] * o[1] > 0 || o[2] * o[3] > 0 {
        return false;
    }
    // Collinear or touching: their boxes must overlap too.
    [(k + 1) % 3, (k + 2) % 3]
        .iter()
        .all(|&i| a[i].min(b[i]) <= c[i].max(d[i]) && c[i].min(d[i]) <= a[i].max(b[i]))
}
