//! Free flight: ballistic fall and torque-free tumbling.
//!
//! Angular momentum in the world is a constant of the motion and is kept as one: it is part of the state and never
//! written. The orientation follows from it through H = Σ Πⱼ²/2Iⱼ, split into three rotations that are exact each,
//! in a symmetric composition of order 8 (17 stages). The map is symplectic, so the energy does not drift: its error
//! stays bounded at the size one step makes, about 1e-13 at the step length chosen here. Fall is exact.

use billow_num::{Mat3, Pose, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Mass and inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassModel {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass in body coordinates [m].
    pub centre: Vec3,
    /// Principal moments of inertia [kg m²].
    pub moments: Vec3,
    /// Turns principal coordinates into body coordinates.
    pub axes: Quat,
}

/// Free flight as the scene gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Pose at t = 0.
    pub pose: Pose,
    /// Velocity of the centre of mass at t = 0 [m/s].
    pub velocity: Vec3,
    /// Angular velocity at t = 0, in world coordinates [rad/s].
    pub angular_velocity: Vec3,
    /// Mass and inertia.
    pub mass: MassModel,
}

/// Where a flying body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlightState {
    /// Centre of mass in the world [m].
    pub centre: Vec3,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Turns principal coordinates into world coordinates.
    pub rotation: Quat,
    /// Angular momentum about the centre of mass, in world coordinates [kg m²/s]; constant.
    pub angular_momentum: Vec3,
}

/// Largest turn per composition step [rad]; at this length its energy error is at rounding level.
const LARGEST_TURN: f64 = 0.125;
/// Most composition steps one sub-step may take; more means the body spins too fast for the time step.
const MOST_STEPS: f64 = 1e6;

/// First half of the symmetric coefficients of the order-8 composition (Kahan and Li 1997); the middle one last.
const COMPOSITION: [f64; 9] = [
    0.130_202_483_088_890_08,
    0.561_162_981_775_108_4,
    -0.389_474_962_644_847_3,
    0.158_841_906_555_155_6,
    -0.395_903_894_133_237_57,
    0.184_539_640_978_315_7,
    0.258_374_387_686_322_05,
    0.295_011_723_609_310_3,
    -0.605_508_533_830_034_5,
];

impl MassModel {
    /// From the inertia matrix about the centre of mass in body coordinates, given its eigenvalues and eigenvectors
    /// (columns).
    pub fn new(mass: f64, centre: Vec3, moments: Vec3, axes: Mat3) -> Self {
        // Eigenvectors may come as a mirror image; any sign of an axis describes the same inertia.
        let axes = if axes.determinant() < 0.0 {
            Mat3::from_cols(axes.x_axis, axes.y_axis, -axes.z_axis)
        } else {
            axes
        };
        Self { mass, centre, moments, axes: Quat::from_mat3(&axes).normalize() }
    }
}

impl Flight {
    /// The state at t = 0.
    pub fn start(&self) -> FlightState {
        let rotation = (self.pose.rotation * self.mass.axes).normalize();
        let omega = rotation.conjugate() * self.angular_velocity;
        FlightState {
            centre: self.pose.point(self.mass.centre),
            velocity: self.velocity,
            rotation,
            angular_momentum: rotation * (self.mass.moments * omega),
        }
    }
}

impl FlightState {
    /// Pose of the body's own coordinates.
    pub fn pose(&self, mass: &MassModel) -> Pose {
        let rotation = (self.rotation * mass.axes.conjugate()).normalize();
        Pose { position: self.centre - rotation * mass.centre, rotation }
    }

    /// Angular velocity in the world [rad/s].
    pub fn angular_velocity(&self, mass: &MassModel) -> Vec3 {
        self.rotation * (self.body_momentum() / mass.moments)
    }

    /// Energy of the motion [J]: of the centre of mass, of the rotation.
    pub fn kinetic_energy(&self, mass: &MassModel) -> (f64, f64) {
        let m = self.body_momentum();
        (0.5 * mass.mass * self.velocity.length_squared(), 0.5 * m.dot(m / mass.moments))
    }

    /// Angular momentum in principal coordinates [kg m²/s].
    fn body_momentum(&self) -> Vec3 {
        self.rotation.conjugate() * self.angular_momentum
    }

    /// Advances by `dt` [s] under `gravity` [m/s²]; refuses, with the number of steps needed, if the body spins too
    /// fast to be followed.
    pub fn step(&mut self, mass: &MassModel, gravity: Vec3, dt: f64) -> Result<(), f64> {
        let fastest = self.angular_momentum.length() / mass.moments.min_element();
        let steps = (fastest * dt / LARGEST_TURN).ceil().max(1.0);
        if steps > MOST_STEPS {
            return Err(steps);
        }
        self.centre += self.velocity * dt + gravity * (0.5 * dt * dt);
        self.velocity += gravity * dt;
        if self.angular_momentum == Vec3::ZERO {
            return Ok(());
        }
        let steps = steps as u32;
        for _ in 0..steps {
            self.rotation = turn(self.rotation, self.angular_momentum, mass.moments, dt / f64::from(steps));
        }
        Ok(())
    }
}

