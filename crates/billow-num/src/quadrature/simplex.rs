//! Rules on triangles and tetrahedra.
//!
//! The tables hold one point per symmetry class; the rule contains all distinct permutations of its barycentric
//! coordinates. They were obtained by solving the moment equations with 40 digits for the smallest
//! symmetric structures with positive weights and inner points.

use super::gauss_legendre;

/// Points and weights on a simplex with `N` corners.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplexRule<const N: usize> {
    /// Barycentric coordinates and weight of each point; the weights sum to one.
    pub points: Vec<([f64; N], f64)>,
    /// Degree up to which polynomials are integrated exactly.
    pub degree: usize,
}

impl<const N: usize> SimplexRule<N> {
    /// The integral over a simplex of the given measure of `f`, a function of barycentric coordinates.
    pub fn integrate(&self, measure: f64, mut f: impl FnMut(&[f64; N]) -> f64) -> f64 {
        self.points.iter().map(|(b, w)| w * f(b)).sum::<f64>() * measure
    }
}

/// A rule on the triangle that is exact at least to `degree`.
pub fn triangle(degree: usize) -> SimplexRule<3> {
    match degree {
        0..=1 => symmetric(1, &[(1.0, [1.0 / 3.0; 3])]),
        2 => symmetric(2, &TRIANGLE_2),
        3..=4 => symmetric(4, &TRIANGLE_4),
        5 => symmetric(5, &TRIANGLE_5),
        6 => symmetric(6, &TRIANGLE_6),
        7..=8 => symmetric(8, &TRIANGLE_8),
        9 => symmetric(9, &TRIANGLE_9),
        10 => symmetric(10, &TRIANGLE_10),
        _ => collapsed_triangle(degree),
    }
}

/// A rule on the tetrahedron that is exact at least to `degree`.
pub fn tetrahedron(degree: usize) -> SimplexRule<4> {
    match degree {
        0..=1 => symmetric(1, &[(1.0, [0.25; 4])]),
        2 => symmetric(2, &TETRAHEDRON_2),
        3 => symmetric(3, &TETRAHEDRON_3),
        4..=5 => symmetric(5, &TETRAHEDRON_5),
        6 => symmetric(6, &TETRAHEDRON_6),
        _ => collapsed_tetrahedron(degree),
    }
}

/// All distinct permutations of each class.
fn symmetric<const N: usize>(degree: usize, classes: &[(f64, [f64; N])]) -> SimplexRule<N> {
    let mut points = Vec::new();
    for (weight, coordinates) in classes {
        let mut sorted = *coordinates;
        sorted.sort_by(f64::total_cmp);
        points.push((sorted, *weight));
        while next_permutation(&mut sorted) {
            points.push((sorted, *weight));
        }
    }
    SimplexRule { points, degree }
}

/// Steps to the next permutation in lexicographic order; false after the last.
fn next_permutation(a: &mut [f64]) -> bool {
    let Some(i) = (1..a.len()).rev().find(|i| a[i - 1] < a[*i]) else { return false };
    let pivot = a[i - 1];
    let j = (i..a.len()).rev().find(|j| a[*j] > pivot).unwrap_or(i);
    a.swap(i - 1, j);
    a[i..].reverse();
    true
}

/// The Gauss rule on `[0, 1]` exact to `degree`.
fn unit_gauss(degree: usize) -> Vec<(f64, f64)> {
    gauss_legendre(degree / 2 + 1).into_iter().map(|(x, w)| (0.5 + 0.5 * x, 0.5 * w)).collect()
}

/// The square collapsed to a triangle; the Jacobian `1 − u` adds one degree.
fn collapsed_triangle(degree: usize) -> SimplexRule<3> {
    let (us, vs) = (unit_gauss(degree + 1), unit_gauss(degree));
    let mut points = Vec::with_capacity(us.len() * vs.len());
    for (u, wu) in &us {
        for (v, wv) in &vs {
            let rest = 1.0 - u;
            points.push(([*u, rest * v, rest * (1.0 - v)], 2.0 * rest * wu * wv));
        }
    }
    SimplexRule { points, degree }
}

/// The cube collapsed to a tetrahedron; the Jacobian `(1 − u)² (1 − v)` adds two degrees.
fn collapsed_tetrahedron(degree: usize) -> SimplexRule<4> {
    let (us, face) = (unit_gauss(degree + 2), collapsed_triangle(degree));
    let mut points = Vec::with_capacity(us.len() * face.points.len());
    for (u, wu) in &us {
        for (b, w) in &face.points {
            let rest = 1.0 - u;
            points.push(([*u, rest * b[0], rest * b[1], rest * b[2]], 3.0 * rest * rest * wu * w));
        }
    }
    SimplexRule { points, degree }
}

