//! Where nodes are taken to be during a step: on their way from one place to another, or about there.

use crate::Surface;
use crate::pair::{Kind, Path, Reach};
use billow_num::Vec3;

/// A node that goes straight from one place to another, and the distance that its elements keep around themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    /// Where it starts [m].
    pub(crate) from: Vec3,
    /// Where it ends [m].
    pub(crate) to: Vec3,
    /// Distance kept all the way [m].
    pub(crate) around: f64,
    /// Distance that its edges keep from others: no more [m].
    pub(crate) around_edges: f64,
}

impl Way {
    /// Where it is half of the time [m].
    pub(crate) fn middle(&self) -> Vec3 {
        self.from.midpoint(self.to)
    }

    /// The same way with a larger distance around it.
    pub(crate) fn grown(&self, by: f64) -> Self {
        Self { around: self.around + by, around_edges: self.around_edges + by, ..*self }
    }

    /// The same distance kept around the middle. Elements that keep apart all the way keep apart there too.
    pub(crate) fn halted(&self) -> Self {
        Self { from: self.middle(), to: self.middle(), ..*self }
    }

    /// Whether a node that goes another way is certainly within this one at any time.
    #[inline(always)]
    pub(crate) fn holds(&self, other: &Self) -> bool {
        // More than what rounding takes away.
        const MARGIN: f64 = 1.0 - 1e-6;
        let leeway = (self.around - other.around).min(self.around_edges - other.around_edges) * MARGIN;
        let within = |way: Vec3| way.length_squared() <= leeway * leeway;
        leeway >= 0.0 && within(other.from - self.from) && within(other.to - self.to)
    }
}

/// Trajectories of all nodes, and the distance within which their elements are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit<'a> {
    pub(crate) surface: &'a Surface,
    pub(crate) path: Path<'a>,
    /// Distances that elements may keep and still be shown.
    pub(crate) reach: Reach,
    /// The frame in which ways are told.
    pub(crate) frame: Frame,
}

/// Where the origin of ways is at the start and at the end of the step [m]. In a frame that goes along with most nodes they
/// are slow, however fast they are together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) from: Vec3,
    pub(crate) to: Vec3,
}

impl<'a> Fit<'a> {
    /// All that may become contacts.
    pub(crate) fn contacts(surface: &'a Surface, path: Path<'a>) -> Self {
        Self { surface, path, reach: Reach::MET, frame: Frame::default() }
    }

    /// Distance that elements of the vertex's body keep around themselves in pairs of a kind [m].
    #[inline(always)]
    pub(crate) fn around(&self, vertex: usize, kind: Kind) -> f64 {
        0.5 * self.reach.of(kind) * self.surface.thickness(vertex as u32)
    }

    /// Largest distance within which elements are looked for [m].
    pub(crate) fn widest(&self) -> f64 {
        let reach = self.reach.of(Kind::VertexFace);
        self.surface.bodies().iter().map(|body| reach * body.thickness).fold(0.0, f64::max)
    }

    /// The way of a node.
    #[inline(always)]
    pub(crate) fn way(&self, vertex: usize) -> Way {
        let (Path { x0, x1 }, Frame { from, to }) = (self.path, self.frame);
        Way {
            from: x0[vertex] - from,
            to: x1[vertex] - to,
            around: self.around(vertex, Kind::VertexFace),
            around_edges: self.around(vertex, Kind::EdgeEdge),
        }
    }

    /// Whether a way certainly has room for that of a node.
    pub(crate) fn keeps_to(&self, way: &Way, vertex: usize) -> bool {
        way.holds(&self.way(vertex))
    }
}
