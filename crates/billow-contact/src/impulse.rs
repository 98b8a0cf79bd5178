//! Impulses between two points of the surface, spread over the four nodes involved ([Bri03] 2.5–2.7).
//!
//! A contact is a vector of signed weights `w` and a unit normal `n`: the relative position and velocity of the two
//! material points are `Σ wᵢ xᵢ` and `Σ wᵢ vᵢ`. An impulse `J n` changes the velocity of node `i` by `wᵢ J n / mᵢ` and
//! the relative velocity by `W J n` with `W = Σ wᵢ²/mᵢ`. For equal masses these are the document's formulas;
//! scripted nodes have `1/m = 0` and stay as they are. Momentum is conserved to rounding.

use billow_num::Vec3;

/// Two points of the surface near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The nodes of the two elements: point and triangle, or two edges.
    pub nodes: [u32; 4],
    /// Signed weights of the nodes [-].
    pub weights: [f64; 4],
    /// Unit vector from the second element to the first [-].
    pub normal: Vec3,
}

impl Contact {
    /// `Σ wᵢ fᵢ`: the relative value of a nodal field at the contact.
    pub fn relative(&self, field: &[Vec3]) -> Vec3 {
        let [a, b, c, d] = self.nodes.map(|i| field[i as usize]);
        let w = &self.weights;
        w[0] * a + w[1] * b + w[2] * c + w[3] * d
    }

    /// `W = Σ wᵢ²/mᵢ`: relative velocity per impulse [1/kg]; zero if nothing can move.
    pub fn compliance(&self, inverse_masses: &[f64]) -> f64 {
        (0..4).map(|k| self.weights[k] * self.weights[k] * inverse_masses[self.nodes[k] as usize]).sum()
    }

    /// Applies the impulse `j` [N·s] to the first point and `−j` to the second.
    pub fn apply(&self, j: Vec3, inverse_masses: &[f64], v: &mut [Vec3]) {
        for k in 0..4 {
            let i = self.nodes[k] as usize;
            v[i] += j * (self.weights[k] * inverse_masses[i]);
        }
    }
}

/// New relative tangential velocity after friction for a change `dv_normal ≥ 0` of the relative normal velocity:
/// exactly zero when it sticks ([Bri03] 2.7).
pub fn slide(tangential: Vec3, dv_normal: f64, friction: f64) -> Vec3 {
    let speed = tangential.length();
    if speed <= friction * dv_normal { Vec3::ZERO } else { tangential * (1.0 - friction * dv_normal / speed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTACT: Contact =
        Contact { nodes: [0, 1, 2, 3], weights: [1.0, -0.2, -0.3, -0.5], normal: Vec3::new(0.0, 0.0, 1.0) };

    #[test]
    fn an_impulse_changes_the_relative_velocity_by_the_compliance_and_keeps_momentum() {
        let masses = [0.5, 2.0, 3.0, 0.25];
        let inverse = masses.map(|m: f64| 1.0 / m);
        let before = [Vec3::X, Vec3::new(0.3, -2.0, 1.0), Vec3::Y, Vec3::Z];
        let mut v = before;
        let j = Vec3::new(0.1, -0.4, 0.7);
        CONTACT.apply(j, &inverse, &mut v);
        let change = CONTACT.relative(&v) - CONTACT.relative(&before);
        assert!(change.distance(j * CONTACT.compliance(&inverse)) < 1e-15);
        let momentum = |v: &[Vec3; 4]| v.iter().zip(masses).map(|(v, m)| *v * m).sum::<Vec3>();
        assert!(momentum(&v).distance(momentum(&before)) < 1e-15);
    }

    #[test]
    fn equal_masses_give_the_documents_formula() {
        // Ĩ = 2 I / (1 + w₁² + w₂² + w₃²); the inelastic impulse I = m v_N / 2 stops the approach exactly.
        let m: f64 = 0.7;
        let mut v = [Vec3::new(0.0, 0.0, -1.3), Vec3::ZERO, Vec3::ZERO, Vec3::ZERO];
        let w2 = 0.2f64 * 0.2 + 0.3 * 0.3 + 0.5 * 0.5;
        let tilde = 2.0 * (m * 1.3 / 2.0) / (1.0 + w2);
        let expected = [-1.3 + tilde / m, -0.2 * tilde / m, -0.3 * tilde / m, -0.5 * tilde / m];
        let inverse = [1.0 / m; 4];
        CONTACT.apply(CONTACT.normal * (1.3 / CONTACT.compliance(&inverse)), &inverse, &mut v);
        for (v, z) in v.iter().zip(expected) {
            assert!((v.z - z).abs() < 1e-15);
        }
        assert!(CONTACT.relative(&v).length() < 1e-15);
    }

    #[test]
    fn friction_sticks_exactly_within_the_cone_and_slows_outside() {
        let t = Vec3::new(3.0, -4.0, 0.0);
        assert_eq!(slide(t, 10.0, 0.5), Vec3::ZERO);
        assert!(slide(t, 4.0, 0.5).distance(t * (3.0 / 5.0)) < 1e-15);
        assert_eq!(slide(Vec3::ZERO, 0.0, 0.5), Vec3::ZERO);
    }
}