/// One step of the order-8 composition for the orientation.
fn turn(rotation: Quat, momentum: Vec3, moments: Vec3, h: f64) -> Quat {
    let mut spin = Spin { q: rotation, m: rotation.conjugate() * momentum, moments };
    let (last, rest) = (COMPOSITION[8], &COMPOSITION[..8]);
    for gamma in rest.iter().chain([&last]).chain(rest.iter().rev()) {
        spin.symmetric(gamma * h);
    }
    spin.q.normalize()
}

/// Orientation and body-frame momentum during one composition step.
struct Spin {
    q: Quat,
    m: Vec3,
    moments: Vec3,
}

impl Spin {
    /// The symmetric splitting of order 2.
    fn symmetric(&mut self, h: f64) {
        self.about::<0>(0.5 * h);
        self.about::<1>(0.5 * h);
        self.about::<2>(h);
        self.about::<1>(0.5 * h);
        self.about::<0>(0.5 * h);
    }

    /// The exact flow of Π_A²/2I_A for time `h`: a turn about principal axis A that leaves q Π unchanged.
    fn about<const A: usize>(&mut self, h: f64) {
        let (sin, cos) = (0.5 * h * self.m[A] / self.moments[A]).sin_cos();
        let mut axis = Vec3::ZERO;
        axis[A] = sin;
        self.q *= Quat::from_xyzw(axis.x, axis.y, axis.z, cos);
        let (j, k) = ((A + 1) % 3, (A + 2) % 3);
        let (s, c) = (2.0 * sin * cos, 1.0 - 2.0 * sin * sin);
        (self.m[j], self.m[k]) = (c * self.m[j] + s * self.m[k], c * self.m[k] - s * self.m[j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(moments: Vec3) -> MassModel {
        MassModel { mass: 2.0, centre: Vec3::new(0.1, -0.2, 0.05), moments, axes: Quat::from_rotation_x(0.4) }
    }

    fn flight(moments: Vec3, omega: Vec3) -> Flight {
        let pose = Pose { position: Vec3::new(1.0, 2.0, 3.0), rotation: Quat::from_rotation_y(1.1) };
        Flight { pose, velocity: Vec3::new(3.0, 0.0, 4.0), angular_velocity: omega, mass: body(moments) }
    }

    /// Jacobi's sn, cn, dn by descending Landen transformations (arithmetic-geometric mean).
    fn jacobi(u: f64, m: f64) -> [f64; 3] {
        let (mut a, mut c, mut b) = (vec![1.0], vec![m.sqrt()], (1.0 - m).sqrt());
        while c[c.len() - 1].abs() > 1e-17 && a.len() < 30 {
            let last = a[a.len() - 1];
            a.push(0.5 * (last + b));
            c.push(0.5 * (last - b));
            b = (last * b).sqrt();
        }
        let n = a.len() - 1;
        let mut phi = 2_f64.powi(n as i32) * a[n] * u;
        let mut before = phi;
        for k in (1..=n).rev() {
            before = phi;
            phi = 0.5 * (phi + (c[k] / a[k] * phi.sin()).asin());
        }
        let dn = if n == 0 { 1.0 } else { phi.cos() / (before - phi).cos() };
        [phi.sin(), phi.cos(), dn]
    }

    #[test]
    fn tumbling_about_the_middle_axis_follows_jacobis_closed_form() {
        // Landau & Lifshitz, Mechanics §37, for L² > 2 E I₂.
        let moments = Vec3::new(1.0, 2.0, 3.0);
        let [i1, i2, i3] = moments.to_array();
        let omega_0 = Vec3::new(0.01, 0.0, 2.0);
        let mut state = Flight {
            mass: MassModel { axes: Quat::IDENTITY, ..body(moments) },
            ..flight(moments, Vec3::ZERO)
        };
        state.pose.rotation = Quat::IDENTITY;
        state.angular_velocity = omega_0;
        let mass = state.mass;
        let mut s = state.start();
        let (e2, l2) = (2.0 * s.kinetic_energy(&mass).1, s.angular_momentum.length_squared());
        let a1 = ((e2 * i3 - l2) / (i1 * (i3 - i1))).max(0.0).sqrt();
        let a2 = ((e2 * i3 - l2) / (i2 * (i3 - i2))).max(0.0).sqrt();
        let a3 = ((l2 - e2 * i1) / (i3 * (i3 - i1))).sqrt();
        let rate = ((i3 - i2) * (l2 - e2 * i1) / (i1 * i2 * i3)).sqrt();
        let m = (i2 - i1) * (e2 * i3 - l2) / ((i3 - i2) * (l2 - e2 * i1));
        let mut worst: f64 = 0.0;
        for k in 1..=500 {
            s.step(&mass, Vec3::ZERO, 0.05).expect("slow");
            let omega = s.body_momentum() / moments;
            let [sn, cn, dn] = jacobi(rate * 0.05 * f64::from(k), m);
            worst = worst.max((omega - Vec3::new(a1 * cn, a2 * sn, a3 * dn)).length());
        }
        assert!(worst < 1e-11, "largest difference {worst:e} rad/s");
    }

    #[test]
    fn momentum_is_exact_and_energy_keeps_twelve_digits_over_a_thousand_seconds() {
        let f = flight(Vec3::new(0.02, 0.05, 0.06), Vec3::ZERO);
        let omega = f.pose.rotation * f.mass.axes * Vec3::new(1e-3, 12.0, 1e-3);
        let f = Flight { angular_velocity: omega, ..f };
        let mut s = f.start();
        let (l, e) = (s.angular_momentum, s.kinetic_energy(&f.mass).1);
        let mut worst: f64 = 0.0;
        for _ in 0..100_000 {
            s.step(&f.mass, Vec3::ZERO, 0.01).expect("slow");
            worst = worst.max((s.kinetic_energy(&f.mass).1 / e - 1.0).abs());
        }
        assert_eq!(s.angular_momentum, l);
        let from_pose = f.mass.moments * (s.rotation.conjugate() * s.angular_velocity(&f.mass));
        assert!((s.rotation * from_pose - l).length() < 1e-14 * l.length());
        println!("largest relative energy error {worst:e}");
        assert!(worst < 1e-12, "energy error {worst:e}");
    }

    #[test]
    fn the_composition_has_order_eight() {
        let moments = Vec3::new(1.0, 2.0, 3.0);
        let m = Vec3::new(0.7, 1.1, -0.4);
        let go = |n: u32| (0..n).fold(Quat::IDENTITY, |q, _| turn(q, m, moments, 4.0 / f64::from(n)));
        let fine = go(64);
        let error = |n| (go(n) - fine).length();
        let order = (error(4) / error(8)).log2();
        assert!((7.0..9.5).contains(&order), "{order}: {:e} {:e}", error(4), error(8));
    }

    #[test]
    fn a_symmetric_top_precesses_at_the_textbook_rate() {
        let moments = Vec3::new(0.3, 0.3, 0.5);
        let f = Flight {
            mass: MassModel { axes: Quat::IDENTITY, ..body(moments) },
            ..flight(moments, Vec3::ZERO)
        };
        let f = Flight { pose: Pose::IDENTITY, angular_velocity: Vec3::new(1.0, 0.0, 4.0), ..f };
        let mut s = f.start();
        // The symmetry axis goes round the angular momentum at |L|/I₁.
        let (l, t) = (s.angular_momentum, 2.7);
        for _ in 0..270 {
            s.step(&f.mass, Vec3::ZERO, 0.01).expect("slow");
        }
        let expected = Quat::from_axis_angle(l.normalize(), l.length() / 0.3 * t) * Vec3::Z;
        assert!((s.rotation * Vec3::Z).distance(expected) < 1e-12);
    }

    #[test]
    fn the_centre_of_mass_falls_on_the_parabola_and_the_origin_goes_round_it() {
        let f = flight(Vec3::new(0.02, 0.05, 0.06), Vec3::new(0.0, 3.0, 1.0));
        let g = Vec3::new(0.0, 0.0, -9.81);
        let (mut s, start) = (f.start(), f.start());
        assert!(s.pose(&f.mass).position.distance(f.pose.position) < 1e-15);
        assert!(s.angular_velocity(&f.mass).distance(f.angular_velocity) < 1e-14);
        for _ in 0..200 {
            s.step(&f.mass, g, 0.005).expect("slow");
        }
        let expected = start.centre + f.velocity + 0.5 * g;
        assert!(s.centre.distance(expected) < 1e-12);
        assert!(s.pose(&f.mass).point(f.mass.centre).distance(expected) < 1e-12);
    }

    #[test]
    fn a_spin_nobody_can_follow_is_refused() {
        let f = flight(Vec3::splat(1.0), Vec3::new(0.0, 1e12, 0.0));
        assert!(f.start().step(&f.mass, Vec3::ZERO, 0.1).expect_err("too fast") > 1e6);
    }
}
