//! Weights of the smoothing rules: Loop's triangle scheme with bounded curvature and the convex-hull property.
//!
//! Loop, *Triangle Mesh Subdivision with Bounded Curvature and the Convex Hull Property*, MSR-TR-2001-24, 2001. Around a
//! vertex with `n` neighbours the new edge points are cyclic averages of all neighbours, chosen so that the
//! eigenvalues of subdivision are 1, λ (twice) and λ² (three times) with λ = 3/8 + cos(2π/n)/4. Then curvature stays
//! bounded, which Loop's original weights do not grant for n > 6; no weight is negative; and n = 6 gives the original ones.

use std::f64::consts::TAU;

/// Weights around an interior vertex with so many neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Fan {
    /// Weight of the vertex in its own new position; the rest is shared by its neighbours.
    pub vertex: f64,
    /// Weight of the vertex in the new point of an edge at it.
    pub centre: f64,
    /// Weights of the neighbours in the new point of an edge, counted round from the edge's other end.
    pub ring: Vec<f64>,
}

impl Fan {
    /// The weights for `n` ≥ 3 neighbours.
    pub fn new(n: usize) -> Self {
        let lambda = subdominant(n);
        let c = |j: usize| (TAU * j as f64 / n as f64).cos();
        let ring: Vec<f64> = if n >= 6 {
            // A cubic in the cosine: frequencies 0 to 3 only, and a square times 1 + cos is never negative.
            let scale = 2.0 * lambda.powi(3) / (n as f64 * (1.0 - lambda));
            let a = 1.0 / lambda - 1.5;
            (0..n).map(|j| scale * (1.0 + c(j)) * (a + c(j)).powi(2)).collect()
        } else {
            // Few frequencies fit: each is given its eigenvalue, and the sum stays that of the regular mesh.
            (0..n).map(|j| few(n, lambda, &c, j)).collect()
        };
        let sum: f64 = ring.iter().sum();
        Self { vertex: 1.0 + lambda * lambda - sum, centre: 1.0 - sum, ring }
    }

    /// Weight of the vertex in the limit of its positions; the rest is shared by its neighbours.
    pub fn limit(&self) -> f64 {
        // The left eigenvector of eigenvalue 1 of [[v, 1 − v], [c, 1 − c]].
        self.centre / (self.centre + 1.0 - self.vertex)
    }
}

/// λ, the factor by which a fan shrinks.
pub fn subdominant(n: usize) -> f64 {
    0.375 + 0.25 * (TAU / n as f64).cos()
}

/// Ring weight `j` of a fan of three, four or five.
fn few(n: usize, lambda: f64, c: &impl Fn(usize) -> f64, j: usize) -> f64 {
    const SUM: f64 = 0.625;
    let second = lambda * lambda * c(2 * j);
    let waves = match n {
        3 => 2.0 * lambda * c(j),
        4 => 2.0 * lambda * c(j) + second,
        _ => 2.0 * lambda * c(j) + 2.0 * second,
    };
    (SUM + waves) / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_fan_has_loops_weights() {
        let fan = Fan::new(6);
        let expected = [3.0, 1.0, 0.0, 0.0, 0.0, 1.0].map(|w| w / 8.0);
        assert!(fan.ring.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{fan:?}");
        assert!((fan.centre - 0.375).abs() < 1e-15 && (fan.vertex - 0.625).abs() < 1e-15);
        assert!((fan.limit() - 0.5).abs() < 1e-15);
        // With three neighbours the original weights are these too.
        let three = Fan::new(3);
        assert!((three.vertex - 7.0 / 16.0).abs() < 1e-15 && (three.ring[0] - 0.375).abs() < 1e-15);
    }

    #[test]
    fn no_weight_is_negative_and_each_rule_is_an_average() {
        for n in 3..200 {
            let fan = Fan::new(n);
            assert!((0.0..1.0).contains(&fan.vertex) && fan.centre > 0.0, "{n}: {fan:?}");
            assert!(fan.ring.iter().all(|w| *w >= -1e-16), "{n}: {fan:?}");
            assert!((fan.ring.iter().sum::<f64>() + fan.centre - 1.0).abs() < 1e-14);
        }
    }

    /// The eigenvalues that decide about curvature, from the weights themselves.
    #[test]
    fn curvature_is_bounded_because_the_third_eigenvalue_is_the_square_of_the_second() {
        for n in 3..60 {
            let (fan, lambda) = (Fan::new(n), subdominant(n));
            let frequency = |k: usize| -> f64 {
                let wave = |(j, w): (usize, &f64)| w * (TAU * (j * k) as f64 / n as f64).cos();
                fan.ring.iter().enumerate().map(wave).sum()
            };
            assert!((frequency(1) - lambda).abs() < 1e-13, "{n}");
            if n > 3 {
                assert!((frequency(2) - lambda * lambda).abs() < 1e-13, "{n}: {}", frequency(2));
            }
            // The rotation-free part: eigenvalues 1 and v + (1 − c) − 1.
            assert!((fan.vertex - fan.centre - lambda * lambda).abs() < 1e-13, "{n}");
            for k in 3..=n / 2 {
                assert!(frequency(k).abs() < lambda * lambda + 1e-13, "{n}, {k}: {}", frequency(k));
            }
        }
    }
}
