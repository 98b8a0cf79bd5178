//! The few kinds of values that the exported scenes need.

use xxhash_rust::xxh3::Xxh3;

/// A value on its way into a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    Token(&'a str),
    Tokens(&'a [&'a str]),
    Double3([f64; 3]),
    /// Real part first.
    Quat([f64; 4]),
    Ints(&'a [i32]),
    Floats(&'a [f32]),
    Float3s(&'a [[f32; 3]]),
}

impl Value<'_> {
    /// Equal values have equal hashes, bit for bit.
    pub(super) fn hash(&self) -> u128 {
        let mut hash = Xxh3::new();
        match self {
            Self::Bool(value) => hash.update(&[u8::from(*value)]),
            Self::Token(token) => hash.update(token.as_bytes()),
            Self::Tokens(tokens) => tokens.iter().for_each(|token| {
                hash.update(token.as_bytes());
                hash.update(&[0]);
            }),
            Self::Double3(values) => values.iter().for_each(|x| hash.update(&x.to_le_bytes())),
            Self::Quat(values) => values.iter().for_each(|x| hash.update(&x.to_le_bytes())),
            Self::Ints(values) => in_blocks(&mut hash, values, |x| x.to_le_bytes()),
            Self::Floats(values) => in_blocks(&mut hash, values, |x| x.to_le_bytes()),
            Self::Float3s(values) => in_blocks(&mut hash, values.as_flattened(), |x| x.to_le_bytes()),
        }
        hash.digest128()
    }
}

/// Hashing 4 bytes at a time would cost more than everything else.
fn in_blocks<T: Copy>(hash: &mut Xxh3, values: &[T], bytes: impl Fn(T) -> [u8; 4]) {
    let mut block = [0; 1024];
    for part in values.chunks(256) {
        for (slot, x) in block.chunks_exact_mut(4).zip(part) {
            slot.copy_from_slice(&bytes(*x));
        }
        hash.update(&block[..4 * part.len()]);
    }
}
