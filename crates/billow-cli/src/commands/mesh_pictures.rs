//! Pictures of a tetrahedral mesh: a histogram of its shapes and a view with the front cut away.

use crate::failure::Failure;
use billow::geom::TetMesh;
use billow::io::cache::UpAxis;
use billow::io::{Frame, Object, Shape};
use billow::meshing::Quality;
use billow::num::Vec3;
use billow::render::{
    Camera, Colour, Finish, Image, Look, Settings, Studio, Surface, Watch, develop, write_png,
};
use std::path::Path;

/// Width and height of the pictures.
const SIZE: [u32; 2] = [960, 640];

/// Draws dihedral angles (above, 5° a bar) and aspect ratios (below, ¼ a bar).
pub(super) fn histogram(path: &Path, quality: &Quality) -> Result<(), Failure> {
    let mut image = Image::filled(SIZE[0], SIZE[1], [250; 3]);
    let (angles, aspects) = (
        Row { every: 6, first: 0, step: 30, top: 20 },
        Row { every: 4, first: 1, step: 1, top: SIZE[1] / 2 + 20 },
    );
    bars(&mut image, &quality.dihedrals, &angles, [64, 110, 190]);
    bars(&mut image, &quality.aspects, &aspects, [190, 110, 64]);
    Ok(write_png(path, &image)?)
}

/// Where a row of bars stands and what the ticks below it say.
struct Row {
    /// Bars from one tick to the next.
    every: usize,
    /// Number at the first tick, and how much more each one says.
    first: usize,
    step: usize,
    /// Top of the row [pixels].
    top: u32,
}

/// One row of bars above a line with numbered ticks.
fn bars(image: &mut Image, counts: &[u64], row: &Row, colour: [u8; 3]) {
    let top = row.top;
    let (height, left) = (SIZE[1] / 2 - 60, 30);
    let width = (SIZE[0] - 2 * left) / counts.len().max(1) as u32;
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let mut fill = |x: u32, y: u32, w: u32, h: u32, colour: [u8; 3]| {
        if w > 0 && h > 0 {
            image.paste(&Image::filled(w, h, colour), x, y);
        }
    };
    for (k, count) in counts.iter().enumerate() {
        let x = left + k as u32 * width;
        // Even a single bad one shows.
        let tall = (f64::from(height) * *count as f64 / most)
            .ceil()
            .max(f64::from(u8::from(*count > 0)) * 2.0) as u32;
        fill(x + 1, top + height - tall, width - 2, tall, colour);
        if k % row.every == 0 {
            fill(x, top + height + 2, 2, 6, [60; 3]);
        }
    }
    fill(left, top + height, width * counts.len() as u32, 2, [60; 3]);
    for k in (0..counts.len()).step_by(row.every) {
        let number = (row.first + row.step * (k / row.every)).to_string();
        image.label(&number, left + k as u32 * width, top + height + 14, 2);
    }
}

/// Renders the half of the mesh behind a plane through its middle, inner faces in another colour, edges drawn.
pub(super) fn cutaway(path: &Path, mesh: &TetMesh) -> Result<(), Failure> {
    let size = mesh.bounds().size();
    // Cut across the thinnest horizontal direction: the longest section.
    let normal = if size.x < size.y { Vec3::X } else { Vec3::NEG_Y };
    let shape = Shape::Tets { positions: mesh.positions.clone().into(), tets: mesh.tets.clone().into() };
    let frame = Frame { objects: vec![Object::new("mesh", shape)], ..Frame::default() };
    shoot(path, &frame, look(normal))
}

fn look(normal: Vec3) -> Look {
    let mut look = Look::default();
    let surface = Surface {
        finish: Some(Finish::Matte),
        colour: Some(Colour::srgb(150, 185, 215)),
        inside: Some(Colour::srgb(235, 180, 90)),
        edges: Some(Colour::srgb(40, 45, 55)),
        cut: Some(normal.to_array()),
        flat: true,
        ..Surface::default()
    };
    look.objects.insert("mesh".into(), surface);
    // Looking against the cut, a little from above and from the side.
    let side = normal.cross(Vec3::Z);
    let direction = -(normal + 0.35 * side + 0.3 * Vec3::Z).normalize();
    look.camera = Camera { direction: Some(direction.to_array()), ..Camera::default() };
    look
}

fn shoot(path: &Path, frame: &Frame, look: Look) -> Result<(), Failure> {
    let aspect = f64::from(SIZE[0]) / f64::from(SIZE[1]);
    let mut survey = Studio::survey(&look, UpAxis::Z, 24.0, frame, aspect)?;
    survey.add(frame);
    let settings =
        Settings { width: SIZE[0], height: SIZE[1], samples: 12, bounces: 2, ..Settings::default() };
    let picture = survey.finish()?.shoot(frame, None, &settings, &Watch::default())?;
    Ok(write_png(path, &develop(&picture))?)
}
