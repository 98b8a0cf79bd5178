//! Which elements touch a node: the inverse of a connectivity table.
//!
//! The deterministic way to add element contributions to nodes is to compute them per element in parallel and
//! then let every node gather its own, in element order. No two threads write to one place and sums have one
//! order, so the bits never depend on the number of threads.

use super::chunks_mut;
use crate::NumError;
use std::ops::Range;
use std::sync::OnceLock;

/// For each node, the places `(element, corner)` where elements name it, in element order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incidence {
    starts: Vec<usize>,
    places: Vec<(u32, u32)>,
}

fn check<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<(), NumError> {
    for (item, element) in elements.iter().enumerate() {
        if let Some(node) = element.iter().find(|node| **node as usize >= nodes) {
            return Err(NumError::IndexOutOfRange { item, index: *node as usize, count: nodes });
        }
    }
    Ok(())
}

/// An [`Incidence`] that is made when it is first asked for: it is as long as the table itself, and not every solver gathers.
#[derive(Clone, Debug)]
pub struct LaterIncidence {
    nodes: usize,
    made: OnceLock<Incidence>,
}

impl LaterIncidence {
    /// The inverse of `elements` over `nodes` nodes, some day.
    ///
    /// # Errors
    /// If an element names a node that does not exist.
    pub fn new<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<Self, NumError> {
        check(nodes, elements)?;
        Ok(Self { nodes, made: OnceLock::new() })
    }

    /// The inverse of the elements it was made for.
    ///
    /// # Panics
    /// If they are others, and name a node that does not exist.
    pub fn of<const N: usize>(&self, elements: &[[u32; N]]) -> &Incidence {
        self.made.get_or_init(|| Incidence::of_checked(self.nodes, elements))
    }
}

impl PartialEq for LaterIncidence {
    /// What was made of the same elements is the same.
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Incidence {
    /// The inverse of `elements` over `nodes` nodes.
    ///
    /// # Errors
    /// If an element names a node that does not exist.
    pub fn new<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Result<Self, NumError> {
        check(nodes, elements)?;
        Ok(Self::of_checked(nodes, elements))
    }

    fn of_checked<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> Self {
        let mut starts = vec![0; nodes + 1];
        elements.iter().flatten().for_each(|node| starts[*node as usize] += 1);
        super::exclusive_sum(&mut starts);
        let mut next = starts.clone();
        let mut places = vec![(0, 0); N * elements.len()];
        for (e, element) in elements.iter().enumerate() {
            for (corner, node) in element.iter().enumerate() {
                let slot = &mut next[*node as usize];
                places[*slot] = (e as u32, corner as u32);
                *slot += 1;
            }
        }
        Self { starts, places }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places where elements name `node`, in element order.
    pub fn of(&self, node: usize) -> &[(u32, u32)] {
        &self.places[self.range(node)]
    }

    fn range(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// Adds to every node what `f(element, corner)` gives for each of its places: `values[node] += Σ f`. For
    /// contributions that are cheaper to compute again at every corner than to store.
    ///
    /// # Panics
    /// If `values` has not one entry per node.
    pub fn gather_with<T>(&self, values: &mut [T], f: impl Fn(usize, usize) -> T + Sync)
    where
        T: Send + std::ops::AddAssign,
    {
        assert_eq!(values.len(), self.nodes(), "one value per node");
        chunks_mut(values, 256, |first, chunk| {
            for (k, value) in chunk.iter_mut().enumerate() {
                for (element, corner) in self.of(first + k) {
                    *value += f(*element as usize, *corner as usize);
                }
            }
        });
    }

    /// Adds to every node the contributions of its elements: `values[node] += Σ contribution[element][corner]`.
    ///
    /// # Panics
    /// If `values` has not one entry per node or `contributions` fewer than the elements.
    pub fn gather<T, const N: usize>(&self, contributions: &[[T; N]], values: &mut [T])
    where
        T: Copy + Send + Sync + std::ops::AddAssign,
    {
        self.gather_with(values, |element, corner| contributions[element][corner]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::{self, with_threads};
    use crate::rng::Stream;

    #[test]
    fn gathering_equals_serial_scattering_bit_for_bit() {
        let nodes = 3000;
        let element = |e: usize| {
            let mut d = Stream::new(6, 1).at(e as u64);
            [0; 4].map(|_| d.below(nodes as u64) as u32)
        };
        let elements: Vec<[u32; 4]> = (0..20_000).map(element).collect();
        let contributions: Vec<[f64; 4]> = par::map(20_000, |e| {
            let mut d = Stream::new(6, 2).at(e as u64);
            [0.0; 4].map(|_| d.normal())
        });
        let mut truth = vec![1.0; nodes];
        for (element, parts) in elements.iter().zip(&contributions) {
            for (node, part) in element.iter().zip(parts) {
                truth[*node as usize] += part;
            }
        }
        let incidence = Incidence::new(nodes, &elements).unwrap();
        for threads in [1, 2, 7] {
            let mut values = vec![1.0; nodes];
            with_threads(threads, || incidence.gather(&contributions, &mut values));
            assert_eq!(values, truth);
        }
    }

    #[test]
    fn missing_nodes_are_named() {
        let error = Incidence::new(3, &[[0, 1], [1, 3]]).unwrap_err();
        assert_eq!(error, NumError::IndexOutOfRange { item: 1, index: 3, count: 3 });
        assert_eq!(Incidence::new::<2>(2, &[]).unwrap().of(1), []);
    }
}
