//! A cell and its eight corner values.

/// Trilinear value and gradient (per cell) at a place within a cell; corners x fastest.
#[inline(always)]
pub(super) fn trilinear(c: &[f32; 8], x: [f32; 3]) -> (f32, [f32; 3]) {
    let mix = |a: f32, b: f32, s: f32| a + (b - a) * s;
    let dx: [f32; 4] = std::array::from_fn(|n| c[2 * n + 1] - c[2 * n]);
    let lx: [f32; 4] = std::array::from_fn(|n| c[2 * n] + dx[n] * x[0]);
    let (l0, l1) = (mix(lx[0], lx[1], x[1]), mix(lx[2], lx[3], x[1]));
    let g = [
        mix(mix(dx[0], dx[1], x[1]), mix(dx[2], dx[3], x[1]), x[2]),
        mix(lx[1] - lx[0], lx[3] - lx[2], x[2]),
        l1 - l0,
    ];
    (mix(l0, l1, x[2]), g)
}

/// A gradient as a unit vector, the z axis if it has no direction.
#[inline(always)]
pub(super) fn unit(g: [f32; 3]) -> [f32; 3] {
    let length = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]).sqrt();
    if length > f32::MIN_POSITIVE { g.map(|v| v / length) } else { [0.0, 0.0, 1.0] }
}

/// The eight corner values of the cell of sample `i` of a block, from the (F + 1)³ values around it.
#[inline(always)]
pub(super) fn corners<const F: usize>(values: &[f32; 729], i: usize) -> [f32; 8] {
    let g = F + 1;
    let at = i % F + g * (i / F % F + g * (i / (F * F)));
    let square = |p: usize| [values[p], values[p + 1], values[p + g], values[p + g + 1]];
    let ([a, b, c, d], [e, f, g, h]) = (square(at), square(at + g * g));
    [a, b, c, d, e, f, g, h]
}
