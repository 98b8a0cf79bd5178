//! Solving |∇φ| = 1 outward from a surface: fast marching, fast sweeping and extrapolation along the normal.

mod extrapolate;
mod interface;
mod marching;
mod sweeping;

pub use extrapolate::extrapolate;
pub use interface::interface_distances;
pub use marching::{March, Order};
pub use sweeping::{Sweep, SweepReport};

pub(crate) use marching::{Front, INSIDE, KNOWN, Samples, WALL};

use crate::LevelSetError;
use crate::dense::ScalarGrid;
use serde::{Deserialize, Serialize};

/// How a field is made a distance again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Redistance {
    /// Fast marching.
    March(March),
    /// Fast sweeping.
    Sweep(Sweep),
}

/// Replaces `phi` by the distance to its zero set ([Gue06] 4.5.1): values next to the surface are measured along
/// the axes, the rest is marched or swept outward. Signs stay.
pub fn redistance(phi: &mut ScalarGrid, how: &Redistance) -> Result<(), LevelSetError> {
    let known = interface_distances(phi);
    match how {
        Redistance::March(march) => march.run(phi, &known),
        Redistance::Sweep(sweep) => sweep.run(phi, &known).map(|_| ()),
    }
}

/// The value T at a point whose smallest neighbours along the three axes have the values `a`, and whose spacing is
/// `h`: the largest root of Σ max(T − a, 0)² = h². Infinite neighbours do not take part.
#[inline]
pub(crate) fn first_order(mut a: [f64; 3], h: f64) -> f64 {
    if a[0] > a[1] {
        a.swap(0, 1);
    }
    if a[1] > a[2] {
        a.swap(1, 2);
    }
    if a[0] > a[1] {
        a.swap(0, 1);
    }
    let one = a[0] + h;
    if one <= a[1] {
        return one;
    }
    let gap = a[1] - a[0];
    let two = 0.5 * (a[0] + a[1] + (2.0 * h * h - gap * gap).max(0.0).sqrt());
    if two <= a[2] {
        return two;
    }
    // Shifted by a₀ so that large distances lose no digits.
    let (b, c) = (gap, a[2] - a[0]);
    let sum = b + c;
    let d = sum * sum - 3.0 * (b * b + c * c - h * h);
    a[0] + (sum + d.max(0.0).sqrt()) / 3.0
}

#[cfg(test)]
mod tests {
    use super::first_order;

    #[test]
    fn the_local_solution_satisfies_its_equation_and_ignores_the_order_of_axes() {
        let inf = f64::INFINITY;
        for a in [[0.0, 0.1, 0.2], [0.3, 0.3, 0.3], [5.0, 5.9, 7.0], [1.0, inf, inf], [1.0, 1.2, inf]] {
            let t = first_order(a, 1.0);
            let sum: f64 = a.iter().map(|&v| if v < t { (t - v) * (t - v) } else { 0.0 }).sum();
            assert!((sum - 1.0).abs() < 1e-14, "{a:?}: {t}");
            assert_eq!(t, first_order([a[2], a[0], a[1]], 1.0));
            assert_eq!(t, first_order([a[1], a[2], a[0]], 1.0));
        }
    }
}
