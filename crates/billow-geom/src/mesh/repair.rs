//! Repairs of triangle meshes, one fault at a time or all in order.
//!
//! Every repair keeps the order of what remains and says what it did, so that data attached to vertices can
//! follow. None moves a vertex, except that welding puts merged vertices at the position of the lowest.

use super::facing::Facing;
use super::validity::{duplicate_vertices, is_collinear};
use super::{TetMesh, Topology, TriMesh, check_indices};
use crate::GeomError;
use crate::predicates::orient3d;
use std::collections::HashMap;

/// What [`repair`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairLog {
    /// Triangles dropped because they name missing vertices or vertices that are not finite.
    pub unusable_triangles: usize,
    /// Vertices merged into others.
    pub welded_vertices: usize,
    /// Triangles dropped because they have no area.
    pub degenerate_triangles: usize,
    /// Triangles dropped because they repeat an earlier one.
    pub duplicate_triangles: usize,
    /// Vertices added where one vertex joined several fans.
    pub split_vertices: usize,
    /// Triangles turned over.
    pub flipped_triangles: usize,
    /// Lowest triangles of components that cannot be oriented.
    pub non_orientable: Vec<u32>,
    /// Vertex of the mesh before the repair for each vertex after it.
    pub vertices: Vec<u32>,
}

/// Makes a mesh as sound as it can be made without remeshing: drops unusable triangles, welds vertices within
/// `tolerance` [m], drops degenerate and duplicate triangles, splits vertices that join several fans,
/// orients, and drops unused vertices.
///
/// # Errors
/// When the tolerance is negative or not finite, or the mesh is too large.
pub fn repair(mesh: &mut TriMesh, tolerance: f64) -> Result<RepairLog, GeomError> {
    let mut log = RepairLog { unusable_triangles: remove_unusable(mesh), ..RepairLog::default() };
    log.welded_vertices = weld(mesh, tolerance)?.merged;
    log.degenerate_triangles = remove_degenerate(mesh);
    log.duplicate_triangles = remove_duplicates(mesh);
    let before = mesh.positions.len();
    let origins = split_fans(mesh)?;
    log.split_vertices = mesh.positions.len() - before;
    let orientation = orient(mesh)?;
    log.flipped_triangles = orientation.flipped;
    log.non_orientable = orientation.non_orientable;
    log.vertices = remove_unused(mesh)?.iter().map(|&v| origins[v as usize]).collect();
    Ok(log)
}

/// Drops triangles that name missing vertices or vertices that are not finite; returns how many.
pub fn remove_unusable(mesh: &mut TriMesh) -> usize {
    let positions = &mesh.positions;
    let usable = |v: &u32| positions.get(*v as usize).is_some_and(|p| p.is_finite());
    keep(&mut mesh.triangles, |t| t.iter().all(usable))
}

/// Drops triangles that name a vertex twice or whose corners lie exactly on a line; returns how many.
///
/// Dropping a triangle whose three distinct corners lie on a line can leave a slit; [`weld`] first where that
/// matters.
pub fn remove_degenerate(mesh: &mut TriMesh) -> usize {
    let positions = &mesh.positions;
    keep(&mut mesh.triangles, |&[a, b, c]| {
        let corners = [a, b, c].map(|v| positions.get(v as usize).copied());
        a != b
            && b != c
            && c != a
            && !matches!(corners, [Some(a), Some(b), Some(c)] if is_collinear([a, b, c]))
    })
}

/// Drops triangles on the same three vertices as an earlier one; returns how many.
pub fn remove_duplicates(mesh: &mut TriMesh) -> usize {
    let mut order: Vec<([u32; 3], u32)> = (0u32..)
        .zip(&mesh.triangles)
        .map(|(i, &t)| {
            let mut key = t;
            key.sort_unstable();
            (key, i)
        })
        .collect();
    order.sort_unstable();
    let mut first = vec![false; mesh.triangles.len()];
    order.chunk_by(|a, b| a.0 == b.0).for_each(|group| first[group[0].1 as usize] = true);
    let mut flags = first.into_iter();
    keep(&mut mesh.triangles, |_| flags.next().unwrap_or(true))
}

