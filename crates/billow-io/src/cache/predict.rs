//! Prediction of numbers from their neighbours in an array, exactly the same when writing and reading.
//!
//! Predictions are made in the numbers' own arithmetic, which is the same everywhere; a NaN, whose bits are not,
//! counts as zero.

/// How a number is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predictor {
    /// Zero.
    None,
    /// The number before.
    Last,
    /// The straight line through the two numbers before.
    Line,
    /// The plane through the number before and the two above it in rows of this length (at least 2).
    Grid(u32),
}

impl Predictor {
    /// Code and row length in files.
    pub(crate) fn code(self) -> (u8, u32) {
        match self {
            Self::None => (0, 0),
            Self::Last => (1, 0),
            Self::Line => (2, 0),
            Self::Grid(row) => (3, row),
        }
    }

    /// Inverse of [`Predictor::code`].
    pub(crate) fn from_code(code: u8, row: u32) -> Option<Self> {
        match (code, row) {
            (0, 0) => Some(Self::None),
            (1, 0) => Some(Self::Last),
            (2, 0) => Some(Self::Line),
            (3, 2..) => Some(Self::Grid(row)),
            _ => None,
        }
    }
}

/// A component of an array.
pub(crate) trait Number: Copy + Default {
    /// Bits of the number.
    const BITS: u32;
    /// From the low bytes in file order.
    fn load(bytes: &[u8]) -> Self;
    /// Appends the bytes in file order.
    fn put(self, out: &mut [u8]);
    /// An integer of [`Number::BITS`] bits ordered like the numbers.
    fn ordered(self) -> u64;
    /// Inverse of [`Number::ordered`].
    fn from_ordered(value: u64) -> Self;
    /// Zero for NaN.
    fn tidy(self) -> Self;
    /// Size as a float, for guessing.
    fn size(self) -> f64;
    /// `self + b - c`.
    fn plane(self, b: Self, c: Self) -> Self;
}

macro_rules! float {
    ($type:ty, $bits:ty) => {
        impl Number for $type {
            const BITS: u32 = <$bits>::BITS;
            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(std::array::from_fn(|k| bytes[k]))
            }
            fn put(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }
            fn ordered(self) -> u64 {
                let (bits, sign) = (self.to_bits(), 1 << (<$bits>::BITS - 1));
                u64::from(if bits & sign == 0 { bits | sign } else { !bits })
            }
            fn from_ordered(value: u64) -> Self {
                let (bits, sign) = (value as $bits, 1 << (<$bits>::BITS - 1));
                Self::from_bits(if bits & sign != 0 { bits & !sign } else { !bits })
            }
            fn tidy(self) -> Self {
                if self.is_nan() { 0.0 } else { self }
            }
            fn size(self) -> f64 {
                f64::from(self).abs()
            }
            fn plane(self, b: Self, c: Self) -> Self {
                self + b - c
            }
        }
    };
}

float!(f64, u64);
float!(f32, u32);

impl Number for u32 {
    const BITS: u32 = 32;
    fn load(bytes: &[u8]) -> Self {
        Self::from_le_bytes(std::array::from_fn(|k| bytes[k]))
    }
    fn put(self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }
    fn ordered(self) -> u64 {
        u64::from(self)
    }
    fn from_ordered(value: u64) -> Self {
        value as Self
    }
    fn tidy(self) -> Self {
        self
    }
    fn size(self) -> f64 {
        f64::from((self as i32).unsigned_abs())
    }
    fn plane(self, b: Self, c: Self) -> Self {
        self.wrapping_add(b).wrapping_sub(c)
    }
}

/// The components of an array, each as a column.
pub(crate) fn columns<N: Number>(raw: &[u8], components: usize) -> Vec<Vec<N>> {
    let width = N::BITS as usize / 8;
    let stride = width * components;
    (0..components).map(|c| raw.chunks_exact(stride).map(|e| N::load(&e[c * width..])).collect()).collect()
}

/// The differences of a column from its predictions, small ones as small numbers.
pub(crate) fn differences<N: Number>(column: &[N], predictor: Predictor) -> impl Iterator<Item = u64> {
    (0..column.len()).map(move |i| difference(column, i, predictor))
}

fn difference<N: Number>(column: &[N], i: usize, predictor: Predictor) -> u64 {
    zigzag::<N>(column[i].ordered().wrapping_sub(prediction(column, i, predictor).ordered()))
}

/// The bytes of an array from the differences of its columns.
pub(crate) fn restore<N: Number>(differences: &[u64], components: usize, predictor: Predictor) -> Vec<u8> {
    let (n, width) = (differences.len() / components, N::BITS as usize / 8);
    let mut raw = vec![0; differences.len() * width];
    let mut column: Vec<N> = vec![N::default(); n];
    for c in 0..components {
        for i in 0..n {
            let guess = prediction(&column, i, predictor).ordered();
            let mask = u64::MAX >> (64 - N::BITS);
            column[i] = N::from_ordered(guess.wrapping_add(unzigzag(differences[c * n + i])) & mask);
        }
        for (element, value) in raw.chunks_exact_mut(width * components).zip(&column) {
            value.put(&mut element[c * width..(c + 1) * width]);
        }
    }
    raw
}