const TRIANGLE_2: [(f64, [f64; 3]); 1] = [(
    0.333_333_333_333_333_3,
    [0.166_666_666_666_666_66, 0.166_666_666_666_666_66, 0.666_666_666_666_666_6],
)];
const TRIANGLE_4: [(f64, [f64; 3]); 2] = [
    (0.223_381_589_678_011_47, [0.445_948_490_915_964_9, 0.445_948_490_915_964_9, 0.108_103_018_168_070_23]),
    (0.109_951_743_655_321_87, [0.091_576_213_509_770_74, 0.091_576_213_509_770_74, 0.816_847_572_980_458_5]),
];
const TRIANGLE_5: [(f64, [f64; 3]); 3] = [
    (0.225, [0.333_333_333_333_333_3, 0.333_333_333_333_333_3, 0.333_333_333_333_333_3]),
    (0.125_939_180_544_827_14, [0.101_286_507_323_456_34, 0.101_286_507_323_456_34, 0.797_426_985_353_087_3]),
    (0.132_394_152_788_506_2, [0.470_142_064_105_115_1, 0.470_142_064_105_115_1, 0.059_715_871_789_769_82]),
];
const TRIANGLE_6: [(f64, [f64; 3]); 3] = [
    (0.116_786_275_726_379_37, [0.249_286_745_170_910_43, 0.249_286_745_170_910_43, 0.501_426_509_658_179_1]),
    (0.050_844_906_370_206_82, [0.063_089_014_491_502_23, 0.063_089_014_491_502_23, 0.873_821_971_016_995_5]),
    (0.082_851_075_618_373_57, [0.053_145_049_844_816_945, 0.636_502_499_121_398_7, 0.310_352_451_033_784_4]),
];
const TRIANGLE_8: [(f64, [f64; 3]); 5] = [
    (0.144_315_607_677_787_17, [0.333_333_333_333_333_3, 0.333_333_333_333_333_3, 0.333_333_333_333_333_3]),
    (0.103_217_370_534_718_24, [0.170_569_307_751_760_2, 0.170_569_307_751_760_2, 0.658_861_384_496_479_6]),
    (0.032_458_497_623_198_08, [0.050_547_228_317_030_98, 0.050_547_228_317_030_98, 0.898_905_543_365_938_1]),
    (0.095_091_634_267_284_62, [0.459_292_588_292_723_2, 0.459_292_588_292_723_2, 0.081_414_823_414_553_7]),
    (
        0.027_230_314_174_434_993,
        [0.728_492_392_955_404_2, 0.008_394_777_409_957_605, 0.263_112_829_634_638_1],
    ),
];
const TRIANGLE_9: [(f64, [f64; 3]); 6] = [
    (0.097_135_796_282_798_84, [0.333_333_333_333_333_3, 0.333_333_333_333_333_3, 0.333_333_333_333_333_3]),
    (0.031_334_700_227_139_07, [0.489_682_519_198_737_6, 0.489_682_519_198_737_6, 0.020_634_961_602_524_746]),
    (
        0.077_827_541_004_774_28,
        [0.437_089_591_492_936_64, 0.437_089_591_492_936_64, 0.125_820_817_014_126_73],
    ),
    (0.025_577_675_658_698_03, [0.044_729_513_394_452_71, 0.044_729_513_394_452_71, 0.910_540_973_211_094_6]),
    (0.079_647_738_927_210_25, [0.188_203_535_619_032_72, 0.188_203_535_619_032_72, 0.623_592_928_761_934_5]),
    (0.043_283_539_377_289_376, [0.036_838_412_054_736_286, 0.221_962_989_160_765_7, 0.741_198_598_784_498]),
];
const TRIANGLE_10: [(f64, [f64; 3]); 6] = [
    (0.079_894_504_741_239_71, [0.333_333_333_333_333_3, 0.333_333_333_333_333_3, 0.333_333_333_333_333_3]),
    (
        0.008_223_818_690_464_195,
        [0.023_308_867_510_000_192, 0.023_308_867_510_000_192, 0.953_382_264_979_999_7],
    ),
    (
        0.071_123_802_232_377_34,
        [0.425_086_210_602_090_56, 0.425_086_210_602_090_56, 0.149_827_578_795_818_84],
    ),
    (
        0.030_886_656_884_563_99,
        [0.035_632_559_587_503_485, 0.143_295_370_426_867_16, 0.821_072_069_985_629_4],
    ),
    (0.037_359_856_234_305_27, [0.611_313_826_181_397_6, 0.029_946_031_954_170_886, 0.358_740_141_864_431_5]),
    (0.045_430_592_296_170_02, [0.147_925_626_209_534_45, 0.223_766_973_576_973, 0.628_307_400_213_492_5]),
];
const TETRAHEDRON_2: [(f64, [f64; 4]); 1] = [(
    0.25,
    [0.138_196_601_125_010_5, 0.138_196_601_125_010_5, 0.138_196_601_125_010_5, 0.585_410_196_624_968_4],
)];
const TETRAHEDRON_3: [(f64, [f64; 4]); 2] = [
    (
        0.148_672_272_445_913_66,
        [0.327_711_388_150_164_6, 0.327_711_388_150_164_6, 0.327_711_388_150_164_6, 0.016_865_835_549_506_23],
    ),
    (
        0.101_327_727_554_086_34,
        [0.101_744_271_125_059_36, 0.101_744_271_125_059_36, 0.101_744_271_125_059_36, 0.694_767_186_624_822],
    ),
];
const TETRAHEDRON_5: [(f64, [f64; 4]); 3] = [
    (
        0.073_493_043_116_361_96,
        [
            0.092_735_250_310_891_22,
            0.092_735_250_310_891_22,
            0.092_735_250_310_891_22,
            0.721_794_249_067_326_4,
        ],
    ),
    (
        0.112_687_925_718_015_85,
        [0.310_885_919_263_300_6, 0.310_885_919_263_300_6, 0.310_885_919_263_300_6, 0.067_342_242_210_098_17],
    ),
    (
        0.042_546_020_777_081_466,
        [
            0.454_496_295_874_350_36,
            0.454_496_295_874_350_36,
            0.045_503_704_125_649_65,
            0.045_503_704_125_649_65,
        ],
    ),
];
const TETRAHEDRON_6: [(f64, [f64; 4]); 4] = [
    (
        0.010_077_211_055_320_643,
        [0.040_673_958_534_611_35, 0.040_673_958_534_611_35, 0.040_673_958_534_611_35, 0.877_978_124_396_166],
    ),
    (
        0.055_357_181_543_654_724,
        [0.322_337_890_142_275_5, 0.322_337_890_142_275_5, 0.322_337_890_142_275_5, 0.032_986_329_573_173_47],
    ),
    (
        0.039_922_750_258_167_494,
        [
            0.214_602_871_259_152_03,
            0.214_602_871_259_152_03,
            0.214_602_871_259_152_03,
            0.356_191_386_222_543_9,
        ],
    ),
    (
        0.048_214_285_714_285_716,
        [
            0.063_661_001_875_017_53,
            0.063_661_001_875_017_53,
            0.269_672_331_458_315_8,
            0.603_005_664_791_649_2,
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn factorial(n: usize) -> f64 {
        (1..=n).map(|k| k as f64).product()
    }

    /// ∫ Π bᵢ^eᵢ over a simplex of measure 1 in `N − 1` dimensions is d! Π eᵢ! / (Σ eᵢ + d)!.
    fn exact<const N: usize>(e: &[usize; N]) -> f64 {
        let d = N - 1;
        e.iter().map(|k| factorial(*k)).product::<f64>() * factorial(d)
            / factorial(e.iter().sum::<usize>() + d)
    }

    /// All exponents with sum at most `degree` of the first `N − 1` coordinates.
    fn monomials<const N: usize>(degree: usize) -> Vec<[usize; N]> {
        let mut all = vec![[0; N]];
        for d in 0..N - 1 {
            all = all
                .into_iter()
                .flat_map(|e| {
                    (0..=degree - e.iter().sum::<usize>()).map(move |k| {
                        let mut e = e;
                        e[d] = k;
                        e
                    })
                })
                .collect();
        }
        all
    }

    fn check<const N: usize>(rule: &SimplexRule<N>, asked: usize) {
        assert!(rule.degree >= asked);
        for e in monomials::<N>(rule.degree) {
            let value = rule.integrate(1.0, |b| b.iter().zip(e).map(|(b, e)| b.powi(e as i32)).product());
            let rounding = 1e-15 + 1e-16 * (rule.points.len() as f64);
            assert!((value - exact(&e)).abs() < 2e-16 + rounding * exact(&e), "degree {asked}, {e:?}");
        }
        for (b, w) in &rule.points {
            assert!(*w > 0.0 && b.iter().all(|b| *b > 0.0) && (b.iter().sum::<f64>() - 1.0).abs() < 4e-16);
        }
    }

    #[test]
    fn all_monomials_are_exact_to_the_degree_of_the_rule() {
        (0..=24).for_each(|degree| check(&triangle(degree), degree));
        (0..=16).for_each(|degree| check(&tetrahedron(degree), degree));
    }

    #[test]
    fn tabulated_rules_are_small_and_not_exact_beyond_their_degree() {
        for (degree, points) in [(1, 1), (2, 3), (4, 6), (5, 7), (6, 12), (8, 16), (9, 19), (10, 25)] {
            let rule = triangle(degree);
            assert_eq!(rule.points.len(), points);
            let beyond = monomials::<3>(degree + 1);
            let wrong = |e: &[usize; 3]| {
                let value =
                    rule.integrate(1.0, |b| b.iter().zip(e).map(|(b, e)| b.powi(*e as i32)).product());
                (value - exact(e)).abs() > 1e-9
            };
            assert!(beyond.iter().any(wrong), "degree {degree}");
        }
        for (degree, points) in [(1, 1), (2, 4), (3, 8), (5, 14), (6, 24)] {
            assert_eq!(tetrahedron(degree).points.len(), points);
        }
    }

    #[test]
    fn the_measure_scales_the_integral() {
        // The second moment of the reference triangle about its corner: ∫ x² = 1/12 over area 1/2.
        assert!((triangle(2).integrate(0.5, |b| b[0] * b[0]) - 1.0 / 12.0).abs() < 1e-16);
        assert!((tetrahedron(1).integrate(1.0 / 6.0, |b| b[3]) - 1.0 / 24.0).abs() < 1e-16);
    }
}
