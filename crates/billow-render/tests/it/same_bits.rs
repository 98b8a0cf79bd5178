//! The same picture for any number of threads.

use crate::props::{frame, grid, mesh, object, shoot, sphere};
use billow_geom::shapes;
use billow_io::Shape;
use billow_num::{Vec3, par};
use billow_render::{Look, Settings};

#[test]
fn pictures_have_the_same_bits_for_1_2_and_7_threads() {
    let smoke = object("smoke", Shape::Grid(grid(12, |p| (1.0 - p.length()).max(0.0))));
    let everything = frame(vec![
        sphere("ball", 0.5, Vec3::new(2.0, 0.0, 0.5)),
        mesh("ring", shapes::torus(0.6, 0.2, 96, 48).unwrap()),
        smoke,
    ]);
    let settings = Settings { width: 64, height: 40, samples: 24, noise: 0.03, ..Settings::default() };
    let run =
        |threads| par::with_threads(threads, || shoot(&Look::default(), &everything, &settings).unwrap());
    let one = run(1);
    assert!(one == run(2) && one == run(7));
    assert!(one.samples < 64 * 40 * 24, "no pixel stopped early");
    let other = Settings { seed: 1, ..settings.clone() };
    assert!(one != shoot(&Look::default(), &everything, &other).unwrap());
}
