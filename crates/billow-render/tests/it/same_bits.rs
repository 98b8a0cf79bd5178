//! The same picture for any number of threads, and whatever was shown before.

use crate::props::{frame, grid, mesh, object, shoot, sphere};
use billow_geom::shapes;
use billow_io::cache::UpAxis;
use billow_io::{Frame, Object, Shape};
use billow_num::{Pose, Quat, Vec3, par};
use billow_render::{Look, Picture, Settings, Studio, Watch};

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

/// Two bodies share a mesh far from its own origin: one stays where it is stored, the other turns away.
#[test]
fn bodies_look_the_same_whether_they_share_a_mesh_and_whatever_was_shown_before() {
    let make = || mesh("ball", shapes::uv_sphere(0.5, 64, 32).unwrap().translated(Vec3::new(3.0, 1.0, 2.0)));
    let turned =
        |degrees: f64| Pose { position: Vec3::X, rotation: Quat::from_rotation_z(degrees.to_radians()) };
    let poses = [Pose::IDENTITY, turned(40.0), turned(90.0)];
    let frames = |twin: &dyn Fn() -> Object, ball: &Object| -> Vec<Frame> {
        let both = |pose| vec![ball.clone(), Object { name: "twin".into(), pose, ..twin() }];
        poses.iter().zip(0..).map(|(pose, index)| Frame { index, ..frame(both(*pose)) }).collect()
    };
    let ball = make();
    let (shared, separate) = (frames(&|| ball.clone(), &ball), frames(&make, &ball));
    let settings = Settings { width: 96, height: 64, samples: 2, ..Settings::default() };
    let shoot = |frames: &[Frame], shown: &[usize]| -> Picture {
        let mut survey = Studio::survey(&Look::default(), UpAxis::Z, 24.0, &frames[0], 1.5).unwrap();
        frames.iter().for_each(|f| survey.add(f));
        let mut studio = survey.finish().unwrap();
        let take = |k: &usize| studio.shoot(&frames[*k], None, &settings, &Watch::default()).unwrap();
        shown.iter().map(take).last().unwrap()
    };
    for k in 0..3 {
        let alone = shoot(&separate, &[k]);
        assert!(shoot(&shared, &[k]) == alone, "frame {k}");
        assert!(shoot(&shared, &[0, 2, 1, k]) == alone, "frame {k} after others");
    }
    assert!(shoot(&shared, &[1]) != shoot(&shared, &[2]), "it turns");
}
