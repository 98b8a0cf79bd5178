//! Gauss–Seidel sweeps in parallel: elements in tiles, tiles in colours.
//!
//! Elements that follow one another are taken together as a tile, and tiles that share no node get the same colour.
//! A sweep runs colour after colour, the tiles of one colour in parallel, the elements of a tile one after the other.
//! Colouring tiles instead of single elements keeps the colours few and neighbours in one cache. The order is fixed when
//! the tiles are made, so the result does not depend on the number of threads.
#![allow(
    unsafe_code,
    reason = "tiles of one colour write to disjoint places, which no safe slice can express"
)]

use super::marks::Marks;
use super::pieces::each_piece;
use super::shared::{Shared, check};
use super::{chunks_mut, fill};
use crate::NumError;

/// Fewer elements than this are swept on one thread: another would not save anything.
const PARALLEL: usize = 256;

/// Elements that one thread takes at a time, about.
const PIECE: usize = 64;

/// Tiles that one thread puts in order at a time, at least.
const TOGETHER: usize = 256;

/// Parts into which putting tiles in order is cut at most: each needs memory for all nodes.
const PARTS: usize = 8;

/// Colours that one pass of the greedy colouring can tell apart.
const MASK_BITS: u32 = 64;

/// An order of elements with `N` nodes each in which threads can sweep over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tiles<const N: usize> {
    node_count: usize,
    /// Number of the element at each position of the sweep.
    order: Vec<u32>,
    /// Nodes of the element at each position.
    nodes: Vec<[u32; N]>,
    /// First position of each tile, and the end.
    tiles: Vec<u32>,
    /// First tile of each colour, and the end.
    colours: Vec<u32>,
    /// Scratch: colours taken at each node, colour of each tile.
    taken: Vec<u64>,
    colour_of: Vec<u32>,
}

impl<const N: usize> Tiles<N> {
    /// Arranges `elements` over `nodes` nodes in tiles of `size` consecutive elements.
    ///
    /// # Errors
    /// If an element names a node that does not exist or one node twice.
    pub fn new(nodes: usize, elements: &[[u32; N]], size: usize) -> Result<Self, NumError> {
        let mut tiles = Self::default();
        tiles.rebuild(nodes, elements, size)?;
        Ok(tiles)
    }

    /// The same, reusing memory.
    ///
    /// # Errors
    /// As [`Tiles::new`]; there are then no elements.
    pub fn rebuild(&mut self, nodes: usize, elements: &[[u32; N]], size: usize) -> Result<(), NumError> {
        let size = size.max(1);
        self.node_count = nodes;
        for list in [&mut self.order, &mut self.tiles, &mut self.colours] {
            list.clear();
        }
        self.nodes.clear();
        check(nodes, elements)?;
        self.colour_tiles(elements, size);
        self.arrange(elements, size);
        Ok(())
    }

    /// Gives each tile the lowest colour that no tile before it has at any of its nodes. Tiles that find 64 colours
    /// taken wait for another round with 64 new ones.
    fn colour_tiles(&mut self, elements: &[[u32; N]], size: usize) {
        let count = elements.len().div_ceil(size);
        self.colour_of.clear();
        self.colour_of.resize(count, u32::MAX);
        let (mut left, mut base) = (count, 0);
        while left > 0 {
            self.taken.clear();
            self.taken.resize(self.node_count, 0);
            for (tile, members) in elements.chunks(size).enumerate() {
                if self.colour_of[tile] != u32::MAX {
                    continue;
                }
                let nodes = || members.iter().flatten().map(|n| *n as usize);
                let free = nodes().fold(0, |mask, n| mask | self.taken[n]).trailing_ones();
                if free < MASK_BITS {
                    nodes().for_each(|n| self.taken[n] |= 1 << free);
                    self.colour_of[tile] = base + free;
                    left -= 1;
                }
            }
            base += MASK_BITS;
        }
    }

