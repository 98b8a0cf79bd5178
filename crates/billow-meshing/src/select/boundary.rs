//! The boundary of a selection and what is wrong with it ([Bri03] 5.4).
//!
//! A tetrahedron is selected when one of its nodes is enveloped. A face is on the boundary when only one of its sides is
//! selected; since all tetrahedra at an enveloped node are selected, such a face has none, and a tetrahedron has at
//! most one boundary face. Three conditions are checked: every edge of the boundary has two faces and every node one fan (a manifold), and no
//! edge inside joins two boundary nodes. That no tetrahedron has four boundary nodes follows from the selection.

use billow_num::par;
use billow_num::par::Incidence;

/// What is wrong with a boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Nodes whose boundary faces do not form one fan, ascending.
    pub(crate) pinched: Vec<u32>,
    /// Edges inside that join two boundary nodes, ascending.
    pub(crate) bridges: Vec<[u32; 2]>,
}

/// The boundary of a set of tetrahedra around enveloped nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boundary {
    /// Corners of each face, counter-clockwise seen from outside.
    pub(crate) faces: Vec<[u32; 3]>,
    /// Nodes on the boundary, ascending.
    pub(crate) nodes: Vec<u32>,
}

/// Packs an edge, smaller end first.
#[inline]
fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Boundary {
    /// The boundary of all `tets` with a corner for which `enveloped` is set.
    pub(crate) fn new(tets: &[[u32; 4]], stars: &Incidence, enveloped: &[bool]) -> Self {
        use billow_geom::mesh::TET_FACES;
        let inside = |n: u32| enveloped[n as usize];
        let faces = par::gather(tets.len(), 4096, |range, out: &mut Vec<[u32; 3]>| {
            for t in range {
                let tet = tets[t];
                let mut corners = (0..4).filter(|k| inside(tet[*k]));
                let (Some(k), None) = (corners.next(), corners.next()) else { continue };
                let face = TET_FACES[k].map(|c| tet[c]);
                let other = stars.of(face[0] as usize).iter().find_map(|&(u, _)| {
                    let other = tets[u as usize];
                    let shares = u as usize != t && other.contains(&face[1]) && other.contains(&face[2]);
                    shares.then_some(other)
                });
                // The far side is unselected when its fourth node is not enveloped either.
                if other.is_none_or(|o| !o.iter().any(|n| inside(*n))) {
                    out.push(face);
                }
            }
        });
        let mut nodes: Vec<u32> = faces.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        Self { faces, nodes }
    }

    /// Number of faces at each node of the boundary, in the order of `nodes`.
    pub(crate) fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.nodes.len()];
        for n in self.faces.iter().flatten() {
            if let Ok(k) = self.nodes.binary_search(n) {
                degrees[k] += 1;
            }
        }
        degrees
    }

    /// Everything that violates the conditions.
    pub(crate) fn faults(&self, tets: &[[u32; 4]], stars: &Incidence, enveloped: &[bool]) -> Faults {
        let mut edges: Vec<u64> =
            self.faces.iter().flat_map(|[a, b, c]| [pack(*a, *b), pack(*b, *c), pack(*c, *a)]).collect();
        edges.sort_unstable();
        let mut pinched = Vec::new();
        for group in edges.chunk_by(|a, b| a == b) {
            if group.len() != 2 {
                pinched.extend([(group[0] >> 32) as u32, group[0] as u32]);
            }
        }
        edges.dedup();
        self.find_split_fans(&mut pinched);
        pinched.sort_unstable();
        pinched.dedup();
        let bridges = self.find_bridges(tets, stars, enveloped, &edges);
        Faults { pinched, bridges }
    }

    /// Nodes whose faces form more than one cycle.
    fn find_split_fans(&self, pinched: &mut Vec<u32>) {
        // Each face gives each of its nodes one step from a neighbour to the next around it.
        let mut steps: Vec<(u32, u32, u32)> =
            self.faces.iter().flat_map(|[a, b, c]| [(*a, *b, *c), (*b, *c, *a), (*c, *a, *b)]).collect();
        steps.sort_unstable();
        for fan in steps.chunk_by(|a, b| a.0 == b.0) {
            let (mut at, mut length) = (fan[0].1, 0);
            while length < fan.len() {
                let Ok(k) = fan.binary_search_by_key(&at, |s| s.1) else { break };
                at = fan[k].2;
                length += 1;
                if at == fan[0].1 {
                    break;
                }
            }
            if length != fan.len() {
                pinched.push(fan[0].0);
            }
        }
    }

    /// Edges of selected tetrahedra between boundary nodes that are not edges of the boundary.
    fn find_bridges(
        &self,
        tets: &[[u32; 4]],
        stars: &Incidence,
        enveloped: &[bool],
        edges: &[u64],
    ) -> Vec<[u32; 2]> {
        let mut bridges = par::gather(self.nodes.len(), 512, |range, out: &mut Vec<[u32; 2]>| {
            for &n in &self.nodes[range] {
                for &(t, _) in stars.of(n as usize) {
                    let tet = tets[t as usize];
                    if !tet.iter().any(|m| enveloped[*m as usize]) {
                        continue;
                    }
                    for m in tet {
                        let outer = m > n && self.nodes.binary_search(&m).is_ok();
                        if outer && edges.binary_search(&pack(n, m)).is_err() {
                            out.push([n, m]);
                        }
                    }
                }
            }
        });
        bridges.sort_unstable();
        bridges.dedup();
        bridges
    }
}
