//! Fifth-order weighted essentially non-oscillatory differences for Hamilton-Jacobi equations.
//!
//! From five consecutive differences v₁ … v₅ (each φ₍k+1₎ − φₖ over the spacing), three third-order candidates are mixed
//! with weights that fall with their roughness. Multiplying the weights through by the squared roughnesses leaves
//! one division.

macro_rules! weno5 {
    ($name:ident, $t:ty, $floor:expr) => {
        /// One-sided derivative from five consecutive differences, upwind first.
        #[inline(always)]
        pub(crate) fn $name(v: [$t; 5]) -> $t {
            let [a, b, c, d, e] = v;
            let sixth: $t = 1.0 / 6.0;
            let q1 = (2.0 * a - 7.0 * b + 11.0 * c) * sixth;
            let q2 = (-b + 5.0 * c + 2.0 * d) * sixth;
            let q3 = (2.0 * c + 5.0 * d - e) * sixth;
            let k: $t = 13.0 / 12.0;
            let sq = |x: $t| x * x;
            let s1 = k * sq(a - 2.0 * b + c) + 0.25 * sq(a - 4.0 * b + 3.0 * c) + $floor;
            let s2 = k * sq(b - 2.0 * c + d) + 0.25 * sq(b - d) + $floor;
            let s3 = k * sq(c - 2.0 * d + e) + 0.25 * sq(3.0 * c - 4.0 * d + e) + $floor;
            let (r1, r2, r3) = (s1 * s1, s2 * s2, s3 * s3);
            let w1 = 0.1 * (r2 * r3);
            let w2 = 0.6 * (r1 * r3);
            let w3 = 0.3 * (r1 * r2);
            (w1 * q1 + w2 * q2 + w3 * q3) / (w1 + w2 + w3)
        }
    };
}

// Differences of a distance are about one, so an absolute floor serves as the relative one of the literature.
weno5!(weno5, f64, 1e-6);
weno5!(weno5_f32, f32, 1e-6);

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivative of `f` at 0 from the left at spacing h.
    fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
        weno5(std::array::from_fn(|i| {
            let x = (i as f64 - 3.0) * h;
            (f(x + h) - f(x)) / h
        }))
    }

    #[test]
    fn smooth_functions_are_differentiated_to_fifth_order() {
        let f = |x: f64| (1.3 * x + 0.4).sin();
        let error = |h: f64| (derivative(f, h) - 1.3 * 0.4f64.cos()).abs();
        let order = (error(0.05) / error(0.025)).log2();
        assert!(order > 4.7, "{order}");
    }

    #[test]
    fn a_kink_is_seen_from_its_own_side() {
        // |x| shifted: left of the kink the slope is −1, whatever lies beyond.
        let slope = derivative(|x| (x - 0.05).abs(), 0.1);
        assert!((slope + 1.0).abs() < 1e-3, "{slope}");
    }

    #[test]
    fn both_precisions_agree() {
        let v = [1.0, 1.02, 0.97, 0.8, 1.1];
        assert!((weno5(v) - f64::from(weno5_f32(v.map(|x| x as f32)))).abs() < 1e-5);
    }
}
