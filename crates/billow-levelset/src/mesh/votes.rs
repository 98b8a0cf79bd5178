//! Which samples are inside.
//!
//! Closed meshes: the winding number of a sample is the sum of the crossings before it on its x line. Leaky meshes:
//! from each sample a ray goes both ways along each axis; it votes *inside* if it meets its first triangle from
//! behind, and three of six votes decide ([Gue06] 2.3.1). Rays between two crossings share their answer, so
//! votes are bits: a row of 32 samples is one word, and what a tile needs to know of the world outside is one
//! bit per line and direction.

use super::crossing::Event;
use super::distance::TILE;

/// Lines through a tile along one axis.
pub(super) const ROWS: usize = TILE * TILE;
/// One bit per line: bit u of word v.
pub(super) type Plane = [u32; TILE];
/// One bit per sample: bit x of word y + 32 z.
pub(super) type Mask = [u32; ROWS];

/// Adds a tile's crossings along x to the winding numbers behind it.
pub(super) fn add_windings(events: &[Event], winding: &mut [i16; ROWS]) {
    for e in events {
        winding[e.row as usize] += i16::from(e.sign);
    }
}

/// The samples with a positive winding number, and the lowest winding number met.
pub(super) fn winding_mask(events: &[Event], before: &[i16; ROWS]) -> (Box<Mask>, i16) {
    let mut change = vec![0i8; ROWS * TILE];
    let mut crossed = [false; ROWS];
    for e in events {
        change[e.row as usize * TILE + e.sample as usize] += e.sign;
        crossed[e.row as usize] = true;
    }
    let mut lowest = 0;
    let mut mask = Box::new([0u32; ROWS]);
    for row in 0..ROWS {
        let mut w = before[row];
        if !crossed[row] {
            mask[row] = if w > 0 { u32::MAX } else { 0 };
            lowest = lowest.min(w);
            continue;
        }
        for x in 0..TILE {
            w += i16::from(change[row * TILE + x]);
            lowest = lowest.min(w);
            mask[row] |= u32::from(w > 0) << x;
        }
    }
    (mask, lowest)
}

/// Sorts crossings by line and position.
pub(super) fn sort_events(events: &mut [Event]) {
    events.sort_unstable_by(|a, b| {
        a.row.cmp(&b.row).then(a.position.total_cmp(&b.position)).then(a.sign.cmp(&b.sign))
    });
}

/// What rays that have passed a tile without hitting anything yet would learn from its last crossing (towards −) or
/// first crossing (towards +): replaces the bits of lines that cross.
pub(super) fn pass_plane(events: &[Event], plane: &mut Plane, towards_minus: bool) {
    for line in events.chunk_by(|a, b| a.row == b.row) {
        let e = if towards_minus { line[line.len() - 1] } else { line[0] };
        // Going back, an entrance is met from behind; going on, an exit is.
        let inside = (e.sign > 0) == towards_minus;
        let (u, v) = (e.row as usize % TILE, e.row as usize / TILE);
        plane[v] = plane[v] & !(1 << u) | u32::from(inside) << u;
    }
}

/// Votes of all samples for the two rays along an axis, in the axis' own arrangement: bit = place on the line, word =
/// line.
fn axis_votes(events: &[Event], minus: &Plane, plus: &Plane) -> [Mask; 2] {
    let full =
        |plane: &Plane, row: usize| if plane[row / TILE] >> (row % TILE) & 1 == 1 { u32::MAX } else { 0 };
    let mut votes = [[0; ROWS]; 2];
    for row in 0..ROWS {
        votes[0][row] = full(minus, row);
        votes[1][row] = full(plus, row);
    }
    for line in events.chunk_by(|a, b| a.row == b.row) {
        let row = line[0].row as usize;
        let (mut back, mut on) = (0, 0);
        let mut from = 0;
        let mut before = votes[0][row];
        // Between crossings, the one behind answers the backward ray and the one ahead the forward ray.
        for e in line {
            let piece = span(from, u32::from(e.sample));
            back |= piece & before;
            on |= piece & if e.sign < 0 { u32::MAX } else { 0 };
            from = u32::from(e.sample);
            before = if e.sign > 0 { u32::MAX } else { 0 };
        }
        let rest = span(from, TILE as u32);
        votes[0][row] = back | rest & before;
        votes[1][row] = on | rest & votes[1][row];
    }
    votes
}

/// Bits from..to.
fn span(from: u32, to: u32) -> u32 {
    let below = |n: u32| if n >= 32 { u32::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}

/// The six rays' verdict on every sample of a tile, and how many samples the rays disagree on.
pub(super) fn vote(events: &[Vec<Event>; 3], minus: [&Plane; 3], plus: [&Plane; 3]) -> (Box<Mask>, usize) {
    let x = axis_votes(&events[0], minus[0], plus[0]);
    let mut y = axis_votes(&events[1], minus[1], plus[1]);
    let mut z = axis_votes(&events[2], minus[2], plus[2]);
    for m in &mut y {
        // Lines (x, z) with bits y, to lines (y, z) with bits x.
        m.chunks_exact_mut(TILE).for_each(transpose);
    }
    for m in &mut z {
        // Lines (x, y) with bits z, to lines (y, z) with bits x.
        m.chunks_exact_mut(TILE).for_each(transpose);
        let turned = *m;
        for (row, out) in m.iter_mut().enumerate() {
            *out = turned[row / TILE + TILE * (row % TILE)];
        }
    }
    let mut mask = Box::new([0; ROWS]);
    let mut split = 0;
    for row in 0..ROWS {
        let v = [x[0][row], x[1][row], y[0][row], y[1][row], z[0][row], z[1][row]];
        mask[row] = at_least_three(v);
        let any = v.iter().fold(0, |a, b| a | b);
        let all = v.iter().fold(u32::MAX, |a, b| a & b);
        split += (any & !all).count_ones() as usize;
    }
    (mask, split)
}

/// Bits set in at least three of six words, by two full adders.
fn at_least_three([a, b, c, d, e, f]: [u32; 6]) -> u32 {
    let (s0, c0) = (a ^ b ^ c, a & b | b & c | c & a);
    let (s1, c1) = (d ^ e ^ f, d & e | e & f | f & d);
    c0 & c1 | (c0 ^ c1) & (s0 | s1)
}

/// Transposes a 32 × 32 bit matrix in place.
fn transpose(m: &mut [u32]) {
    let mut j = 16;
    let mut keep: u32 = 0x0000_FFFF;
    while j != 0 {
        let mut k = 0;
        while k < TILE {
            let t = (m[k] >> j ^ m[k + j]) & keep;
            m[k] ^= t << j;
            m[k + j] ^= t;
            k = (k + j + 1) & !j;
        }
        j >>= 1;
        keep ^= keep << j;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_moves_every_bit() {
        let mut m: Vec<u32> = (0..32u32).map(|i| i.wrapping_mul(0x9E37_79B9) ^ (i << 7)).collect();
        let old = m.clone();
        transpose(&mut m);
        for i in 0..32 {
            for j in 0..32 {
                assert_eq!(m[i] >> j & 1, old[j] >> i & 1);
            }
        }
    }

    #[test]
    fn three_of_six_is_counted_right() {
        for n in 0..64u32 {
            let words = std::array::from_fn(|i| n >> i & 1);
            assert_eq!(at_least_three(words) & 1, u32::from(n.count_ones() >= 3));
        }
    }
}
