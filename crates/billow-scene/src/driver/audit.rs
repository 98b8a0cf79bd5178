//! The exact audit of a frame: which triangles of which objects pass through each other.
//!
//! Objects are placed in the world, tetrahedral meshes by their surface, and every pair of triangles with overlapping
//! boxes is classified by exact predicates ([`billow_geom::audit`]). Crossing pairs and coplanar overlaps count,
//! touching does not. A frame in which nothing moved since the last one keeps its verdict.

use billow_geom::TetMesh;
use billow_geom::audit::{Auditor as TriangleAuditor, Contact, Soup};
use billow_io::{Frame, Object, Shape};
use billow_num::{Vec3, par};
use std::collections::HashSet;
use std::sync::Arc;

/// What to do about crossing elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCrossing {
    /// Do not look.
    Off,
    /// Count them in the report.
    Report,
    /// End the run before the frame is stored.
    Fail,
}

/// Crossing pairs of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameAudit {
    /// Number of crossing pairs of triangles.
    pub pairs: u64,
    /// The first of them, in words.
    pub first: Option<String>,
    /// Pairs of objects that cross, in the order of the frame.
    pub objects: Vec<ObjectCrossing>,
    /// Triangles without area.
    pub degenerate: u64,
}

/// Two objects that cross.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectCrossing {
    /// Their names; twice the same for an object that crosses itself.
    pub objects: [String; 2],
    /// Number of crossing pairs of triangles.
    pub pairs: u64,
    /// The first pair of triangles, by index in their objects.
    pub elements: [u32; 2],
    /// A place near the first pair [m].
    pub place: Vec3,
    /// The first few pairs of triangles.
    pub listed: Vec<[u32; 2]>,
}

/// Pairs of triangles listed one by one for each pair of objects.
const LISTED: usize = 8;

/// Tetrahedra and the triangles of their surface.
type TetSurface = (Arc<Vec<[u32; 4]>>, Vec<[u32; 3]>);

/// Audits frames of one run, one after the other.
#[derive(Debug)]
pub struct Auditor {
    may_cross: Vec<[String; 2]>,
    left_out: HashSet<String>,
    last: Option<(Vec<Object>, FrameAudit)>,
    tree: Option<(Vec<[u32; 3]>, TriangleAuditor)>,
    surfaces: Vec<TetSurface>,
}

impl Auditor {
    /// An auditor that overlooks the given pairs of objects.
    pub fn new(may_cross: &[[String; 2]]) -> Self {
        let may_cross = may_cross.to_vec();
        Self { may_cross, left_out: HashSet::new(), last: None, tree: None, surfaces: Vec::new() }
    }

    /// Leaves out the objects with these names.
    pub fn leave_out(mut self, names: &[String]) -> Self {
        self.left_out = names.iter().cloned().collect();
        self
    }

    /// Finds the crossing pairs of a frame.
    pub fn audit(&mut self, frame: &Frame) -> FrameAudit {
        let shapes = |o: &Object| Object { attributes: Vec::new(), ..o.clone() };
        let judged: Vec<Object> =
            frame.objects.iter().filter(|o| !self.left_out.contains(&o.name)).map(shapes).collect();
        if let Some((objects, audit)) = &self.last
            && objects.len() == judged.len()
            && objects.iter().zip(&judged).all(|(a, b)| same_place(a, b))
        {
            return audit.clone();
        }
        let audit = self.examine(&judged);
        self.last = Some((judged, audit.clone()));
        audit
    }

    fn examine(&mut self, objects: &[Object]) -> FrameAudit {
        // Put all surfaces into one soup, in world coordinates.
        let mut soup = Soup::default();
        let mut owners = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            let world: Vec<Vec3> = match &object.shape {
                Shape::Triangles { positions, .. } | Shape::Tets { positions, .. } => {
                    par::map(positions.len(), |i| object.pose.point(positions[i]))
                }
                _ => continue,
            };
            match &object.shape {
                Shape::Triangles { triangles, .. } => soup.push(&world, triangles),
                Shape::Tets { tets, .. } => soup.push(&world, self.surface(tets, world.len())),
                _ => {}
            }
            owners.push(index);
        }
        // Keep the tree while the triangles stay the same.
        let tree = match &mut self.tree {
            Some((triangles, tree)) if *triangles == soup.triangles => tree,
            slot => {
                let tree = TriangleAuditor::new(&soup.positions, &soup.triangles);
                &mut slot.insert((soup.triangles.clone(), tree)).1
            }
        };
        let audit = tree.run(&soup.positions, &soup.triangles);
        let mut found = FrameAudit { degenerate: audit.degenerate.len() as u64, ..FrameAudit::default() };
        for finding in audit.findings.iter().filter(|f| f.contact != Contact::Touching) {
            let elements = finding.triangles.map(|t| soup.element(t));
            let names = elements.map(|e| objects[owners[e.mesh as usize]].name.as_str());
            if !self.allowed(names) {
                let corners = finding.triangles.map(|t| soup.triangles[t as usize]);
                let place =
                    corners.as_flattened().iter().map(|c| soup.positions[*c as usize]).sum::<Vec3>() / 6.0;
                found.add(names, elements.map(|e| e.triangle), place);
            }
        }
        found
    }

    /// The surface of a tetrahedral mesh, computed once.
    fn surface(&mut self, tets: &Arc<Vec<[u32; 4]>>, vertices: usize) -> &[[u32; 3]] {
        let known = self.surfaces.iter().position(|(t, _)| Arc::ptr_eq(t, tets) || t == tets);
        let index = known.unwrap_or_else(|| {
            self.surfaces.push((Arc::clone(tets), surface_of(tets, vertices)));
            self.surfaces.len() - 1
        });
        &self.surfaces[index].1
    }

    fn allowed(&self, [a, b]: [&str; 2]) -> bool {
        self.may_cross.iter().any(|[c, d]| (a == c && b == d) || (a == d && b == c))
    }
}