/// The prediction for element `i` from elements before it.
fn prediction<N: Number>(column: &[N], i: usize, predictor: Predictor) -> N {
    let last = |back: usize| column[i - back];
    let guess = match predictor {
        Predictor::None => N::default(),
        _ if i == 0 => N::default(),
        Predictor::Last => last(1),
        Predictor::Line if i == 1 => last(1),
        Predictor::Line => last(1).plane(last(1), last(2)),
        Predictor::Grid(row) if i <= row as usize => last(1),
        Predictor::Grid(row) => last(1).plane(last(row as usize), last(row as usize + 1)),
    };
    guess.tidy()
}

/// Moves the sign of a difference into its lowest bit, so that small differences are small numbers.
fn zigzag<N: Number>(d: u64) -> u64 {
    let shift = 64 - N::BITS;
    let d = (d << shift) as i64 >> shift;
    (d << 1 ^ d >> 63) as u64 & u64::MAX >> shift
}

/// Inverse of [`zigzag`], up to bits above the number's.
fn unzigzag(z: u64) -> u64 {
    z >> 1 ^ (z & 1).wrapping_neg()
}

/// The predictor that leaves the fewest bits in a sample of the columns.
pub(crate) fn choose<N: Number>(columns: &[Vec<N>]) -> Predictor {
    /// Elements that are tried.
    const SAMPLE: usize = 2048;
    /// Values that are packed together.
    const BLOCK: usize = 64;
    let n = columns.first().map_or(0, Vec::len);
    let mut candidates = vec![Predictor::None, Predictor::Last, Predictor::Line];
    for row in columns.iter().filter_map(|column| row_length(column)) {
        if !candidates.contains(&Predictor::Grid(row)) {
            candidates.push(Predictor::Grid(row));
        }
    }
    let first = (n / 2).min(n.saturating_sub(SAMPLE));
    let cost = |predictor: &Predictor| -> u64 {
        let block = |column: &[N], start: usize| {
            let all =
                (start..(start + BLOCK).min(n)).fold(0, |all, i| all | difference(column, i, *predictor));
            u64::from(64 - all.leading_zeros())
        };
        let starts = || (first..(first + SAMPLE).min(n)).step_by(BLOCK);
        columns.iter().map(|column| starts().map(|start| block(column, start)).sum::<u64>()).sum()
    };
    candidates.into_iter().min_by_key(cost).unwrap_or(Predictor::None)
}

/// Guesses the length of rows: where a column jumps, a row ends.
fn row_length<N: Number>(column: &[N]) -> Option<u32> {
    /// Rows of up to half this many elements are found.
    const SEARCHED: usize = 8192;
    /// A step this much larger than the middle one is a jump.
    const JUMP: f64 = 8.0;
    let head = &column[..column.len().min(SEARCHED)];
    let steps: Vec<f64> = head.windows(2).map(|w| w[1].plane(N::default(), w[0]).size()).collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = *sorted.get(sorted.len() / 2)?;
    let mut jumps = (0..steps.len()).filter(|k| steps[*k] > JUMP * middle);
    let row = jumps.next().zip(jumps.next()).map(|(a, b)| b - a)?;
    (row >= 2 && 2 * row < column.len()).then_some(row as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<N: Number + PartialEq + std::fmt::Debug>(column: &[N]) {
        let bytes = N::BITS as usize / 8;
        let mut raw = vec![0; column.len() * bytes];
        raw.chunks_exact_mut(bytes).zip(column).for_each(|(out, x)| x.put(out));
        for predictor in
            [Predictor::None, Predictor::Last, Predictor::Line, Predictor::Grid(2), Predictor::Grid(7)]
        {
            let d: Vec<u64> = differences(column, predictor).collect();
            assert!(d.iter().all(|d| *d <= u64::MAX >> (64 - N::BITS)));
            assert_eq!(restore::<N>(&d, 1, predictor), raw, "{predictor:?}");
            let (code, row) = predictor.code();
            assert_eq!(Predictor::from_code(code, row), Some(predictor));
        }
    }

    #[test]
    fn predictions_are_undone() {
        let odd =
            [f64::NAN, -0.0, 0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324];
        check(&odd.iter().cycle().take(50).map(|x| *x + 0.0).collect::<Vec<_>>());
        check(&odd.map(|x| x as f32));
        check(&[0, 1, u32::MAX, 1 << 31, 7, 7, 7, 0x1234_5678, 0]);
    }

    #[test]
    fn order_is_kept() {
        let numbers =
            [f64::NEG_INFINITY, f64::MIN, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY];
        assert!(numbers.windows(2).all(|w| w[0].ordered() < w[1].ordered()));
    }

    #[test]
    fn rows_are_found() {
        let sheet: Vec<f64> =
            (0..100 * 30).map(|k| f64::from(k % 100) * 0.01 + f64::from(k / 100).sin() * 1e-3).collect();
        assert_eq!(row_length(&sheet), Some(100));
        assert_eq!(choose(&[sheet]), Predictor::Grid(100));
        assert_eq!(row_length::<f64>(&[]), None);
        assert_eq!(row_length(&[1.0f32; 1000]), None);
    }
}