    /// Writes the elements down colour by colour.
    fn arrange(&mut self, elements: &[[u32; N]], size: usize) {
        let colours = self.colour_of.iter().max().map_or(0, |c| c + 1);
        let mut of_colour = vec![Vec::new(); colours as usize];
        for (tile, colour) in self.colour_of.iter().enumerate() {
            of_colour[*colour as usize].push(tile);
        }
        self.order.resize(elements.len(), 0);
        let (mut rest, mut first) = (&mut self.order[..], 0);
        let mut parts = Vec::with_capacity(self.colour_of.len());
        for tiles in of_colour.iter().filter(|tiles| !tiles.is_empty()) {
            self.colours.push(self.tiles.len() as u32);
            for tile in tiles {
                let range = tile * size..elements.len().min((tile + 1) * size);
                self.tiles.push(first);
                first += range.len() as u32;
                let (members, others) = rest.split_at_mut(range.len());
                members.iter_mut().zip(range).for_each(|(slot, e)| *slot = e as u32);
                parts.push(members);
                rest = others;
            }
        }
        self.colours.push(self.tiles.len() as u32);
        self.tiles.push(first);
        let nodes = self.node_count;
        let together = TOGETHER.max(parts.len().div_ceil(PARTS));
        chunks_mut(&mut parts, together, |_, parts| {
            let mut scratch = (vec![0; nodes], Vec::new());
            parts.iter_mut().for_each(|members| spread(elements, members, &mut scratch));
        });
        self.nodes.resize(elements.len(), [0; N]);
        let order = &self.order;
        fill(&mut self.nodes, |position| elements[order[position] as usize]);
    }

    /// The element at each position of a sweep.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The nodes of the element at a position of a sweep.
    pub fn nodes(&self, position: usize) -> [u32; N] {
        self.nodes[position]
    }

    /// Number of colours: a sweep waits so many times.
    pub fn colours(&self) -> usize {
        self.colours.len().saturating_sub(1)
    }

    /// Calls `f(element, nodes, values)` once for every element. `elements` holds their data in the order of the sweep
    /// ([`Tiles::order`]), `values` those of all nodes; `f` sees the element's own.
    ///
    /// # Panics
    /// If `values` has not one entry per node or `elements` not one per element.
    pub fn sweep<E: Send, T: Send>(
        &self,
        elements: &mut [E],
        values: &mut [T],
        f: impl Fn(&mut E, &[u32; N], [&mut T; N]) + Sync,
    ) {
        assert_eq!(values.len(), self.node_count, "one value per node");
        assert_eq!(elements.len(), self.order.len(), "data of every element");
        let (values, data) = (Shared(values.as_mut_ptr()), Shared(elements.as_mut_ptr()));
        let run = |tile: usize| {
            for position in self.tiles[tile]..self.tiles[tile + 1] {
                let nodes = &self.nodes[position as usize];
                // SAFETY: positions belong to one tile each. Nodes are in range and differ within an element, and no
                // two tiles of a colour share one; only tiles of one colour run at a time.
                unsafe { f(data.at(position), nodes, nodes.map(|node| values.at(node))) };
            }
        };
        self.each_tile(|members| members >= PARALLEL, run);
    }

    /// Calls `f(position, element, others, values)` once for every element, as [`Tiles::sweep`]; `f` also sees what `others` say
    /// of its nodes.
    ///
    /// # Panics
    /// As [`Tiles::sweep`], and if `others` has not one entry per node.
    pub fn sweep_with<E: Send, S: Sync, T: Send>(
        &self,
        elements: &mut [E],
        others: &[S],
        values: &mut [T],
        f: impl Fn(usize, &mut E, [&S; N], [&mut T; N]) + Sync,
    ) {
        assert_eq!([others.len(), values.len()], [self.node_count; 2], "one value per node");
        assert_eq!(elements.len(), self.order.len(), "data of every element");
        let (values, data) = (Shared(values.as_mut_ptr()), Shared(elements.as_mut_ptr()));
        let run = |tile: usize| {
            for position in self.tiles[tile]..self.tiles[tile + 1] {
                let nodes = &self.nodes[position as usize];
                // SAFETY: as in `sweep`; there are as many others as values.
                unsafe {
                    let others = nodes.map(|node| others.get_unchecked(node as usize));
                    f(position as usize, data.at(position), others, nodes.map(|node| values.at(node)));
                }
            }
        };
        self.each_tile(|members| members >= PARALLEL, run);
    }

