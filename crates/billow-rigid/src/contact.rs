//! Where two bodies meet: the points, and how impulses there change velocities ([Gue06] 2.6, 2.7).

use billow_num::{Mat3, Pose, Vec3};

/// A place where two bodies touch or are about to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch {
    /// Point on the first body in the world [m].
    pub(crate) on_a: Vec3,
    /// Point on the second body in the world [m].
    pub(crate) on_b: Vec3,
    /// Unit vector from the second body to the first.
    pub(crate) normal: Vec3,
    /// Distance along the normal, negative when the bodies overlap [m].
    pub(crate) gap: f64,
    /// Distance along the normal at the end of the step if velocities stay [m].
    pub(crate) end: f64,
}

/// A contact carried by anchors in both bodies, valid while they move a little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contact {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Anchors in the two body frames [m].
    pub(crate) anchors: [Vec3; 2],
    /// Arms of impulses about the two centres of mass, in world axes [m].
    pub(crate) arms: [Vec3; 2],
    /// Unit normal from the second body to the first, in the world.
    pub(crate) normal: Vec3,
    /// Distance kept between the anchors [m].
    pub(crate) skin: f64,
}

impl Contact {
    /// Relative velocity of the two bodies at the contact [m/s].
    pub(crate) fn relative(&self, a: &Motion, b: &Motion) -> Vec3 {
        a.at(self.arms[0]) - b.at(self.arms[1])
    }

    /// Distance of the anchors along the normal at two poses, less the distance kept [m].
    pub(crate) fn gap(&self, a: &Pose, b: &Pose) -> f64 {
        self.normal.dot(a.point(self.anchors[0]) - b.point(self.anchors[1])) - self.skin
    }
}

/// Velocity of a body during the solve, and how it answers impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    /// Velocity of the centre of mass [m/s].
    pub(crate) v: Vec3,
    /// Angular velocity in world axes [1/s].
    pub(crate) w: Vec3,
    /// Inverse mass, zero for bodies that do not answer [1/kg].
    pub(crate) inverse_mass: f64,
    /// Inverse inertia in world axes, zero for bodies that do not answer [1/(kg·m²)].
    pub(crate) inverse_inertia: Mat3,
}

impl Motion {
    /// Velocity of the point at `r` from the centre of mass [m/s].
    pub(crate) fn at(&self, r: Vec3) -> Vec3 {
        self.v + self.w.cross(r)
    }

    /// Applies an impulse at `r` ((2.3), (2.4)).
    pub(crate) fn push(&mut self, r: Vec3, j: Vec3) {
        self.v += j * self.inverse_mass;
        self.w += self.inverse_inertia * r.cross(j);
    }

    /// Inverse effective inertia at `r`: K of (2.5).
    pub(crate) fn compliance(&self, r: Vec3) -> Mat3 {
        let column = |e: Vec3| e * self.inverse_mass + (self.inverse_inertia * r.cross(e)).cross(r);
        Mat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z))
    }
}

/// The impulse on the first of two bodies that leaves the relative normal velocity `wanted`, sticking if friction
/// allows and sliding otherwise ([Gue06] 2.7). `u` is the relative velocity, `k` the sum of both K.
pub(crate) fn impulse(k: &Mat3, u: Vec3, normal: Vec3, wanted: f64, friction: f64) -> Vec3 {
    let sticking = k.inverse() * (normal * wanted - u);
    let jn = sticking.dot(normal);
    if sticking.is_finite() && jn >= 0.0 && (sticking - jn * normal).length() <= friction * jn {
        return sticking;
    }
    let un = u.dot(normal);
    let t = (u - un * normal).normalize_or_zero();
    let along = normal - friction * t;
    let (kn, sliding) = (normal.dot(*k * normal), normal.dot(*k * along));
    // Against a steep wall of inertia the sliding impulse would pull: fall back to no friction.
    let (along, stiffness) = if sliding > 1e-3 * kn { (along, sliding) } else { (normal, kn) };
    if stiffness > 0.0 { along * ((wanted - un) / stiffness).max(0.0) } else { Vec3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Motion {
        let inertia = Mat3::from_diagonal(Vec3::new(0.5, 0.2, 0.9));
        Motion { v: Vec3::new(1.0, 0.0, -2.0), w: Vec3::Y, inverse_mass: 0.7, inverse_inertia: inertia }
    }

    #[test]
    fn compliance_is_the_change_of_velocity_per_impulse() {
        let (r, j) = (Vec3::new(0.2, -0.4, 0.7), Vec3::new(1.0, 2.0, -0.5));
        let mut after = body();
        after.push(r, j);
        assert!((after.at(r) - body().at(r)).distance(body().compliance(r) * j) < 1e-14);
    }

    #[test]
    fn impulses_stick_inside_the_cone_and_slide_on_it() {
        let r = Vec3::new(0.1, 0.2, -0.5);
        let (k, u) = (body().compliance(r), Vec3::new(0.5, 0.1, -1.0));
        let stuck = impulse(&k, u, Vec3::Z, 0.0, 10.0);
        assert!((u + k * stuck).length() < 1e-14);
        let slid = impulse(&k, u, Vec3::Z, 0.0, 0.1);
        assert!((u + k * slid).z.abs() < 1e-14);
        assert!((slid.truncate().length() - 0.1 * slid.z).abs() < 1e-14);
        assert!(slid.truncate().dot(u.truncate()) < 0.0);
    }
}
