//! In which order nodes move: boundary first, then inward layer by layer, and back again ([Bri03] 5.5).
//!
//! Nodes of a layer are coloured so that no two of one colour share a tetrahedron. A batch, one colour of one layer, can
//! move in parallel: what a node sees does not depend on the others of its batch, nor on the number of threads.

use super::star::Stars;

/// Layers told apart; deeper nodes form one last layer.
const LAYERS: u32 = 6;

/// Batches of independent nodes, from the boundary inward.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    batches: Vec<Vec<u32>>,
}

impl Order {
    pub(crate) fn new(stars: &Stars, on_boundary: &[bool]) -> Self {
        let layers = layers(stars, on_boundary);
        let colours = colours(stars);
        let count = colours.iter().max().map_or(0, |c| u32::from(*c) + 1);
        let mut batches = vec![Vec::new(); (LAYERS * count) as usize];
        for n in 0..stars.len() {
            if !stars.of(n).is_empty() {
                batches[(layers[n] * count + u32::from(colours[n])) as usize].push(n as u32);
            }
        }
        batches.retain(|b| !b.is_empty());
        Self { batches }
    }

    /// The batches inward, or outward if `reverse`.
    pub(crate) fn sweep(&self, reverse: bool) -> impl Iterator<Item = &[u32]> {
        let n = self.batches.len();
        (0..n).map(move |k| self.batches[if reverse { n - 1 - k } else { k }].as_slice())
    }
}

/// Steps from the boundary to each node, at most `LAYERS − 1`.
fn layers(stars: &Stars, on_boundary: &[bool]) -> Vec<u32> {
    let mut layer: Vec<u32> = on_boundary.iter().map(|b| if *b { 0 } else { LAYERS - 1 }).collect();
    let mut front: Vec<u32> = (0..layer.len() as u32).filter(|n| on_boundary[*n as usize]).collect();
    for depth in 1..LAYERS - 1 {
        let mut next = Vec::new();
        for n in front {
            for m in stars.of(n as usize).iter().flatten() {
                if layer[*m as usize] == LAYERS - 1 {
                    layer[*m as usize] = depth;
                    next.push(*m);
                }
            }
        }
        front = next;
    }
    layer
}

/// Greedy colours in node order: no two nodes of a tetrahedron share one.
fn colours(stars: &Stars) -> Vec<u8> {
    const NONE: u8 = u8::MAX;
    let mut colours = vec![NONE; stars.len()];
    for n in 0..stars.len() {
        let mut taken = [0u64; 4];
        for m in stars.of(n).iter().flatten() {
            let c = colours[*m as usize];
            if c != NONE {
                taken[usize::from(c / 64)] |= 1 << (c % 64);
            }
        }
        let word = taken.iter().position(|t| *t != u64::MAX).unwrap_or(3);
        colours[n] = (64 * word as u32 + taken[word].trailing_ones()).min(254) as u8;
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_num::par::Incidence;

    #[test]
    fn every_node_comes_once_and_batches_are_independent() {
        let mesh = billow_geom::shapes::tet_ball(1.0, 6).unwrap();
        let incidence = Incidence::new(mesh.positions.len(), &mesh.tets).unwrap();
        let stars = Stars::new(&mesh.tets, &incidence);
        let on: Vec<bool> = mesh.positions.iter().map(|x| x.length() > 0.99).collect();
        let order = Order::new(&stars, &on);
        let mut seen = vec![false; on.len()];
        let mut inner = false;
        for batch in order.sweep(false) {
            for n in batch {
                assert!(!std::mem::replace(&mut seen[*n as usize], true));
                assert!(!stars.of(*n as usize).iter().flatten().any(|m| batch.contains(m)));
                inner |= !on[*n as usize];
                assert!(!(inner && on[*n as usize]), "boundary nodes come first");
            }
        }
        assert!(seen.iter().all(|s| *s));
        assert_eq!(order.sweep(true).last(), order.sweep(false).next());
    }
}