    /// Calls `f(position, element, values)` for the elements at marked positions, in the order of a sweep over all, and takes
    /// the marks away. `f` may mark others that share a node with the one it got: those that come later in the sweep
    /// are met in it.
    ///
    /// # Panics
    /// As [`Tiles::sweep`].
    pub fn sweep_marked<E: Sync, T: Send>(
        &self,
        marks: &Marks,
        elements: &[E],
        values: &mut [T],
        f: impl Fn(u32, &E, [&mut T; N]) + Sync,
    ) {
        assert_eq!(values.len(), self.node_count, "one value per node");
        assert_eq!(elements.len(), self.order.len(), "data of every element");
        let values = Shared(values.as_mut_ptr());
        let run = |tile: usize| {
            marks.take(self.tiles[tile]..self.tiles[tile + 1], |position| {
                let nodes = &self.nodes[position as usize];
                // SAFETY: as in `sweep`.
                unsafe { f(position, &elements[position as usize], nodes.map(|node| values.at(node))) };
            });
        };
        let many = marks.count() > PARALLEL * self.colours();
        self.each_tile(|_| many, run);
    }

    /// Runs tiles, colour after colour; those of a colour in parallel if it is worth it for so many elements.
    fn each_tile(&self, parallel: impl Fn(usize) -> bool, run: impl Fn(usize) + Sync) {
        for colour in self.colours.windows(2) {
            let tiles = colour[0] as usize..colour[1] as usize;
            let members = (self.tiles[tiles.end] - self.tiles[tiles.start]) as usize;
            if parallel(members) {
                let least = (PIECE * tiles.len() / members).max(1);
                each_piece(tiles.len().div_ceil(least), |k| {
                    let first = tiles.start + k * least;
                    (first..tiles.end.min(first + least)).for_each(&run);
                });
            } else {
                tiles.for_each(&run);
            }
        }
    }
}

