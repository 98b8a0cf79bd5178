//! Springs set on their strain limits, by sweeps over positions.
//!
//! Springs beyond their limits are few and close together, and setting one may take its neighbours beyond theirs. A sweep
//! therefore looks only at springs whose ends moved since they were looked at last, in the order of a sweep over all,
//! whose result it has. Where that is not enough, springs are set on their limits together, see [`crate::lines`].

use crate::lines::Lines;
use crate::links::Links;
use billow_num::Vec3;
use billow_num::par::{Incidence, Marks};

/// If more than one spring in this many must be looked at, all are.
const MANY: usize = 8;

/// The springs that may be beyond their limits.
#[derive(Debug)]
pub(crate) struct Limits {
    springs_of: Incidence,
    /// Springs to be looked at, by their places in a sweep.
    open: Marks,
    /// Nodes that moved in this sweep.
    moved: Marks,
    lines: Lines,
}

/// What else holds for positions at the end of a step.
pub(crate) trait Bounds {
    /// Moves nodes that other things keep apart, and tells which.
    fn separate(&mut self, x: &mut [Vec3], moved: &mut dyn FnMut(u32));

    /// Moves nodes out of objects: those given, or any.
    fn push_out(&mut self, x: &mut [Vec3], nodes: Option<&[u32]>);
}

impl Limits {
    pub(crate) fn new(links: &Links, nodes: usize) -> Self {
        Self {
            springs_of: links.by_node(nodes),
            open: Marks::new(links.len()),
            moved: Marks::new(nodes),
            lines: Lines::default(),
        }
    }

    /// Looks at all springs. Says whether any is beyond its limits.
    pub(crate) fn open(&mut self, links: &Links, x: &[Vec3]) -> bool {
        let beyond = links.beyond(x);
        self.open.clear();
        beyond.iter().for_each(|k| self.open.set(*k));
        !beyond.is_empty()
    }

    /// Whether any spring is longer than it may be.
    pub(crate) fn any_too_long(&self, links: &Links, x: &[Vec3]) -> bool {
        self.open.iter().any(|k| links.too_long(k, x))
    }

    /// One sweep over the positions `x`. Says whether springs are left to be looked at.
    pub(crate) fn sweep(&mut self, links: &mut Links, bounds: &mut impl Bounds, x: &mut [Vec3]) -> bool {
        if self.open.count() > links.len() / MANY {
            links.limit_all(x);
            bounds.separate(x, &mut |_| {});
            bounds.push_out(x, None);
            return self.open(links, x);
        }
        let Self { springs_of, open, moved, .. } = &*self;
        links.limit_marked(open, x, |k, nodes| {
            for node in nodes {
                moved.set(node);
                let others = springs_of.of(node as usize).iter().filter(|other| other.0 != k);
                others.for_each(|(other, _)| open.set(*other));
            }
        });
        bounds.separate(x, &mut |node| moved.set(node));
        self.settle(bounds, x);
        self.open.count() > 0
    }

    /// One sweep over lines of springs under tension, after which springs whose ends moved are to be looked at.
    pub(crate) fn pull_lines(&mut self, links: &Links, bounds: &mut impl Bounds, x: &mut [Vec3]) {
        let Self { springs_of, moved, lines, .. } = self;
        lines.sweep(links, springs_of, x, |node| moved.set(node));
        self.settle(bounds, x);
    }

    /// Takes nodes that moved out of objects; their springs are to be looked at.
    fn settle(&mut self, bounds: &mut impl Bounds, x: &mut [Vec3]) {
        let moved: Vec<u32> = self.moved.iter().collect();
        self.moved.clear();
        bounds.push_out(x, Some(&moved));
        for node in moved {
            self.springs_of.of(node as usize).iter().for_each(|(k, _)| self.open.set(*k));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Garment, Layout, Material, Model, Setup};
    use billow_num::rng::Stream;

    /// Keeps every seventh node from leaving a plane.
    struct Plane;

    impl Bounds for Plane {
        fn separate(&mut self, _: &mut [Vec3], _: &mut dyn FnMut(u32)) {}

        fn push_out(&mut self, x: &mut [Vec3], nodes: Option<&[u32]>) {
            let all: Vec<u32> = (0..x.len() as u32).collect();
            for i in nodes.unwrap_or(&all).iter().filter(|i| i.is_multiple_of(7)) {
                x[*i as usize].z = 0.0;
            }
        }
    }

    #[test]
    fn sweeps_over_what_moved_give_the_bits_of_sweeps_over_all() {
        let mesh = billow_geom::shapes::cloth_grid(1.0, 1.0, 40, 40).unwrap();
        let garment = Garment {
            name: "cloth".into(),
            start: None,
            velocity: Vec3::ZERO,
            material: Material::default(),
            curved: false,
            equal_masses: false,
            layout: Layout::Edges,
            pins: Vec::new(),
            mesh,
        };
        let model = Model::new(Setup { garments: vec![garment], ..Default::default() }).unwrap();
        let mut links = Links::new(&model);
        let mut limits = Limits::new(&links, model.node_count());
        // Four patches are torn at.
        let mut draws = Stream::new(4, 7).at(0);
        let mut x = model.rest.clone();
        for _ in 0..4 {
            let middle = x[draws.below(1600) as usize];
            for x in x.iter_mut().filter(|x| x.distance(middle) < 0.05) {
                *x += Vec3::from_array([0; 3].map(|_| draws.range(-0.02, 0.02)));
            }
        }
        Plane.push_out(&mut x, None);
        let mut all = x.clone();
        assert!(limits.open(&links, &x));
        let (mut few, mut left) = (0, true);
        for _ in 0..60 {
            few += u32::from(left && limits.open.count() <= links.len() / MANY);
            left = left && limits.sweep(&mut links, &mut Plane, &mut x);
            links.limit_all(&mut all);
            Plane.push_out(&mut all, None);
            assert_eq!(x, all);
        }
        assert!(few > 10 && !limits.any_too_long(&links, &x), "{few}");
    }
}
