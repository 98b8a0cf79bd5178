//! Distances next to the surface, measured once and held while the rest is reinitialised.
//!
//! Upwind differences across the surface would move it a little with every reinitialisation, which limits any flow that
//! reinitialises as it goes to first order. So samples with a neighbour of the other sign are set beforehand to
//! their distance, from slopes of fourth order (less next to the end of the band) and the change of the slope on the way to the surface:
//! with g = ∇φ and s = φ/|g|, the distance is s(1 + φ_nn s/(2|g|)) up to O(h³) times how far φ is from a distance.
//! Where the differences see a corner or anything else they cannot resolve, a sample is left to the upwind scheme.

/// The largest jump between neighbouring slopes that counts as smooth, as a part of |∇φ|: a radius of four samples.
const SMOOTH: f64 = 0.25;
/// The largest difference between second- and fourth-order slopes that counts as smooth, as a part of |∇φ|.
const AGREE: f64 = 0.1;

/// The distance of a sample next to the surface, where it can be measured; `at` gives values at offsets of at most one
/// sample along two axes, `along` at offsets of two along one. Magnitudes from `limit` on are not to be
/// trusted.
#[inline]
pub(super) fn measured(
    h: f64,
    limit: f64,
    at: impl Fn([i32; 3]) -> f64,
    along: impl Fn(usize, i32) -> f64,
) -> Option<f64> {
    let next = |axis: usize, by: i32| {
        let mut offset = [0; 3];
        offset[axis] = by;
        at(offset)
    };
    let own = at([0; 3]);
    let (mut g, mut jump, mut gap) = ([0.0; 3], [0.0; 3], 0.0f64);
    let mut crossed = false;
    for axis in 0..3 {
        let (low, high) = (next(axis, -1), next(axis, 1));
        crossed |= (low < 0.0) != (own < 0.0) || (high < 0.0) != (own < 0.0);
        let second = (high - low) / (2.0 * h);
        let (lower, higher) = (along(axis, -2), along(axis, 2));
        g[axis] = match (lower.abs() < limit, higher.abs() < limit) {
            (true, true) => (4.0 * second - (higher - lower) / (4.0 * h)) / 3.0,
            (true, false) => (2.0 * high + 3.0 * own - 6.0 * low + lower) / (6.0 * h),
            (false, true) => -(2.0 * low + 3.0 * own - 6.0 * high + higher) / (6.0 * h),
            (false, false) => second,
        };
        jump[axis] = (high - 2.0 * own + low) / h;
        gap = gap.max((g[axis] - second).abs());
    }
    let g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    let length = g2.sqrt();
    let rough = jump.iter().any(|j| j.abs() > SMOOTH * length) || gap > AGREE * length;
    if !crossed || rough || length == 0.0 {
        return None;
    }
    let mixed = |a: usize, b: usize| {
        let corner = |i: i32, j: i32| {
            let mut offset = [0; 3];
            (offset[a], offset[b]) = (i, j);
            at(offset)
        };
        0.25 * (corner(1, 1) + corner(-1, -1) - corner(1, -1) - corner(-1, 1)) / h
    };
    // h φ_nn: the second derivative along the normal.
    let bend = (0..3).map(|a| g[a] * g[a] * jump[a]).sum::<f64>()
        + 2.0 * (g[0] * g[1] * mixed(0, 1) + g[0] * g[2] * mixed(0, 2) + g[1] * g[2] * mixed(1, 2));
    let s = own / length;
    let change = 0.5 * bend / g2 * s / (h * length);
    let distance = s * (1.0 + change);
    (change.abs() < SMOOTH && distance.abs() <= 1.1 * h).then_some(distance)
}

#[cfg(test)]
mod tests {
    /// All values from one function of the offset.
    fn measured(h: f64, limit: f64, at: impl Fn([i32; 3]) -> f64) -> Option<f64> {
        let along = |axis: usize, by: i32| at(std::array::from_fn(|a| if a == axis { by } else { 0 }));
        super::measured(h, limit, &at, along)
    }

    #[test]
    fn a_distorted_spheres_distance_is_found_to_third_order() {
        let distance = |x: [f64; 3]| (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt() - 0.5;
        let phi = |x: [f64; 3]| distance(x) * (1.3 + 0.5 * x[0] + 0.4 * x[1] * x[2]);
        let errors = [0.04, 0.02].map(|h: f64| {
            let mut worst = 0.0f64;
            for k in 0..60 {
                let angle = f64::from(k) * 0.71;
                let n = [angle.cos() * 0.8, angle.sin() * 0.8, 0.6];
                let r = 0.5 + 0.4 * h * (1.7 * f64::from(k)).sin();
                let x = n.map(|c| c * r);
                let at = |o: [i32; 3]| phi(std::array::from_fn(|a| x[a] + h * f64::from(o[a])));
                if let Some(d) = measured(h, f64::INFINITY, at) {
                    worst = worst.max((d - distance(x)).abs());
                }
            }
            worst
        });
        assert!(errors[1] > 0.0 && (errors[0] / errors[1]).log2() > 2.7, "{errors:?}");
    }

    #[test]
    fn corners_and_samples_away_from_the_surface_are_left_alone() {
        let h = 0.1;
        let edge = |o: [i32; 3]| {
            let x = o.map(|c| h * f64::from(c) + 0.03);
            x[0].max(x[1])
        };
        assert_eq!(measured(h, 1.0, edge), None);
        assert_eq!(measured(h, 1.0, |o| 0.15 + h * f64::from(o[0])), None);
        assert!(measured(h, 1.0, |o| 0.05 + h * f64::from(o[0])).is_some_and(|d| (d - 0.05).abs() < 1e-12));
    }
}