/// Drops vertices that no triangle uses; returns the old number of each vertex that stays.
///
/// # Errors
/// When a triangle names a missing vertex.
pub fn remove_unused(mesh: &mut TriMesh) -> Result<Vec<u32>, GeomError> {
    check_indices("triangle", mesh.positions.len(), &mesh.triangles)?;
    let all: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    let part = mesh.extract(&all);
    *mesh = part.mesh;
    Ok(part.vertices)
}

/// Which vertices [`weld`] merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weld {
    /// The vertex that now stands for each vertex, the lowest of those merged.
    pub target: Vec<u32>,
    /// How many vertices were merged into others.
    pub merged: usize,
}

/// Merges vertices closer than `tolerance` [m]; zero merges exactly equal positions only.
///
/// Vertices are taken in order; each joins the nearest earlier vertex that stands for itself within reach, or
/// stands for itself. Triangles are renumbered, vertices stay in place ([`remove_unused`] drops the merged
/// ones), and triangles that collapsed are left for [`remove_degenerate`].
///
/// # Errors
/// When the tolerance is negative or not finite.
pub fn weld(mesh: &mut TriMesh, tolerance: f64) -> Result<Weld, GeomError> {
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        let allowed = "zero or positive, and finite [m]".into();
        return Err(GeomError::Parameter { of: "weld", name: "tolerance", value: tolerance, allowed });
    }
    let mut target: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for [later, earliest] in duplicate_vertices(&mesh.positions) {
        target[later as usize] = earliest;
    }
    if tolerance > 0.0 {
        weld_near(mesh, tolerance, &mut target);
    }
    let merged = (0u32..).zip(&target).filter(|(v, t)| v != *t).count();
    for v in mesh.triangles.iter_mut().flatten() {
        *v = target.get(*v as usize).copied().unwrap_or(*v);
    }
    Ok(Weld { target, merged })
}

/// Lets each vertex that still stands for itself join the nearest earlier one within `tolerance`.
fn weld_near(mesh: &TriMesh, tolerance: f64, target: &mut [u32]) {
    let origin = mesh.local_origin();
    let cell = |v: usize| ((mesh.positions[v] - origin) / tolerance).floor().to_array().map(|x| x as i64);
    let mut standing: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for v in 0..target.len() {
        if target[v] != v as u32 {
            // An exact copy goes where its earliest copy went.
            target[v] = target[target[v] as usize];
            continue;
        }
        if !mesh.positions[v].is_finite() {
            continue;
        }
        let home = cell(v);
        let mut nearest: Option<(f64, u32)> = None;
        for step in 0..27i64 {
            let at = [0, 1, 2].map(|k| home[k].saturating_add(step / 3i64.pow(k as u32) % 3 - 1));
            for &other in standing.get(&at).into_iter().flatten() {
                let d = mesh.positions[v].distance(mesh.positions[other as usize]);
                if d <= tolerance && nearest.is_none_or(|n| (d, other) < n) {
                    nearest = Some((d, other));
                }
            }
        }
        match nearest {
            Some((_, other)) => target[v] = other,
            None => standing.entry(home).or_default().push(v as u32),
        }
    }
}

/// Gives each fan of triangles its own copy of the vertex where several meet; returns the original of every
/// vertex.
///
/// # Errors
/// When the mesh has bad indices; see [`Topology::new`].
pub fn split_fans(mesh: &mut TriMesh) -> Result<Vec<u32>, GeomError> {
    let topology = mesh.topology()?;
    let mut origins: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    for v in topology.non_manifold_vertices() {
        let star = topology.vertex_triangles(v);
        let mut fan: Vec<usize> = (0..star.len()).collect();
        // Triangles that share an edge of exactly two triangles at v belong to one fan.
        for &e in topology.vertex_edges(v) {
            if let Some(pair) = topology.edge_pair(e) {
                let [a, b] = pair.map(|t| fan[star.iter().position(|&s| s == t).unwrap_or(0)]);
                fan.iter_mut().filter(|f| **f == a.max(b)).for_each(|f| *f = a.min(b));
            }
        }
        for first in (1..star.len()).filter(|&k| fan[k] == k) {
            let copy = mesh.positions.len() as u32;
            mesh.positions.push(mesh.positions[v as usize]);
            origins.push(v);
            for (&t, _) in star.iter().zip(&fan).filter(|(_, f)| **f == first) {
                mesh.triangles[t as usize].iter_mut().filter(|c| **c == v).for_each(|c| *c = copy);
            }
        }
    }
    Ok(origins)
}

