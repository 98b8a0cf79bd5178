//! Elements coloured so that those of one colour share no node.
//!
//! Gauss–Seidel sweeps over springs or constraints must update nodes in place. Elements of one colour may run in
//! parallel because no two touch the same node; colours follow one another. The result depends only on the
//! colouring, which is greedy in element order, hence never on the number of threads.
//!
//! The one use of `unsafe` hands several threads mutable references into one slice. It is sound because the
//! constructor checks every index, refuses elements that repeat a node, and gives conflicting elements different
//! colours; the fields are private, so nothing can undo that.
#![allow(unsafe_code)]

use super::pieces::each_piece;
use super::shared::{Shared, check};
use crate::NumError;

/// Elements of `N` nodes, grouped by colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring<const N: usize> {
    nodes: usize,
    /// Element numbers with their nodes, colour after colour, in increasing order within a colour.
    elements: Vec<(u32, [u32; N])>,
    starts: Vec<usize>,
}

/// Below this many elements of a colour a parallel loop costs more than it saves.
const PARALLEL: usize = 512;

/// Elements that one thread takes at a time.
const PIECE: usize = 256;

impl<const N: usize> Colouring<N> {
    /// Colours `elements` over `nodes` nodes: each takes the first colour none of its nodes has yet.
    pub fn new(nodes: usize, elements: &[[u32; N]]) -> Result<Self, NumError> {
        check(nodes, elements)?;
        let mut colour_of = vec![u32::MAX; elements.len()];
        let mut colours = 0;
        let mut waiting: Vec<u32> = (0..elements.len() as u32).collect();
        // Rounds of 64 colours, one bit each; nearly always there is a single round.
        while !waiting.is_empty() {
            let mut used = vec![0u64; nodes];
            let base = colours;
            waiting.retain(|e| {
                let element = &elements[*e as usize];
                let taken = element.iter().fold(0, |bits, node| bits | used[*node as usize]);
                let bit = taken.trailing_ones();
                if bit == 64 {
                    return true;
                }
                element.iter().for_each(|node| used[*node as usize] |= 1 << bit);
                colour_of[*e as usize] = base + bit;
                colours = colours.max(base + bit + 1);
                false
            });
        }
        let mut starts = vec![0; colours as usize + 1];
        colour_of.iter().for_each(|c| starts[*c as usize] += 1);
        super::exclusive_sum(&mut starts);
        let mut next = starts.clone();
        let mut grouped = vec![(0, [0; N]); elements.len()];
        for (e, element) in elements.iter().enumerate() {
            let slot = &mut next[colour_of[e] as usize];
            grouped[*slot] = (e as u32, *element);
            *slot += 1;
        }
        Ok(Self { nodes, elements: grouped, starts })
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.starts.len() - 1
    }

    /// The elements of one colour: their numbers and nodes, in increasing order of number.
    pub fn of(&self, colour: usize) -> &[(u32, [u32; N])] {
        &self.elements[self.starts[colour]..self.starts[colour + 1]]
    }

    /// Calls `f(element, nodes)` for every element with its nodes' values, colour after colour, in parallel
    /// within a colour.
    ///
    /// # Panics
    /// If `values` has not one entry per node.
    pub fn for_each<T: Send>(&self, values: &mut [T], f: impl Fn(usize, [&mut T; N]) + Sync) {
        assert_eq!(values.len(), self.nodes, "one value per node");
        let shared = Shared(values.as_mut_ptr());
        for colour in 0..self.colours() {
            let call = |(element, nodes): &(u32, [u32; N])| {
                // SAFETY: nodes are in range, differ within the element and between elements of one colour.
                f(*element as usize, nodes.map(|node| unsafe { shared.at(node) }));
            };
            let elements = self.of(colour);
            if elements.len() < PARALLEL {
                elements.iter().for_each(call);
            } else {
                each_piece(elements.len().div_ceil(PIECE), |k| {
                    elements[k * PIECE..elements.len().min((k + 1) * PIECE)].iter().for_each(call);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;

    fn springs(nodes: u64, count: u64) -> Vec<[u32; 2]> {
        let pair = |e| {
            let mut d = Stream::new(8, 0).at(e);
            let a = d.below(nodes);
            [a as u32, ((a + 1 + d.below(nodes - 1)) % nodes) as u32]
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn elements_of_a_colour_share_no_node_and_every_element_has_one() {
        let elements = springs(4000, 20_000);
        let colouring = Colouring::new(4000, &elements).unwrap();
        let mut seen = vec![false; elements.len()];
        for colour in 0..colouring.colours() {
            let mut touched = vec![false; 4000];
            for (e, nodes) in colouring.of(colour) {
                assert!(!std::mem::replace(&mut seen[*e as usize], true) && elements[*e as usize] == *nodes);
                assert!(nodes.iter().all(|n| !std::mem::replace(&mut touched[*n as usize], true)));
            }
        }
        assert!(seen.into_iter().all(|s| s));
        assert!(colouring.colours() < 60, "{}", colouring.colours());
    }

    #[test]
    fn sweeps_equal_the_serial_sweep_bit_for_bit_on_1_2_and_7_threads() {
        let elements = springs(4000, 20_000);
        let colouring = Colouring::new(4000, &elements).unwrap();
        let start: Vec<f64> = (0..4000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let relax = |a: &mut f64, b: &mut f64| {
            let d = 0.3 * (*b - *a) + 1e-3;
            (*a, *b) = (*a + d, *b - 0.7 * d);
        };
        let mut truth = start.clone();
        for colour in 0..colouring.colours() {
            for (_, [a, b]) in colouring.of(colour) {
                let (mut x, mut y) = (truth[*a as usize], truth[*b as usize]);
                relax(&mut x, &mut y);
                (truth[*a as usize], truth[*b as usize]) = (x, y);
            }
        }
        for threads in [1, 2, 7] {
            let mut values = start.clone();
            with_threads(threads, || colouring.for_each(&mut values, |_, [a, b]| relax(a, b)));
            assert_eq!(values, truth);
        }
    }

    #[test]
    fn a_hub_with_more_than_64_springs_needs_a_second_round() {
        let star: Vec<[u32; 2]> = (1..=150).map(|k| [0, k]).collect();
        let colouring = Colouring::new(151, &star).unwrap();
        assert_eq!(colouring.colours(), 150);
        let mut counts = vec![0; 151];
        colouring.for_each(&mut counts, |_, [a, b]| (*a, *b) = (*a + 1, *b + 1));
        assert!(counts[0] == 150 && counts[1..].iter().all(|c| *c == 1));
    }

    #[test]
    fn bad_elements_are_refused() {
        assert_eq!(Colouring::new(3, &[[0, 1], [2, 2]]), Err(NumError::RepeatedNode { element: 1, node: 2 }));
        assert!(matches!(Colouring::new(2, &[[0, 2]]), Err(NumError::IndexOutOfRange { .. })));
        assert_eq!(Colouring::<3>::new(0, &[]).unwrap().colours(), 0);
    }
}
