//! Half-precision numbers, as OpenEXR, OpenVDB and graphics cards store them: 1 sign, 5 exponent and 10 fraction bits.

/// Largest finite half [-].
pub const LARGEST: f32 = 65_504.0;

/// The nearest half, ties to even; beyond the range the largest finite one.
pub fn from_f32(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16 & 0x8000) as u16;
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let magnitude = value.abs().min(LARGEST).to_bits();
    // Below 2⁻¹⁴ halves have a fixed exponent: adding ½ in single precision lets the hardware round to 2⁻²⁴.
    if magnitude < 0x3880_0000 {
        return sign | ((f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000) as u16;
    }
    let odd = magnitude >> 13 & 1;
    sign | ((magnitude + 0xfff + odd - 0x3800_0000) >> 13) as u16
}

/// The number a half stands for, exactly.
pub fn to_f32(half: u16) -> f32 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1.0 + fraction / 1024.0) * 2f32.powi(e - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_read_right() {
        for (bits, value) in [
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x0001, 2f32.powi(-24)),
            (0x7BFF, LARGEST),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(to_f32(bits), value);
        }
        assert!(to_f32(0x7C00).is_infinite() && to_f32(0x7E00).is_nan());
    }

    #[test]
    fn halves_are_the_nearest_ones() {
        for h in (0..0x7c00u16).chain(0x8000..0xfc00) {
            assert_eq!(from_f32(to_f32(h)), h, "every finite half survives");
        }
        for h in 0..0x7bffu16 {
            let (a, b) = (to_f32(h), to_f32(h + 1));
            assert_eq!((from_f32(a + 0.4 * (b - a)), from_f32(a + 0.6 * (b - a))), (h, h + 1));
            assert_eq!(
                from_f32(0.5 * (a + b)),
                if h % 2 == 0 { h } else { h + 1 },
                "ties go to the even one"
            );
        }
        assert_eq!(
            (from_f32(1e9), from_f32(f32::NEG_INFINITY), from_f32(f32::NAN)),
            (0x7bff, 0xfbff, 0x7e00)
        );
    }
}
