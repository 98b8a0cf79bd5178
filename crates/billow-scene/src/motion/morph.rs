//! Bodies that deform: their vertices go straight from mesh to mesh.

use billow_num::{Vec3, par};
use std::sync::Arc;

/// Positions of the same vertices at increasing times; constant before the first and after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Morph {
    /// Times of the keys, increasing [s].
    pub times: Vec<f64>,
    /// Positions of all vertices at each key, in the body's coordinates [m].
    pub keys: Vec<Arc<Vec<Vec3>>>,
}

impl Morph {
    /// Where vertex `index` is at time `t` [m].
    pub fn vertex(&self, index: usize, t: f64) -> Vec3 {
        let (a, b, s) = self.around(t);
        self.keys[a][index].lerp(self.keys[b][index], s)
    }

    /// Where all vertices are at time `t` [m].
    pub fn positions(&self, t: f64) -> Arc<Vec<Vec3>> {
        let (a, b, s) = self.around(t);
        if s == 0.0 {
            return Arc::clone(&self.keys[a]);
        }
        let (from, to) = (&self.keys[a], &self.keys[b]);
        Arc::new(par::map(from.len(), |i| from[i].lerp(to[i], s)))
    }

    /// The keys around `t` and the place between them.
    fn around(&self, t: f64) -> (usize, usize, f64) {
        let after = self.times.partition_point(|key| *key <= t);
        let (a, b) = (after.saturating_sub(1), after.min(self.times.len() - 1));
        let span = self.times[b] - self.times[a];
        (a, b, if span > 0.0 { ((t - self.times[a]) / span).clamp(0.0, 1.0) } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_go_straight_from_key_to_key_and_then_stay() {
        let key = |x: f64| Arc::new(vec![Vec3::X * x, Vec3::Y * x]);
        let morph = Morph { times: vec![1.0, 2.0, 4.0], keys: vec![key(0.0), key(1.0), key(-1.0)] };
        for (t, x) in [(0.0, 0.0), (1.0, 0.0), (1.25, 0.25), (2.0, 1.0), (3.0, 0.0), (4.0, -1.0), (9.0, -1.0)]
        {
            assert_eq!(morph.vertex(0, t), Vec3::X * x, "{t}");
            assert_eq!(morph.positions(t)[1], Vec3::Y * x, "{t}");
        }
    }
}
