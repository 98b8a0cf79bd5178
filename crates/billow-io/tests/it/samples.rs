//! Frames that several tests use.

use billow_io::{Attribute, Domain, Frame, Grid, Object, Shape, Values};
use billow_num::{Pose, Quat, Vec3};
use std::sync::Arc;

/// Corner indices of an `n` × `n` sheet of vertices.
pub(crate) fn sheet_triangles(n: u32) -> Vec<[u32; 3]> {
    let quad = |i: u32, j: u32| {
        let a = i + n * j;
        [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]
    };
    (0..n - 1).flat_map(|j| (0..n - 1).flat_map(move |i| quad(i, j))).collect()
}

/// Vertices of a waving sheet of side 1.5 m at time `t`.
pub(crate) fn sheet_positions(n: u32, t: f64) -> Vec<Vec3> {
    let h = 1.5 / f64::from(n - 1);
    let at = |i: u32, j: u32| {
        let (x, y) = (f64::from(i) * h, f64::from(j) * h);
        let z = 0.1 * (4.0 * x + 3.0 * t).sin() * (3.0 * y - 2.0 * t).cos();
        Vec3::new(x + 0.02 * (5.0 * y + t).sin(), y + 0.01 * (7.0 * x - t).cos(), 1.0 + z)
    };
    (0..n).flat_map(|j| (0..n).map(move |i| at(i, j))).collect()
}

/// Velocities of the sheet at time `t` [m/s].
pub(crate) fn sheet_velocities(n: u32, t: f64) -> Vec<[f32; 3]> {
    let (a, b) = (sheet_positions(n, t - 1e-4), sheet_positions(n, t + 1e-4));
    a.iter().zip(&b).map(|(a, b)| ((*b - *a) / 2e-4).as_vec3().to_array()).collect()
}

/// A run's constant arrays, so that frames share them.
pub(crate) struct Sample {
    n: u32,
    sheet: Arc<Vec<[u32; 3]>>,
    body: Arc<Vec<Vec3>>,
    faces: Arc<Vec<[u32; 3]>>,
    tet: Arc<Vec<[u32; 4]>>,
    segments: Arc<Vec<[u32; 2]>>,
}

impl Sample {
    /// A sheet of `n` × `n` vertices and small objects of every other kind.
    pub(crate) fn new(n: u32) -> Self {
        Self {
            n,
            sheet: Arc::new(sheet_triangles(n)),
            body: Arc::new(sheet_positions(12, 0.3)),
            faces: Arc::new(sheet_triangles(12)),
            tet: Arc::new(vec![[0, 1, 2, 3]]),
            segments: Arc::new((0..39).map(|i| [i, i + 1]).collect()),
        }
    }

    /// Frame `index` at 24 frames per second, with every kind of shape, attribute and odd number.
    pub(crate) fn frame(&self, index: u32) -> Frame {
        let t = f64::from(index) / 24.0;
        let mut frame = Frame { index, time: t, ..Frame::default() };
        frame.stats.insert("seconds".into(), 0.25 * t);
        frame.stats.insert("not a number".into(), f64::from_bits(0x7ff8_dead_beef_0001));
        let positions = Arc::new(sheet_positions(self.n, t));
        let mut sheet =
            Object::new("sheet", Shape::Triangles { positions, triangles: Arc::clone(&self.sheet) });
        let strain = (0..self.sheet.len()).map(|k| (k as f32 * 0.01 + t as f32).sin()).collect::<Vec<_>>();
        sheet.attributes = vec![
            Attribute {
                name: "velocity".into(),
                domain: Domain::Vertex,
                values: Values::Vector(Arc::new(sheet_velocities(self.n, t))),
            },
            Attribute {
                name: "strain".into(),
                domain: Domain::Element,
                values: Values::Scalar(Arc::new(strain)),
            },
            Attribute {
                name: "id".into(),
                domain: Domain::Object,
                values: Values::Integer(Arc::new(vec![-7])),
            },
        ];
        let mut body = Object::new(
            "Körper/1",
            Shape::Triangles { positions: Arc::clone(&self.body), triangles: Arc::clone(&self.faces) },
        );
        body.pose = Pose {
            position: Vec3::new(t, -0.5 * t * t, 2.0),
            rotation: Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 2.0 * t),
        };
        let jelly = vec![Vec3::ZERO, Vec3::X, Vec3::Y * (1.0 + 0.1 * t), Vec3::Z];
        let drops = (0..index * 5).map(|k| Vec3::new(f64::from(k), t, -1.0)).collect::<Vec<_>>();
        let rope = (0..40).map(|k| Vec3::new(0.1 * f64::from(k), (0.3 * f64::from(k) + t).sin(), 0.0));
        let values = (0..5 * 4 * 3).map(|k| (k as f32 - 20.0) * 0.1 + t as f32).collect::<Vec<_>>();
        let fog = Grid {
            origin: Vec3::new(-1.0, 0.0, 2.0),
            spacing: 0.25,
            dims: [5, 4, 3],
            values: Arc::new(values),
        };
        frame.objects = vec![
            sheet,
            body,
            Object::new("jelly", Shape::Tets { positions: Arc::new(jelly), tets: Arc::clone(&self.tet) }),
            Object::new("drops", Shape::Points { positions: Arc::new(drops) }),
            Object::new(
                "rope",
                Shape::Lines { positions: Arc::new(rope.collect()), segments: Arc::clone(&self.segments) },
            ),
            Object::new("fog", Shape::Grid(fog)),
        ];
        frame
    }
}