/// Orders the elements of a tile so that those which follow one another share no node: a processor then works on several
/// at once instead of waiting for each to finish.
fn spread<const N: usize>(
    elements: &[[u32; N]],
    members: &mut [u32],
    (taken, keyed): &mut (Vec<u64>, Vec<(u32, u32)>),
) {
    for e in &*members {
        elements[*e as usize].iter().for_each(|n| taken[*n as usize] = 0);
    }
    keyed.clear();
    for e in &*members {
        let nodes = elements[*e as usize].iter().map(|n| *n as usize);
        let free = nodes.clone().fold(0, |mask, n| mask | taken[n]).trailing_ones().min(MASK_BITS - 1);
        nodes.for_each(|n| taken[n] |= 1 << free);
        keyed.push((free, *e));
    }
    keyed.sort_unstable();
    members.iter_mut().zip(keyed).for_each(|(slot, (_, e))| *slot = *e);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::with_threads;
    use crate::rng::Stream;

    fn pairs(nodes: u64, count: u64) -> Vec<[u32; 2]> {
        let pair = |e| {
            let mut d = Stream::new(9, 0).at(e);
            let a = (e * nodes / count + d.below(20)) % nodes;
            [a as u32, ((a + 1 + d.below(30)) % nodes) as u32]
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn tiles_of_a_colour_share_no_node_and_every_element_has_one_place() {
        let elements = pairs(4000, 20_000);
        let tiles = Tiles::new(4000, &elements, 32).unwrap();
        let mut order = tiles.order().to_vec();
        assert!(order.iter().zip(&tiles.nodes).all(|(e, nodes)| elements[*e as usize] == *nodes));
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(k, e)| k as u32 == *e) && order.len() == elements.len());
        for colour in tiles.colours.windows(2) {
            let mut owner = vec![u32::MAX; 4000];
            for tile in colour[0]..colour[1] {
                let (first, end) = (tiles.tiles[tile as usize], tiles.tiles[tile as usize + 1]);
                for node in tiles.nodes[first as usize..end as usize].iter().flatten() {
                    let owner = &mut owner[*node as usize];
                    assert!(*owner == u32::MAX || *owner == tile);
                    *owner = tile;
                }
            }
        }
        assert!(tiles.colours() < 20, "{}", tiles.colours());
    }

    #[test]
    fn sweeps_equal_the_serial_sweep_bit_for_bit_on_1_2_and_7_threads() {
        let elements = pairs(4000, 20_000);
        let tiles = Tiles::new(4000, &elements, 16).unwrap();
        let start: Vec<f64> = (0..4000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let relax = |sum: &mut f64, a: &mut f64, b: &mut f64| {
            let d = 0.3 * (*b - *a) + 1e-3;
            (*a, *b, *sum) = (*a + d, *b - 0.7 * d, *sum + d);
        };
        let (mut truth, mut sums) = (start.clone(), vec![0.0; elements.len()]);
        for (position, [a, b]) in tiles.nodes.iter().enumerate() {
            let (mut x, mut y) = (truth[*a as usize], truth[*b as usize]);
            relax(&mut sums[position], &mut x, &mut y);
            (truth[*a as usize], truth[*b as usize]) = (x, y);
        }
        for threads in [1, 2, 7] {
            let (mut values, mut data) = (start.clone(), vec![0.0; elements.len()]);
            with_threads(threads, || tiles.sweep(&mut data, &mut values, |e, _, [a, b]| relax(e, a, b)));
            assert_eq!((values, data), (truth.clone(), sums.clone()));
        }
    }

    #[test]
    fn a_sweep_over_marks_meets_what_it_marks_on_1_2_and_7_threads() {
        let elements = pairs(4000, 20_000);
        let tiles = Tiles::new(4000, &elements, 16).unwrap();
        let of_node = crate::par::Incidence::new(4000, &tiles.nodes).unwrap();
        let start: Vec<f64> = (0..4000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        // Draws ends together that are far apart, and wants their neighbours to be looked at.
        let draw = |marks: &Marks, position: u32, [a, b]: [&mut f64; 2]| {
            let excess = *b - *a - (0.5 * (*b - *a)).clamp(-0.2, 0.2);
            if excess != 0.0 {
                (*a, *b) = (*a + 0.5 * excess, *b - 0.5 * excess);
                for node in tiles.nodes[position as usize] {
                    of_node.of(node as usize).iter().filter(|e| e.0 != position).for_each(|e| marks.set(e.0));
                }
            }
        };
        for every in [1, 10, 1000] {
            let marks = || {
                let marks = Marks::new(elements.len());
                (0..elements.len() as u32).step_by(every).for_each(|k| marks.set(k));
                marks
            };
            let (mut truth, serial) = (start.clone(), marks());
            serial.take(0..elements.len() as u32, |position| {
                let [a, b] = tiles.nodes[position as usize].map(|i| i as usize);
                let (mut x, mut y) = (truth[a], truth[b]);
                draw(&serial, position, [&mut x, &mut y]);
                (truth[a], truth[b]) = (x, y);
            });
            assert!(truth != start && serial.count() > 0);
            for threads in [1, 2, 7] {
                let (mut values, marks) = (start.clone(), marks());
                with_threads(threads, || {
                    tiles.sweep_marked(&marks, &vec![(); elements.len()], &mut values, |k, (), ends| {
                        draw(&marks, k, ends);
                    });
                });
                assert_eq!(values, truth, "{every} {threads}");
                assert!(marks.iter().eq(serial.iter()));
            }
        }
    }

    #[test]
    fn a_hub_needs_a_second_round_and_no_elements_need_none() {
        let star: Vec<[u32; 2]> = (1..=150).map(|k| [0, k]).collect();
        let tiles = Tiles::new(151, &star, 1).unwrap();
        assert_eq!(tiles.colours(), 150);
        let mut empty = Tiles::<3>::new(5, &[], 8).unwrap();
        empty.sweep(&mut [(); 0], &mut [0; 5], |(), _, _| {});
        assert_eq!(empty.colours(), 0);
        assert!(empty.rebuild(2, &[[0, 1, 2]], 8).is_err() && empty.order().is_empty());
        empty.sweep(&mut [(); 0], &mut [0; 2], |(), _, _| {});
    }
}