impl FrameAudit {
    fn add(&mut self, names: [&str; 2], elements: [u32; 2], place: Vec3) {
        if self.pairs == 0 {
            let ([a, b], [i, j]) = (names, elements);
            self.first = Some(format!(
                "triangle {i} of `{a}` with triangle {j} of `{b}` near [{:.6}, {:.6}, {:.6}] m",
                place.x, place.y, place.z
            ));
        }
        self.pairs += 1;
        match self.objects.iter_mut().find(|o| o.objects[0] == names[0] && o.objects[1] == names[1]) {
            Some(known) => {
                known.pairs += 1;
                if known.listed.len() < LISTED {
                    known.listed.push(elements);
                }
            }
            None => {
                let objects = names.map(str::to_owned);
                self.objects.push(ObjectCrossing {
                    objects,
                    pairs: 1,
                    elements,
                    place,
                    listed: vec![elements],
                });
            }
        }
    }
}

/// Whether two objects are the same surface in the same place.
fn same_place(a: &Object, b: &Object) -> bool {
    let bits = |o: &Object| (o.pose.position.to_array(), o.pose.rotation.to_array());
    a.name == b.name
        && bits(a) == bits(b)
        && match (&a.shape, &b.shape) {
            (
                Shape::Triangles { positions: p, triangles: t },
                Shape::Triangles { positions: q, triangles: u },
            ) => (Arc::ptr_eq(p, q) || p == q) && (Arc::ptr_eq(t, u) || t == u),
            (Shape::Tets { positions: p, tets: t }, Shape::Tets { positions: q, tets: u }) => {
                (Arc::ptr_eq(p, q) || p == q) && (Arc::ptr_eq(t, u) || t == u)
            }
            // Nothing else is audited.
            (Shape::Triangles { .. } | Shape::Tets { .. }, _) => false,
            (_, Shape::Triangles { .. } | Shape::Tets { .. }) => false,
            _ => true,
        }
}

/// The outward boundary triangles of tetrahedra; none if they are not a mesh.
fn surface_of(tets: &[[u32; 4]], vertices: usize) -> Vec<[u32; 3]> {
    let mesh = TetMesh { positions: vec![Vec3::ZERO; vertices], tets: tets.to_vec() };
    match mesh.topology() {
        Ok(topology) => {
            let boundary = topology.boundary_faces();
            boundary.iter().map(|f| topology.faces()[*f as usize]).collect()
        }
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use billow_geom::shapes;
    use billow_num::{Pose, Quat};

    fn frame(t: f64) -> Frame {
        let ball = shapes::icosphere(0.5, 3).expect("valid");
        let block = shapes::tet_box(Vec3::ONE, [2, 2, 2]).expect("valid");
        let turning = Pose { position: Vec3::new(2.0 - t, 0.0, 0.1), rotation: Quat::from_rotation_z(t) };
        let ball = Shape::Triangles { positions: ball.positions.into(), triangles: ball.triangles.into() };
        let block = Shape::Tets { positions: block.positions.into(), tets: block.tets.into() };
        let objects = vec![
            Object { pose: turning, ..Object::new("ball", ball.clone()) },
            Object::new("block", block),
            Object { pose: turning, ..Object::new("twin", ball) },
        ];
        Frame { time: t, objects, ..Frame::default() }
    }

    #[test]
    fn one_auditor_for_all_frames_finds_what_a_fresh_one_finds() {
        let may_cross = [["twin".to_owned(), "ball".to_owned()]];
        let mut reused = Auditor::new(&may_cross);
        let mut crossed = 0;
        for t in [0.0, 0.0, 0.8, 0.95, 1.2, 2.0, 2.0, 1.2, 3.5] {
            let (now, fresh) = (reused.audit(&frame(t)), Auditor::new(&may_cross).audit(&frame(t)));
            assert_eq!(now, fresh, "t = {t}");
            // Half a metre of ball against half a metre of block, centres 2 − t apart.
            assert_eq!(now.pairs > 0, (1.0..3.0).contains(&t), "t = {t}: {now:?}");
            assert!(now.objects.iter().all(|o| o.objects.contains(&"block".to_owned())), "{now:?}");
            crossed += usize::from(now.pairs > 0);
        }
        assert_eq!(crossed, 4);
        assert!(Auditor::new(&[]).audit(&frame(0.0)).objects[0].objects == ["ball", "twin"]);
    }
}
