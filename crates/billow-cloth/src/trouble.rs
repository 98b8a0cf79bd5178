//! Where cloth is out of bounds.
//!
//! Springs beyond their limits are mostly few and close together: where cloth is pinched, caught or ploughed. They and
//! what surrounds them are swept many times over while the rest of the cloth, which would gain nothing, is swept once.

use crate::links::Links;
use crate::objects::ObjectContacts;
use billow_contact::Pipeline;
use billow_num::Vec3;
use billow_num::par::Part;

/// How far from a spring out of bounds elements are swept again [springs].
const RINGS: u32 = 2;

/// If more than one spring in this many is concerned, everything is swept, with all threads.
const FEW: usize = 8;

/// Elements around springs that are out of bounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    nodes: Vec<bool>,
    springs: Vec<u32>,
    contacts: Vec<u32>,
    objects: Vec<u32>,
    everywhere: bool,
}

impl Trouble {
    /// Finds the springs that are out of bounds at `x` by more than `tolerated`, relative to the bound, and their
    /// surroundings. Says whether there are any.
    pub(crate) fn find(&mut self, links: &Links, x: &[Vec3], tolerated: f64) -> bool {
        let Self { nodes, springs, .. } = self;
        *springs = links.out_of_bounds(x, tolerated);
        if springs.is_empty() {
            return false;
        }
        nodes.clear();
        nodes.resize(x.len(), false);
        for _ in 0..RINGS {
            springs.iter().flat_map(|k| links.ends(*k)).for_each(|i| nodes[i as usize] = true);
            *springs = links.at(nodes);
        }
        self.everywhere = springs.len() > links.len() / FEW;
        true
    }

    /// Finds the contacts of the nodes concerned.
    pub(crate) fn find_contacts(&mut self, pipeline: &Pipeline<'_>) {
        self.contacts = pipeline.contacts_at(&self.nodes);
    }

    /// Finds the objects near the nodes concerned.
    pub(crate) fn find_objects(&mut self, objects: &ObjectContacts) {
        self.objects = objects.at(&self.nodes);
    }

    /// Whether it concerns much of the cloth.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.everywhere
    }

    pub(crate) fn springs(&self) -> Part<'_> {
        self.part(&self.springs)
    }

    pub(crate) fn contacts(&self) -> Part<'_> {
        self.part(&self.contacts)
    }

    pub(crate) fn objects(&self) -> Part<'_> {
        self.part(&self.objects)
    }

    fn part<'a>(&self, positions: &'a [u32]) -> Part<'a> {
        if self.everywhere { Part::All } else { Part::At(positions) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Garment, Layout, Material, Model, Setup};

    fn model(n: u32) -> Model {
        let garment = Garment {
            name: "cloth".into(),
            mesh: billow_geom::shapes::cloth_grid(1.0, 1.0, n, n).unwrap(),
            start: None,
            velocity: Vec3::ZERO,
            material: Material::default(),
            curved: false,
            equal_masses: false,
            layout: Layout::Edges,
            pins: Vec::new(),
        };
        Model::new(Setup { garments: vec![garment], ..Default::default() }).unwrap()
    }

    #[test]
    fn springs_out_of_bounds_are_found_with_their_surroundings() {
        let model = model(41);
        let (links, mut trouble) = (Links::new(&model), Trouble::default());
        let mut x = model.rest.clone();
        assert!(!trouble.find(&links, &x, 1e-3), "there is none at rest");
        let node = 20 * 41 + 20;
        x[node].z += 0.05;
        assert!(trouble.find(&links, &x, 1e-3) && !trouble.is_everywhere());
        let Part::At(springs) = trouble.springs() else { panic!("a part") };
        let reach = |k: &u32| links.ends(*k).map(|i| model.rest[i as usize].distance(model.rest[node]));
        let spacing = 1.0 / 40.0;
        assert!(springs.iter().all(|k| reach(k).iter().all(|r| *r < 3.0 * 1.5 * spacing)));
        // All springs that start less than two springs away are among them.
        let near = (0..links.len() as u32).filter(|k| reach(k).iter().any(|r| *r < 1.1 * spacing));
        assert!(near.count() > 10 && springs.len() > 40, "{}", springs.len());
        assert!((0..links.len() as u32).all(|k| reach(&k)[0] > 1.1 * spacing || springs.contains(&k)));
    }

    #[test]
    fn trouble_all_over_the_cloth_concerns_all_of_it() {
        let model = model(21);
        let x: Vec<Vec3> = model.rest.iter().map(|x| *x * 1.2).collect();
        let mut trouble = Trouble::default();
        assert!(trouble.find(&Links::new(&model), &x, 1e-3) && trouble.is_everywhere());
        assert_eq!(trouble.springs(), Part::All);
    }
}
