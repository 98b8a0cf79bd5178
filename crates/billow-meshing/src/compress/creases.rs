//! Sharp edges and corners of the level set, kept if asked (beyond [Bri03], which rounds them).
//!
//! Normals are sampled around a point on the surface. Where they fall into two groups or more the tangent planes of the groups
//! meet in a crease or a corner, to which Newton's method leads. An edge of the boundary whose ends lie on different sides
//! of a crease is a shortcut across it: the nearer end is anchored, from then on it stays on the crease and the mesh has an edge
//! there. Topology is never changed.

use billow_levelset::Collider;
use billow_num::{Mat3, Vec3};

/// Normals closer than this belong to one smooth piece: cos 35°.
pub(super) const SAME_PIECE: f64 = 0.819;
/// A crease lies on the surface, to this part of the size of a star: tangent planes of a round surface meet off it [-].
const ON_SURFACE: f64 = 0.03;
/// How far around a node normals are sampled, as a part of the size of its star.
const REACH: f64 = 0.7;

/// A point of a crease, and its direction; a corner has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct CreasePoint {
    pub(super) at: Vec3,
    pub(super) direction: Option<Vec3>,
}

/// Corners of an icosahedron: directions spread evenly.
fn directions() -> [Vec3; 12] {
    const G: f64 = 1.618_033_988_749_895;
    let unit = |x: f64, y: f64, z: f64| Vec3::new(x, y, z) / (1.0 + G * G).sqrt();
    let mut all = [Vec3::ZERO; 12];
    for (k, (s, t)) in [(1.0, G), (-1.0, G), (1.0, -G), (-1.0, -G)].into_iter().enumerate() {
        all[3 * k] = unit(0.0, s, t);
        all[3 * k + 1] = unit(s, t, 0.0);
        all[3 * k + 2] = unit(t, 0.0, s);
    }
    all
}

/// The crease or corner near `p`, where the star of a node has the given size; none if the surface is smooth there.
pub(super) fn crease_near(solid: &dyn Collider, p: Vec3, size: f64) -> Option<CreasePoint> {
    let mut at = p;
    let mut found = None;
    for _ in 0..3 {
        let pieces = smooth_pieces(solid, at, REACH * size);
        if pieces.len() < 2 {
            break;
        }
        let point = meeting(&pieces, at)?;
        if point.at.distance(p) > 1.2 * size {
            break;
        }
        (at, found) = (point.at, Some(point));
    }
    found.filter(|c: &CreasePoint| solid.phi(c.at, 0.0).abs() < ON_SURFACE * size)
}

/// One point and normal for each smooth piece of the surface within `reach` of `p`: the sample nearest to `p`.
fn smooth_pieces(solid: &dyn Collider, p: Vec3, reach: f64) -> Vec<(Vec3, Vec3)> {
    let mut pieces: Vec<(Vec3, Vec3)> = Vec::new();
    for direction in directions() {
        let mut s = p + reach * direction;
        for _ in 0..3 {
            let sample = solid.sample(s, 0.0);
            s -= sample.phi * sample.normal;
        }
        let normal = solid.normal(s, 0.0);
        // Next to a crease normals fan out on one side: such a sample belongs to no piece.
        let probe = |h: f64| solid.normal(s + h * normal, 0.0);
        let (outer, inner) = (probe(0.2 * reach), probe(-0.2 * reach));
        let off = solid.phi(s, 0.0).abs() > 0.05 * reach || s.distance(p) > 1.5 * reach;
        if off || outer.dot(inner) < SAME_PIECE || outer.dot(normal) < SAME_PIECE {
            continue;
        }
        match pieces.iter_mut().find(|(_, n)| n.dot(normal) > SAME_PIECE) {
            Some(piece) if s.distance_squared(p) < piece.0.distance_squared(p) => *piece = (s, normal),
            Some(_) => {}
            None => pieces.push((s, normal)),
        }
    }
    pieces
}

/// Where the tangent planes of the pieces meet, nearest to `p`.
fn meeting(pieces: &[(Vec3, Vec3)], p: Vec3) -> Option<CreasePoint> {
    // min Σ (n · (x − s))² as a step from p, along eigenvectors that the planes determine.
    let (mut a, mut b) = (Mat3::ZERO, Vec3::ZERO);
    for (s, n) in pieces {
        a += Mat3::from_cols(*n * n.x, *n * n.y, *n * n.z);
        b += *n * n.dot(*s - p);
    }
    let eigen = billow_num::mat3::eigen_symmetric(&a);
    let (mut step, mut free) = (Vec3::ZERO, None);
    for k in 0..3 {
        let (value, axis) = (eigen.values[k], eigen.vectors.col(k));
        if value > 0.1 {
            step += axis * (axis.dot(b) / value);
        } else if free.replace(axis).is_some() {
            return None;
        }
    }
    Some(CreasePoint { at: p + step, direction: free })
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_levelset::{Ball, Cuboid, Cylinder};

    #[test]
    fn creases_and_corners_of_a_box_are_found_and_flat_faces_have_none() {
        let cuboid = Cuboid::new(Vec3::new(1.0, 0.5, 0.5)).unwrap();
        let edge = crease_near(&cuboid, Vec3::new(0.1, 0.5, 0.42), 0.2).unwrap();
        assert!((edge.at - Vec3::new(0.1, 0.5, 0.5)).length() < 1e-9, "{edge:?}");
        assert!(edge.direction.unwrap().cross(Vec3::X).length() < 1e-9);
        let corner = crease_near(&cuboid, Vec3::new(0.95, 0.5, 0.45), 0.2).unwrap();
        assert!((corner.at - Vec3::new(1.0, 0.5, 0.5)).length() < 1e-9 && corner.direction.is_none());
        assert!(crease_near(&cuboid, Vec3::new(0.0, 0.5, 0.0), 0.2).is_none());
    }

    #[test]
    fn the_rim_of_a_cylinder_is_a_crease_and_a_ball_has_none() {
        let cylinder = Cylinder::new(-Vec3::Z, Vec3::Z, 0.5).unwrap();
        let rim = crease_near(&cylinder, Vec3::new(0.5, 0.0, 0.95), 0.15).unwrap();
        assert!((rim.at - Vec3::new(0.5, 0.0, 1.0)).length() < 5e-3, "{rim:?}");
        let ball = Ball::new(Vec3::ZERO, 0.5).unwrap();
        for direction in directions() {
            assert!(crease_near(&ball, 0.5 * direction, 0.2).is_none());
        }
    }
}