/// What [`orient`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Triangles turned over.
    pub flipped: usize,
    /// Lowest triangles of components that have no consistent orientation.
    pub non_orientable: Vec<u32>,
}

/// Turns triangles over until neighbours agree, component by component: closed components then face outward
/// (inward where they bound a cavity), open ones keep the orientation of most of their triangles.
///
/// # Errors
/// When the mesh has bad indices; see [`Topology::new`].
pub fn orient(mesh: &mut TriMesh) -> Result<Orientation, GeomError> {
    let topology = mesh.topology()?;
    let mut result = Orientation::default();
    let mut flipped = vec![None; mesh.triangles.len()];
    for first in 0..mesh.triangles.len() as u32 {
        if flipped[first as usize].is_none() {
            let patch = spread_orientation(&topology, first, &mut flipped, &mut result.non_orientable);
            let turned = patch.iter().filter(|&&t| flipped[t as usize] == Some(true)).count();
            if 2 * turned > patch.len() {
                patch.iter().for_each(|&t| flipped[t as usize] = flipped[t as usize].map(|f: bool| !f));
            }
        }
    }
    let before = mesh.triangles.clone();
    for (t, _) in mesh.triangles.iter_mut().zip(&flipped).filter(|(_, f)| **f == Some(true)) {
        t.swap(1, 2);
    }
    let topology = mesh.topology()?;
    let components = topology.components();
    let facing = Facing::new(mesh, &topology, &components);
    for c in (0..components.count() as u32).filter(|&c| facing.is_wrong(c)) {
        components.triangles(c).iter().for_each(|&t| mesh.triangles[t as usize].swap(1, 2));
    }
    result.flipped = before.iter().zip(&mesh.triangles).filter(|(a, b)| a != b).count();
    Ok(result)
}

/// Decides which triangles to flip to agree with `first`, across edges of two triangles; returns those
/// reached.
fn spread_orientation(
    topology: &Topology,
    first: u32,
    flipped: &mut [Option<bool>],
    non_orientable: &mut Vec<u32>,
) -> Vec<u32> {
    flipped[first as usize] = Some(false);
    let mut patch = vec![first];
    let mut conflict = false;
    let mut next = 0;
    while let Some(&t) = patch.get(next) {
        next += 1;
        for &e in &topology.triangle_edges()[t as usize] {
            let Some([a, b]) = topology.edge_pair(e) else { continue };
            let other = a ^ b ^ t;
            let same_way = topology.runs_forward(a, e) == topology.runs_forward(b, e);
            let wanted = flipped[t as usize].map(|f| f != same_way);
            match flipped[other as usize] {
                None => {
                    flipped[other as usize] = wanted;
                    patch.push(other);
                }
                have => conflict |= have != wanted,
            }
        }
    }
    if conflict {
        non_orientable.push(first);
    }
    patch
}

/// Swaps two corners of every tetrahedron with negative volume, judged exactly; returns how many.
pub fn orient_tets(mesh: &mut TetMesh) -> usize {
    let mut swapped = 0;
    for t in 0..mesh.tets.len() {
        if mesh.tets[t].iter().any(|&v| v as usize >= mesh.positions.len()) {
            continue;
        }
        let [a, b, c, d] = mesh.corners(t);
        if orient3d(a, b, c, d) < 0 {
            mesh.tets[t].swap(2, 3);
            swapped += 1;
        }
    }
    swapped
}

/// Keeps the items that satisfy `wanted`; returns how many went.
fn keep<T>(list: &mut Vec<T>, wanted: impl FnMut(&T) -> bool) -> usize {
    let before = list.len();
    list.retain(wanted);
    before - list.len()
}
